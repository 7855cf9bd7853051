//! Following an experiment: a bar on a terminal, and the log file if there is one.

use crate::cli::{Context, Failure};
use indicatif::{ProgressBar, ProgressStyle};
use sapwood_train::experiment::{EpochRecord, Observer, RunRecord};
use sapwood_train::{Error, Log, Result, Settings};

/// The follower of one experiment.
pub(super) struct Progress<'c> {
    cx: &'c Context,
    bar: ProgressBar,
    log: Option<Log>,
    /// What ended the log early; the runs go on.
    failure: Option<Error>,
    /// Runs whose last state could not be saved, and why.
    unsaved: Vec<String>,
}

impl<'c> Progress<'c> {
    /// A bar over all epochs of all runs at all rates; hidden unless stderr is a terminal.
    pub(super) fn new(cx: &'c Context, settings: &Settings, rates: usize, log: Option<Log>) -> Progress<'c> {
        let runs = settings.methods().count() as u64 * u64::from(settings.seeds) * rates as u64;
        let epochs = runs * u64::from(settings.epochs);
        let bar = if cx.progress() { ProgressBar::new(epochs) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} epochs, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Progress { bar, log, failure: None, unsaved: Vec::new(), cx }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// What could not be written, to be told once the results are printed.
    pub(super) fn failure(&mut self) -> Result<(), Failure> {
        if !self.unsaved.is_empty() {
            return Err(Failure::usage(format!("not saved to the end: {}", self.unsaved.join("; "))));
        }
        Ok(self.failure.take().map_or(Ok(()), Err)?)
    }
}

impl Observer for Progress<'_> {
    fn epoch(&mut self, record: &EpochRecord<'_>) -> Result<()> {
        if let Some(Err(failure)) = self.log.as_mut().map(|log| log.epoch(record)) {
            (self.log, self.failure) = (None, Some(failure));
        }
        if let Some(found) = &record.evaluation {
            self.bar.set_message(format!("{} seed {}: val {:.3}", record.method, record.seed, found.val_acc));
        }
        self.bar.inc(1);
        Ok(())
    }

    fn resumed(&mut self, method: &str, seed: u64, epochs: u32) {
        self.cx.detail(&format!("{method} seed {seed}: goes on after epoch {epochs}"));
        self.bar.inc(u64::from(epochs));
    }

    fn unsaved(&mut self, failure: &Error) {
        let why = std::error::Error::source(failure).map_or_else(String::new, |source| format!(": {source}"));
        self.cx.warn(&format!("{failure}{why}; the run goes on and is saved again at its next checkpoint"));
    }

    fn run(&mut self, record: &RunRecord) -> Result<()> {
        if let Some(why) = &record.unsaved {
            self.unsaved.push(format!("{} seed {}: {why}", record.method, record.seed));
        }
        if let Some(broken) = &record.broken {
            self.bar
                .set_message(format!("{} seed {}: no number in epoch {}", record.method, record.seed, broken.epoch));
        }
        Ok(())
    }
}
