//! The files of Planetoid (Yang, Cohen, Salakhutdinov, ICML 2016), in which Cora, Citeseer and PubMed are passed around,
//! by DropEdge among others: `ind.NAME.x y tx ty allx ally graph test.index`.
//!
//! The parts: `pickle.rs` reads a pickle without executing anything, `numbers.rs` takes arrays out of it, `parts.rs` says
//! what each file means. This file puts them together. Rows of `allx` are the nodes 0, 1, …; row i of `tx` is the node
//! that line i of `test.index` names. A node that neither names (15 of Citeseer) has no features and no label.

mod calls;
mod cursor;
mod numbers;
mod opcode;
mod parts;
mod pickle;
mod value;

use super::compressed::{self, Rows};
use super::files::{Files, Home, file_name, names_in};
use super::place::Place;
use super::split::{PUBLIC, Split};
use super::tsv::labels::gaps;
use super::{Entry, GraphData, LoadOptions, Weights, believable, merge_warnings};
use crate::features::{FeatureMatrix, Features};
use crate::graph::{Graph, GraphOptions, NodeId};
use crate::{Error, Result};
use parts::{Links, Matrix};
use std::path::{Path, PathBuf};

pub(super) const ENTRY: Entry = Entry {
    name: "planetoid",
    summary: "the files ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index} of Planetoid and DropEdge",
    embedded: &[],
    prefix: Some("planetoid"),
    claims: |place| matches!(place, Place::Folder(_, names) if !sets(names).is_empty()),
    load: |place, options| {
        let (folder, set) = locate(place)?;
        load(&folder, &set, options)
    },
};

/// Nodes of the validation part, in both splits.
const VALIDATION: usize = 500;

/// Names of the sets whose graph is among `names`, sorted.
fn sets(names: &[String]) -> Vec<String> {
    let set = |name: &String| {
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name);
        plain.strip_prefix("ind.")?.strip_suffix(".graph").map(String::from)
    };
    let mut sets: Vec<String> = names.iter().filter_map(set).collect();
    sets.sort();
    sets.dedup();
    sets
}

/// The folder and the name of the set that `place` means.
fn locate(place: &Place) -> Result<(PathBuf, String)> {
    match place {
        Place::Folder(folder, names) => only_set(folder, names),
        Place::Asked { spec, paths } => {
            for path in paths {
                if let Some(found) = beside_or_inside(path)? {
                    return Ok(found);
                }
            }
            let tried = paths.iter().map(|p| p.with_file_name(format!("ind.{}.graph", file_name(p))));
            Err(Error::NotFound {
                name: spec.clone(),
                tried: tried.map(|p| p.display().to_string()).collect(),
                hint: "write planetoid:DIR/cora for the files DIR/ind.cora.x, DIR/ind.cora.graph and so on".into(),
            })
        }
        Place::File(path) => Err(Error::file(path.display().to_string(), "not a folder")),
        Place::Embedded(spec) | Place::Generated(spec) => Err(Error::file(spec, "not a folder")),
    }
}

/// For `DIR/cora`: the files `DIR/ind.cora.*`; or those inside the folder, or in its `raw` as PyTorch Geometric keeps them.
fn beside_or_inside(path: &Path) -> Result<Option<(PathBuf, String)>> {
    let set = file_name(path);
    let beside = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if sapwood_files::find(beside, &format!("ind.{set}.graph")).is_some() {
        return Ok(Some((beside.to_owned(), set)));
    }
    for folder in [path.to_owned(), path.join("raw")] {
        if folder.is_dir() {
            let names = names_in(&folder)?;
            if !sets(&names).is_empty() {
                return only_set(&folder, &names).map(Some);
            }
        }
    }
    Ok(None)
}

/// The set of a folder: its only one, or the one of its name.
fn only_set(folder: &Path, names: &[String]) -> Result<(PathBuf, String)> {
    let sets = sets(names);
    let named = std::fs::canonicalize(folder).map_or_else(|_| file_name(folder), |p| file_name(&p));
    match &sets[..] {
        [set] => Ok((folder.to_owned(), set.clone())),
        all => match all.iter().find(|set| **set == named) {
            Some(set) => Ok((folder.to_owned(), set.clone())),
            None => {
                let folder = folder.display().to_string();
                let what = format!("holds {}; choose one, as in planetoid:{folder}/{}", sets.join(", "), sets[0]);
                Err(Error::file(folder, what))
            }
        },
    }
}

