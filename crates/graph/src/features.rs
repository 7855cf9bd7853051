//! What a network gets as its input: made from the stored features, or from the graph where there are none.
//!
//! Presence, `tfidf` and `rows` treat a stored value as "there" if it is not zero. A node without features keeps a zero
//! row. Sparse features stay sparse.

use crate::graph::NodeId;
use crate::{Error, GraphData, Result};
use sapwood_skeleton::math::ln_f64;
use sapwood_skeleton::random::{Purpose, Stream, uniform_f32};
use sapwood_sparse::{Block, Csr};

/// Features as a data set stores them.
#[derive(Debug, Clone)]
pub enum Features {
    /// There are none.
    Absent,
    /// There is only a file of another name, such as `features_partial.mtx.gz`: not usable as it is.
    Elsewhere {
        /// Path of the file.
        file: String,
    },
    /// One row per node.
    Stored(FeatureMatrix),
}

/// A matrix of features, one row per node.
#[derive(Debug, Clone)]
pub enum FeatureMatrix {
    /// Stored by rows; columns ascend.
    Sparse(Csr<f32>),
    /// Row-major.
    Dense(Block<f32>),
}

impl FeatureMatrix {
    /// Number of rows: nodes.
    pub fn rows(&self) -> usize {
        match self {
            FeatureMatrix::Sparse(m) => m.rows(),
            FeatureMatrix::Dense(m) => m.rows(),
        }
    }

    /// Number of columns: features.
    pub fn cols(&self) -> usize {
        match self {
            FeatureMatrix::Sparse(m) => m.cols(),
            FeatureMatrix::Dense(m) => m.cols(),
        }
    }

    /// Stored entries; of a dense matrix those that are not zero.
    pub fn entries(&self) -> u64 {
        match self {
            FeatureMatrix::Sparse(m) => m.entries() as u64,
            FeatureMatrix::Dense(m) => m.as_slice().iter().filter(|&&x| x != 0.0).count() as u64,
        }
    }

    /// Rows that are zero.
    pub fn empty_rows(&self) -> u64 {
        let zero = |i: usize| match self {
            FeatureMatrix::Sparse(m) => m.row_values(i).iter().all(|&x| x == 0.0),
            FeatureMatrix::Dense(m) => m.row(i).iter().all(|&x| x == 0.0),
        };
        (0..self.rows()).filter(|&i| zero(i)).count() as u64
    }

    /// First entry that is NaN or infinite: (row, column).
    pub(crate) fn first_not_finite(&self) -> Option<(usize, usize)> {
        (0..self.rows()).find_map(|i| match self {
            FeatureMatrix::Sparse(m) => {
                let at = m.row_values(i).iter().position(|x| !x.is_finite())?;
                Some((i, m.row(i)[at] as usize))
            }
            FeatureMatrix::Dense(m) => Some((i, m.row(i).iter().position(|x| !x.is_finite())?)),
        })
    }
}

/// How features are made (`--features`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureKind {
    /// Presence × (ln((1 + n)/(1 + df)) + 1), rows then scaled to L2 norm 1.
    TfIdf,
    /// Presence, rows scaled to sum 1.
    Rows,
    /// As stored.
    Raw,
    /// One column per degree, at most 256: a node has 1 in column min(degree, 255).
    OneHot,
    /// This many columns of independent numbers, uniform with mean 0 and variance 1.
    Random(usize),
}

impl std::fmt::Display for FeatureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FeatureKind::TfIdf => f.write_str("tfidf"),
            FeatureKind::Rows => f.write_str("rows"),
            FeatureKind::Raw => f.write_str("raw"),
            FeatureKind::OneHot => f.write_str("onehot"),
            FeatureKind::Random(columns) => write!(f, "random:{columns}"),
        }
    }
}

impl std::str::FromStr for FeatureKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<FeatureKind> {
        match text.split_once(':') {
            None if text == "tfidf" => Ok(FeatureKind::TfIdf),
            None if text == "rows" => Ok(FeatureKind::Rows),
            None if text == "raw" => Ok(FeatureKind::Raw),
            None if text == "onehot" => Ok(FeatureKind::OneHot),
            Some(("random", columns)) => match columns.parse() {
                Ok(d @ 1..=65536) => Ok(FeatureKind::Random(d)),
                _ => {
                    let range = "random:D with D from 1 to 65536";
                    Err(Error::Range { flag: "--features", range, value: text.into() })
                }
            },
            Some(("embed", _)) => Err(Error::NotBuilt {
                what: format!("--features {text}"),
                instead: "use tfidf, rows, raw, onehot or random:D".into(),
            }),
            _ => Err(Error::unknown("features", text, ["tfidf", "rows", "raw", "onehot", "random:D"])),
        }
    }
}

/// Features made for a network.
#[derive(Debug, Clone)]
pub struct Made {
    /// One row per node.
    pub matrix: FeatureMatrix,
    /// How they were made; not what was asked for where the data set has no features.
    pub kind: FeatureKind,
    /// What the user should know about it.
    pub note: Option<String>,
}

