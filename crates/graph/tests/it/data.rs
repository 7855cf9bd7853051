//! Real data sets: the shipped ones, the public ones where they are at hand.

use sapwood_graph::dataset::{self, list};
use sapwood_graph::features::{FeatureKind, Features, make};
use sapwood_graph::structure::{DegreeNoise, expected_isolated, summary};
use sapwood_graph::{DrawBuffers, DrawKey, Facts, GraphData, LoadOptions, SamplerOptions, TrainLabels, load, sampler};
use sapwood_testkit::data::public;
use sapwood_testkit::{scratch, workspace_root};
use serde_json::json;
use std::path::Path;

fn at(path: &Path) -> GraphData {
    load(path.to_str().unwrap(), &LoadOptions::default()).unwrap()
}

/// What `data show` says, but for the name and the files.
fn shown(data: &GraphData) -> serde_json::Value {
    let mut facts = serde_json::to_value(Facts::of(data)).unwrap();
    facts.as_object_mut().unwrap().retain(|member, _| member != "name" && member != "files");
    facts
}

#[cfg(feature = "debian")]
#[test]
fn debian_is_what_its_readme_says() {
    let data = load("debian", &LoadOptions::default()).unwrap();
    assert!(data.warnings.is_empty(), "{:?}", data.warnings);
    let text = std::fs::read_to_string(workspace_root().join("data/debian-packages/README.md")).unwrap();
    let blocks = sapwood_testkit::readme::json_blocks(&text).unwrap();
    assert_eq!(blocks.iter().find(|b| b.get("nodes").is_some()), Some(&shown(&data)));
    let files = blocks.iter().find(|b| b.get("edges.tsv.zst").is_some()).unwrap();
    assert_eq!(files.as_object().unwrap().len(), data.files.len());
    for file in &data.files {
        assert_eq!(files[&file.path]["sha256"], file.sha256.as_str(), "{}", file.path);
        assert_eq!(files[&file.path]["size_bytes"], file.size_bytes);
    }
    assert!(data.files.iter().map(|f| f.size_bytes).sum::<u64>() <= 4 << 20);
    assert_eq!((data.class_names[0].as_str(), data.words.len()), ("libs", 7469));
    // the folder is the same data set
    let folder = at(&workspace_root().join("data/debian-packages"));
    assert_eq!((shown(&folder), folder.digest()), (shown(&data), data.digest()));
}

#[test]
fn karate_ships_with_its_split() {
    let data = at(&workspace_root().join("data/karate"));
    assert_eq!((data.graph.nodes(), data.graph.pairs()), (34, 78));
    assert_eq!((data.classes, data.class_sizes(), data.name.as_str()), (2, vec![17, 17], "karate"));
    let split = data.split(None).unwrap();
    assert_eq!((split.train.len(), split.val.len(), split.test.len()), (9, 9, 16));
    assert!(split.train.iter().all(|n| n.0 % 4 == 0) && split.val.iter().all(|n| n.0 % 4 == 1));
}

#[test]
fn cora_has_its_published_counts() {
    let Some(path) = public("cora") else { return };
    let data = at(&path);
    let found = shown(&data);
    for (member, expected) in [
        ("nodes", json!(2708)),
        ("pairs", json!(5278)),
        ("components", json!(78)),
        ("largest", json!(2485)),
        ("isolated", json!(0)),
        ("max_degree", json!(168)),
        ("class_sizes", json!([351, 217, 418, 818, 426, 298, 180])),
        ("features", json!(1433)),
        ("feature_entries", json!(49216)),
    ] {
        assert_eq!(found[member], expected, "{member}");
    }
    assert!((data.homophily().unwrap() - 0.8100).abs() < 5e-5);
    let names: Vec<&str> = data.splits.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names[..3], ["public", "full", "geom:0"]);
    assert_eq!(names.len(), 12);
    let full = data.training_split(Some("full")).unwrap();
    assert_eq!((full.split.train.len(), full.split.val.len(), full.split.test.len()), (1208, 500, 1000));
    assert!(full.warnings.is_empty());
    assert!(data.split(Some("geom:3")).is_ok());
    assert!(data.split(Some("geom")).unwrap_err().to_string().contains("geom:0"));
}

