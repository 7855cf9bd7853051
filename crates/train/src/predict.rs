//! The classes that a saved network gives to the nodes of a graph.

use crate::checkpoint::{self, Latest, State};
use crate::features::Features;
use crate::layer::{Cx, Drawn, Mode};
use crate::network::Pass;
use crate::number::Number;
use crate::rows::Partials;
use crate::settings::{Registries, Settings};
use crate::{Arena, Error, Result, evaluate, model};
use sapwood_graph::{DrawKey, FeatureMatrix, Graph, Operator, TrainLabels, sampler};
use sapwood_skeleton::Exec;
use std::sync::Arc;

/// The class of each node of `graph` with `features`, by the weights of the epoch chosen in a checkpoint, without dropout on
/// the whole graph; [`evaluate::BROKEN`] where a logit is not finite. `settings` are those of the checkpoint:
/// [`Settings::restore`]. A sampler that has a graph of its own makes it of this one; it gets to see no label.
///
/// # Errors
/// When the features have another width than those of training, the checkpoint is damaged, or a layer fails.
pub fn predict<T: Number>(
    exec: Exec<'_>,
    graph: Arc<Graph>,
    features: FeatureMatrix,
    settings: &Settings,
    (latest, state): (&Latest, &State),
) -> Result<Vec<u32>> {
    let features = Features::<T>::new(exec, features)?;
    let input = features.input();
    if (input.width, input.sparse) != (state.features, state.sparse) {
        let form = |sparse| if sparse { "sparse" } else { "dense" };
        return Err(Error::Settings(format!(
            "the network was trained on {} {} feature columns, these data have {} {}",
            state.features,
            form(state.sparse),
            input.width,
            form(input.sparse)
        )));
    }
    let mut network = model::build::<T>(&settings.model, &settings.shape(input, state.classes))?;
    checkpoint::read_network(latest, state, &mut network)?;
    let sampler = (sampler::find(Registries::default().samplers, &state.method)?.new)(&settings.options)?;
    let prepared = sampler.prepare(exec, &graph, &TrainLabels::none(graph.nodes()))?;
    let full = Operator::full(exec, prepared.graph().unwrap_or(&graph), settings.normalise)?;
    let (mut partials, mut chosen) = (Partials::default(), Vec::new());
    let mut cx = Cx {
        exec,
        features: &features,
        drawn: Drawn::shared(&full),
        mode: Mode::Evaluate,
        key: DrawKey::of_epoch(state.seed, state.epoch),
        partials: &mut partials,
        chosen: &mut chosen,
    };
    let logits = network.forward(&mut Pass::default(), &mut Arena::new(), &mut cx, false)?;
    let mut predicted = Vec::new();
    evaluate::predict(exec, &logits, &mut predicted)?;
    Ok(predicted)
}
