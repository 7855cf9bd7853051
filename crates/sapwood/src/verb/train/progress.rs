//! Following an experiment: a bar on a terminal, and the log file if there is one.

use crate::cli::Context;
use indicatif::{ProgressBar, ProgressStyle};
use sapwood_train::experiment::{EpochRecord, Observer, RunRecord};
use sapwood_train::{Error, Log, Result, Settings};

/// The follower of one experiment.
pub(super) struct Progress {
    bar: ProgressBar,
    log: Option<Log>,
    /// What ended the log early; the runs go on.
    failure: Option<Error>,
}

impl Progress {
    /// A bar over all epochs of all runs at all rates; hidden unless stderr is a terminal.
    pub(super) fn new(cx: &Context, settings: &Settings, rates: usize, log: Option<Log>) -> Progress {
        let runs = settings.methods().count() as u64 * u64::from(settings.seeds) * rates as u64;
        let epochs = runs * u64::from(settings.epochs);
        let bar = if cx.progress() { ProgressBar::new(epochs) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} epochs, {eta} left  {msg}") {
            bar.set_style(style);
        }
        Progress { bar, log, failure: None }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// What ended the log early, to be told once the results are printed.
    pub(super) fn log_failure(&mut self) -> Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }
}

impl Observer for Progress {
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

    fn run(&mut self, record: &RunRecord) -> Result<()> {
        if let Some(broken) = &record.broken {
            self.bar
                .set_message(format!("{} seed {}: no number in epoch {}", record.method, record.seed, broken.epoch));
        }
        Ok(())
    }
}
