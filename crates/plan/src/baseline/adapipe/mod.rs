//! AdaPipe (Sun et al., ASPLOS 2024): recomputation by a knapsack per stage, and the cut by a dynamic program over stages.
//!
//! Our reconstruction from the published description. *Adaptive recomputation*: for each stage and range of layers, the
//! least extra time with which the micro-batches in flight fit the cap, a knapsack over memory in parts of 1/1024 of the cap
//! ([`knapsack`]). *Adaptive partitioning*: from the last stage, for every stage and first layer the pairs of Σ (F + B) and
//! max (F + B) of the stages from there on that no other pair beats in both. The answer has the least
//! Σ (F + B) + (M − 1) · max (F + B), what 1F1B takes if the slowest stage decides its steady state; the paper's own program
//! keeps one best partial partition by the times of warm-up, steady state and ending instead of these pairs. Transfers are
//! not part of it. One chunk per stage, 1F1B.

mod knapsack;

use super::sequence::{Sequence, no_cut};
use super::{Answer, Entry, Nodes, Options, Spent, one_chunk, spent};
use crate::Result;
use crate::problem::Problem;
use crate::schedule::Dims;
use knapsack::Knapsack;

pub(super) const ENTRY: Entry = Entry {
    name: "adapipe",
    summary: "a knapsack of recomputation per stage and a cut for the sum and the slowest stage (Sun et al. 2024)",
    plan,
};

/// A partition of the layers from some layer on among the stages from some stage on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    sum: u64,
    most: u64,
    /// End of the first of these stages.
    to: usize,
    /// Place of the rest in the points of the next stage from there on.
    rest: usize,
}

fn plan(problem: &Problem, dims: &Dims, options: &Options) -> Result<Answer> {
    let sequence = Sequence::new(problem, dims)?;
    if let Some(answer) = one_chunk(dims) {
        return Ok(answer);
    }
    if !sequence.windows.possible() {
        return Ok(no_cut());
    }
    Ok(partition(&sequence, &mut Nodes(options.nodes)).unwrap_or_else(|Spent| spent()))
}

fn partition(sequence: &Sequence<'_>, nodes: &mut Nodes) -> std::result::Result<Answer, Spent> {
    // By stage from the last one, then by first layer.
    let mut points: Vec<Vec<Vec<Point>>> = Vec::new();
    for stage in (0..sequence.dims.stages).rev() {
        let costs = Knapsack::new(sequence, stage).costs(nodes)?;
        let mut own = vec![Vec::new(); sequence.len() + 1];
        let (lowest, highest) = sequence.windows.begin(stage);
        for from in lowest..=highest {
            own[from] = fastest(candidates(sequence, stage, from, &costs[from], points.last(), nodes)?);
        }
        points.push(own);
    }
    points.reverse();
    let total = |point: &Point| point.sum + (sequence.dims.micro_batches as u64 - 1) * point.most;
    let Some(best) = points[0][0].iter().min_by_key(|point| (total(point), **point)) else {
        return Ok(Answer::None(
            "no setting fits: no cut has recomputation that keeps every stage below its cap".to_owned(),
        ));
    };
    let (mut counts, mut point, mut from) = (Vec::new(), *best, 0);
    for stage in 0..sequence.dims.stages {
        counts.extend(Knapsack::new(sequence, stage).row(from, point.to));
        from = point.to;
        if let Some(rest) = points.get(stage + 1) {
            point = rest[from][point.rest];
        }
    }
    Ok(sequence.plan(&counts, Some(total(best))))
}

/// Every partition of the layers from `from` on that has an undominated rest. `costs` is by length of the first stage.
fn candidates(
    sequence: &Sequence<'_>,
    stage: usize,
    from: usize,
    costs: &[Option<u64>],
    rests: Option<&Vec<Vec<Point>>>,
    nodes: &mut Nodes,
) -> std::result::Result<Vec<Point>, Spent> {
    let (lowest, highest) = sequence.windows.end(stage);
    let mut all = Vec::new();
    for to in lowest.max(from + sequence.windows.least)..=highest {
        let Some(time) = costs.get(to - from).copied().flatten() else { continue };
        match rests {
            None => all.push(Point { sum: time, most: time, to, rest: 0 }),
            Some(rests) => all.extend(rests[to].iter().enumerate().map(|(rest, point)| Point {
                sum: point.sum + time,
                most: point.most.max(time),
                to,
                rest,
            })),
        }
    }
    nodes.spend(all.len())?;
    Ok(all)
}

/// Those that no other one beats in sum and slowest stage; the sum rises and the slowest stage falls.
fn fastest(mut all: Vec<Point>) -> Vec<Point> {
    all.sort_unstable();
    let mut least = u64::MAX;
    all.retain(|point| {
        let better = point.most < least;
        least = least.min(point.most);
        better
    });
    all
}
