//! A perceptron on the features alone: what the graph is worth is the distance to it.

use super::{Entry, Shape};
use crate::Result;
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry =
    Entry { name: "mlp", summary: "linear layers on the features, no graph", convolves: false, f32: build, f64: build };

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    for layer in 1..shape.layers {
        let name = format!("lins.{}", layer - 1);
        let z = b.linear(&name, &h, shape.hidden, false)?;
        h = b.hidden_end(&name, &z, layer as u16, shape.dropout)?;
    }
    b.linear(&format!("lins.{}", shape.layers - 1), &h, shape.classes, true)?;
    Ok(())
}
