//! `sapwood bench sparse`: Y = A X in f32, for real graphs and several widths of X.
//!
//! Ours is timed in two forms: as the trainer has the matrix (a pattern, for `debian` scaled to the GCN operator on the
//! fly) and as the same CSR with f32 values stored, which is what the peers get. X holds the numbers of
//! `bench/peers/spmm_scipy.py`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use sapwood_graph::{LoadOptions, Normalisation, Operator};
use sapwood_skeleton::Exec;
use sapwood_sparse::io::{ReadOptions, Source, Values};
use sapwood_sparse::{Affine, Block, Csr, One, Scalar, WorkPlan, spmm};

use super::contest::{Agreement, BoxError, Contender, Job, Ours, contest};
use super::host::host;
use super::peer::{Launcher, Peer};
use super::table::Row;
use super::{Common, PeerEntry, chosen, data, failure, record, start, table};
use crate::cli::{Context, Exit, Failure, Run};

/// Programs that multiply a sparse by a dense matrix.
static PEERS: &[PeerEntry] = &[
    PeerEntry { name: "scipy", script: "spmm_scipy.py", arguments: &[] },
    PeerEntry { name: "scipy-inplace", script: "spmm_scipy.py", arguments: &["--inplace"] },
    PeerEntry { name: "torch", script: "spmm_torch.py", arguments: &[] },
];

/// Graphs looked for when none is named: label, place in a data folder, and whether A is the GCN operator.
static GRAPHS: &[(&str, &str, bool)] = &[
    ("debian", "debian-packages", true),
    ("cora", "cora", false),
    ("facebook", "snap/facebook-combined.txt", false),
    ("email-enron", "snap/email-enron.txt", false),
    ("ego-twitter", "snap/ego-twitter.txt", false),
];

/// Sparse matrix times dense matrix on real graphs.
#[derive(Debug, Args)]
pub(super) struct Sparse {
    /// Graphs: TSV folders or undirected edge lists [default: debian, cora and SNAP graphs, where data folders have them]
    files: Vec<PathBuf>,
    /// Columns of the dense matrix
    #[arg(long = "k", value_name = "LIST", value_delimiter = ',', default_value = "1,16,64,128")]
    widths: Vec<usize>,
    /// Peers: scipy, scipy-inplace, torch, none
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "scipy")]
    peers: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// A graph to measure on.
struct Case {
    label: String,
    path: PathBuf,
    operator: bool,
}

impl Run for Sparse {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let peers = chosen(&self.peers, PEERS)?;
        let (host, runtime) = (host(), cx.runtime()?);
        let launcher = Launcher::new(&self.common.peers_dir, runtime.exec().threads(), host.busy());
        let (mut systems, mut rows) = (vec![table::ours("sapwood"), table::ours("sapwood-csr-f32")], Vec::new());
        for case in self.cases(cx) {
            let started =
                peers.iter().filter_map(|entry| start(cx, &launcher, entry, self.arguments(&case), &case.label));
            let mut started: Vec<Peer> = started.collect();
            started.iter().for_each(|peer| record(&mut systems, peer));
            rows.extend(self.measure(cx, runtime.exec(), &case, &mut started).map_err(failure)?);
        }
        table::emit(cx, "sparse", systems, host, rows)
    }
}

impl Sparse {
    fn cases(&self, cx: &Context) -> Vec<Case> {
        let named = self.files.iter().map(|path| {
            let label =
                path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
            Case { label, path: path.clone(), operator: false }
        });
        let known = GRAPHS.iter().filter_map(|&(label, place, operator)| {
            let path = data(cx, label, place)?;
            Some(Case { label: label.to_owned(), path, operator })
        });
        if self.files.is_empty() { known.collect() } else { named.collect() }
    }

    /// What the script of a peer is told.
    fn arguments(&self, case: &Case) -> Vec<String> {
        let widths: Vec<String> = self.widths.iter().map(usize::to_string).collect();
        let mut arguments = vec![case.path.display().to_string(), "--k".to_owned(), widths.join(",")];
        arguments.extend(case.operator.then(|| "--operator".to_owned()));
        arguments
    }

    fn measure(&self, cx: &Context, exec: Exec<'_>, case: &Case, peers: &mut [Peer]) -> Result<Vec<Row>, BoxError> {
        let matrix = Matrix::load(exec, case)?;
        let n = matrix.rows();
        let (stored, dense) = (matrix.stored()?, operands(n, &self.widths)?);
        let plan = WorkPlan::new(&stored);
        let product = |multiply| -> Result<Product<'_>, BoxError> {
            Ok(Product { exec, multiply, x: &dense, y: operands(n, &self.widths)? })
        };
        let mut ours = Ours { name: "sapwood", threads: exec.threads(), job: product(Multiply::AsTrained(&matrix))? };
        let mut same =
            Ours { name: "sapwood-csr-f32", threads: exec.threads(), job: product(Multiply::Stored(&stored, &plan))? };
        let mut rows = Vec::new();
        for k in self.widths.iter().map(usize::to_string) {
            let mut field: Vec<&mut dyn Contender> = vec![&mut ours, &mut same];
            field.extend(peers.iter_mut().map(|peer| peer as &mut dyn Contender));
            let (label, reps) = (format!("{} k={k}", case.label), usize::from(self.common.reps));
            let (measured, lost) = contest(&k, &label, n as u64, &mut field, reps, &Agreement::F32);
            rows.extend(measured);
            lost.iter().for_each(|line| cx.warn(line));
        }
        Ok(rows)
    }
}

