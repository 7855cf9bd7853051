//! What all samplers that drop whole units share: rates over epochs and layers, probabilities for each rate, the draw.
//!
//! A sampler only says where its probabilities come from ([`Source`]); [`Units`] does the rest. Probabilities are
//! worked out once for each rate and kept, since most runs have one.

use super::{
    DrawBuffers, DrawKey, Per, Prepared, ProbabilityFacts, Ranking, Rates, Sampled, SamplerFacts, SamplerOptions,
};
use crate::draw::{self, Quotas};
use crate::{Error, Graph, Result, structure};
use sapwood_skeleton::Exec;
use std::sync::{Arc, Mutex, PoisonError};

/// Probabilities at one rate.
#[derive(Debug, Clone)]
pub(super) struct Calibrated {
    /// As integers, ready to be drawn.
    pub(super) quotas: Arc<Quotas>,
    /// The offset that gives them their sum, if there is one.
    pub(super) offset: Option<f64>,
}

/// Where the probabilities of the units of a graph come from.
pub(super) trait Source: Send + Sync {
    /// The probabilities at drop rate `p`: with ⌊p·m + ½⌋ units in the sum if `exact`, else p·m. Fewer if guards leave
    /// fewer.
    fn at(&self, exec: Exec<'_>, p: f64, exact: bool) -> Result<Calibrated>;

    /// The scores that the probabilities follow.
    fn ranking(&self) -> Option<&Ranking> {
        None
    }

    /// What is added to logit(u_e) to make the keys of draws that nest: the units with the smallest keys go. βz, or
    /// −logit(q) at rate `p` where q is not that of a plain sigmoid; ∞ for a unit that never goes.
    #[cfg_attr(not(test), expect(dead_code, reason = "draws that nest are wired with the registry of draws"))]
    fn tilt(&self, exec: Exec<'_>, p: f64) -> Result<Vec<f64>>;

    /// Adds what this source alone knows.
    fn complete(&self, facts: SamplerFacts) -> SamplerFacts {
        facts
    }
}

/// A prepared sampler that drops units.
pub(super) struct Units<S> {
    source: S,
    rates: Rates,
    epochs: u32,
    per: Per,
    /// What `--p auto` came to.
    auto: f64,
    facts: SamplerFacts,
    known: Mutex<Vec<(f64, Arc<Calibrated>)>>,
}

/// Rates whose probabilities are kept at a time.
const KEPT: usize = 16;

impl<S: Source> Units<S> {
    pub(super) fn new(
        name: &'static str,
        options: &SamplerOptions,
        exec: Exec<'_>,
        graph: &Arc<Graph>,
        source: S,
    ) -> Result<Units<S>> {
        check(options)?;
        let mut units = Units {
            source,
            rates: options.rates.clone(),
            epochs: options.epochs,
            per: options.per,
            auto: 0.0,
            facts: SamplerFacts::plain(name, 0.0, graph.pairs(), 0, 0.0),
            known: Mutex::default(),
        };
        if options.rates == Rates::Auto {
            units.auto = units.largest_harmless(exec, graph)?;
        }
        let p = units.rate(&DrawKey { seed: 0, epoch: 1, layer: 1, micro: 0 });
        let first = units.calibrated(exec, p)?;
        let facts = SamplerFacts::plain(name, p, graph.pairs(), first.quotas.k(), expected_isolated(graph, &first));
        let facts = SamplerFacts { q: Some(probability_facts(&first)), ..facts };
        units.facts = units.source.complete(facts);
        Ok(units)
    }

    fn rate(&self, key: &DrawKey) -> f64 {
        self.rates.at(key.epoch, self.epochs, key.layer, self.auto)
    }

    fn calibrated(&self, exec: Exec<'_>, p: f64) -> Result<Arc<Calibrated>> {
        let find = |known: &[(f64, Arc<Calibrated>)]| known.iter().find(|(at, _)| *at == p).map(|(_, c)| c.clone());
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&lock()) {
            return Ok(found);
        }
        let made = Arc::new(self.source.at(exec, p, true)?);
        let mut known = lock();
        if known.len() == KEPT {
            known.remove(0);
        }
        known.push((p, made.clone()));
        Ok(made)
    }

    /// The largest of 0.01, 0.02, … that isolates at most 2 % of the nodes more than the whole graph does (in
    /// expectation); 0 if none does.
    fn largest_harmless(&self, exec: Exec<'_>, graph: &Graph) -> Result<f64> {
        let allowed = structure::expected_isolated(graph, |_| 0.0) + 0.02 * graph.nodes() as f64;
        let mut best = 0.0;
        for percent in 1..=99 {
            let p = f64::from(percent) / 100.0;
            if expected_isolated(graph, &self.source.at(exec, p, true)?) > allowed {
                break;
            }
            best = p;
        }
        Ok(best)
    }
}

/// Refuses schedules that do not go with the layers.
fn check(options: &SamplerOptions) -> Result<()> {
    options.rates.check()?;
    let Rates::Layers(rates) = &options.rates else { return Ok(()) };
    let wrong =
        |what: String| Err(Error::Range { flag: "--p", range: "a list with one rate for each layer", value: what });
    if options.per == Per::Epoch {
        return wrong(format!("{} with --per epoch, where all layers share a draw", options.rates));
    }
    if rates.len() != usize::from(options.layers) {
        return wrong(format!("{}: {} rates for {} layers", options.rates, rates.len(), options.layers));
    }
    Ok(())
}

fn expected_isolated(graph: &Graph, calibrated: &Calibrated) -> f64 {
    structure::expected_isolated(graph, |unit| calibrated.quotas.probability(unit))
}

fn probability_facts(calibrated: &Calibrated) -> ProbabilityFacts {
    let quotas = &calibrated.quotas;
    let all = || (0..quotas.units() as u32).map(|unit| quotas.probability(unit));
    let sum: f64 = all().sum();
    ProbabilityFacts {
        min: all().reduce(f64::min).unwrap_or(0.0),
        mean: if quotas.units() == 0 { 0.0 } else { sum / quotas.units() as f64 },
        max: all().reduce(f64::max).unwrap_or(0.0),
        offset: calibrated.offset,
    }
}

impl<S: Source> Prepared for Units<S> {
    fn kept<'a>(&self, exec: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        let calibrated = self.calibrated(exec, self.rate(&key))?;
        if calibrated.quotas.k() == 0 {
            return Ok(Sampled::All);
        }
        draw::systematic(exec, &calibrated.quotas, key, &mut buffers.scratch, &mut buffers.mask)?;
        Ok(Sampled::Pairs(&buffers.mask))
    }

    fn facts(&self) -> SamplerFacts {
        self.facts.clone()
    }

    fn per_layer(&self) -> bool {
        self.per != Per::Epoch
    }

    fn quotas(&self, exec: Exec<'_>, key: DrawKey) -> Result<Option<Arc<Quotas>>> {
        key.b()?;
        let calibrated = self.calibrated(exec, self.rate(&key))?;
        Ok(Some(calibrated.quotas.clone()))
    }

    fn ranking(&self) -> Option<&Ranking> {
        self.source.ranking()
    }
}
