//! The number types a network can be trained in, and how a registry finds its code for each.

use crate::{model, optimiser};
use sapwood_sparse::{Block, Real};

/// `f32` (default) or `f64` (checks). Registries hold one function per type; this trait picks.
pub trait Number: Real {
    /// The recipe of a model.
    fn recipe(entry: &model::Entry) -> model::Recipe<Self>;
    /// The maker of an optimiser.
    fn optimiser(entry: &optimiser::Entry) -> optimiser::Maker<Self>;
    /// Features in this type; those that have it already are not copied.
    ///
    /// # Errors
    /// When there is no memory for the copy.
    fn from_features(features: Block<f32>) -> crate::Result<Block<Self>>;
    /// Appends its bytes, the lowest first.
    fn push_le(self, out: &mut Vec<u8>);
    /// The number of as many bytes as it has, the lowest first; zero for another number of bytes.
    fn from_le(bytes: &[u8]) -> Self;
}

impl Number for f32 {
    fn recipe(entry: &model::Entry) -> model::Recipe<f32> {
        entry.f32
    }

    fn optimiser(entry: &optimiser::Entry) -> optimiser::Maker<f32> {
        entry.f32
    }

    fn from_features(features: Block<f32>) -> crate::Result<Block<f32>> {
        Ok(features)
    }

    fn push_le(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn from_le(bytes: &[u8]) -> f32 {
        bytes.try_into().map(f32::from_le_bytes).unwrap_or_default()
    }
}

impl Number for f64 {
    fn recipe(entry: &model::Entry) -> model::Recipe<f64> {
        entry.f64
    }

    fn optimiser(entry: &optimiser::Entry) -> optimiser::Maker<f64> {
        entry.f64
    }

    fn from_features(features: Block<f32>) -> crate::Result<Block<f64>> {
        Ok(Block::from_fn(features.rows(), features.cols(), |i, j| f64::from(features.row(i)[j]))?)
    }

    fn push_le(self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }

    fn from_le(bytes: &[u8]) -> f64 {
        bytes.try_into().map(f64::from_le_bytes).unwrap_or_default()
    }
}
