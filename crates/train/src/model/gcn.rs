//! Graph convolutions one after the other (Kipf & Welling, ICLR 2017): H ← dropout(ReLU(norm(ÂHW [+ HW_s] + b))), the
//! last without ReLU and dropout.

use super::{Entry, Shape};
use crate::Result;
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "gcn",
    summary: "graph convolutions one after the other",
    reads: &["with-self", "norm-layer"],
    normalise: None,
    f32: build,
    f64: build,
};

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    for layer in 1..shape.layers {
        h = b.hidden_convolution(&format!("convs.{}", layer - 1), &h, layer as u16, shape)?;
        b.cut();
    }
    b.output_convolution(&format!("convs.{}", shape.layers - 1), &h, shape.layers as u16, shape)?;
    Ok(())
}
