//! The critical path of a sweep: operations that follow each other without a gap, from the end of the last one back to the
//! start.

use super::{Durations, Order, Time};

/// A critical path and what it is made of: the makespan is linear in the durations along it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Positions in the topological order, from the first to the last.
    pub steps: Vec<usize>,
    /// How often each place of [`Durations::operations`] is on the path.
    pub operations: Vec<u32>,
    /// How often each place of [`Durations::links`] is on the path.
    pub links: Vec<u32>,
    /// The stage at whose end it ends.
    pub stage: usize,
}

impl Path {
    /// (stage, position in the list of the stage) of each operation along the path.
    pub fn ops<'a>(&'a self, order: &'a Order) -> impl Iterator<Item = (usize, usize)> + 'a {
        let mut position = vec![0usize; order.dims().stages];
        let mut wanted = self.steps.iter().copied().peekable();
        order.steps.iter().enumerate().filter_map(move |(at, &step)| {
            let stage = step.stage as usize;
            let slot = &mut position[stage];
            let here = (stage, *slot);
            *slot += 1;
            wanted.next_if_eq(&at).map(|_| here)
        })
    }

    /// The critical path of a sweep whose ends are `end` ([`super::Sweep::end`]). Where an operation waited for its stage and its data alike, the path goes
    /// on along the stage. O(length of the path).
    pub fn of<T: Time + PartialOrd>(order: &Order, durations: &Durations<T>, end: impl Fn(usize) -> T) -> Path {
        let mut path = Path {
            steps: Vec::new(),
            operations: vec![0; durations.operations.len()],
            links: vec![0; durations.links.len()],
            stage: 0,
        };
        let mut best: Option<T> = None;
        for (stage, &at) in order.last.iter().enumerate() {
            let last = end(at as usize) + durations.tails[stage];
            if best.is_none_or(|best| best < last) {
                (best, path.stage) = (Some(last), stage);
            }
        }
        let mut at = order.last[path.stage] as usize;
        while at > 0 {
            let step = order.steps[at - 1];
            path.steps.push(at - 1);
            path.operations[step.duration as usize] += 1;
            let before = order.before[at - 1] as usize;
            let link = order.link(step);
            let ready = end(step.awaits as usize) + durations.links[link];
            // The sweep took the later of the two.
            at = if end(before) < ready {
                path.links[link] += 1;
                step.awaits as usize
            } else {
                before
            };
        }
        path.steps.reverse();
        path
    }
}
