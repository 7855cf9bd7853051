//! 1F1B with a flush (PipeDream-flush, Narayanan et al. 2021): stage s warms up with min(M, S − 1 − s) forwards, then runs a
//! forward and a backward in turns, then the backwards that are left.

use super::{Dims, Entry, Ideal, Kind, Op, Placement, Shape, one_chunk, pairs};

pub(super) const ENTRY: Entry = Entry {
    name: "1f1b",
    summary: "a forward and a backward in turns after a warm-up (PipeDream-flush, Narayanan et al. 2021)",
    shape: Shape {
        placement: Placement::Looped,
        splits_backward: false,
        chunks: false,
        groups: false,
        ideal: Ideal::Pipeline,
    },
    accepts: one_chunk,
    orders,
};

fn orders(dims: &Dims) -> Vec<Vec<Op>> {
    let of = |s: usize| {
        let all = |kind| (0..dims.micro_batches).map(|m| Op::new(kind, s, m)).collect::<Vec<_>>();
        pairs(dims.stages - 1 - s, &all(Kind::Forward), &all(Kind::Backward))
    };
    (0..dims.stages).map(of).collect()
}
