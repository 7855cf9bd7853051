//! `--recompute full` on 64 layers: the same bits from at most half of the memory.

use sapwood_testkit::data::public;
use sapwood_testkit::program::Program;
use serde_json::Value;

/// Two epochs of a network of 64 layers.
fn train(data: &str, folder: Option<&std::path::Path>, recompute: &str) -> Value {
    let flags = "--model jknet --layers 64 --sampler none --epochs 2 --seeds 1 --json -q";
    let mut program = Program::new(env!("CARGO_BIN_EXE_sapwood"));
    if let Some(folder) = folder {
        program = program.env("SAPWOOD_DATA", folder);
    }
    let ran = program.line(&format!("train {data} {flags} --recompute {recompute}")).run().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json().unwrap()
}

fn high_water(found: &Value) -> f64 {
    found["measured"]["arena_high_water_bytes"].as_u64().unwrap() as f64
}

#[test]
fn recomputing_64_layers_halves_the_arena_and_changes_no_bit() {
    let cora = public("cora");
    let (data, folder) = match &cora {
        Some(cora) => ("cora --split full --hidden 128", cora.parent()),
        None => ("sbm:n=1000,k=4,in=0.05,out=0.005 --hidden 64", None),
    };
    let (none, full) = (train(data, folder, "none"), train(data, folder, "full"));
    let result = |found: &Value| (found["runs"][0]["fingerprint"].clone(), found["runs"][0]["train_loss"].clone());
    assert_eq!(result(&full), result(&none));
    let share = high_water(&full) / high_water(&none);
    assert!(share > 0.0 && share <= 0.5, "{share} of {} bytes", high_water(&none));
    // 64 activations of width H, in f32, are there at one time unless they are computed again.
    let (rows, columns) = (none["data"]["nodes"].as_u64().unwrap(), none["model"]["hidden"].as_u64().unwrap());
    assert!(high_water(&none) >= (64 * rows * columns * 4) as f64, "{none}");
}

#[test]
fn what_was_estimated_holds_what_was_taken() {
    let found = train("karate --hidden 16", Some(&sapwood_testkit::workspace_root().join("data")), "full");
    let estimate = found["estimate"]["activation_bytes"].as_u64().unwrap() as f64;
    assert!(high_water(&found) <= estimate, "{} of {estimate}", high_water(&found));
}
