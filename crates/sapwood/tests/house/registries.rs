//! One file, one line: every module of a registry folder stands in that folder's `ALL`, and every name of a registry
//! stands in its page of the documentation.

use crate::code;
use sapwood_testkit::source::Source;
use std::collections::BTreeSet;

/// A folder whose files are the members of one kind.
pub(crate) struct Registry {
    /// Path of the folder, without a slash at its end.
    pub(crate) folder: &'static str,
    /// The page that has to name each member.
    pub(crate) page: &'static str,
    /// Modules of the folder that are no members, because all members share them.
    pub(crate) shared: &'static [&'static str],
}

const fn registry(folder: &'static str, page: &'static str, shared: &'static [&'static str]) -> Registry {
    Registry { folder, page, shared }
}

/// Every registry of the project.
pub(crate) static REGISTRIES: &[Registry] = &[
    registry("crates/skeleton/src/monoid", "docs/skeletons.md", &[]),
    registry("crates/sparse/src/io", "docs/sparse.md", &["bound", "build", "options", "text"]),
    registry("crates/sparse/src/formats", "docs/sparse.md", &[]),
    registry("crates/sparse/src/kernels", "docs/sparse.md", &["reference"]),
    registry("crates/sparse/src/reshape", "docs/sparse.md", &[]),
    registry("crates/sparse/src/algorithms", "docs/sparse.md", &["linop", "tree"]),
    registry(
        "crates/graph/src/dataset",
        "docs/data.md",
        &["believable", "compressed", "files", "lines", "place", "split", "write"],
    ),
    registry("crates/graph/src/draw", "docs/rank.md", &["nested", "order", "quotas", "scratch", "smallest"]),
    registry("crates/graph/src/sampler", "docs/train.md", &["facts", "labels", "options", "rates", "units"]),
    registry("crates/graph/src/generator", "docs/data.md", &["gaps", "spec"]),
    registry("crates/graph/src/normalise", "docs/train.md", &[]),
    registry("crates/graph/src/score", "docs/rank.md", &[]),
    registry("crates/graph/src/centrality", "docs/rank.md", &[]),
    registry("crates/plan/src/schedule", "docs/plan.md", &["group", "op"]),
    registry("crates/plan/src/model/readers", "docs/plan.md", &[]),
    registry("crates/plan/src/import", "docs/plan.md", &[]),
    registry("crates/plan/src/export", "docs/plan.md", &[]),
    registry("crates/plan/src/baseline", "docs/plan.md", &["cut", "sequence"]),
    registry("crates/reduce/src/monoids", "docs/reduce.md", &["arg", "order"]),
    registry("crates/reduce/src/elementwise", "docs/reduce.md", &[]),
    registry("crates/reduce/src/composites", "docs/reduce.md", &["normalise", "options", "tests"]),
    registry("crates/reduce/src/exec/cpu/leaves", "docs/reduce.md", &["generic", "tests"]),
    registry("crates/reduce/src/onnx/ops", "docs/reduce.md", &[]),
    registry("crates/train/src/model", "docs/train.md", &[]),
    registry("crates/train/src/init", "docs/train.md", &[]),
    registry("crates/train/src/optimiser", "docs/train.md", &["checks", "clip", "moments"]),
    registry("crates/train/src/schedule", "docs/train.md", &[]),
    registry("crates/train/src/select", "docs/train.md", &[]),
];

/// Presets: files of data in a folder, one line in `ALL` of a file and one name in a page each.
type Presets = (&'static str, &'static str, &'static str);

/// Every folder of presets.
const PRESETS: [Presets; 2] = [
    ("crates/machine/presets/", "crates/machine/src/presets/mod.rs", "docs/machine.md"),
    ("crates/train/src/preset/", "crates/train/src/preset/mod.rs", "docs/train.md"),
];

/// Presets that the registry or the page does not name.
fn unlisted_presets(files: &[Source], (folder, root, page): Presets) -> Vec<String> {
    let text = |path: &str| files.iter().find(|f| f.path == path).map_or("", |f| f.text.as_str());
    let all = all_of(text(root)).unwrap_or_default();
    let names = files.iter().filter_map(|f| f.path.strip_prefix(folder)?.strip_suffix(".toml"));
    let missing = names.filter_map(|name| match (all.contains(&format!("\"{name}\"")), text(page)) {
        (false, _) => Some(format!("{folder}{name}.toml: not in ALL of {root}")),
        (true, page_text) if !page_text.contains(&format!("`{name}`")) => {
            Some(format!("{page}: does not name `{name}`"))
        }
        _ => None,
    });
    missing.collect()
}

/// The file that declares the modules of `folder`.
fn root_of<'a>(files: &'a [Source], folder: &str) -> Option<&'a Source> {
    let names = [format!("{folder}/mod.rs"), format!("{folder}.rs")];
    files.iter().find(|f| names.contains(&f.path))
}

