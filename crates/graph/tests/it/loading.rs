//! Odd and broken data sets: what must be repaired, and what must be refused with file and line.

use crate::support::{folder, message, read, read_as};
use sapwood_graph::dataset::Weights;
use sapwood_graph::{Error, LoadOptions, NodeId, load};

const PATH: (&str, &str) = ("edges.tsv", "0\t1\n1\t2\n");

fn ends(data: &sapwood_graph::GraphData) -> Vec<(u32, u32)> {
    data.graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect()
}

#[test]
fn asymmetric_edges_get_their_other_direction_and_a_warning() {
    let data = read(&[("edges.tsv", "0 1\n1 0\n1 2\n3 2\n")]).unwrap();
    assert_eq!(ends(&data), [(0, 1), (1, 2), (2, 3)]);
    assert!(data.warnings.iter().any(|w| w.contains("other direction of 2 edges was added")), "{:?}", data.warnings);
    // each pair once, in any direction, is the usual form
    assert!(read(&[("edges.tsv", "1 0\n1 2\n")]).unwrap().warnings.is_empty());
    let directed = LoadOptions { directed: true, ..LoadOptions::default() };
    let data = read_as(&[("edges.tsv", "0 1\n1 0\n1 2\n")], &directed).unwrap();
    assert_eq!((data.graph.pairs(), data.graph.neighbours(NodeId(2)).len()), (3, 1));
    assert!(data.warnings.is_empty());
}

#[test]
fn duplicates_are_merged_and_self_loops_kept_aside() {
    let data = read(&[("edges.tsv", "0 1\n0 1\n1 1\n2 0\n"), ("selfloops.tsv", "2\n")]).unwrap();
    assert_eq!(ends(&data), [(0, 1), (0, 2)]);
    assert_eq!(data.graph.self_loops(), [(NodeId(1), 1.0), (NodeId(2), 1.0)]);
    assert!(data.warnings[0].contains("1 repeated edges merged"));
}

#[test]
fn text_variants_are_accepted() {
    let plain = read(&[PATH]).unwrap();
    for text in [
        "\u{feff}0\t1\n1\t2\n",      // byte order mark
        "0\t1\r\n1\t2\r\n",          // CRLF
        "0\t1\n1\t2",                // no final newline
        "\n0\t1\n\n\n# x\n1\t2\n\n", // empty lines, comments
        "0 1\n1   2\n",              // blanks
        "2\t1\n1\t0\n",              // any order
        "0\t1\n1\t0\n2\t1\n1\t2\n",  // both directions
    ] {
        let data = read(&[("edges.tsv", text)]).unwrap();
        assert_eq!(data.graph.rows().pattern(), plain.graph.rows().pattern(), "{text:?}");
        assert!(data.warnings.is_empty());
    }
}

#[test]
fn bad_lines_name_file_and_line() {
    let line = |files: &[(&str, &str)], expected: &str| {
        let text = message(read(files));
        assert!(text.contains(expected), "{text}");
    };
    line(
        &[("edges.tsv", "0 1\n\n1 5\n"), ("nodes.tsv", "4\n")],
        "edges.tsv:3: node 5 does not exist, nodes.tsv says there are 4",
    );
    line(&[("edges.tsv", "0 1\n-1 2\n")], "edges.tsv:2: node id -1 is negative");
    line(&[("edges.tsv", "0 1\nx 2\n")], "edges.tsv:2: 'x' is no node id");
    line(&[("edges.tsv", "0 1\n1.5 2\n")], "edges.tsv:2: '1.5' is no node id");
    line(&[("edges.tsv", "0 1\n1\n")], "edges.tsv:2: 1 columns");
    line(&[("edges.tsv", "0 1 1 1\n")], "edges.tsv:1: more than 3 columns");
    line(&[("edges.tsv", "0 1 1\n1 2\n")], "edges.tsv:2: 2 columns, but the lines before have 3");
    line(&[("edges.tsv", "0 1 1\n1 2 -0.5\n")], "edges.tsv:2: edge weight -0.5 is negative");
    line(&[("edges.tsv", "0 1 nan\n")], "edges.tsv:1: edge weight nan is not a finite number");
    line(&[("edges.tsv", "0 1 1\n1 0 2\n")], "weight 1 one way and 2 the other");
    line(&[("edges.tsv", "0 4294967295\n")], "edges.tsv:1: node id 4294967295 is too large");
    line(&[("edges.tsv", "0 4000000000\n")], "edges.tsv:1: node 4000000000 would make 4000000001 nodes for 1 edges");
    line(&[PATH, ("nodes.tsv", "4000000000\n")], "nodes.tsv: 4000000000 nodes for 2 edges; is the number right?");
    line(&[PATH, ("nodes.tsv", "many\n")], "nodes.tsv:1: write the number of nodes");
    line(&[PATH, ("nodes.tsv", "3\n4\n")], "nodes.tsv:2: one number is expected");
    line(&[PATH, ("nodes.tsv", "")], "nodes.tsv: empty");
    line(&[PATH, ("selfloops.tsv", "0\n-2\n")], "selfloops.tsv:2: node id -2 is negative");
}

