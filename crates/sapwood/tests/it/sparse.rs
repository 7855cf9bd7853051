//! `sapwood sparse`: JSON with the members of its schemas, the same for every thread count and instruction set; refusals.

use sapwood_files::npy::{self, Data};
use sapwood_testkit::data;
use sapwood_testkit::program::{Program, Ran};
use serde_json::{Value, json};

/// A path of three nodes with a self loop at its end.
const PATH: &str = "0 1\n1 2\n2 2\n";

fn sparse(line: &str, stdin: &str) -> Ran {
    Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["sparse"]).line(line).stdin(stdin).run().unwrap()
}

fn json_of(line: &str, stdin: &str) -> Value {
    let ran = sparse(&format!("{line} --json"), stdin);
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    ran.json().unwrap()
}

/// The message of a call that must end with exit code 2 and without a result.
fn refused(line: &str, stdin: &str) -> String {
    let ran = sparse(line, stdin);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
    ran.stderr
}

#[test]
fn info_has_the_members_of_its_schema() {
    let expected = json!({
        "schema": "sapwood.sparse.info/1", "rows": 3, "cols": 3, "entries": 5, "value_type": "pattern",
        "index_type": "u32", "offset_type": "u32", "max_degree": 2, "mean_degree": 5.0 / 3.0, "empty_rows": 0,
        "empty_cols": 0, "self_loops": 1, "duplicates": 0, "symmetric": true, "canonical": true,
        "formats": [{
            "name": "csr", "bytes": 36, "bytes_per_entry": 7.2, "index_bytes": 20, "offset_bytes": 16,
            "value_bytes": 0, "padding_entries": 0
        }]
    });
    assert_eq!(json_of("info - --undirected", PATH).to_string(), expected.to_string());
}

#[test]
fn info_says_what_happened_to_duplicates() {
    let list = "0 1 2.5\n0 1 1\n3 0 4\n";
    let members = |line: &str| {
        let found = json_of(&format!("info - {line}"), list);
        ["entries", "duplicates", "canonical", "value_type", "empty_rows", "symmetric"].map(|m| found[m].clone())
    };
    assert_eq!(members(""), [json!(2), json!(1), json!(true), json!("f32"), json!(2), json!(false)]);
    assert_eq!(members("--duplicates keep --dtype f64")[..4], [json!(3), json!(1), json!(false), json!("f64")]);
    assert_eq!(members("--pattern")[3], json!("pattern"));
    let error = refused("info - --duplicates reject", list);
    assert_eq!(error, "error: standard input: row 0 has column 1 more than once (counted from 0)\n");
    let text = sparse("info - --duplicates keep", list).stdout;
    assert!(text.contains("not canonical, 0 self loops, 1 duplicates kept"), "{text}");
}

#[test]
fn empty_matrices_work() {
    let found = json_of("info -", "");
    assert_eq!(
        (&found["rows"], &found["mean_degree"], &found["formats"][0]["bytes_per_entry"]),
        (&json!(0), &json!(0.0), &Value::Null)
    );
    for line in ["multiply - --k 3", "multiply - --k 0 --nodes 4", "multiply - --nodes 4 --scale gcn --transpose"] {
        let found = json_of(line, "");
        assert_eq!(found["sum_of_squares"].as_f64().map(|s| s > 0.0), Some(line.contains("gcn")), "{line}");
    }
}

#[test]
fn multiply_has_the_members_of_its_schema() {
    let mut found = json_of("multiply - --undirected --digest integer --threads 2 --reps 3", PATH);
    let measured = found.as_object_mut().unwrap().shift_remove("measured").unwrap();
    let digest = sapwood_files::digest::short_of(&[-19i64, -38, -7]);
    let isa = found["isa"].clone();
    let expected = json!({
        "schema": "sapwood.sparse.multiply/1", "op": "sum", "k": 1, "dtype": "f32", "transpose": false, "format": "csr",
        "threads": 2, "isa": isa, "sum": -64.0, "sum_of_squares": 1854.0, "digest": digest, "arg_digest": null,
        "model_bytes": 36 + 24, "predicted_s": null
    });
    assert_eq!(found.to_string(), expected.to_string());
    let names: Vec<&String> = measured.as_object().unwrap().keys().collect();
    assert_eq!(names, ["wall_s", "median_s", "peak_rss_bytes", "gflops", "roof_fraction"]);
    let seconds = |name: &str| measured[name].as_f64().unwrap();
    assert!(seconds("wall_s") > 0.0 && seconds("wall_s") <= seconds("median_s"));
}

/// A JSON object without what depends on the context of the run.
fn result(line: &str, stdin: &str, isa: &str) -> String {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["sparse"]).line(line).args(["--json"]);
    let ran = program.env("SAPWOOD_ISA", isa).stdin(stdin).run().unwrap();
    let mut value = ran.json_unmeasured().unwrap();
    for name in ["threads", "isa"] {
        value.as_object_mut().unwrap().shift_remove(name);
    }
    value.to_string()
}