/// Makes the features of `data`. `None` is `tfidf` for sparse stored features that are 0 or 1, `raw` for all others, and
/// `onehot` where none are stored. `seed` matters to `random:D` alone.
///
/// # Errors
/// [`Error::Features`] if stored features are asked for and there are none, or only a file of another name is there.
pub fn make(data: &GraphData, kind: Option<FeatureKind>, seed: u64) -> Result<Made> {
    let from_graph = matches!(kind, Some(FeatureKind::OneHot | FeatureKind::Random(_)));
    let (stored, note) = match &data.features {
        _ if from_graph => (None, None),
        Features::Stored(matrix) => (Some(matrix), None),
        Features::Absent if kind.is_some() => {
            let what = "they are asked for by --features and none are stored; choose onehot or random:D".to_owned();
            return Err(Error::Features { name: data.name.clone(), what });
        }
        Features::Absent => (None, Some(format!("{} has no features: the one-hot degree is used", data.name))),
        Features::Elsewhere { file } => {
            let what = format!(
                "features are needed and only {file} is there, which is not all of them; \
                 write features.mtx, features.npy or words.tsv, or choose --features onehot or random:D"
            );
            return Err(Error::Features { name: data.name.clone(), what });
        }
    };
    let kind = match (kind, stored) {
        (Some(kind), Some(_)) => kind,
        (Some(kind), None) if from_graph => kind,
        (None, Some(FeatureMatrix::Sparse(m))) if boolean(m.values()) => FeatureKind::TfIdf,
        (None, Some(_)) => FeatureKind::Raw,
        (_, None) => FeatureKind::OneHot,
    };
    let values = stored.is_some_and(|stored| match stored {
        FeatureMatrix::Sparse(m) => !boolean(m.values()),
        FeatureMatrix::Dense(m) => !boolean(m.as_slice()),
    });
    let flattened = values && matches!(kind, FeatureKind::TfIdf | FeatureKind::Rows);
    let note = note.or_else(|| {
        flattened
            .then(|| format!("--features {kind} takes every value but 0 as 1, and these are others; raw keeps them"))
    });
    let matrix = match (kind, stored) {
        (FeatureKind::TfIdf, Some(stored)) => FeatureMatrix::Sparse(tfidf(presence(stored)?)),
        (FeatureKind::Rows, Some(stored)) => FeatureMatrix::Sparse(rows(presence(stored)?)),
        (FeatureKind::Raw, Some(stored)) => stored.clone(),
        (FeatureKind::Random(columns), _) => FeatureMatrix::Dense(random(data.graph.nodes(), columns, seed)?),
        (_, _) => FeatureMatrix::Sparse(onehot(data)?),
    };
    Ok(Made { matrix, kind, note })
}

/// Whether values say no more than that something is there.
fn boolean(values: &[f32]) -> bool {
    values.iter().all(|&x| x == 0.0 || x == 1.0)
}

/// 1 where a stored value is not zero.
fn presence(stored: &FeatureMatrix) -> Result<Csr<f32>> {
    let (n, columns) = (stored.rows(), stored.cols());
    let (mut offsets, mut there) = (vec![0u64], Vec::new());
    for i in 0..n {
        match stored {
            FeatureMatrix::Sparse(m) => {
                let row = m.row(i).iter().zip(m.row_values(i));
                there.extend(row.filter(|&(_, &x)| x != 0.0).map(|(&c, _)| c));
            }
            FeatureMatrix::Dense(m) => {
                let row = (0u32..).zip(m.row(i));
                there.extend(row.filter(|&(_, &x)| x != 0.0).map(|(c, _)| c));
            }
        }
        offsets.push(there.len() as u64);
    }
    let ones = vec![1.0; there.len()];
    Ok(Csr::try_new(n, columns, offsets, there, ones)?)
}

fn tfidf(mut presence: Csr<f32>) -> Csr<f32> {
    let mut document_frequency = vec![0u64; presence.cols()];
    for &word in presence.columns() {
        document_frequency[word as usize] += 1;
    }
    let n = presence.rows() as f64;
    let weight: Vec<f64> = document_frequency.iter().map(|&df| ln_f64((1.0 + n) / (1.0 + df as f64)) + 1.0).collect();
    for i in 0..presence.rows() {
        let row: Vec<f64> = presence.row(i).iter().map(|&w| weight[w as usize]).collect();
        let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        set_row(&mut presence, i, row.iter().map(|x| (x / norm) as f32));
    }
    presence
}

fn rows(mut presence: Csr<f32>) -> Csr<f32> {
    for i in 0..presence.rows() {
        let count = presence.row(i).len();
        set_row(&mut presence, i, std::iter::repeat_n(1.0 / count as f32, count));
    }
    presence
}

fn set_row(matrix: &mut Csr<f32>, i: usize, values: impl Iterator<Item = f32>) {
    let range = matrix.row_range(i);
    for (slot, value) in matrix.values_mut()[range].iter_mut().zip(values) {
        *slot = value;
    }
}

/// Largest number of degree columns.
const BINS: usize = 256;

fn onehot(data: &GraphData) -> Result<Csr<f32>> {
    let n = data.graph.nodes();
    let bin = |i: u32| data.graph.degree(NodeId(i)).min(BINS - 1) as u32;
    let column: Vec<u32> = (0..n as u32).map(bin).collect();
    let columns = column.iter().max().map_or(0, |&b| b as usize + 1);
    Ok(Csr::try_new(n, columns, (0..=n as u64).collect(), column, vec![1.0; n])?)
}

/// Number i·columns + c of the plain stream is the entry (i, c).
fn random(nodes: usize, columns: usize, seed: u64) -> Result<Block<f32>> {
    let mut out = Block::zeros(nodes, columns)?;
    let stream = Stream::new(seed, Purpose::Features);
    let width = 2.0 * 3f32.sqrt();
    for (unit, four) in out.as_mut_slice().chunks_mut(4).enumerate() {
        let words = stream.at(0, 0, unit as u64)?;
        for (slot, word) in four.iter_mut().zip(words) {
            *slot = (uniform_f32(word) - 0.5) * width;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
