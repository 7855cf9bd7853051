//! Weights and biases U(±1 / √out), as the scripts of DropEdge (Rong et al., ICLR 2020) do.

use super::Entry;
use crate::parameter::Role;

pub(super) const ENTRY: Entry = Entry {
    name: "dropedge",
    summary: "weights and biases uniform within 1 / sqrt(out), as the DropEdge scripts",
    half_width,
};

fn half_width(_role: Role, _rows: usize, cols: usize) -> f64 {
    1.0 / (cols.max(1) as f64).sqrt()
}
