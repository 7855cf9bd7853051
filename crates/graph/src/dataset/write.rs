//! Writing a data set as a TSV folder: all files go to a folder inside it first, and are moved up when all are whole.
//!
//! A folder that holds anything else than the unchanged output of an earlier conversion is left alone: its list
//! `convert.tsv` names every file with its size and digest, and is written last.

use super::files::{fact_of, names_in};
use super::split::{PUBLIC, Split};
use super::{FileFact, GraphData};
use crate::features::{FeatureMatrix, Features};
use crate::{Error, Result};
use sapwood_files::{npy, write_atomic};
use sapwood_sparse::any::{AnyMatrix, AnyWidth};
use sapwood_sparse::io::{self, WriteOptions};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// What [`convert`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Files of the data set, sorted by path.
    pub files: Vec<FileFact>,
    /// What could not be kept.
    pub warnings: Vec<String>,
}

const LIST: &str = "convert.tsv";
/// Where files are written before they are moved; what an interrupted call left here is thrown away by the next one.
const WORK: &str = ".convert.tmp";

/// The folder [`WORK`], removed with what is left in it.
struct Work(PathBuf);

impl Work {
    fn make(folder: &Path) -> Result<Work> {
        let work = Work(folder.join(WORK));
        work.clear();
        std::fs::create_dir(&work.0).map_err(|e| sapwood_files::Error::io("make", &work.0, e))?;
        Ok(work)
    }

    fn clear(&self) {
        // If it cannot be removed, making it again says why.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Writes `data` as a TSV folder. `folder` is made if it is missing; it must be empty, or hold nothing but what an earlier
/// call wrote, which is then replaced.
///
/// # Errors
/// [`Error::File`] for a folder that holds something else; whatever goes wrong while writing.
pub fn convert(data: &GraphData, folder: &Path) -> Result<Written> {
    let old = earlier(folder)?;
    std::fs::create_dir_all(folder).map_err(|e| sapwood_files::Error::io("make", folder, e))?;
    let work = Work::make(folder)?;
    let mut out = Folder { path: &work.0, names: Vec::new() };
    graph(data, &mut out)?;
    labels(data, &mut out)?;
    splits(data, &mut out)?;
    let mut warnings = Vec::new();
    match &data.features {
        Features::Absent => {}
        Features::Elsewhere { file } => warnings.push(format!("{file} is no feature file and was not written")),
        Features::Stored(matrix) => features(matrix, &data.words, &mut out)?,
    }
    let mut files = out.names.iter().map(|name| fact_of(&work.0.join(name))).collect::<Result<Vec<_>>>()?;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    out.lines(LIST, files.iter().map(|f| format!("{}\t{}\t{}", f.path, f.size_bytes, f.sha256)))?;
    for stale in old.iter().filter(|old| files.iter().all(|f| f.path != **old)) {
        let path = folder.join(stale);
        std::fs::remove_file(&path).map_err(|e| sapwood_files::Error::io("remove", &path, e))?;
    }
    // The list goes last.
    for name in &out.names {
        let path = folder.join(name);
        std::fs::rename(work.0.join(name), &path).map_err(|e| sapwood_files::Error::io("write", &path, e))?;
    }
    Ok(Written { files, warnings })
}

/// Names of the files of an earlier conversion; an error if the folder holds anything else.
fn earlier(folder: &Path) -> Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let refuse = |what: String| Err(Error::file(folder.display().to_string(), what));
    if !folder.is_dir() {
        return refuse("not a folder; choose another name".into());
    }
    let entries = std::fs::read_dir(folder).map_err(|e| sapwood_files::Error::io("list", folder, e))?;
    let count = entries.flatten().filter(|entry| entry.file_name() != WORK).count();
    if count == 0 {
        return Ok(Vec::new());
    }
    let other = |name: &str| {
        refuse(format!("{name} is not the unchanged output of an earlier conversion; choose an empty folder"))
    };
    let list = folder.join(LIST);
    if !list.is_file() {
        let first = names_in(folder)?.into_iter().min().unwrap_or_else(|| "what it holds".into());
        return other(&first);
    }
    let text = String::from_utf8_lossy(&sapwood_files::read(&list)?).into_owned();
    let mut names = Vec::new();
    for line in text.lines() {
        let name = line.split('\t').next().unwrap_or_default();
        let path = folder.join(name);
        let plain = !name.is_empty() && Path::new(name).components().count() == 1 && path.is_file();
        let unchanged = || fact_of(&path).map(|f| format!("{}\t{}\t{}", f.path, f.size_bytes, f.sha256) == line);
        if !plain || !unchanged()? {
            return other(name);
        }
        names.push(name.to_owned());
    }
    let known = |name: &String| name == LIST || names.contains(name);
    match names_in(folder)?.into_iter().filter(|n| !known(n)).min() {
        Some(extra) => other(&extra),
        None if count > names.len() + 1 => other("a folder in it"),
        None => Ok(names),
    }
}

/// The folder being written, and the names written so far.
struct Folder<'a> {
    path: &'a Path,
    names: Vec<String>,
}

