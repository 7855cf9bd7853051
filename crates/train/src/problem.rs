//! What all runs on a data set share, made once: the graph, X, the split, and Â of the whole graph.
//!
//! A [`Problem`] is never changed by a run, so runs of any method and seed can use it one after the other.

use crate::evaluate::Judges;
use crate::features::Features;
use crate::layer::loss::Targets;
use crate::number::Number;
use crate::settings::Settings;
use crate::{Error, Result};
use sapwood_graph::{FeatureMatrix, Graph, GraphData, NodeId, Operator, Split, TrainLabels};
use sapwood_skeleton::Exec;
use std::sync::Arc;

/// A data set made ready for training.
#[derive(Debug)]
pub struct Problem<T: Number> {
    pub(crate) graph: Arc<Graph>,
    pub(crate) features: Features<T>,
    pub(crate) classes: usize,
    pub(crate) judges: Judges,
    pub(crate) train_labels: TrainLabels,
    /// Â of the whole graph: for evaluation, and for a sampler that drops nothing.
    pub(crate) full: Operator<T>,
}

impl<T: Number> Problem<T> {
    /// Takes the graph of `data`, features made from it and one of its splits.
    ///
    /// # Errors
    /// [`Error::NoNodes`], [`Error::EmptyTrain`], [`Error::EmptyValidation`], or when there is no memory.
    pub fn new(
        exec: Exec<'_>,
        data: GraphData,
        features: FeatureMatrix,
        split: &Split,
        settings: &Settings,
    ) -> Result<Problem<T>> {
        let n = data.graph.nodes();
        if n == 0 {
            return Err(Error::NoNodes);
        }
        let part = |nodes: &[NodeId]| {
            let mut class = vec![None; n];
            for node in nodes {
                class[node.index()] = u32::try_from(data.labels[node.index()]).ok();
            }
            Targets::new(n, |row| class[row])
        };
        let judges = Judges { train: part(&split.train), val: part(&split.val), test: part(&split.test) };
        if judges.train.count() == 0 {
            return Err(Error::EmptyTrain { split: split.name.clone() });
        }
        if judges.val.count() == 0 && settings.select.validates {
            return Err(Error::EmptyValidation { split: split.name.clone(), select: settings.select.name });
        }
        let train_labels = TrainLabels::new(&data, split);
        Ok(Problem {
            full: Operator::full(exec, &data.graph, settings.normalise)?,
            graph: Arc::new(data.graph),
            features: Features::new(exec, features)?,
            classes: data.classes,
            judges,
            train_labels,
        })
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// X.
    pub fn features(&self) -> &Features<T> {
        &self.features
    }

    /// Classes, and so columns of the logits.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The parts of the split.
    pub fn judges(&self) -> &Judges {
        &self.judges
    }
}
