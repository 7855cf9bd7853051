//! Every file in a registry's folder is registered, and names are unique.

use sapwood_graph::{centrality, dataset, generator, normalise, sampler, score};
use std::collections::BTreeSet;
use std::path::Path;

/// Stems of the Rust files in `src/folder`, `_` read as `-`, but for `mod` and those that are no entries.
fn files(folder: &str, others: &[&str]) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let names = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
    names
        .filter_map(|n| n.strip_suffix(".rs").map(|n| n.replace('_', "-")))
        .filter(|n| n != "mod" && !others.contains(&n.as_str()))
        .collect()
}

fn set<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let all: Vec<String> = names.map(String::from).collect();
    let set: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(set.len(), all.len(), "a name stands twice in {all:?}");
    set
}

#[test]
fn every_normalisation_is_registered() {
    assert_eq!(files("normalise", &[]), set(normalise::ALL.iter().map(|e| e.name)));
    assert_eq!(normalise::ALL.len(), 11);
}

#[test]
fn every_sampler_is_registered() {
    assert_eq!(
        files("sampler", &["facts", "labels", "options", "rates", "units"]),
        set(sampler::ALL.iter().map(|e| e.name).filter(|name| !name.contains('+')))
    );
}

#[test]
fn every_generator_is_registered() {
    assert_eq!(files("generator", &["gaps", "spec"]), set(generator::ALL.iter().map(|e| e.name)));
}

#[test]
fn every_score_and_centrality_is_registered() {
    let dashed = |name: &str| name.replace('_', "-");
    let scores: Vec<String> = score::ALL.iter().map(|e| dashed(e.name)).collect();
    assert_eq!(files("score", &[]), set(scores.iter().map(String::as_str)));
    assert_eq!(files("centrality", &[]), set(centrality::ALL.iter().map(|e| e.name)));
}

#[test]
fn every_kind_of_data_set_is_registered() {
    let parts = ["believable", "compressed", "files", "lines", "place", "split", "write"];
    let registered = set(dataset::ALL.iter().map(|e| if e.name == "embedded" { "debian" } else { e.name }));
    assert_eq!(files("dataset", &parts), registered);
}
