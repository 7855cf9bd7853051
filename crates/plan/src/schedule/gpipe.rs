//! GPipe (Huang et al. 2019): all forwards, then all backwards in the same order of micro-batches.

use super::{Dims, Entry, Ideal, Kind, Op, Placement, Shape, one_chunk};

pub(super) const ENTRY: Entry = Entry {
    name: "gpipe",
    summary: "all forwards, then all backwards (Huang et al. 2019)",
    shape: Shape {
        placement: Placement::Looped,
        splits_backward: false,
        chunks: false,
        groups: false,
        ideal: Ideal::Simulated,
    },
    accepts: one_chunk,
    orders,
};

fn orders(dims: &Dims) -> Vec<Vec<Op>> {
    let all = |kind, stage| (0..dims.micro_batches).map(move |m| Op::new(kind, stage, m));
    (0..dims.stages).map(|s| all(Kind::Forward, s).chain(all(Kind::Backward, s)).collect()).collect()
}
