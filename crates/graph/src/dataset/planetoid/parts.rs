//! What each of Planetoid's files means: matrices of features, one-hot classes, lists of neighbours, test nodes.

use super::numbers::{Items, Numbers};
use super::pickle::Pickle;
use super::value::{Kind, Value};
use crate::dataset::compressed::Compressed;
use crate::dataset::files::{Files, Text};
use crate::dataset::tsv::labels::MOST;
use crate::graph::Edge;
use crate::{Error, Result};
use std::path::Path;

/// The path that messages show for a file.
pub(super) fn shown(folder: &Path, set: &str, part: &str) -> String {
    folder.join(format!("ind.{set}.{part}")).display().to_string()
}

/// The file of one part.
pub(super) fn text(files: &mut Files, set: &str, part: &str) -> Result<Text> {
    match files.text(&format!("ind.{set}.{part}"))? {
        Some(text) => Ok(text),
        None => {
            let all = "x, y, tx, ty, allx, ally, graph and test.index are needed";
            Err(Error::file(files.place(), format!("there is no ind.{set}.{part}; {all}")))
        }
    }
}

/// Features by rows.
#[derive(Debug)]
pub(super) enum Matrix {
    Sparse(Compressed),
    Dense(Numbers),
}

impl Matrix {
    pub(super) fn rows(&self) -> usize {
        match self {
            Matrix::Sparse(m) => m.rows,
            Matrix::Dense(m) => m.shape.0,
        }
    }

    pub(super) fn columns(&self) -> usize {
        match self {
            Matrix::Sparse(m) => m.columns,
            Matrix::Dense(m) => m.shape.1,
        }
    }
}

pub(super) fn matrix(files: &mut Files, set: &str, part: &str) -> Result<Matrix> {
    let text = text(files, set, part)?;
    let pickle = Pickle::read(&text.name, &text.bytes)?;
    match pickle.kind(pickle.root) {
        Some(&Kind::Csr(Some(state))) => sparse(&pickle, state).map(Matrix::Sparse),
        Some(Kind::Array(_)) => {
            let numbers = pickle.array(pickle.root)?;
            if numbers.axes != 2 {
                return Err(pickle.wrong(pickle.root, "features need an array of two axes"));
            }
            if let Some(at) = (0..numbers.items.len()).find(|&i| !numbers.items.real(i).is_finite()) {
                let columns = numbers.shape.1.max(1);
                return Err(pickle.wrong(pickle.root, not_finite(at / columns, at % columns)));
            }
            Ok(Matrix::Dense(numbers))
        }
        _ => {
            let what = format!("{} where a csr_matrix or an array is needed", pickle.name(pickle.root));
            Err(pickle.wrong(pickle.root, what))
        }
    }
}

fn sparse(pickle: &Pickle<'_>, state: Value) -> Result<Compressed> {
    let Some(Kind::Dict(members)) = pickle.kind(state) else {
        return Err(pickle.wrong(state, "the state of a csr_matrix must be a dictionary"));
    };
    let member = |name: &str| {
        // the last of equal keys counts, as in Python
        let found = members.iter().rev().find(|(key, _)| pickle.is_word(*key, name));
        found.map(|(_, value)| *value).ok_or_else(|| pickle.wrong(state, format!("the csr_matrix has no {name}")))
    };
    let whole = |name: &str| match pickle.array(member(name)?)? {
        Numbers { items: Items::Whole(items), axes: 1, .. } => Ok(items),
        _ => Err(pickle.wrong(state, format!("{name} must be whole numbers along one axis"))),
    };
    let shape = member("_shape").or_else(|missing| member("shape").map_err(|_| missing))?;
    let &[rows, columns] = &pickle.shape(shape)?[..] else {
        return Err(pickle.wrong(shape, "a csr_matrix has two axes"));
    };
    let data = pickle.array(member("data")?)?;
    let values = (0..data.items.len()).map(|i| data.items.real(i)).collect();
    let matrix = Compressed { rows, columns, offsets: whole("indptr")?, indices: whole("indices")?, values };
    matrix.check().map_err(|what| pickle.wrong(state, what))?;
    if let Some(at) = (0..data.items.len()).find(|&i| !data.items.real(i).is_finite()) {
        let row = matrix.offsets.partition_point(|&offset| offset <= at as i64) - 1;
        return Err(pickle.wrong(state, not_finite(row, matrix.indices[at])));
    }
    Ok(matrix)
}

fn not_finite(row: usize, column: impl std::fmt::Display) -> String {
    format!("the feature at row {row}, column {column} (from 0) is no finite 32-bit number")
}