/// Everything but the graph, as the files have it.
#[derive(Debug)]
struct Stored {
    allx: Matrix,
    tx: Matrix,
    /// Classes of the rows of `y`, `ally` and `ty`.
    y: Vec<i32>,
    ally: Vec<i32>,
    ty: Vec<i32>,
    classes: usize,
    test: Vec<u32>,
}

fn load(folder: &Path, set: &str, options: &LoadOptions) -> Result<GraphData> {
    let mut files = Files::new(Home::Folder(folder.to_owned()));
    let (stored, mut warnings) = stored(&mut files, set)?;
    let graph_file = parts::text(&mut files, set, "graph")?;
    let Links { edges, nodes: linked } = parts::links(&graph_file)?;
    let block = stored.test.iter().max().map_or(0, |&last| last as usize + 1);
    let nodes = stored.allx.rows().max(block).max(linked);
    if believable::too_many_seen(nodes, edges.len()) {
        let what = format!("{nodes} nodes for {} edges; is a node id wrong?", edges.len());
        return Err(Error::file(if nodes == linked { graph_file.name } else { folder.display().to_string() }, what));
    }
    if nodes == 0 {
        return Err(Error::NoNodes);
    }
    let shape = GraphOptions { directed: options.directed, weighted: false };
    let (graph, merged) = Graph::build(nodes, edges, shape)?;
    let mut data = GraphData::of_graph(set, ENTRY.name, graph);
    warnings.extend(merge_warnings(&graph_file.name, merged));
    let row_of = row_of_node(&stored, nodes);
    let bare = row_of.iter().filter(|row| row.is_none()).count();
    if bare > 0 {
        warnings.push(format!("{bare} nodes are in no row of allx or tx: they have no features and no label"));
    }
    if options.weights == Weights::Asked {
        warnings.push(format!("{} has no weights: every edge counts 1", graph_file.name));
    }
    let both = parts::shown(folder, set, "{allx,tx}");
    let matrix = features(&stored, &row_of, &both)?;
    compressed::check_features(&both, &matrix)?;
    data.features = Features::Stored(matrix);
    let class = |row: &Option<usize>| row.map_or(-1, |row| label(&stored, row));
    data.labels = row_of.iter().map(class).collect();
    data.classes = stored.classes;
    data.splits = splits(&stored, &mut warnings);
    warnings.extend(gaps(&data));
    data.warnings = warnings;
    data.files = files.into_facts();
    Ok(data)
}

/// Reads all files but the graph and checks that they fit each other.
fn stored(files: &mut Files, set: &str) -> Result<(Stored, Vec<String>)> {
    let x = parts::matrix(files, set, "x")?;
    let (y, classes) = parts::classes(files, set, "y")?;
    let allx = parts::matrix(files, set, "allx")?;
    let (ally, ally_classes) = parts::classes(files, set, "ally")?;
    let tx = parts::matrix(files, set, "tx")?;
    let (ty, ty_classes) = parts::classes(files, set, "ty")?;
    let place = files.place();
    let fit = |what: &str, got: usize, expected: usize, of: &str| {
        let differ = format!("ind.{set}.{what} has {got}, but ind.{set}.{of} has {expected}");
        if got == expected { Ok(()) } else { Err(Error::file(&place, differ)) }
    };
    let rows =
        [("y", "x", y.len(), x.rows()), ("ally", "allx", ally.len(), allx.rows()), ("ty", "tx", ty.len(), tx.rows())];
    for (labels, matrix, got, expected) in rows {
        fit(&format!("{labels} (rows)"), got, expected, matrix)?;
    }
    fit("x (columns)", x.columns(), allx.columns(), "allx")?;
    fit("tx (columns)", tx.columns(), allx.columns(), "allx")?;
    fit("y (classes)", classes, ally_classes, "ally")?;
    fit("ty (classes)", ty_classes, ally_classes, "ally")?;
    if y.len() > ally.len() {
        let what =
            format!("ind.{set}.y has {} rows, more than the {} of ally, which begins with them", y.len(), ally.len());
        return Err(Error::file(place, what));
    }
    let mut warnings = Vec::new();
    let differ = y.iter().zip(&ally).filter(|(a, b)| a != b).count();
    if differ > 0 {
        warnings.push(format!("ind.{set}.y: {differ} labels differ from those of the first rows of ally, which count"));
    }
    let test = parts::test_index(files, set, allx.rows(), tx.rows())?;
    Ok((Stored { allx, tx, y, ally, ty, classes, test }, warnings))
}

