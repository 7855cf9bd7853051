//! A graph in one NumPy archive, the form of the GNN benchmark (Shchur, Mumme, Bojchevski, Günnemann, 2018): the adjacency
//! matrix as `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`; features likewise as `attr_*`, or as the array
//! `attr_matrix`; `labels`; names in `class_names`, `attr_names`, `node_names`. No splits.
//!
//! An entry in row u and column v is an edge from u to v; an entry that is zero is none. Names that are Python objects would
//! have to be unpickled: they are left alone, and a warning says so.

use super::compressed::{self, Compressed};
use super::files::{fact_of, file_name};
use super::place::Place;
use super::tsv::labels::{MOST, gaps};
use super::{Entry, GraphData, LoadOptions, Weights, believable, merge_warnings};
use crate::features::{FeatureMatrix, Features};
use crate::graph::{Edge, Graph, GraphOptions};
use crate::{Error, Result};
use sapwood_files::npy::{Array, Data};
use sapwood_files::npz::{Archive, Words};
use std::path::Path;

pub(super) const ENTRY: Entry = Entry {
    name: "npz",
    summary: "a NumPy archive with adj_data, adj_indices, adj_indptr, adj_shape, and attr_* and labels beside them",
    embedded: &[],
    prefix: None,
    claims: |place| matches!(place, Place::File(path) if file_name(path).to_ascii_lowercase().ends_with(".npz")),
    load: |place, options| match place {
        Place::File(path) => load(path, options),
        Place::Folder(path, _) => Err(Error::file(path.display().to_string(), "a folder, not a file")),
        Place::Embedded(spec) | Place::Generated(spec) | Place::Asked { spec, .. } => {
            Err(Error::file(spec, "not a file"))
        }
    },
};

fn load(path: &Path, options: &LoadOptions) -> Result<GraphData> {
    let mut archive = Archive::open(path)?;
    let shown = path.display().to_string();
    let adjacency = matrix(&mut archive, "adj")?.ok_or_else(|| {
        let names: Vec<&str> = archive.names().take(20).collect();
        Error::file(&shown, format!("there is no adj_data; it holds {}", names.join(", ")))
    })?;
    let nodes = adjacency.rows;
    if nodes != adjacency.columns {
        let what = format!("adj is a matrix of {nodes} x {}; a graph needs a square one", adjacency.columns);
        return Err(Error::file(shown, what));
    }
    let (edges, zeros) = edges(&adjacency, &shown)?;
    if believable::too_many_stated(nodes, edges.len()) {
        return Err(Error::file(shown, format!("{nodes} nodes for {} edges; is adj_shape right?", edges.len())));
    }
    let has_weights = edges.iter().any(|e| e.weight != 1.0);
    let shape =
        GraphOptions { directed: options.directed, weighted: has_weights && options.weights != Weights::Ignored };
    let (graph, merged) = Graph::build(nodes, edges, shape)?;
    let name = file_name(path);
    let mut data = GraphData::of_graph(&name[..name.len() - ".npz".len()], ENTRY.name, graph);
    if zeros > 0 {
        data.warnings.push(format!("{shown}: {zeros} entries of adj are zero and no edges"));
    }
    data.warnings.extend(merge_warnings(&shown, merged));
    if options.weights == Weights::Asked && !has_weights {
        data.warnings.push(format!("{shown} has no weights: every edge counts 1"));
    }
    if let Some(matrix) = features(&mut archive, &shown)? {
        fits(&shown, "features", matrix.rows(), nodes)?;
        data.features = Features::Stored(matrix);
    }
    if let Some(labels) = labels(&mut archive, &shown)? {
        fits(&shown, "labels", labels.len(), nodes)?;
        data.classes = labels.iter().max().map_or(0, |&most| (most + 1) as usize);
        data.labels = labels;
    }
    names(&mut archive, &mut data)?;
    data.warnings.extend(gaps(&data));
    data.files = vec![fact_of(path)?];
    Ok(data)
}

fn fits(file: &str, what: &str, rows: usize, nodes: usize) -> Result<()> {
    if rows == nodes {
        Ok(())
    } else {
        Err(Error::file(file, format!("{rows} rows of {what}, but adj has {nodes} nodes")))
    }
}

/// An error about the array `name`.
fn wrong(archive: &Archive, name: &str, what: impl Into<String>) -> Error {
    Error::file(archive.place(name).display().to_string(), what)
}

/// Whole numbers along one axis.
fn whole(archive: &mut Archive, name: &str) -> Result<Option<Vec<i64>>> {
    let Some(array) = archive.array(name)? else { return Ok(None) };
    if array.shape.len() != 1 {
        return Err(wrong(archive, name, format!("the array has {} axes, one is needed", array.shape.len())));
    }
    let signed = |x: u64| i64::try_from(x).map_err(|_| wrong(archive, name, format!("{x} is beyond 63 bits")));
    Ok(Some(match array.data {
        Data::I64(x) => x,
        Data::I32(x) => x.into_iter().map(i64::from).collect(),
        Data::U32(x) => x.into_iter().map(i64::from).collect(),
        Data::U64(x) => x.into_iter().map(signed).collect::<Result<_>>()?,
        other => {
            let what = format!("{} items, whole numbers are needed", other.type_name());
            return Err(wrong(archive, name, what));
        }
    }))
}

