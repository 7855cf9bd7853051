//! Graph convolutions one after the other (Kipf & Welling, ICLR 2017): H ← dropout(ReLU(ÂHW [+ HW_s] + b)), the last
//! without ReLU and dropout.

use super::{Entry, Shape};
use crate::Result;
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry =
    Entry { name: "gcn", summary: "graph convolutions one after the other", convolves: true, f32: build, f64: build };

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    for layer in 1..shape.layers {
        let name = format!("convs.{}", layer - 1);
        let z = b.convolution(&name, &h, layer as u16, shape.hidden, shape.with_self)?;
        h = b.hidden_end(&name, &z, layer as u16, shape.dropout)?;
    }
    let name = format!("convs.{}", shape.layers - 1);
    let z = b.convolution(&name, &h, shape.layers as u16, shape.classes, shape.with_self)?;
    b.output_end(&name, &z)?;
    Ok(())
}
