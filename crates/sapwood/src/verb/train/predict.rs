//! `sapwood train predict`: the classes that a saved network gives to the nodes of a graph.

use super::save::{PREDICTIONS, class};
use crate::cli::{Context, Exit, Failure, resources};
use crate::verb::page::check_place;
use clap::Args;
use sapwood_graph::features;
use sapwood_train::checkpoint::{DEPTH, Latest, RunFolder, State};
use sapwood_train::settings::Dtype;
use sapwood_train::{Settings, predict};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Classify the nodes of a graph with a saved network
///
/// The weights are those of the epoch that the run chose; features are made as they were for training. Results are lines
/// `node<TAB>predicted<TAB>label`, −1 for a node without a label.
#[derive(Debug, Args)]
pub(super) struct Predict {
    /// Folder of a run, DIR/METHOD/seed-S, or one that holds a single run
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    /// The data set [default: the one of training]
    data: Option<String>,
    /// Where the lines go [default: standard output]
    #[arg(short, long, value_name = "FILE.tsv")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    data: &'a str,
    model: Model<'a>,
    nodes: usize,
    test_acc: Option<f64>,
    path: Option<String>,
}

#[derive(Serialize)]
struct Model<'a> {
    name: &'a str,
    layers: usize,
    method: &'a str,
    seed: String,
    epoch: u32,
}

impl Predict {
    pub(super) fn run(&self, cx: &Context) -> Result<Exit, Failure> {
        if cx.flags.report.is_some() {
            return Err(Failure::usage("--report: predict makes none").hint("-o writes the classes, --json a summary"));
        }
        if let Some(path) = &self.out {
            check_place("-o", path, PREDICTIONS)?;
        }
        let latest = find(&self.from)?;
        let state = State::read(&latest)?;
        let settings = Settings::restore(&state.settings)?;
        let spec = self.data.as_deref().unwrap_or(&state.source);
        resources::check_generated(spec)?;
        let loaded = sapwood_graph::load(spec, &settings.load_options()).map_err(Failure::from);
        let mut data = match &self.data {
            Some(_) => loaded?,
            None => loaded.map_err(|e| e.hint("this is how the training named its data; name them after --from"))?,
        };
        data.warnings.iter().for_each(|warning| cx.warn(warning));
        if data.digest() != state.data {
            let trained = &state.source;
            cx.warn(&format!("{}: not the data that the network was trained on ({trained})", data.name));
        }
        let made = features::make(&data, settings.features, settings.seed)?;
        data.features = features::Features::Absent;
        let test = settings.split.as_deref().and_then(|name| data.splits.iter().find(|split| split.name == name));
        let test: Vec<usize> = test.map_or_else(Vec::new, |split| split.test.iter().map(|node| node.index()).collect());
        let runtime = cx.runtime()?;
        let graph = Arc::new(data.graph);
        let (exec, matrix, from) = (runtime.exec(), made.matrix, (&latest, &state));
        let predicted = match settings.dtype {
            Dtype::F32 => predict::predict::<f32>(exec, graph, matrix, &settings, from)?,
            Dtype::F64 => predict::predict::<f64>(exec, graph, matrix, &settings, from)?,
        };
        let lines = |out: &mut dyn Write| -> std::io::Result<()> {
            writeln!(out, "{PREDICTIONS}predicted\tlabel")?;
            let mut pairs = predicted.iter().zip(&data.labels).enumerate();
            pairs.try_for_each(|(node, (&p, label))| writeln!(out, "{node}\t{}\t{label}", class(p)))
        };
        if let Some(path) = &self.out {
            sapwood_files::write_atomic(path, |out| lines(out))?;
        }
        let report = Report {
            schema: "sapwood.train.predict/1",
            data: &data.name,
            model: Model {
                name: settings.model.name,
                layers: settings.layers,
                method: &state.method,
                seed: state.seed.to_string(),
                epoch: state.best.map_or(state.epoch, |best| best.epoch),
            },
            nodes: predicted.len(),
            test_acc: accuracy(&predicted, &data.labels, &test),
            path: self.out.as_ref().map(|path| path.display().to_string()),
        };
        cx.emit(&report, |out| match &report.path {
            None => lines(out),
            Some(path) => {
                let found = report.test_acc.map_or_else(String::new, |acc| format!(", test accuracy {acc:.4}"));
                writeln!(out, "{}: {} nodes{found}; lines in {path}", report.data, report.nodes)
            }
        })?;
        Ok(Exit::Done)
    }
}

/// Share of the labelled test nodes that are classified rightly; `None` without any.
fn accuracy(predicted: &[u32], labels: &[i32], test: &[usize]) -> Option<f64> {
    let labelled: Vec<usize> = test.iter().copied().filter(|&node| labels[node] >= 0).collect();
    let right = labelled.iter().filter(|&&node| i64::from(labels[node]) == class(predicted[node])).count();
    (!labelled.is_empty()).then(|| right as f64 / labelled.len() as f64)
}

/// The checkpoint in `folder`, or in the only run below it.
fn find(folder: &Path) -> Result<Latest, Failure> {
    if let Some(latest) = RunFolder::new(folder.to_owned()).latest()? {
        return Ok(latest);
    }
    let mut runs = Vec::new();
    saved_below(folder, DEPTH, &mut runs);
    let named = |run: &PathBuf| run.display().to_string();
    match &runs[..] {
        [] => Err(Failure::usage(format!("--from {}: no run is saved there", folder.display()))
            .hint("sapwood train -o DIR saves runs; one that broke in its first epochs has nothing to save")),
        [run] => RunFolder::new(run.clone()).latest()?.ok_or_else(|| Failure::usage(format!("{}: empty", named(run)))),
        many => {
            let first: Vec<String> = many.iter().take(4).map(named).collect();
            Err(Failure::usage(format!("--from {}: {} runs are saved there", folder.display(), many.len()))
                .hint(format!("name one of {}{}", first.join(", "), if many.len() > 4 { ", ..." } else { "" })))
        }
    }
}

/// Adds the folders of runs below a folder, in the order of their names.
fn saved_below(path: &Path, depth: usize, runs: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    for folder in folders {
        if folder.join("latest").exists() {
            runs.push(folder);
        } else if depth > 1 {
            saved_below(&folder, depth - 1, runs);
        }
    }
}
