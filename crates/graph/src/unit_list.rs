//! Text files that list units of a graph by their ends: `u<TAB>v`, or `u<TAB>v<TAB>number`.

use crate::dataset::files::{Files, Home, Text};
use crate::{Error, Graph, NodeId, Result};
use std::path::Path;

/// A line of such a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    /// Number of the unit.
    pub(crate) unit: u32,
    /// Line number from 1.
    pub(crate) line: u64,
    /// The ends stand in the graph's order, not turned around; always true for a directed graph.
    pub(crate) forth: bool,
    /// Third column; 0 if there is none.
    pub(crate) value: f64,
}

/// The unit of u and v: their pair in any order, or the arc u → v of a directed graph.
pub(crate) fn unit_of(graph: &Graph, u: NodeId, v: NodeId) -> Option<u32> {
    let at = graph.neighbours(v).binary_search(&u.0).ok()?;
    let row = graph.rows().pattern().row_range(v.index());
    graph.rows().unit().get(row.start + at).copied()
}

/// A unit by its ends, for messages.
pub(crate) fn shown(graph: &Graph, unit: u32) -> String {
    match graph.pair_ends().nth(unit as usize) {
        Some((head, tail)) if graph.directed() => format!("arc {tail} -> {head}"),
        Some((u, v)) => format!("pair {u} - {v}"),
        None => format!("unit {unit}"),
    }
}

/// All lines of the file, each with its unit.
pub(crate) fn read(path: &Path, graph: &Graph, third: Option<&str>) -> Result<Vec<Line>> {
    let text = open(path)?;
    let (columns, form) = match third {
        Some(what) => (3, format!("u<TAB>v<TAB>{what}")),
        None => (2, "u<TAB>v".to_owned()),
    };
    let mut lines = Vec::new();
    for (line, bytes) in text.lines() {
        let (fields, count) = text.fields::<3>(line, bytes, columns, &form)?;
        if count != columns {
            return Err(text.wrong(line, format!("{count} columns, write {form}")));
        }
        let ends = [text.node(line, fields[0], None)?, text.node(line, fields[1], None)?];
        if let Some(node) = ends.iter().find(|node| node.index() >= graph.nodes()) {
            return Err(text.wrong(line, format!("node {node} does not exist, the graph has {}", graph.nodes())));
        }
        let [u, v] = ends;
        let Some(unit) = unit_of(graph, u, v) else {
            let what = if graph.directed() { format!("no arc {u} -> {v}") } else { format!("no pair {u} - {v}") };
            return Err(text.wrong(line, format!("the graph has {what}")));
        };
        let value = if columns == 3 { number(&text, line, fields[2])? } else { 0.0 };
        lines.push(Line { unit, line, forth: graph.directed() || u <= v, value });
    }
    Ok(lines)
}

/// One number for each unit of the graph; `what` names them in messages. Both directions of a pair may be listed if they
/// agree.
pub(crate) fn values(path: &Path, graph: &Graph, what: &str) -> Result<Vec<f64>> {
    let name = path.display().to_string();
    let mut known: Vec<Option<Line>> = vec![None; graph.pairs() as usize];
    for line in read(path, graph, Some(what))? {
        let slot = &mut known[line.unit as usize];
        match slot {
            Some(first) if first.forth == line.forth => {
                let what = format!("{} stands already in line {}", shown(graph, line.unit), first.line);
                return Err(Error::line(&name, line.line, what));
            }
            Some(first) if first.value != line.value => {
                let what = format!(
                    "{} has {} here and {} in line {}; both directions must agree",
                    shown(graph, line.unit),
                    line.value,
                    first.value,
                    first.line
                );
                return Err(Error::line(&name, line.line, what));
            }
            _ => *slot = Some(line),
        }
    }
    let missing = |unit: usize| Error::file(&name, format!("{} has no {what}", shown(graph, unit as u32)));
    known.iter().enumerate().map(|(unit, line)| line.map(|l| l.value).ok_or_else(|| missing(unit))).collect()
}

/// A finite number.
pub(crate) fn number(text: &Text, line: u64, field: &[u8]) -> Result<f64> {
    let shown = String::from_utf8_lossy(field);
    match shown.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x + 0.0),
        Ok(_) => Err(text.wrong(line, format!("{shown} is not a finite number"))),
        Err(_) => Err(text.wrong(line, format!("'{shown}' is no number"))),
    }
}

/// The file, decompressed if its name says so.
pub(crate) fn open(path: &Path) -> Result<Text> {
    let missing = || Error::file(path.display().to_string(), "there is no such file");
    let name = path.file_name().ok_or_else(missing)?.to_string_lossy().into_owned();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => ".".into(),
    };
    Files::new(Home::Folder(folder)).text(&name)?.ok_or_else(missing)
}
