//! Saving runs so that they survive a kill at any moment, and taking them up again with the same bits.
//!
//! A run lives in `DIR/<method>/seed-<s>/`. `epoch-N/` is written under another name, brought to disk and renamed; then
//! the small file `latest`, which holds its name and the digests of its files, is replaced by a rename; only then do older
//! ones go. Whatever is killed when, `latest` names a whole checkpoint. One process at a time saves in DIR. [`Saving`] is the way in, [`RunFolder`] the
//! protocol, `state` what is no tensor, `tensors` what is.

mod extent;
mod folder;
mod state;
mod tensors;

pub use extent::{DEPTH, Extent};
pub use folder::{LOCK, Latest, RunFolder};
pub use state::{Best, State};

use crate::number::Number;
use crate::settings::Settings;
use crate::trainer::Parts;
use crate::{Error, Result};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the runs of an experiment are saved.
#[derive(Debug, Clone)]
pub struct Saving {
    folder: PathBuf,
    /// Epochs from one checkpoint to the next; the last epoch of a run is always saved.
    pub every: u32,
    identity: Identity,
    /// Held so that no other process saves there.
    _lock: Option<Arc<File>>,
}

/// The data set of an experiment.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// As the user named it.
    pub spec: &'a str,
    /// Digest of its files.
    pub digest: &'a str,
}

/// What decides the bits of a run besides method and seed.
#[derive(Debug, Clone, PartialEq)]
struct Identity {
    /// How the data set was named; no part of the comparison.
    source: String,
    digest: String,
    settings: Value,
    /// No schedule depends on the number of epochs, so that more of them continue a run.
    open_ended: bool,
}

/// How far a saved run is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Name of the method.
    pub method: String,
    /// Seed of the run.
    pub seed: u64,
    /// Epochs that its checkpoint holds.
    pub epoch: u32,
}

impl Saving {
    /// Saves new runs in `folder`, which holds none of the same methods and seeds yet.
    ///
    /// # Errors
    /// [`Error::Graph`] when a file that the settings name cannot be read, [`Error::Checkpoint`] when the folder cannot be made or a run of `settings` is there already.
    pub fn start(folder: &Path, every: u32, settings: &Settings, data: Source<'_>) -> Result<Saving> {
        std::fs::create_dir_all(folder).map_err(|e| Error::checkpoint_io(folder, "cannot be made", e))?;
        let saving = Saving::new(folder, every, settings, data)?.locked()?;
        if let Some(found) = saving.found(settings)?.first() {
            let what = format!(
                "holds a run of {} with seed {} already; go on with --resume, or choose another folder",
                found.method, found.seed
            );
            return Err(Error::checkpoint(folder, what));
        }
        Ok(saving)
    }

    /// Goes on with the runs in `folder`; those that are not there begin.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when one is damaged, or was made with other settings or data: then with the list of
    /// differences.
    pub fn resume(folder: &Path, every: u32, settings: &Settings, data: Source<'_>) -> Result<Saving> {
        let mut saving = Saving::new(folder, every, settings, data)?;
        // A folder of something else stays as it is.
        if saving.found(settings)?.is_empty() && folder::is_foreign(folder) {
            return Ok(saving);
        }
        saving = saving.locked()?;
        for run in saving.found(settings)? {
            let folder = saving.run(&run.method, run.seed);
            if let Some(latest) = folder.latest()? {
                saving.checked(&latest, &run.method, run.seed)?;
            }
        }
        Ok(saving)
    }

    fn new(folder: &Path, every: u32, settings: &Settings, data: Source<'_>) -> Result<Saving> {
        let mut written = serde_json::to_value(settings).map_err(|e| Error::Settings(e.to_string()))?;
        for (name, path) in settings.options.files() {
            let digest = sapwood_files::digest::file(path).map_err(sapwood_graph::Error::from)?;
            written[format!("{name}_sha256")] = digest.into();
        }
        let identity = Identity {
            source: data.spec.to_owned(),
            digest: data.digest.to_owned(),
            settings: written,
            open_ended: settings.lr_schedule.open_ended() && settings.options.rates.open_ended(),
        };
        Ok(Saving { folder: folder.to_owned(), every, identity, _lock: None })
    }

    /// The same, with the folder taken for this process if it is there.
    fn locked(self) -> Result<Saving> {
        let lock = if self.folder.is_dir() { folder::lock(&self.folder)? } else { None };
        Ok(Saving { _lock: lock.map(Arc::new), ..self })
    }

    /// The runs of `settings` that are saved, in the order in which they run.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when one is damaged.
    pub fn found(&self, settings: &Settings) -> Result<Vec<Found>> {
        Ok(self.progress(settings)?.into_iter().filter(|run| run.epoch > 0).collect())
    }

    /// How far each run of `settings` is, 0 epochs where it is not saved.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] when one is damaged.
    pub fn progress(&self, settings: &Settings) -> Result<Vec<Found>> {
        let mut runs = Vec::new();
        for s in 0..settings.seeds {
            let seed = settings.seed.wrapping_add(u64::from(s));
            for method in settings.methods() {
                let epoch = self.run(method, seed).latest()?.map_or(0, |latest| latest.epoch);
                runs.push(Found { method: method.to_owned(), seed, epoch });
            }
        }
        Ok(runs)
    }

