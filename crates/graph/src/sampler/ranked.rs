//! RankedDrop: units go with a probability that follows the rank of a score ([`crate::score`]), calibrated so that the
//! drop rate is what was asked for ([`crate::calibrate`]). Guarded units stay; `--prob FILE` gives the probabilities
//! itself.
//!
//! "RankedDrop: Enhancing Deep Graph Convolutional Networks Training" (Petit, Li, Chai, Petiton; submitted to ICLR 2022,
//! withdrawn) is known by its abstract; the formulas are a reconstruction. β = 0 is DropEdge.

use super::units::{Calibrated, Source, Units};
use super::{
    AutoDirection, Direction, Entry, Prepared, ProbabilityFacts, Ranking, Sampler, SamplerFacts, SamplerOptions,
    TrainLabels,
};
use crate::calibrate::{self, Clip, Curve, Solved, Target};
use crate::draw::{self, Quotas};
use crate::score::{self, ScoreCx};
use crate::{BitMask, Error, Graph, Result, direction, guard, structure, unit_list};
use sapwood_skeleton::Exec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "ranked",
    summary: "drops by the rank of a score: two_stage by default, PageRank then degree (RankedDrop)",
    reads: &[
        "score",
        "beta",
        "direction",
        "alpha",
        "gamma",
        "delta",
        "rank-lambda",
        "draw",
        "stratify",
        "min-degree",
        "keep-forest",
        "always-keep",
        "q-min",
        "q-max",
        "curve",
        "prob",
    ],
    new: |options| Ok(Box::new(Ranked::new(ENTRY.name, options)?)),
};

/// The sampler; `name` is that of the registry line it answers for.
pub(super) struct Ranked {
    name: &'static str,
    options: SamplerOptions,
    score: &'static score::Entry,
}

impl Ranked {
    pub(super) fn new(name: &'static str, options: &SamplerOptions) -> Result<Ranked> {
        options.rates.check()?;
        if !(options.beta >= 0.0 && options.beta.is_finite()) {
            let range = "finite and 0 or more (--direction drop drops high scores first)";
            return Err(Error::Range { flag: "--beta", range, value: options.beta.to_string() });
        }
        options.clip.check()?;
        options.score_options.check()?;
        Ok(Ranked { name, options: options.clone(), score: score::find(&options.score)? })
    }
}

impl Sampler for Ranked {
    fn prepare(&self, exec: Exec<'_>, graph: &Arc<Graph>, train: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let options = &self.options;
        let scores = score::of(self.score, graph, &ScoreCx { exec, options: &options.score_options, train })?;
        let z = calibrate::mid_ranks(&scores)?;
        let (direction, auto) = match options.direction {
            Direction::Auto => direction::decide(graph, &scores, train)?,
            given => (given, None),
        };
        let given = match &options.probabilities {
            Some(path) => Some(Given::read(path, graph)?),
            None => None,
        };
        let source = Probabilities {
            graph: graph.clone(),
            guarded: guard::guarded(&options.guards, graph, &z)?,
            ranking: Ranking { scores, z },
            beta: if direction == Direction::Drop { -options.beta } else { options.beta },
            direction,
            auto,
            curve: options.curve,
            clip: options.clip,
            given,
        };
        Ok(Box::new(Units::new(self.name, options, exec, graph, source)?))
    }
}

/// Probabilities by rank, or given ones.
struct Probabilities {
    graph: Arc<Graph>,
    ranking: Ranking,
    guarded: BitMask,
    /// Negative where high scores go first.
    beta: f64,
    direction: Direction,
    auto: Option<AutoDirection>,
    curve: Curve,
    clip: Clip,
    given: Option<Given>,
}

/// The probabilities of a file.
struct Given {
    q: Vec<f64>,
    file: String,
}

impl Given {
    fn read(path: &std::path::Path, graph: &Graph) -> Result<Given> {
        let file = path.display().to_string();
        let q = unit_list::values(path, graph, "probability")?;
        match q.iter().position(|q| !(0.0..=1.0).contains(q)) {
            Some(unit) => {
                let shown = unit_list::shown(graph, unit as u32);
                Err(Error::file(file, format!("{shown} has probability {}, write one from 0 to 1", q[unit])))
            }
            None => Ok(Given { q, file }),
        }
    }
}

impl Probabilities {
    fn solve(&self, exec: Exec<'_>, p: f64, exact: bool) -> Result<Solved> {
        let units = self.graph.pairs();
        let Some(given) = &self.given else {
            let target =
                if exact { Target::Exact(draw::exact_count(p, units)) } else { Target::Mean(p * units as f64) };
            return calibrate::calibrate(
                exec,
                &self.ranking.z,
                &self.guarded,
                target,
                self.beta,
                self.curve,
                self.clip,
            );
        };
        let sum = self.unguarded_sum(given);
        if !exact || sum.fract() == 0.0 {
            let free = |(e, &q): (usize, &f64)| if self.guarded.get(e) { 0.0 } else { q };
            return Ok(Solved { q: given.q.iter().enumerate().map(free).collect(), offset: None, sum });
        }
        calibrate::shifted(exec, &given.q, &self.guarded, Target::Exact((sum + 0.5).floor() as u64))
    }

