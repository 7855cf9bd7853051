//! `sapwood plan`.

mod cases;
mod compare;
mod exchange;
mod simulate;
mod solve;

use sapwood_testkit::program::{Program, Ran};
use serde_json::Value;

/// The reference instance: 96 layers, 16 stages, 32 micro-batches.
const REFERENCE: [&str; 4] = ["--stages", "16", "--micro-batches", "32"];

fn reference() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/plan/llama70b-sapp.json").to_owned()
}

fn plan(arguments: &[&str]) -> Ran {
    Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["plan"]).args(arguments).run().unwrap()
}

/// The JSON object of a run that ends well, without what was measured.
fn found(arguments: &[&str]) -> Value {
    let ran = plan(&[arguments, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
    ran.json_unmeasured().unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let ran = plan(arguments);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
    ran.stderr
}
