//! A data set of the Open Graph Benchmark (Hu and others, NeurIPS 2020) with one graph and one class a node, as its archive
//! unpacks: `raw/edge.csv.gz`, `num-node-list.csv.gz`, and where they are there `node-feat.csv.gz`, `node-label.csv.gz`;
//! `split/NAME/{train,valid,test}.csv.gz`. Every file may be plain. Other files, such as `node_year.csv.gz`, are ignored.
//!
//! A line of `edge.csv` is an arc; without `--directed` it stands for both directions. Files are read line by line.

mod csv;

use super::files::{FileFact, fact_of, file_name};
use super::place::Place;
use super::split::Split;
use super::tsv::labels::{MOST, gaps};
use super::{Entry, GraphData, LoadOptions, Weights, believable, compressed, merge_warnings};
use crate::features::{FeatureMatrix, Features};
use crate::graph::{Edge, Graph, GraphOptions, NodeId};
use crate::{Error, Result};
use csv::Csv;
use std::path::{Path, PathBuf};

pub(super) const ENTRY: Entry = Entry {
    name: "ogb",
    summary: "a folder of the Open Graph Benchmark: raw/edge.csv.gz and what belongs to it",
    embedded: &[],
    prefix: Some("ogb"),
    claims: |place| matches!(place, Place::Folder(path, _) if sapwood_files::find(&path.join("raw"), "edge.csv").is_some()),
    load: |place, options| load(&locate(place)?, options),
};

fn locate(place: &Place) -> Result<PathBuf> {
    match place {
        Place::Folder(path, _) => Ok(path.clone()),
        Place::Asked { spec, paths } => match paths.iter().find(|path| path.is_dir()) {
            Some(path) => Ok(path.clone()),
            None => Err(Error::NotFound {
                name: spec.clone(),
                tried: paths.iter().map(|p| p.display().to_string()).collect(),
                hint: "write ogb:DIR for the folder that holds raw/edge.csv.gz".into(),
            }),
        },
        Place::File(path) => Err(Error::file(path.display().to_string(), "not a folder")),
        Place::Embedded(spec) | Place::Generated(spec) => Err(Error::file(spec, "not a folder")),
    }
}

/// A folder being read, and what was read of it.
struct Folder {
    path: PathBuf,
    files: Vec<FileFact>,
}

impl Folder {
    /// Opens `inside/name`, plain or compressed, if it is there.
    fn open(&mut self, inside: &str, name: &str) -> Result<Option<Csv>> {
        let Some(path) = sapwood_files::find(&self.path.join(inside), name) else { return Ok(None) };
        let csv = Csv::open(&path)?; // says what is wrong with it before its digest is taken
        let fact = fact_of(&path)?;
        self.files.push(FileFact { path: format!("{inside}/{}", fact.path), ..fact });
        Ok(Some(csv))
    }

    fn need(&mut self, inside: &str, name: &str) -> Result<Csv> {
        let missing = format!("there is no {inside}/{name}.gz");
        self.open(inside, name)?.ok_or_else(|| Error::file(self.path.display().to_string(), missing))
    }
}

fn load(path: &Path, options: &LoadOptions) -> Result<GraphData> {
    let mut folder = Folder { path: path.to_owned(), files: Vec::new() };
    let nodes = node_count(&mut folder)?;
    let mut file = folder.need("raw", "edge.csv")?;
    let edges = edges(&mut file, nodes)?;
    edge_count(&mut folder, &file, edges.len() as u64)?;
    if believable::too_many_stated(nodes, edges.len()) {
        let what = format!("{nodes} nodes for {} edges; is num-node-list.csv right?", edges.len());
        return Err(Error::file(path.display().to_string(), what));
    }
    if nodes == 0 {
        return Err(Error::NoNodes);
    }
    // counted before anything of the size of the graph is made
    let features = folder.open("raw", "node-feat.csv")?.map(|mut file| features(&mut file, nodes)).transpose()?;
    let labels = folder.open("raw", "node-label.csv")?.map(|mut file| labels(&mut file, nodes)).transpose()?;
    let shape = GraphOptions { directed: options.directed, weighted: false };
    let (graph, merged) = Graph::build(nodes, edges, shape)?;
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut data = GraphData::of_graph(file_name(&resolved), ENTRY.name, graph);
    data.warnings = merge_warnings(&file.name, merged);
    if options.weights == Weights::Asked {
        data.warnings.push(format!("{} has no weights: every edge counts 1", file.name));
    }
    if let Some(matrix) = features {
        data.features = Features::Stored(matrix);
    }
    if let Some(labels) = labels {
        data.classes = labels.iter().max().map_or(0, |&most| (most + 1) as usize);
        data.labels = labels;
        data.warnings.extend(gaps(&data));
    }
    data.splits = splits(&mut folder, nodes)?;
    data.files = folder.files;
    data.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(data)
}

