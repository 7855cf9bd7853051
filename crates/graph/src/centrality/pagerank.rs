//! PageRank of the nodes of a graph: `sapwood_sparse::algorithms::pagerank` told what a graph's degrees and self-loops are.

use super::{Entry, Ranks};
use crate::{Error, Graph, NodeId, Result};
use sapwood_skeleton::Exec;
use sapwood_sparse::algorithms::{Borrowed, PageRank, PageRankOptions, pagerank};
use sapwood_sparse::{Csr, Structure, WorkPlan};

pub(super) const ENTRY: Entry = Entry {
    name: "pagerank",
    summary: "share of time that a random walk which restarts spends at a node",
    rank: |graph, cx| Ok(ranks(of(cx.exec, graph, cx.weighted, &cx.pagerank)?)),
};

pub(super) fn ranks(mut walk: PageRank) -> Ranks {
    let scores = std::mem::take(&mut walk.scores);
    Ranks { scores, walk: Some(walk) }
}

/// PageRank of `graph`: the walk leaves node j along its arcs, its self-loop among them (counted once), each as likely as
/// the others, or in proportion to its weight if `weighted` and the graph has weights.
///
/// # Errors
/// [`Error::Range`] naming `--alpha`, `--tol` or `--max-iter`; [`Error::Sparse`] for a teleport that does not fit.
pub fn of(exec: Exec<'_>, graph: &Graph, weighted: bool, options: &PageRankOptions<'_>) -> Result<PageRank> {
    check(options)?;
    let weighted = weighted && graph.weighted();
    let mut own = vec![0.0; if graph.self_loops().is_empty() { 0 } else { graph.nodes() }];
    for &(node, weight) in graph.self_loops() {
        own[node.index()] = if weighted { f64::from(weight) } else { 1.0 };
    }
    let reverse = graph.reverse();
    let out = |j: usize| {
        let row = reverse.pattern().row_range(j);
        let arcs = match reverse.weights() {
            Some(weights) if weighted => ordered_sum(&weights[row]),
            _ => row.len() as f64,
        };
        arcs + own.get(j).copied().unwrap_or(0.0)
    };
    let out_weight: Vec<f64> = (0..graph.nodes()).map(out).collect();
    match graph.rows().weights() {
        Some(weights) if weighted => {
            let mut next = weights.iter();
            let values: Csr<f32> = graph.rows().pattern().map_values(|_| next.next().copied().unwrap_or(0.0));
            run(exec, &values, &out_weight, &own, options)
        }
        _ => run(exec, graph.rows().pattern(), &out_weight, &own, options),
    }
}

fn run<S: Structure>(
    exec: Exec<'_>,
    matrix: &S,
    out_weight: &[f64],
    own: &[f64],
    options: &PageRankOptions<'_>,
) -> Result<PageRank> {
    let plan = WorkPlan::new(matrix);
    Ok(pagerank(exec, &Borrowed { matrix, plan: &plan }, out_weight, own, options)?)
}

/// The sum in ascending order, so that nodes with the same weights in another order get the same bits.
fn ordered_sum(weights: &[f32]) -> f64 {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    sorted.iter().map(|&w| f64::from(w)).sum()
}

fn check(options: &PageRankOptions<'_>) -> Result<()> {
    let wrong = |flag, range, value: String| Err(Error::Range { flag, range, value });
    if !(0.0..1.0).contains(&options.alpha) {
        return wrong("--alpha", "at least 0 and below 1", options.alpha.to_string());
    }
    if !(options.tol > 0.0 && options.tol.is_finite()) {
        return wrong("--tol", "positive and finite", options.tol.to_string());
    }
    if options.max_iter == 0 {
        return wrong("--max-iter", "at least 1", "0".into());
    }
    Ok(())
}

/// Number of arcs that leave `node`, its self-loop not counted; the degree in an undirected graph.
pub(crate) fn out_degree(graph: &Graph, node: NodeId) -> usize {
    graph.reverse().pattern().row_range(node.index()).len()
}
