//! A linear layer on activations side by side, [H₀ | H₁ | …]·W, without putting them side by side.

use super::Builder;
use crate::layer::{Linear, LinearOnto};
use crate::number::Number;
use crate::{Error, Result};

/// Σ_l H_l·W_l in the making, in one block. Parts are added as soon as they are known, so that each can be forgotten where
/// nobody else needs it. Part l is called `NAME.l`.
#[derive(Debug)]
pub struct Join {
    name: String,
    outputs: usize,
    whole: usize,
    parts: usize,
    sum: Option<String>,
}

impl Join {
    /// The layer called `name`, from `whole` columns in all to `outputs`.
    pub fn new(name: impl Into<String>, whole: usize, outputs: usize) -> Join {
        Join { name: name.into(), outputs, whole, parts: 0, sum: None }
    }

    /// Adds the next part, the output of the layer called `h`.
    ///
    /// # Errors
    /// As [`Builder::push`].
    pub fn add<T: Number>(&mut self, b: &mut Builder<T>, h: &str) -> Result<()> {
        let (name, width) = (format!("{}.{}", self.name, self.parts), b.width(h)?);
        self.sum = Some(match &self.sum {
            None => b.push(name.clone(), &[h], Linear::new(&name, width, self.outputs, false).part_of(self.whole))?,
            Some(sum) => b.push(name.clone(), &[sum, h], LinearOnto::new(&name, width, self.outputs, self.whole))?,
        });
        self.parts += 1;
        Ok(())
    }

    /// Name of the layer that has the sum.
    ///
    /// # Errors
    /// [`Error::Model`] when no part was added.
    pub fn finish<T: Number>(self, b: &Builder<T>) -> Result<String> {
        let what = format!("{} joins nothing", self.name);
        self.sum.ok_or_else(|| Error::Model { model: b.model().into(), what })
    }
}
