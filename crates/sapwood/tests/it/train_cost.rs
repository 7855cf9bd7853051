//! The predicted time of `sapwood train`: an exact number from a machine file with round rates, nulls without rates, and
//! what is compared with what was measured.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::workspace_root;
use serde_json::{Value, json};
use std::path::Path;

fn train(machine: Option<&Path>, line: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["train"]).line(line);
    let program = match machine {
        Some(path) => program.args(["--machine".as_ref(), path.as_os_str()]),
        None => program,
    };
    program.within(&workspace_root()).run().unwrap()
}

/// One worker: bytes at 1 GB/s, FLOP at 1 GFLOP/s, an operation in registers at 1 ns, a step at 1 us.
const RATES: &str = r#"
format = "sapwood-machine/1"
name = "round"

[[level]]
name = "core"

[rates]
threads = 1
gemm = "1 GFLOP/s"
fma_f32 = "2 GFLOP/s"
elementwise = "1 GB/s"
stream = "1 GB/s"
spmm = "1 GB/s"
gather_64 = "1 GB/s"
gather_256 = "1 GB/s"
dispatch = "1 us"
"#;

fn machine(folder: &Path, text: &str) -> std::path::PathBuf {
    let path = folder.join("machine.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// A perceptron of one layer on the karate club: 34 nodes with one entry each in X, 2 classes, 9 nodes train, 9 validate.
const LINE: &str = "karate --model mlp --layers 1 --epochs 3 --eval-every 2 --seeds 2 --sampler none --threads 1";

/// Nanoseconds of one run of [`LINE`] where X has `columns` columns.
fn by_hand(columns: f64) -> f64 {
    let (step, parameters) = (1000.0, 2.0 * columns + 2.0);
    // XW: entries, offsets and outputs of 2 numbers; a line of 64 bytes for each entry. Then the bias.
    let forward = (34.0 * 8.0 + 34.0 * 16.0 + 34.0 * 64.0 + step) + (34.0 * 2.0 * 4.0 * 2.0 + step);
    // XᵀG; the sums of G, 4 operations a number.
    let backward = (34.0 * 8.0 + columns * 16.0 + 34.0 * 64.0 + step) + (68.0 * 4.0 + 68.0 * 4.0 + step);
    // e^z and a sum for 9 rows of 2: 29 operations each. Logits are read, and in training written; targets and losses.
    let losses = 34.0 * 4.0 + 34.0 * 8.0 + step;
    let softmax = |logits: f64| logits + 18.0 * 29.0 + 34.0 * 12.0 + step + losses;
    // Adam moves 7 numbers and does 32 operations for each parameter; weights and biases are a step each.
    let adam = parameters * (28.0 + 32.0) + 2.0 * step;
    let epoch = forward + backward + softmax(544.0) + adam;
    let largest = 68.0 * 4.0 + 68.0 * 48.0 + step;
    let evaluation = forward + softmax(72.0) + largest + 34.0 * 21.0 * 8.0 + 2.0 * 4.0 * parameters;
    let once = parameters * (42.0 + 5.0 * 4.0) + forward + largest + 34.0 * 6.0 * 8.0;
    // Epochs 2 and 3 are evaluated.
    3.0 * epoch + 2.0 * evaluation + once
}

#[test]
fn round_rates_give_the_number_worked_out_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let path = machine(folder.path(), RATES);
    let ran = train(Some(&path), &format!("{LINE} --dry-run --json"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let dry = ran.json().unwrap();
    let expected = 2.0 * 1e-9 * by_hand(dry["data"]["features"].as_f64().unwrap());
    let predicted = dry["cost"]["predicted_s"].as_f64().unwrap();
    assert!((predicted - expected).abs() < 1e-12 * expected, "{predicted} {expected}");
    assert!(dry["measured"]["cost_ratio"].is_null());
    let stage = &dry["cost"]["by_stage"][0];
    let part = |name: &str| stage[name].as_f64().unwrap();
    assert_eq!(json!([stage["stage"], stage["layers"], stage["saved_bytes"]]), json!([0, 1, 0]));
    assert_eq!(part("predicted_s"), part("forward_s") + part("backward_s"));
    assert!((part("forward_s") - 5536e-9).abs() < 1e-15, "{stage}");

    let ran = train(Some(&path), &format!("{LINE} --json"));
    let found = ran.json().unwrap();
    assert_eq!(found["cost"], dry["cost"], "a run predicts what its dry run does");
    let measured: f64 =
        found["measured"]["runs"].as_array().unwrap().iter().map(|run| run["run_s"].as_f64().unwrap()).sum();
    let ratio = found["measured"]["cost_ratio"].as_f64().unwrap();
    assert!((ratio - predicted / measured).abs() < 1e-9 * ratio, "{ratio}");
}

#[test]
fn the_table_and_the_dry_run_say_what_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let path = machine(folder.path(), RATES);
    let dry = train(Some(&path), &format!("{LINE} --dry-run")).stdout;
    assert!(dry.contains(" predicted with none\n") && dry.contains(" predicted for 2 runs of each method\n"), "{dry}");
    let table = train(Some(&path), LINE).stdout;
    let line = table.lines().find(|line| line.starts_with("predicted ")).unwrap();
    assert!(line.contains(", measured ") && line.contains(" (ratio "), "{line}");
    // Two rates of a sweep take longer than one, and what drops nothing is trained once.
    let sweep = |rates: &str| {
        let line = format!("karate --epochs 2 --seeds 1 --threads 1 --hidden 8 --dry-run --json --sweep p={rates}");
        train(Some(&path), &line).json().unwrap()["cost"]["predicted_s"].as_f64().unwrap()
    };
    let (one, two) = (sweep("0.5"), sweep("0.5,0.5"));
    assert!(one < two && two < 2.0 * one, "{one} {two}");
}

#[test]
fn a_resumed_run_is_compared_by_the_epochs_it_trained() {
    let folder = tempfile::tempdir().unwrap();
    let path = machine(folder.path(), RATES);
    let saved = folder.path().join("runs");
    let first = train(Some(&path), &format!("{LINE} --json -o {}", saved.display()));
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let again = train(Some(&path), &format!("{LINE} --json --resume {}", saved.display()));
    let found = again.json().unwrap();
    assert!(found["measured"]["cost_ratio"].is_null(), "nothing was trained: {}", found["measured"]);
    assert_eq!(found["cost"], first.json().unwrap()["cost"]);
}

#[test]
fn without_rates_nothing_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let plain = machine(folder.path(), RATES.split("[rates]").next().unwrap());
    let nulls = json!({"predicted_s": Value::Null, "by_stage": []});
    let ran = train(Some(&plain), &format!("{LINE} --json"));
    let found = ran.json().unwrap();
    assert_eq!((&found["cost"], &found["measured"]["cost_ratio"]), (&nulls, &Value::Null));
    let dry = train(Some(&plain), &format!("{LINE} --dry-run"));
    assert!(dry.stdout.contains("no rates: sapwood machine probe -o machine.toml"), "{}", dry.stdout);
    assert!(!train(Some(&plain), LINE).stdout.contains("predicted"));
    // Some rates are not enough: the one that is missing is named.
    let some = machine(folder.path(), &RATES.replace("gather_256 = \"1 GB/s\"\n", ""));
    let ran = train(Some(&some), &format!("{LINE} --dry-run --json"));
    assert_eq!(ran.json().unwrap()["cost"], nulls);
    assert!(ran.stderr.contains("no time is predicted") && ran.stderr.contains("gather_256"), "{}", ran.stderr);
}