#[test]
fn citeseer_keeps_isolated_unlabelled_and_looped_nodes() {
    let Some(path) = public("citeseer") else { return };
    let found = shown(&at(&path));
    for (member, expected) in [
        ("nodes", 3327),
        ("pairs", 4552),
        ("isolated", 48),
        ("components", 438),
        ("self_loops", 124),
        ("unlabelled", 15),
    ] {
        assert_eq!(found[member], expected, "{member}");
    }
}

#[test]
fn pubmed_has_only_some_features() {
    let Some(path) = public("pubmed") else { return };
    let data = at(&path);
    assert_eq!((data.graph.nodes(), data.graph.pairs()), (19717, 44324));
    let e = make(&data, Some(FeatureKind::TfIdf), 0).unwrap_err().to_string();
    assert!(e.contains("features_partial.mtx.gz"), "{e}");
    assert!(make(&data, Some(FeatureKind::OneHot), 0).is_ok());
}

#[test]
fn texas_directed_reads_its_arcs() {
    let Some(path) = public("texas") else { return };
    let options = LoadOptions { directed: true, ..LoadOptions::default() };
    let data = load(path.to_str().unwrap(), &options).unwrap();
    assert_eq!((data.graph.pairs(), data.graph.self_loops().len()), (325 - 16, 16));
    assert!(data.files.iter().any(|f| f.path == "arcs.tsv"));
    assert_eq!(at(&path).graph.pairs(), 279);
}

#[test]
fn edge_lists_are_graphs_without_features() {
    let Some(folder) = public("snap") else { return };
    let data = at(&folder.join("facebook-combined.txt.gz"));
    assert_eq!((data.name.as_str(), data.kind), ("facebook-combined", "sparse"));
    assert_eq!((data.graph.nodes(), data.graph.pairs()), (4039, 88234));
    assert!(data.warnings.is_empty() && matches!(data.features, Features::Absent));
    let data = at(&folder.join("ca-condmat.txt.gz"));
    assert_eq!((data.graph.nodes(), data.graph.pairs(), data.graph.self_loops().len()), (21363, 91342 - 56, 56));
}

/// Expected and measured isolated nodes and degree noise of uniform draws, against the printed table.
#[test]
fn uniform_draws_of_cora_isolate_as_many_nodes_as_expected() {
    let Some(path) = public("cora") else { return };
    let data = at(&path);
    let rows = [(0.3, 216.0, 12.0, 321.0, 12.0, 1.231), (0.6, 699.0, 16.0, 899.0, 14.0, 1.311)];
    for (p, isolated, isolated_sd, components, components_sd, degree_sd) in rows {
        let new = sampler::find(sampler::ALL, "dropedge").unwrap().new;
        let graph = std::sync::Arc::new(data.graph.clone());
        let sampler = new(&SamplerOptions::with_p(p)).unwrap();
        let prepared = sampler.prepare(crate::support::runtime(1).exec(), &graph, &TrainLabels::none(2708)).unwrap();
        let expected = prepared.facts().isolated_expected;
        if p == 0.3 {
            assert!((expected - 216.77).abs() < 0.05, "{expected}");
        }
        let runtime = sapwood_skeleton::Runtime::threads(2).unwrap();
        let (mut noise, mut buffers) = (DegreeNoise::new(&data.graph), DrawBuffers::default());
        let (mut sum_isolated, mut sum_components) = (0, 0);
        for epoch in 0..40 {
            let sampled = prepared.kept(runtime.exec(), DrawKey::of_epoch(0, epoch), &mut buffers).unwrap();
            let left = summary(&data.graph, &sampled);
            sum_isolated += left.isolated;
            sum_components += left.components;
            noise.add(&data.graph, &sampled).unwrap();
        }
        let (mean_isolated, mean_components) = (sum_isolated as f64 / 40.0, sum_components as f64 / 40.0);
        assert!((mean_isolated - isolated).abs() <= isolated_sd, "p {p}: {mean_isolated} isolated");
        assert!((mean_components - components).abs() <= components_sd, "p {p}: {mean_components} components");
        let sd = noise.mean_sd().unwrap();
        assert!((sd / degree_sd - 1.0).abs() < 0.04, "p {p}: degree sd {sd}");
    }
    assert_eq!(expected_isolated(&data.graph, |_| 0.0), 0.0);
}

