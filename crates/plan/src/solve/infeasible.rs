//! What to do where nothing fits: changes of the request, each tested by solving again.

use super::{Express, Proof, Request, solve};
use crate::model::MemoryUnit;
use crate::problem::Problem;
use crate::{Error, Result, schedule};
use sapwood_skeleton::Exec;
use serde::Serialize;

/// Significant digits of the least memory.
const DIGITS: i32 = 5;

/// Steps of the least margin to keep, in per cent.
const MARGIN: f64 = 0.1;

/// Why nothing fits, and what would make it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Infeasible {
    /// The stage that is furthest beyond its cap in the partition that comes nearest.
    pub stage: usize,
    /// What it needs there, in the model's unit of memory.
    pub need: f64,
    /// Its cap.
    pub cap: f64,
    /// Changes with which a plan was found.
    pub remedies: Vec<Remedy>,
}

/// A change with which a plan was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remedy {
    /// The flags that make it.
    pub change: String,
    /// The number in them, if there is one.
    pub value: Option<f64>,
    /// The change is the smallest that was found to do, in steps of this, in the unit of the value; none where it is no
    /// matter of size.
    pub step: Option<f64>,
}

/// How the user states caps: what remedies are called.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caps {
    /// One for all stages, so that there may be more of them.
    pub one: bool,
    /// Part of the memory that the caps leave free.
    pub margin: f64,
}

/// Explains why nothing fits: `failure` is what [`solve`] said. `None` if the failure is none of memory.
///
/// # Errors
/// Whatever fails other than that nothing fits.
pub fn infeasible(
    exec: Exec<'_>,
    request: &Request<'_>,
    failure: &Error,
    stated: &Caps,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Infeasible>> {
    let Error::Infeasible { stage, need, cap } = *failure else { return Ok(None) };
    let mut tests = Tests { exec, stop, found: Vec::new() };
    tests.memory(request, stated, need / cap)?;
    tests.choices(request)?;
    if stated.one {
        tests.stages(request)?;
    }
    Ok(Some(Infeasible { stage, need, cap, remedies: tests.found }))
}

struct Tests<'a> {
    exec: Exec<'a>,
    stop: &'a (dyn Fn() -> bool + Sync),
    found: Vec<Remedy>,
}

