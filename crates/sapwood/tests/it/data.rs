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
    let out = folder().unwrap();
    let out = out.path().to_str().unwrap();
    assert!(refused(&["make", "sbm", "n=10", "-o", out]).contains("sbm:n=10: k, in, out not set"));
    assert!(refused(&["make", "ba", "n=10", "-o", out]).contains("m not set, write it as in ba:n=10000,m=4"));
    assert!(refused(&["show", "ba:n=4000000000,m=1"]).contains("MB of memory"));
    assert!(refused(&["show", "grid:rows=30000,cols=50000"]).contains("MB of memory"));
    assert!(refused(&["make", "smb", "-o", out]).contains("did you mean 'sbm'?"));
    assert!(refused(&["show", "sbm:n=4000000000,k=1,in=0,out=0"]).contains("needs about 91552 MB of memory"));
    assert!(
        refused(&["show", "planetoid:x/cora"]).contains("no data set 'planetoid:x/cora': looked at x/ind.cora.graph")
    );
    assert!(refused(&["show", "ogb:x"]).contains("no data set 'ogb:x'"));
    assert!(refused(&["show", "x/cora.npz"]).contains("no data set 'x/cora.npz'"));
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

/// Sets of the other kinds are listed and found by name below $SAPWOOD_DATA, shown, and converted to a folder.
#[test]
fn other_formats_are_listed_shown_and_converted() {
    let root = folder().unwrap();
    let fixtures = workspace_root().join("crates/graph/tests/data/planetoid");
    std::fs::create_dir_all(root.path().join("p2")).unwrap();
    for part in ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"] {
        let name = format!("ind.p2.{part}");
        std::fs::copy(fixtures.join(&name), root.path().join("p2").join(&name)).unwrap();
    }
    std::fs::create_dir_all(root.path().join("tiny_ogb/raw")).unwrap();
    for (name, text) in [("edge.csv", "0,1\n1,2\n"), ("num-node-list.csv", "3\n"), ("node-label.csv", "0\nnan\n1\n")] {
        std::fs::write(root.path().join("tiny_ogb/raw").join(name), text).unwrap();
    }
    let call = |args: &[&str]| {
        let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["data"]).args(args);
        program.env("SAPWOOD_DATA", root.path()).within(root.path()).run().unwrap()
    };
    let list = call(&["list", "--json"]).json().unwrap();
    let kinds: Vec<Value> = list["data"].as_array().unwrap().iter().map(|d| json!([d["name"], d["kind"]])).collect();
    assert_eq!(kinds, [json!(["debian", "embedded"]), json!(["p2", "planetoid"]), json!(["tiny_ogb", "ogb"])]);
    for (spec, nodes) in [("p2", 9), ("planetoid:p2", 9), ("planetoid:p2/p2", 9), ("tiny_ogb", 3), ("ogb:tiny_ogb", 3)]
    {
        let shown = call(&["show", spec, "--json"]);
        assert_eq!(shown.json().unwrap()["nodes"], nodes, "{spec}: {}", shown.stderr);
        let out = root.path().join(format!("out-{}", spec.replace([':', '/'], "-")));
        let out = out.to_str().unwrap();
        assert_eq!(call(&["convert", spec, "-o", out]).code, Some(0), "{spec}");
        assert_eq!(call(&["show", out, "--json"]).json().unwrap()["nodes"], nodes);
    }
    let make = call(&["make", "erdos", "n=20", "m=30", "-o", root.path().join("made").to_str().unwrap(), "--json"]);
    assert_eq!(make.json().unwrap()["pairs"], 30, "{}", make.stderr);
}

#[test]
fn a_generated_graph_is_written_with_the_same_facts() {
    let root = folder().unwrap();
    let path = root.path().join("blocks");
    let path = path.to_str().unwrap();
    let made = shown(&["make", "sbm", "n=60", "k=3", "in=0.4", "out=0.02", "-o", path]);
    assert_eq!(keys(&made), MEMBERS.split_whitespace().collect::<Vec<_>>());
    assert_eq!(made["schema"], "sapwood.data.make/1");
    assert_eq!(made["name"], "sbm:n=60,k=3,in=0.4,out=0.02,seed=0");
    let counts = |mut v: Value, more: &str| {
        v.as_object_mut().unwrap().retain(|k, _| k != "schema" && k != "name" && k != more);
        v
    };
    assert_eq!(counts(shown(&["show", path]), ""), counts(made.clone(), ""));
    let unwritten = shown(&["show", "sbm:n=60,k=3,in=0.4,out=0.02"]);
    assert_eq!(counts(unwritten, "files"), counts(made.clone(), "files"));
    // a whole spec is as good, and the seed of runs is no seed of a graph
    let ran =
        data(&["make", "sbm:n=60,k=3", "in=0.4", "out=0.02", "-o", path, "--seed", "5", "--json", "--threads", "2"]);
    assert_eq!(ran.json().unwrap(), made);
    assert!(ran.stderr.contains("warning: --seed is the seed of runs"), "{}", ran.stderr);
    let help = data(&["make", "--help"]).stdout;
    assert!(help.contains("sbm:n=1000,k=4,in=0.05,out=0.005") && help.contains("[default: 0.57]"), "{help}");
    assert!(data(&["list"]).stdout.contains("rmat:scale=16,edge=16"));
}

#[test]
fn a_generated_graph_can_be_trained_on() {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood"));
    let ran = program.line("train sbm:n=30,k=2,in=0.5,out=0.05 --epochs 3 --json").run().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json = ran.json().unwrap();
    assert_eq!(json["data"]["name"], "sbm:n=30,k=2,in=0.5,out=0.05,seed=0");
    assert!(ran.stderr.contains("has no features: the one-hot degree is used"), "{}", ran.stderr);
}
