//! Building a graph from a list of edges: two counting sorts, one pass that merges, one that stores.

use super::{Arcs, Graph, NodeId};
use crate::{Error, Result};
use sapwood_sparse::{Csr, One};

/// A line of an edge list: an arc from `from` to `to`, or a pair listed in that order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// One end; the tail of an arc.
    pub from: u32,
    /// The other end; the head of an arc.
    pub to: u32,
    /// Weight, finite and not negative; 1 in a graph without weights.
    pub weight: f32,
}

/// How to read a list of edges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GraphOptions {
    /// Keep the direction of each arc instead of adding its reverse.
    pub directed: bool,
    /// Store the weights.
    pub weighted: bool,
}

/// What building did to the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merged {
    /// Repeated edges, merged into one (weights summed).
    pub duplicates: u64,
    /// Pairs listed in one direction only although the list holds others in both: their reverse was added.
    pub one_way: u64,
}

impl Graph {
    /// Builds the graph of `nodes` nodes from `edges` in any order.
    ///
    /// Self-loops are set aside. Undirected: (u, v) and (v, u) are one pair; repeats in one direction are summed, and a
    /// pair listed in both directions has the weight of one of them, which must agree. Time O(nodes + edges).
    ///
    /// # Errors
    /// An end that is no node, a weight that is negative or not finite, weights of two directions that differ, more
    /// than 2^32 − 1 nodes or pairs.
    pub fn build(nodes: usize, mut edges: Vec<Edge>, options: GraphOptions) -> Result<(Graph, Merged)> {
        check_count("nodes", nodes as u64)?;
        check_edges(nodes, &edges)?;
        let (self_loops, loop_repeats) = take_self_loops(&mut edges, options.weighted)?;
        if options.directed {
            // a row gathers from the tails of its arcs
            edges.iter_mut().for_each(|e| (e.from, e.to) = (e.to, e.from));
        } else {
            edges.iter_mut().for_each(face_up);
        }
        sort(nodes, &mut edges);
        let mut merged =
            if options.directed { merge_arcs(&mut edges)? } else { merge_pairs(&mut edges, options.weighted)? };
        merged.duplicates += loop_repeats;
        check_count("pairs", edges.len() as u64)?;
        let pairs = edges.len() as u64;
        let rows = if options.directed { by_row(nodes, &edges, options)? } else { both_ways(nodes, &edges, options)? };
        let reverse = if options.directed { Some(by_column(nodes, &edges, options)?) } else { None };
        Ok((Graph { rows, reverse, self_loops, pairs }, merged))
    }
}

fn check_count(what: &'static str, count: u64) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if count > limit { Err(Error::TooLarge { what, count, limit }) } else { Ok(()) }
}

fn check_edges(nodes: usize, edges: &[Edge]) -> Result<()> {
    for e in edges {
        let end = e.from.max(e.to);
        if end as usize >= nodes {
            return Err(Error::Size { what: "an edge names node", got: u64::from(end), expected: nodes as u64 });
        }
        if !(e.weight >= 0.0 && e.weight.is_finite()) {
            let value = format!("{} (edge {} - {})", e.weight, e.from, e.to);
            return Err(Error::Range { flag: "an edge weight", range: "finite and not negative", value });
        }
    }
    Ok(())
}

/// Moves the self-loops out; returns them by node with their number of repeats.
fn take_self_loops(edges: &mut Vec<Edge>, weighted: bool) -> Result<(Vec<(NodeId, f32)>, u64)> {
    let mut loops: Vec<(NodeId, f64)> = Vec::new();
    edges.retain(|e| {
        if e.from == e.to {
            loops.push((NodeId(e.from), f64::from(e.weight)));
        }
        e.from != e.to
    });
    loops.sort_by_key(|l| l.0);
    let before = loops.len();
    loops.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    let repeats = (before - loops.len()) as u64;
    let weight = |node, w| if weighted { finite(w, node, node) } else { Ok(1.0) };
    let loops = loops.into_iter().map(|(node, w)| Ok((node, weight(node, w)?))).collect::<Result<_>>()?;
    Ok((loops, repeats))
}

