//! DropEdge as its authors' program does it (Rong, Huang, Xu, Huang, ICLR 2020): all stored arcs are permuted and the
//! first ⌊arcs·(1 − p) + 10⁻⁹⌋ stay. For parity only.
//!
//! The two arcs of a pair go apart, so what stays is not symmetric, while the symmetric normalisation uses its row sums; a
//! self-loop of the graph counts as an arc and can go. Every other sampler keeps the graph symmetric.

use super::{
    DrawBuffers, DrawKey, Entry, Per, Prepared, Rates, Sampled, Sampler, SamplerFacts, SamplerOptions, TrainLabels,
};
use crate::draw::{self, Quotas};
use crate::{Graph, Result, structure};
use sapwood_skeleton::Exec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "dropedge-arcs",
    summary: "drops stored arcs one by one, as the DropEdge program does: what stays is not symmetric",
    reads: &[],
    new: |options| {
        options.rates.check()?;
        super::refuse(options, "dropedge-arcs", "--p", options.rates == Rates::Auto, "a number, a list or a schedule")?;
        let nested = options.per == Per::LayerNested;
        super::refuse(options, "dropedge-arcs", "--per", nested, "epoch or layer")?;
        Ok(Box::new(DropEdgeArcs(options.clone())))
    },
};

struct DropEdgeArcs(SamplerOptions);

impl Sampler for DropEdgeArcs {
    fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        let graph = Arc::new(graph.by_arc());
        let units = graph.pairs() + graph.self_loops().len() as u64;
        let mut ready = Ready { options: self.0.clone(), graph, units, isolated_expected: 0.0 };
        let k = ready.dropped(ready.first_rate());
        let q = if units == 0 { 0.0 } else { k as f64 / units as f64 };
        ready.isolated_expected = structure::expected_isolated(&ready.graph, |_| q);
        Ok(Box::new(ready))
    }
}

struct Ready {
    options: SamplerOptions,
    graph: Arc<Graph>,
    units: u64,
    isolated_expected: f64,
}

impl Ready {
    fn first_rate(&self) -> f64 {
        self.options.rates.at(1, self.options.epochs, 1, 0.0)
    }

    fn dropped(&self, p: f64) -> u64 {
        self.units - ((self.units as f64 * (1.0 - p) + 1e-9).floor() as u64).min(self.units)
    }
}

impl Prepared for Ready {
    fn kept<'a>(&self, exec: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        let k = self.dropped(self.options.rates.at(key.epoch, self.options.epochs, key.layer, 0.0));
        if k == 0 {
            return Ok(Sampled::All);
        }
        // Equal quotas in a random order: every set of k arcs is as likely as any other, as in a permutation.
        let quotas = Quotas::uniform(self.units, k)?;
        draw::systematic(exec, &quotas, key, &mut buffers.scratch, &mut buffers.mask)?;
        Ok(Sampled::Arcs(&buffers.mask))
    }

    fn facts(&self) -> SamplerFacts {
        let p = self.first_rate();
        let facts = SamplerFacts::plain(ENTRY.name, p, self.units, self.dropped(p), self.isolated_expected);
        let note = "arcs go one by one, so what stays is not symmetric (for parity with DropEdge only)";
        SamplerFacts { notes: vec![note.into()], unit: Some("arcs"), ..facts }
    }

    fn never_drops(&self) -> bool {
        self.options.rates.largest(0.0) == 0.0
    }

    fn graph(&self) -> Option<&Arc<Graph>> {
        Some(&self.graph)
    }

    fn per_layer(&self) -> bool {
        self.options.per != Per::Epoch
    }
}
