//! `state.toml`: everything of a checkpoint that is no tensor.

use super::Latest;
use crate::evaluate::Evaluation;
use crate::history::History;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// The form of the file.
const SCHEMA: &str = "sapwood.checkpoint/1";

/// What a run has seen and chosen so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    schema: String,
    /// Version of the program that wrote it.
    pub version: String,
    /// The data set as the user named it.
    pub source: String,
    /// Digest of the data set.
    pub data: String,
    /// Classes, and so columns of the logits.
    pub classes: usize,
    /// Columns of X.
    pub features: usize,
    /// Whether X is sparse.
    pub sparse: bool,
    /// Name of the method.
    pub method: String,
    /// Seed: with the epoch it is the key of everything random.
    #[serde(with = "as_text")]
    pub seed: u64,
    /// Epochs trained.
    pub epoch: u32,
    /// The run ended by itself: after its last epoch, or by `--patience`.
    pub finished: bool,
    /// The epoch chosen so far.
    pub best: Option<Best>,
    /// Every choice of the run.
    pub settings: toml::Table,
    /// Epoch by epoch.
    pub history: History,
}

/// The epoch chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Best {
    /// Epoch, from 1.
    pub epoch: u32,
    /// Validation loss of the training pass before the step of that epoch; NaN unless the selection rule reads it.
    pub train_mode_val_loss: f64,
    /// What the evaluation after it found.
    pub evaluation: Evaluation,
}

impl State {
    /// A state of this version; data and settings are filled in when it is saved.
    pub(crate) fn new(method: &str, seed: u64, shape: (usize, usize, bool)) -> State {
        let (classes, features, sparse) = shape;
        State {
            schema: SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            source: String::new(),
            data: String::new(),
            classes,
            features,
            sparse,
            method: method.into(),
            seed,
            epoch: 0,
            finished: false,
            best: None,
            settings: toml::Table::new(),
            history: History::default(),
        }
    }

    pub(super) fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::Settings(format!("the state of a run cannot be written: {e}")))
    }

    /// The state in a checkpoint.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when it is damaged or of another form.
    pub fn read(latest: &Latest) -> Result<State> {
        let file = latest.file("state.toml")?;
        let damaged = |what: String| Error::checkpoint(&file.path, what);
        let text = std::str::from_utf8(&file.bytes).map_err(|e| damaged(format!("is no text: {e}")))?;
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| damaged(format!("is damaged: {}", e.message())))?;
        match table.get("schema").and_then(toml::Value::as_str) {
            Some(SCHEMA) => {}
            other => {
                let form = other.unwrap_or("unknown");
                return Err(damaged(format!("is of the form {form}, this program reads {SCHEMA}")));
            }
        }
        let state: State =
            table.try_into().map_err(|e: toml::de::Error| damaged(format!("is damaged: {}", e.message())))?;
        if state.epoch != latest.epoch || state.history.epochs() != state.epoch || !state.history.consistent() {
            return Err(damaged("is damaged: its epochs do not agree".into()));
        }
        Ok(state)
    }
}

/// Numbers beyond what TOML holds, as text.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &u64, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<u64, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
