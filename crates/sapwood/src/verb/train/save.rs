//! `-o`, `--checkpoint-every` and `--resume`: where the runs of an experiment are saved; and `--save-predictions`.

use super::flags::Saving as Flags;
use crate::cli::{Context, Failure};
use crate::verb::page::check_place;
use sapwood_train::checkpoint::{Extent, LOCK, Saving, Source};
use sapwood_train::evaluate::BROKEN;
use sapwood_train::experiment::Outcome;
use sapwood_train::{Log, Request, Settings};
use std::path::{Path, PathBuf};

/// Epochs from one checkpoint to the next.
const EVERY: u32 = 50;

/// How a file of predictions begins.
pub(super) const PREDICTIONS: &str = "node\t";

/// The flags, checked.
#[derive(Debug)]
pub(super) struct Plan {
    folder: Option<PathBuf>,
    resume: bool,
    every: u32,
}

impl Plan {
    pub(super) fn new(flags: &Flags) -> Result<Plan, Failure> {
        if let Some(path) = &flags.save_predictions {
            check_place("--save-predictions", path, PREDICTIONS)?;
        }
        let folder = flags.resume.clone().or_else(|| flags.out.clone());
        let every = flags.checkpoint_every.unwrap_or(EVERY);
        if every == 0 {
            return Err(Failure::usage("--checkpoint-every must be 1 or more, not 0"));
        }
        if flags.checkpoint_every.is_some() && folder.is_none() {
            return Err(Failure::usage("--checkpoint-every without a place to save").hint("say where with -o DIR"));
        }
        Ok(Plan { folder, resume: flags.resume.is_some(), every })
    }

    /// Whether runs are taken up.
    pub(super) fn resumes(&self) -> bool {
        self.resume
    }

    /// Where the runs of `settings` are saved, if anywhere; in the folder `part` of the one that was named.
    pub(super) fn open(
        &self,
        settings: &Settings,
        source: Source<'_>,
        part: Option<&str>,
    ) -> Result<Option<Saving>, Failure> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let folder = part.map_or_else(|| folder.clone(), |part| folder.join(part));
        let saving = if self.resume {
            Saving::resume(&folder, self.every, settings, source)?
        } else {
            Saving::start(&folder, self.every, settings, source)?
        };
        Ok(Some(saving))
    }

    /// Refuses to resume where none of `savings` holds a run; in an empty folder all runs begin, and that is said.
    pub(super) fn must_find(&self, cx: &Context, savings: &[Saving], settings: &Settings) -> Result<(), Failure> {
        let Some(folder) = self.folder.as_ref().filter(|_| self.resume) else { return Ok(()) };
        for saving in savings {
            if !saving.found(settings)?.is_empty() {
                return Ok(());
            }
        }
        if holds_no_file(folder) {
            cx.note(&format!("{}: nothing is saved there yet, all runs begin", folder.display()));
            return Ok(());
        }
        let methods: Vec<&str> = settings.methods().collect();
        let hint = format!("looked for {} from seed {}", methods.join(", "), settings.seed);
        Err(Failure::usage(format!("--resume {}: no run is saved there", folder.display())).hint(hint))
    }

    /// The log of an experiment: a new one, or the one of the runs that are taken up, cut back to their checkpoints.
    pub(super) fn log(
        &self,
        path: Option<&Path>,
        saving: Option<&Saving>,
        settings: &Settings,
    ) -> Result<Option<Log>, Failure> {
        let Some(path) = path else { return Ok(None) };
        Ok(Some(match saving.filter(|_| self.resume) {
            Some(saving) => Log::resume(path, &saving.progress(settings)?)?,
            None => Log::create(path)?,
        }))
    }
}

/// Fills in what decides how many runs there are and how long, where no flag says it, with what was saved.
pub(super) fn go_as_far(cx: &Context, folder: &Path, request: &mut Request) {
    let saved = Extent::of(folder);
    let missing = |said: &mut Option<u32>, saved: Option<u32>, name: &str| {
        if said.is_none() && saved.is_some() {
            *said = saved;
            saved.map(|n| format!("{n} {name}{}", if n == 1 { "" } else { "s" }))
        } else {
            None
        }
    };
    let epochs = missing(&mut request.epochs, saved.epochs, "epoch");
    let taken: Vec<String> = epochs.into_iter().chain(missing(&mut request.seeds, saved.seeds, "seed")).collect();
    if !taken.is_empty() {
        cx.note(&format!("{}: {}, as saved", folder.display(), taken.join(" and ")));
    }
}

/// Refuses one path under two flags: one file would replace the other.
pub(super) fn check_distinct(places: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    for (at, &(flag, path)) in places.iter().enumerate() {
        if let Some((other, _)) = places[..at].iter().find(|(_, other)| path.is_some() && *other == path) {
            let path = path.unwrap_or_else(|| Path::new("")).display();
            return Err(Failure::usage(format!("{flag} {path}: {other} goes there too")));
        }
    }
    Ok(())
}

/// Whether `folder` is one, with nothing but folders in it: what a kill before the first checkpoint leaves.
fn holds_no_file(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().all(|entry| entry.file_name() == LOCK || holds_no_file(&entry.path()))
}

/// Writes the class that each run gives to each node: one line a node, one column a run.
pub(super) fn predictions(cx: &Context, path: &Path, labels: &[i32], outcome: &Outcome) -> Result<(), Failure> {
    let runs: Vec<_> = outcome.methods.iter().flat_map(|m| &m.runs).collect();
    sapwood_files::write_atomic(path, |out| {
        write!(out, "{PREDICTIONS}label")?;
        runs.iter().try_for_each(|run| write!(out, "\t{}:{}", run.method, run.seed))?;
        writeln!(out)?;
        for (node, label) in labels.iter().enumerate() {
            write!(out, "{node}\t{label}")?;
            // A run that broke before anything was chosen has no network to ask.
            let predicted = runs.iter().map(|run| run.inspection.as_ref().map_or(BROKEN, |seen| seen.predicted[node]));
            predicted.into_iter().try_for_each(|found| write!(out, "\t{}", class(found)))?;
            writeln!(out)?;
        }
        Ok(())
    })?;
    cx.note(&format!("predictions of {} runs: {}", runs.len(), path.display()));
    Ok(())
}

/// A class as files have it; −1 where a network gave no number.
pub(super) fn class(predicted: u32) -> i64 {
    if predicted == BROKEN { -1 } else { i64::from(predicted) }
}
