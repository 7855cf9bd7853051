//! What a plan takes, as formulas: the times and the memory of each virtual stage, the peak of each stage, and the makespan.
//!
//! | symbol | what |
//! |---|---|
//! | `x[ℓ,r,κ]` | layers of segment ℓ with the kind r of recomputation in virtual stage κ |
//! | `f[ℓ]`, `b[ℓ]` | forward and backward time of a layer; `bi[ℓ]`, `bw[ℓ]` the parts of the backward where it is split |
//! | `rec[ℓ,r]`, `act[ℓ,r]`, `tr[ℓ,r]` | time of its recomputation, memory it keeps, memory its backward needs on top |
//! | `par[ℓ]` | memory of its parameters |
//! | `const[s]`, `tail[s]`, `link` | memory and work at the end of stage s, time of a transfer |
//!
//! From these come `F[κ]`, `B[κ]`, `W[κ]`, `A[κ]`, `tr[κ]`, `P[s]`, `peak[s]` and `T`, by the specification's section 2.1.
//! The peak is that of the live micro-batches that decide it, the makespan the sum along the critical path. Values are worked
//! out in whole ticks from the formulas, and are what the simulator found.

use crate::cost_expr::{CostExpr, Env, SymbolId};
use crate::outcome::Outcome;
use crate::problem::{Item, Problem};
use crate::simulate::path::Path;
use crate::simulate::{Live, Order, Vectors};
use crate::ticks::Ticks;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// A formula and its value, in the units of the model.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Formula {
    /// The stage that it is about; none for the makespan.
    pub stage: Option<usize>,
    /// What it is: `F[3]`.
    pub name: String,
    /// In symbols. [`CostExpr`] reads it.
    pub expression: String,
    /// With numbers in place of the symbols.
    pub substituted: String,
    /// What it comes to.
    pub value: f64,
}

/// The formulas of a partition, given as counts by virtual stage and item of `problem`, and of its `outcome`: those of each
/// stage, at last the makespan, which is left out where transfers are rendezvous. A virtual stage's formulas have only the
/// symbols of layers that it has.
///
/// # Errors
/// [`Error::Problem`] if `outcome` is not that of the counts, [`Error::Cost`] beyond u64.
pub fn formulas(problem: &Problem, order: &Order, counts: &[u32], outcome: &Outcome) -> Result<Vec<Formula>> {
    let other = || Error::Problem { what: "the outcome is that of another partition".to_owned() };
    let (dims, placement) = (order.dims(), order.shape().placement);
    if counts.len() != dims.virtual_stages() * problem.items().len() || outcome.peaks.len() != dims.stages {
        return Err(other());
    }
    let mut writer = Writer::new(problem, order, counts);
    let vectors = Vectors::new(order);
    for stage in 0..dims.stages {
        let own: Vec<usize> =
            (0..dims.chunks).map(|chunk| placement.virtual_stage(stage, chunk, dims.stages)).collect();
        own.iter().try_for_each(|&at| writer.virtual_stage(stage, at))?;
        writer.parameters(stage, &own)?;
        let peak = writer.peak(stage, &own, vectors.of(stage))?;
        if peak != outcome.peaks[stage].total() {
            return Err(other());
        }
    }
    if let Some(trace) = &outcome.trace
        && writer.makespan(&trace.path)? != outcome.makespan
    {
        return Err(other());
    }
    Ok(writer.found)
}

struct Writer<'a> {
    problem: &'a Problem,
    order: &'a Order,
    rows: Vec<&'a [u32]>,
    /// Names of segments, and of their kinds, as symbols have them.
    segments: Vec<String>,
    kinds: Vec<Vec<String>>,
    ticks: Env<u64>,
    shown: Env,
    found: Vec<Formula>,
}

/// A count, and what one of it costs.
type Part = (CostExpr, CostExpr);