#[test]
fn weights_are_read_when_they_are_there_or_asked_for() {
    let files = [PATH, ("edges_weighted.tsv", "0 1 2\n1 2 3\n")];
    let with = |weights| LoadOptions { weights, ..LoadOptions::default() };
    assert!(!read(&files).unwrap().graph.weighted());
    let data = read_as(&files, &with(Weights::Asked)).unwrap();
    assert_eq!(data.graph.rows().weights().unwrap(), [2.0, 2.0, 3.0, 3.0]);
    let stored = [("edges.tsv", "0 1 2\n1 2 3\n")];
    assert!(read(&stored).unwrap().graph.weighted());
    assert!(!read_as(&stored, &with(Weights::Ignored)).unwrap().graph.weighted());
    let data = read_as(&[PATH], &with(Weights::Asked)).unwrap();
    assert!(!data.graph.weighted() && data.warnings[0].contains("no weights"));
    let unweighted = read_as(&[PATH, ("edges_weighted.tsv", "0 1\n")], &with(Weights::Asked));
    assert!(message(unweighted).contains("third column"));
}

#[test]
fn labels_may_be_missing_gapped_or_wrong() {
    let data = read(&[PATH, ("labels.tsv", "0\t3\n2\t-1\n1\t0\n")]).unwrap();
    assert_eq!((&data.labels[..], data.classes, data.unlabelled()), (&[3, 0, -1][..], 4, 1));
    assert_eq!(data.class_sizes(), [1, 0, 0, 1]);
    assert!(data.warnings[0].contains("no node has class 1, 2; kept as an empty class"), "{:?}", data.warnings);
    let wrong = |text: &str| message(read(&[PATH, ("labels.tsv", text)]));
    assert!(wrong("0\t-2\n").contains("labels.tsv:1: '-2' is no class"));
    assert!(wrong("0\tcat\n").contains("labels.tsv:1: 'cat' is no class"));
    assert!(wrong("0\t1\n1\t1\n0\t2\n").contains("labels.tsv:3: node 0 has class 2 here and class 1 above"));
    assert!(wrong("0\n").contains("labels.tsv:1: 1 columns, write node<TAB>class"));
    assert!(read(&[PATH, ("labels.tsv", "0\t1\n0\t1\n")]).is_ok());
    let named = read(&[PATH, ("labels.tsv", "0\t1\n"), ("classes.tsv", "0\tno\n2\tmaybe\tmore\n")]).unwrap();
    assert_eq!(named.class_names, ["no", "1", "maybe"]);
}