    /// What the given probabilities of the unguarded units sum to; a whole number if it is one but for rounding.
    fn unguarded_sum(&self, given: &Given) -> f64 {
        let sum: f64 = (0..given.q.len()).filter(|&e| !self.guarded.get(e)).map(|e| given.q[e]).sum();
        if (sum - sum.round()).abs() <= 1e-9 * sum.max(1.0) { sum.round() } else { sum }
    }

    fn notes(&self, facts: &SamplerFacts, wanted: u64, exact: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(given) = &self.given {
            let sum = self.unguarded_sum(given);
            if exact && sum.fract() != 0.0 {
                let (file, sum) = (&given.file, (sum * 1e9).round() / 1e9); // without the digits that adding made
                notes.push(format!("{file}: the probabilities sum to {sum}; moved together to {}", facts.k));
            }
        } else if facts.k < wanted {
            let left = facts.units - self.guarded.count_ones() as u64;
            let asked = wanted as f64 / facts.units.max(1) as f64;
            let got = facts.achieved_p;
            notes.push(format!("guards leave {left} of {} units: p is {got:.4} instead of {asked:.4}", facts.units));
        }
        let chance = structure::expected_isolated(&self.graph, |_| facts.achieved_p);
        if facts.isolated_expected > (1.2 * chance).max(chance + 1.0) {
            let expected = facts.isolated_expected;
            notes.push(format!(
                "leaves {expected:.1} nodes without an edge if drops are independent, {chance:.1} with one probability for all: this \
                 choice isolates more nodes than chance does"
            ));
        }
        notes
    }
}

impl Source for Probabilities {
    fn at(&self, exec: Exec<'_>, p: f64, exact: bool) -> Result<Calibrated> {
        let solved = self.solve(exec, p, exact)?;
        let quotas = if exact {
            Quotas::from_probabilities(&solved.q, solved.sum.round() as u64)?
        } else {
            Quotas::independent(&solved.q)?
        };
        Ok(Calibrated { quotas: Arc::new(quotas), offset: solved.offset })
    }

    fn ranking(&self) -> Option<&Ranking> {
        Some(&self.ranking)
    }

    fn tilt(&self, exec: Exec<'_>, p: f64) -> Result<Vec<f64>> {
        let pure = self.given.is_none() && self.clip.is_whole() && self.guarded.count_ones() == 0;
        if pure && self.curve == Curve::Sigmoid {
            return Ok(self.ranking.z.iter().map(|z| self.beta * z).collect());
        }
        Ok(self.solve(exec, p, true)?.q.into_iter().map(|q| -calibrate::logit(q)).collect())
    }

    fn complete(&self, mut facts: SamplerFacts, exact: bool) -> SamplerFacts {
        let wanted = draw::exact_count(facts.p, facts.units);
        match self.given {
            Some(_) => facts.p = facts.q.map_or(facts.achieved_p, |q: ProbabilityFacts| q.mean),
            None => {
                facts.beta = Some(self.beta.abs());
                facts.direction = Some(self.direction);
                facts.auto = self.auto.clone();
            }
        }
        facts.notes = self.notes(&facts, wanted, exact);
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, GraphOptions};
    use sapwood_skeleton::Runtime;

    #[test]
    fn tilts_order_units_as_their_probabilities_do() {
        let ends = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)];
        let edges = ends.iter().map(|&(from, to)| Edge { from, to, weight: 1.0 }).collect();
        let graph = Arc::new(Graph::build(5, edges, GraphOptions::default()).unwrap().0);
        let z = calibrate::mid_ranks(&[3.0, 1.0, 2.0, 5.0, 4.0]).unwrap();
        let runtime = Runtime::sequential().unwrap();
        let mut source = Probabilities {
            graph,
            guarded: BitMask::new(5, false),
            ranking: Ranking { scores: z.clone(), z: z.clone() },
            beta: 2.0,
            direction: Direction::Keep,
            auto: None,
            curve: Curve::Sigmoid,
            clip: Clip::default(),
            given: None,
        };
        let plain = source.tilt(runtime.exec(), 0.4).unwrap();
        assert_eq!(plain, z.iter().map(|z| 2.0 * z).collect::<Vec<_>>());
        // with q the tilt is -logit(q) = beta z - a, the same but for a constant
        source.clip.max = 0.999;
        let by_q = source.tilt(runtime.exec(), 0.4).unwrap();
        let offsets: Vec<f64> = by_q.iter().zip(&plain).map(|(a, b)| a - b).collect();
        assert!(offsets.iter().all(|a| (a - offsets[0]).abs() < 1e-9), "{offsets:?}");
        source.guarded.set(1, true);
        assert_eq!(source.tilt(runtime.exec(), 0.4).unwrap()[1], f64::INFINITY, "a guarded unit never goes");
    }
}
