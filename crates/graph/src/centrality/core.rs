//! Core number: the largest k such that the node lies in a subgraph whose nodes all have degree k or more inside it
//! (Seidman 1983), directions ignored. By Batagelj and Zaveršnik (2003), O(nodes + edges).

use super::{Entry, Ranks};
use crate::Graph;
use crate::undirected::Undirected;

pub(super) const ENTRY: Entry = Entry {
    name: "core",
    summary: "largest k such that the node is in a part where all have degree k or more",
    rank: |graph, _| Ok(Ranks::plain(of(graph).into_iter().map(f64::from).collect())),
};

/// Core number of every node.
pub fn of(graph: &Graph) -> Vec<u32> {
    let plain = Undirected::of(graph);
    let n = plain.nodes();
    let mut degree: Vec<usize> = (0..n).map(|i| plain.row(i).len()).collect();
    let most = degree.iter().copied().max().unwrap_or(0);
    // nodes sorted by degree; first[d] is where those of degree d or more begin
    let mut first = vec![0usize; most + 2];
    degree.iter().for_each(|&d| first[d + 1] += 1);
    (0..=most).for_each(|d| first[d + 1] += first[d]);
    let (mut order, mut place, mut next) = (vec![0u32; n], vec![0usize; n], first.clone());
    for i in 0..n {
        place[i] = next[degree[i]];
        order[place[i]] = i as u32;
        next[degree[i]] += 1;
    }
    for at in 0..n {
        let node = order[at] as usize;
        for &other in plain.row(node) {
            let other = other as usize;
            if degree[other] <= degree[node] {
                continue;
            }
            // `other` loses a neighbour: it changes places with the first node of its degree, which then ends there
            let border = first[degree[other]].max(at + 1);
            let moved = order[border] as usize;
            order.swap(border, place[other]);
            place[moved] = place[other];
            place[other] = border;
            first[degree[other]] = border + 1;
            degree[other] -= 1;
        }
    }
    degree.into_iter().map(|d| d as u32).collect()
}
