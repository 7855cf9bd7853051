//! `sapwood rank`: which nodes or edges of a graph matter most.
//!
//! What is printed is in `report`.

mod report;

use super::sampling::{choice, names};
use super::source::Source;
use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use report::{Report, Top};
use sapwood_graph::centrality::{self, CentralityCx, Ranks};
use sapwood_graph::score::{self, ScoreCx, ScoreOptions};
use sapwood_graph::{Graph, GraphData, TrainLabels, correlation, export, node_list};
use sapwood_skeleton::Exec;
use sapwood_sparse::algorithms::{Method, PageRankOptions};
use std::path::{Path, PathBuf};

/// Rank the nodes of a graph by PageRank or another centrality, or its edges by a score.
///
/// Exit code 1 if an iteration did not converge within --max-iter; the result is printed all the same.
#[derive(Debug, Args)]
pub(crate) struct Rank {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    walk: Walk,
    /// Nodes or edges to print, the highest first
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true)]
    top: usize,
    /// Write all of them: node<TAB>score (--by both: and <TAB>degree), or u<TAB>v<TAB>score
    #[arg(short, long, value_name = "FILE.tsv")]
    out: Option<PathBuf>,
}

/// What is ranked, and by what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Ranking")]
struct What {
    #[arg(long, value_name = "NAME", help = choice("Rank nodes by", centralities(), "pagerank"))]
    by: Option<String>,
    #[arg(
        long,
        value_name = "SCORE",
        conflicts_with = "by",
        help = format!("Rank edges by a score instead: {}", names(score::ALL, |e| e.name))
    )]
    edges: Option<String>,
}

/// How PageRank walks.
#[derive(Debug, Args)]
#[command(next_help_heading = "PageRank")]
struct Walk {
    /// Chance to follow an edge rather than to restart: 0 or more and below 1
    #[arg(long, value_name = "ALPHA", default_value_t = 0.85, allow_negative_numbers = true)]
    alpha: f64,
    /// Stop when a sweep changes the scores by no more than this, in the 1-norm
    #[arg(long, value_name = "TOL", default_value_t = 1e-10, allow_negative_numbers = true)]
    tol: f64,
    /// Most sweeps
    #[arg(long, value_name = "N", default_value_t = 1000, allow_negative_numbers = true)]
    max_iter: u32,
    /// How to iterate: power (nodes that a symmetry exchanges get equal scores), gauss-seidel (in blocks of 4096 rows),
    /// chebyshev (symmetric graphs: fewer sweeps where the walk mixes slowly)
    #[arg(long, value_name = "METHOD", default_value_t = Method::Power)]
    method: Method,
    /// Where restarts go: a file of lines `node` or `node<TAB>weight`, or `train`, the training nodes [default: anywhere]
    #[arg(long, value_name = "FILE|train")]
    reset: Option<String>,
    /// Where the walk goes from a node that no edge leaves, a file likewise [default: where restarts go]
    #[arg(long, value_name = "FILE")]
    dangling: Option<PathBuf>,
    /// Split of --reset train [default: the data set's own]
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
}

/// PageRank with the degree beside it.
const BOTH: &str = "both";

fn centralities() -> String {
    format!("{}, {BOTH} (pagerank, with the degree in the file)", names(centrality::ALL, |e| e.name))
}

impl Run for Rank {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let data = self.source.load(cx)?;
        let runtime = cx.runtime()?;
        let report = match &self.what.edges {
            Some(named) => self.edges(cx, runtime.exec(), &data, named)?,
            None => self.nodes(cx, runtime.exec(), &data)?,
        };
        if let Some(path) = &self.out {
            cx.note(&format!("written to {}", path.display()));
        }
        cx.emit(&report, |out| report.print(&data.name, out))?;
        Ok(if report.converged { Exit::Done } else { Exit::No })
    }
}

