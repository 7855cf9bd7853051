//! The relaxation of a region: a mixture of patterns for each stage, and the paths that it needs.
//!
//! Minimise T over mixtures λ ≥ 0 with Σ λ = 1 for each stage, all layers placed, and T at least the length of each path. The
//! dual has a column for each path and a row for each pattern, and both come as they are needed: rows by pricing (the cheapest
//! pattern of a stage under the prices so far; Dantzig and Wolfe 1960, Kelley 1960), columns by simulating what the mixture
//! takes. Every set of prices on the way is a certified bound ([`super::prices`]).

use super::patterns::{Pattern, Patterns};
use super::prices::{Prices, Proof};
use super::region::{Mixture, Places};
use crate::bound::lp::{LpBackend, Program, Row, Sense};
use crate::problem::Problem;
use crate::simulate::path::Path;
use crate::simulate::{Durations, Order, Sweep};
use std::collections::HashMap;

/// Distance in units of T below which prices are the best ones, and above which a path cuts something off.
const DEEP: f64 = 1e-6;

/// Most rounds of pricing.
const ROUNDS: usize = 200;

/// Weights below which a path or a pattern is not used.
const UNUSED: f64 = 1e-9;

/// A path as a row: its length is linear in durations.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PathRow {
    /// How often each place of the durations is on it.
    pub(super) operations: Vec<u32>,
    /// Links and the tail, in ticks.
    pub(super) constant: u64,
}

/// What all regions share.
pub(super) struct Master<'a> {
    pub(super) order: &'a Order,
    pub(super) patterns: Patterns,
    pub(super) places: Places,
    /// Of the segments of the body.
    pub(super) layers: Vec<u64>,
    pub(super) paths: Vec<PathRow>,
    /// Their places.
    known: HashMap<PathRow, usize>,
    /// Links and tails, operations of no time.
    empty: Durations<u64>,
    /// Ticks of a unit of T in linear programs.
    unit: f64,
    /// Entries of the linear programs that were solved, a measure of time.
    pub(super) work: u64,
    sweep: Sweep<f64>,
}

/// What a region's relaxation starts from and ends with: paths and patterns that matter.
#[derive(Debug, Clone, Default)]
pub(super) struct Active {
    pub(super) paths: Vec<usize>,
    /// Stage and pattern.
    pub(super) patterns: Vec<(usize, u32)>,
}

/// The best prices of a region for some paths.
pub(super) struct Priced {
    pub(super) bound: u64,
    /// Of the paths.
    pub(super) weights: Vec<(usize, f64)>,
}

/// A mixture with what the paths so far make of it.
pub(super) struct Mixed {
    pub(super) mixture: Mixture,
    /// In ticks.
    pub(super) makespan: f64,
}

impl Mixed {
    /// The patterns of the mixture.
    pub(super) fn present(&self) -> Vec<(usize, u32)> {
        let own =
            |(stage, own): (usize, &Vec<(u32, f64)>)| own.iter().map(move |&(at, _)| (stage, at)).collect::<Vec<_>>();
        self.mixture.iter().enumerate().flat_map(own).collect()
    }
}

