//! `edges.tsv`, `arcs.tsv`, `edges_weighted.tsv`: `u<TAB>v[<TAB>w]`; `selfloops.tsv`: `u[<TAB>w]`.

use super::Nodes;
use crate::dataset::files::{Files, Text};
use crate::dataset::{LoadOptions, Weights};
use crate::graph::{Edge, GraphOptions};
use crate::{Error, Result};

/// The edges as listed.
pub(super) struct Edges {
    pub(super) list: Vec<Edge>,
    pub(super) options: GraphOptions,
    /// The main file.
    pub(super) file: String,
    pub(super) warnings: Vec<String>,
}

pub(super) fn read(files: &mut Files, options: &LoadOptions, nodes: &mut Nodes) -> Result<Edges> {
    let (text, asked) = main_file(files, options)?;
    let (mut list, has_weights) = parse(&text, nodes)?;
    let mut warnings = Vec::new();
    if asked && !has_weights {
        if text.name.contains("edges_weighted.tsv") {
            return Err(Error::file(text.name, "no line has a third column, the weight"));
        }
        let arcs = text.name.contains("arcs.tsv");
        let why =
            if arcs { "edges_weighted.tsv is not read with --directed" } else { "there is no edges_weighted.tsv" };
        warnings.push(format!("{} has no weights, and {why}: every edge counts 1", text.name));
    }
    let weighted = has_weights && options.weights != Weights::Ignored;
    if let Some(loops) = files.text("selfloops.tsv")? {
        self_loops(&loops, nodes, &mut list)?;
    }
    Ok(Edges { list, options: GraphOptions { directed: options.directed, weighted }, file: text.name, warnings })
}

/// The file to read, and whether weights were asked for.
fn main_file(files: &mut Files, options: &LoadOptions) -> Result<(Text, bool)> {
    let asked = options.weights == Weights::Asked;
    let mut order = vec!["edges.tsv"];
    if asked {
        order.insert(0, "edges_weighted.tsv");
    }
    if options.directed {
        order.insert(0, "arcs.tsv");
    }
    for name in order {
        if let Some(text) = files.text(name)? {
            return Ok((text, asked));
        }
    }
    let what = if files.names()?.iter().any(|n| n == "arcs.tsv") {
        "there is no edges.tsv; --directed reads arcs.tsv"
    } else {
        "there is no edges.tsv; --weighted reads edges_weighted.tsv"
    };
    Err(Error::file(files.place(), what))
}

const FORM: &str = "u<TAB>v or u<TAB>v<TAB>weight";

fn parse(text: &Text, nodes: &mut Nodes) -> Result<(Vec<Edge>, bool)> {
    let mut list = Vec::with_capacity(text.bytes.len() / 12);
    let (mut columns, mut top, mut top_line) = (0, 0, 0);
    for (line, bytes) in text.lines() {
        let (fields, count) = text.fields::<3>(line, bytes, 2, FORM)?;
        if columns == 0 {
            columns = count;
        } else if columns != count {
            let what =
                format!("{count} columns, but the lines before have {columns}; give every edge a weight or none");
            return Err(text.wrong(line, what));
        }
        let from = text.node(line, fields[0], nodes.fixed)?.0;
        let to = text.node(line, fields[1], nodes.fixed)?.0;
        let weight = if count == 3 { text.weight(line, fields[2])? } else { 1.0 };
        if from.max(to) >= top {
            (top, top_line) = (from.max(to) + 1, line);
        }
        list.push(Edge { from, to, weight });
    }
    nodes.need(top as usize, || format!("{}:{top_line}", text.name));
    Ok((list, columns == 3))
}

fn self_loops(text: &Text, nodes: &mut Nodes, list: &mut Vec<Edge>) -> Result<()> {
    for (line, bytes) in text.lines() {
        let (fields, count) = text.fields::<2>(line, bytes, 1, "u or u<TAB>weight")?;
        let node = text.node(line, fields[0], nodes.fixed)?.0;
        let weight = if count == 2 { text.weight(line, fields[1])? } else { 1.0 };
        nodes.need(node as usize + 1, || format!("{}:{line}", text.name));
        list.push(Edge { from: node, to: node, weight });
    }
    Ok(())
}
