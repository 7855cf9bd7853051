//! Comma-separated text, line by line: a line is never longer than [`LONGEST`], and a file of any size takes no memory.
//! Lines are numbered rows here, so that an empty one in the middle is a mistake.

use crate::dataset::lines::whole;
use crate::dataset::tsv::labels::MOST;
use crate::graph::NodeId;
use crate::{Error, Result};
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

const LONGEST: u64 = 64 << 20;

/// A file being read.
pub(super) struct Csv {
    /// What messages call it.
    pub(super) name: String,
    path: PathBuf,
    stream: Box<dyn BufRead + Send>,
    line: u64,
    buffer: Vec<u8>,
}

/// A line without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line(Vec<u8>);

impl Line {
    pub(super) fn text(&self) -> &[u8] {
        &self.0
    }

    /// The only number of the line.
    pub(super) fn whole(&self) -> Option<u64> {
        whole(&self.0)
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|&b| b == b',').map(<[u8]>::trim_ascii)
    }
}

impl Csv {
    pub(super) fn open(path: &Path) -> Result<Csv> {
        let stream = sapwood_files::open(path)?;
        let name = path.display().to_string();
        Ok(Csv { name, path: path.to_owned(), stream, line: 0, buffer: Vec::new() })
    }

    /// The next line; `None` at the end of the file or of what follows but blank lines.
    pub(super) fn next(&mut self) -> Result<Option<Line>> {
        if self.advance()? == 0 {
            return Ok(None);
        }
        if self.trimmed().is_empty() {
            let blank = self.line;
            while self.advance()? > 0 {
                if !self.trimmed().is_empty() {
                    return Err(Error::line(&self.name, blank, "an empty line; lines stand for nodes in their order"));
                }
            }
            return Ok(None);
        }
        Ok(Some(Line(self.trimmed().to_vec())))
    }

    fn trimmed(&self) -> &[u8] {
        let text = self.buffer.trim_ascii();
        if self.line == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text) } else { text }
    }

    /// Reads the next line into the buffer; its length with its end, 0 at the end of the file.
    fn advance(&mut self) -> Result<usize> {
        self.buffer.clear();
        self.line += 1;
        let mut limited = self.stream.by_ref().take(LONGEST);
        let read = limited.read_until(b'\n', &mut self.buffer);
        let read = read.map_err(|e| sapwood_files::Error::io("read", &self.path, e))?;
        if read as u64 == LONGEST {
            return Err(self.wrong(format!("the line is longer than {LONGEST} bytes")));
        }
        Ok(read)
    }

    /// An error about the line that was read last.
    pub(super) fn wrong(&self, what: impl Into<String>) -> Error {
        Error::line(&self.name, self.line, what)
    }

    /// A node id below `nodes`.
    pub(super) fn node(&self, field: &[u8], nodes: usize) -> Result<NodeId> {
        match whole(field) {
            Some(id) if id < nodes as u64 => Ok(NodeId(id as u32)),
            Some(id) => Err(self.wrong(format!("node {id} does not exist, num-node-list.csv says there are {nodes}"))),
            None => {
                let shown = String::from_utf8_lossy(field);
                Err(self.wrong(format!("'{shown}' is no node id, write a whole number from 0")))
            }
        }
    }

    /// Refuses a file with fewer lines than nodes.
    pub(super) fn must_have(&self, lines: usize, nodes: usize) -> Result<()> {
        if lines == nodes {
            return Ok(());
        }
        Err(Error::file(&self.name, format!("{lines} lines, but num-node-list.csv says there are {nodes} nodes")))
    }
}

pub(super) fn number(field: &[u8]) -> Option<f32> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// A class: a whole number, also written as `3.0`; −1 for `nan` and for nothing in quotes.
pub(super) fn class(field: &[u8]) -> Option<i32> {
    if field == b"\"\"" {
        return Some(-1);
    }
    let value: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    match value {
        v if v.is_nan() || v == -1.0 => Some(-1),
        v if v >= 0.0 && v < MOST as f64 && v.fract() == 0.0 => Some(v as i32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_may_be_written_as_reals() {
        for (text, class_of) in
            [("3", Some(3)), ("3.0", Some(3)), ("nan", Some(-1)), ("NaN", Some(-1)), ("-1", Some(-1))]
        {
            assert_eq!(class(text.as_bytes()), class_of, "{text}");
        }
        for bad in ["", "-2", "0.5", "1048576", "inf", "x", "1e300"] {
            assert_eq!(class(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(class(b"\"\""), Some(-1));
    }
}