/// The sum of the weights of repeated edges, which may be too large for a weight.
fn finite(sum: f64, from: NodeId, to: NodeId) -> Result<f32> {
    let weight = sum as f32;
    if weight.is_finite() {
        return Ok(weight);
    }
    let value = format!("{sum}, the sum of the lines of edge {} - {}", from.0, to.0);
    Err(Error::Range { flag: "an edge weight", range: "finite and not negative", value })
}

/// Puts the smaller end first; the sign of the weight then remembers that the line had it second.
fn face_up(e: &mut Edge) {
    if e.from > e.to {
        (e.from, e.to, e.weight) = (e.to, e.from, -e.weight.abs());
    } else {
        e.weight = e.weight.abs();
    }
}

/// Sorts by (from, to), equal edges in the order of the list.
fn sort(nodes: usize, edges: &mut [Edge]) {
    if edges.is_sorted_by_key(|e| (e.from, e.to)) {
        return;
    }
    let mut spare = edges.to_vec();
    counting_pass(nodes, edges, &mut spare, |e| e.to);
    counting_pass(nodes, &spare, edges, |e| e.from);
}

fn counting_pass(buckets: usize, from: &[Edge], to: &mut [Edge], key: impl Fn(&Edge) -> u32) {
    let mut next = vec![0usize; buckets + 1];
    for e in from {
        next[key(e) as usize + 1] += 1;
    }
    for b in 0..buckets {
        next[b + 1] += next[b];
    }
    for e in from {
        let slot = &mut next[key(e) as usize];
        to[*slot] = *e;
        *slot += 1;
    }
}

fn merge_arcs(edges: &mut Vec<Edge>) -> Result<Merged> {
    let before = edges.len();
    merge_runs(edges, |run| Ok(run.iter().map(|e| f64::from(e.weight)).sum()))?;
    Ok(Merged { duplicates: (before - edges.len()) as u64, one_way: 0 })
}

fn merge_pairs(edges: &mut Vec<Edge>, weighted: bool) -> Result<Merged> {
    let (mut merged, mut both) = (Merged::default(), false);
    merge_runs(edges, |run| {
        let (mut up, mut down) = ((0, 0.0), (0, 0.0)); // lines and their sum, smaller end first and second
        for e in run {
            let side = if e.weight.is_sign_negative() { &mut down } else { &mut up };
            *side = (side.0 + 1, side.1 + f64::from(e.weight.abs()));
        }
        merged.duplicates += u64::saturating_sub(up.0, 1) + u64::saturating_sub(down.0, 1);
        if up.0 == 0 || down.0 == 0 {
            merged.one_way += 1;
        } else if weighted && up.1 != down.1 {
            return Err(Error::Directions { from: run[0].from, to: run[0].to, forth: up.1, back: down.1 });
        } else {
            both = true;
        }
        Ok(if up.0 > 0 { up.1 } else { down.1 })
    })?;
    if !both {
        merged.one_way = 0; // a list that holds each pair once is the usual form
    }
    Ok(merged)
}

/// Replaces each run of edges with equal ends by one whose weight `weigh` gives.
fn merge_runs(edges: &mut Vec<Edge>, mut weigh: impl FnMut(&[Edge]) -> Result<f64>) -> Result<()> {
    let (mut kept, mut start) = (0, 0);
    while start < edges.len() {
        let (from, to) = (edges[start].from, edges[start].to);
        let length = edges[start..].iter().take_while(|e| (e.from, e.to) == (from, to)).count();
        let weight = finite(weigh(&edges[start..start + length])?, NodeId(from), NodeId(to))?;
        edges[kept] = Edge { from, to, weight };
        kept += 1;
        start += length;
    }
    edges.truncate(kept);
    Ok(())
}

