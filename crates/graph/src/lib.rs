//! Graphs for learning: data sets, their features and splits, normalised operators, and the samplers that drop edges.
//!
//! Start with [`load`], which turns a name, a folder or a file into [`GraphData`]. A [`Graph`] knows its undirected
//! **pairs**, the units that samplers drop; a [`sampler`] prepared for a graph answers each [`DrawKey`] with the pairs
//! that stay; an [`Operator`] turns them into Â and multiplies. A new sampler, normalisation or data format is one
//! file in its folder and one line in that folder's `ALL`.
//!
//! ```
//! use sapwood_graph::{DrawBuffers, DrawKey, Edge, Graph, GraphOptions, SamplerOptions, TrainLabels, sampler};
//!
//! let edges = [(0, 1), (1, 2), (2, 0), (2, 3)].map(|(from, to)| Edge { from, to, weight: 1.0 });
//! let (graph, _) = Graph::build(4, edges.to_vec(), GraphOptions::default())?;
//! let graph = std::sync::Arc::new(graph);
//! let dropedge = (sampler::find(sampler::ALL, "dropedge")?.new)(&SamplerOptions::with_p(0.5))?;
//! let runtime = sapwood_skeleton::Runtime::sequential()?;
//! let prepared = dropedge.prepare(runtime.exec(), &graph, &TrainLabels::none(graph.nodes()))?;
//! let mut buffers = DrawBuffers::default();
//! let sampled = prepared.kept(runtime.exec(), DrawKey::of_epoch(0, 7), &mut buffers)?;
//! assert_eq!(sampled.kept(graph.pairs()), 2);
//! # Ok::<(), sapwood_graph::Error>(())
//! ```
//!
//! This crate never changes a loaded graph, never changes the number of nodes, never builds a dense n × n matrix, and
//! shows a sampler no label outside the training split. It knows nothing of networks and their training.

mod bits;
pub mod calibrate;
pub mod centrality;
pub mod correlation;
pub mod dataset;
pub mod direction;
pub mod draw;
mod error;
pub mod export;
mod facts;
pub mod features;
pub mod generator;
mod graph;
pub mod guard;
pub mod node_list;
pub mod normalise;
mod operator;
pub mod sampler;
pub mod score;
pub mod structure;
mod undirected;
mod unit_list;

pub use bits::BitMask;
pub use dataset::{GraphData, LoadOptions, Split, load};
pub use error::{Error, Result};
pub use facts::{Facts, SplitFact};
pub use features::{FeatureKind, FeatureMatrix};
pub use graph::{Arcs, Edge, Graph, GraphOptions, Merged, NodeId};
pub use normalise::{Normalisation, SelfLoops};
pub use operator::{After, Operator};
pub use sampler::{
    DrawBuffers, DrawKey, Prepared, Ranking, Rates, Sampled, Sampler, SamplerFacts, SamplerOptions, TrainLabels,
};
