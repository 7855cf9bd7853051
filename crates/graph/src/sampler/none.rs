//! The sampler that drops nothing: the baseline of every comparison, and what evaluation uses.

use super::{DrawBuffers, DrawKey, Entry, Prepared, Sampled, Sampler, SamplerFacts, SamplerOptions, TrainLabels};
use crate::structure;
use crate::{Graph, Result};
use sapwood_skeleton::Exec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "none",
    summary: "keeps every pair in every draw",
    reads: &[],
    new: |_: &SamplerOptions| Ok(Box::new(Whole)),
};

struct Whole;

impl Sampler for Whole {
    fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let isolated_expected = structure::expected_isolated(graph, |_| 0.0);
        Ok(Box::new(Ready { units: graph.pairs(), isolated_expected }))
    }
}

struct Ready {
    units: u64,
    isolated_expected: f64,
}

impl Prepared for Ready {
    fn kept<'a>(&self, _: Exec<'_>, _: DrawKey, _: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        Ok(Sampled::All)
    }

    fn facts(&self) -> SamplerFacts {
        SamplerFacts::plain(ENTRY.name, 0.0, self.units, 0, self.isolated_expected)
    }
}
