//! SAPP (MindFormers `toolkit/pipeline_balance`, Apache-2.0): the slowest stage of the steady state, by an integer program.
//!
//! Their model, as the public program has it: minimise T with T ≥ F(s, v) + B(s, v′), the ends included, for all pairs of
//! chunks v, v′ of every stage s; memory is what is always there and N(v, s) activations of each chunk, with N = S − s for
//! one chunk, else min(M, S + [v = 0]·max(0, S − 2s − 1) + [v = V − 1]·min(0, S − 2s − 1)); every chunk has a layer. T is no
//! makespan, and N is no bound of what is alive: a plan may exceed its caps.
//!
//! Theirs goes to an integer solver. Ours solves the same model exactly without one: with one chunk a cut by dynamic
//! programming ([`single`]); with more, whether a T can be kept is a question for each stage apart but for the numbers of
//! layers, so it is searched for by bisection ([`chunks`]). Of the plans with the least T we take one with the least
//! recomputation, where a solver takes any. The order of the segments of the body is kept, as their later versions do; what
//! they add for M = S and against underestimated memory is left out, and so are transients and transfers, which they do not
//! have.

mod borders;
mod chunks;
mod fold;
mod front;
mod single;

use super::sequence::{Sequence, no_cut};
use super::{Answer, Entry, Nodes, Options, spent};
use crate::Result;
use crate::problem::Problem;
use crate::schedule::Dims;

pub(super) const ENTRY: Entry = Entry {
    name: "sapp",
    summary: "the least slowest pair of chunks of a stage, an integer program (MindFormers pipeline_balance)",
    plan,
};

fn plan(problem: &Problem, dims: &Dims, options: &Options) -> Result<Answer> {
    let sequence = Sequence::new(problem, dims)?;
    if !sequence.windows.possible() {
        return Ok(no_cut());
    }
    let mut nodes = Nodes(options.nodes);
    let answer =
        if dims.chunks == 1 { single::plan(&sequence, &mut nodes) } else { chunks::plan(&sequence, &mut nodes) };
    Ok(answer.unwrap_or_else(|super::Spent| spent()))
}

/// That the model has no solution.
fn unsolved() -> Answer {
    Answer::None("no setting fits: its model of memory has no solution below the caps".to_owned())
}

/// Activations of a chunk that the model counts on a stage.
fn in_flight(dims: &Dims, chunk: usize, stage: usize) -> u64 {
    let (stages, twice) = (dims.stages as i64, 2 * stage as i64 + 1);
    if dims.chunks == 1 {
        return (dims.stages - stage) as u64;
    }
    let first = if chunk == 0 { (stages - twice).max(0) } else { 0 };
    let last = if chunk + 1 == dims.chunks { (stages - twice).min(0) } else { 0 };
    ((stages + first + last) as u64).min(dims.micro_batches as u64)
}

/// What a virtual stage has besides its layers of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Base {
    forward: u64,
    backward: u64,
    /// Memory, the constant of the stage not included.
    memory: u64,
    /// Activations that are counted of each layer.
    in_flight: u64,
}

impl Base {
    /// The bases of all virtual stages.
    fn all(sequence: &Sequence<'_>) -> Vec<Base> {
        let stages = sequence.dims.stages;
        let of = |at: usize| {
            let in_flight = in_flight(sequence.dims, at / stages, at % stages);
            Base {
                forward: sequence.pinned_sum(at, |item| item.forward),
                backward: sequence.pinned_sum(at, |item| item.backward + item.extra),
                memory: sequence.pinned_sum(at, |item| item.parameters + in_flight * item.activation),
                in_flight,
            }
        };
        (0..sequence.dims.virtual_stages()).map(of).collect()
    }
}

/// Values of T to try, from a lower bound on until one is past which nothing changes.
fn limits(sequence: &Sequence<'_>, least: u64) -> impl Iterator<Item = u64> {
    let items = sequence.problem.items().iter();
    let each = items.map(|item| {
        let count = u64::from(sequence.problem.model().segments[item.segment].count);
        count * (item.forward + item.backward + item.extra)
    });
    let most = each.sum::<u64>().max(least);
    let first = (least / 64).max(1);
    let steps = std::iter::successors(Some(first), |step| Some(step.saturating_mul(2)));
    let mut last = false;
    steps
        .map(move |step| least.saturating_add(step - first).min(most))
        .take_while(move |&limit| !std::mem::replace(&mut last, limit == most))
}
