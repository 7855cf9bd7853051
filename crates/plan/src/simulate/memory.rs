//! The peak of each stage: how many micro-batches of each chunk are alive at once.
//!
//! The walk over a stage's list does not depend on times, so what decides a peak are a few vectors of live micro-batches by
//! chunk: those right after a forward, and those during a backward, when a transient of its chunk comes on top. Vectors that
//! another one dominates never decide and are left out. The peak is exact and linear in the activations.

use super::{Order, Span};
use crate::schedule::{Kind, Op};

/// Micro-batches alive at one moment of a stage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Live {
    /// By chunk.
    pub chunks: Vec<u32>,
    /// The chunk whose backward runs, if one does: its transient is there, too.
    pub backward: Option<u32>,
}

/// For each stage the moments that can be its peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    stages: Vec<Vec<Live>>,
}

/// What stays in memory, in ticks of memory, by virtual stage and by stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activations {
    /// What a forward keeps for its backward, by virtual stage.
    pub kept: Vec<u64>,
    /// What a backward needs on top while it runs, by virtual stage.
    pub transient: Vec<u64>,
    /// What is always there, by stage.
    pub constant: Vec<u64>,
}

/// The heaviest moment of a stage and what is in memory then, in ticks of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peak {
    /// What is always there.
    pub constant: u64,
    /// What forwards keep.
    pub kept: u64,
    /// What the backward that runs needs on top.
    pub transient: u64,
    /// The operation that runs then; none where nothing runs.
    pub op: Option<Op>,
}

impl Peak {
    /// The first heaviest moment of `stage`, by a walk over its list; `None` beyond u64. O(operations of the stage).
    pub fn of(order: &Order, stage: usize, memory: &Activations) -> Option<Peak> {
        let split = order.shape().splits_backward;
        let released = if split { Kind::Weight } else { Kind::Backward };
        let mut peak = Peak { constant: memory.constant[stage], kept: 0, transient: 0, op: None };
        let mut kept = 0u64;
        for &op in &order.lists()[stage] {
            let at = op.virtual_stage as usize;
            if op.kind == Kind::Forward {
                kept = kept.checked_add(memory.kept[at])?;
            }
            let transient = if op.kind == Kind::Backward { memory.transient[at] } else { 0 };
            let here = kept.checked_add(transient)?;
            if here > peak.kept + peak.transient || peak.op.is_none() {
                peak = Peak { kept, transient, op: Some(op), ..peak };
            }
            if op.kind == released {
                kept -= memory.kept[at];
            }
        }
        peak.constant.checked_add(peak.kept)?.checked_add(peak.transient)?;
        Some(peak)
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.constant + self.kept + self.transient
    }
}

/// The memory of a stage over time: what holds from each tick on, at the ticks of its timeline where it changes.
pub fn curve(order: &Order, stage: usize, memory: &Activations, spans: &[Span]) -> Vec<(u64, u64)> {
    let split = order.shape().splits_backward;
    let mut now = memory.constant[stage];
    let mut points = vec![(0, now)];
    let mut set = |at: u64, now: u64| match points.last_mut() {
        Some(last) if last.0 == at => last.1 = now,
        _ => points.push((at, now)),
    };
    for span in spans {
        let at = span.op.virtual_stage as usize;
        let released = if split { Kind::Weight } else { Kind::Backward };
        match span.op.kind {
            Kind::Forward => {
                now += memory.kept[at];
                set(span.start, now);
            }
            Kind::Backward if memory.transient[at] > 0 => {
                set(span.start, now + memory.transient[at]);
                set(span.end, now);
            }
            Kind::Backward | Kind::Weight => {}
        }
        if span.op.kind == released {
            now -= memory.kept[at];
            set(span.end, now);
        }
    }
    points
}

impl Vectors {
    /// The vectors of an order. O(operations), and O(moments²) for the dominated ones, where moments are few.
    pub fn new(order: &Order) -> Vectors {
        let stages = order.lists().iter().map(|list| undominated(moments(order, list))).collect();
        Vectors { stages }
    }

    /// The moments of a stage.
    pub fn of(&self, stage: usize) -> &[Live] {
        &self.stages[stage]
    }

    /// The peak of `stage`, exact; `None` beyond u64.
    pub fn peak(&self, order: &Order, stage: usize, memory: &Activations) -> Option<u64> {
        let (dims, placement) = (order.dims(), order.shape().placement);
        let at = |chunk: usize| placement.virtual_stage(stage, chunk, dims.stages);
        let moment = |live: &Live| {
            let mut sum = live.backward.map_or(0, |chunk| memory.transient[at(chunk as usize)]);
            for (chunk, &count) in live.chunks.iter().enumerate() {
                sum = sum.checked_add(memory.kept[at(chunk)].checked_mul(u64::from(count))?)?;
            }
            Some(sum)
        };
        let most = self.of(stage).iter().map(moment).try_fold(0, |most, sum| Some(u64::max(most, sum?)))?;
        memory.constant[stage].checked_add(most)
    }
}

/// Every moment of a stage that may be its peak, in the order of its list.
pub(super) fn moments(order: &Order, list: &[Op]) -> Vec<Live> {
    let dims = order.dims();
    let released = if order.shape().splits_backward { Kind::Weight } else { Kind::Backward };
    let mut live = vec![0u32; dims.chunks];
    let mut found = Vec::new();
    for op in list {
        let chunk = order.shape().placement.of(op.virtual_stage as usize, dims.stages).1;
        match op.kind {
            Kind::Forward => {
                live[chunk] += 1;
                found.push(Live { chunks: live.clone(), backward: None });
            }
            Kind::Backward => found.push(Live { chunks: live.clone(), backward: Some(chunk as u32) }),
            Kind::Weight => {}
        }
        if op.kind == released {
            live[chunk] -= 1;
        }
    }
    found
}

/// Whether `a` is never the larger one.
fn dominated(a: &Live, b: &Live) -> bool {
    (a.backward.is_none() || a.backward == b.backward) && a.chunks.iter().zip(&b.chunks).all(|(a, b)| a <= b)
}

/// The moments that can be the peak: none that another one dominates, and none that lies between two others.
fn undominated(mut all: Vec<Live>) -> Vec<Live> {
    all.sort_unstable();
    all.dedup();
    let mut kept: Vec<Live> = Vec::new();
    for live in all {
        if !kept.iter().any(|other| dominated(&live, other)) {
            kept.retain(|other| !dominated(other, &live));
            kept.push(live);
        }
    }
    corners(kept)
}

/// Leaves out what is never above the mean of its neighbours in the order of chunks: a sum with non-negative weights is
/// largest at another one. All at once: of those with the largest sum the last one in that order has no such neighbours.
fn corners(all: Vec<Live>) -> Vec<Live> {
    let between = |at: usize| {
        let same = |&other: &usize| all[other].backward == all[at].backward;
        let (before, after) = ((0..at).rev().find(same), (at + 1..all.len()).find(same));
        let (Some(before), Some(after)) = (before, after) else { return false };
        let sides = all[before].chunks.iter().zip(&all[after].chunks);
        all[at].chunks.iter().zip(sides).all(|(&n, (&a, &b))| 2 * u64::from(n) <= u64::from(a) + u64::from(b))
    };
    (0..all.len()).filter(|&at| !between(at)).map(|at| all[at].clone()).collect()
}
