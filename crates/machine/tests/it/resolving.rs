//! From an argument to a machine.

use std::path::Path;

use sapwood_machine::Tree;

#[test]
fn presets_by_name_alias_and_prefix() {
    for argument in ["h100-node", "dgx-h100", "preset:h100-node", "preset:dgx-h100"] {
        assert_eq!(Tree::resolve(argument).unwrap().name(), "h100-node");
    }
}

#[test]
fn files_by_path() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/t2.toml");
    assert_eq!(Tree::resolve(file.to_str().unwrap()).unwrap().name(), "t2");
    let missing = Tree::resolve("./no-such-machine.toml").unwrap_err();
    assert_eq!(missing.to_string(), "cannot open ./no-such-machine.toml");
    assert!(Tree::resolve("./h100-node").is_err(), "a path is never a preset");
}

#[test]
fn a_wrong_name_says_what_to_do() {
    let message = |name| Tree::resolve(name).unwrap_err().to_string();
    assert_eq!(message("h100-nod"), "no machine preset is called \"h100-nod\"; did you mean h100-node?");
    assert_eq!(message("preset:dgx-h10"), "no machine preset is called \"dgx-h10\"; did you mean dgx-h100?");
    let far = message("wombat");
    assert!(far.contains("`sapwood machine list` shows all"), "{far}");
}

#[test]
fn a_bare_word_that_is_only_a_file_is_read() {
    // Cargo runs tests in the folder of the package, where `src` is a bare word that exists
    let error = Tree::resolve("src").unwrap_err();
    assert!(error.to_string().contains("src") && !error.to_string().contains("preset"), "{error}");
}
