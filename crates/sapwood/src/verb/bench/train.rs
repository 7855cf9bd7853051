//! `sapwood bench train`: one full-batch epoch of a graph network, alone and with its evaluation.
//!
//! The peers start from our initial weights, written to a folder for them, so the losses of the first epochs without
//! dropout must be ours: that is the check. What is timed has dropout on, each system with its own random numbers.

use std::path::Path;

use clap::Args;
use sapwood_files::npy;
use sapwood_graph::{FeatureMatrix, GraphData, LoadOptions, features};
use sapwood_skeleton::Exec;
use sapwood_sparse::{Csr, One, transpose};
use sapwood_train::trainer::{Method, Run as Training};
use sapwood_train::{Parameter, Problem, Registries, Request, Role, Settings, Trainer, experiment};

use super::bound::{self, Gathers};
use super::contest::{Agreement, BoxError, Contender, Job, Ours, contest};
use super::host::host;
use super::peer::{Launcher, Peer};
use super::table::Row;
use super::{Common, PeerEntry, chosen, data, failure, record, start, table};
use crate::cli::{Context, Exit, Failure, Run};

/// Programs that train the same network.
static PEERS: &[PeerEntry] = &[
    PeerEntry { name: "scipy", script: "epoch_scipy.py", arguments: &["--serve"] },
    PeerEntry { name: "pyg", script: "epoch_pyg.py", arguments: &["--serve"] },
    PeerEntry { name: "torch", script: "epoch_torch.py", arguments: &["--serve"] },
];

/// What is measured.
static NETWORKS: &[Case] = &[
    Case {
        name: "debian",
        label: "debian gcn 2×64",
        data: "debian",
        place: "debian-packages",
        split: None,
        model: "gcn",
        layers: 2,
        hidden: 64,
        l2: 5e-5,
        what: &["train", "train+evaluate"],
    },
    Case {
        name: "cora",
        label: "cora gcn 4×128",
        data: "cora",
        place: "cora",
        split: Some("full"),
        model: "gcn",
        layers: 4,
        hidden: 128,
        l2: 5e-4,
        what: &["train", "train+evaluate"],
    },
    Case {
        name: "cora-deep",
        label: "cora jknet 64×128",
        data: "cora",
        place: "cora",
        split: Some("full"),
        model: "jknet",
        layers: 64,
        hidden: 128,
        l2: 5e-4,
        what: &["train+evaluate"],
    },
];

/// Epochs whose losses are compared, as in `bench/peers/job.py`.
const CHECKED_EPOCHS: usize = 5;
const LR: f64 = 0.01;
const DROPOUT: f64 = 0.5;

/// Training epochs of graph networks.
#[derive(Debug, Args)]
pub(super) struct Train {
    /// Cases: debian, cora, cora-deep (64 layers) [default: all]
    cases: Vec<String>,
    /// Peers: scipy, pyg, torch, none
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "scipy,pyg")]
    peers: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// A network on a data set.
#[derive(Debug)]
struct Case {
    /// Name on the command line.
    name: &'static str,
    label: &'static str,
    data: &'static str,
    place: &'static str,
    split: Option<&'static str>,
    model: &'static str,
    layers: usize,
    hidden: usize,
    l2: f64,
    what: &'static [&'static str],
}

impl Run for Train {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let peers = chosen(&self.peers, PEERS)?;
        let cases = self.cases()?;
        let (host, runtime) = (host(), cx.runtime()?);
        let launcher = Launcher::new(&self.common.peers_dir, runtime.exec().threads(), host.busy());
        let (mut systems, mut rows) = (vec![table::ours("sapwood"), table::ours(bound::NAME)], Vec::new());
        for case in cases {
            let Some(path) = data(cx, case.label, case.place) else { continue };
            let prepared = Prepared::load(runtime.exec(), case, &path, cx.flags.seed).map_err(failure)?;
            let weights = tempfile::tempdir()?;
            prepared.write_weights(runtime.exec(), weights.path()).map_err(failure)?;
            let arguments = || case.arguments(&path, weights.path());
            let started = peers.iter().filter_map(|entry| start(cx, &launcher, entry, arguments(), case.label));
            let mut started: Vec<Peer> = started.collect();
            started.iter().for_each(|peer| record(&mut systems, peer));
            rows.extend(self.measure(cx, runtime.exec(), case, &prepared, &mut started).map_err(failure)?);
        }
        table::emit(cx, "train", systems, host, rows)
    }
}

