//! DropEdge (Rong, Huang, Xu, Huang, ICLR 2020) on undirected pairs: in each draw exactly k = ⌊p·m + ½⌋ of the m pairs
//! go, each with probability k/m.
//!
//! The published program drops arcs, which makes the graph asymmetric; here both arcs of a pair go together.

use super::{DrawBuffers, DrawKey, Entry, Prepared, Sampled, Sampler, SamplerFacts, TrainLabels};
use crate::draw::{self, Quotas};
use crate::structure;
use crate::{Graph, Result};
use sapwood_skeleton::Exec;

pub(super) const ENTRY: Entry = Entry {
    name: "dropedge",
    summary: "drops exactly round(p * pairs) pairs, each with the same probability (DropEdge)",
    new: |options| Ok(Box::new(DropEdge { p: draw::drop_rate(options.p)? })),
};

struct DropEdge {
    p: f64,
}

impl Sampler for DropEdge {
    fn prepare(&self, graph: &Graph, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let units = graph.pairs();
        let k = draw::exact_count(self.p, units);
        let q = if units == 0 { 0.0 } else { k as f64 / units as f64 };
        Ok(Box::new(Ready {
            p: self.p,
            quotas: Quotas::uniform(units, k)?,
            isolated_expected: structure::expected_isolated(graph, |_| q),
        }))
    }
}

struct Ready {
    p: f64,
    quotas: Quotas,
    isolated_expected: f64,
}

impl Prepared for Ready {
    fn kept<'a>(&self, exec: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        if self.quotas.k() == 0 {
            return Ok(Sampled::All);
        }
        draw::systematic(exec, &self.quotas, key, &mut buffers.scratch, &mut buffers.mask)?;
        Ok(Sampled::Pairs(&buffers.mask))
    }

    fn facts(&self) -> SamplerFacts {
        let (units, k) = (self.quotas.units(), self.quotas.k());
        SamplerFacts {
            name: ENTRY.name,
            p: self.p,
            units,
            k,
            achieved_p: if units == 0 { 0.0 } else { k as f64 / units as f64 },
            isolated_expected: self.isolated_expected,
        }
    }
}
