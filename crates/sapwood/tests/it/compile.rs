//! `sapwood compile` from the outside: goldens, programs, models, bad input.

use sapwood_testkit::program::Program;
use sapwood_testkit::scratch;
use serde_json::Value;

fn sapwood() -> Program {
    Program::new(env!("CARGO_BIN_EXE_sapwood"))
}

fn json(line: &str) -> Value {
    let ran = sapwood().line(line).args(["--json"]).run().unwrap();
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    ran.json().unwrap()
}

#[test]
fn goldens_do_not_depend_on_threads_or_levels() {
    for threads in [1, 2, 7] {
        for level in ["fast", "run-to-run", "portable"] {
            let line = format!(
                "compile --reduce sum --shape 50176x256 --axes 0 --run --threads {threads} --determinism {level} -q"
            );
            let out = json(&line);
            let y = &out["results"][0];
            assert_eq!(
                [&y["first_bits"], &y["last_bits"], &y["tree_bits"]],
                ["0xc100dc1d", "0x40948b44", "0x3f8453cc"]
            );
            assert_eq!((out["form"].as_str(), out["bytes_bound"].as_u64()), (Some("RP 50176x256"), Some(51_381_248)));
        }
    }
}

#[test]
fn a_program_is_read_checked_and_written() {
    let folder = scratch::folder().unwrap();
    let file = folder.path().join("y.npy");
    let out = format!("y={}", file.display());
    let text = "program s\ninput x: f32[n,8]\ny = softmax(x)\noutput y\n";
    let ran = sapwood().line("compile - --bind n=4 --check --json --out").args([&out]).stdin(text).run().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let value = ran.json().unwrap();
    assert_eq!((&value["check"]["ok"], &value["launches"]), (&Value::from(true), &Value::from(1)));
    assert_eq!(item_bytes(&file), 4 * 8 * 4);
    let again = format!("x={}", file.display());
    let ran = sapwood().line("compile - --bind n=4 --check --input").args([&again]).stdin(text).run().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

/// Bytes of an array's items.
fn item_bytes(path: &std::path::Path) -> u64 {
    std::fs::metadata(path).unwrap().len() - 128
}

#[test]
fn bad_input_is_told_apart() {
    for (line, stdin, words) in [
        ("compile --reduce sum --shape 4x3 --axes 7", "", &["axis 7", "rank is 2"][..]),
        ("compile --reduce sum --shape 4x3 --axes 0,0", "", &["axis 0", "twice"]),
        ("compile --reduce sum --shape 4xx3", "", &["4xx3"]),
        ("compile --reduce nothing --shape 4", "", &["nothing"]),
        ("compile --reduce sum --shape 4x3 --strides 0,1 --axes 0", "", &["stride", "0"]),
        ("compile --reduce sum --shape 9223372036854775807x3 --axes 0", "", &["2^63"]),
        ("compile --reduce mean --dtype i32 --shape 3x0 --axes 1", "", &["empty axis"]),
        ("compile --reduce argmax --shape 0 --axes 0", "", &["empty axis"]),
        ("compile --target cuda --reduce sum --shape 4", "", &["cuda", "not built yet"]),
        ("compile --emit x --reduce sum --shape 4", "", &["--emit", "not built yet"]),
        ("compile -", "program p\ninput x: f32[n]\ny = sum(x)\noutput y", &["n", "--bind"]),
        ("compile -", "program p\ninput x: f32[4]\ny = sum(z)\noutput y", &["stdin:3:9", "z"]),
        ("compile - --input a=b.npy", "program p", &["b.npy"]),
        ("compile /nowhere/a.onnx", "", &["/nowhere/a.onnx"]),
    ] {
        let ran = sapwood().line(line).stdin(stdin).run().unwrap();
        assert_eq!(ran.code, Some(2), "{line}: {}{}", ran.stdout, ran.stderr);
        words.iter().for_each(|w| assert!(ran.stderr.contains(w), "{line}: no '{w}' in {}", ran.stderr));
        assert_eq!(ran.stdout, "", "{line}");
    }
}

#[test]
fn labels_outside_their_axis_name_the_label() {
    let text = "program p\ninput x: f32[4,3]\nl = iota(shape=[4], axis=0, dtype=i64)\ny = gather_label(x, l, axis=1)\noutput y";
    let ran = sapwood().line("compile - --run").stdin(text).run().unwrap();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("label 3 is outside 0..3"), "{}", ran.stderr);
}
