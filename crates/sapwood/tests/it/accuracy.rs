//! What training reaches on real graphs: the bands that a plain implementation of the same mathematics gave.

use sapwood_testkit::program::Program;

/// Mean test accuracy of the first method.
fn accuracy(line: &str, data: Option<&std::path::Path>) -> f64 {
    let mut program =
        Program::new(env!("CARGO_BIN_EXE_sapwood")).line(&format!("train {line} --sampler none --json -q"));
    if let Some(folder) = data {
        program = program.env("SAPWOOD_DATA", folder);
    }
    let ran = program.run().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json().unwrap()["methods"][0]["mean"].as_f64().unwrap()
}

#[test]
fn the_debian_graph_is_worth_fourteen_points() {
    let common = "debian --layers 2 --hidden 64 --lr 0.01 --epochs 120 --l2 5e-5 --eval-every 5 --seeds 1";
    let gcn = accuracy(&format!("{common} --model gcn"), None);
    let mlp = accuracy(&format!("{common} --model mlp"), None);
    assert!((0.69..=0.73).contains(&gcn), "gcn {gcn}");
    assert!((0.50..=0.54).contains(&mlp), "mlp {mlp}");
    assert!(gcn - mlp >= 0.14, "gcn {gcn}, mlp {mlp}");
}

#[test]
fn cora_with_the_full_split_is_in_the_band() {
    let Some(cora) = sapwood_testkit::data::public("cora") else { return };
    let mean = accuracy("cora --split full --model gcn --layers 2 --seeds 5", cora.parent());
    assert!((0.855..=0.89).contains(&mean), "{mean}");
}
