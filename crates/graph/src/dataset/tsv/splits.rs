//! `split.tsv` and `split_NAME.tsv`: `node<TAB>train|val|test`, or with a header `node<TAB>s0<TAB>s1…` and one letter per
//! column, t v e or - for none. A node that is not listed is in no part.

use super::Nodes;
use crate::dataset::files::{Files, Text};
use crate::dataset::split::{PUBLIC, Split};
use crate::graph::NodeId;
use crate::{Error, Result};

/// All splits: that of `split.tsv` first, the others by name.
pub(super) fn read(files: &mut Files, nodes: &mut Nodes) -> Result<Vec<Split>> {
    let mut names: Vec<String> = files.names()?;
    names.retain(|n| n == "split.tsv" || (n.starts_with("split_") && n.ends_with(".tsv")));
    names.dedup();
    names.sort_by_key(|n| (n != "split.tsv", n.clone()));
    let mut splits = Vec::new();
    for file in names {
        let name = file.strip_prefix("split_").and_then(|n| n.strip_suffix(".tsv")).unwrap_or(PUBLIC);
        if let Some(text) = files.text(&file)? {
            splits.extend(parse(&text, name, nodes)?);
        }
    }
    Ok(splits)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Train,
    Val,
    Test,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Train => "train",
            Part::Val => "val",
            Part::Test => "test",
        }
    }
}

fn parse(text: &Text, name: &str, nodes: &mut Nodes) -> Result<Vec<Split>> {
    let header = text.lines().next().filter(|(_, l)| l.split(u8::is_ascii_whitespace).next() == Some(b"node"));
    let columns = header.map_or(1, |(_, line)| words(line).count() - 1);
    if columns == 0 {
        return Err(Error::file(text.name.clone(), "the header names no split; write node<TAB>s0<TAB>s1…"));
    }
    let mut entries: Vec<Vec<(NodeId, Part, u64)>> = vec![Vec::new(); columns];
    for (line, bytes) in text.lines().skip(usize::from(header.is_some())) {
        let mut fields = words(bytes);
        let node = text.node(line, fields.next().unwrap_or_default(), nodes.fixed)?;
        nodes.need(node.index() + 1, || format!("{}:{line}", text.name));
        let mut count = 0;
        for (field, column) in fields.by_ref().zip(&mut entries) {
            count += 1;
            if let Some(part) = part(text, line, field, header.is_some())? {
                column.push((node, part, line));
            }
        }
        if count < columns || fields.next().is_some() {
            let what = format!("a line must have a node and {columns} more columns");
            return Err(text.wrong(line, what));
        }
    }
    let split = |(i, entries)| {
        let name = if header.is_some() { format!("{name}:{i}") } else { name.to_owned() };
        collect(text, name, entries)
    };
    entries.into_iter().enumerate().map(split).collect()
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty())
}

fn part(text: &Text, line: u64, field: &[u8], letters: bool) -> Result<Option<Part>> {
    match (letters, field) {
        (false, b"train") | (true, b"t") => Ok(Some(Part::Train)),
        (false, b"val") | (true, b"v") => Ok(Some(Part::Val)),
        (false, b"test") | (true, b"e") => Ok(Some(Part::Test)),
        (true, b"-") => Ok(None),
        _ => {
            let shown = String::from_utf8_lossy(field);
            let known = if letters { "t, v, e or - (train, val, test, none)" } else { "train, val or test" };
            Err(text.wrong(line, format!("'{shown}' is no part of a split, write {known}")))
        }
    }
}

/// Sorts the entries of one split by node; a node in two parts is an error, told for the first line that repeats one.
fn collect(text: &Text, name: String, mut entries: Vec<(NodeId, Part, u64)>) -> Result<Split> {
    entries.sort_by_key(|&(node, _, line)| (node, line));
    let clash = entries.windows(2).filter(|w| w[0].0 == w[1].0 && w[0].1 != w[1].1).min_by_key(|w| w[1].2);
    if let Some(&[(node, first, _), (_, second, line)]) = clash {
        let (first, second) = (first.name(), second.name());
        return Err(text.wrong(line, format!("node {node} is in {first} and in {second} of split '{name}'")));
    }
    entries.dedup_by_key(|e| e.0);
    let of = |part| entries.iter().filter(|e| e.1 == part).map(|e| e.0).collect();
    Ok(Split { name, train: of(Part::Train), val: of(Part::Val), test: of(Part::Test) })
}
