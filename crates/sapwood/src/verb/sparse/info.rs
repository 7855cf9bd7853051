//! `sapwood sparse info`: shape, entries, degrees, structure, bytes.

use super::input::Input;
use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use sapwood_sparse::describe::{Description, describe};
use sapwood_sparse::structure::Bytes;
use sapwood_sparse::{Structure, with_matrix};
use serde::Serialize;
use std::io::Write;

/// Read a matrix and print what it looks like.
#[derive(Debug, Args)]
pub(super) struct Info {
    #[command(flatten)]
    input: Input,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    rows: usize,
    cols: usize,
    entries: usize,
    value_type: &'static str,
    index_type: &'static str,
    offset_type: &'static str,
    max_degree: usize,
    mean_degree: f64,
    empty_rows: usize,
    empty_cols: usize,
    self_loops: usize,
    duplicates: u64,
    symmetric: bool,
    canonical: bool,
    formats: Vec<Format>,
}

/// What the matrix takes in one format.
#[derive(Serialize)]
struct Format {
    name: &'static str,
    bytes: u64,
    /// Null without entries.
    bytes_per_entry: Option<f64>,
    index_bytes: u64,
    offset_bytes: u64,
    value_bytes: u64,
    padding_entries: u64,
}

impl Format {
    /// CSR has no padding.
    fn csr(bytes: Bytes, entries: usize) -> Format {
        Format {
            name: "csr",
            bytes: bytes.total(),
            bytes_per_entry: (entries > 0).then(|| bytes.total() as f64 / entries as f64),
            index_bytes: bytes.indices,
            offset_bytes: bytes.offsets,
            value_bytes: bytes.values,
            padding_entries: 0,
        }
    }
}

impl Run for Info {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let loaded = self.input.load(cx)?;
        let (seen, bytes) = with_matrix!(&loaded.matrix, m => (describe(m)?, m.bytes()));
        let Description { rows, cols, entries, max_degree, mean_degree, empty_rows, empty_cols, .. } = seen;
        let [value_type, index_type, offset_type] = loaded.matrix.types();
        let report = Report {
            schema: "sapwood.sparse.info/1",
            rows,
            cols,
            entries,
            value_type,
            index_type,
            offset_type,
            max_degree,
            mean_degree,
            empty_rows,
            empty_cols,
            self_loops: seen.self_loops,
            duplicates: loaded.facts.duplicates,
            symmetric: seen.symmetric,
            canonical: seen.canonical,
            formats: vec![Format::csr(bytes, entries)],
        };
        cx.emit(&report, |out| print(&report, loaded.facts.format, self.input.duplicates_were(), out))?;
        Ok(Exit::Done)
    }
}

fn print(r: &Report, file: &str, duplicates: &str, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{} x {}, {} entries (format {file})", r.rows, r.cols, r.entries)?;
    writeln!(out, "types      values {}, indices {}, offsets {}", r.value_type, r.index_type, r.offset_type)?;
    let (mean, most) = (r.mean_degree, r.max_degree);
    writeln!(
        out,
        "degrees    mean {mean:.3}, largest {most}; {} empty rows, {} empty columns",
        r.empty_rows, r.empty_cols
    )?;
    let symmetric = if r.symmetric { "symmetric" } else { "not symmetric" };
    let canonical = if r.canonical { "canonical" } else { "not canonical" };
    writeln!(
        out,
        "structure  {symmetric}, {canonical}, {} self loops, {} duplicates {duplicates}",
        r.self_loops, r.duplicates
    )?;
    for f in &r.formats {
        let each = f.bytes_per_entry.map_or_else(String::new, |each| format!(", {each:.3} an entry"));
        let (i, o, v) = (f.index_bytes, f.offset_bytes, f.value_bytes);
        writeln!(out, "{:<9}  {} bytes{each}: {i} indices, {o} offsets, {v} values", f.name, f.bytes)?;
    }
    Ok(())
}
