//! DropEdge's inception network (Rong et al., ICLR 2020; after Kazi et al., IPMI 2019): an input convolution x, n = L − 2
//! branches of which the j-th is a chain of j convolutions on x, and an output convolution on x and the ends of all
//! branches side by side, which are never put side by side. Convolutions of one depth share a draw in all branches, and
//! each branch has a dropout mask of its own.

use super::densegcn::Output;
use super::{Entry, Shape};
use crate::Result;
use crate::layer::Dropout;
use crate::network::{Builder, FEATURES};
use crate::number::Number;

pub(super) const ENTRY: Entry = Entry {
    name: "incepgcn",
    summary: "chains of 1, 2, … graph convolutions side by side, and an output convolution on all of them",
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
    let x = b.hidden_convolution("convs.0", FEATURES, 1, shape)?;
    output.add(b, &x)?;
    b.cut();
    for branch in 1..shape.layers - 1 {
        let mut h = x.clone();
        for depth in 1..=branch {
            let (name, layer) = (format!("branches.{}.{}", branch - 1, depth - 1), depth as u16 + 1);
            let z = b.convolution(&name, &h, layer, shape.hidden, shape.options.with_self)?;
            let dropout = Dropout::new(shape.dropout, layer)?.branch(branch as u32 - 1);
            h = b.hidden_end(&name, &z, dropout, shape)?;
            if depth == branch {
                output.add(b, &h)?;
            }
            b.cut();
        }
    }
    output.finish(b, shape)
}
