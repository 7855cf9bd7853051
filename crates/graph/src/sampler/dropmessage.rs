//! DropMessage (Fang et al., "DropMessage: Unifying Random Dropping for Graph Neural Networks", AAAI 2023): each
//! coordinate of each message, the one of a node to itself included, goes with probability p in every layer; what stays is
//! divided by 1 − p.

use super::{
    DrawBuffers, DrawKey, Entry, Per, Prepared, Rates, Sampled, Sampler, SamplerFacts, SamplerOptions, TrainLabels,
};
use crate::{Graph, Result, structure};
use sapwood_skeleton::Exec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "dropmessage",
    summary: "drops each coordinate of each message with probability p, in every layer anew",
    reads: &[],
    new: |options| {
        options.rates.check()?;
        let wrong = matches!(options.rates, Rates::Auto | Rates::Layers(_));
        super::refuse(options, "dropmessage", "--p", wrong, "a number or a schedule")?;
        let nested = options.per == Per::LayerNested;
        super::refuse(options, "dropmessage", "--per", nested, "epoch or layer (layers always draw apart)")?;
        Ok(Box::new(DropMessage(options.clone())))
    },
};

struct DropMessage(SamplerOptions);

impl Sampler for DropMessage {
    fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let graph = Arc::new(graph.by_arc());
        let isolated_expected = structure::expected_isolated(&graph, |_| 0.0);
        Ok(Box::new(Ready { options: self.0.clone(), graph, isolated_expected }))
    }
}

struct Ready {
    options: SamplerOptions,
    /// Messages are numbered by arcs.
    graph: Arc<Graph>,
    isolated_expected: f64,
}

impl Ready {
    fn rate(&self, epoch: u32) -> f64 {
        self.options.rates.at(epoch, self.options.epochs, 0, 0.0)
    }
}

impl Prepared for Ready {
    fn kept<'a>(&self, _: Exec<'_>, key: DrawKey, _: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        key.b()?;
        match self.rate(key.epoch) {
            0.0 => Ok(Sampled::All),
            p => Ok(Sampled::Messages { p }),
        }
    }

    fn facts(&self) -> SamplerFacts {
        let (p, messages) = (self.rate(1), self.graph.arcs() + self.graph.nodes() as u64);
        let k = crate::draw::exact_count(p, messages);
        let facts = SamplerFacts::plain(ENTRY.name, p, messages, k, self.isolated_expected);
        SamplerFacts { unit: Some("messages"), ..facts }
    }

    fn graph(&self) -> Option<&Arc<Graph>> {
        Some(&self.graph)
    }
}
