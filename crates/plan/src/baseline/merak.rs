//! Merak (Lai et al. 2022, arXiv 2206.04959): an even cut, and recomputation that knows its stage.
//!
//! Our reconstruction of its automatic part. Its graph sharding splits a model evenly into a sequence of modules: here, the
//! contiguous cut whose slowest stage is fastest without recomputation. Its stage-aware recomputation uses idle memory for
//! less recomputation by the rank of the stage: here, each stage runs the fewest layers again, as a whole, with which the
//! micro-batches that it has in flight fit its cap. The schedule is 1F1B; the shifted critical path schedule is left out.
//!
//! A layer that is not recomputed has the kind of its segment with the least recomputation, one that is has `full`.

use super::cut::balanced;
use super::sequence::{Sequence, no_cut};
use super::{Answer, Entry, Nodes, Options, one_chunk, spent};
use crate::Result;
use crate::problem::Problem;
use crate::schedule::Dims;
use std::cmp::Reverse;

pub(super) const ENTRY: Entry = Entry {
    name: "merak",
    summary: "an even cut, then per stage the fewest fully recomputed layers that fit (Lai et al. 2022)",
    plan,
};

fn plan(problem: &Problem, dims: &Dims, options: &Options) -> Result<Answer> {
    let sequence = Sequence::new(problem, dims)?;
    if let Some(answer) = one_chunk(dims) {
        return Ok(answer);
    }
    let (slowest, ends) = match balanced(&sequence, 0, &mut Nodes(options.nodes)) {
        Ok(Some(cut)) => cut,
        Ok(None) => return Ok(no_cut()),
        Err(_) => return Ok(spent()),
    };
    let mut counts = Vec::new();
    for (stage, ends) in ends.windows(2).enumerate() {
        match fewest(&sequence, stage, sequence.lightest_row(stage, ends[0], ends[1])) {
            Ok(row) => counts.extend(row),
            Err(need) => return Ok(sequence.exceeds(stage, need)),
        }
    }
    Ok(sequence.plan(&counts, Some(slowest)))
}

/// The fewest fully recomputed layers with which a stage fits, given its lightest layers by item; the least peak that was
/// seen if it never does.
///
/// Layers that save most come first. That is the fewest but for transients: so only layers with a transient up to some limit
/// are taken, for each limit that there is.
fn fewest(sequence: &Sequence<'_>, stage: usize, row: Vec<u32>) -> std::result::Result<Vec<u32>, u64> {
    let cap = sequence.problem.caps()[stage];
    let peak = sequence.peak(stage, &row);
    if peak <= cap {
        return Ok(row);
    }
    let steps = steps(sequence, stage, &row);
    let mut limits: Vec<u64> = steps.iter().map(|&(_, to)| sequence.item(to).transient).collect();
    limits.sort_unstable();
    limits.dedup();
    let (mut best, mut least): (Option<(u32, Vec<u32>)>, u64) = (None, peak);
    for limit in limits {
        let (mut now, mut layers) = (row.clone(), 0);
        for &(from, to) in steps.iter().filter(|&&(_, to)| sequence.item(to).transient <= limit) {
            let all = now[from];
            for _ in 0..all {
                (now[from], now[to], layers) = (now[from] - 1, now[to] + 1, layers + 1);
                let peak = sequence.peak(stage, &now);
                least = least.min(peak);
                if peak <= cap && best.as_ref().is_none_or(|(fewest, _)| layers < *fewest) {
                    best = Some((layers, now.clone()));
                }
            }
        }
    }
    best.map(|(_, row)| row).ok_or(least)
}

/// The steps of single layers of the body to full recomputation, those that save most first.
fn steps(sequence: &Sequence<'_>, stage: usize, row: &[u32]) -> Vec<(usize, usize)> {
    let full = |from: usize| {
        let segment = &sequence.problem.model().segments[sequence.item(from).segment];
        let kinds = sequence.kinds(sequence.item(from).segment).iter().copied();
        let mut full = kinds.filter(|&to| segment.kinds[sequence.item(to).kind].name == "full" && to != from);
        full.next().filter(|_| segment.role.moves()).map(|to| (from, to))
    };
    let saved = |&(from, to): &(usize, usize)| {
        let kept = |item: usize| sequence.item(item).activation * sequence.in_flight(stage);
        kept(from).saturating_sub(kept(to))
    };
    let mut steps: Vec<(usize, usize)> = (0..row.len()).filter(|&item| row[item] > 0).filter_map(full).collect();
    steps.retain(|step| saved(step) > 0);
    steps.sort_by_key(|step| (Reverse(saved(step)), *step));
    steps
}
