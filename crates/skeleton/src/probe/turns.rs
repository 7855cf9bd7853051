//! Samples in turns: first how much work makes a sample of the right length, then round after round until the budget is
//! spent. Time comes from a clock that is handed in, so that the loop can be tested without one.

use super::Source;
use crate::{Exec, Result};
use sapwood_machine::{ByKernel, Kernel, Measured, Quantity, Rates, fit, units};

/// Rounds that the length of a sample aims at.
const ROUNDS: f64 = 16.0;

/// Seconds of a sample at least: far above the resolution of the clock.
const SHORTEST: f64 = 50e-6;

/// Seconds of a sample at most: a long budget is better spent on more samples.
const LONGEST: f64 = 20e-3;

/// Rounds at most: more add nothing.
const MOST_ROUNDS: usize = 1000;

/// Doublings while the length of a sample is looked for.
const MOST_DOUBLINGS: u32 = 40;

/// What a probe found.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The rates.
    pub rates: Rates,
    /// Seconds from the start to the end, the making of operands included.
    pub spent_s: f64,
}

impl Outcome {
    /// Samples of each kernel at least.
    pub const LEAST_SAMPLES: usize = 5;
}

/// One kernel on one number of workers.
struct Turn {
    source: usize,
    kernel: Kernel,
    workers: usize,
    units: usize,
    samples: Vec<f64>,
}