impl Train {
    fn cases(&self) -> Result<Vec<&'static Case>, Failure> {
        if self.cases.is_empty() {
            return Ok(NETWORKS.iter().collect());
        }
        let known = || NETWORKS.iter().map(|case| case.name).collect::<Vec<_>>().join(", ");
        let find = |name: &String| {
            let case = NETWORKS.iter().find(|case| case.name == name);
            case.ok_or_else(|| Failure::usage(format!("{name}: no such benchmark")).hint(format!("one of {}", known())))
        };
        self.cases.iter().map(find).collect()
    }

    fn measure(
        &self,
        cx: &Context,
        exec: Exec<'_>,
        case: &Case,
        prepared: &Prepared,
        peers: &mut [Peer],
    ) -> Result<Vec<Row>, BoxError> {
        let mut trainer = Trainer::new(exec, &prepared.problem, &prepared.settings);
        let run = trainer.start(&prepared.method, prepared.settings.seed)?;
        let mut ours = Ours { name: "sapwood", threads: exec.threads(), job: Epochs { exec, prepared, run } };
        let mut rows = Vec::new();
        let passes = Gathers::<f32>::new(exec, prepared.passes(case));
        let mut gathers = Ours { name: bound::NAME, threads: exec.threads(), job: passes };
        for what in case.what {
            let mut field: Vec<&mut dyn Contender> = vec![&mut ours];
            if *what == "train" {
                field.push(&mut gathers);
            }
            field.extend(peers.iter_mut().map(|peer| peer as &mut dyn Contender));
            let label = format!("{} {what}", case.label);
            let n = prepared.problem.graph().nodes() as u64;
            let reps = usize::from(self.common.reps);
            let (measured, lost) = contest(what, &label, n, &mut field, reps, &Agreement::F32);
            rows.extend(measured);
            lost.iter().for_each(|line| cx.warn(line));
        }
        Ok(rows)
    }
}

impl Case {
    /// Our settings, with or without dropout.
    fn settings(&self, seed: u64, dropout: f64) -> Result<Settings, BoxError> {
        let request = Request {
            model: Some(self.model.to_owned()),
            layers: Some(self.layers),
            hidden: Some(self.hidden),
            lr: Some(LR),
            l2: Some(self.l2),
            dropout: Some(dropout),
            features: Some("tfidf".to_owned()),
            sampler: Some("none".to_owned()),
            split: self.split.map(str::to_owned),
            seed,
            ..Request::default()
        };
        Ok(Settings::resolve(&request, self.data, Registries::default())?)
    }

    /// What the script of a peer is told.
    fn arguments(&self, path: &Path, weights: &Path) -> Vec<String> {
        let mut arguments = vec![path.display().to_string(), "--weights".to_owned(), weights.display().to_string()];
        let named = [
            ("--model", self.model.to_owned()),
            ("--layers", self.layers.to_string()),
            ("--hidden", self.hidden.to_string()),
            ("--lr", LR.to_string()),
            ("--l2", self.l2.to_string()),
            ("--dropout", DROPOUT.to_string()),
        ];
        named.into_iter().for_each(|(flag, value)| arguments.extend([flag.to_owned(), value]));
        self.split.iter().for_each(|split| arguments.extend(["--split".to_owned(), (*split).to_owned()]));
        arguments
    }
}

/// A case with its data, ready to train.
struct Prepared {
    settings: Settings,
    without_dropout: Settings,
    problem: Problem<f32>,
    method: Method,
    /// Â, X and Xᵀ.
    patterns: [Csr<One>; 3],
}

