//! h = dropout(f(z + b)): bias, function and dropout of a hidden layer in one pass over memory, and back in one.
//!
//! Backward works on the output alone. For ReLU an element of the output is positive exactly if z was positive and the
//! element stayed, so the mask need not be drawn again; ELU draws it again. NaN passes through, so that a network that
//! has gone wrong is noticed.

use super::dropout::{Dropout, Mask};
use super::{Backward, Cx, InPlace, Layer, Mode, Needs, only_width};
use crate::Result;
use crate::cost::{Cost, EXP, SUM, Size, WORD};
use crate::parameter::Parameter;
use crate::rows::{self, Tile};
use sapwood_skeleton::isa;
use sapwood_sparse::{Block, Real};

/// The function between bias and dropout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// f(z) = z.
    Identity,
    /// f(z) = max(z, 0).
    Relu,
    /// f(z) = z above 0, e^z − 1 below (Clevert, Unterthiner & Hochreiter, ICLR 2016, α = 1).
    Elu,
}

/// Bias (if any), function and dropout (if any), in place.
#[derive(Debug)]
pub struct Activation<T: Real> {
    function: Function,
    bias: Vec<Parameter<T>>,
    dropout: Option<Dropout>,
}

impl<T: Real> Activation<T> {
    /// A function without bias and dropout.
    pub fn new(function: Function) -> Activation<T> {
        Activation { function, bias: Vec::new(), dropout: None }
    }

    /// Adds a bias of `width` columns, named after `layer`, before the function.
    pub fn with_bias(mut self, layer: &str, width: usize) -> Activation<T> {
        self.bias = vec![Parameter::bias(layer, width)];
        self
    }

    /// Adds dropout after the function.
    pub fn with_dropout(mut self, dropout: Dropout) -> Activation<T> {
        self.dropout = Some(dropout);
        self
    }

    fn mask(&self, cx: &Cx<'_, T>, block: &Block<T>) -> Result<Option<Mask>> {
        self.dropout.map_or(Ok(None), |dropout| dropout.mask(cx.mode, cx.key, block.as_slice().len()))
    }
}

impl<T: Real> Layer<T> for Activation<T> {
    fn kind(&self) -> &'static str {
        "activation"
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        let width = only_width("activation", inputs)?;
        match self.bias.first() {
            Some(bias) if bias.shape.1 != width => Err(super::wrong(
                "activation",
                format!("has a bias of {} columns, the input has {width}", bias.shape.1),
            )),
            _ => Ok(width),
        }
    }

    fn needs(&self) -> Needs {
        Needs { input: false, output: self.function != Function::Identity }
    }

    fn in_place(&self) -> InPlace {
        InPlace::Each
    }

    /// One pass each way. In training the mask is drawn forward, and backward again where the output does not show it; the
    /// gradient of a bias is summed in the same pass.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let (width, drawn) = (size.input(), size.mode == Mode::Train && self.dropout.is_some_and(|d| d.drops()));
        let word = |again: bool| if drawn && again { WORD } else { 0.0 };
        let (relu, identity) = (self.function == Function::Relu, self.function == Function::Identity);
        let exp = if self.function == Function::Elu { EXP } else { 0.0 };
        let idle = identity && self.bias.is_empty() && !drawn;
        let forward = (!idle).then(|| size.pass(width, 2.0, exp + word(true)));
        let sums = if self.bias.is_empty() { 0.0 } else { SUM };
        let blocks = match (identity, drawn, self.bias.is_empty()) {
            (false, ..) => 3.0,
            (true, true, _) => 2.0,
            (true, false, false) => 1.0,
            (true, false, true) => 0.0,
        };
        Cost::new(forward, [size.pass(width, blocks, sums + word(!relu))])
    }

    fn forward(&self, _inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let bias = self.bias.first().map(|b| b.value.as_slice());
        let mask = self.mask(cx, out)?;
        if bias.is_none() && mask.is_none() && self.function == Function::Identity {
            return Ok(());
        }
        rows::for_tiles(cx.exec, out, mask.is_some(), |tile| {
            if let Some(bias) = bias {
                rows::add_to_rows(tile.values, bias);
            }
            match mask {
                None => isa::vectorized(
                    #[inline(always)]
                    || tile.values.iter_mut().for_each(|v| *v = value(self.function, *v)),
                ),
                Some(mask) => {
                    let (threshold, scale) = mask.draw(tile)?;
                    rows::zip(tile.values, tile.words.as_flattened(), |v, &word| {
                        let y = value(self.function, *v) * scale;
                        *v = if word < threshold { T::ZERO } else { y };
                    });
                }
            }
            Ok(())
        })
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let mask = self.mask(cx, step.grad)?;
        let draw = mask.filter(|_| self.function != Function::Relu);
        let scale = mask.map_or(T::ONE, |mask| mask.scale());
        let output = step.output.map_or(&[][..], |block| block.as_slice());
        let pass = |tile: &mut Tile<'_, T>| {
            if let Some(mask) = draw {
                mask.apply(tile)?;
            }
            let output = output.get(tile.first..tile.first + tile.values.len()).unwrap_or_default();
            match self.function {
                Function::Identity => {}
                Function::Relu => {
                    rows::zip(tile.values, output, |g, &h| *g = if h > T::ZERO { *g * scale } else { T::ZERO })
                }
                // f' = f + 1 below 0, and f = h / scale where the mask kept h.
                Function::Elu => rows::zip(tile.values, output, |g, &h| {
                    if h < T::ZERO {
                        *g *= h / scale + T::ONE
                    }
                }),
            }
            Ok(())
        };
        match step.weights {
            [db] => rows::for_tiles_summed(cx.exec, step.grad, draw.is_some(), cx.partials, db.as_mut_slice(), pass),
            _ => rows::for_tiles(cx.exec, step.grad, draw.is_some(), pass),
        }
    }

    fn parameters(&self) -> &[Parameter<T>] {
        &self.bias
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<T>] {
        &mut self.bias
    }
}

#[inline(always)]
fn value<T: Real>(function: Function, z: T) -> T {
    match function {
        Function::Identity => z,
        Function::Relu => {
            if z <= T::ZERO {
                T::ZERO
            } else {
                z
            }
        }
        Function::Elu => {
            if z < T::ZERO {
                z.exp() - T::ONE
            } else {
                z
            }
        }
    }
}