impl<'a> Writer<'a> {
    fn new(problem: &'a Problem, order: &'a Order, counts: &'a [u32]) -> Writer<'a> {
        let segments = &problem.model().segments;
        let kinds = segments.iter().map(|s| subscripts(s.kinds.iter().map(|kind| kind.name.as_str())));
        Writer {
            problem,
            order,
            rows: counts.chunks(problem.items().len().max(1)).collect(),
            segments: subscripts(segments.iter().map(|s| s.name.as_str())),
            kinds: kinds.collect(),
            ticks: Env::new(),
            shown: Env::new(),
            found: Vec::new(),
        }
    }

    fn symbol(&mut self, name: &str, ticks: u64, shown: f64) -> CostExpr {
        let symbol = SymbolId::new(name);
        self.ticks.bind(symbol.clone(), ticks);
        self.shown.bind(symbol.clone(), shown);
        CostExpr::Symbol(symbol)
    }

    fn time(&mut self, name: &str, ticks: u64) -> CostExpr {
        self.symbol(name, ticks, self.problem.time().show(ticks))
    }

    fn memory(&mut self, name: &str, ticks: u64) -> CostExpr {
        self.symbol(name, ticks, self.problem.memory().show(ticks))
    }

    /// Adds a formula, whose name is a symbol of those after it; its value in ticks.
    fn add(&mut self, stage: Option<usize>, name: &str, expression: &CostExpr, unit: Ticks) -> Result<u64> {
        let ticks = expression.eval_whole(&self.ticks)?;
        let value = unit.show(ticks);
        self.found.push(Formula {
            stage,
            name: name.to_owned(),
            expression: expression.to_string(),
            substituted: expression.substitute(&self.shown).to_string(),
            value,
        });
        self.symbol(name, ticks, value);
        Ok(ticks)
    }

    /// F, B, W where it is apart, A, and the transient where there is one.
    fn virtual_stage(&mut self, stage: usize, at: usize) -> Result<()> {
        let (time, memory, split) = (self.problem.time(), self.problem.memory(), self.order.shape().splits_backward);
        let forward = self.sum(&[at], |writer, item| writer.of_segment("f", item, item.forward));
        self.add(Some(stage), &format!("F[{at}]"), &forward, time)?;
        let input = if split { "bi" } else { "b" };
        let backward = self.sum(&[at], |writer, item| {
            let apart = if split { item.weight } else { 0 };
            let own = writer.of_segment(input, item, item.backward - apart);
            let again = (item.extra > 0).then(|| {
                let name = writer.of_kind("rec", item);
                writer.time(&name, item.extra)
            });
            added(std::iter::once(own).chain(again).collect())
        });
        self.add(Some(stage), &format!("B[{at}]"), &backward, time)?;
        if split {
            let weight = self.sum(&[at], |writer, item| writer.of_segment("bw", item, item.weight));
            self.add(Some(stage), &format!("W[{at}]"), &weight, time)?;
        }
        let kept = self.sum(&[at], |writer, item| {
            let name = writer.of_kind("act", item);
            writer.memory(&name, item.activation)
        });
        self.add(Some(stage), &format!("A[{at}]"), &kept, memory)?;
        self.transient(stage, at)
    }

    /// The transient of the largest recomputed layer, if there is one.
    fn transient(&mut self, stage: usize, at: usize) -> Result<()> {
        let present = self.present(at).into_iter().filter(|item| item.transient > 0).collect::<Vec<_>>();
        let mut all = Vec::new();
        for item in present {
            let name = self.of_kind("tr", &item);
            all.push(self.memory(&name, item.transient));
        }
        let largest = match &all[..] {
            [] => return Ok(()),
            [only] => only.clone(),
            _ => CostExpr::Max(all),
        };
        self.add(Some(stage), &format!("tr[{at}]"), &largest, self.problem.memory()).map(drop)
    }

    /// P: what the stage always has.
    fn parameters(&mut self, stage: usize, own: &[usize]) -> Result<()> {
        let constant = self.problem.constant()[stage];
        let constant = (constant > 0).then(|| self.memory(&format!("const[{stage}]"), constant));
        let layers = self.sum(own, |writer, item| {
            let name = format!("par[{}]", writer.segments[item.segment]);
            writer.memory(&name, item.parameters)
        });
        let layers = match layers {
            CostExpr::Sum(terms) => terms,
            other => vec![other],
        };
        let all = added(constant.into_iter().chain(layers).collect());
        self.add(Some(stage), &format!("P[{stage}]"), &all, self.problem.memory()).map(drop)
    }

    /// The peak: the first of the live vectors that need most.
    fn peak(&mut self, stage: usize, own: &[usize], moments: &[Live]) -> Result<u64> {
        let mut best: Option<(u64, CostExpr)> = None;
        for live in moments {
            let counts = own.iter().zip(&live.chunks).filter(|&(_, &count)| count > 0);
            let kept = counts.map(|(at, &count)| times(count, CostExpr::symbol(&format!("A[{at}]"))));
            let transient = live.backward.map(|chunk| SymbolId::new(&format!("tr[{}]", own[chunk as usize])));
            let transient = transient.filter(|symbol| self.ticks.get(symbol).is_some()).map(CostExpr::Symbol);
            let always = CostExpr::symbol(&format!("P[{stage}]"));
            let all = added(std::iter::once(always).chain(kept).chain(transient).collect());
            let ticks = all.eval_whole(&self.ticks)?;
            if best.as_ref().is_none_or(|&(most, _)| ticks > most) {
                best = Some((ticks, all));
            }
        }
        let (_, all) = best.unwrap_or_else(|| (0, CostExpr::symbol(&format!("P[{stage}]"))));
        self.add(Some(stage), &format!("peak[{stage}]"), &all, self.problem.memory())
    }

    /// The makespan: how often each operation and transfer is on the critical path.
    fn makespan(&mut self, path: &Path) -> Result<u64> {
        let k = self.order.dims().virtual_stages();
        let mut terms = Vec::new();
        for (place, &count) in path.operations.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let letter = ["F", "B", "W"][place / k];
            terms.push(times(count, CostExpr::symbol(&format!("{letter}[{}]", place % k))));
        }
        let (link, tail) = (self.problem.link(), self.problem.tails()[path.stage]);
        let hops: u32 = path.links.iter().sum();
        if hops > 0 && link > 0 {
            terms.push(times(hops, self.time("link", link)));
        }
        if tail > 0 {
            terms.push(self.time(&format!("tail[{}]", path.stage), tail));
        }
        self.add(None, "T", &added(terms), self.problem.time())
    }