/// The number of nodes of the only graph.
fn node_count(folder: &mut Folder) -> Result<usize> {
    let mut file = folder.need("raw", "num-node-list.csv")?;
    let mut count = None;
    while let Some(line) = file.next()? {
        if count.is_some() {
            return Err(file.wrong("a second graph; data sets of one graph are read, whose nodes have classes"));
        }
        count = match line.whole() {
            Some(n) if n < u64::from(u32::MAX) => Some(n as usize),
            _ => return Err(file.wrong(format!("write the number of nodes, below {}", u32::MAX))),
        };
    }
    count.ok_or_else(|| Error::file(file.name, "empty; the number of nodes is needed"))
}

fn edges(file: &mut Csv, nodes: usize) -> Result<Vec<Edge>> {
    let mut edges = Vec::new();
    while let Some(line) = file.next()? {
        let mut ends = line.fields();
        let (Some(from), Some(to), None) = (ends.next(), ends.next(), ends.next()) else {
            return Err(file.wrong("two node ids are needed, u,v"));
        };
        let (from, to) = (file.node(from, nodes), file.node(to, nodes));
        edges.push(Edge { from: from?.0, to: to?.0, weight: 1.0 });
    }
    Ok(edges)
}

/// Compares with `num-edge-list.csv`, where it is there.
fn edge_count(folder: &mut Folder, edges: &Csv, found: u64) -> Result<()> {
    let Some(mut file) = folder.open("raw", "num-edge-list.csv")? else { return Ok(()) };
    let stated = match file.next()? {
        Some(line) => line.whole(),
        None => None,
    };
    match stated {
        Some(stated) if stated == found => Ok(()),
        Some(stated) => {
            let what = format!("{found} edges, but {} says {stated}; one of the two is cut off or wrong", file.name);
            Err(Error::file(&edges.name, what))
        }
        None => Err(file.wrong("write the number of edges")),
    }
}

fn features(file: &mut Csv, nodes: usize) -> Result<FeatureMatrix> {
    let (mut items, mut columns, mut rows) = (Vec::<f32>::new(), 0, 0usize);
    while let Some(line) = file.next()? {
        let before = items.len();
        for (column, field) in line.fields().enumerate() {
            match csv::number(field) {
                Some(value) if value.is_finite() => items.push(value),
                _ => {
                    let shown = String::from_utf8_lossy(field).into_owned();
                    return Err(file.wrong(format!("column {column} (from 0): '{shown}' is no finite number")));
                }
            }
        }
        let width = items.len() - before;
        if rows == 0 {
            columns = width;
        } else if width != columns {
            return Err(file.wrong(format!("{width} features, but the lines before have {columns}")));
        }
        rows += 1;
        if rows > nodes {
            return Err(file.wrong(format!("more lines than the {nodes} nodes of num-node-list.csv")));
        }
    }
    file.must_have(rows, nodes)?;
    compressed::dense(rows, columns, &items)
}

fn labels(file: &mut Csv, nodes: usize) -> Result<Vec<i32>> {
    let mut labels = Vec::new();
    while let Some(line) = file.next()? {
        let mut fields = line.fields();
        let (field, more) = (fields.next().unwrap_or_default(), fields.count());
        if more > 0 {
            let what = format!("{} columns, several labels for a node; one class a node is read", more + 1);
            return Err(file.wrong(what));
        }
        match csv::class(field) {
            Some(class) => labels.push(class),
            None => {
                let shown = String::from_utf8_lossy(field).into_owned();
                return Err(
                    file.wrong(format!("'{shown}' is no class, write a whole number from 0 below {MOST}, or nan"))
                );
            }
        }
        if labels.len() > nodes {
            return Err(file.wrong(format!("more lines than the {nodes} nodes of num-node-list.csv")));
        }
    }
    file.must_have(labels.len(), nodes)?;
    Ok(labels)
}

/// A split for each folder in `split`, by name.
fn splits(folder: &mut Folder, nodes: usize) -> Result<Vec<Split>> {
    let root = folder.path.join("split");
    if !root.is_dir() {
        return Ok(Vec::new());
    }
    let fail = |e| Error::Files(sapwood_files::Error::io("list", &root, e));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&root).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    names.into_iter().map(|name| split(folder, name, nodes)).collect()
}

/// Files of a split, in the order of its parts.
const PARTS: [&str; 3] = ["train", "valid", "test"];

fn split(folder: &mut Folder, name: String, nodes: usize) -> Result<Split> {
    let inside = format!("split/{name}");
    let mut part_of = vec![0u8; nodes]; // 1, 2, 3 for the parts
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    for (number, list) in (1u8..).zip(&mut lists) {
        let part = PARTS[usize::from(number) - 1];
        let mut file = folder.need(&inside, &format!("{part}.csv"))?;
        while let Some(line) = file.next()? {
            let node = file.node(line.text(), nodes)?;
            match part_of[node.index()] {
                0 => list.push(node),
                other if other == number => {}
                other => {
                    let other = PARTS[usize::from(other) - 1];
                    return Err(file.wrong(format!("node {node} is in {part} and in {other}")));
                }
            }
            part_of[node.index()] = number;
        }
        list.sort_unstable();
    }
    let [train, val, test]: [Vec<NodeId>; 3] = lists;
    Ok(Split { name, train, val, test })
}
