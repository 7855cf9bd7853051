//! `labels.tsv`: `node<TAB>class`, −1 or missing = none; `classes.tsv`: `class<TAB>name[<TAB>…]`.

use super::Nodes;
use crate::dataset::GraphData;
use crate::dataset::files::{Files, Text};
use crate::dataset::lines::whole;
use crate::graph::NodeId;
use crate::{Error, Result};

/// Labels as listed.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) of: Vec<(NodeId, i32)>,
    pub(super) classes: usize,
    pub(super) names: Vec<String>,
}

/// Classes are numbered densely; beyond this many, a label is a mistake.
pub(in crate::dataset) const MOST: u64 = 1 << 20;

pub(super) fn read(files: &mut Files, nodes: &mut Nodes) -> Result<Labels> {
    let mut labels = Labels::default();
    if let Some(text) = files.text("labels.tsv")? {
        labels.of = parse(&text, nodes)?;
        labels.classes = labels.of.iter().map(|&(_, c)| (c + 1) as usize).max().unwrap_or(0);
    }
    if let Some(text) = files.text("classes.tsv")? {
        labels.names = names(&text, labels.classes)?;
        labels.classes = labels.names.len();
    }
    Ok(labels)
}

fn parse(text: &Text, nodes: &mut Nodes) -> Result<Vec<(NodeId, i32)>> {
    let mut of = Vec::new();
    for (line, bytes) in text.lines() {
        let (fields, _) = text.fields::<2>(line, bytes, 2, "node<TAB>class")?;
        let node = text.node(line, fields[0], nodes.fixed)?;
        nodes.need(node.index() + 1, || format!("{}:{line}", text.name));
        of.push((node, class(text, line, fields[1])?, line));
    }
    of.sort_by_key(|&(node, _, line)| (node, line));
    for pair in of.windows(2) {
        let ((a, first, _), (b, second, line)) = (pair[0], pair[1]);
        if a == b && first != second {
            return Err(text.wrong(line, format!("node {a} has class {second} here and class {first} above")));
        }
    }
    Ok(of.into_iter().map(|(node, class, _)| (node, class)).collect())
}

fn class(text: &Text, line: u64, field: &[u8]) -> Result<i32> {
    match whole(field) {
        Some(class) if class < MOST => Ok(class as i32),
        None if field == b"-1" => Ok(-1),
        _ => {
            let shown = String::from_utf8_lossy(field);
            Err(text.wrong(
                line,
                format!("'{shown}' is no class, write a whole number from 0 below {MOST}, or -1 for none"),
            ))
        }
    }
}

/// One name per class, at least `classes` of them; a class without a line is called by its number.
fn names(text: &Text, classes: usize) -> Result<Vec<String>> {
    let mut names: Vec<Option<String>> = vec![None; classes];
    for (line, bytes) in text.lines() {
        let mut fields = bytes.split(|&b| b == b'\t');
        let class = fields.next().and_then(whole).filter(|&c| c < MOST);
        let (Some(class), Some(name)) = (class, fields.next()) else {
            return Err(text.wrong(line, "write class<TAB>name"));
        };
        let class = class as usize;
        names.resize(names.len().max(class + 1), None);
        if names[class].is_some() {
            return Err(text.wrong(line, format!("class {class} has a name already")));
        }
        let name = std::str::from_utf8(name).map_err(|_| text.wrong(line, "the name is not UTF-8"))?;
        names[class] = Some(name.trim().to_owned());
    }
    if names.is_empty() {
        return Err(Error::file(text.name.clone(), "no class; write class<TAB>name"));
    }
    Ok(names.into_iter().enumerate().map(|(c, name)| name.unwrap_or_else(|| c.to_string())).collect())
}

/// A warning for class numbers that no node has.
pub(in crate::dataset) fn gaps(data: &GraphData) -> Option<String> {
    let sizes = data.class_sizes();
    let empty: Vec<String> = (0..data.classes).filter(|&c| sizes[c] == 0).map(|c| c.to_string()).collect();
    (!empty.is_empty()).then(|| format!("no node has class {}; kept as an empty class", shorten(&empty)))
}

fn shorten(items: &[String]) -> String {
    match items.len() {
        0..=8 => items.join(", "),
        n => format!("{} and {} more", items[..8].join(", "), n - 8),
    }
}
