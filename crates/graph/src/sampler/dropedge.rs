//! DropEdge (Rong, Huang, Xu, Huang, ICLR 2020) on undirected pairs: in each draw exactly k = ⌊p·m + ½⌋ of the m pairs
//! go, each with probability k/m.
//!
//! The published program drops arcs, which makes the graph asymmetric; here both arcs of a pair go together. The order of
//! the draw is `none`, whatever `--stratify` says.

use super::units::{Calibrated, Source, Units};
use super::{Entry, Prepared, Sampler, SamplerOptions, Stratify, TrainLabels};
use crate::draw::{self, Quotas};
use crate::{Graph, Result};
use sapwood_skeleton::Exec;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "dropedge",
    summary: "drops exactly round(p * pairs) pairs, each with the same probability (DropEdge)",
    reads: &["draw"],
    new: |options| Ok(Box::new(DropEdge::new(options)?)),
};

struct DropEdge(SamplerOptions);

impl DropEdge {
    fn new(options: &SamplerOptions) -> Result<DropEdge> {
        options.rates.check()?;
        Ok(DropEdge(SamplerOptions { stratify: Stratify::None, ..options.clone() }))
    }
}

impl Sampler for DropEdge {
    fn prepare(&self, exec: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        Ok(Box::new(Units::new(ENTRY.name, &self.0, exec, graph, Uniform(graph.pairs()))?))
    }
}

/// The same probability for every unit.
pub(super) struct Uniform(pub(super) u64);

impl Source for Uniform {
    fn at(&self, _: Exec<'_>, p: f64, exact: bool) -> Result<Calibrated> {
        let quotas = if exact {
            Quotas::uniform(self.0, draw::exact_count(p, self.0))?
        } else {
            Quotas::independent(&vec![p; self.0 as usize])?
        };
        Ok(Calibrated { quotas: Arc::new(quotas), offset: None })
    }

    fn tilt(&self, _: Exec<'_>, _: f64) -> Result<Vec<f64>> {
        Ok(vec![0.0; self.0 as usize])
    }
}
