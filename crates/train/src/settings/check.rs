//! Values against their ranges, names against the lists of valid ones.

use super::{AfterDraw, Dtype, Recompute, Request};
use crate::model::{self, Aggregator, Jump, ModelOptions, NormLayer};
use crate::optimiser::{self, L2On, OptimiserOptions};
use crate::{Error, Result};

/// A number within a range.
pub(super) fn whole<N: PartialOrd + std::fmt::Display>(
    flag: &'static str,
    value: N,
    allowed: std::ops::RangeInclusive<N>,
    range: &'static str,
) -> Result<N> {
    if allowed.contains(&value) { Ok(value) } else { Err(Error::Range { flag, range, value: value.to_string() }) }
}

/// A finite number that is allowed.
pub(super) fn real(flag: &'static str, value: f64, allowed: impl Fn(f64) -> bool, range: &'static str) -> Result<f64> {
    if value.is_finite() && allowed(value) {
        Ok(value)
    } else {
        Err(Error::Range { flag, range, value: value.to_string() })
    }
}

/// The value that `name` stands for; the first where nothing was said.
fn one_of<V: Copy>(what: &'static str, name: Option<&str>, known: &[(&'static str, V)]) -> Result<V> {
    let Some(name) = name else { return Ok(known[0].1) };
    let found = known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| sapwood_graph::Error::unknown(what, name, known.iter().map(|(name, _)| *name)).into())
}

pub(super) fn after(name: Option<&str>) -> Result<AfterDraw> {
    let known = [("renorm", AfterDraw::Renorm), ("fixed", AfterDraw::Fixed), ("unbiased", AfterDraw::Unbiased)];
    one_of("normalisation after a draw", name, &known)
}

pub(super) fn dtype(name: Option<&str>) -> Result<Dtype> {
    one_of("number type", name, &[("f32", Dtype::F32), ("f64", Dtype::F64)])
}

pub(super) fn recompute(name: Option<&str>) -> Result<Recompute> {
    let known = [("none", Recompute::None), ("full", Recompute::Full), ("auto", Recompute::Auto)];
    one_of("way to recompute", name, &known)
}

pub(super) fn l2_on(name: Option<&str>) -> Result<L2On> {
    one_of("cover of L2", name, &[("weights", L2On::Weights), ("all", L2On::All)])
}

/// The options of the model; what was given without its model reading it is refused.
pub(super) fn model_options(request: &Request, entry: &model::Entry) -> Result<ModelOptions> {
    let given = [
        ("with-self", request.with_self),
        ("norm-layer", request.norm_layer.as_deref().is_some_and(|name| name != "none")),
        ("jk", request.jk.is_some()),
        ("aggregator", request.aggregator.is_some()),
        ("prop-steps", request.prop_steps.is_some()),
        ("teleport", request.teleport.is_some()),
        ("lambda", request.lambda.is_some()),
    ];
    read(&given, entry.reads, "model", entry.name, &|flag| {
        model::ALL.iter().filter(|e| e.reads.contains(&flag)).map(|e| e.name).collect()
    })?;
    let base = ModelOptions::default();
    let norms = [
        ("none", NormLayer::None),
        ("batch", NormLayer::Batch),
        ("layer", NormLayer::Layer),
        ("pair", NormLayer::Pair),
    ];
    let aggregators = [("mean", Aggregator::Mean), ("max", Aggregator::Max)];
    let share = |v| (0.0..=1.0).contains(&v);
    Ok(ModelOptions {
        with_self: request.with_self,
        norm_layer: one_of("norm layer", request.norm_layer.as_deref(), &norms)?,
        jk: one_of("way to join layers", request.jk.as_deref(), &[("concat", Jump::Concat), ("max", Jump::Max)])?,
        aggregator: one_of("aggregator", request.aggregator.as_deref(), &aggregators)?,
        prop_steps: whole("--prop-steps", request.prop_steps.unwrap_or(base.prop_steps), 1..=4095, "from 1 to 4095")?,
        teleport: real("--teleport", request.teleport.unwrap_or(base.teleport), share, "from 0 to 1")?,
        lambda: real("--lambda", request.lambda.unwrap_or(base.lambda), |v| v >= 0.0, "0 or more and finite")?,
    })
}

/// The options of the optimiser; what was given without its optimiser reading it is refused.
pub(super) fn optimiser_options(request: &Request, entry: &optimiser::Entry) -> Result<OptimiserOptions> {
    let given = [("momentum", request.momentum.is_some()), ("nesterov", request.nesterov)];
    read(&given, entry.reads, "optimiser", entry.name, &|flag| {
        optimiser::ALL.iter().filter(|e| e.reads.contains(&flag)).map(|e| e.name).collect()
    })?;
    let momentum = request.momentum.unwrap_or(OptimiserOptions::default().momentum);
    let options = OptimiserOptions { momentum, nesterov: request.nesterov };
    options.check()?;
    Ok(options)
}

/// Refuses a flag that was given and is not read.
fn read(
    given: &[(&'static str, bool)],
    reads: &[&str],
    kind: &str,
    name: &str,
    readers: &dyn Fn(&str) -> Vec<&'static str>,
) -> Result<()> {
    match given.iter().find(|(flag, given)| *given && !reads.contains(flag)) {
        Some((flag, _)) => Err(Error::Settings(format!(
            "--{flag} has no meaning for --{kind} {name}; it is read by {}",
            readers(flag).join(", ")
        ))),
        None => Ok(()),
    }
}
