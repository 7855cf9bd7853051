//! PageRank: golden values, the dense twin, laws, and options that are refused.

use crate::make::exec;
use sapwood_sparse::algorithms::{PageRank, PageRankOptions, pagerank};
use sapwood_sparse::{Csr, One, Planned, Result};

/// A graph as its matrix of incoming arcs, ready for [`pagerank`].
pub(crate) struct Walked {
    pub(crate) incoming: Planned<Csr<One>>,
    pub(crate) out: Vec<f64>,
}

/// The arcs j → i of a graph of `n` nodes.
pub(crate) fn arcs(n: usize, arcs: &[(u32, u32)]) -> Walked {
    let mut rows = vec![Vec::new(); n];
    let mut out = vec![0.0; n];
    for &(from, to) in arcs {
        rows[to as usize].push(from);
        out[from as usize] += 1.0;
    }
    rows.iter_mut().for_each(|r| r.sort_unstable());
    let mut offsets = vec![0];
    for r in &rows {
        offsets.push(offsets[offsets.len() - 1] + r.len() as u64);
    }
    let columns = rows.concat();
    let values = vec![One; columns.len()];
    Walked { incoming: Planned::new(Csr::try_new(n, n, offsets, columns, values).unwrap()), out }
}

/// Both arcs of each pair.
pub(crate) fn pairs(n: usize, pairs: &[(u32, u32)]) -> Walked {
    arcs(n, &pairs.iter().flat_map(|&(i, j)| [(i, j), (j, i)]).collect::<Vec<_>>())
}

impl Walked {
    pub(crate) fn rank(&self, options: &PageRankOptions<'_>) -> Result<PageRank> {
        pagerank(exec(2), &self.incoming, &self.out, &[], options)
    }
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], within: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= within, "node {i}: {f}, not {e}");
    }
}

fn scores(graph: &Walked) -> Vec<f64> {
    let result = graph.rank(&PageRankOptions::default()).unwrap();
    assert!(result.converged && result.error_bound <= 1e-9);
    result.scores
}

#[test]
fn small_graphs_have_known_scores() {
    let path = scores(&pairs(3, &[(0, 1), (1, 2)]));
    close(&path, &[19.0 / 74.0, 36.0 / 74.0, 19.0 / 74.0], 1e-10);
    let star = scores(&pairs(5, &[(0, 1), (0, 2), (0, 3), (0, 4)]));
    close(&star, &[0.475675675676, 0.131081081081, 0.131081081081, 0.131081081081, 0.131081081081], 1e-10);
    let k4 = pairs(4, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    close(&scores(&k4), &[0.25; 4], 1e-10);
    let chain = scores(&arcs(4, &[(0, 1), (1, 2), (2, 3)]));
    close(&chain, &[0.116155823037, 0.214888272618, 0.298810854762, 0.370145049584], 1e-10);
    let tail = scores(&pairs(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]));
    close(&tail, &[0.245927818588, 0.245927818588, 0.366735867135, 0.141408495688], 1e-10);
}
