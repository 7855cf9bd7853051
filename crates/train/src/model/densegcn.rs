//! DropEdge's "JKNet" (Rong et al., ICLR 2020): an input convolution x, a chain of n = L − 2 hidden ones h_1 … h_n, and an
//! output convolution on all of them side by side. They are never put side by side: its product is Σ_t h_t·W_t, part 0
//! being x and part t being h_t.

use super::{Entry, Shape};
use crate::Result;
use crate::layer::{Propagate, Sum};
use crate::network::{Builder, FEATURES, Join};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "densegcn",
    summary: "a chain of graph convolutions, and an output convolution on all of them",
    reads: &["with-self", "norm-layer"],
    normalise: None,
    f32: build,
    f64: build,
};

fn build<T: Number>(b: &mut Builder<T>, shape: &Shape) -> Result<()> {
    if shape.layers == 1 {
        b.output_convolution("convs.0", FEATURES, 1, shape)?;
        return Ok(());
    }
    let mut output = Output::new(shape.layers - 1, shape);
    let mut h = FEATURES.to_owned();
    for layer in 1..shape.layers {
        h = b.hidden_convolution(&format!("convs.{}", layer - 1), &h, layer as u16, shape)?;
        output.add(b, &h)?;
        b.cut();
    }
    output.finish(b, shape)
}

/// An output convolution, number L, on hidden activations side by side.
pub(super) struct Output {
    name: String,
    product: Join,
    own: Option<Join>,
}

impl Output {
    /// On `parts` activations.
    pub(super) fn new(parts: usize, shape: &Shape) -> Output {
        let name = format!("convs.{}", shape.layers - 1);
        let join = |last: &str| Join::new(format!("{name}.{last}"), parts * shape.hidden, shape.classes);
        Output { product: join("lin"), own: shape.options.with_self.then(|| join("self")), name }
    }

    /// Adds the next one.
    pub(super) fn add<T: Number>(&mut self, b: &mut Builder<T>, h: &str) -> Result<()> {
        self.product.add(b, h)?;
        self.own.iter_mut().try_for_each(|own| own.add(b, h))
    }

    /// Â of the product, its self weights, and b.
    pub(super) fn finish<T: Number>(self, b: &mut Builder<T>, shape: &Shape) -> Result<()> {
        let (name, product) = (self.name, self.product.finish(b)?);
        let mut z = b.push(format!("{name}.propagate"), &[&product], Propagate::new(shape.layers as u16))?;
        if let Some(own) = self.own {
            let own = own.finish(b)?;
            z = b.push(format!("{name}.sum"), &[&z, &own], Sum)?;
        }
        b.output_end(&name, &z, shape)?;
        Ok(())
    }
}
