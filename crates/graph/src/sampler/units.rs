//! What all samplers that drop whole units share: rates over epochs and layers, probabilities for each rate, the draw.
//!
//! A sampler only says where its probabilities come from ([`Source`]); [`Units`] does the rest. Probabilities are
//! worked out once for each rate and kept, since most runs have one.

use super::{
    DrawBuffers, DrawKey, Per, Prepared, ProbabilityFacts, Ranking, Rates, Sampled, SamplerFacts, SamplerOptions,
    Stratify,
};
use crate::draw::{self, Job, Order, Quotas, Strata};
use crate::{Error, Graph, Result, structure};
use sapwood_skeleton::{Exec, math};
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

    /// What nested draws add to logit(u): the units with the smallest sums go, so that unit e goes with a probability
    /// near σ(a − tilt_e). By default −logit(q_e) of the probabilities at `p`, the largest rate.
    fn tilt(&self, exec: Exec<'_>, p: f64) -> Result<Vec<f64>> {
        let quotas = self.at(exec, p, true)?.quotas;
        let logit = |q: f64| math::ln_f64(q) - math::ln_f64(1.0 - q);
        Ok((0..quotas.units() as u32).map(|unit| -logit(quotas.probability(unit))).collect())
    }

    /// The scores that the probabilities follow.
    fn ranking(&self) -> Option<&Ranking> {
        None
    }

    /// Adds what this source alone knows, and whether the draw has an exact count.
    fn complete(&self, facts: SamplerFacts, _exact: bool) -> SamplerFacts {
        facts
    }
}

/// A prepared sampler that drops units.
pub(super) struct Units<S> {
    source: S,
    graph: Arc<Graph>,
    /// Whether `graph` takes the place of the one it was prepared for.
    own_graph: bool,
    draw: &'static draw::Entry,
    order: Order,
    /// For nested draws.
    tilt: Vec<f64>,
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
            order: order(options.stratify, &source)?,
            source,
            graph: graph.clone(),
            own_graph: false,
            draw: draw::find(&options.draw)?,
            tilt: Vec::new(),
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
        units.facts = units.facts_at(exec, DrawKey { seed: 0, epoch: 1, layer: 1, micro: 0 })?;
        if units.per == Per::LayerNested {
            units.tilt = units.source.tilt(exec, units.rates.largest(units.auto))?;
        }
        Ok(units)
    }

    /// The same, its graph taking the place of the one the sampler was prepared for.
    pub(super) fn on_own_graph(self) -> Units<S> {
        Units { own_graph: true, ..self }
    }

    fn rate(&self, key: &DrawKey) -> Result<f64> {
        if let Rates::Layers(rates) = &self.rates
            && usize::from(key.layer) > rates.len()
        {
            let value = format!("{} with the rates {}", key.layer, self.rates);
            return Err(Error::Range { flag: "layer", range: "one that has a rate", value });
        }
        Ok(self.rates.at(key.epoch, self.epochs, key.layer, self.auto))
    }

    fn calibrated(&self, exec: Exec<'_>, p: f64) -> Result<Arc<Calibrated>> {
        let find = |known: &[(f64, Arc<Calibrated>)]| known.iter().find(|(at, _)| *at == p).map(|(_, c)| c.clone());
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&lock()) {
            return Ok(found);
        }
        let made = Arc::new(self.source.at(exec, p, self.draw.exact)?);
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
            let calibrated = self.source.at(exec, p, true)?;
            let guarded = calibrated.quotas.k() < draw::exact_count(p, graph.pairs());
            if guarded || expected_isolated(graph, &calibrated) > allowed {
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
    if options.per == Per::LayerNested
        && let Some(w) = rates.windows(2).find(|w| w[1] > w[0])
    {
        let range =
            "a list that does not rise, since with --per layer-nested a layer keeps all that the one before keeps";
        return Err(Error::Range {
            flag: "--p",
            range,
            value: format!("{}, where {} follows {}", options.rates, w[1], w[0]),
        });
    }
    Ok(())
}

fn order(stratify: Stratify, source: &impl Source) -> Result<Order> {
    match stratify {
        Stratify::None => Ok(Order::Hash),
        Stratify::Node => Ok(Order::Node),
        Stratify::Score => {
            let ranking = source.ranking().ok_or(Error::Range {
                flag: "--stratify",
                range: "none or node for a sampler without scores",
                value: "score".into(),
            })?;
            let last = ranking.z.len().saturating_sub(1) as f64;
            let ranks: Vec<f64> = ranking.z.iter().map(|z| ((z + 1.0) * 0.5 * last).clamp(0.0, last)).collect();
            Ok(Order::Score(Strata::new(&ranks)?))
        }
    }
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
        let calibrated = self.calibrated(exec, self.rate(&key)?)?;
        let quotas = &*calibrated.quotas;
        if quotas.is_zero() {
            return Ok(Sampled::All);
        }
        let DrawBuffers { mask, scratch } = buffers;
        if self.per == Per::LayerNested {
            draw::nested(exec, &self.tilt, quotas.k(), key, scratch, mask)?;
        } else {
            let job = Job { exec, graph: &self.graph, quotas, order: &self.order, key };
            (self.draw.draw)(&job, scratch, mask)?;
        }
        Ok(Sampled::Pairs(mask))
    }

    fn facts(&self) -> SamplerFacts {
        self.facts.clone()
    }

    fn facts_at(&self, exec: Exec<'_>, key: DrawKey) -> Result<SamplerFacts> {
        let p = self.rate(&key)?;
        let calibrated = self.calibrated(exec, p)?;
        let isolated = expected_isolated(&self.graph, &calibrated);
        let q = probability_facts(&calibrated);
        let facts = SamplerFacts::plain(self.facts.name, p, self.graph.pairs(), calibrated.quotas.k(), isolated);
        let achieved_p = if self.draw.exact { facts.achieved_p } else { q.mean };
        Ok(self.source.complete(SamplerFacts { q: Some(q), achieved_p, ..facts }, self.draw.exact))
    }

    fn never_drops(&self) -> bool {
        self.facts.k == 0 && self.rates.largest(self.auto) == 0.0
    }

    fn graph(&self) -> Option<&Arc<Graph>> {
        self.own_graph.then_some(&self.graph)
    }

    fn per_layer(&self) -> bool {
        self.per != Per::Epoch
    }

    fn quotas(&self, exec: Exec<'_>, key: DrawKey) -> Result<Option<Arc<Quotas>>> {
        key.b()?;
        let calibrated = self.calibrated(exec, self.rate(&key)?)?;
        Ok(Some(calibrated.quotas.clone()))
    }

    fn ranking(&self) -> Option<&Ranking> {
        self.source.ranking()
    }
}
