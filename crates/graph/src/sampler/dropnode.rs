//! DropNode (Feng et al., "Graph Random Neural Networks for Semi-Supervised Learning on Graphs", NeurIPS 2020): the
//! features of each node go with probability p, those that stay are divided by 1 − p; no edge is dropped.

use super::{
    DrawBuffers, DrawKey, Entry, Per, Prepared, Rates, Sampled, Sampler, SamplerFacts, SamplerOptions, TrainLabels,
};
use crate::{Graph, Result, structure};
use sapwood_skeleton::Exec;
use sapwood_skeleton::random::{Purpose, Stream};
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "dropnode",
    summary: "zeroes the features of each node with probability p and divides the others by 1 - p (GRAND)",
    reads: &[],
    new: |options| {
        options.rates.check()?;
        let wrong = matches!(options.rates, Rates::Auto | Rates::Layers(_));
        super::refuse(options, "dropnode", "--p", wrong, "a number or a schedule")?;
        super::refuse(options, "dropnode", "--per", options.per != Per::Epoch, "epoch (features are read once)")?;
        Ok(Box::new(DropNode(options.clone())))
    },
};

struct DropNode(SamplerOptions);

impl Sampler for DropNode {
    fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let isolated_expected = structure::expected_isolated(graph, |_| 0.0);
        Ok(Box::new(Ready { options: self.0.clone(), nodes: graph.nodes(), isolated_expected }))
    }
}

struct Ready {
    options: SamplerOptions,
    nodes: usize,
    isolated_expected: f64,
}

impl Ready {
    fn rate(&self, epoch: u32) -> f64 {
        self.options.rates.at(epoch, self.options.epochs, 0, 0.0)
    }
}

impl Prepared for Ready {
    fn kept<'a>(&self, _: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        let (p, b) = (self.rate(key.epoch), key.b()?);
        if p == 0.0 {
            return Ok(Sampled::All);
        }
        let stream = Stream::new(key.seed, Purpose::Draw);
        let threshold = (p * 4_294_967_296.0).round() as u64;
        let mut words = [[0u32; 4]; 256];
        buffers.mask.reset(self.nodes, true);
        for first in (0..self.nodes).step_by(words.len()) {
            let words = &mut words[..(self.nodes - first).min(256)];
            stream.fill(key.epoch, b, first as u64, words)?;
            for (node, word) in (first..).zip(words.iter()) {
                buffers.mask.set(node, u64::from(word[0]) >= threshold);
            }
        }
        let scale = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
        Ok(Sampled::Rows { mask: &buffers.mask, scale })
    }

    fn facts(&self) -> SamplerFacts {
        let (p, units) = (self.rate(1), self.nodes as u64);
        let k = crate::draw::exact_count(p, units);
        SamplerFacts { unit: Some("nodes"), ..SamplerFacts::plain(ENTRY.name, p, units, k, self.isolated_expected) }
    }
}