/// Columns, units and weights being filled row by row.
struct Filling {
    next: Vec<u64>,
    offsets: Vec<u64>,
    columns: Vec<u32>,
    unit: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Filling {
    fn new(nodes: usize, arcs: usize, weighted: bool, rows: impl Iterator<Item = u32>) -> Filling {
        let mut offsets = vec![0u64; nodes + 1];
        for row in rows {
            offsets[row as usize + 1] += 1;
        }
        for i in 0..nodes {
            offsets[i + 1] += offsets[i];
        }
        let weights = weighted.then(|| vec![0.0; arcs]);
        Filling { next: offsets.clone(), offsets, columns: vec![0; arcs], unit: vec![0; arcs], weights }
    }

    fn push(&mut self, row: u32, column: u32, unit: usize, weight: f32) {
        let slot = &mut self.next[row as usize];
        let at = *slot as usize;
        *slot += 1;
        self.columns[at] = column;
        self.unit[at] = unit as u32;
        if let Some(weights) = &mut self.weights {
            weights[at] = weight;
        }
    }

    fn finish(self) -> Result<Arcs> {
        let nodes = self.offsets.len() - 1;
        let ones = vec![One; self.columns.len()];
        let pattern = Csr::try_new(nodes, nodes, self.offsets, self.columns, ones)?;
        Ok(Arcs { pattern, unit: self.unit, weights: self.weights })
    }
}

/// Both arcs of each pair. Rows come out sorted: row i first gets its smaller neighbours, from pairs (j, i) in the
/// order of j, all of which stand before the pairs (i, j) in the list.
fn both_ways(nodes: usize, pairs: &[Edge], options: GraphOptions) -> Result<Arcs> {
    let ends = pairs.iter().flat_map(|e| [e.from, e.to]);
    let mut filling = Filling::new(nodes, 2 * pairs.len(), options.weighted, ends);
    for (unit, e) in pairs.iter().enumerate() {
        filling.push(e.from, e.to, unit, e.weight);
        filling.push(e.to, e.from, unit, e.weight);
    }
    filling.finish()
}

fn by_row(nodes: usize, arcs: &[Edge], options: GraphOptions) -> Result<Arcs> {
    let mut filling = Filling::new(nodes, arcs.len(), options.weighted, arcs.iter().map(|e| e.from));
    for (unit, e) in arcs.iter().enumerate() {
        filling.push(e.from, e.to, unit, e.weight);
    }
    filling.finish()
}

fn by_column(nodes: usize, arcs: &[Edge], options: GraphOptions) -> Result<Arcs> {
    let mut filling = Filling::new(nodes, arcs.len(), options.weighted, arcs.iter().map(|e| e.to));
    for (unit, e) in arcs.iter().enumerate() {
        filling.push(e.to, e.from, unit, e.weight);
    }
    filling.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: u32, to: u32, weight: f32) -> Edge {
        Edge { from, to, weight }
    }

    fn undirected(nodes: usize, ends: &[(u32, u32)]) -> (Graph, Merged) {
        let edges = ends.iter().map(|&(u, v)| edge(u, v, 1.0)).collect();
        Graph::build(nodes, edges, GraphOptions::default()).unwrap()
    }

    #[test]
    fn pairs_have_two_arcs_with_one_number() {
        let (g, merged) = undirected(4, &[(2, 1), (3, 2), (0, 1)]);
        assert_eq!((g.nodes(), g.pairs(), g.arcs()), (4, 3, 6));
        assert_eq!(merged, Merged::default());
        assert_eq!(g.neighbours(NodeId(1)), [0, 2]);
        assert_eq!(g.rows().unit(), [0, 0, 1, 1, 2, 2]);
        let ends: Vec<_> = g.pair_ends().map(|(u, v)| (u.0, v.0)).collect();
        assert_eq!(ends, [(0, 1), (1, 2), (2, 3)]);
    }