/// What stands between the brackets of `static ALL: ... = &[ ... ];`, without comments.
fn all_of(text: &str) -> Option<String> {
    let code = code::without_unit_tests(text);
    let from = code.find("static ALL:")?;
    let value = from + code[from..].find('=')?;
    let list = value + code[value..].find("&[")? + 2;
    let mut depth = 1;
    let end = code[list..].find(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth == 0
    })?;
    let lines = text[list..list + end].lines().map(|l| l.split("//").next().unwrap_or(l));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// Modules that lie in `folder`: files, and folders with a `mod.rs`.
fn modules<'a>(files: &'a [Source], folder: &str) -> Vec<&'a str> {
    let below = files.iter().filter_map(|f| f.path.strip_prefix(folder)?.strip_prefix('/'));
    let modules = below.filter_map(|p| p.strip_suffix("/mod.rs").or_else(|| p.strip_suffix(".rs")));
    modules.filter(|m| *m != "mod" && !m.contains('/')).collect()
}

fn unregistered(files: &[Source], registries: &[Registry]) -> Vec<String> {
    registries.iter().flat_map(|r| of_registry(files, r)).collect()
}

fn of_registry(files: &[Source], registry: &Registry) -> Vec<String> {
    let folder = registry.folder;
    let Some(all) = root_of(files, folder).and_then(|root| all_of(&root.text)) else {
        return vec![format!("{folder}: no module with a 'pub static ALL' was found")];
    };
    let members = modules(files, folder);
    let stray = members.iter().filter(|m| !registry.shared.contains(m) && !code::has_word(&all, m));
    let gone = registry.shared.iter().filter(|m| !members.contains(m));
    stray
        .map(|m| format!("{folder}/{m}: not in ALL"))
        .chain(gone.map(|m| format!("{folder}/{m}: listed as shared, but it is gone")))
        .collect()
}

/// Folders with an `ALL` that the table above does not know.
fn unlisted(files: &[Source], registries: &[Registry]) -> Vec<String> {
    let roots = files.iter().filter(|f| f.path.contains("/src/") && f.is(&["rs"]) && all_of(&f.text).is_some());
    let folders = roots.map(|f| f.path.trim_end_matches("/mod.rs").trim_end_matches(".rs"));
    let own_files = |folder: &&str| !modules(files, folder).is_empty();
    let unknown = folders.filter(own_files).filter(|f| registries.iter().all(|r| r.folder != *f));
    unknown.map(|f| format!("{f}: has a registry that the house tests do not know")).collect()
}

/// Names that members give themselves: the `name: "..."` of every file of the folder.
fn names(files: &[Source], folder: &str) -> BTreeSet<String> {
    let prefix = format!("{folder}/");
    let members = files.iter().filter(|f| f.path.starts_with(&prefix));
    let code = members.map(|f| f.text.split("#[cfg(test)]").next().unwrap_or(&f.text));
    let named = code.flat_map(|text| text.split("name: \"").skip(1));
    named.filter_map(|rest| Some(rest.split_once('"')?.0.to_string())).collect()
}

fn undocumented(files: &[Source], registries: &[Registry]) -> Vec<String> {
    let of = |r: &Registry| {
        let page = files.iter().find(|f| f.path == r.page).map_or("", |f| f.text.as_str());
        let missing = names(files, r.folder).into_iter().filter(|n| !page.contains(&format!("`{n}`")));
        missing.map(|n| format!("{}: does not name `{n}` of {}", r.page, r.folder)).collect::<Vec<_>>()
    };
    registries.iter().flat_map(of).collect()
}