#[test]
fn the_same_for_every_thread_count_and_instruction_set() {
    let list: String = (0..3000u32).map(|i| format!("{} {} 0.{}\n", i % 500, i * i % 500, i % 97 + 1)).collect();
    for what in ["--k 1", "--k 20", "--k 3 --transpose", "--k 17 --transpose --dtype f64", "--k 5 --scale gcn"] {
        let line = format!("multiply - --undirected {what} --threads");
        let expected = result(&format!("{line} 1"), &list, "portable");
        for isa in sapwood_skeleton::isa::Level::ALL {
            if isa <= sapwood_skeleton::isa::detected() {
                for threads in [1, 2, 5] {
                    assert_eq!(
                        result(&format!("{line} {threads} -q"), &list, isa.name()),
                        expected,
                        "{what} {threads} {isa:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn scaling_divides_by_the_entries_of_rows_or_columns() {
    let ones = |scale: &str| {
        json_of(&format!("multiply - --x ones --dtype f64 --scale {scale}"), "0 1\n0 2\n1 2\n")["sum"].clone()
    };
    assert_eq!(ones("none"), json!(3.0));
    assert_eq!(ones("row"), json!(2.0), "two rows have entries");
    assert_eq!(ones("col"), json!(2.0), "two columns have entries");
}

#[test]
fn arrays_come_in_and_go_out() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("1.npy"), folder.path().join("2.npy"));
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    json_of(&format!("multiply - --undirected --k 2 --dtype f64 -o {first}"), PATH);
    let array = npy::read(first.as_ref()).unwrap();
    assert_eq!((array.shape, array.data), (vec![3, 2], Data::F64(vec![-19.0, -2.0, -38.0, -4.0, -7.0, 27.0])));
    json_of(&format!("multiply - --undirected --x {first} -o {second}"), PATH);
    let array = npy::read(second.as_ref()).unwrap();
    assert_eq!((array.shape, array.data), (vec![3, 2], Data::F32(vec![-38.0, -4.0, -26.0, 25.0, -45.0, 23.0])));
    let error = refused(&format!("multiply - --x {first} --nodes 4"), PATH);
    assert!(error.contains("the array is 3 x 2, X must have 4 rows") && error.contains("hint: "), "{error}");
    assert!(refused(&format!("multiply - --x {first} --k 3"), PATH).contains("--k disagrees with"));
}

#[test]
fn later_steps_are_refused_by_name() {
    for (line, words) in [
        ("convert a b", "error: sparse convert: not built yet"),
        ("triangles a", "error: sparse triangles: not built yet"),
        ("transform a", "error: sparse transform: no such command"),
        ("multiply - --op max", "'max' for '--op <sum>': not built yet; use sum"),
        ("multiply - --op product", "no such value; use sum"),
        ("multiply - --chain", "error: --chain: not built yet"),
        ("multiply - --dtype bf16", "not built yet; use f64, f32"),
        ("info - --format bsr:4", "not built yet; use auto, csr"),
        ("info - --trust", "error: --trust: .spw files are not built yet"),
        ("info - --report r.html", "--report"),
    ] {
        let error = refused(line, PATH);
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn wrong_use_says_what_is_wrong() {
    for (line, stdin, words) in [
        ("info no/such/file", "", "no/such/file"),
        ("info -", "0 1\n2 -3\n", "error: standard input:2: node -3 is negative"),
        ("info - --assume coordinate", "", "is not a layout, a field and a symmetry"),
        (
            "multiply - --scale gcn",
            "%%MatrixMarket matrix coordinate real general\n2 3 0\n",
            "the matrix is 2 x 3, it must be square",
        ),
        ("multiply - --x four", PATH, "not `ramp`, `ones` or an .npy file"),
        ("multiply - --reps 0", PATH, "--reps"),
        ("multiply - --nodes 1000000000000", PATH, "the matrix would take 4000000000028 bytes"),
        ("multiply - --k 1000000000000", PATH, "X and Y of 1000000000000 columns would take 24000000000000 bytes"),
        ("multiply - --digest integer", "0 1 0.5\n", "Y[0, 0] = -9.5 is not a whole number below 2^63"),
    ] {
        let error = refused(line, stdin);
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn golden_values_of_karate() {
    let Some(folder) = data::public("karate") else { return };
    let file = folder.join("edges.tsv");
    for (k, sum, squares, digest) in
        [(1, -723.0, 82457.0, "179daf1eb0ab5273"), (32, -4584.0, 2926306.0, "1756514fefffe502")]
    {
        for more in ["--threads 1", "--threads 2", "--threads 5 -q", "--dtype f64 --transpose"] {
            let line = format!("multiply {} --undirected --pattern --k {k} --digest integer {more}", file.display());
            let found = json_of(&line, "");
            let values = (found["sum"].as_f64(), found["sum_of_squares"].as_f64(), found["digest"].as_str());
            assert_eq!(values, (Some(sum), Some(squares), Some(digest)), "{line}");
        }
    }
    let line = format!("multiply {} --undirected --pattern --k 3 --scale gcn --dtype f64", file.display());
    let sum = json_of(&line, "")["sum"].as_f64().unwrap();
    assert!((sum / -191.372659684717 - 1.0).abs() < 1e-12, "{sum}");
}

#[test]
fn a_small_file_with_a_huge_declared_width_is_refused_whatever_the_scaling() {
    let text = "%%MatrixMarket matrix coordinate real general\n1 9223372036854775807 1\n1 1 1\n";
    for scale in ["row", "col"] {
        let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["sparse"]).stdin(text);
        let ran = program.line(&format!("multiply - --k 0 --scale {scale}")).run().unwrap();
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("would take"), "{}", ran.stderr);
    }
}
