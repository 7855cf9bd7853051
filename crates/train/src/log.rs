//! `--log FILE.jsonl`: one line per run and epoch, flushed as it is written, so that a run that ends early leaves whole
//! lines. A value that was not computed in an epoch is null.

use crate::experiment::EpochRecord;
use crate::{Error, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};
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

impl Log {
    /// Creates the file, replacing an old log. Any other file is left alone: it may be the data set.
    ///
    /// # Errors
    /// [`Error::Log`].
    pub fn create(path: &Path) -> Result<Log> {
        let first = if path.is_file() { first_byte(path) } else { Ok(None) };
        if !matches!(first, Ok(None | Some(b'{'))) {
            let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "it holds something else than a log");
            return Err(Error::Log { path: path.into(), source });
        }
        let file = File::create(path).map_err(|source| Error::Log { path: path.into(), source })?;
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

fn first_byte(path: &Path) -> std::io::Result<Option<u8>> {
    let mut byte = [0];
    Ok((File::open(path)?.read(&mut byte)? == 1).then_some(byte[0]))
}

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
    fn a_folder_that_is_not_there_is_named() {
        let error = Log::create(Path::new("no/such/folder/x.jsonl")).unwrap_err();
        assert_eq!(error.to_string(), "cannot write the log no/such/folder/x.jsonl");
    }
}