/// Row of each node: of `allx`, or, counted on, of `tx`.
fn row_of_node(stored: &Stored, nodes: usize) -> Vec<Option<usize>> {
    let first = stored.allx.rows();
    let mut row_of: Vec<Option<usize>> = (0..nodes).map(|node| (node < first).then_some(node)).collect();
    for (row, &node) in stored.test.iter().enumerate() {
        row_of[node as usize] = Some(first + row);
    }
    row_of
}

fn label(stored: &Stored, row: usize) -> i32 {
    let first = stored.ally.len();
    if row < first { stored.ally[row] } else { stored.ty[row - first] }
}

fn features(stored: &Stored, row_of: &[Option<usize>], file: &str) -> Result<FeatureMatrix> {
    let (first, columns) = (stored.allx.rows(), stored.allx.columns());
    match (&stored.allx, &stored.tx) {
        (Matrix::Sparse(allx), Matrix::Sparse(tx)) => {
            let mut rows = Rows::new();
            for row in row_of {
                match *row {
                    None => rows.push(&[]),
                    Some(row) if row < first => rows.push(&allx.row(row)),
                    Some(row) => rows.push(&tx.row(row - first)),
                }
            }
            rows.finish(columns)
        }
        (Matrix::Dense(allx), Matrix::Dense(tx)) => {
            let stored = allx.items.len() + tx.items.len();
            if row_of.len().saturating_mul(columns) > (64 * stored).max(1 << 20) {
                let what = format!("{columns} features of {} nodes for {stored} numbers", row_of.len());
                return Err(Error::file(file, what));
            }
            let mut items = Vec::with_capacity(row_of.len() * columns);
            for row in row_of {
                match *row {
                    None => items.resize(items.len() + columns, 0.0),
                    Some(row) if row < first => allx.append(row, &mut items),
                    Some(row) => tx.append(row - first, &mut items),
                }
            }
            compressed::dense(row_of.len(), columns, &items)
        }
        _ => Err(Error::file(file, "one is a csr_matrix and one an array; write both alike")),
    }
}

/// `public`: the rows of `y` train, the next 500 validate. `full`: all rows of `ally` but the last 500 train, these
/// validate. The nodes of `test.index` test in both.
fn splits(stored: &Stored, warnings: &mut Vec<String>) -> Vec<Split> {
    let nodes = |range: std::ops::Range<usize>| range.map(|i| NodeId(i as u32)).collect::<Vec<_>>();
    let mut test: Vec<NodeId> = stored.test.iter().map(|&node| NodeId(node)).collect();
    test.sort();
    let (small, all) = (stored.y.len(), stored.ally.len());
    let end = (small + VALIDATION).min(all);
    if end < small + VALIDATION {
        warnings
            .push(format!("split '{PUBLIC}': {} nodes validate, ally has no {VALIDATION} rows after y's", end - small));
    }
    let public = Split { name: PUBLIC.into(), train: nodes(0..small), val: nodes(small..end), test: test.clone() };
    if all <= VALIDATION {
        warnings.push(format!("there is no split 'full': ally has {all} rows, more than {VALIDATION} are needed"));
        return vec![public];
    }
    let middle = all - VALIDATION;
    vec![public, Split { name: "full".into(), train: nodes(0..middle), val: nodes(middle..all), test }]
}
