//! `--log FILE.jsonl`: one line per run and epoch, flushed as it is written, so that a run that ends early leaves whole
//! lines. A value that was not computed in an epoch is null. The log of a resumed experiment is cut back to what its
//! checkpoints hold, so that each epoch stands in it once.

use crate::checkpoint::Found;
use crate::experiment::EpochRecord;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
}

#[derive(Serialize)]
struct Line<'a> {
    method: &'a str,
    seed: String,
    epoch: u32,
    lr: f64,
    train_loss: f64,
    train_acc: Option<f64>,
    val_loss: Option<f64>,
    val_acc: Option<f64>,
    test_acc: Option<f64>,
    isolated: u64,
    train_s: f64,
    evaluate_s: Option<f64>,
}

/// What of a line says which epoch it is.
#[derive(Deserialize)]
struct Place {
    method: String,
    seed: String,
    epoch: u32,
}

impl Place {
    fn is_after(&self, run: &Found) -> bool {
        self.method == run.method && self.seed == run.seed.to_string() && self.epoch > run.epoch
    }
}

impl Log {
    /// Creates the file, replacing an old log. Any other file is left alone: it may be the data set.
    ///
    /// # Errors
    /// [`Error::Log`]; [`Error::Files`] for a file of another kind.
    pub fn create(path: &Path) -> Result<Log> {
        if path == Path::new("-") {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "a file is needed, not standard output");
            return Err(Error::Log { path: path.into(), source });
        }
        sapwood_files::check_replaceable(path, BEGINNING)?;
        let file = File::create(path).map_err(|source| Error::Log { path: path.into(), source })?;
        Ok(Log { path: path.into(), file, line: Vec::new() })
    }

    /// Opens the log of an experiment whose `runs` go on where they say: lines of their later epochs and a half-written last
    /// line go, lines of other runs stay. A log that is not there is begun.
    ///
    /// # Errors
    /// [`Error::Log`], also for a line that is no line of a log.
    pub fn resume(path: &Path, runs: &[Found]) -> Result<Log> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Log::create(path),
            Err(source) => return Err(Error::Log { path: path.into(), source }),
        };
        let mut kept = String::with_capacity(text.len());
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let no_line = |number: usize, why: &dyn std::fmt::Display| Error::Log {
            path: path.into(),
            source: std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                format!("line {number} is no line of a log: {why}"),
            ),
        };
        let tail = &text[whole..];
        if !tail.starts_with(BEGINNING) && !BEGINNING.starts_with(tail) {
            return Err(no_line(text[..whole].lines().count() + 1, &"it does not begin like one"));
        }
        for (number, line) in text[..whole].lines().enumerate() {
            let place: Place = serde_json::from_str(line).map_err(|e| no_line(number + 1, &e))?;
            if !runs.iter().any(|run| place.is_after(run)) {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        sapwood_files::write_atomic(path, |out| out.write_all(kept.as_bytes()))?;
        let file = File::options().append(true).open(path);
        let file = file.map_err(|source| Error::Log { path: path.into(), source })?;
        Ok(Log { path: path.into(), file, line: Vec::new() })
    }

    /// Appends the line of an epoch.
    ///
    /// # Errors
    /// [`Error::Log`].
    pub fn epoch(&mut self, record: &EpochRecord<'_>) -> Result<()> {
        let evaluation = record.evaluation.as_ref();
        let line = Line {
            method: record.method,
            seed: record.seed.to_string(),
            epoch: record.epoch,
            lr: record.lr,
            train_loss: record.train_loss,
            train_acc: evaluation.map(|e| e.train_acc),
            val_loss: evaluation.map(|e| e.val_loss),
            val_acc: evaluation.map(|e| e.val_acc),
            test_acc: evaluation.map(|e| e.test_acc),
            isolated: record.isolated,
            train_s: record.train_s,
            evaluate_s: evaluation.map(|_| record.evaluate_s),
        };
        self.line.clear();
        let written = serde_json::to_writer(&mut self.line, &line).map_err(std::io::Error::from);
        self.line.push(b'\n');
        // One write call per line: a reader never sees half of one.
        written
            .and_then(|()| self.file.write_all(&self.line))
            .map_err(|source| Error::Log { path: self.path.clone(), source })
    }
}

/// How every line begins.
const BEGINNING: &str = "{\"method\":\"";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_one_object_and_what_was_not_computed_is_null() {
        let path = std::env::temp_dir().join(format!("sapwood-log-{}.jsonl", std::process::id()));
        let mut log = Log::create(&path).unwrap();
        let mut record = EpochRecord {
            method: "none",
            seed: u64::MAX,
            epoch: 1,
            train_loss: 1.5,
            lr: 0.01,
            isolated: 3,
            evaluation: None,
            train_s: 0.1,
            evaluate_s: 0.0,
        };
        log.epoch(&record).unwrap();
        (record.epoch, record.train_loss) = (2, f64::NAN);
        log.epoch(&record).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[0]["seed"], &lines[0]["train_loss"]), (&"18446744073709551615".into(), &1.5.into()));
        assert!(lines[0]["val_acc"].is_null() && lines[1]["train_loss"].is_null());
    }

    #[test]
    fn a_resumed_log_holds_what_the_checkpoints_hold() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        let line = |method, seed, epoch| format!("{{\"method\":\"{method}\",\"seed\":\"{seed}\",\"epoch\":{epoch}}}\n");
        let whole =
            [line("none", 0, 1), line("none", 0, 2), line("none", 0, 3), line("ranked", 0, 1), line("none", 1, 1)];
        std::fs::write(&path, whole.concat() + "{\"method\":\"no").unwrap();
        let saved = |method: &str, seed, epoch| Found { method: method.into(), seed, epoch };
        Log::resume(&path, &[saved("none", 0, 2), saved("ranked", 0, 0)]).unwrap();
        let left = std::fs::read_to_string(&path).unwrap();
        assert_eq!(left, [&whole[0][..], &whole[1], &whole[4]].concat(), "the last is of a run that is not resumed");
        for precious in ["notes without an end of line", "{\"precious\":1}"] {
            std::fs::write(&path, precious).unwrap();
            assert!(Log::resume(&path, &[]).is_err() && Log::create(&path).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), precious);
        }
        std::fs::write(&path, "{}\n").unwrap();
        let text = Log::resume(&path, &[]).unwrap_err();
        let source = std::error::Error::source(&text).unwrap().to_string();
        assert!(source.starts_with("line 1 is no line of a log"), "{source}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = Log::create(Path::new("no/such/folder/x.jsonl")).unwrap_err();
        assert_eq!(error.to_string(), "cannot write the log no/such/folder/x.jsonl");
    }
}
