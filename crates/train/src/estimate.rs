//! How much memory a run will take, worked out before it starts and before anything large is allocated.
//!
//! Activations and gradients are counted by playing the network's own schedule with sizes, so the count is what the arena
//! will hold; the rest follows from the sizes of the parameters, the features and the graph.

use crate::arena::bytes_of;
use crate::network::Input;
use crate::number::Number;
use crate::rows::Partials;
use crate::settings::{Recompute, Settings};
use crate::{Error, Result, model};
use sapwood_graph::{FeatureMatrix, Graph};
use serde::Serialize;

/// Bytes of a pair while it is drawn: its entry before and after sorting, its number among the dropped.
const DRAW_BYTES: u64 = 20;

/// Bytes that a run holds at its peak, by purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Numbers learnt.
    pub parameters: u64,
    /// Parameters, their gradients and the state of the optimiser.
    pub parameter_bytes: u64,
    /// Activations and gradients of activations.
    pub activation_bytes: u64,
    /// X, by rows and by columns.
    pub feature_bytes: u64,
    /// The graph and Â of the whole graph and of a draw.
    pub graph_bytes: u64,
    /// Losses, predictions, sums and the order of a draw.
    pub scratch_bytes: u64,
    /// All of these.
    pub total_bytes: u64,
    /// Segments of layers whose activations are computed again in the backward pass.
    pub recomputed_segments: usize,
    /// Of so many.
    pub segments: usize,
}

impl Estimate {
    /// What training on `graph` with `features` takes. Decides how much is recomputed, [`Settings::recomputed`]: for `auto`
    /// as little as lets the run fit into `available` bytes, all there is if it does not fit even so; nothing where what is
    /// available is not known.
    ///
    /// # Errors
    /// When the model does not fit the settings.
    pub fn fit<T: Number>(
        graph: &Graph,
        features: &FeatureMatrix,
        classes: usize,
        settings: &mut Settings,
        available: Option<u64>,
    ) -> Result<Estimate> {
        let shape = settings.shape(input(features), classes);
        let mut network = model::build::<T>(&settings.model, &shape)?;
        let all = network.recomputable();
        let mut of = |segments| {
            network.recompute(segments);
            Estimate::new(graph, features, &network, settings)
        };
        let (mut segments, most) = match settings.recompute {
            Recompute::None => (0, 0),
            Recompute::Full => (all, all),
            Recompute::Auto => (0, all),
        };
        let mut estimate = of(segments);
        while segments < most && estimate.check(available).is_err() {
            segments += 1;
            estimate = of(segments);
        }
        settings.recomputed = segments;
        Ok(Estimate { recomputed_segments: segments, segments: all, ..estimate })
    }

    /// What training `network` takes.
    fn new<T: Number>(
        graph: &Graph,
        features: &FeatureMatrix,
        network: &crate::Network<T>,
        settings: &Settings,
    ) -> Estimate {
        let (n, element) = (graph.nodes(), size_of::<T>() as u64);
        let parameters = network.parameter_count();
        // Values, gradients, those of the epoch chosen.
        let copies = 3 + settings.optimiser.state_per_parameter;
        let draws = u64::from(settings.methods().any(|m| m != "none"));
        let per_node = (size_of::<f64>() + size_of::<u32>()) as u64;
        let mut estimate = Estimate {
            parameters,
            parameter_bytes: parameters.saturating_mul(copies * element),
            activation_bytes: network.schedule().bytes(n, size_of::<T>()).held,
            feature_bytes: feature_bytes::<T>(features),
            graph_bytes: graph_bytes(graph) + (1 + draws) * operator_bytes(graph, element),
            scratch_bytes: n as u64 * (per_node + (network.widest_choice() * size_of::<u32>()) as u64)
                + Partials::bytes(n, 2 * network.widest())
                + draws * graph.pairs() * DRAW_BYTES,
            total_bytes: 0,
            recomputed_segments: 0,
            segments: 0,
        };
        let parts = [estimate.parameter_bytes, estimate.activation_bytes, estimate.feature_bytes, estimate.graph_bytes];
        estimate.total_bytes = parts.iter().fold(estimate.scratch_bytes, |sum, &b| sum.saturating_add(b));
        estimate
    }

    /// Refuses a run that needs more than `available` bytes; what is not known is not refused.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn check(&self, available: Option<u64>) -> Result<()> {
        match available {
            Some(available) if self.total_bytes > available => {
                Err(Error::Memory { needed: self.total_bytes, available })
            }
            _ => Ok(()),
        }
    }
}

/// What X is to a network.
fn input(features: &FeatureMatrix) -> Input {
    Input { width: features.cols(), sparse: matches!(features, FeatureMatrix::Sparse(_)) }
}

/// Column and value of each entry twice, and the offsets of both orders.
fn feature_bytes<T>(features: &FeatureMatrix) -> u64 {
    match features {
        FeatureMatrix::Sparse(x) => x.entries() as u64 * 2 * 8 + (x.rows() + x.cols() + 2) as u64 * 8,
        FeatureMatrix::Dense(x) => bytes_of::<T>(x.rows(), x.cols()),
    }
}

/// Offsets, and column and pair (and weight) of each arc; a directed graph has them twice.
fn graph_bytes(graph: &Graph) -> u64 {
    let per_arc = if graph.weighted() { 12 } else { 8 };
    (graph.arcs() * per_arc + (graph.nodes() as u64 + 1) * 8) * if graph.directed() { 2 } else { 1 }
}

/// Offsets and columns (and weights) of the arcs that stay, and three factors of each node.
fn operator_bytes(graph: &Graph, element: u64) -> u64 {
    let per_arc = if graph.weighted() { 8 } else { 4 };
    let matrix = graph.arcs() * per_arc + (graph.nodes() as u64 + 1) * 8;
    matrix * if graph.directed() { 2 } else { 1 } + graph.nodes() as u64 * 3 * element
}
