//! The labels that a sampler may see.

use crate::{GraphData, NodeId, Split};

/// Labels of the training nodes and of no other: a sampler that gets only this cannot see the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrainLabels {
    of: Vec<i32>,
}

impl TrainLabels {
    /// The labels of the training nodes of `split`.
    pub fn new(data: &GraphData, split: &Split) -> TrainLabels {
        let mut of = vec![-1; data.graph.nodes()];
        for node in &split.train {
            if let (Some(slot), Some(&label)) = (of.get_mut(node.index()), data.labels.get(node.index())) {
                *slot = label;
            }
        }
        TrainLabels { of }
    }

    /// No labels at all, for a graph of `nodes` nodes.
    pub fn none(nodes: usize) -> TrainLabels {
        TrainLabels { of: vec![-1; nodes] }
    }

    /// The class of `node` if it is a labelled training node.
    pub fn of(&self, node: NodeId) -> Option<u32> {
        self.of.get(node.index()).and_then(|&c| u32::try_from(c).ok())
    }
}
