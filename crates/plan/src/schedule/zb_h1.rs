//! ZB-H1 (Qi et al. 2024, arXiv 2401.10241): 1F1B whose backwards give the gradient of the input alone; gradients of weights
//! fill the bubbles. After the warm-up of 1F1B stage s runs a forward, a backward, and a gradient of weights as soon as more
//! than s of them wait; when the forwards are exhausted, backwards and gradients of weights in turns; at last what is left.

use super::{Dims, Entry, Ideal, Kind, Op, Placement, Shape, one_chunk};

pub(super) const ENTRY: Entry = Entry {
    name: "zb-h1",
    summary: "1F1B with the gradients of weights in its bubbles (Qi et al. 2024)",
    shape: Shape {
        placement: Placement::Looped,
        splits_backward: true,
        chunks: false,
        groups: false,
        ideal: Ideal::Simulated,
    },
    accepts: one_chunk,
    orders: |dims| (0..dims.stages).map(|s| of_stage(dims, s)).collect(),
};

fn of_stage(dims: &Dims, s: usize) -> Vec<Op> {
    let all = dims.micro_batches;
    let mut ops = Vec::with_capacity(3 * all);
    let [mut forwards, mut backwards, mut weights] = [0; 3];
    let mut run = |kind, done: &mut usize| {
        ops.push(Op::new(kind, s, *done));
        *done += 1;
    };
    while forwards < all.min(dims.stages - 1 - s) {
        run(Kind::Forward, &mut forwards);
    }
    while forwards < all {
        run(Kind::Forward, &mut forwards);
        run(Kind::Backward, &mut backwards);
        if backwards - weights > s {
            run(Kind::Weight, &mut weights);
        }
    }
    while backwards < all {
        run(Kind::Backward, &mut backwards);
        run(Kind::Weight, &mut weights);
    }
    while weights < all {
        run(Kind::Weight, &mut weights);
    }
    ops
}