#[test]
fn splits_are_checked() {
    let with = |text: &str| read(&[PATH, ("labels.tsv", "0\t0\n1\t1\n2\t1\n"), ("split.tsv", text)]);
    let overlap = message(with("0\ttrain\n1\tval\n2\ttest\n1\ttrain\n2\tval\n"));
    assert!(overlap.contains("split.tsv:4: node 1 is in val and in train of split 'public'"), "{overlap}");
    assert!(
        message(with("0\ttraining\n"))
            .contains("split.tsv:1: 'training' is no part of a split, write train, val or test")
    );
    assert!(message(with("node\ts0\n0\tx\n")).contains("split.tsv:2: 'x' is no part of a split, write t, v, e or -"));
    assert!(message(with("node\ts0\ts1\n0\tt\n")).contains("split.tsv:2: a line must have a node and 2 more columns"));
    assert!(message(with("node\n0\tt\n")).contains("the header names no split"));
    let empty = with("1\tval\n2\ttest\n").unwrap();
    assert!(message(empty.training_split(None)).contains("train part is empty"));
    let unseen = with("0\ttrain\n1\tval\n2\ttest\n").unwrap();
    assert_eq!(unseen.training_split(None).unwrap().warnings, ["split 'public': no training node has class 1"]);
    let without = read(&[PATH, ("split.tsv", "0\ttrain\n")]).unwrap();
    assert!(message(without.training_split(None)).contains("no training node has a label"));
    let none = read(&[PATH]).unwrap();
    assert!(message(none.training_split(None)).contains("has no labels and no split; training needs labels"));
    let none = read(&[PATH, ("labels.tsv", "0\t0\n")]).unwrap();
    assert!(message(none.training_split(None)).contains("has no split; write split.tsv"));
    let some = read(&[PATH, ("labels.tsv", "0\t0\n"), ("split.tsv", "0\ttrain\n1\ttrain\n")]).unwrap();
    assert!(some.training_split(None).unwrap().warnings[0].contains("1 training nodes have no label"));
    let only = read(&[PATH, ("split_a.tsv", "0\ttrain\n"), ("split_b.tsv", "0\ttest\n")]).unwrap();
    assert!(message(only.split(None)).contains("choose one with --split: a, b"));
    assert!(message(only.split(Some("c"))).contains("unknown split 'c'"));
    let columns = read(&[PATH, ("split_x.tsv", "node\ts0\ts1\n2\te\t-\n0\tt\tv\n")]).unwrap();
    let second = columns.split(Some("x:1")).unwrap();
    assert_eq!((second.train.len(), &second.val[..], second.test.len()), (0, &[NodeId(0)][..], 0));
}

#[test]
fn features_are_checked() {
    let mtx = |entries: &str| format!("%%MatrixMarket matrix coordinate real general\n3 2 2\n{entries}");
    let with = |name: &str, text: &str| read(&[PATH, (name, text)]);
    let rows = message(with("words.tsv", "0 1\n\n"));
    assert!(rows.contains("2 rows of features, but there are 3 nodes") && rows.contains("edges.tsv:2"), "{rows}");
    let more = with("words.tsv", "0 1\n\n2\n\n").unwrap();
    assert_eq!(more.graph.nodes(), 4); // a row of features makes a node
    let more = message(read(&[PATH, ("words.tsv", "0\n\n\n1\n"), ("nodes.tsv", "3\n")]));
    assert!(more.contains("4 rows of features, but there are 3 nodes (by nodes.tsv)"), "{more}");
    let nan = message(with("features.mtx", &mtx("1 1 1\n3 2 nan\n")));
    assert!(nan.contains("features.mtx") && nan.contains("row 2, column 1"), "{nan}");
    assert!(
        message(with("words.tsv", "0 1\n1 0\n\n"))
            .contains("words.tsv:2: word 0 stands after a word that is not smaller")
    );
    assert!(message(with("words.tsv", "0 1\n-1\n\n")).contains("words.tsv:2: '-1' is no word id"));
    let known = read(&[PATH, ("words.tsv", "0\n\n2\n"), ("words.txt", "a\nb\n")]);
    assert!(message(known).contains("words.tsv:3: word 2 does not exist, words.txt has 2 words"));
    let both = read(&[PATH, ("words.tsv", "0\n\n2\n"), ("features.mtx", &mtx("1 1 1\n3 2 1\n"))]);
    assert!(message(both).contains("both features.mtx and words.tsv hold features"));
    let zero = with("features.mtx", &mtx("1 1 1\n3 2 1\n")).unwrap();
    let sapwood_graph::features::Features::Stored(m) = &zero.features else { panic!() };
    assert_eq!((m.rows(), m.cols(), m.entries(), m.empty_rows()), (3, 2, 2, 1));
}

