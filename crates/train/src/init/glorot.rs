//! Weights U(±√(6 / (in + out))), biases zero (Glorot & Bengio, AISTATS 2010, equation 16).

use super::Entry;
use crate::parameter::Role;

pub(super) const ENTRY: Entry =
    Entry { name: "glorot", summary: "weights uniform within sqrt(6 / (in + out)), biases zero", half_width };

fn half_width(role: Role, rows: usize, cols: usize) -> f64 {
    match role {
        Role::Weight => (6.0 / (rows + cols).max(1) as f64).sqrt(),
        _ => 0.0,
    }
}
