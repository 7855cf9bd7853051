//! From the order of scores to drop probabilities with a chosen sum.

/// From rank to probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Curve {
    /// σ(a − βz).
    #[default]
    Sigmoid,
    /// a − (k/m)βz.
    Linear,
}

/// Bounds of every probability.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Clip {
    /// `--q-min`.
    #[serde(rename = "q_min")]
    pub min: f64,
    /// `--q-max`.
    #[serde(rename = "q_max")]
    pub max: f64,
}

impl Default for Clip {
    fn default() -> Self {
        Clip { min: 0.0, max: 1.0 }
    }
}
