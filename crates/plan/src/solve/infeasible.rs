//! What to do where nothing fits: changes of the request, each tested by solving again.

use super::{Express, Proof, Request, solve};
use crate::model::MemoryUnit;
use crate::problem::Problem;
use crate::{Error, Result, schedule};
use sapwood_skeleton::Exec;
use serde::Serialize;

/// Relative precision of the least memory.
const PRECISION: f64 = 2e-3;

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
    tests.memory(request, stated)?;
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
            self.found.push(Remedy { change, value });
        }
        Ok(())
    }

    /// The least memory for all stages, found by bisection, in whole units.
    fn memory(&mut self, request: &Request<'_>, stated: &Caps) -> Result<()> {
        let problem = request.problem;
        let caps: Vec<f64> = problem.caps().iter().map(|&cap| problem.memory().show(cap)).collect();
        let scaled = |by: f64| caps.iter().map(|cap| (cap * by).ceil()).collect::<Vec<f64>>();
        let fits = |by: f64| -> Result<bool> {
            let problem = problem.with_caps(&scaled(by))?;
            self.fits(&Request { problem: &problem, ..request.clone() })
        };
        let (mut low, mut high) = (1.0, 2.0);
        while !fits(high)? {
            if high >= 1024.0 || (self.stop)() {
                return Ok(());
            }
            (low, high) = (high, high * 2.0);
        }
        while high - low > PRECISION * low && !(self.stop)() {
            let middle = 0.5 * (low + high);
            (low, high) = if fits(middle)? { (low, middle) } else { (middle, high) };
        }
        let unit = problem.model().memory_unit;
        let name = if unit == MemoryUnit::Raw { "" } else { unit.name() };
        let sizes: Vec<String> = scaled(high).iter().map(|cap| format!("{cap}{name}")).collect();
        let sizes = if stated.one { sizes[0].clone() } else { sizes.join(",") };
        let value = Some(scaled(high)[0]).filter(|_| stated.one);
        let margin = if stated.margin > 0.0 { " --margin 0" } else { "" };
        let whole = stated.margin > 0.0 && fits(1.0 / (1.0 - stated.margin))?;
        self.found.push(Remedy { change: format!("--memory {sizes}{margin}"), value });
        if whole {
            self.found.push(Remedy { change: "--margin 0".to_owned(), value: Some(0.0) });
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

    /// More stages: the fewest of a few numbers.
    fn stages(&mut self, request: &Request<'_>) -> Result<()> {
        let problem = request.problem;
        let (now, cap) = (problem.caps().len(), problem.memory().show(problem.caps()[0]));
        let before = self.found.len();
        for more in [now + 1, now + now.div_ceil(4), now + now.div_ceil(2), 2 * now, 4 * now] {
            if more <= problem.body_layers() as usize && self.found.len() == before {
                let Ok(problem) = problem.with_caps(&vec![cap; more]) else { continue };
                let changed = Request { problem: &problem, ..request.clone() };
                self.test(&changed, format!("--stages {more}"), Some(more as f64))?;
            }
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