#[test]
fn every_file_of_a_registry_folder_is_registered() {
    crate::holds(unregistered(&crate::project(), REGISTRIES));
}

#[test]
fn every_registry_is_known_here() {
    crate::holds(unlisted(&crate::project(), REGISTRIES));
}

#[test]
fn every_registered_name_is_documented() {
    let files = crate::project();
    assert!(names(&files, "crates/graph/src/sampler").contains("dropedge"));
    crate::holds(undocumented(&files, REGISTRIES));
}

#[test]
fn every_preset_is_registered_and_documented() {
    let files = crate::project();
    for path in ["crates/machine/presets/laptop-8.toml", "crates/train/src/preset/full-cora-gcn.toml"] {
        assert!(files.iter().any(|f| f.path == path), "{path}");
    }
    crate::holds(PRESETS.iter().flat_map(|&presets| unlisted_presets(&files, presets)).collect());
}

#[cfg(test)]
mod planted {
    use super::*;

    const SHAPES: &[Registry] = &[registry("crates/a/src/shape", "docs/a.md", &["point"])];
    const MOD: &str = "mod cube;\npub static ALL: &[Entry] = &[\n    ball::ENTRY, // not cube\n    Fact { name: \"ball\", can: &[\"roll]\", \"−\"] },\n    egg::ENTRY,\n];\n";

    fn shapes() -> Vec<Source> {
        vec![
            Source::new("crates/a/src/shape/mod.rs", MOD),
            Source::new("crates/a/src/shape/point.rs", "//!"),
            Source::new("crates/a/src/shape/ball.rs", "Entry { name: \"ball\" }"),
            Source::new("docs/a.md", "a `ball`"),
        ]
    }

    #[test]
    fn an_unregistered_file_or_folder_is_caught() {
        let mut files = shapes();
        assert!(unregistered(&files, SHAPES).is_empty());
        files.push(Source::new("crates/a/src/shape/cube.rs", "//!"));
        crate::catches(unregistered(&files, SHAPES), &["shape/cube", "not in ALL"]);
        files[4] = Source::new("crates/a/src/shape/torus/mod.rs", "//!");
        crate::catches(unregistered(&files, SHAPES), &["shape/torus"]);
        files[4] = Source::new("crates/a/src/shape/egg.rs", "//! behind a list in brackets");
        assert!(unregistered(&files, SHAPES).is_empty());
        files[4] = Source::new("crates/a/src/shape/ball/inner.rs", "//!");
        assert!(unregistered(&files, SHAPES).is_empty());
    }

    #[test]
    fn a_vanished_folder_or_shared_file_is_caught() {
        crate::catches(unregistered(&[], SHAPES), &["crates/a/src/shape", "no module"]);
        let files: Vec<Source> = shapes().into_iter().filter(|f| f.name() != "point.rs").collect();
        crate::catches(unregistered(&files, SHAPES), &["point", "gone"]);
    }

    #[test]
    fn an_unknown_registry_is_caught() {
        crate::catches(unlisted(&shapes(), &[]), &["crates/a/src/shape"]);
        assert!(unlisted(&shapes(), SHAPES).is_empty());
    }

    #[test]
    fn a_forgotten_preset_is_caught() {
        for presets in PRESETS {
            let (folder, root, page) = presets;
            let at = |name: &str| Source::new(&format!("{folder}{name}.toml"), "");
            let list = Source::new(root, "pub static ALL: &[Preset] = &[preset!(\"a\", []), preset!(\"b\", [])];");
            let files = [at("a"), list, Source::new(page, "`a`")];
            assert!(unlisted_presets(&files, presets).is_empty());
            crate::catches(unlisted_presets(&[&files[..], &[at("b")]].concat(), presets), &[page, "`b`"]);
            crate::catches(unlisted_presets(&[&files[..], &[at("c")]].concat(), presets), &["c.toml", "not in ALL"]);
        }
    }

    #[test]
    fn an_undocumented_name_is_caught() {
        let mut files = shapes();
        assert!(undocumented(&files, SHAPES).is_empty());
        files[3].text = "a ball".into();
        crate::catches(undocumented(&files, SHAPES), &["docs/a.md", "`ball`"]);
    }
}
