//! What a run does besides the passes of its layers: draws, losses, steps of the optimiser, evaluations.
//!
//! Draws and evaluations are loops over single numbers. Their constants are counts of what the code touches: bytes of the
//! lists that pass by, and instructions on one number each, of which a vector instruction does [`SCALAR`].

use super::sampling::{Kind, Sampling};
use super::size::Operands;
use super::work::{Gathered, Step, Work};
use super::{EXP, SCALAR, SUM, WORD};
use crate::network::Network;
use crate::number::Number;
use crate::optimiser;

/// Instructions to give a node its place in a draw (hash, part, sort), and to walk over the places.
const RANK: f64 = 30.0;
const WALK: f64 = 6.0;
/// Bytes of a node's hash and of its entry in two lists, each written and read.
const RANK_BYTES: f64 = 48.0;
/// Instructions for an arc that is looked at: collected by the node that owns it, counted, moved.
const ARC: f64 = 6.0;
/// Bytes of an arc when its owner is found: column and unit read, unit written.
const OWN_BYTES: f64 = 12.0;
/// Bytes of a unit on the walk that decides: read with its quota, written if it goes.
const UNIT_BYTES: f64 = 16.0;
/// Instructions for the three factors of a node, a root and quotients among them.
const FACTORS: f64 = 40.0;
/// Weight of a chunk in a draw, and arcs of a chunk when Â is put together.
const DRAW_CHUNK: f64 = 16384.0;
const KEPT_CHUNK: f64 = 32768.0;

/// Instructions to find the largest of the logits, for each of them.
const LARGEST: f64 = 6.0;
/// Instructions on a node to compare predictions with three parts of a split and to count classes.
const JUDGE: f64 = 21.0;
/// Instructions on a number of an energy, which is summed in double precision one after the other.
const ENERGY: f64 = 8.0;

fn chunks(weight: f64, chunk: f64) -> usize {
    (weight / chunk).ceil() as usize
}

/// A loop over `count` items on all workers: bytes, and instructions on single numbers, of an item.
fn items(count: f64, bytes: f64, instructions: f64, chunk: f64) -> Step {
    let step = Step { chunks: chunks(count, chunk), streamed: count * bytes, ..Step::default() };
    step.with_operations(count * instructions * SCALAR)
}

/// The draws of one epoch, and what they change.
pub(super) fn draw(sampling: &Sampling, on: &Operands) -> Work {
    let mut work = Work::default();
    match sampling.kind {
        Kind::Whole | Kind::Messages => {}
        Kind::Rows => {
            work.push(on.plain(2.0).with_operations(on.rows as f64 * 4.0 * WORD));
            if on.feature_entries.is_none() {
                let bytes = on.rows as f64 * (2 * on.feature_columns * on.element) as f64;
                work.push(Step { streamed: bytes, ..Step::default() });
            }
        }
        Kind::Units => {
            (0..sampling.draws).for_each(|_| one_draw(sampling, on, &mut work));
        }
    }
    work
}

/// A systematic draw of pairs in the order of nodes, and Â of what is left.
fn one_draw(sampling: &Sampling, on: &Operands, work: &mut Work) {
    let (n, arcs, units) = (on.rows as f64, sampling.arcs as f64, sampling.units as f64);
    let dropped = units * (1.0 - sampling.kept / arcs.max(1.0));
    work.push(items(n, RANK_BYTES, RANK, DRAW_CHUNK));
    let own = items(2.0 * units, OWN_BYTES, ARC, DRAW_CHUNK);
    // The rank of the other end.
    work.push(Step { gathered: Gathered { rows: 2.0 * units, row_bytes: 8.0, operand_bytes: 8.0 * n }, ..own });
    work.push(on.plain(WALK));
    work.push(items(units, UNIT_BYTES, WALK, DRAW_CHUNK));
    work.push(Step { operations: dropped * WALK * SCALAR, ..Step::default() });
    let matrices = if sampling.directed { 2 } else { 1 };
    for _ in 0..matrices {
        // Counted, scanned, moved, checked; then cut into items of a product, row by row.
        let factors = (8 + 3 * on.element) as f64;
        let count = items(arcs, 4.0, ARC, KEPT_CHUNK);
        work.push(count.with_streamed(n * factors).with_operations(n * FACTORS * SCALAR));
        work.push(items(arcs, 8.0, ARC, KEPT_CHUNK).with_streamed(4.0 * sampling.kept));
        work.push(items(sampling.kept, 4.0, 2.0, KEPT_CHUNK));
        work.push(on.plain(WALK));
    }
    // Nodes without an edge are counted.
    work.push(on.plain(WALK));
}

