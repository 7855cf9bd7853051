//! What a little more or less would change: one layer less somewhere, a little more memory on a stage. Differences of exact
//! makespans; recomputation on the changed stage is chosen anew, greedily: what saves most comes first.

use crate::problem::Problem;
use crate::simulate::{Order, Sweep, Vectors};
use crate::{Error, Result};
use serde::Serialize;

/// A small change and what it does to the makespan, in the model's unit of time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gradient {
    /// What is changed.
    pub change: String,
    /// The makespan after it less that before.
    pub makespan_change: f64,
}

/// Bytes of the memory that a stage gets more.
const MORE: f64 = 1e9;

/// Part of a cap that a stage gets more where memory has no unit.
const SHARE: f64 = 0.02;

/// One layer less in each virtual stage that has more than it must, and more memory on each stage that has a cap; the largest
/// gain first.
///
/// # Errors
/// [`Error::TooLarge`] for peaks beyond u64.
pub fn gradients(problem: &Problem, order: &Order, vectors: &Vectors, counts: &[u32]) -> Result<Vec<Gradient>> {
    let mut at = At { problem, order, vectors, sweep: Sweep::new() };
    let before = at.makespan(counts);
    let (stages, placement) = (order.dims().stages, order.shape().placement);
    let mut all = Vec::new();
    let shown = |change: String, makespan: u64| {
        let ticks = makespan as f64 - before as f64;
        Gradient { change, makespan_change: problem.time().show_real(ticks) }
    };
    for virtual_stage in 0..order.dims().virtual_stages() {
        let Some(less) = at.less(counts, virtual_stage) else { continue };
        let (stage, chunk) = placement.of(virtual_stage, stages);
        let chosen = at.relaxed(less, stage, problem.caps()[stage])?;
        all.push(shown(format!("one layer less on stage {stage} chunk {chunk}"), at.makespan(&chosen)));
    }
    for stage in (0..stages).filter(|&stage| problem.caps()[stage] < u64::MAX) {
        let unit = problem.model().memory_unit;
        let cap = problem.memory().show(problem.caps()[stage]);
        let (more, name) = if unit.name().is_empty() {
            (SHARE * cap, format!("{} more memory", SHARE * cap))
        } else {
            (MORE / unit.bytes(), "+1 GB".to_owned())
        };
        let cap = problem.memory().from(cap + more)?;
        let chosen = at.relaxed(counts.to_vec(), stage, cap)?;
        all.push(shown(format!("{name} on stage {stage}"), at.makespan(&chosen)));
    }
    all.sort_by(|a, b| a.makespan_change.total_cmp(&b.makespan_change));
    Ok(all)
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