impl Folder<'_> {
    fn file(&mut self, name: &str) -> PathBuf {
        self.names.push(name.into());
        self.path.join(name)
    }

    fn lines(&mut self, name: &str, lines: impl Iterator<Item = impl Display>) -> Result<()> {
        let path = self.file(name);
        write_atomic(&path, |out| lines.into_iter().try_for_each(|line| writeln!(out, "{line}")))?;
        Ok(())
    }
}

fn graph(data: &GraphData, out: &mut Folder<'_>) -> Result<()> {
    let graph = &data.graph;
    out.lines("nodes.tsv", std::iter::once(graph.nodes()))?;
    let weight_of = graph.unit_weights().unwrap_or_default();
    let tail = |w: Option<&f32>| w.map_or(String::new(), |w| format!("\t{w}"));
    let edges = graph.pair_ends().enumerate().map(|(unit, (u, v))| {
        // the ends of a unit of a directed graph are (head, tail)
        let (from, to) = if graph.directed() { (v, u) } else { (u, v) };
        format!("{from}\t{to}{}", tail(weight_of.get(unit)))
    });
    out.lines(if graph.directed() { "arcs.tsv" } else { "edges.tsv" }, edges)?;
    if !graph.self_loops().is_empty() {
        let weighted = graph.weighted();
        let line = |(node, w): &(crate::NodeId, f32)| format!("{node}{}", tail(weighted.then_some(w)));
        out.lines("selfloops.tsv", graph.self_loops().iter().map(line))?;
    }
    Ok(())
}

fn labels(data: &GraphData, out: &mut Folder<'_>) -> Result<()> {
    let labelled = || data.labels.iter().enumerate().filter(|(_, l)| **l >= 0);
    if labelled().next().is_some() {
        out.lines("labels.tsv", labelled().map(|(node, class)| format!("{node}\t{class}")))?;
    }
    if !data.class_names.is_empty() {
        out.lines("classes.tsv", data.class_names.iter().enumerate().map(|(c, name)| format!("{c}\t{name}")))?;
    }
    Ok(())
}

fn splits(data: &GraphData, out: &mut Folder<'_>) -> Result<()> {
    let mut by_file: BTreeMap<&str, Vec<&Split>> = BTreeMap::new();
    for split in &data.splits {
        by_file.entry(split.name.split(':').next().unwrap_or(PUBLIC)).or_default().push(split);
    }
    for (name, splits) in by_file {
        let file = if name == PUBLIC { "split.tsv".to_owned() } else { format!("split_{name}.tsv") };
        match splits[..] {
            [split] if split.name == name => {
                out.lines(&file, whole(split, data.graph.nodes(), ["train", "val", "test"]))?
            }
            _ => columns(&splits, data.graph.nodes(), &file, out)?,
        }
    }
    Ok(())
}

/// Word of each node's part: empty for none.
fn parts<'a>(split: &Split, nodes: usize, words: [&'a str; 3]) -> Vec<&'a str> {
    let mut of = vec![""; nodes];
    for (list, word) in [&split.train, &split.val, &split.test].into_iter().zip(words) {
        for node in list {
            of[node.index()] = word;
        }
    }
    of
}

fn whole(split: &Split, nodes: usize, words: [&str; 3]) -> impl Iterator<Item = String> {
    let of = parts(split, nodes, words);
    let lines: Vec<String> =
        of.iter().enumerate().filter(|(_, p)| !p.is_empty()).map(|(node, p)| format!("{node}\t{p}")).collect();
    lines.into_iter()
}

fn columns(splits: &[&Split], nodes: usize, file: &str, out: &mut Folder<'_>) -> Result<()> {
    let of: Vec<Vec<&str>> = splits.iter().map(|s| parts(s, nodes, ["t", "v", "e"])).collect();
    let header = (0..splits.len()).fold("node".to_owned(), |h, i| format!("{h}\ts{i}"));
    let letter = |word: &&str| if word.is_empty() { "-".to_owned() } else { (*word).to_owned() };
    let line = |node: usize| of.iter().fold(node.to_string(), |line, c| format!("{line}\t{}", letter(&c[node])));
    out.lines(file, std::iter::once(header).chain((0..nodes).map(line)))
}

fn features(matrix: &FeatureMatrix, words: &[String], out: &mut Folder<'_>) -> Result<()> {
    match matrix {
        FeatureMatrix::Sparse(m) => {
            let presence = m.values().iter().all(|&x| x == 1.0);
            let any = if presence {
                AnyMatrix::Pattern(AnyWidth::U32U64(m.clone().into_pattern()))
            } else {
                AnyMatrix::F32(AnyWidth::U32U64(m.clone()))
            };
            io::write(&out.file("features.mtx"), &any, &WriteOptions::default())?;
        }
        FeatureMatrix::Dense(m) => {
            let shape = vec![m.rows(), m.cols()];
            let array = npy::Array { shape, data: npy::Data::F32(m.as_slice().to_vec()) };
            npy::write(&out.file("features.npy"), &array)?;
        }
    }
    if !words.is_empty() {
        out.lines("words.txt", words.iter())?;
    }
    Ok(())
}
