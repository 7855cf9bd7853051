//! `features.mtx` (Matrix Market; a pattern counts 1), `features.npy` (nodes × features), or `words.tsv` (line i: the
//! ascending word ids of node i); `words.txt`: line i is word i.

use super::Nodes;
use crate::dataset::files::{Files, Text};
use crate::dataset::lines::whole;
use crate::features::{FeatureMatrix, Features};
use crate::{Error, Result};
use sapwood_files::npy;
use sapwood_sparse::io::{ReadOptions, Source, read_as};
use sapwood_sparse::{Block, Csr};
use std::path::Path;

/// Features as stored.
pub(super) struct Stored {
    pub(super) matrix: Features,
    /// The file they are in.
    pub(super) file: String,
    pub(super) words: Vec<String>,
}

const FILES: [&str; 3] = ["features.mtx", "features.npy", "words.tsv"];

pub(super) fn read(files: &mut Files, nodes: &mut Nodes) -> Result<Stored> {
    let names = files.names()?;
    let here: Vec<&str> = FILES.into_iter().filter(|f| names.iter().any(|n| n == f)).collect();
    if let [first, second, ..] = here[..] {
        return Err(Error::file(files.place(), format!("both {first} and {second} hold features; keep one")));
    }
    let words = match files.text("words.txt")? {
        Some(text) => vocabulary(&text)?,
        None => Vec::new(),
    };
    let Some(&name) = here.first() else {
        let other = names.iter().find(|n| n.starts_with("features"));
        let matrix = other.map_or(Features::Absent, |n| Features::Elsewhere { file: files.stored_name(n) });
        return Ok(Stored { matrix, file: String::new(), words });
    };
    let Some(text) = files.text(name)? else {
        return Err(Error::file(files.place(), format!("{name} vanished")));
    };
    let matrix = match name {
        "features.mtx" => {
            FeatureMatrix::Sparse(read_as(Source::bytes(&text.bytes, &text.name), &ReadOptions::default())?.0)
        }
        "features.npy" => FeatureMatrix::Dense(dense(&text)?),
        _ => FeatureMatrix::Sparse(presence(&text, words.len())?),
    };
    if let Some((row, column)) = matrix.first_not_finite() {
        return Err(Error::file(
            text.name,
            format!("the feature at row {row}, column {column} (from 0) is no finite 32-bit number"),
        ));
    }
    if words.is_empty() && matrix.cols() > (1 << 20) && matrix.cols() as u64 / 64 > matrix.entries() {
        let what = format!("{} features for {} entries; number the features from 0", matrix.cols(), matrix.entries());
        return Err(Error::file(text.name, what));
    }
    if !words.is_empty() && words.len() != matrix.cols() {
        let what = format!("{} features, but words.txt has {} words", matrix.cols(), words.len());
        return Err(Error::file(text.name, what));
    }
    nodes.need(matrix.rows(), || format!("the rows of {}", text.name));
    Ok(Stored { matrix: Features::Stored(matrix), file: text.name, words })
}

fn vocabulary(text: &Text) -> Result<Vec<String>> {
    let word = |(line, bytes)| {
        let word = std::str::from_utf8(bytes).map_err(|_| text.wrong(line, "the word is not UTF-8"))?;
        Ok(word.trim().to_owned())
    };
    text.all_lines().map(word).collect()
}

fn dense(text: &Text) -> Result<Block<f32>> {
    let array = npy::parse(&text.bytes, Path::new(&text.name))?;
    let &[n, columns] = &array.shape[..] else {
        let what = format!("the array has {} axes, two are needed: nodes and features", array.shape.len());
        return Err(Error::file(text.name.clone(), what));
    };
    let data: Vec<f32> = match array.data {
        npy::Data::F32(x) => x,
        npy::Data::F64(x) => x.into_iter().map(|x| x as f32).collect(),
        npy::Data::I64(x) => x.into_iter().map(|x| x as f32).collect(),
        npy::Data::U64(x) => x.into_iter().map(|x| x as f32).collect(),
        npy::Data::I32(x) => x.into_iter().map(|x| x as f32).collect(),
        npy::Data::U32(x) => x.into_iter().map(|x| x as f32).collect(),
        npy::Data::Bool(x) => x.into_iter().map(|x| f32::from(u8::from(x))).collect(),
    };
    Ok(Block::from_slice(n, columns, &data)?)
}

/// `words.tsv`; `vocabulary` = 0 if it is not known.
fn presence(text: &Text, vocabulary: usize) -> Result<Csr<f32>> {
    let (mut offsets, mut columns, mut width) = (vec![0u64], Vec::<u32>::new(), vocabulary);
    for (line, bytes) in text.all_lines() {
        let start = columns.len();
        for field in bytes.split(u8::is_ascii_whitespace).filter(|f| !f.is_empty()) {
            let id = whole(field).filter(|&id| id < u64::from(u32::MAX));
            let Some(id) = id else {
                let shown = String::from_utf8_lossy(field);
                return Err(text.wrong(line, format!("'{shown}' is no word id, write whole numbers from 0")));
            };
            if vocabulary > 0 && id >= vocabulary as u64 {
                return Err(text.wrong(line, format!("word {id} does not exist, words.txt has {vocabulary} words")));
            }
            if columns.len() > start && columns[columns.len() - 1] >= id as u32 {
                return Err(text.wrong(line, format!("word {id} stands after a word that is not smaller")));
            }
            width = width.max(id as usize + 1);
            columns.push(id as u32);
        }
        offsets.push(columns.len() as u64);
    }
    let ones = vec![1.0; columns.len()];
    Ok(Csr::try_new(offsets.len() - 1, width, offsets, columns, ones)?)
}
