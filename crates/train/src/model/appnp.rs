//! APPNP (Klicpera, Bojchevski & Günnemann, ICLR 2019): a perceptron of L layers gives H, then K times
//! Z ← (1 − τ)·ÂZ + τ·H, from Z = H: personalised PageRank of the predictions. K is `--prop-steps`, τ is `--teleport`.

use super::{Entry, Shape};
use crate::Result;
use crate::layer::{Combine, Propagate};
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "appnp",
    summary: "a perceptron, and its outputs spread by personalised PageRank",
    reads: &["norm-layer", "prop-steps", "teleport"],
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
    let start = b.output_linear(&format!("lins.{}", shape.layers - 1), &h, shape)?;
    b.mark_hidden();
    let tau = shape.options.teleport;
    let mut z = start.clone();
    for step in 1..=shape.options.prop_steps {
        b.cut();
        let gathered = b.push(format!("steps.{}.propagate", step - 1), &[&z], Propagate::new(step))?;
        z = b.push(format!("steps.{}", step - 1), &[&gathered, &start], Combine::new(1.0 - tau, tau))?;
        b.mark_hidden();
    }
    Ok(())
}
