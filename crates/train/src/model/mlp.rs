//! A perceptron on the features alone: what the graph is worth is the distance to it.

use super::{Entry, Shape};
use crate::Result;
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "mlp",
    summary: "linear layers on the features, no graph",
    reads: &["norm-layer"],
    normalise: None,
    f32: build,
    f64: build,
};

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    for layer in 1..shape.layers {
        h = b.hidden_linear(&format!("lins.{}", layer - 1), &h, layer as u16, shape)?;
        b.cut();
    }
    b.output_linear(&format!("lins.{}", shape.layers - 1), &h, shape)?;
    Ok(())
}
