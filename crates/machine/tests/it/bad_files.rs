//! Every file of `bad/` is refused, with the lines, keys and words that its head expects.

use std::fs;
use std::path::{Path, PathBuf};

use sapwood_machine::{Error, Tree, check};

fn bad() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bad");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_problem_is_named_with_its_line() {
    let files = bad();
    assert!(files.len() >= 40, "{} files", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# expect ")).collect();
        assert!(!expected.is_empty(), "{} expects nothing", file.display());
        let report = check(&text);
        let found: Vec<String> = report.errors.iter().map(ToString::to_string).collect();
        assert!(report.tree.is_none());
        assert_eq!(found.len(), expected.len(), "{}: {found:#?}", file.display());
        for (found, expected) in found.iter().zip(expected) {
            let (place, words) = expected.split_at(expected.match_indices(": ").nth(1).unwrap().0 + 2);
            assert!(found.starts_with(place) && found[place.len()..].contains(words), "{}: {found}", file.display());
        }
    }
}

#[test]
fn reading_names_the_file_and_the_first_problem() {
    let file = bad().into_iter().find(|file| file.ends_with("many.toml")).unwrap();
    let error = Tree::read(&file).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with(&format!("{}: line 5: format: ", file.display())), "{text}");
    assert!(text.contains("(and 3 more, see `sapwood machine check "), "{text}");
    assert!(matches!(error, Error::Invalid { problems, .. } if problems.len() == 4));
}

#[test]
fn text_that_is_not_utf8_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("latin1.toml");
    fs::write(&file, b"format = \"sapwood-machine/1\"\nname = \"m\xfcll\"\n").unwrap();
    let text = Tree::read(&file).unwrap_err().to_string();
    assert!(text.contains("line 2: text: not UTF-8"), "{text}");
}

#[test]
fn warnings_do_not_refuse() {
    let text = "format = \"sapwood-machine/1\"\nname = \"w\"\nmeasured = { noisy = true }\n\
                [[level]]\nname = \"root\"\n[[level]]\nname = \"core\"\ncount = 2\n";
    let report = check(text);
    assert!(report.errors.is_empty() && report.tree.is_some());
    let keys: Vec<_> = report.warnings.iter().map(|warning| (warning.line, warning.key.as_str())).collect();
    assert_eq!(keys, [(1, "measured.noisy"), (6, "level.compute"), (6, "level.link")]);
}