/// A, as the trainer has it.
enum Matrix {
    /// 0/1 adjacency matrix.
    Pattern(Csr<One>, WorkPlan),
    /// The GCN operator.
    Operator(Box<Operator<f32>>),
}

impl Matrix {
    fn load(exec: Exec<'_>, case: &Case) -> Result<Matrix, BoxError> {
        if case.operator {
            let graph = load(&case.path)?;
            return Ok(Matrix::Operator(Box::new(Operator::full(exec, &graph, Normalisation::default())?)));
        }
        let pattern = if case.path.is_dir() {
            load(&case.path)?.rows().pattern().clone()
        } else {
            let options = ReadOptions { undirected: true, values: Values::Pattern, ..ReadOptions::default() };
            sapwood_sparse::io::read_as::<One>(Source::open(&case.path)?, &options)?.0
        };
        let plan = WorkPlan::new(&pattern);
        Ok(Matrix::Pattern(pattern, plan))
    }

    fn rows(&self) -> usize {
        match self {
            Matrix::Pattern(pattern, _) => pattern.rows(),
            Matrix::Operator(operator) => operator.nodes(),
        }
    }

    /// The same matrix with all its values stored.
    fn stored(&self) -> Result<Csr<f32>, BoxError> {
        match self {
            Matrix::Pattern(pattern, _) => Ok(pattern.map_values(|_| 1.0)),
            Matrix::Operator(operator) => with_diagonal(operator),
        }
    }
}

fn load(path: &Path) -> Result<sapwood_graph::Graph, BoxError> {
    Ok(sapwood_graph::load(&path.display().to_string(), &LoadOptions::default())?.graph)
}

fn with_diagonal(operator: &Operator<f32>) -> Result<Csr<f32>, BoxError> {
    let n = operator.nodes();
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for (i, own) in operator.diagonal().iter().enumerate() {
        let mut row: Vec<(u32, f32)> = operator.row(i).chain([(u32::try_from(i)?, *own)]).collect();
        row.sort_by_key(|&(column, _)| column);
        columns.extend(row.iter().map(|&(column, _)| column));
        values.extend(row.iter().map(|&(_, value)| value));
        offsets.push(columns.len() as u64);
    }
    Ok(Csr::try_new(n, n, offsets, columns, values)?)
}

/// X of each width: ((131 i + 17 j) mod 1009) / 1009 − ½, rounded to f32.
fn operands(n: usize, widths: &[usize]) -> Result<BTreeMap<String, Block<f32>>, BoxError> {
    let number = |i, j| (((131 * i + 17 * j) % 1009) as f64 / 1009.0 - 0.5) as f32;
    widths.iter().map(|&k| Ok((k.to_string(), Block::from_fn(n, k, number)?))).collect()
}

/// One of our ways to multiply.
enum Multiply<'a> {
    AsTrained(&'a Matrix),
    Stored(&'a Csr<f32>, &'a WorkPlan),
}

/// The products of one matrix with all widths.
struct Product<'a> {
    exec: Exec<'a>,
    multiply: Multiply<'a>,
    x: &'a BTreeMap<String, Block<f32>>,
    y: BTreeMap<String, Block<f32>>,
}

impl Job for Product<'_> {
    fn iterate(&mut self, case: &str) -> Result<(), BoxError> {
        let (Some(x), Some(y)) = (self.x.get(case), self.y.get_mut(case)) else {
            return Err(format!("no k = {case}").into());
        };
        match self.multiply {
            Multiply::AsTrained(Matrix::Operator(operator)) => operator.apply(self.exec, x, y)?,
            Multiply::AsTrained(Matrix::Pattern(pattern, plan)) => plain(self.exec, pattern, plan, x, y)?,
            Multiply::Stored(stored, plan) => plain(self.exec, stored, plan, x, y)?,
        }
        Ok(())
    }

    fn check(&mut self, case: &str) -> Result<Vec<f64>, BoxError> {
        self.iterate(case)?;
        let y = self.y.get(case).map_or(&[][..], Block::as_slice);
        let sum = |f: fn(f64) -> f64| y.iter().map(|&v| f(f64::from(v))).sum();
        Ok(vec![sum(|v| v), sum(f64::abs)])
    }
}

fn plain<V: Scalar>(
    exec: Exec<'_>,
    a: &Csr<V>,
    plan: &WorkPlan,
    x: &Block<f32>,
    y: &mut Block<f32>,
) -> sapwood_sparse::Result<()> {
    spmm(exec, a, plan, None, x, y, Affine::SET)
}
