//! Interleaved 1F1B (Megatron-LM, Narayanan et al. 2021): micro-batches are taken in groups, each group through all chunks of
//! a stage before the next one; backwards take the chunks from the last to the first. Stage s warms up with
//! min(V·M, (V − 1)·g₀ + 2(S − 1 − s)) forwards, g₀ the size of the first group.

use super::{Dims, Entry, Ideal, Kind, Op, Placement, Shape, one_f_one_b, pairs};

pub(super) const SHAPE: Shape =
    Shape { placement: Placement::Looped, splits_backward: false, chunks: true, groups: true, ideal: Ideal::Pipeline };

pub(super) const ENTRY: Entry = Entry {
    name: "interleaved",
    summary: "several chunks per stage, micro-batches in groups (Megatron-LM, Narayanan et al. 2021)",
    shape: SHAPE,
    accepts: |_| Ok(()),
    orders: |dims| orders(dims, 2),
};

/// Each stage's operations; a stage warms up with `step` more forwards than the next one. With one chunk it is 1F1B.
pub(super) fn orders(dims: &Dims, step: usize) -> Vec<Vec<Op>> {
    if dims.chunks == 1 {
        return (one_f_one_b::ENTRY.orders)(dims);
    }
    let sizes = dims.group.sizes(dims.stages, dims.micro_batches);
    let first = sizes.first().copied().unwrap_or(0);
    let of = |s: usize| {
        let all = |kind| chunk_by_chunk(dims, &sizes, s, kind);
        pairs((dims.chunks - 1) * first + step * (dims.stages - 1 - s), &all(Kind::Forward), &all(Kind::Backward))
    };
    (0..dims.stages).map(of).collect()
}

/// Group by group, in each chunk by chunk.
fn chunk_by_chunk(dims: &Dims, sizes: &[usize], stage: usize, kind: Kind) -> Vec<Op> {
    let mut ops = Vec::with_capacity(dims.chunks * dims.micro_batches);
    let mut start = 0;
    for &size in sizes {
        for chunk in 0..dims.chunks {
            let chunk = if kind == Kind::Forward { chunk } else { dims.chunks - 1 - chunk };
            let virtual_stage = SHAPE.placement.virtual_stage(stage, chunk, dims.stages);
            ops.extend((start..start + size).map(|m| Op::new(kind, virtual_stage, m)));
        }
        start += size;
    }
    ops
}
