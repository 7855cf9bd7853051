//! Cuts of the body into virtual stages: what is allowed, even cuts, and the best one by dynamic programming.

use super::sequence::Sequence;
use super::{Nodes, Spent};
use crate::problem::Problem;

/// Where the ends of virtual stages may lie: layers of the body before each of them.
///
/// A pinned segment that follows so many layers of the model has at most these before its virtual stage, and at least these
/// until its end. So each end has a window of its own, and that together with a least number of layers is all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Windows {
    /// Fewest layers of a virtual stage.
    pub(super) least: usize,
    /// Lowest and highest end; the first one is the begin of the first virtual stage.
    ends: Vec<(usize, usize)>,
}

impl Windows {
    pub(super) fn new(problem: &Problem, virtual_stages: usize) -> Windows {
        let (least, layers) = (problem.least() as usize, problem.body_layers() as usize);
        let mut ends = vec![(0, layers); virtual_stages + 1];
        ends[0] = (0, 0);
        ends[virtual_stages] = (layers, layers);
        for (at, before) in problem.pins(virtual_stages) {
            ends[at].1 = ends[at].1.min(before as usize);
            ends[at + 1].0 = ends[at + 1].0.max(before as usize);
        }
        for at in 1..=virtual_stages {
            ends[at].0 = ends[at].0.max(ends[at - 1].0 + least);
        }
        for at in (0..virtual_stages).rev() {
            ends[at].1 = ends[at].1.min(ends[at + 1].1.saturating_sub(least));
        }
        Windows { least, ends }
    }

    /// Whether there is a cut at all.
    pub(super) fn possible(&self) -> bool {
        self.ends.iter().all(|(lowest, highest)| lowest <= highest)
    }

    /// Lowest and highest begin of a virtual stage.
    pub(super) fn begin(&self, at: usize) -> (usize, usize) {
        self.ends[at]
    }

    /// Lowest and highest end of a virtual stage.
    pub(super) fn end(&self, at: usize) -> (usize, usize) {
        self.ends[at + 1]
    }

    /// Virtual stages.
    pub(super) fn virtual_stages(&self) -> usize {
        self.ends.len() - 1
    }

    /// The ends of equal shares of `layers`, what remains in the middle; moved as far as the windows ask for.
    pub(super) fn even(&self, layers: usize) -> Vec<usize> {
        let k = self.virtual_stages();
        let (share, rest) = (layers / k, layers % k);
        let first = (k - rest) / 2;
        let mut ends = vec![0];
        for at in 0..k {
            let wanted = share * (at + 1) + (at + 1).saturating_sub(first).min(rest);
            let (lowest, highest) = self.end(at);
            ends.push(wanted.max(lowest).max(ends[at] + self.least).min(highest));
        }
        ends
    }

    /// The cut with the least joined cost of its virtual stages, and that cost. `cost` is asked for a virtual stage with
    /// layers `from..to`; where it has none, it must have none for a smaller `from` either. Of equal cuts the one whose later
    /// virtual stages are longer. O(virtual stages · layers²) calls at most.
    pub(super) fn best<C: Copy + Ord>(
        &self,
        mut cost: impl FnMut(usize, usize, usize) -> Option<C>,
        join: impl Fn(C, C) -> C,
    ) -> Option<(C, Vec<usize>)> {
        let k = self.virtual_stages();
        let (lowest, highest) = self.end(0);
        let width = self.end(k - 1).1 + 1;
        let mut tables: Vec<Vec<Option<(C, usize)>>> = vec![vec![None; width]];
        for to in lowest..=highest {
            tables[0][to] = cost(0, 0, to).map(|c| (c, 0));
        }
        for at in 1..k {
            let (mut table, (lowest, highest)) = (vec![None; width], self.end(at));
            for to in lowest..=highest {
                table[to] = self.last(at, to, &tables[at - 1], &mut cost, &join);
            }
            tables.push(table);
        }
        let (best, _) = tables[k - 1][width - 1]?;
        let mut ends = vec![width - 1];
        for table in tables.iter().rev() {
            ends.push(table[ends[ends.len() - 1]]?.1);
        }
        ends.reverse();
        Some((best, ends))
    }

    /// The best begin of a virtual stage that ends at `to`, with the cost until there.
    fn last<C: Copy + Ord>(
        &self,
        at: usize,
        to: usize,
        before: &[Option<(C, usize)>],
        cost: &mut impl FnMut(usize, usize, usize) -> Option<C>,
        join: &impl Fn(C, C) -> C,
    ) -> Option<(C, usize)> {
        let (lowest, highest) = self.begin(at);
        let mut best: Option<(C, usize)> = None;
        for from in (lowest..=highest.min(to.checked_sub(self.least)?)).rev() {
            let Some(own) = cost(at, from, to) else { break };
            let Some((sum, _)) = before[from] else { continue };
            let joined = join(sum, own);
            if best.is_none_or(|(least, _)| joined <= least) {
                best = Some((joined, from));
            }
        }
        best
    }
}

/// A cut and the time of its slowest virtual stage.
pub(super) type Balanced = (u64, Vec<usize>);

/// The cut whose slowest virtual stage is fastest, with no more recomputation than must be; no virtual stage but the first
/// counts as faster than `transfer`. Of equal ones the most even, with the least sum of squares.
///
/// Source: the partitioning of PipeDream (Narayanan et al., SOSP 2019, section 3.1) without replication; the choice among
/// equal cuts is ours.
pub(super) fn balanced(
    sequence: &Sequence<'_>,
    transfer: u64,
    nodes: &mut Nodes,
) -> std::result::Result<Option<Balanced>, Spent> {
    let windows = &sequence.windows;
    if !windows.possible() {
        return Ok(None);
    }
    let time = |at: usize, from, to| sequence.time(at, from, to).max(if at > 0 { transfer } else { 0 });
    let even = windows.even(sequence.len());
    let known = even.windows(2).enumerate().map(|(at, ends)| time(at, ends[0], ends[1])).max().unwrap_or(0);
    let mut spent = Ok(());
    let mut within = |at, from, to, most: u64| {
        spent = spent.and_then(|()| nodes.spend(1));
        Some(time(at, from, to)).filter(|&t| spent.is_ok() && t <= most)
    };
    let slowest =
        windows.best(|at, from, to| within(at, from, to, known), u64::max).map_or(known, |(slowest, _)| slowest);
    let square = |t: u64| u128::from(t).saturating_mul(u128::from(t));
    let cut = windows.best(|at, from, to| within(at, from, to, slowest).map(square), u128::saturating_add);
    spent.map(|()| cut.map(|(_, ends)| (slowest, ends)))
}