fn reals(data: Data) -> Vec<f64> {
    match data {
        Data::F64(x) => x,
        Data::F32(x) => x.into_iter().map(f64::from).collect(),
        Data::I64(x) => x.into_iter().map(|x| x as f64).collect(),
        Data::U64(x) => x.into_iter().map(|x| x as f64).collect(),
        Data::I32(x) => x.into_iter().map(f64::from).collect(),
        Data::U32(x) => x.into_iter().map(f64::from).collect(),
        Data::Bool(x) => x.into_iter().map(|x| f64::from(u8::from(x))).collect(),
    }
}

/// The csr matrix whose parts begin with `stem`, if there is one.
fn matrix(archive: &mut Archive, stem: &str) -> Result<Option<Compressed>> {
    let member = |part: &str| format!("{stem}_{part}");
    let Some(Array { shape, data }) = archive.array(&member("data"))? else { return Ok(None) };
    if shape.len() != 1 {
        return Err(wrong(archive, &member("data"), format!("the array has {} axes, one is needed", shape.len())));
    }
    let mut needed = |part: &str| {
        let name = member(part);
        let found = whole(archive, &name)?;
        found.ok_or_else(|| wrong(archive, &name, format!("it is missing beside {stem}_data")))
    };
    let (indices, offsets, shape) = (needed("indices")?, needed("indptr")?, needed("shape")?);
    let axis = |i: usize| shape.get(i).and_then(|&n| usize::try_from(n).ok());
    let (Some(rows), Some(columns), 2) = (axis(0), axis(1), shape.len()) else {
        return Err(wrong(archive, &member("shape"), format!("{shape:?} is no shape of a matrix")));
    };
    let matrix = Compressed { rows, columns, offsets, indices, values: reals(data) };
    matrix.check().map_err(|what| wrong(archive, &member("*"), what))?;
    Ok(Some(matrix))
}

/// The entries that are not zero, and how many are.
fn edges(adjacency: &Compressed, shown: &str) -> Result<(Vec<Edge>, u64)> {
    let (mut edges, mut zeros) = (Vec::with_capacity(adjacency.indices.len()), 0);
    for from in 0..adjacency.rows {
        for (to, value) in adjacency.row(from) {
            let weight = value as f32;
            if !(value >= 0.0 && weight.is_finite()) {
                let what = format!("edge {from} - {to} has weight {value}; weights must be finite and not negative");
                return Err(Error::file(shown, what));
            }
            if value == 0.0 {
                zeros += 1;
            } else {
                edges.push(Edge { from: from as u32, to, weight });
            }
        }
    }
    Ok((edges, zeros))
}

fn features(archive: &mut Archive, shown: &str) -> Result<Option<FeatureMatrix>> {
    let found = if archive.has("attr_data") {
        matrix(archive, "attr")?.map(|m| compressed::sparse(&m)).transpose()?
    } else if let Some(Array { shape, data }) = archive.array("attr_matrix")? {
        let &[rows, columns] = &shape[..] else {
            let what = format!("the array has {} axes, two are needed: nodes and features", shape.len());
            return Err(wrong(archive, "attr_matrix", what));
        };
        let items: Vec<f32> = match data {
            Data::F32(x) => x,
            other => reals(other).into_iter().map(|x| x as f32).collect(),
        };
        Some(compressed::dense(rows, columns, &items)?)
    } else {
        None
    };
    if let Some(matrix) = &found {
        compressed::check_features(shown, matrix)?;
    }
    Ok(found)
}

fn labels(archive: &mut Archive, shown: &str) -> Result<Option<Vec<i32>>> {
    if archive.has("labels_data") {
        return Err(Error::file(shown, "labels_data holds several classes for a node; one class a node is read"));
    }
    let Some(labels) = whole(archive, "labels")? else { return Ok(None) };
    let class = |(node, label): (usize, i64)| match label {
        label if (-1..MOST as i64).contains(&label) => Ok(label as i32),
        _ => {
            let what =
                format!("node {node} has class {label}, write a whole number from 0 below {MOST}, or -1 for none");
            Err(wrong(archive, "labels", what))
        }
    };
    labels.into_iter().enumerate().map(class).collect::<Result<_>>().map(Some)
}

/// Names of classes and features, where they are plain text; warnings about what is not read.
fn names(archive: &mut Archive, data: &mut GraphData) -> Result<()> {
    for name in ["class_names", "attr_names", "node_names"] {
        let Some(found) = archive.words(name)? else { continue };
        let plain = |word: &String| !word.chars().any(char::is_control);
        let columns = match &data.features {
            Features::Stored(matrix) => matrix.cols(),
            _ => 0,
        };
        let skipped = match found {
            Words::Other(what) => what,
            Words::Text(words) if !words.iter().all(plain) => "names with line ends or tabs".into(),
            Words::Text(words) => match name {
                "class_names" if words.len() >= data.classes => {
                    data.classes = words.len();
                    data.class_names = words;
                    continue;
                }
                "attr_names" if words.len() == columns => {
                    data.words = words;
                    continue;
                }
                "node_names" => continue, // names of nodes are kept nowhere
                _ => format!("{} names do not fit", words.len()),
            },
        };
        data.warnings.push(format!("{}: not read: {skipped}", archive.place(name).display()));
    }
    let known = ["adj_", "attr_", "labels", "class_names", "node_names"];
    let other: Vec<&str> = archive.names().filter(|n| !known.iter().any(|k| n.starts_with(k))).take(20).collect();
    if !other.is_empty() {
        data.warnings.push(format!("{}: not read: {}", archive.place("").display(), other.join(", ")));
    }
    Ok(())
}