impl Tests<'_> {
    /// Whether any schedule and number of chunks of a changed request has a plan that fits.
    fn fits(&self, request: &Request<'_>) -> Result<bool> {
        for &chunks in &request.chunks {
            for &entry in &request.schedules {
                let one = Request {
                    schedules: vec![entry],
                    chunks: vec![chunks],
                    moves: 0,
                    proof: Proof::None,
                    until: None,
                    start: None,
                    ..request.clone()
                };
                match solve(self.exec, &one, self.stop) {
                    Ok(solved) if solved.best.is_some() => return Ok(true),
                    Ok(_) | Err(Error::Problem { .. } | Error::Refused { .. } | Error::Infeasible { .. }) => {}
                    Err(failure) => return Err(failure),
                }
            }
        }
        Ok(false)
    }

    fn test(&mut self, request: &Request<'_>, change: String, value: Option<f64>) -> Result<()> {
        if !(self.stop)() && self.fits(request)? {
            self.found.push(Remedy { change, value, step: None });
        }
        Ok(())
    }

    /// The least number above `low`, which does not do, and up to `most` with which a request fits: by steps that double,
    /// down or up from `guess`, then by bisection. None if there is none or it is stopped.
    fn least(&self, low: u64, guess: u64, most: u64, fits: impl Fn(u64) -> Result<bool>) -> Result<Option<u64>> {
        let (mut low, mut high, mut step) = (low, guess.clamp(low, most), 1);
        if high > low && fits(high)? {
            while high - low > 1 && !(self.stop)() {
                let less = high.saturating_sub(step).max(low + 1);
                if !fits(less)? {
                    low = less;
                    break;
                }
                (high, step) = (less, 2 * step);
            }
        } else {
            loop {
                (low, high, step) = (high, high.saturating_add(step).min(most), 2 * step);
                if high == low || (self.stop)() {
                    return Ok(None);
                }
                if fits(high)? {
                    break;
                }
            }
        }
        while high - low > 1 && !(self.stop)() {
            let middle = low + (high - low) / 2;
            (low, high) = if fits(middle)? { (low, middle) } else { (middle, high) };
        }
        Ok(Some(high).filter(|_| !(self.stop)()))
    }

    /// The least memory for all stages in steps of its fifth digit, and the largest margin that may be kept instead; `over`
    /// times as much would do for the nearest partition.
    fn memory(&mut self, request: &Request<'_>, stated: &Caps, over: f64) -> Result<()> {
        let problem = request.problem;
        let caps: Vec<f64> = problem.caps().iter().map(|&cap| problem.memory().show(cap)).collect();
        // Powers of ten below 1 are no binary numbers: caps are divided by their inverse, which is one.
        let digits = caps[0].max(1.0).log10().floor() as i32 + 1 - DIGITS;
        let stepped = |steps: f64| if digits < 0 { steps / 10f64.powi(-digits) } else { steps * 10f64.powi(digits) };
        let steps = |cap: f64| if digits < 0 { cap * 10f64.powi(-digits) } else { cap / 10f64.powi(digits) };
        let scaled = |first: u64| -> Vec<f64> {
            let by = if caps[0] > 0.0 { first as f64 / steps(caps[0]) } else { 1.0 };
            let rest = caps[1..].iter().map(|&cap| stepped((steps(cap) * by).ceil()));
            std::iter::once(stepped(first as f64)).chain(rest).collect()
        };
        let fits = |caps: &[f64]| -> Result<bool> {
            let problem = problem.with_caps(caps)?;
            self.fits(&Request { problem: &problem, ..request.clone() })
        };
        let now = (steps(caps[0]).floor() as u64).max(1);
        let (guess, most) = ((steps(caps[0]) * over).ceil() as u64, now.saturating_mul(1024));
        let Some(least) = self.least(now, guess, most, |first| fits(&scaled(first)))? else {
            return Ok(());
        };
        let unit = problem.model().memory_unit;
        let name = if unit == MemoryUnit::Raw { "" } else { unit.name() };
        let sizes: Vec<String> = scaled(least).iter().map(|cap| format!("{cap}{name}")).collect();
        let sizes = if stated.one { sizes[0].clone() } else { sizes.join(",") };
        let value = Some(stepped(least as f64)).filter(|_| stated.one);
        let margin = if stated.margin > 0.0 { " --margin 0" } else { "" };
        let kept = ((1.0 - (1.0 - stated.margin) * least as f64 / steps(caps[0])) * 100.0 / MARGIN).floor();
        let by = (1.0 - kept * MARGIN / 100.0) / (1.0 - stated.margin);
        let enough = stated.margin > 0.0 && kept >= 0.0 && fits(&caps.iter().map(|cap| cap * by).collect::<Vec<_>>())?;
        let step = Some(stepped(1.0));
        self.found.push(Remedy { change: format!("--memory {sizes}{margin}"), value, step });
        if enough {
            let kept = kept / (1.0 / MARGIN).round();
            self.found.push(Remedy { change: format!("--margin {kept}"), value: Some(kept), step: Some(MARGIN) });
        }
        Ok(())
    }

    /// Other schedules, numbers of chunks, kinds of recomputation, frameworks.
    fn choices(&mut self, request: &Request<'_>) -> Result<()> {
        for entry in schedule::ALL {
            if !request.schedules.iter().any(|known| known.name == entry.name) {
                self.test(
                    &Request { schedules: vec![entry], ..request.clone() },
                    format!("--schedule {}", entry.name),
                    None,
                )?;
            }
        }
        for chunks in [1, 2, 4] {
            if !request.chunks.contains(&chunks) {
                let changed = Request { chunks: vec![chunks], ..request.clone() };
                self.test(&changed, format!("--chunks {chunks}"), Some(chunks as f64))?;
            }
        }
        if let Some(problem) = request.problem.with_all_kinds()? {
            self.test(&Request { problem: &problem, ..request.clone() }, "--recompute auto".to_owned(), None)?;
        }
        if request.express != Express::Any {
            self.test(&Request { express: Express::Any, ..request.clone() }, "--express any".to_owned(), None)?;
        }
        Ok(())
    }

    /// The fewest stages, at most four times as many.
    fn stages(&mut self, request: &Request<'_>) -> Result<()> {
        let problem = request.problem;
        let (now, cap) = (problem.caps().len(), problem.memory().show(problem.caps()[0]));
        let most = (problem.body_layers() as usize).min(4 * now).max(now);
        let fits = |stages: u64| match problem.with_caps(&vec![cap; stages as usize]) {
            Ok(problem) => self.fits(&Request { problem: &problem, ..request.clone() }),
            // Constants of other stages than there are.
            Err(_) => Ok(false),
        };
        if let Some(fewest) = self.least(now as u64, now as u64 + 1, most as u64, fits)? {
            let (change, value) = (format!("--stages {fewest}"), Some(fewest as f64));
            self.found.push(Remedy { change, value, step: Some(1.0) });
        }
        Ok(())
    }
}

impl Problem {
    /// The same problem with other caps.
    fn with_caps(&self, caps: &[f64]) -> Result<Problem> {
        let problem = Problem::new(self.model().clone(), caps, &self.kinds())?;
        Ok(if self.least() == 0 { problem.allow_empty() } else { problem })
    }

    /// The same problem with all kinds of recomputation; `None` if it has them.
    fn with_all_kinds(&self) -> Result<Option<Problem>> {
        let all: usize = self.model().segments.iter().map(|s| s.kinds.len()).sum();
        if all == self.items().len() {
            return Ok(None);
        }
        let caps: Vec<f64> = self.caps().iter().map(|&cap| self.memory().show(cap)).collect();
        let problem = Problem::new(self.model().clone(), &caps, &[])?;
        Ok(Some(if self.least() == 0 { problem.allow_empty() } else { problem }))
    }

    /// Names of the kinds that the items have.
    fn kinds(&self) -> Vec<String> {
        let name = |item: &crate::problem::Item| self.model().segments[item.segment].kinds[item.kind].name.clone();
        let mut names: Vec<String> = self.items().iter().map(name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
