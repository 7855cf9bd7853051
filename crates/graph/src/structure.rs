//! What a graph, or what a draw leaves of it, looks like: components, isolated nodes, degrees, equal labels.
//!
//! Self-loops never count here. Everything is sequential and exact; nothing depends on threads. What a sampler does over
//! many draws is in `structure/statistics.rs`.

mod gap;
mod sets;
mod statistics;

pub use gap::spectral_gap;
pub use statistics::{DrawFacts, LEAST_FOR_FREQUENCIES, MeanSd, Statistics, statistics, statistics_with};

use crate::{Graph, NodeId, Result, Sampled};
pub(crate) use sets::Sets;

/// Counts of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Nodes without an arc to another node, in either direction.
    pub isolated: u64,
    /// Connected components, directions ignored; an isolated node is one.
    pub components: u64,
    /// Nodes of the largest component.
    pub largest: u64,
    /// Largest degree (in-degree of a directed graph).
    pub max_degree: u64,
}

/// Counts of what `sampled` leaves of `graph`. O(nodes + arcs), nearly.
pub fn summary(graph: &Graph, sampled: &Sampled<'_>) -> Summary {
    let n = graph.nodes();
    let mut sets = Sets::new(n);
    let mut touched = vec![false; n];
    let mut max_degree = 0;
    for (i, row, units) in rows(graph) {
        let mut degree = 0;
        for (&j, &unit) in row.iter().zip(units) {
            if sampled.keeps(unit) {
                degree += 1;
                touched[i] = true;
                touched[j as usize] = true;
                sets.join(i as u32, j);
            }
        }
        max_degree = max_degree.max(degree);
    }
    let isolated = touched.iter().filter(|&&t| !t).count() as u64;
    Summary { isolated, components: sets.count(), largest: u64::from(sets.largest()), max_degree }
}

/// Rows of a graph: number, columns, units.
fn rows(graph: &Graph) -> impl Iterator<Item = (usize, &[u32], &[u32])> {
    let (pattern, unit) = (graph.rows().pattern(), graph.rows().unit());
    (0..graph.nodes()).map(move |i| (i, pattern.row(i), &unit[pattern.row_range(i)]))
}

/// Share of equal labels among the pairs (arcs) whose two ends have one; `None` if there is no such pair.
pub fn homophily(graph: &Graph, labels: &[i32]) -> Option<f64> {
    let (mut labelled, mut equal) = (0u64, 0u64);
    let label = |node: NodeId| labels.get(node.index()).copied().unwrap_or(-1);
    for (u, v) in graph.pair_ends() {
        let (a, b) = (label(u), label(v));
        labelled += u64::from(a >= 0 && b >= 0);
        equal += u64::from(a >= 0 && a == b);
    }
    (labelled > 0).then(|| equal as f64 / labelled as f64)
}

/// Expected number of isolated nodes when unit e goes with probability `q(e)`, independently: Σ_i Π_{e∋i} q_e.
/// Draws with an exact count differ from it by less than their spread.
pub fn expected_isolated(graph: &Graph, q: impl Fn(u32) -> f64) -> f64 {
    let mut alone = vec![1.0f64; graph.nodes()];
    for (i, row, units) in rows(graph) {
        for (&j, &unit) in row.iter().zip(units) {
            alone[i] *= q(unit);
            if graph.directed() {
                alone[j as usize] *= q(unit); // in an undirected graph row j has its own arc of the pair
            }
        }
    }
    alone.iter().sum()
}

/// How much sampled degrees vary from draw to draw.
#[derive(Debug, Clone)]
pub struct DegreeNoise {
    draws: u64,
    sums: Vec<u64>,
    squares: Vec<u64>,
    counted: Vec<bool>,
}

impl DegreeNoise {
    /// Nodes of this degree or more are counted.
    pub const LEAST_DEGREE: usize = 5;

    /// No draw yet.
    pub fn new(graph: &Graph) -> DegreeNoise {
        let n = graph.nodes();
        let counted = rows(graph).map(|(_, row, _)| row.len() >= DegreeNoise::LEAST_DEGREE).collect();
        DegreeNoise { draws: 0, sums: vec![0; n], squares: vec![0; n], counted }
    }

