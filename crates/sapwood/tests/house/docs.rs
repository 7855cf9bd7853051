//! The pages say what is there: links lead to files, variables are in the one table, no package host is named.

use sapwood_testkit::source::Source;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

const VARIABLES: &str = "docs/environment.md";
/// Set by a build script for the compiler, never by a user.
const OF_THE_BUILD: &[&str] = &["SAPWOOD_FEATURES"];

/// Targets of `](...)` in `text` that are paths.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.map(|t| t.split('#').next().unwrap_or(t)).filter(|t| !t.is_empty() && !t.contains("://")).collect()
}

/// `target` seen from the file `from`, without `..`; `None` when it leaves the project.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut path = Path::new(from).parent().map(PathBuf::from).unwrap_or_default();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir if !path.pop() => return None,
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path.to_str().map(String::from)
}

fn dead_links(files: &[Source]) -> Vec<String> {
    let exists = |path: &str| files.iter().any(|f| f.path == path || f.path.starts_with(&format!("{path}/")));
    let pages = files.iter().filter(|f| f.is(&["md"]));
    let dead = pages.flat_map(|f| {
        let links = links(&f.text).into_iter();
        links
            .filter(|t| !resolve(&f.path, t).is_some_and(|p| exists(&p)))
            .map(|t| format!("{}: dead link {t}", f.path))
            .collect::<Vec<_>>()
    });
    dead.collect()
}

/// Every `SAPWOOD_X` in `text`.
fn variables(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let names = text.split("SAPWOOD_").skip(1).map(|rest| rest.chars().take_while(|c| part(*c)).collect::<String>());
    names
        .map(|n| n.trim_end_matches('_').to_string())
        .filter(|n| !n.is_empty())
        .map(|n| format!("SAPWOOD_{n}"))
        .collect()
}

fn is_program(file: &Source) -> bool {
    let source = file.is(&["rs"]) && file.path.contains("/src/");
    source || file.name() == "Makefile" || file.path.starts_with(".ci/")
}

/// Variables that a program reads and the table lacks, and the other way round.
fn wrong_variables(files: &[Source]) -> Vec<String> {
    let table = files.iter().find(|f| f.path == VARIABLES).map(|f| variables(&f.text)).unwrap_or_default();
    let read = files.iter().filter(|f| is_program(f)).flat_map(|f| variables(&f.text));
    let used: BTreeSet<String> = read.filter(|v| !OF_THE_BUILD.contains(&v.as_str())).collect();
    let missing = used.difference(&table).map(|v| format!("{VARIABLES}: lacks {v}"));
    let stale = table.difference(&used).map(|v| format!("{VARIABLES}: has {v}, which nothing reads"));
    missing.chain(stale).collect()
}

#[test]
fn links_lead_to_files() {
    crate::holds(dead_links(&crate::project()));
    let mut files = vec![Source::new("docs/a.md", "[b](../src/b.rs) [c](c.md#top) [d](#here) [e](https://x.y)")];
    files.push(Source::new("src/b.rs", "//!"));
    crate::catches(dead_links(&files), &["docs/a.md", "c.md"]);
    files.push(Source::new("docs/c.md", ""));
    assert!(dead_links(&files).is_empty());
    crate::catches(dead_links(&[Source::new("a.md", "[x](../../x.md)")]), &["x.md"]);
}

#[test]
fn the_table_of_variables_is_complete() {
    crate::holds(wrong_variables(&crate::project()));
    let name = |n: &str| format!("{}{n}", "SAPWOOD_");
    let table = Source::new(VARIABLES, &format!("`{}` and `{}`", name("A"), name("B")));
    let code = Source::new("crates/a/src/a.rs", &format!("env::var(\"{}\")", name("A")));
    crate::catches(wrong_variables(&[table.clone(), code.clone()]), &["_B", "nothing reads"]);
    let more = Source::new("crates/a/src/b.rs", &format!("\"{}\" \"{}\"", name("B"), name("C_D")));
    crate::catches(wrong_variables(&[table, code, more]), &["lacks", "_C_D"]);
}

#[test]
fn the_two_commands_are_in_the_readme() {
    let files = crate::project();
    let text = |path: &str| files.iter().find(|f| f.path == path).map(|f| f.text.clone()).unwrap();
    for command in ["make demo", "make test"] {
        assert!(text("README.md").contains(command), "README.md lacks '{command}'");
    }
    assert!(text(".ci/run").contains("make test"), ".ci/run does not run the README's test command");
}