/// The class of each row of a one-hot array, −1 for a row of zeros; and the number of classes.
pub(super) fn classes(files: &mut Files, set: &str, part: &str) -> Result<(Vec<i32>, usize)> {
    let text = text(files, set, part)?;
    let pickle = Pickle::read(&text.name, &text.bytes)?;
    let Numbers { shape: (rows, columns), axes, items } = pickle.array(pickle.root)?;
    let wrong = |what: String| Err(pickle.wrong(pickle.root, what));
    if axes != 2 {
        return wrong("labels need an array of two axes, a row of 0 and 1 for each node".into());
    }
    if columns as u64 > MOST || (columns == 0 && rows > 0) {
        return wrong(format!("{columns} classes, a number from 1 to {MOST} is needed"));
    }
    let mut classes = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut class = -1;
        for column in 0..columns {
            match items.real(row * columns + column) {
                0.0 => {}
                1.0 if class < 0 => class = column as i32,
                1.0 => {
                    return wrong(format!("row {row} (from 0) has two classes, {class} and {column}; one is allowed"));
                }
                other => return wrong(format!("row {row} (from 0) holds {other}; classes are a 1 among zeros")),
            }
        }
        classes.push(class);
    }
    Ok((classes, columns))
}

/// The edges of the graph.
pub(super) struct Links {
    pub(super) edges: Vec<Edge>,
    /// One more than the largest node named.
    pub(super) nodes: usize,
}

/// A dictionary from each node to its neighbours.
pub(super) fn links(text: &Text) -> Result<Links> {
    let pickle = Pickle::read(&text.name, &text.bytes)?;
    let Some(Kind::Dict(entries)) = pickle.kind(pickle.root) else {
        return Err(pickle.wrong(pickle.root, format!("{} where a dictionary is needed", pickle.name(pickle.root))));
    };
    let mut links = Links { edges: Vec::new(), nodes: 0 };
    let mut keys = Vec::with_capacity(entries.len());
    for &(key, neighbours) in entries {
        let from = node(&pickle, key, || "a key of the dictionary".into())?;
        keys.push(from);
        links.nodes = links.nodes.max(from as usize + 1);
        let Some(list) = pickle.sequence(neighbours) else {
            let what = format!("node {from} has {} in the place of its list of neighbours", pickle.name(neighbours));
            return Err(pickle.wrong(neighbours, what));
        };
        // every neighbour takes a byte, unless one list is used again and again
        if links.edges.len() + list.len() > text.bytes.len() {
            return Err(pickle.wrong(neighbours, "this list of neighbours is that of many nodes"));
        }
        for &neighbour in list {
            let to = node(&pickle, neighbour, || format!("a neighbour of node {from}"))?;
            links.nodes = links.nodes.max(to as usize + 1);
            links.edges.push(Edge { from, to, weight: 1.0 });
        }
    }
    keys.sort_unstable();
    match keys.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => Err(Error::file(&text.name, format!("node {} has two lists of neighbours", twice[0]))),
        None => Ok(links),
    }
}

fn node(pickle: &Pickle<'_>, value: Value, what: impl Fn() -> String) -> Result<u32> {
    match pickle.whole(value) {
        Some(id @ 0..0xffff_ffff) => Ok(id as u32),
        Some(id) if id < 0 => Err(pickle.wrong(value, format!("{} is {id}, node ids count from 0", what()))),
        Some(id) => Err(pickle.wrong(value, format!("{} is {id}, node ids must be below {}", what(), u32::MAX))),
        None => Err(pickle.wrong(value, format!("{} is {}, no node id", what(), pickle.name(value)))),
    }
}

/// The nodes of `test.index`, in its order: one for each row of `tx`, none of them a row of `allx`.
pub(super) fn test_index(files: &mut Files, set: &str, first: usize, rows: usize) -> Result<Vec<u32>> {
    let text = text(files, set, "test.index")?;
    let mut nodes: Vec<(u32, u64)> = Vec::new();
    for (line, field) in text.lines() {
        let node = text.node(line, field, None)?;
        if node.index() < first {
            return Err(text.wrong(line, format!("node {node} is a row of allx, which has {first}")));
        }
        nodes.push((node.0, line));
    }
    if nodes.len() != rows {
        return Err(Error::file(text.name, format!("{} nodes, but ind.{set}.tx has {rows} rows", nodes.len())));
    }
    let mut sorted = nodes.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|w| w[0].0 == w[1].0) {
        Some(twice) => Err(text.wrong(twice[1].1, format!("node {} stands here a second time", twice[1].0))),
        None => Ok(nodes.into_iter().map(|(node, _)| node).collect()),
    }
}
