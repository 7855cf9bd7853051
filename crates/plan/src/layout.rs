//! Where the layers are: for each virtual stage runs of layers of a segment with a kind of recomputation.

use crate::problem::Problem;
use crate::{Error, Result};

/// Layers of a segment that do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The segment, by its place in the model.
    pub segment: usize,
    /// The kind of recomputation, by its place among the segment's kinds.
    pub kind: usize,
    /// How many layers.
    pub count: u32,
}

/// A partition: the runs of each virtual stage, in model order, in a segment the kind that keeps least first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Layout {
    /// By virtual stage.
    pub chunks: Vec<Vec<Run>>,
}

impl Layout {
    /// The layout of counts by virtual stage and item of `problem`.
    pub fn of_counts(problem: &Problem, counts: &[u32]) -> Layout {
        let items = problem.items();
        let runs = |row: &[u32]| {
            let present = items.iter().zip(row).filter(|&(_, &count)| count > 0);
            let mut runs: Vec<Run> =
                present.map(|(item, &count)| Run { segment: item.segment, kind: item.kind, count }).collect();
            runs.sort_by_key(|run| (run.segment, std::cmp::Reverse(run.kind)));
            runs
        };
        Layout { chunks: counts.chunks(items.len().max(1)).map(runs).collect() }
    }

    /// Counts by virtual stage and item of `problem`.
    ///
    /// # Errors
    /// [`Error::Problem`] for a run of no segment or kind of the problem.
    pub fn counts(&self, problem: &Problem) -> Result<Vec<u32>> {
        let items = problem.items();
        let mut counts = vec![0u32; self.chunks.len() * items.len()];
        for (chunk, row) in self.chunks.iter().zip(counts.chunks_mut(items.len().max(1))) {
            for run in chunk {
                let at = items.iter().position(|i| (i.segment, i.kind) == (run.segment, run.kind));
                let at = at.ok_or_else(|| Error::Problem {
                    what: format!("segment {} has no kind {} of recomputation", run.segment, run.kind),
                })?;
                row[at] += run.count;
            }
        }
        Ok(counts)
    }

    /// Layers of the body in each virtual stage.
    pub fn body(&self, problem: &Problem) -> Vec<u32> {
        let body = |run: &&Run| problem.is_body(run.segment);
        self.chunks.iter().map(|chunk| chunk.iter().filter(body).map(|run| run.count).sum()).collect()
    }
}
