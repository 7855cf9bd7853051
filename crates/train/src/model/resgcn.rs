//! Residual graph convolutions as in DropEdge (Rong et al., ICLR 2020; skips after He et al., CVPR 2016): an input
//! convolution, L − 2 hidden ones each of which adds its input to its output, after ReLU and dropout, and an output one.

use super::{Entry, Shape};
use crate::Result;
use crate::layer::Sum;
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "resgcn",
    summary: "graph convolutions that add their input to their output",
    reads: &["with-self", "norm-layer"],
    normalise: None,
    f32: build,
    f64: build,
};

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    for layer in 1..shape.layers {
        let name = format!("convs.{}", layer - 1);
        let out = b.hidden_convolution(&name, &h, layer as u16, shape)?;
        h = if layer == 1 {
            out
        } else {
            let sum = b.push(format!("{name}.skip"), &[&out, &h], Sum)?;
            b.unmark_hidden(&out);
            b.mark_hidden();
            sum
        };
        b.cut();
    }
    b.output_convolution(&format!("convs.{}", shape.layers - 1), &h, shape.layers as u16, shape)?;
    Ok(())
}
