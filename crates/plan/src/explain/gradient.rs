//! What a little more or less would change: one layer less somewhere, a little more memory on a stage. Differences of exact
//! makespans; recomputation on the changed stage is chosen anew, greedily: what saves most comes first. Memory that a stage has
//! free already is a change of its own, and the others of that stage are what they are worth on top of it.

use crate::problem::Problem;
use crate::schedule::Dims;
use crate::simulate::{Order, Sweep, Vectors};
use crate::{Error, Result};
use serde::Serialize;

/// A small change and what it does to the makespan, in the model's unit of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gradient {
    /// What is changed.
    pub change: String,
    /// The makespan after it less that before; before is once the stage has used the memory that it has free.
    pub makespan_change: f64,
}

/// Bytes of the memory that a stage gets more.
const MORE: f64 = 1e9;

/// Part of a cap that a stage gets more where memory has no unit.
const SHARE: f64 = 0.02;

/// Less recomputation on each stage that has memory free for it; on top of that, one layer less in each virtual stage that has
/// more than it must, and more memory on each stage that has a cap. The largest gain first.
///
/// # Errors
/// [`Error::TooLarge`] for peaks beyond u64.
pub fn gradients(problem: &Problem, order: &Order, vectors: &Vectors, counts: &[u32]) -> Result<Vec<Gradient>> {
    let mut at = At { problem, order, vectors, sweep: Sweep::new() };
    let before = at.makespan(counts);
    let placement = order.shape().placement;
    let Dims { stages, chunks, .. } = *order.dims();
    let mut all = Vec::new();
    let mut add = |change: String, before: u64, after: u64| {
        let ticks = after as f64 - before as f64;
        all.push(Gradient { change, makespan_change: problem.time().show_real(ticks) });
    };
    for stage in 0..stages {
        let cap = problem.caps()[stage];
        // What follows is worth what it adds to this: free memory is there without it.
        let filled = at.relaxed(counts.to_vec(), stage, cap)?;
        let base = at.makespan(&filled);
        if filled != counts {
            add(format!("less recomputation on stage {stage}, within its memory"), before, base);
        }
        for chunk in 0..chunks {
            let Some(less) = at.less(&filled, placement.virtual_stage(stage, chunk, stages)) else { continue };
            let chosen = at.relaxed(less, stage, cap)?;
            add(format!("one layer less on stage {stage} chunk {chunk}"), base, at.makespan(&chosen));
        }
        if cap < u64::MAX {
            let (more, name) = more(problem, cap);
            let chosen = at.relaxed(filled, stage, problem.memory().from(problem.memory().show(cap) + more)?)?;
            add(format!("{name} on stage {stage}"), base, at.makespan(&chosen));
        }
    }
    all.sort_by(|a, b| a.makespan_change.total_cmp(&b.makespan_change));
    Ok(all)
}

/// The memory that a stage with a cap gets more, in the model's unit, and its name.
fn more(problem: &Problem, cap: u64) -> (f64, String) {
    let unit = problem.model().memory_unit;
    if unit.name().is_empty() {
        let more = SHARE * problem.memory().show(cap);
        return (more, format!("{more} more memory"));
    }
    (MORE / unit.bytes(), "+1 GB".to_owned())
}

struct At<'a> {
    problem: &'a Problem,
    order: &'a Order,
    vectors: &'a Vectors,
    sweep: Sweep<u64>,
}

impl At<'_> {
    fn makespan(&mut self, counts: &[u32]) -> u64 {
        self.sweep.run(self.order, &self.problem.costs(self.order, counts).0)
    }

    fn peak(&self, counts: &[u32], stage: usize) -> Result<u64> {
        let memory = self.problem.costs(self.order, counts).1;
        let what = "a peak is beyond 2^64 ticks of memory";
        self.vectors.peak(self.order, stage, &memory).ok_or_else(|| Error::TooLarge { what: what.to_owned() })
    }

    /// The counts without one layer of a virtual stage, the slowest one; `None` if it must keep all.
    fn less(&self, counts: &[u32], virtual_stage: usize) -> Option<Vec<u32>> {
        let items = self.problem.items();
        let row = virtual_stage * items.len();
        let body = |item: &usize| counts[row + item] > 0 && self.problem.is_body(items[*item].segment);
        let layers: u32 = (0..items.len()).filter(body).map(|item| counts[row + item]).sum();
        if layers <= self.problem.least() {
            return None;
        }
        let time = |item: &usize| items[*item].forward + items[*item].backward + items[*item].extra;
        let slowest = (0..items.len()).filter(body).max_by_key(time)?;
        let mut less = counts.to_vec();
        less[row + slowest] -= 1;
        Some(less)
    }

    /// The counts once layers of a stage recompute less as long as it stays within `cap`; the change that saves most comes
    /// first.
    fn relaxed(&self, mut counts: Vec<u32>, stage: usize, cap: u64) -> Result<Vec<u32>> {
        let items = self.problem.items();
        let (placement, stages) = (self.order.shape().placement, self.order.dims().stages);
        let mut changes: Vec<(u64, usize, usize, usize)> = Vec::new();
        for chunk in 0..self.order.dims().chunks {
            let row = placement.virtual_stage(stage, chunk, stages) * items.len();
            for (from, a) in items.iter().enumerate() {
                for (to, b) in items.iter().enumerate().filter(|(_, b)| b.segment == a.segment && b.extra < a.extra) {
                    changes.push((a.extra - b.extra, row, from, to));
                }
            }
        }
        changes.sort_by_key(|&(saved, ..)| std::cmp::Reverse(saved));
        for (_, row, from, to) in changes {
            while counts[row + from] > 0 {
                counts[row + from] -= 1;
                counts[row + to] += 1;
                if self.peak(&counts, stage)? > cap {
                    counts[row + from] += 1;
                    counts[row + to] -= 1;
                    break;
                }
            }
        }
        Ok(counts)
    }
}
