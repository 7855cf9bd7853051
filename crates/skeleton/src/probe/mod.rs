//! Measuring what this machine does: rates of kernels with all workers and with one, within a time budget.
//!
//! A [`Source`] can run some [`Kernel`]s; [`Probe`] takes short samples of all of them in turns, so that what else happens
//! on the machine meets all alike, and fits each by its median. The sources here know arithmetic, memory and the
//! executor; a crate that has more kernels adds its own. Results of a program never depend on what is measured here.
//! Start with [`Probe::of_this_machine`].

mod compute;
mod memory;
mod pass;
mod sizes;
mod step;
mod turns;

pub use sizes::Sizes;
pub use turns::Outcome;

use crate::{Exec, Result};
use sapwood_machine::Kernel;
use std::time::{Duration, Instant};

/// Kernels that can be timed.
pub trait Source {
    /// Which.
    fn kernels(&self) -> &[Kernel];

    /// Does `units` units of work of `kernel` on each worker and returns what that was in all: FLOP, bytes, or calls,
    /// always above 0. A unit is the least that makes sense to run; it should take well below a millisecond.
    ///
    /// # Errors
    /// What the work returned.
    fn run(&mut self, kernel: Kernel, exec: Exec<'_>, units: usize) -> Result<f64>;
}

/// A measurement that is being put together.
pub struct Probe<'s> {
    budget: Duration,
    /// The budget covers making the operands too.
    start: Instant,
    sources: Vec<Box<dyn Source + 's>>,
}

impl std::fmt::Debug for Probe<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe").field("budget", &self.budget).field("sources", &self.sources.len()).finish()
    }
}

impl<'s> Probe<'s> {
    /// The least time that gives every kernel its samples on most machines.
    pub const LEAST: Duration = Duration::from_millis(200);

    /// A probe without kernels that is to take `budget` from now on.
    pub fn new(budget: Duration) -> Probe<'s> {
        Probe { budget, start: Instant::now(), sources: Vec::new() }
    }

    /// A probe with the kernels of this crate, their operands of `sizes`, first touched by the workers of `exec`.
    ///
    /// # Errors
    /// [`crate::Error::Memory`] if the system has none for the operands.
    pub fn of_this_machine(exec: Exec<'_>, budget: Duration, sizes: &Sizes) -> Result<Probe<'s>> {
        let mut probe = Probe::new(budget);
        probe.add(compute::Registers);
        probe.add(pass::Pass::new(exec, Kernel::Elementwise, sizes.cached_bytes)?);
        probe.add(pass::Pass::new(exec, Kernel::ElementwiseLarge, sizes.large_bytes)?);
        probe.add(memory::Memory::new(exec, sizes.memory_bytes)?);
        probe.add(step::Step);
        Ok(probe)
    }

    /// Adds kernels.
    pub fn add(&mut self, source: impl Source + 's) {
        self.sources.push(Box::new(source));
    }

    /// Takes the samples; none if `stop` said so in between. Every kernel gets at least [`Outcome::LEAST_SAMPLES`],
    /// even if that takes longer than the budget.
    ///
    /// # Errors
    /// What a kernel returned.
    pub fn run(mut self, exec: Exec<'_>, stop: &dyn Fn() -> bool) -> Result<Option<Outcome>> {
        let start = self.start;
        let clock = || start.elapsed().as_secs_f64();
        turns::run(&mut self.sources, exec, self.budget.as_secs_f64(), &clock, stop)
    }
}