#[test]
fn dense_features_are_read() {
    use sapwood_files::npy;
    let folder = folder(&[PATH]);
    let mut items = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let file = folder.path().join("features.npy");
    let write = |shape: Vec<usize>, items: &[f64]| {
        npy::write(&file, &npy::Array { shape, data: npy::Data::F64(items.to_vec()) }).unwrap();
        load(folder.path().to_str().unwrap(), &LoadOptions::default())
    };
    let data = write(vec![3, 2], &items).unwrap();
    let sapwood_graph::features::Features::Stored(m) = &data.features else { panic!() };
    assert_eq!((m.rows(), m.cols(), m.entries()), (3, 2, 5));
    assert!(message(write(vec![6], &items)).contains("the array has 1 axes, two are needed"));
    assert!(message(write(vec![2, 3], &items)).contains("2 rows of features, but there are 3 nodes"));
    items[3] = f64::NAN;
    assert!(message(write(vec![3, 2], &items)).contains("row 1, column 1"));
    items[3] = 1e300; // beyond f32
    assert!(message(write(vec![3, 2], &items)).contains("row 1, column 1"));
}

#[test]
fn small_graphs_work() {
    assert!(matches!(read(&[("edges.tsv", "")]), Err(Error::NoNodes)));
    assert_eq!(message(read(&[("edges.tsv", "# nothing\n"), ("nodes.tsv", "0\n")])), "graph has no nodes");
    let one = read(&[("edges.tsv", ""), ("nodes.tsv", "1\n")]).unwrap();
    assert_eq!((one.graph.nodes(), one.graph.pairs()), (1, 0));
    let edgeless = read(&[("edges.tsv", ""), ("labels.tsv", "0 0\n4 1\n")]).unwrap();
    assert_eq!((edgeless.graph.nodes(), edgeless.graph.pairs(), edgeless.homophily()), (5, 0, None));
}

/// A named pipe in the place of a file would be waited for until somebody writes to it.
#[cfg(unix)]
#[test]
fn pipes_in_a_folder_are_refused() {
    let set = folder(&[("labels.tsv", "0 0\n")]);
    let pipe = set.path().join("edges.tsv");
    match std::process::Command::new("mkfifo").arg(&pipe).status() {
        Ok(status) if status.success() => {}
        _ => return sapwood_testkit::data::skipped("there is no mkfifo"),
    }
    let text = message(load(set.path().to_str().unwrap(), &LoadOptions::default()));
    assert!(text.contains("edges.tsv") && text.contains("it is a named pipe"), "{text}");
}

#[test]
fn places_tried_are_named() {
    let text = message(load("no-such-set", &LoadOptions::default()));
    assert!(text.starts_with("no data set 'no-such-set': looked at "), "{text}");
    assert!(
        text.contains("data/no-such-set") && text.contains("SAPWOOD_DATA") && text.contains("sapwood data list"),
        "{text}"
    );
    let text = message(load("x/cora.spw", &LoadOptions::default()));
    assert!(text.contains("is not built yet"), "{text}");
    for spec in ["ogb:x", "planetoid:x/cora", "x/cora.npz"] {
        let text = message(load(spec, &LoadOptions::default()));
        assert!(text.starts_with(&format!("no data set '{spec}': looked at ")), "{text}");
    }
    let empty = folder(&[("notes.md", "x")]);
    assert!(
        message(load(empty.path().to_str().unwrap(), &LoadOptions::default())).contains("this folder is no data set")
    );
    let file = empty.path().join("notes.md");
    assert!(message(load(file.to_str().unwrap(), &LoadOptions::default())).contains("this is no graph file"));
    let arcs = folder(&[("arcs.tsv", "0 1\n")]);
    assert!(
        message(load(arcs.path().to_str().unwrap(), &LoadOptions::default())).contains("--directed reads arcs.tsv")
    );
}

#[test]
fn matrix_files_are_graphs() {
    let mtx = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 0.5\n2 1 2\n3 2 4\n";
    let rect = "%%MatrixMarket matrix coordinate pattern general\n3 2 1\n1 1\n";
    let files =
        folder(&[("a.mtx", mtx), ("r.mtx", rect), ("w.txt", "# c\n0 1 2\n1 2 -1\n"), ("p.txt", "0 1\n1 0\n1 2\n")]);
    let at = |name: &str| load(files.path().join(name).to_str().unwrap(), &LoadOptions::default());
    let data = at("a.mtx").unwrap();
    assert_eq!((data.graph.pairs(), data.graph.self_loops()), (2, &[(NodeId(0), 0.5)][..]));
    assert_eq!(data.graph.rows().weights().unwrap(), [2.0, 2.0, 4.0, 4.0]);
    assert!(message(at("r.mtx")).contains("a matrix of 3 x 2"));
    assert!(message(at("w.txt")).contains("w.txt:3: edge 1 - 2 has weight -1"));
    assert!(at("p.txt").unwrap().warnings[0].contains("other direction of 1 edges"));
}