    #[test]
    fn a_mixed_list_reports_what_it_merged_and_added() {
        let (g, merged) = undirected(3, &[(0, 1), (1, 0), (1, 2), (1, 2), (2, 2), (2, 2)]);
        assert_eq!(g.pairs(), 2);
        assert_eq!(merged, Merged { duplicates: 2, one_way: 1 });
        assert_eq!(g.self_loops(), [(NodeId(2), 1.0)]);
    }

    #[test]
    fn self_loop_survives_once_beside_both_arcs() {
        // PyG's force_undirected doubled the self-loop of [[0,0,1],[0,1,0]]
        let (g, _) = undirected(2, &[(0, 0), (0, 1), (1, 0)]);
        assert_eq!((g.pairs(), g.self_loops().len()), (1, 1));
        // and lost an arc with row > column
        let (g, _) = undirected(2, &[(1, 0)]);
        assert_eq!((g.pairs(), g.neighbours(NodeId(0)).len()), (1, 1));
    }

    #[test]
    fn weights_sum_in_one_direction_and_must_agree_in_two() {
        let options = GraphOptions { directed: false, weighted: true };
        let edges = vec![edge(1, 0, 2.0), edge(1, 0, 0.5), edge(0, 1, 2.5), edge(2, 1, 0.0)];
        let (g, merged) = Graph::build(3, edges, options).unwrap();
        assert_eq!(g.rows().weights().unwrap(), [2.5, 2.5, 0.0, 0.0]);
        assert_eq!(merged, Merged { duplicates: 1, one_way: 1 });
        let e = Graph::build(2, vec![edge(0, 1, 1.0), edge(1, 0, 2.0)], options).unwrap_err();
        assert!(e.to_string().contains("weight 1 one way and 2 the other"), "{e}");
    }

    #[test]
    fn directed_rows_gather_from_tails() {
        let options = GraphOptions { directed: true, weighted: true };
        let edges = vec![edge(0, 2, 3.0), edge(1, 2, 1.0), edge(2, 0, 5.0), edge(0, 2, 1.0)];
        let (g, merged) = Graph::build(3, edges, options).unwrap();
        assert_eq!((g.pairs(), g.arcs(), merged.duplicates), (3, 3, 1));
        assert_eq!(g.neighbours(NodeId(2)), [0, 1]);
        assert_eq!(g.rows().weights().unwrap(), [5.0, 4.0, 1.0]);
        assert_eq!(g.reverse().pattern().row(0), [2]);
        assert_eq!(g.reverse().unit(), [1, 2, 0]);
        assert_eq!(g.reverse().weights().unwrap(), [4.0, 1.0, 5.0]);
    }

    #[test]
    fn bad_edges_are_refused() {
        let bad = [edge(0, 5, 1.0), edge(0, 1, -1.0), edge(0, 1, f32::NAN), edge(0, 1, f32::INFINITY)];
        for e in bad {
            assert!(Graph::build(2, vec![e], GraphOptions::default()).is_err(), "{e:?}");
        }
        assert!(check_count("pairs", 1 << 32).unwrap_err().to_string().contains("4294967295"));
    }

    #[test]
    fn sorting_a_shuffled_list_gives_the_same_graph() {
        let n = 101u32;
        let mut ends: Vec<(u32, u32)> = (0..n).flat_map(|i| [(i, (i * 7 + 1) % n), (i, (i * i + 3) % n)]).collect();
        let (a, _) = undirected(n as usize, &ends);
        ends.reverse();
        ends.rotate_left(37);
        let (b, _) = undirected(n as usize, &ends);
        assert_eq!(a.rows().unit(), b.rows().unit());
        assert!((0..n).all(|i| a.neighbours(NodeId(i)) == b.neighbours(NodeId(i))));
    }
}