    /// The items that a virtual stage has layers of.
    fn present(&self, at: usize) -> Vec<Item> {
        let present = self.problem.items().iter().zip(self.rows[at]).filter(|&(_, &count)| count > 0);
        present.map(|(item, _)| *item).collect()
    }

    /// Σ cost of a layer · layers over the items of some virtual stages, those of one cost together.
    fn sum(&mut self, own: &[usize], cost: impl Fn(&mut Self, &Item) -> CostExpr) -> CostExpr {
        let mut parts: Vec<Part> = Vec::new();
        for (place, item) in self.problem.items().iter().enumerate() {
            for &at in own {
                let count = self.rows[at][place];
                if count > 0 {
                    let name =
                        format!("x[{},{},{at}]", self.segments[item.segment], self.kinds[item.segment][item.kind]);
                    let layers = self.symbol(&name, u64::from(count), f64::from(count));
                    parts.push((layers, cost(self, item)));
                }
            }
        }
        let together = |group: &[Part]| {
            let layers = added(group.iter().map(|(layers, _)| layers.clone()).collect());
            CostExpr::Product(vec![group[0].1.clone(), layers])
        };
        added(parts.chunk_by(|a, b| a.1 == b.1).map(together).collect())
    }

    fn of_segment(&mut self, letter: &str, item: &Item, ticks: u64) -> CostExpr {
        let name = format!("{letter}[{}]", self.segments[item.segment]);
        self.time(&name, ticks)
    }

    fn of_kind(&self, letter: &str, item: &Item) -> String {
        format!("{letter}[{},{}]", self.segments[item.segment], self.kinds[item.segment][item.kind])
    }
}

/// The sum of all: 0 of none.
fn added(mut terms: Vec<CostExpr>) -> CostExpr {
    match terms.len() {
        0 => CostExpr::Const(0.0),
        1 => terms.remove(0),
        _ => CostExpr::Sum(terms),
    }
}

fn times(count: u32, expression: CostExpr) -> CostExpr {
    if count == 1 { expression } else { CostExpr::Product(vec![CostExpr::Const(f64::from(count)), expression]) }
}

/// Names as they can stand between the brackets of a symbol: `#3` for one that could be mistaken for something else.
fn subscripts<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    names.clone().for_each(|name| *uses.entry(name).or_default() += 1);
    let plain = |name: &str| {
        let strange = |c: char| matches!(c, ',' | '[' | ']' | '`') || c.is_control();
        uses.get(name) == Some(&1) && !name.is_empty() && !name.starts_with('#') && !name.contains(strange)
    };
    names.enumerate().map(|(at, name)| if plain(name) { name.to_owned() } else { format!("#{at}") }).collect()
}
