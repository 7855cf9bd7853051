//! When each operation ran: the spans of every stage after a sweep, and what a stage waited for.

use super::{Durations, Order, Sweep};
use crate::schedule::{Kind, Op};

/// One operation on its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// What ran.
    pub op: Op,
    /// First tick.
    pub start: u64,
    /// Tick after the last.
    pub end: u64,
}

/// The spans of each stage, in the order of its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    /// By stage.
    pub stages: Vec<Vec<Span>>,
    /// The makespan.
    pub makespan: u64,
}

/// How a stage spends the makespan: busy + warmup + steady + drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Operations run.
    pub busy: u64,
    /// Idle before its first backward.
    pub warmup: u64,
    /// Idle from then to the end of its last forward.
    pub steady: u64,
    /// Idle after that, to the end of the makespan.
    pub drain: u64,
}

impl Timeline {
    /// The spans of the last run of `sweep` with `durations`.
    pub fn of(order: &Order, durations: &Durations<u64>, sweep: &Sweep<u64>, makespan: u64) -> Timeline {
        let mut stages: Vec<Vec<Span>> = order.lists().iter().map(|list| Vec::with_capacity(list.len())).collect();
        for (at, step) in order.steps().enumerate() {
            let number = step.stage as usize;
            let stage = &mut stages[number];
            let end = sweep.end(at + 1);
            // A stage's operations are in the order of its list.
            let op = order.lists()[number][stage.len()];
            stage.push(Span { op, start: end - durations.operations[step.duration as usize], end });
        }
        Timeline { stages, makespan }
    }

    /// How `stage` spends the makespan.
    pub fn usage(&self, stage: usize) -> Usage {
        let spans = &self.stages[stage];
        let first_backward =
            spans.iter().find(|span| span.op.kind == Kind::Backward).map_or(self.makespan, |s| s.start);
        let last_forward = spans.iter().rfind(|span| span.op.kind == Kind::Forward).map_or(0, |span| span.end);
        let mut usage = Usage::default();
        let mut clock = 0;
        let end = Span { op: Op::new(Kind::Forward, 0, 0), start: self.makespan, end: self.makespan };
        for span in spans.iter().chain([&end]) {
            let (from, to) = (clock, span.start);
            let warmup = to.min(first_backward).saturating_sub(from);
            let drain = to.saturating_sub(from.max(last_forward).max(first_backward));
            usage.warmup += warmup;
            usage.drain += drain;
            usage.steady += to - from - warmup - drain;
            usage.busy += span.end - span.start;
            clock = span.end;
        }
        usage
    }
}
