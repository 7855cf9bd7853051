//! Dropout with a mask that is never stored: backward draws the same words again.
//!
//! Element i = row · width + column of layer `layer` is dropped iff word i mod 4 of unit i div 4, at (epoch,
//! layer << 12 | micro) of the run's dropout stream, is below p · 2^32; what stays is scaled by 1 / (1 − p). Where branches
//! side by side have layers of one number, branch b begins at unit b·⌈n · width / 4⌉.

use super::{Backward, Cx, InPlace, Layer, Mode, Needs, only_width};
use crate::cost::{Cost, Size, WORD};
use crate::rows::{self, Tile};
use crate::{Error, Result};
use sapwood_graph::DrawKey;
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_sparse::{Block, Real};

/// A rate and the number of the layer it is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dropout {
    rate: f64,
    layer: u16,
    branch: u32,
}

impl Dropout {
    /// Dropout of the share `rate`, 0 to 1, in layer number `layer`.
    ///
    /// # Errors
    /// [`Error::Range`] when the rate is out of range or NaN.
    pub fn new(rate: f64, layer: u16) -> Result<Dropout> {
        if (0.0..=1.0).contains(&rate) {
            return Ok(Dropout { rate, layer, branch: 0 });
        }
        Err(Error::Range { flag: "--dropout", range: "from 0 to 1", value: rate.to_string() })
    }

    /// The same for branch number `branch`, from 0, of several side by side.
    #[must_use]
    pub fn branch(self, branch: u32) -> Dropout {
        Dropout { branch, ..self }
    }

    /// Whether a training pass changes anything.
    pub(crate) fn drops(&self) -> bool {
        self.rate > 0.0
    }

    /// The mask of this layer in a pass over a block of `elements`; `None` when everything passes unchanged.
    pub(crate) fn mask(&self, mode: Mode, key: DrawKey, elements: usize) -> Result<Option<Mask>> {
        if mode == Mode::Evaluate || self.rate == 0.0 {
            return Ok(None);
        }
        let b = DrawKey { layer: self.layer, ..key }.b()?;
        let first = u64::from(self.branch) * elements.div_ceil(4) as u64;
        Ok(Some(Mask { stream: Stream::new(key.seed, Purpose::Dropout), epoch: key.epoch, b, first, rate: self.rate }))
    }
}

/// The mask of one layer in one pass, as a function of the element's number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mask {
    stream: Stream,
    epoch: u32,
    b: u32,
    /// Unit of the first element.
    first: u64,
    rate: f64,
}

impl Mask {
    /// The factor of what stays; 0 when nothing does.
    pub(crate) fn scale<T: Real>(&self) -> T {
        T::from_f64(if self.rate < 1.0 { 1.0 / (1.0 - self.rate) } else { 0.0 })
    }

    /// Words below this are dropped. At a rate of 1 the largest word passes, with the factor 0.
    fn threshold(&self) -> u32 {
        // A cast saturates.
        (self.rate * 4_294_967_296.0).round() as u32
    }

    /// Draws the words of a tile; returns the threshold and the scale that go with them.
    pub(crate) fn draw<T: Real>(&self, tile: &mut Tile<'_, T>) -> sapwood_skeleton::Result<(u32, T)> {
        self.stream.fill(self.epoch, self.b, self.first + (tile.first / 4) as u64, tile.words)?;
        Ok((self.threshold(), self.scale()))
    }

    /// Multiplies the elements of a tile by their 0 or scale.
    pub(crate) fn apply<T: Real>(&self, tile: &mut Tile<'_, T>) -> sapwood_skeleton::Result<()> {
        let (threshold, scale) = self.draw::<T>(tile)?;
        rows::zip(tile.values, tile.words.as_flattened(), |v, &word| {
            *v = if word < threshold { T::ZERO } else { *v * scale }
        });
        Ok(())
    }
}

impl<T: Real> Layer<T> for Dropout {
    fn kind(&self) -> &'static str {
        "dropout"
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        only_width("dropout", inputs)
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn in_place(&self) -> InPlace {
        InPlace::Each
    }

    /// In training one pass each way, which draws the mask.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let pass = (size.mode == Mode::Train && self.drops()).then(|| size.pass(size.input(), 2.0, WORD));
        Cost::new(pass, pass)
    }

    fn forward(&self, _inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        match self.mask(cx.mode, cx.key, out.as_slice().len())? {
            Some(mask) => rows::for_tiles(cx.exec, out, true, |tile| mask.apply(tile)),
            None => Ok(()),
        }
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        match self.mask(cx.mode, cx.key, step.grad.as_slice().len())? {
            Some(mask) => rows::for_tiles(cx.exec, step.grad, true, |tile| mask.apply(tile)),
            None => Ok(()),
        }
    }
}