    /// The folder of one run.
    pub fn run(&self, method: &str, seed: u64) -> RunFolder {
        RunFolder::new(self.folder.join(method).join(format!("seed-{seed}")))
    }

    /// Saves a run as `state` and `parts` describe it.
    pub(crate) fn save<T: Number>(&self, mut state: State, parts: &Parts<'_, T>) -> Result<()> {
        (state.source, state.data) = (self.identity.source.clone(), self.identity.digest.clone());
        state.settings = self.identity.written()?;
        let mut files = vec![
            ("weights.safetensors", tensors::weights(parts.network)?),
            ("optimiser.safetensors", tensors::optimiser(parts.network, parts.optimiser)?),
        ];
        if !parts.best.is_empty() {
            files.push(("best.safetensors", tensors::best(parts.network, parts.best)?));
        }
        files.push(("state.toml", state.to_toml()?.into_bytes()));
        self.run(&state.method, state.seed).save(state.epoch, &files)
    }

    /// The state in a checkpoint, if it is of this experiment and of the run whose folder it is in.
    fn checked(&self, latest: &Latest, method: &str, seed: u64) -> Result<State> {
        let state = State::read(latest)?;
        self.identity.check(&state, &latest.path)?;
        if (&*state.method, state.seed) != (method, seed) {
            let what = format!("is a run of {} with seed {}, in the folder of another one", state.method, state.seed);
            return Err(Error::checkpoint(&latest.path, what));
        }
        Ok(state)
    }

    /// Restores a run to its checkpoint, if it has one.
    pub(crate) fn load<T: Number>(&self, method: &str, seed: u64, parts: &mut Parts<'_, T>) -> Result<Option<State>> {
        let Some(latest) = self.run(method, seed).latest()? else { return Ok(None) };
        let state = self.checked(&latest, method, seed)?;
        tensors::read_weights(&latest.file("weights.safetensors")?, parts.network)?;
        tensors::read_optimiser(&latest.file("optimiser.safetensors")?, parts.network, parts.optimiser)?;
        if state.best.is_some() {
            *parts.best = tensors::read_best(&latest.file("best.safetensors")?, parts.network)?;
        }
        *parts.epoch = state.epoch;
        Ok(Some(state))
    }
}

/// Fills `network` with the weights of the epoch chosen in the checkpoint `latest`, or with the last ones where none was.
///
/// # Errors
/// [`Error::Checkpoint`] when a file is damaged or does not fit the network.
pub fn read_network<T: Number>(latest: &Latest, state: &State, network: &mut crate::Network<T>) -> Result<()> {
    let name = if state.best.is_some() { "best.safetensors" } else { "weights.safetensors" };
    tensors::read_weights(&latest.file(name)?, network)
}

/// Settings that a resumed experiment may change: they decide which runs there are or how they are computed, not what one
/// run becomes.
const FREE: [&str; 3] = ["seeds", "against", "recompute"];

impl Identity {
    /// The settings as a table of TOML.
    fn written(&self) -> Result<toml::Table> {
        let mut settings = self.settings.clone();
        if let Value::Object(members) = &mut settings {
            members.retain(|_, value| !value.is_null());
        }
        toml::Table::try_from(settings).map_err(|e| Error::Settings(format!("settings cannot be written: {e}")))
    }

    /// Whether a run of `old` epochs is the beginning of one of `new` epochs: its last evaluation is due in that one too.
    fn longer(&self, old: Option<&toml::Value>, new: Option<&toml::Value>) -> bool {
        let (old, new) = (old.and_then(as_count), new.and_then(as_count));
        let every = self.settings.get("eval_every").and_then(Value::as_i64).unwrap_or(1).max(1);
        old <= new && old.is_some_and(|old| old % every == 0)
    }

    /// Refuses a run of other settings or data.
    fn check(&self, state: &State, path: &Path) -> Result<()> {
        let now = self.written()?;
        let mut differences = Vec::new();
        if state.data != self.digest {
            differences.push("data: other files".to_owned());
        }
        let names = now.keys().chain(state.settings.keys().filter(|name| !now.contains_key(*name)));
        for name in names.filter(|name| !FREE.contains(&name.as_str())) {
            let (old, new) = (state.settings.get(name), now.get(name));
            let longer = name == "epochs" && self.open_ended && self.longer(old, new);
            if old != new && !longer {
                let shown = |value: Option<&toml::Value>| value.map_or_else(|| "none".into(), ToString::to_string);
                let why = match name == "epochs" {
                    true if !self.open_ended => " (a schedule depends on them)",
                    true if old.and_then(as_count) < new.and_then(as_count) => {
                        " (the old number is no multiple of --eval-every, so its last evaluation would be one too many)"
                    }
                    _ => "",
                };
                differences.push(format!("{name}: {} then, {} now{why}", shown(old), shown(new)));
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(Error::checkpoint(
            path,
            format!("was made with other settings (say the same again): {}", differences.join("; ")),
        ))
    }
}

fn as_count(value: &toml::Value) -> Option<i64> {
    value.as_integer()
}
