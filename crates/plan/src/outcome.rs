//! What a partition comes to under an order: the verdict of the exact simulator. Every plan that is shown, compared or written
//! went through [`simulate`].

use crate::explain::{Bubble, bubble};
use crate::problem::Problem;
use crate::simulate::memory::{Activations, Peak};
use crate::simulate::path::Path;
use crate::simulate::{Durations, Order, Sweep, Timeline, blocking, time};
use crate::{Error, Result};

/// The verdict on a partition.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The makespan, in ticks of time.
    pub makespan: u64,
    /// How long operations, transfers and ends take, in ticks of time.
    pub durations: Durations<u64>,
    /// What stays in memory, in ticks of memory.
    pub memory: Activations,
    /// The peak of each stage.
    pub peaks: Vec<Peak>,
    /// The bubble and its parts.
    pub bubble: Bubble,
    /// When everything ran; none where transfers are rendezvous.
    pub trace: Option<Trace>,
}

/// When everything ran.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Every operation.
    pub timeline: Timeline,
    /// The critical path.
    pub path: Path,
}

/// Simulates a partition, given as counts by virtual stage and item of `problem`, with transfers as rendezvous or not. Its
/// peaks may exceed the caps: see [`Outcome::exceeding`].
///
/// # Errors
/// [`Error::Problem`] for sizes or counts that are not those of the problem, [`Error::TooLarge`], [`Error::Deadlock`] with
/// rendezvous.
pub fn simulate(problem: &Problem, order: &Order, counts: &[u32], rendezvous: bool) -> Result<Outcome> {
    problem.accepts(order.dims())?;
    let k = order.dims().virtual_stages();
    if counts.len() != k * problem.items().len() {
        let what = format!("a partition of {} counts, not of {k} x {}", counts.len(), problem.items().len());
        return Err(Error::Problem { what });
    }
    problem.check(counts)?;
    let (durations, memory) = problem.costs(order, counts);
    time::check(order, &durations)?;
    let peak = |stage| Peak::of(order, stage, &memory);
    let peaks = (0..order.dims().stages).map(peak).collect::<Option<Vec<Peak>>>().ok_or_else(|| Error::TooLarge {
        what: "a peak is beyond 2^64 ticks of memory; use a coarser unit".to_owned(),
    })?;
    let bubble = bubble(order, &durations, problem.recomputation(counts), rendezvous)?;
    let (makespan, trace) = if rendezvous {
        (blocking::makespan(order, &durations)?, None)
    } else {
        let mut sweep = Sweep::new();
        let makespan = sweep.run(order, &durations);
        let timeline = Timeline::of(order, &durations, &sweep, makespan);
        (makespan, Some(Trace { timeline, path: Path::of(order, &durations, |at| sweep.end(at)) }))
    };
    Ok(Outcome { makespan, durations, memory, peaks, bubble, trace })
}

impl Outcome {
    /// Stages whose peak is beyond their cap.
    pub fn exceeding(&self, problem: &Problem) -> Vec<usize> {
        let over = |stage: &usize| self.peaks[*stage].total() > problem.caps()[*stage];
        (0..self.peaks.len()).filter(over).collect()
    }
}