/// Softmax cross-entropy over `labelled` nodes; with its gradient it is written into the logits.
pub(super) fn loss(on: &Operands, classes: usize, labelled: usize, gradient: bool) -> [Step; 2] {
    let compact = (labelled * classes) as f64;
    let blocks = if gradient { 2.0 } else { labelled as f64 / on.rows.max(1) as f64 };
    let softmax = on.pass(classes, blocks, 0.0).with_operations(compact * (EXP + SUM));
    [softmax.with_streamed(on.rows as f64 * 12.0), on.pass(1, 0.0, SUM).with_streamed(on.rows as f64 * 8.0)]
}

/// One step of the optimiser, after clipping if there is a limit.
pub(super) fn step<T: Number>(network: &Network<T>, entry: &optimiser::Entry, clipped: bool) -> Work {
    let size = size_of::<T>() as f64;
    let state = entry.state_per_parameter as f64;
    let mut work = Work::default();
    for parameter in network.parameters().filter(|p| p.role.learnt()) {
        let count = parameter.count() as f64;
        let pass = |blocks: f64, operations: f64| Step {
            chunks: chunks(count, optimiser::CHUNK as f64),
            operations: count * operations,
            streamed: count * size * blocks,
            ..Step::default()
        };
        if clipped {
            work.push(pass(1.0, SUM));
            work.push(pass(2.0, 0.0));
        }
        // The value and every number of state are read and written, the gradient is read; a root and a quotient.
        work.push(pass(3.0 + 2.0 * state, 16.0 * state));
    }
    work
}

/// Judging logits that are there, and keeping the weights, which at most one evaluation in one does.
pub(super) fn judge(on: &Operands, classes: usize, validated: usize, parameters: u64) -> Work {
    let mut work: Work = loss(on, classes, validated, false).into_iter().collect();
    work.push(largest(on, classes));
    work.push(on.plain(JUDGE));
    work.push(Step { streamed: 2.0 * (parameters * on.element as u64) as f64, ..Step::default() });
    work
}

/// The class of each node.
fn largest(on: &Operands, classes: usize) -> Step {
    on.pass(classes, 1.0, LARGEST * SCALAR)
}

/// The close look at the end of a run, beside its forward pass: predictions, and the energies of hidden activations.
pub(super) fn inspect(on: &Operands, classes: usize, hidden: impl Iterator<Item = usize>) -> Work {
    let arcs = on.entries - on.rows as f64;
    let energy = |width: usize| {
        let row_bytes = (width * on.element) as f64;
        let gathered = Gathered { rows: arcs, row_bytes, operand_bytes: on.rows as f64 * row_bytes };
        Step { gathered, ..on.pass(width, 1.0, 0.0) }.with_operations(arcs * width as f64 * ENERGY * SCALAR)
    };
    let mut work: Work = hidden.map(energy).collect();
    work.push(largest(on, classes));
    work.push(on.plain(WALK));
    work
}

/// The start of a run: weights are drawn, and blocks for gradients, state and the epoch chosen written with zeros.
pub(super) fn start(parameters: u64, element: usize, entry: &optimiser::Entry) -> Step {
    let count = parameters as f64;
    let blocks = 3.0 + entry.state_per_parameter as f64;
    Step { operations: count * WORD, streamed: count * element as f64 * blocks, ..Step::default() }
}