impl Prepared {
    fn load(exec: Exec<'_>, case: &Case, path: &Path, seed: u64) -> Result<Prepared, BoxError> {
        let settings = case.settings(seed, DROPOUT)?;
        let data: GraphData = sapwood_graph::load(&path.display().to_string(), &LoadOptions::default())?;
        let x = features::make(&data, settings.features, seed)?.matrix;
        let split = data.split(case.split)?.clone();
        let patterns = patterns(exec, &data, &x)?;
        let problem = Problem::new(exec, data, x, &split, &settings)?;
        let method = experiment::methods(exec, &problem, &settings, Registries::default())?.pop().ok_or("no method")?;
        Ok(Prepared { without_dropout: case.settings(seed, 0.0)?, settings, problem, method, patterns })
    }

    /// The products of a training epoch of gcn that gather rows: X·W and its gradient, Â·H of each layer and its gradient.
    fn passes(&self, case: &Case) -> Vec<(&Csr<One>, usize)> {
        let [operator, x, transposed] = &self.patterns;
        let widths = (1..case.layers).map(|_| case.hidden).chain([self.problem.classes()]);
        let layers = widths.flat_map(|width| [(operator, width); 2]);
        [(x, case.hidden), (transposed, case.hidden)].into_iter().chain(layers).collect()
    }

    /// Writes the initial weights as `NAME.npy`, laid out as PyTorch has them: weights out × in, biases flat.
    fn write_weights(&self, exec: Exec<'_>, folder: &Path) -> Result<(), BoxError> {
        let mut trainer = Trainer::new(exec, &self.problem, &self.settings);
        let run = trainer.start(&self.method, self.settings.seed)?;
        for parameter in run.network().parameters() {
            npy::write(&folder.join(format!("{}.npy", parameter.name)), &as_pytorch(parameter))?;
        }
        Ok(())
    }

    /// Losses of the first epochs from the initial weights, without dropout.
    fn losses(&self, exec: Exec<'_>) -> Result<Vec<f64>, BoxError> {
        let mut trainer = Trainer::new(exec, &self.problem, &self.without_dropout);
        let mut run = trainer.start(&self.method, self.settings.seed)?;
        (0..CHECKED_EPOCHS).map(|_| Ok(run.train_epoch()?.loss)).collect()
    }
}

/// Places of Â (neighbours and the node itself), X and Xᵀ.
fn patterns(exec: Exec<'_>, data: &GraphData, x: &FeatureMatrix) -> Result<[Csr<One>; 3], BoxError> {
    let FeatureMatrix::Sparse(x) = x else { return Err("the features are dense".into()) };
    let n = data.graph.nodes();
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for i in 0..n as u32 {
        let start = columns.len();
        columns.extend_from_slice(data.graph.neighbours(sapwood_graph::NodeId(i)));
        columns.push(i);
        columns[start..].sort_unstable();
        offsets.push(columns.len() as u64);
    }
    let ones = vec![One; columns.len()];
    let x = x.map_values(|_| One);
    let (transposed, _) = transpose(exec, &x)?;
    Ok([Csr::try_new(n, n, offsets, columns, ones)?, x, transposed])
}

fn as_pytorch(parameter: &Parameter<f32>) -> npy::Array {
    let value = &parameter.value;
    let (rows, cols) = value.shape();
    match parameter.role {
        Role::Bias | Role::Gain | Role::Shift | Role::Mean | Role::Variance => {
            npy::Array { shape: vec![cols], data: npy::Data::F32(value.as_slice().to_vec()) }
        }
        Role::Weight => {
            let transposed = (0..cols).flat_map(|j| (0..rows).map(move |i| value.row(i)[j])).collect();
            npy::Array { shape: vec![cols, rows], data: npy::Data::F32(transposed) }
        }
    }
}

/// Epochs of one run that goes on through the whole benchmark.
struct Epochs<'a> {
    exec: Exec<'a>,
    prepared: &'a Prepared,
    run: Training<'a, 'a, f32>,
}

impl Job for Epochs<'_> {
    fn iterate(&mut self, case: &str) -> Result<(), BoxError> {
        let trained = self.run.train_epoch()?;
        if let Some(broken) = trained.broken {
            return Err(format!("the loss is no number in epoch {} ({})", broken.epoch, broken.layer).into());
        }
        if case == "train+evaluate" {
            self.run.evaluate()?;
        }
        Ok(())
    }

    fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
        self.prepared.losses(self.exec)
    }
}