#[test]
fn compressed_files_are_read_and_broken_ones_refused() {
    let Some(source) = sapwood_testkit::data::public("cora") else { return };
    let bytes = std::fs::read(source.join("features.mtx.gz")).unwrap();
    let broken = folder(&[PATH]);
    std::fs::write(broken.path().join("features.mtx.gz"), &bytes[..bytes.len() / 2]).unwrap();
    let text = message(load(broken.path().to_str().unwrap(), &LoadOptions::default()));
    assert!(text.contains("features.mtx.gz"), "{text}");
}

/// Seeded damage to every file of a folder: an error or a data set, never a panic, never memory beyond reason.
#[test]
fn damaged_files_are_errors_or_data_sets() {
    let files = [
        ("nodes.tsv", "7\n"),
        ("edges.tsv", "# u v w\n0\t1\t0.5\n2\t1\t1.25\n3\t4\t3e-1\n1\t0\t0.5\n"),
        ("selfloops.tsv", "5\t2.5\n"),
        ("labels.tsv", "0\t1\n1\t0\n2\t-1\n4\t3\n"),
        ("classes.tsv", "0\tred\n1\tblue\n3\tgreen\n"),
        ("split.tsv", "0\ttrain\n1\tval\n4\ttest\n"),
        ("split_two.tsv", "node\ts0\ts1\n0\tt\te\n1\tv\t-\n4\te\tt\n"),
        ("words.tsv", "0 2\n1\n\n0 1 2\n\n\n2\n"),
        ("words.txt", "alpha\nbeta\ngamma\n"),
    ];
    let mut state = 1u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let folder = folder(&files);
    let path = folder.path().to_str().unwrap();
    let mut loaded = 0;
    for _ in 0..1000 {
        let (name, text) = files[next(files.len())];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + next(3) {
            let at = next(bytes.len());
            let byte = b"0123456789-\t\n\r #.exn\0\xff\xef"[next(23)];
            match next(4) {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at + 1),
            }
        }
        std::fs::write(folder.path().join(name), &bytes).unwrap();
        match load(path, &LoadOptions::default()) {
            Ok(data) => {
                let _ = sapwood_graph::Facts::of(&data);
                let _ = sapwood_graph::features::make(&data, None, 0);
                loaded += 1;
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    assert!((100..900).contains(&loaded), "{loaded} of 1000 were loaded");
}

#[test]
fn a_name_that_is_no_readable_file_is_an_error_not_an_absence() {
    let folder = folder(&[("edges.tsv", "0\t1\n")]);
    let load = || sapwood_graph::load(folder.path().to_str().unwrap(), &LoadOptions::default());
    assert!(load().is_ok());
    std::fs::create_dir(folder.path().join("labels.tsv")).unwrap();
    assert!(message(load()).contains("labels.tsv"));
    std::fs::remove_dir(folder.path().join("labels.tsv")).unwrap();
    std::fs::write(folder.path().join("labels.tsv.gz"), "").unwrap();
    assert!(message(load()).contains("labels.tsv.gz"));
}

#[test]
fn two_files_for_one_role_are_refused() {
    let text = message(read(&[("edges.tsv", "0\t1\n"), ("edges.tsv.gz", "")]));
    assert!(text.contains("edges.tsv and edges.tsv.gz are all there"), "{text}");
}

#[test]
fn a_split_without_test_labels_is_warned_of() {
    let split = "0\ttrain\n1\tval\n";
    let data = read(&[("edges.tsv", "0\t1\n"), ("labels.tsv", "0\t0\n1\t0\n"), ("split.tsv", split)]).unwrap();
    let warnings = data.training_split(None).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.contains("no test node has a label")), "{warnings:?}");
}