impl<'a> Master<'a> {
    /// No path yet.
    pub(super) fn new(problem: &'a Problem, order: &'a Order, patterns: Patterns, scale: f64) -> Master<'a> {
        let (dims, placement) = (order.dims(), order.shape().placement);
        let place = |stage| (0..dims.chunks).map(|chunk| placement.virtual_stage(stage, chunk, dims.stages)).collect();
        let segments = &problem.model().segments;
        let layers = patterns.body.iter().map(|&at| u64::from(segments[at].count)).collect();
        let (empty, _) = problem.costs(order, &vec![0; dims.virtual_stages() * problem.items().len()]);
        let unit = (scale / 64.0).log2().ceil().exp2().max(f64::MIN_POSITIVE);
        let places = (0..dims.stages).map(place).collect();
        Master {
            order,
            patterns,
            places,
            layers,
            paths: Vec::new(),
            known: HashMap::new(),
            empty,
            unit,
            work: 0,
            sweep: Sweep::new(),
        }
    }

    pub(super) fn virtual_stages(&self) -> usize {
        self.order.dims().virtual_stages()
    }

    /// Places of durations.
    pub(super) fn operations(&self) -> usize {
        self.empty.operations.len()
    }

    /// A path, new or known.
    pub(super) fn learn(&mut self, path: &Path) -> usize {
        let links: u64 = path.links.iter().zip(&self.empty.links).map(|(&n, &t)| u64::from(n) * t).sum();
        let row = PathRow { operations: path.operations.clone(), constant: links + self.empty.tails[path.stage] };
        let Master { paths, known, .. } = self;
        *known.entry(row).or_insert_with_key(|row| {
            paths.push(row.clone());
            paths.len() - 1
        })
    }

    fn start(&mut self, program: &Program, backend: &mut dyn LpBackend) -> Option<Vec<f64>> {
        self.work += (program.rows.len() * program.costs.len()) as u64;
        backend.start(program).ok()?
    }

    /// The part of a path in a stage with a pattern, in ticks.
    fn part(&self, path: usize, stage: usize, pattern: u32) -> u64 {
        let (pattern, k) = (&self.patterns.stages[stage][pattern as usize], self.virtual_stages());
        let counts = &self.paths[path].operations;
        let chunk = |(chunk, &at): (usize, &usize)| -> u64 {
            let work = self.patterns.chunk(pattern, chunk).1.iter().enumerate();
            work.map(|(kind, &ticks)| u64::from(counts[kind * k + at]) * ticks).sum()
        };
        self.places[stage].iter().enumerate().map(chunk).sum()
    }

    /// The row of a pattern in the dual: θ + Σ u·n − Σ w·part ≤ 0. Columns are paths, prices of layers, and θ of stages.
    fn row(&self, paths: &[usize], (stage, pattern): (usize, u32)) -> Row {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for (column, &path) in paths.iter().enumerate() {
            let part = self.part(path, stage, pattern);
            if part > 0 {
                terms.push((column, -(part as f64) / self.unit));
            }
        }
        let layers = placed(&self.patterns, &self.patterns.stages[stage][pattern as usize]);
        terms.extend(layers.iter().enumerate().filter(|(_, n)| **n > 0).map(|(at, &n)| (paths.len() + at, n as f64)));
        terms.push((paths.len() + self.layers.len() + stage, 1.0));
        Row { terms, sense: Sense::Le, right: 0.0 }
    }

    /// The dual for some paths and patterns, as a minimisation. Prices of layers are limited, so that it is bounded.
    fn dual(&self, active: &Active, steep: f64) -> Program {
        let (paths, segments, stages) = (active.paths.len(), self.layers.len(), self.places.len());
        let constant = |&path: &usize| -(self.paths[path].constant as f64) / self.unit;
        let mut costs: Vec<f64> = active.paths.iter().map(constant).collect();
        costs.extend(self.layers.iter().map(|&n| -(n as f64)));
        costs.extend(std::iter::repeat_n(-1.0, stages));
        let weights = Row { terms: (0..paths).map(|at| (at, 1.0)).collect(), sense: Sense::Eq, right: 1.0 };
        let mut rows = vec![weights];
        for at in paths..paths + segments {
            let limit = |sign: f64| Row { terms: vec![(at, sign)], sense: Sense::Le, right: steep };
            rows.extend([limit(1.0), limit(-1.0)]);
        }
        rows.extend(active.patterns.iter().map(|&pattern| self.row(&active.paths, pattern)));
        let free = (0..paths + segments + stages).map(|at| at >= paths).collect();
        Program { costs, free, rows }
    }

    /// The best prices for the paths of `active`, whose patterns are brought up to date; ends early once the bound reaches
    /// `goal`. `None` if a stage has no allowed pattern or the solver fails at once.
    pub(super) fn price(
        &mut self,
        allowed: &[Vec<u32>],
        active: &mut Active,
        goal: u64,
        steep: f64,
        backend: &mut dyn LpBackend,
    ) -> Option<Priced> {
        let paths = active.paths.len();
        let program = self.dual(active, steep / self.unit);
        let mut best: Option<Priced> = None;
        let mut x = self.start(&program, backend)?;
        for _ in 0..ROUNDS {
            let weights: Vec<(usize, f64)> = active.paths.iter().copied().zip(x.iter().copied()).collect();
            let layers: Vec<f64> = x[paths..paths + self.layers.len()].iter().map(|u| u * self.unit).collect();
            let Proof { bound, exact, cheapest } = Prices::new(self, &weights, &layers).proof(self, allowed)?;
            let value: f64 = program.costs.iter().zip(&x).map(|(cost, x)| -cost * x).sum();
            if best.as_ref().is_none_or(|best| bound > best.bound) {
                best = Some(Priced { bound, weights });
            }
            if bound >= goal || value - exact / self.unit <= DEEP {
                break;
            }
            let dear = |&(stage, &(_, cost)): &(usize, &(u32, f64))| {
                x[paths + self.layers.len() + stage] - cost / self.unit > DEEP / self.places.len() as f64
            };
            let new: Vec<(usize, u32)> =
                cheapest.iter().enumerate().filter(dear).map(|(stage, &(pattern, _))| (stage, pattern)).collect();
            let rows: Vec<Row> = new.iter().map(|&pattern| self.row(&active.paths, pattern)).collect();
            active.patterns.extend(new);
            self.work += (rows.len() * program.costs.len()) as u64;
            match backend.add(&rows) {
                Ok(Some(next)) if !rows.is_empty() => x = next,
                _ => break,
            }
        }
        best
    }

    /// The best mixture of the patterns of `active` for its paths; `None` if there is none.
    pub(super) fn mix(&mut self, active: &Active, backend: &mut dyn LpBackend) -> Option<Mixed> {
        let (columns, stages) = (active.patterns.len(), self.places.len());
        let row = |of: &dyn Fn((usize, u32)) -> f64, sense, right| {
            let all = active.patterns.iter().enumerate().map(|(at, &pattern)| (at, of(pattern)));
            Row { terms: all.filter(|&(_, c)| c != 0.0).collect(), sense, right }
        };
        let mut rows: Vec<Row> =
            (0..stages).map(|stage| row(&|(other, _)| f64::from(u8::from(other == stage)), Sense::Eq, 1.0)).collect();
        for (segment, &layers) in self.layers.iter().enumerate() {
            let own = |(stage, pattern): (usize, u32)| {
                placed(&self.patterns, &self.patterns.stages[stage][pattern as usize])[segment] as f64
            };
            rows.push(row(&own, Sense::Eq, layers as f64));
        }
        for &path in &active.paths {
            let part = |(stage, pattern)| -(self.part(path, stage, pattern) as f64) / self.unit;
            let mut row = row(&part, Sense::Ge, self.paths[path].constant as f64 / self.unit);
            row.terms.push((columns, 1.0));
            rows.push(row);
        }
        let costs = (0..=columns).map(|at| f64::from(u8::from(at == columns))).collect();
        let x = self.start(&Program { costs, free: vec![false; columns + 1], rows }, backend)?;
        let mut mixture = vec![Vec::new(); stages];
        for (&(stage, pattern), &weight) in active.patterns.iter().zip(&x) {
            if weight > UNUSED {
                mixture[stage].push((pattern, weight));
            }
        }
        mixture.iter().all(|own| !own.is_empty()).then(|| Mixed { mixture, makespan: x[columns] * self.unit })
    }

    /// Durations of a mixture, in ticks.
    pub(super) fn durations(&self, mixture: &Mixture) -> Durations<f64> {
        let real = |ticks: &[u64]| ticks.iter().map(|&t| t as f64).collect::<Vec<_>>();
        let Durations { operations, links, tails } = &self.empty;
        let mut durations = Durations { operations: real(operations), links: real(links), tails: real(tails) };
        let k = self.virtual_stages();
        for (stage, weights) in mixture.iter().enumerate() {
            for &(pattern, weight) in weights {
                let pattern = &self.patterns.stages[stage][pattern as usize];
                for (chunk, &at) in self.places[stage].iter().enumerate() {
                    let work = self.patterns.chunk(pattern, chunk).1.iter().enumerate();
                    work.for_each(|(kind, &ticks)| durations.operations[kind * k + at] += weight * ticks as f64);
                }
            }
        }
        durations
    }

    /// Prices of ticks for weights of paths, by place of the durations.
    pub(super) fn prices(&self, weights: &[(usize, f64)]) -> Vec<f64> {
        let mut prices = vec![0.0; self.operations()];
        for &(path, weight) in weights {
            let counts = &self.paths[path].operations;
            prices.iter_mut().zip(counts).for_each(|(price, &count)| *price += weight * f64::from(count));
        }
        prices
    }

    /// The makespan of durations and their critical path.
    pub(super) fn simulate(&mut self, durations: &Durations<f64>) -> (f64, usize) {
        let makespan = self.sweep.run(self.order, durations);
        let path = Path::of(self.order, durations, |at| self.sweep.end(at));
        (makespan, self.learn(&path))
    }

    /// The length of a path, in ticks.
    pub(super) fn length(&self, path: usize, durations: &Durations<f64>) -> f64 {
        let row = &self.paths[path];
        let along = row.operations.iter().zip(&durations.operations).map(|(&n, &t)| f64::from(n) * t).sum::<f64>();
        along + row.constant as f64
    }

    /// By how much a path must be longer than T, in ticks, to cut something off.
    pub(super) fn deep(&self) -> f64 {
        10.0 * DEEP * self.unit
    }
}

/// Layers of each segment of the body in a pattern.
fn placed(patterns: &Patterns, pattern: &Pattern) -> Vec<u64> {
    let mut sum = vec![0; patterns.body.len()];
    for values in pattern.values.chunks(patterns.width) {
        sum.iter_mut().zip(values).for_each(|(sum, layers)| *sum += layers);
    }
    sum
}
