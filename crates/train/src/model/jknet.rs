//! Jumping knowledge (Xu et al., ICML 2018): H_1 = dropout(ReLU(XW + b)) without the graph, graph convolutions H_2 … H_L, and
//! an output layer without the graph on all L of them: side by side (`concat`, as Σ_l H_l·W_l, never put side by side), or
//! on the largest value of each coordinate (`max`, of equal ones the earliest).

use super::{Entry, Jump, Shape};
use crate::Result;
use crate::layer::Maximum;
use crate::network::{Builder, FEATURES, Join};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "jknet",
    summary: "graph convolutions all of which the output layer sees",
    reads: &["with-self", "norm-layer", "jk"],
    normalise: None,
    f32: build,
    f64: build,
};

/// Name of the output layer.
const OUTPUT: &str = "lins.1";

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut join = Join::new(OUTPUT, shape.layers * shape.hidden, shape.classes);
    let mut h = b.hidden_linear("lins.0", FEATURES, 1, shape)?;
    let mut largest = h.clone();
    for layer in 1..=shape.layers {
        if layer > 1 {
            h = hidden(b, &h, layer, shape)?;
        }
        match shape.options.jk {
            Jump::Concat => join.add(b, &h)?,
            Jump::Max if layer > 1 => {
                largest = b.push(format!("jump.{}", layer - 2), &[&largest, &h], Maximum)?;
            }
            Jump::Max => {}
        }
        b.cut();
    }
    match shape.options.jk {
        Jump::Concat => {
            let z = join.finish(b)?;
            b.output_end(OUTPUT, &z, shape)?;
        }
        Jump::Max => {
            b.output_linear(OUTPUT, &largest, shape)?;
        }
    }
    Ok(())
}

/// Convolution `layer`, from 2; propagations are counted from 1, so that none has a draw that nobody uses.
fn hidden<T: Number>(b: &mut Builder<T>, h: &str, layer: usize, shape: &Shape) -> Result<String> {
    let name = format!("convs.{}", layer - 2);
    let z = b.convolution(&name, h, layer as u16 - 1, shape.hidden, shape.options.with_self)?;
    b.hidden_end(&name, &z, crate::layer::Dropout::new(shape.dropout, layer as u16)?, shape)
}
