//! GraphSAGE (Hamilton, Ying & Leskovec, NeurIPS 2017): H ← dropout(ReLU(norm(N·W_l + H·W_r + b))), where row i of N is the
//! mean of the neighbours of node i, or their largest value of each coordinate; the last layer without ReLU and dropout.
//!
//! The mean is D⁻¹A, the operator `rw`. A sparse X has no block of largest values: there the first layer takes the largest
//! of the neighbours' products, max_j (x_j·W_l).

use super::{Aggregator, Entry, Shape};
use crate::Result;
use crate::layer::{Dropout, LinearOnto, NeighbourMax, Propagate, Sum};
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "sage",
    summary: "a weight for the node, another for the mean or largest of its neighbours",
    reads: &["norm-layer", "aggregator"],
    normalise: Some("rw"),
    f32: build,
    f64: build,
};

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    for layer in 1..=shape.layers {
        let name = format!("convs.{}", layer - 1);
        let (last, number) = (layer == shape.layers, layer as u16);
        let outputs = if last { shape.classes } else { shape.hidden };
        let z = convolution(b, &name, &h, number, outputs, shape.options.aggregator)?;
        let bias = format!("{name}.lin_l");
        if last {
            b.output_end_with(&name, &bias, &z, shape)?;
        } else {
            h = b.hidden_end_with(&name, Some(&bias), &z, Dropout::new(shape.dropout, number)?, shape)?;
            b.cut();
        }
    }
    Ok(())
}

/// N·W_l + H·W_r.
fn convolution<T: Number>(
    b: &mut Builder<T>,
    name: &str,
    h: &str,
    layer: u16,
    outputs: usize,
    aggregator: Aggregator,
) -> Result<String> {
    let (inputs, sparse) = (b.width(h)?, b.reads_sparse(h));
    let (gather, left, right) = (format!("{name}.neighbours"), format!("{name}.lin_l"), format!("{name}.lin_r"));
    // The mean of products is the product of the mean, so that the narrower one is gathered.
    let multiply_first = sparse || (aggregator == Aggregator::Mean && outputs <= inputs);
    let source = if multiply_first { b.linear(&left, h, outputs, false)? } else { h.to_owned() };
    let gathered = match aggregator {
        Aggregator::Mean => b.push(gather, &[&source], Propagate::new(layer))?,
        Aggregator::Max => b.push(gather, &[&source], NeighbourMax::new(layer))?,
    };
    let z = if multiply_first { gathered } else { b.linear(&left, &gathered, outputs, false)? };
    if sparse {
        let own = b.linear(&right, h, outputs, false)?;
        return b.push(format!("{name}.sum"), &[&z, &own], Sum);
    }
    b.push(right.clone(), &[&z, h], LinearOnto::new(&right, inputs, outputs, inputs))
}