    /// Adds one draw of the same graph.
    ///
    /// # Errors
    /// [`crate::Error::Size`] for a graph with another number of nodes.
    pub fn add(&mut self, graph: &Graph, sampled: &Sampled<'_>) -> Result<()> {
        if graph.nodes() != self.sums.len() {
            let (got, expected) = (self.sums.len() as u64, graph.nodes() as u64);
            return Err(crate::Error::Size { what: "degrees were counted for nodes", got, expected });
        }
        for (i, _, units) in rows(graph) {
            let degree = units.iter().filter(|&&unit| sampled.keeps(unit)).count() as u64;
            self.sums[i] += degree;
            self.squares[i] += degree * degree;
        }
        self.draws += 1;
        Ok(())
    }

    /// Adds one draw of the same graph by the degree that it leaves to each node.
    fn add_degrees(&mut self, degrees: &[u32]) {
        for ((sum, square), &degree) in self.sums.iter_mut().zip(&mut self.squares).zip(degrees) {
            *sum += u64::from(degree);
            *square += u64::from(degree) * u64::from(degree);
        }
        self.draws += 1;
    }

    /// Mean over the counted nodes of the population standard deviation of their degree; `None` without draws or nodes.
    pub fn mean_sd(&self) -> Option<f64> {
        let nodes = self.counted.iter().filter(|&&c| c).count();
        if self.draws == 0 || nodes == 0 {
            return None;
        }
        let n = self.draws as f64;
        let sd = |i: usize| {
            let mean = self.sums[i] as f64 / n;
            (self.squares[i] as f64 / n - mean * mean).max(0.0).sqrt()
        };
        let total: f64 = (0..self.counted.len()).filter(|&i| self.counted[i]).map(sd).sum();
        Some(total / nodes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BitMask;
    use crate::graph::{Edge, GraphOptions};

    fn graph(nodes: usize, ends: &[(u32, u32)], directed: bool) -> Graph {
        let edges = ends.iter().map(|&(from, to)| Edge { from, to, weight: 1.0 }).collect();
        Graph::build(nodes, edges, GraphOptions { directed, weighted: false }).unwrap().0
    }

    #[test]
    fn counts_of_two_paths_and_a_loner() {
        let g = graph(6, &[(0, 1), (1, 2), (3, 4)], false);
        let all = Summary { isolated: 1, components: 3, largest: 3, max_degree: 2 };
        assert_eq!(summary(&g, &Sampled::All), all);
        let mut mask = BitMask::new(3, true);
        mask.set(1, false); // pair 1 - 2
        let less = Summary { isolated: 2, components: 4, largest: 2, max_degree: 1 };
        assert_eq!(summary(&g, &Sampled::Pairs(&mask)), less);
    }

    #[test]
    fn a_tail_of_an_arc_is_not_isolated() {
        let g = graph(3, &[(0, 1)], true);
        assert_eq!(summary(&g, &Sampled::All).isolated, 1);
        assert_eq!(expected_isolated(&g, |_| 0.25), 0.25 + 0.25 + 1.0);
    }

    #[test]
    fn homophily_ignores_nodes_without_a_label() {
        let g = graph(4, &[(0, 1), (1, 2), (2, 3)], false);
        assert_eq!(homophily(&g, &[0, 0, 1, -1]), Some(0.5));
        assert_eq!(homophily(&g, &[-1, 0, -1, 1]), None);
    }

    #[test]
    fn expected_isolated_of_a_path() {
        let g = graph(3, &[(0, 1), (1, 2)], false);
        assert_eq!(expected_isolated(&g, |e| [0.5, 0.25][e as usize]), 0.5 + 0.125 + 0.25);
    }

    #[test]
    fn degree_noise_of_a_star() {
        let g = graph(6, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)], false);
        let mut noise = DegreeNoise::new(&g);
        assert_eq!(noise.mean_sd(), None);
        let mut mask = BitMask::new(5, true);
        noise.add(&g, &Sampled::Pairs(&mask)).unwrap();
        mask.set(0, false);
        mask.set(1, false);
        noise.add(&g, &Sampled::Pairs(&mask)).unwrap();
        assert_eq!(noise.mean_sd(), Some(1.0)); // degrees 5 and 3 of the centre; the leaves are not counted
    }
}
