//! The matrix of a command: its file and how to read it.

use super::choice;
use crate::cli::{Context, Failure, resources};
use clap::Args;
use sapwood_sparse::io::mtx::Banner;
use sapwood_sparse::io::{self, Duplicates, Loaded, ReadOptions, Values};
use std::path::PathBuf;

/// Flags that say which matrix.
#[derive(Debug, Args)]
pub(super) struct Input {
    /// Edge list, Matrix Market or gaps file, compressed or not; `-` is standard input
    file: PathBuf,
    /// Edge list: every edge stands for both directions, self loops for one entry
    #[arg(long)]
    undirected: bool,
    /// What happens to repeated entries (those of a pattern collapse under `sum`)
    #[arg(long, value_name = "sum|keep|reject", default_value = "sum", value_parser = duplicates)]
    duplicates: Duplicates,
    /// Drop the values
    #[arg(long)]
    pattern: bool,
    /// Number type of values and of dense operands
    #[arg(long, value_name = "f64|f32", default_value = "f32", value_parser = dtype)]
    pub(super) dtype: Dtype,
    /// Storage format
    #[arg(long, value_name = "auto|csr", default_value = "auto", value_parser = format)]
    format: Format,
    /// Edge list: number of nodes, whatever the file says; elsewhere: so many rows are meant, however short the file
    #[arg(long, value_name = "N")]
    nodes: Option<u64>,
    /// Edge list: ids count from 1
    #[arg(long)]
    one_based: bool,
    /// Edge list: compact sparse ids, first seen first
    #[arg(long)]
    relabel: bool,
    /// Matrix Market: what a file without a banner holds, such as "coordinate real general"
    #[arg(long, value_name = "KIND")]
    assume: Option<Banner>,
    /// Of .spw files, a later step
    #[arg(long, hide = true)]
    trust: bool,
}

/// Number type of values and of dense operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dtype {
    F64,
    F32,
}

/// Storage format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// The best one, which is CSR while there is no other.
    Auto,
    Csr,
}

fn duplicates(word: &str) -> Result<Duplicates, String> {
    choice(word, &[("sum", Duplicates::Sum), ("keep", Duplicates::Keep), ("reject", Duplicates::Reject)], &[])
}

fn dtype(word: &str) -> Result<Dtype, String> {
    choice(word, &[("f64", Dtype::F64), ("f32", Dtype::F32)], &["bf16", "f16"])
}

fn format(word: &str) -> Result<Format, String> {
    let kind = word.split(':').next().unwrap_or(word); // sell:8,256 and bsr:4 have sizes
    let later = ["csc", "sell", "bsr", "dcsr", "packed", "sym"];
    let known = [("auto", Format::Auto), ("csr", Format::Csr)];
    choice(if later.contains(&kind) { kind } else { word }, &known, &later)
}

impl Input {
    /// Reads the matrix.
    pub(super) fn load(&self, cx: &Context) -> Result<Loaded, Failure> {
        if self.trust {
            return Err(Failure::usage("--trust: .spw files are not built yet"));
        }
        let options = ReadOptions {
            values: match (self.pattern, self.dtype) {
                (true, _) => Values::Pattern,
                (false, Dtype::F32) => Values::StoredF32,
                (false, Dtype::F64) => Values::StoredF64,
            },
            duplicates: self.duplicates,
            undirected: self.undirected,
            nodes: self.nodes,
            one_based: self.one_based,
            relabel: self.relabel,
            assume: self.assume,
            memory: resources::available_bytes(),
        };
        let loaded = io::read(&self.file, &options)?;
        let seen = &loaded.facts;
        cx.detail(&format!("{}: {} rows were not sorted", seen.format, seen.unsorted_rows));
        Ok(loaded)
    }

    /// What [`Input::load`] did with repeated entries.
    pub(super) fn duplicates_were(&self) -> &'static str {
        match self.duplicates {
            Duplicates::Sum => "merged",
            Duplicates::Keep => "kept",
            Duplicates::Reject => "refused",
        }
    }

    /// Name of the storage format in use.
    pub(super) fn format(&self) -> &'static str {
        match self.format {
            Format::Auto | Format::Csr => "csr",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_values_are_refused_by_name() {
        assert_eq!(dtype("f64"), Ok(Dtype::F64));
        assert_eq!(dtype("bf16"), Err("not built yet; use f64, f32".to_owned()));
        assert_eq!(dtype("int8"), Err("no such value; use f64, f32".to_owned()));
        assert_eq!(format("csr"), Ok(Format::Csr));
        assert_eq!(format("sell:8,256"), Err("not built yet; use auto, csr".to_owned()));
        assert_eq!(format("csr:4"), Err("no such value; use auto, csr".to_owned()));
    }
}
