//! What a sampler will do in every epoch, found by asking it for its first and its last draw.

use crate::Result;
use crate::settings::Settings;
use crate::trainer::Method;
use sapwood_graph::{DrawBuffers, DrawKey, Graph, Sampled};
use sapwood_skeleton::Exec;

/// What a draw changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing, and nothing is drawn.
    Whole,
    /// Pairs or arcs go: Â is made anew.
    Units,
    /// Rows of X go.
    Rows,
    /// Coordinates of messages go.
    Messages,
}

/// One method, as far as its cost goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// Name of the method.
    pub method: String,
    /// What it changes.
    pub kind: Kind,
    /// Draws of an epoch: one, or one for each layer.
    pub draws: u16,
    /// Stored arcs of the graph it trains and evaluates on.
    pub arcs: u64,
    /// Arcs that a draw leaves, the mean over the draws of the first and the last epoch.
    pub kept: f64,
    /// Units of the graph: pairs, or arcs of a directed one.
    pub units: u64,
    /// The graph is directed, so that Âᵀ has a matrix of its own.
    pub directed: bool,
}

impl Sampling {
    /// Asks every method for the draws of the first and the last epoch of the first seed.
    ///
    /// # Errors
    /// When a sampler fails.
    pub fn of_all(exec: Exec<'_>, methods: &[Method], graph: &Graph, settings: &Settings) -> Result<Vec<Sampling>> {
        let propagations = settings.draws()?;
        methods.iter().map(|method| Sampling::of(exec, method, graph, settings, propagations)).collect()
    }

    fn of(exec: Exec<'_>, method: &Method, graph: &Graph, settings: &Settings, propagations: u16) -> Result<Sampling> {
        let prepared = method.prepared.as_ref();
        let graph = prepared.graph().map_or(graph, |own| own);
        let layers = if prepared.per_layer() { propagations } else { 0 };
        let (mut kind, mut kept, mut count) = (Kind::Whole, 0.0, 0);
        let mut buffers = DrawBuffers::default();
        for epoch in [1, settings.epochs] {
            for layer in 0..=layers.saturating_sub(1) {
                let layer = if layers == 0 { 0 } else { layer + 1 };
                let key = DrawKey { layer, ..DrawKey::of_epoch(settings.seed, epoch) };
                let sampled = prepared.kept(exec, key, &mut buffers)?;
                kind = match sampled {
                    Sampled::Pairs(_) | Sampled::Arcs(_) => Kind::Units,
                    Sampled::Rows { .. } => Kind::Rows,
                    Sampled::Messages { .. } => Kind::Messages,
                    _ => kind,
                };
                kept += sampled.kept(graph.pairs()) as f64 / graph.pairs().max(1) as f64;
                count += 1;
            }
        }
        Ok(Sampling {
            method: method.name.clone(),
            kind,
            draws: layers.max(1),
            arcs: graph.arcs(),
            kept: graph.arcs() as f64 * kept / f64::from(count),
            units: graph.pairs(),
            directed: graph.directed(),
        })
    }
}
