//! The data set that a verb works on, and how it is read.

use crate::cli::{Context, Failure, resources};
use clap::Args;
use sapwood_graph::dataset::Weights;
use sapwood_graph::{GraphData, LoadOptions};

#[derive(Debug, Args)]
pub(crate) struct Source {
    /// `debian`, a folder, an edge list, a Matrix Market file or an npz archive, `planetoid:DIR/cora`, `ogb:DIR`, a name
    /// below $SAPWOOD_DATA or ./data, or the spec of a generator such as `sbm:n=1000,k=4,in=0.05,out=0.005`
    #[arg(default_value = "debian")]
    data: String,
    /// Keep the direction of arcs; reads arcs.tsv where there is one
    #[arg(long)]
    directed: bool,
    /// Read edges_weighted.tsv where there is one
    #[arg(long)]
    pub(crate) weighted: bool,
    /// Ignore edge weights
    #[arg(long, conflicts_with = "weighted")]
    unweighted: bool,
}

impl Source {
    /// Reads or makes the data set; what is odd about it goes to stderr.
    pub(crate) fn load(&self, cx: &Context) -> Result<GraphData, Failure> {
        let weights = match (self.weighted, self.unweighted) {
            (true, _) => Weights::Asked,
            (_, true) => Weights::Ignored,
            _ => Weights::Stored,
        };
        resources::check_generated(&self.data)?;
        let data = sapwood_graph::load(&self.data, &LoadOptions { directed: self.directed, weights })?;
        data.warnings.iter().for_each(|warning| cx.warn(warning));
        Ok(data)
    }
}
