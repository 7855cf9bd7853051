//! A spanning forest of the largest scores (Kruskal 1956): the components of the graph stay what they are.

use crate::structure::Sets;
use crate::{BitMask, Graph};

/// Adds the forest to `stay`: units by score, descending, then by number; one that joins two components stays. Directions
/// of arcs are ignored.
pub(super) fn keep(graph: &Graph, z: &[f64], stay: &mut BitMask) {
    let ends: Vec<(u32, u32)> = graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect();
    let mut order: Vec<u32> = (0..ends.len() as u32).collect();
    order.sort_by(|&a, &b| z[b as usize].total_cmp(&z[a as usize]));
    let mut sets = Sets::new(graph.nodes());
    for unit in order {
        let (u, v) = ends[unit as usize];
        if sets.join(u, v) {
            stay.set(unit as usize, true);
        }
    }
}