/// Runs the kernels of `sources` until `clock` (seconds since the start) passes `budget`.
pub(super) fn run(
    sources: &mut [Box<dyn Source + '_>],
    exec: Exec<'_>,
    budget: f64,
    clock: &dyn Fn() -> f64,
    stop: &dyn Fn() -> bool,
) -> Result<Option<Outcome>> {
    let mut turns = turns(sources, exec.threads());
    let length = ((budget - clock()) / (turns.len().max(1) as f64 * ROUNDS)).clamp(SHORTEST, LONGEST);
    let mut known = None;
    for turn in &mut turns {
        if stop() {
            return Ok(None);
        }
        // What one worker does in that time is where all of them begin: waiting for the last of them must not be most of
        // it. A step that does nothing is all waiting and tells nothing of that.
        let known_units = known.filter(|(place, _)| *place == (turn.source, turn.kernel)).map(|(_, units)| units);
        turn.units = known_units.filter(|_| turn.kernel.quantity() != Quantity::Seconds).unwrap_or(1);
        turn.find_units(sources, exec, length, clock)?;
        known = Some(((turn.source, turn.kernel), turn.units));
    }
    let (mut rounds, mut round_s) = (0, 0.0);
    while rounds < Outcome::LEAST_SAMPLES || (rounds < MOST_ROUNDS && clock() + round_s <= budget) {
        let start = clock();
        for turn in &mut turns {
            if stop() {
                return Ok(None);
            }
            turn.sample(sources, exec, clock)?;
        }
        (rounds, round_s) = (rounds + 1, clock() - start);
    }
    Ok(Some(Outcome { rates: rates(&turns, exec.threads()), spent_s: clock() }))
}

/// Every kernel with one worker, and with all where there are several.
fn turns(sources: &[Box<dyn Source + '_>], threads: usize) -> Vec<Turn> {
    let workers = if threads > 1 { vec![1, threads] } else { vec![1] };
    let kernels = sources.iter().enumerate().flat_map(|(source, s)| s.kernels().iter().map(move |&k| (source, k)));
    let turn = |(source, kernel, workers)| Turn { source, kernel, workers, units: 1, samples: Vec::new() };
    kernels.flat_map(|(source, kernel)| workers.iter().map(move |&w| (source, kernel, w))).map(turn).collect()
}

impl Turn {
    /// Seconds that the units take, and what was done.
    fn time(
        &self,
        sources: &mut [Box<dyn Source + '_>],
        exec: Exec<'_>,
        clock: &dyn Fn() -> f64,
    ) -> Result<(f64, f64)> {
        let start = clock();
        let done = sources[self.source].run(self.kernel, exec.limit(self.workers), self.units)?;
        Ok((clock() - start, done))
    }

    /// Doubles the units until they take a good part of `length`, twice in a row, so that a run that was held up does not
    /// make all samples too short; then scales to `length`. This warms up caches too.
    fn find_units(
        &mut self,
        sources: &mut [Box<dyn Source + '_>],
        exec: Exec<'_>,
        length: f64,
        clock: &dyn Fn() -> f64,
    ) -> Result<()> {
        for _ in 0..MOST_DOUBLINGS {
            let (mut seconds, _) = self.time(sources, exec, clock)?;
            if seconds >= length / 4.0 {
                seconds = seconds.min(self.time(sources, exec, clock)?.0);
            }
            if seconds >= length / 4.0 {
                // a float beyond the integers becomes the largest
                self.units = ((self.units as f64 * length / seconds) as usize).max(1);
                return Ok(());
            }
            self.units = self.units.saturating_mul(2);
        }
        Ok(())
    }

    fn sample(&mut self, sources: &mut [Box<dyn Source + '_>], exec: Exec<'_>, clock: &dyn Fn() -> f64) -> Result<()> {
        let (seconds, done) = self.time(sources, exec, clock)?;
        // a clock too coarse for the work says nothing
        if seconds > 0.0 && done > 0.0 {
            self.samples.push(match self.kernel.quantity() {
                Quantity::Seconds => seconds / done,
                Quantity::Flops | Quantity::Bytes => done / seconds,
            });
        }
        Ok(())
    }
}

/// The fitted samples.
fn rates(turns: &[Turn], threads: usize) -> Rates {
    let table = |workers: usize| -> ByKernel {
        let turns = turns.iter().filter(|turn| turn.workers == workers);
        turns.filter_map(|turn| Some((turn.kernel, rounded(fit::location(&turn.samples)?)))).collect()
    };
    let one = if threads > 1 { table(1) } else { ByKernel::new() };
    Rates { threads: u32::try_from(threads).ok(), all: table(threads), one }
}

/// Four digits: more would only say how the samples happened to fall.
fn rounded(rate: Measured<f64>) -> Measured<f64> {
    Measured { value: units::rounded(rate.value), mad: rate.mad.map(units::rounded), ..rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Runtime};
    use std::cell::Cell;

    /// Two kernels on a clock of its own: a unit takes a microsecond with one worker; every seventh run is ten times slower.
    struct Fake<'c> {
        now: &'c Cell<f64>,
        runs: &'c Cell<usize>,
    }

    impl Source for Fake<'_> {
        fn kernels(&self) -> &'static [Kernel] {
            &[Kernel::Stream, Kernel::Dispatch]
        }

        fn run(&mut self, kernel: Kernel, exec: Exec<'_>, units: usize) -> Result<f64> {
            self.runs.set(self.runs.get() + 1);
            let slow = if self.runs.get().is_multiple_of(7) { 10.0 } else { 1.0 };
            self.now.set(self.now.get() + slow * 1e-6 * units as f64);
            Ok((units * exec.threads()) as f64 * if kernel == Kernel::Stream { 64.0 } else { 1.0 })
        }
    }

    /// The outcome after `budget` seconds, stopped at run number `stop_at`; and the runs.
    fn outcome(threads: usize, budget: f64, stop_at: usize) -> (Option<Outcome>, usize) {
        let (now, runs) = (Cell::new(0.0), Cell::new(0));
        let runtime = Runtime::threads(threads).unwrap();
        let mut sources: Vec<Box<dyn Source + '_>> = vec![Box::new(Fake { now: &now, runs: &runs })];
        let stop = || runs.get() >= stop_at;
        let outcome = super::run(&mut sources, runtime.exec(), budget, &|| now.get(), &stop).unwrap();
        (outcome, runs.get())
    }

    fn near(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-3
    }

    #[test]
    fn rates_follow_from_work_and_time() {
        let (outcome, _) = outcome(2, 4.0, usize::MAX);
        let Outcome { rates, spent_s } = outcome.unwrap();
        assert_eq!(rates.threads, Some(2));
        assert_eq!((rates.all.len(), rates.one.len()), (2, 2));
        assert!(near(rates.at(Kernel::Stream, 2).unwrap(), 128e6) && near(rates.at(Kernel::Stream, 1).unwrap(), 64e6));
        assert!(near(rates.at(Kernel::Dispatch, 2).unwrap(), 0.5e-6), "seconds per call");
        assert!(rates.all.values().all(|r| r.samples >= 5 && r.mad.unwrap() < 1e-3 * r.value), "outliers do no harm");
        assert!(spent_s > 3.5 && spent_s < 4.4, "{spent_s}");
    }

    #[test]
    fn one_worker_is_measured_once() {
        let rates = outcome(1, 1.0, usize::MAX).0.unwrap().rates;
        assert_eq!((rates.threads, rates.all.len(), rates.one.len()), (Some(1), 2, 0));
        assert!(near(rates.at(Kernel::Stream, 1).unwrap(), 64e6));
    }

    #[test]
    fn a_budget_that_is_gone_still_gives_the_least_samples() {
        let rates = outcome(2, 0.0, usize::MAX).0.unwrap().rates;
        assert!(rates.all.values().chain(rates.one.values()).all(|r| r.samples as usize == Outcome::LEAST_SAMPLES));
    }

    #[test]
    fn rounds_are_limited_and_stopping_stops() {
        let rates = outcome(1, 1e9, usize::MAX).0.unwrap().rates;
        assert!(rates.all.values().all(|r| r.samples as usize == MOST_ROUNDS));
        let (none, runs) = outcome(2, 1.0, 40);
        assert!(none.is_none() && (40..60).contains(&runs), "{runs}");
        assert!(outcome(2, 1.0, 0).0.is_none());
    }

    struct Broken;

    impl Source for Broken {
        fn kernels(&self) -> &'static [Kernel] {
            &[Kernel::Read]
        }

        fn run(&mut self, _: Kernel, _: Exec<'_>, _: usize) -> Result<f64> {
            Err(Error::Memory { needed: 7 })
        }
    }

    #[test]
    fn errors_come_out() {
        let runtime = Runtime::sequential().unwrap();
        let mut sources: Vec<Box<dyn Source>> = vec![Box::new(Broken)];
        let error = super::run(&mut sources, runtime.exec(), 1.0, &|| 0.0, &|| false).unwrap_err();
        assert!(matches!(error, Error::Memory { needed: 7 }));
    }
}
