//! Calibration: known decompositions, what cannot be told apart, files that are wrong.

mod guide;
mod laws;
mod memory;
mod times;
mod wrong;

use sapwood_plan::calibrate::memory::{Fit, Verdict, fit};
use sapwood_plan::calibrate::{Constant, Measured, Undetermined, parse};

/// Reads measurements.
fn measured(text: &str) -> Measured {
    parse("measured", text.as_bytes()).unwrap()
}

/// What is wrong with a text.
fn wrong(text: &str) -> String {
    parse("measured", text.as_bytes()).unwrap_err().to_string()
}

/// The costs of measurements that determine them.
fn found(measured: &Measured) -> Fit {
    match fit(measured).unwrap() {
        Verdict::Found(fit) => fit,
        Verdict::Undetermined(open) => panic!("undetermined: {open:?}"),
    }
}

/// What measurements leave open.
fn open(measured: &Measured) -> Undetermined {
    match fit(measured).unwrap() {
        Verdict::Undetermined(open) => open,
        Verdict::Found(fit) => panic!("determined: {fit:?}"),
    }
}

/// The same without a constant.
fn without_constant(text: &str) -> Measured {
    Measured { constant: Constant::No, ..measured(text) }
}
