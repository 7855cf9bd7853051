//! The slow twin: start times by repeating the definition until nothing changes, peaks by walking the lists. For tests.

use super::memory::Activations;
use super::order::{awaited, hop};
use super::{Durations, Order};
use crate::schedule::{Kind, Op};
use std::collections::BTreeMap;

/// End of every operation and the makespan.
pub fn time(order: &Order, durations: &Durations<u64>) -> (BTreeMap<Op, u64>, u64) {
    let dims = order.dims();
    let stage = |op: Op| order.shape().placement.of(op.virtual_stage as usize, dims.stages).0;
    let mut ends: BTreeMap<Op, u64> = BTreeMap::new();
    loop {
        let before = ends.clone();
        for list in order.lists() {
            let mut clock = 0;
            for &op in list {
                let place = op.kind as usize * dims.virtual_stages() + op.virtual_stage as usize;
                let data = awaited(op, dims).map_or(0, |other| {
                    let link = if stage(other) == stage(op) { 0 } else { durations.links[hop(op, dims) as usize] };
                    ends.get(&other).map_or(0, |end| end + link)
                });
                clock = clock.max(data) + durations.operations[place];
                ends.insert(op, clock);
            }
        }
        if ends == before {
            break;
        }
    }
    let tail = |s: usize| order.lists()[s].last().map_or(0, |op| ends[op]) + durations.tails[s];
    let makespan = (0..dims.stages).map(tail).max().unwrap_or(0);
    (ends, makespan)
}

/// Peak of every stage.
pub fn peaks(order: &Order, memory: &Activations) -> Vec<u64> {
    let dims = order.dims();
    let of = |(stage, list): (usize, &Vec<Op>)| {
        let (mut now, mut most) = (0, 0);
        for op in list {
            let at = op.virtual_stage as usize;
            match op.kind {
                Kind::Forward => {
                    now += memory.kept[at];
                    most = most.max(now);
                }
                Kind::Backward => {
                    most = most.max(now + memory.transient[at]);
                    if !order.shape().splits_backward {
                        now -= memory.kept[at];
                    }
                }
                Kind::Weight => now -= memory.kept[at],
            }
        }
        memory.constant[stage] + most
    };
    assert_eq!(order.lists().len(), dims.stages);
    order.lists().iter().enumerate().map(of).collect()
}
