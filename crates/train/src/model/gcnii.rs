//! GCNII (Chen et al., ICML 2020): H_0 = dropout(ReLU(XW + b)) without the graph, then L − 2 times
//! H ← dropout(ReLU((1 − β_l)·S + β_l·S·W_l)) with S = (1 − τ)·ÂH + τ·H_0 and β_l = ln(λ/l + 1), l from 1, then a linear
//! output layer. τ is `--teleport`, λ is `--lambda`.

use super::{Entry, Shape};
use crate::Result;
use crate::layer::{Combine, Dropout, Propagate};
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "gcnii",
    summary: "propagations that keep a share of the first activations and weights close to 1",
    reads: &["norm-layer", "teleport", "lambda"],
    normalise: None,
    f32: build,
    f64: build,
};

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    let mut h = FEATURES.to_owned();
    if shape.layers > 1 {
        h = b.hidden_linear("lins.0", FEATURES, 1, shape)?;
        b.cut();
    }
    let start = h.clone();
    for layer in 1..shape.layers.saturating_sub(1) {
        h = propagation(b, &h, &start, layer, shape)?;
        b.cut();
    }
    b.output_linear(if shape.layers > 1 { "lins.1" } else { "lins.0" }, &h, shape)?;
    Ok(())
}

/// Propagation `layer`, from 1.
fn propagation<T: Number>(b: &mut Builder<T>, h: &str, start: &str, layer: usize, shape: &Shape) -> Result<String> {
    let (name, tau) = (format!("convs.{}", layer - 1), shape.options.teleport);
    let beta = (shape.options.lambda / layer as f64).ln_1p();
    let gathered = b.push(format!("{name}.propagate"), &[h], Propagate::new(layer as u16))?;
    let s = b.push(format!("{name}.start"), &[&gathered, start], Combine::new(1.0 - tau, tau))?;
    let product = b.linear(&format!("{name}.lin"), &s, shape.hidden, false)?;
    let z = b.push(format!("{name}.mix"), &[&product, &s], Combine::new(beta, 1.0 - beta))?;
    b.hidden_end_with(&name, None, &z, Dropout::new(shape.dropout, layer as u16 + 1)?, shape)
}