impl Rank {
    fn nodes(&self, cx: &Context, exec: Exec<'_>, data: &GraphData) -> Result<Report, Failure> {
        let by = self.what.by.as_deref().unwrap_or("pagerank");
        let entry = centrality::find(if by == BOTH { "pagerank" } else { by }).map_err(|e| and_both(e, by))?;
        if (self.walk.reset.is_some() || self.walk.dangling.is_some())
            && !["pagerank", "personalised", BOTH].contains(&by)
        {
            return Err(Failure::usage(format!("--reset and --dangling are for PageRank, not for --by {by}")));
        }
        let graph = &data.graph;
        let (reset, dangling) = (self.reset(data)?, self.dangling(graph)?);
        let pagerank = PageRankOptions {
            alpha: self.walk.alpha,
            tol: self.walk.tol,
            max_iter: self.walk.max_iter,
            method: self.walk.method,
            teleport: reset.as_deref(),
            dangling: dangling.as_deref(),
        };
        let options = CentralityCx { exec, pagerank, weighted: self.source.weighted, seed: cx.flags.seed };
        let Ranks { scores, walk } = (entry.rank)(graph, &options)?;
        let degrees: Vec<f64> =
            (0..graph.nodes() as u32).map(|i| centrality::degree::of(graph, sapwood_graph::NodeId(i)) as f64).collect();
        if let Some(path) = &self.out {
            export::node_scores(&scores, (by == BOTH).then_some(&degrees[..]), path)?;
        }
        let top = highest(&scores, self.top).into_iter().map(|i| Top::Node {
            node: i as u32,
            score: scores[i],
            degree: degrees[i] as u64,
        });
        let spearman = correlation::spearman(&scores, &degrees)?;
        Ok(Report::new("nodes", by, &scores, top.collect(), spearman).walked(self.walk.alpha, walk.as_ref()))
    }

    fn edges(&self, cx: &Context, exec: Exec<'_>, data: &GraphData, named: &str) -> Result<Report, Failure> {
        if self.walk.reset.is_some() || self.walk.dangling.is_some() {
            return Err(Failure::usage("--reset and --dangling are for nodes, not for --edges"));
        }
        let (name, file) = match named.strip_prefix("file:") {
            Some(path) => ("file", Some(PathBuf::from(path))),
            None => (named, None),
        };
        let (alpha, weighted, seed) = (self.walk.alpha, self.source.weighted, cx.flags.seed);
        let options = ScoreOptions { alpha, weighted, file, seed, ..ScoreOptions::default() };
        let train = TrainLabels::none(data.graph.nodes());
        let scores = score::of(score::find(name)?, &data.graph, &ScoreCx { exec, options: &options, train: &train })?;
        if let Some(path) = &self.out {
            export::unit_scores(&data.graph, &scores, path)?;
        }
        let ends: Vec<(u32, u32)> = export::ends(&data.graph).collect();
        let top =
            highest(&scores, self.top).into_iter().map(|e| Top::Edge { u: ends[e].0, v: ends[e].1, score: scores[e] });
        Ok(Report::new("edges", name, &scores, top.collect(), None))
    }

    /// Weights of `--reset`.
    fn reset(&self, data: &GraphData) -> Result<Option<Vec<f64>>, Failure> {
        match self.walk.reset.as_deref() {
            None => Ok(None),
            Some("train") => {
                let mut weights = vec![0.0; data.graph.nodes()];
                let split = data.split(self.walk.split.as_deref())?;
                split.train.iter().for_each(|node| weights[node.index()] = 1.0);
                if split.train.is_empty() {
                    return Err(Failure::usage(format!("--reset train: split '{}' has no training node", split.name)));
                }
                Ok(Some(weights))
            }
            Some(file) => Ok(Some(node_list::weights(Path::new(file), &data.graph)?)),
        }
    }

    fn dangling(&self, graph: &Graph) -> Result<Option<Vec<f64>>, Failure> {
        Ok(self.walk.dangling.as_deref().map(|file| node_list::weights(file, graph)).transpose()?)
    }
}

/// The registry does not know [`BOTH`], which is no centrality of its own.
fn and_both(error: sapwood_graph::Error, by: &str) -> sapwood_graph::Error {
    match error {
        sapwood_graph::Error::Unknown { kind, known, .. } => {
            sapwood_graph::Error::unknown(kind, by, known.iter().map(String::as_str).chain([BOTH]))
        }
        other => other,
    }
}

/// Positions of the `count` highest scores, the highest first, ties by position.
fn highest(scores: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    order.truncate(count);
    order
}