/// Everything a TSV folder can hold survives being written and read again.
#[test]
fn conversion_and_back_is_the_same_data_set() {
    let files = [
        ("nodes.tsv", "7\n"),
        ("edges.tsv", "0\t1\t0.5\n2\t1\t1.25\n3\t4\t3\n"),
        ("selfloops.tsv", "5\t2.5\n"),
        ("labels.tsv", "0\t1\n1\t0\n2\t-1\n4\t3\n"),
        ("classes.tsv", "0\tred\n1\tblue\n3\tgreen\n"),
        ("split.tsv", "0\ttrain\n1\tval\n4\ttest\n"),
        ("split_two.tsv", "node\ts0\ts1\n0\tt\te\n1\tv\t-\n4\te\tt\n"),
        ("features.mtx", "%%MatrixMarket matrix coordinate real general\n7 3 3\n1 1 0.5\n2 3 -1e-3\n7 2 4\n"),
        ("words.txt", "alpha\nbeta\ngamma\n"),
    ];
    let source = scratch::folder_with(&files).unwrap();
    let out = scratch::folder().unwrap();
    let target = out.path().join("new/folder");
    let data = at(source.path());
    let written = dataset::convert(&data, &target).unwrap();
    let again = at(&target);
    assert_eq!(shown(&again), shown(&data));
    assert_eq!((&again.labels, &again.splits, &again.class_names), (&data.labels, &data.splits, &data.class_names));
    assert_eq!(again.graph.rows().weights(), data.graph.rows().weights());
    assert_eq!((again.graph.self_loops(), &again.words), (data.graph.self_loops(), &data.words));
    let values = |d: &GraphData| match &d.features {
        Features::Stored(sapwood_graph::FeatureMatrix::Sparse(m)) => m.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(values(&again), values(&data));
    assert_eq!(written.files, again.files);
    // its own output may be replaced, and the second is the same
    assert_eq!(dataset::convert(&data, &target).unwrap(), written);
}

#[test]
fn conversion_replaces_nothing_but_its_own_unchanged_output() {
    let data = at(&workspace_root().join("data/karate"));
    let out = scratch::folder().unwrap();
    let refused = |what: &str| {
        let e = dataset::convert(&data, out.path()).unwrap_err().to_string();
        assert!(e.contains(what), "{e}");
    };
    std::fs::write(out.path().join("mine.txt"), "precious").unwrap();
    refused("mine.txt");
    std::fs::remove_file(out.path().join("mine.txt")).unwrap();
    dataset::convert(&data, out.path()).unwrap();
    let edges = std::fs::read_to_string(out.path().join("edges.tsv")).unwrap();
    std::fs::write(out.path().join("edges.tsv"), format!("{edges}# a note\n")).unwrap();
    refused("edges.tsv");
    std::fs::write(out.path().join("edges.tsv"), &edges).unwrap();
    std::fs::write(out.path().join("extra.tsv"), "x").unwrap();
    refused("extra.tsv");
    std::fs::remove_file(out.path().join("extra.tsv")).unwrap();
    // a data set with fewer files leaves none of the old ones
    let mut bare = data.clone();
    bare.labels.fill(-1);
    bare.splits.clear();
    dataset::convert(&bare, out.path()).unwrap();
    assert!(!out.path().join("labels.tsv").exists() && !out.path().join("split.tsv").exists());
    // a list that names a file elsewhere is no list of ours
    let outside = scratch::folder_with(&[("secret", "x")]).unwrap();
    let name = outside.path().join("secret").display().to_string();
    std::fs::write(out.path().join("convert.tsv"), format!("{name}\t1\t00\n")).unwrap();
    refused("secret");
    assert!(outside.path().join("secret").exists());
}

#[test]
fn directed_graphs_convert_to_arcs() {
    let options = LoadOptions { directed: true, ..LoadOptions::default() };
    let source = scratch::folder_with(&[("arcs.tsv", "0 1\n1 0\n2 0\n1 1\n")]).unwrap();
    let data = load(source.path().to_str().unwrap(), &options).unwrap();
    let out = scratch::folder().unwrap();
    dataset::convert(&data, out.path()).unwrap();
    let again = load(out.path().to_str().unwrap(), &options).unwrap();
    assert_eq!(again.graph.rows().pattern(), data.graph.rows().pattern());
    assert_eq!(again.graph.self_loops(), data.graph.self_loops());
}

#[test]
fn list_holds_the_embedded_set_once() {
    let names: Vec<String> = list().into_iter().map(|l| l.name).collect();
    assert_eq!(names.iter().filter(|n| *n == "debian").count(), usize::from(cfg!(feature = "debian")));
    assert!(names.is_sorted());
}
