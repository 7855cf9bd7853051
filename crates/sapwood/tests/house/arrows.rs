//! Who may depend on whom: the arrows of `ARCHITECTURE.md`, held by the manifests.

use std::collections::BTreeMap;

/// Crate by crate, everything of ours it may name in its manifest. A crate that is not here may not exist.
const MAY_USE: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("report", &[]),
    ("testkit", &[]),
    ("machine", &["files"]),
    ("skeleton", &["files", "machine"]),
    ("sparse", &["files", "machine", "skeleton"]),
    ("reduce", &["files", "machine", "skeleton"]),
    ("plan", &["files", "machine", "skeleton"]),
    ("graph", &["files", "machine", "skeleton", "sparse"]),
    ("embed", &["files", "machine", "skeleton", "sparse"]),
    ("train", &["files", "machine", "skeleton", "sparse", "reduce", "plan", "graph", "embed"]),
    ("sapwood", &["files", "report", "machine", "skeleton", "sparse", "reduce", "plan", "graph", "embed", "train"]),
    (
        "python",
        &["files", "report", "machine", "skeleton", "sparse", "reduce", "plan", "graph", "embed", "train", "sapwood"],
    ),
];

/// Thread pools and message passing belong to `skeleton` alone.
const SKELETON_ONLY: &[&str] = &["rayon", "rayon-core", "crossbeam", "threadpool", "tokio", "mpi", "mpi-sys"];

/// A dependency of one of our crates.
struct Arrow {
    from: String,
    to: String,
    /// In `[dev-dependencies]`.
    for_tests: bool,
}

/// `sapwood-x` is x, `sapwood` itself is sapwood.
fn short(name: &str) -> &str {
    name.strip_prefix("sapwood-").unwrap_or(name)
}

fn is_ours(name: &str) -> bool {
    name == "sapwood" || name.starts_with("sapwood-")
}

fn violations(arrows: &[Arrow]) -> Vec<String> {
    let table: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    arrows.iter().filter_map(|arrow| judge(&table, arrow)).collect()
}

fn judge(table: &BTreeMap<&str, &[&str]>, arrow: &Arrow) -> Option<String> {
    let (from, to) = (short(&arrow.from), short(&arrow.to));
    let Some(allowed) = table.get(from) else {
        return Some(format!("{from} is not in the table of arrows"));
    };
    if !is_ours(&arrow.to) {
        let stray = SKELETON_ONLY.contains(&to) && from != "skeleton";
        return stray.then(|| format!("{from} depends on {to}: threads and ranks only through skeleton"));
    }
    let fine = allowed.contains(&to) || (to == "testkit" && arrow.for_tests);
    (!fine).then(|| format!("{from} depends on {to}, which no arrow of the design allows"))
}

fn arrows_of(metadata: &cargo_metadata::Metadata) -> Vec<Arrow> {
    let packages = metadata.workspace_packages();
    let each = packages.iter().flat_map(|p| {
        p.dependencies.iter().map(|d| Arrow {
            from: p.name.to_string(),
            to: d.name.clone(),
            for_tests: d.kind == cargo_metadata::DependencyKind::Development,
        })
    });
    each.collect()
}

fn metadata() -> cargo_metadata::Result<cargo_metadata::Metadata> {
    cargo_metadata::MetadataCommand::new()
        .current_dir(sapwood_testkit::workspace_root())
        .other_options(["--offline".to_string()])
        .no_deps()
        .exec()
}

#[test]
fn dependencies_follow_the_arrows() {
    let arrows = arrows_of(&metadata().unwrap());
    assert!(arrows.iter().any(|a| a.from == "sapwood-train" && a.to == "sapwood-graph"), "no arrows were read");
    crate::holds(violations(&arrows));
}

#[test]
fn no_thread_pool_is_built_in() {
    let lock = std::fs::read_to_string(sapwood_testkit::workspace_root().join("Cargo.lock")).unwrap();
    assert!(lock.contains("name = \"sapwood-skeleton\""));
    for pool in ["rayon", "rayon-core", "tokio"] {
        assert!(!lock.contains(&format!("name = \"{pool}\"\n")), "{pool} came in through a dependency");
    }
}

fn planted(from: &str, to: &str, for_tests: bool) -> Vec<String> {
    violations(&[Arrow { from: from.into(), to: to.into(), for_tests }])
}

#[test]
fn wrong_arrows_are_caught() {
    crate::catches(planted("sapwood-sparse", "sapwood-graph", false), &["sparse", "graph"]);
    crate::catches(planted("sapwood-graph", "sapwood-train", true), &["graph", "train"]);
    crate::catches(planted("sapwood-train", "sapwood-report", false), &["report"]);
    crate::catches(planted("sapwood-report", "sapwood-files", false), &["report", "files"]);
    crate::catches(planted("sapwood-train", "sapwood-testkit", false), &["testkit"]);
    crate::catches(planted("sapwood-utils", "serde", false), &["utils"]);
    crate::catches(planted("sapwood-sparse", "rayon", false), &["rayon"]);
    assert!(planted("sapwood-train", "sapwood-testkit", true).is_empty());
    assert!(planted("sapwood-skeleton", "mpi", false).is_empty());
}
