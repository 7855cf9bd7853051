//! The makespan where transfers are rendezvous: sender and receiver are both busy from the moment both are there until the
//! transfer ends.
//!
//! A stage receives what an operation waits for, runs it, and sends its result to the stage that waits for it. Sends that wait
//! for each other in a closed ring of two or more stages run as one exchange: it starts when all are there and lasts as long
//! as the longest (Megatron's fused send-receive; with pairs alone `interleaved` would deadlock on three stages and more).

use super::order::{awaited, hop};
use super::{Durations, Order};
use crate::schedule::{Dims, Kind, Op};
use crate::{Error, Result};

/// What a stage does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Receives the data of an operation from a stage.
    Receive(Op, usize),
    Run(Op),
    /// Sends the data of the operation to its stage.
    Send(Op, usize),
}

struct Stage {
    program: Vec<Next>,
    at: usize,
    clock: u64,
}

/// The makespan. `durations` must fit `order`.
///
/// # Errors
/// [`Error::Deadlock`] with what each stage waits for.
pub fn makespan(order: &Order, durations: &Durations<u64>) -> Result<u64> {
    let dims = order.dims();
    let mut stages: Vec<Stage> = order
        .lists()
        .iter()
        .enumerate()
        .map(|(stage, list)| Stage { program: program(order, stage, list), at: 0, clock: 0 })
        .collect();
    // Data that an exchange brought before their receiver asked for them.
    let mut early: Vec<Op> = Vec::new();
    loop {
        let mut moved = false;
        for s in 0..stages.len() {
            while advance(&mut stages, s, &mut early, durations, dims) {
                moved = true;
            }
        }
        if stages.iter().all(|stage| stage.at == stage.program.len()) {
            let ends = stages.iter().zip(&durations.tails).map(|(stage, tail)| stage.clock + tail);
            return Ok(ends.max().unwrap_or(0));
        }
        if !moved && !exchange(&mut stages, &mut early, durations, dims) {
            let heads = stages.iter().enumerate().filter_map(|(s, stage)| {
                let next = match stage.program.get(stage.at)? {
                    Next::Receive(op, from) => format!("stage {s}: receive for {op} from stage {from}"),
                    Next::Run(op) => format!("stage {s}: {op}"),
                    Next::Send(op, to) => format!("stage {s}: send for {op} to stage {to}"),
                };
                Some(next)
            });
            return Err(Error::Deadlock { schedule: order.name().to_owned(), heads: heads.collect() });
        }
    }
}

/// Receive, run, send, operation by operation.
fn program(order: &Order, stage: usize, list: &[Op]) -> Vec<Next> {
    let dims = order.dims();
    let of = |op: Op| order.shape().placement.of(op.virtual_stage as usize, dims.stages).0;
    let mut program = Vec::with_capacity(3 * list.len());
    for &op in list {
        if let Some(from) = awaited(op, dims).map(of).filter(|&from| from != stage) {
            program.push(Next::Receive(op, from));
        }
        program.push(Next::Run(op));
        if let Some((next, to)) = successor(op, dims).map(|next| (next, of(next))).filter(|&(_, to)| to != stage) {
            program.push(Next::Send(next, to));
        }
    }
    program
}

/// The operation of another virtual stage that waits for this one.
fn successor(op: Op, dims: &Dims) -> Option<Op> {
    match op.kind {
        Kind::Forward if (op.virtual_stage as usize) + 1 < dims.virtual_stages() => {
            Some(Op { virtual_stage: op.virtual_stage + 1, ..op })
        }
        Kind::Backward => op.virtual_stage.checked_sub(1).map(|virtual_stage| Op { virtual_stage, ..op }),
        Kind::Forward | Kind::Weight => None,
    }
}

/// One step of stage `s`, together with its partner if it is a transfer; whether there was one.
fn advance(stages: &mut [Stage], s: usize, early: &mut Vec<Op>, durations: &Durations<u64>, dims: &Dims) -> bool {
    let stage = &stages[s];
    match stage.program.get(stage.at).copied() {
        None => false,
        Some(Next::Run(op)) => {
            let place = op.kind as usize * dims.virtual_stages() + op.virtual_stage as usize;
            stages[s].clock += durations.operations[place];
            stages[s].at += 1;
            true
        }
        Some(Next::Receive(op, from)) => {
            if let Some(at) = early.iter().position(|&there| there == op) {
                early.swap_remove(at);
                stages[s].at += 1;
                return true;
            }
            transfer(stages, from, s, op, durations, dims)
        }
        Some(Next::Send(op, to)) => transfer(stages, s, to, op, durations, dims),
    }
}

/// The transfer of the data of `op`, if both sides are there.
fn transfer(stages: &mut [Stage], from: usize, to: usize, op: Op, durations: &Durations<u64>, dims: &Dims) -> bool {
    let next = |s: usize| stages[s].program.get(stages[s].at).copied();
    if next(from) != Some(Next::Send(op, to)) || next(to) != Some(Next::Receive(op, from)) {
        return false;
    }
    let end = stages[from].clock.max(stages[to].clock) + durations.links[hop(op, dims) as usize];
    for s in [from, to] {
        stages[s].clock = end;
        stages[s].at += 1;
    }
    true
}

/// Runs one closed ring of sends, if there is one.
fn exchange(stages: &mut [Stage], early: &mut Vec<Op>, durations: &Durations<u64>, dims: &Dims) -> bool {
    let send = |s: usize| match stages[s].program.get(stages[s].at).copied() {
        Some(Next::Send(op, to)) => Some((op, to)),
        _ => None,
    };
    for start in 0..stages.len() {
        let (mut ring, mut at) = (Vec::new(), start);
        while let Some((op, to)) = send(at).filter(|_| ring.len() < stages.len()) {
            ring.push((at, op));
            at = to;
            if at == start {
                let begin = ring.iter().map(|&(s, _)| stages[s].clock).max().unwrap_or(0);
                let length = ring.iter().map(|&(_, op)| durations.links[hop(op, dims) as usize]).max().unwrap_or(0);
                for (s, op) in ring {
                    stages[s].clock = begin + length;
                    stages[s].at += 1;
                    early.push(op);
                }
                return true;
            }
        }
    }
    false
}
