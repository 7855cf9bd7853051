//! `sapwood data`: JSON with the members of its schema, what the README of a shipped set states, conversions, refusals.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::scratch::{folder, folder_with};
use sapwood_testkit::{readme, workspace_root};
use serde_json::{Value, json};

/// Runs in the workspace, where `./data` is.
fn data(args: &[&str]) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["data"]).args(args);
    program.within(&workspace_root()).run().unwrap()
}

fn shown(args: &[&str]) -> Value {
    let ran = data(&[args, &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran.json().unwrap()
}

/// The message of a call that must end with exit code 2 and without a result.
fn refused(args: &[&str]) -> String {
    let ran = data(args);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}: {}", ran.stderr);
    ran.stderr
}

const MEMBERS: &str = "schema name nodes pairs directed weighted self_loops isolated components largest max_degree classes \
                       class_sizes unlabelled features feature_entries empty_rows homophily splits files";

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn debian_is_shown_as_its_readme_states() {
    let found = shown(&["show", "debian"]);
    assert_eq!(keys(&found), MEMBERS.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&found["schema"], &found["name"]), (&json!("sapwood.data.show/1"), &json!("debian")));
    let text = std::fs::read_to_string(workspace_root().join("data/debian-packages/README.md")).unwrap();
    let blocks = readme::json_blocks(&text).unwrap();
    let counts = blocks.iter().find(|b| b.get("nodes").is_some()).unwrap().as_object().unwrap();
    assert_eq!(counts.len(), 17);
    for (member, stated) in counts {
        assert_eq!(&found[member], stated, "{member}");
    }
    assert_eq!(keys(&found["files"][0]), ["path", "size_bytes", "sha256"]);
    assert_eq!(shown(&["show"])["name"], "debian");
}

#[test]
fn list_names_what_is_inside_and_what_lies_in_data() {
    let found = shown(&["list"]);
    assert_eq!(keys(&found), ["schema", "data", "looked_in"]);
    assert_eq!(found["looked_in"], json!(["data"]));
    let entry = |name: &str| found["data"].as_array().unwrap().iter().find(|d| d["name"] == name).unwrap().clone();
    assert_eq!(entry("debian"), json!({"name": "debian", "kind": "embedded", "path": null}));
    assert_eq!(entry("karate"), json!({"name": "karate", "kind": "tsv", "path": "data/karate"}));
    let elsewhere = folder_with(&[("mine/edges.tsv", "0 1\n"), ("more/a.mtx", "x"), ("empty/README.md", "x")]).unwrap();
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).line("data list --json");
    let ran = program.env("SAPWOOD_DATA", elsewhere.path()).within(elsewhere.path()).run().unwrap();
    let names: Vec<Value> =
        ran.json().unwrap()["data"].as_array().unwrap().iter().map(|d| json!([d["name"], d["kind"]])).collect();
    assert_eq!(names, [json!(["debian", "embedded"]), json!(["mine", "tsv"]), json!(["more/a.mtx", "sparse"])]);
}

#[test]
fn text_says_what_json_says() {
    let ran = data(&["show", "karate"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in
        ["34: 0 isolated, 1 components", "78: undirected, no weights, largest degree 17", "9 train, 9 val, 16 test"]
    {
        assert!(ran.stdout.contains(part), "{}", ran.stdout);
    }
}

#[test]
fn a_conversion_is_the_same_data_set() {
    let out = folder().unwrap();
    let path = out.path().join("copy");
    let path = path.to_str().unwrap();
    let written = shown(&["convert", "karate", "-o", path]);
    assert_eq!(keys(&written), MEMBERS.split_whitespace().collect::<Vec<_>>());
    assert_eq!(written["schema"], "sapwood.data.convert/1");
    let again = shown(&["show", path]);
    let counts = |mut v: Value| {
        v.as_object_mut().unwrap().retain(|k, _| k != "schema" && k != "name");
        v
    };
    assert_eq!(counts(again), counts(written.clone()));
    assert_eq!(shown(&["convert", "karate", "-o", path]), written);
    let taken = refused(&["convert", "karate", "-o", workspace_root().join("data/karate").to_str().unwrap()]);
    assert!(taken.contains("is not the unchanged output of an earlier conversion"), "{taken}");
}

#[test]
fn warnings_go_to_stderr_and_directions_are_kept_on_request() {
    let set = folder_with(&[("edges.tsv", "0 1\n1 0\n1 2\n")]).unwrap();
    let path = set.path().to_str().unwrap();
    let ran = data(&["show", path, "--json"]);
    assert_eq!(ran.json().unwrap()["pairs"], 2);
    assert!(
        ran.stderr.contains("warning: ") && ran.stderr.contains("other direction of 1 edges was added"),
        "{}",
        ran.stderr
    );
    assert_eq!(data(&["show", path, "--json", "-q"]).stderr, "");
    let directed = shown(&["show", path, "--directed"]);
    assert_eq!((&directed["pairs"], &directed["directed"]), (&json!(3), &json!(true)));
}

#[test]
fn what_is_wrong_is_named() {
    let missing = refused(&["show", "nowhere"]);
    assert!(missing.starts_with("error: no data set 'nowhere': looked at data/nowhere, nowhere"), "{missing}");
    assert!(refused(&["make", "sbm", "n=10"]).contains("generators are not built yet"));
    assert!(refused(&["show", "planetoid:x/cora"]).contains("not built yet"));
    assert!(refused(&["show", "karate", "--weighted", "--unweighted"]).contains("cannot be used with"));
    let broken = folder_with(&[("edges.tsv", "0 1\n1 -2\n")]).unwrap();
    assert!(refused(&["show", broken.path().to_str().unwrap()]).contains("edges.tsv:2: node id -2 is negative"));
    let none = folder_with(&[("edges.tsv", "")]).unwrap();
    assert_eq!(refused(&["show", none.path().to_str().unwrap()]), "error: graph has no nodes\n");
}

#[test]
fn what_an_interrupted_conversion_left_is_no_data_set_and_no_obstacle() {
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("out");
    std::fs::create_dir_all(out.join(".convert.tmp")).unwrap();
    std::fs::write(out.join(".convert.tmp/edges.tsv"), "0\t1\n").unwrap();
    let call = |line: &str| {
        Program::new(env!("CARGO_BIN_EXE_sapwood")).within(&workspace_root()).args(["data"]).line(line).run().unwrap()
    };
    let line = format!("convert karate -o {}", out.display());
    assert_eq!(call(&format!("show {}", out.display())).code, Some(2));
    for _ in 0..2 {
        assert_eq!(call(&line).code, Some(0));
        assert!(!out.join(".convert.tmp").exists());
    }
    assert_eq!(call(&format!("show {}", out.display())).code, Some(0));
}
