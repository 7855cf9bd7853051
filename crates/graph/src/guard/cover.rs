//! A least degree for every node, with few units: rounds of near-minimum edge covers.
//!
//! A cover by plain score order wastes units. Here each round first matches nodes in need with one another, starting where
//! there is least choice (smaller end degree, larger end degree, then score), and then gives every node left over its
//! best unit.

use crate::centrality::degree;
use crate::{BitMask, Graph, NodeId};
use std::cmp::Reverse;

/// Adds units to `stay` until every node has at least min(`least`, its degree) of them.
pub(super) fn keep(graph: &Graph, z: &[f64], least: u32, stay: &mut BitMask) {
    let cover = Cover::new(graph, z);
    let mut kept = vec![0u32; graph.nodes()];
    for unit in stay.ones() {
        let (u, v) = cover.ends[unit];
        kept[u as usize] += 1;
        kept[v as usize] += 1;
    }
    let most = cover.degree.iter().copied().max().unwrap_or(0);
    for round in 1..=least.min(most) {
        cover.round(round, &mut kept, stay);
    }
}

struct Cover<'a> {
    z: &'a [f64],
    ends: Vec<(u32, u32)>,
    degree: Vec<u32>,
    /// Units in the order in which nodes are matched.
    order: Vec<u32>,
    /// Units of each node: of node i those from starts\[i\] to starts\[i + 1\].
    units: Vec<u32>,
    starts: Vec<usize>,
}

impl Cover<'_> {
    fn new<'a>(graph: &Graph, z: &'a [f64]) -> Cover<'a> {
        let ends: Vec<(u32, u32)> = graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect();
        let degree: Vec<u32> = (0..graph.nodes() as u32).map(|i| degree::of(graph, NodeId(i)) as u32).collect();
        let mut order: Vec<u32> = (0..ends.len() as u32).collect();
        let degrees = |e: u32| {
            let (u, v) = ends[e as usize];
            let (a, b) = (degree[u as usize], degree[v as usize]);
            (a.min(b), a.max(b))
        };
        order.sort_by(|&a, &b| degrees(a).cmp(&degrees(b)).then(z[b as usize].total_cmp(&z[a as usize])));
        let mut starts = vec![0usize; degree.len() + 1];
        for (i, &d) in degree.iter().enumerate() {
            starts[i + 1] = starts[i] + d as usize;
        }
        let (mut units, mut next) = (vec![0u32; starts[degree.len()]], starts.clone());
        for (e, &(u, v)) in (0u32..).zip(&ends) {
            for node in [u, v] {
                units[next[node as usize]] = e;
                next[node as usize] += 1;
            }
        }
        Cover { z, ends, degree, order, units, starts }
    }

    /// Every node gets to at least min(`round`, its degree).
    fn round(&self, round: u32, kept: &mut [u32], stay: &mut BitMask) {
        let in_need = |kept: &[u32], i: u32| kept[i as usize] < round.min(self.degree[i as usize]);
        for &e in &self.order {
            let (u, v) = self.ends[e as usize];
            if !stay.get(e as usize) && in_need(kept, u) && in_need(kept, v) {
                self.keep(e, kept, stay);
            }
        }
        for i in 0..self.degree.len() as u32 {
            while in_need(kept, i) {
                let own = &self.units[self.starts[i as usize]..self.starts[i as usize + 1]];
                let free = own.iter().copied().filter(|&e| !stay.get(e as usize));
                let best = free.max_by(|&a, &b| {
                    self.z[a as usize].total_cmp(&self.z[b as usize]).then(Reverse(a).cmp(&Reverse(b)))
                });
                let Some(best) = best else { break };
                self.keep(best, kept, stay);
            }
        }
    }

    fn keep(&self, unit: u32, kept: &mut [u32], stay: &mut BitMask) {
        let (u, v) = self.ends[unit as usize];
        kept[u as usize] += 1;
        kept[v as usize] += 1;
        stay.set(unit as usize, true);
    }
}
