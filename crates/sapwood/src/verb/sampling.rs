//! The flags of a sampler, the same for `train` and `drop`.

use crate::cli::Failure;
use clap::Args;
use sapwood_graph::calibrate::{Clip, Curve};
use sapwood_graph::guard::Guards;
use sapwood_graph::sampler::{self, Diffusion};
use sapwood_graph::score::ScoreOptions;
use sapwood_graph::{Rates, SamplerOptions, draw, score};
use std::path::PathBuf;

/// How a sampler chooses what goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sampler")]
pub(crate) struct SamplerFlags {
    #[arg(long, value_name = "NAME", help = choice("The sampler that is looked at", names(sampler::ALL, |e| e.name), "ranked"))]
    pub(crate) sampler: Option<String>,
    /// Share of the pairs (with --directed: arcs) that is dropped: a number from 0 to 1, `auto`, or one for each layer
    /// like 0.5,0.4 [default: 0.3]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    p: Option<String>,
    /// The same over the epochs: const:P or linear:P0:P1
    #[arg(long, value_name = "SCHEDULE")]
    p_schedule: Option<String>,
    #[arg(long, value_name = "NAME", help = choice("What makes an edge important", scores(), "two_stage"))]
    score: Option<String>,
    /// How strongly the score decides; 0 drops all edges alike [default: 2]
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    beta: Option<f64>,
    /// Whether important edges are kept or dropped: keep, drop, or auto by the labels of the training nodes
    /// [default: keep]
    #[arg(long, value_name = "WAY")]
    direction: Option<String>,
    /// Damping of PageRank [default: 0.85]
    #[arg(long, value_name = "ALPHA", allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Exponent of PageRank in two_stage [default: 1]
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// Exponent of the degree in two_stage [default: 1]
    #[arg(long, value_name = "DELTA", allow_negative_numbers = true)]
    delta: Option<f64>,
    /// Share of PageRank against degree in pr_degree [default: 0.5]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    rank_lambda: Option<f64>,
    #[arg(long, value_name = "NAME", help = choice("How units are drawn", names(draw::ALL, |e| e.name), "systematic"))]
    draw: Option<String>,
    /// Which units stand together in the order of a draw: none, node or score [default: node]
    #[arg(long, value_name = "KIND")]
    stratify: Option<String>,
    /// What shares a draw: epoch, layer or layer-nested [default: epoch]
    #[arg(long, value_name = "WHAT")]
    per: Option<String>,
    /// A node keeps at least this many of its edges [default: 0]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    min_degree: Option<u32>,
    /// Never drop a spanning forest of the most important edges: components stay whole
    #[arg(long)]
    keep_forest: bool,
    /// Never drop the edges of a file of lines `u v`
    #[arg(long, value_name = "FILE")]
    always_keep: Option<PathBuf>,
    /// Smallest drop probability of an edge [default: 0]
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    q_min: Option<f64>,
    /// Largest drop probability of an edge [default: 1]
    #[arg(long, value_name = "Q", allow_negative_numbers = true)]
    q_max: Option<f64>,
    /// From rank to probability: sigmoid or linear [default: sigmoid]
    #[arg(long, value_name = "CURVE")]
    curve: Option<String>,
    /// Drop probabilities from a file of lines `u v q`
    #[arg(long, value_name = "FILE")]
    prob: Option<PathBuf>,
    /// As published, where that is another thing (gca-pagerank)
    #[arg(long)]
    faithful: bool,
    /// Teleport probability of ppr-diffusion [default: 0.15]
    #[arg(long, value_name = "TAU", allow_negative_numbers = true)]
    diffuse_teleport: Option<f64>,
    /// Entries that ppr-diffusion keeps of each row [default: 64]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    diffuse_top: Option<u32>,
}

impl SamplerFlags {
    /// What the flags ask for. Scores that are sketched have one seed for all runs, so that a draw of any run can be
    /// repeated.
    pub(crate) fn options(&self, weighted: bool) -> Result<SamplerOptions, Failure> {
        let usual = SamplerOptions::default();
        let (score, file) = match self.score.as_deref() {
            Some(named) => match named.strip_prefix("file:") {
                Some(path) => ("file".to_owned(), Some(PathBuf::from(path))),
                None => (named.to_owned(), None),
            },
            None => (usual.score, None),
        };
        Ok(SamplerOptions {
            rates: self.rates()?.unwrap_or(usual.rates),
            score,
            score_options: ScoreOptions {
                alpha: self.alpha.unwrap_or(usual.score_options.alpha),
                gamma: self.gamma.unwrap_or(usual.score_options.gamma),
                delta: self.delta.unwrap_or(usual.score_options.delta),
                lambda: self.rank_lambda.unwrap_or(usual.score_options.lambda),
                weighted,
                file,
                seed: 0,
            },
            beta: self.beta.unwrap_or(usual.beta),
            direction: parsed(&self.direction)?.unwrap_or(usual.direction),
            curve: match self.curve.as_deref() {
                None | Some("sigmoid") => Curve::Sigmoid,
                Some("linear") => Curve::Linear,
                Some(other) => return Err(sapwood_graph::Error::unknown("curve", other, ["sigmoid", "linear"]).into()),
            },
            clip: Clip { min: self.q_min.unwrap_or(usual.clip.min), max: self.q_max.unwrap_or(usual.clip.max) },
            draw: self.draw.clone().unwrap_or(usual.draw),
            stratify: parsed(&self.stratify)?.unwrap_or(usual.stratify),
            per: parsed(&self.per)?.unwrap_or(usual.per),
            guards: Guards {
                min_degree: self.min_degree.unwrap_or(0),
                keep_forest: self.keep_forest,
                always_keep: self.always_keep.clone(),
            },
            probabilities: self.prob.clone(),
            faithful: self.faithful,
            diffusion: Diffusion {
                teleport: self.diffuse_teleport.unwrap_or(usual.diffusion.teleport),
                top: self.diffuse_top.unwrap_or(usual.diffusion.top),
            },
            epochs: usual.epochs,
            layers: usual.layers,
        })
    }

    /// One line for each flag given that `sampler` does not read.
    pub(crate) fn unread(&self, sampler: &sampler::Entry) -> Vec<String> {
        let given = [
            ("score", self.score.is_some()),
            ("beta", self.beta.is_some()),
            ("direction", self.direction.is_some()),
            ("alpha", self.alpha.is_some()),
            ("gamma", self.gamma.is_some()),
            ("delta", self.delta.is_some()),
            ("rank-lambda", self.rank_lambda.is_some()),
            ("draw", self.draw.is_some()),
            ("stratify", self.stratify.is_some()),
            ("min-degree", self.min_degree.is_some()),
            ("keep-forest", self.keep_forest),
            ("always-keep", self.always_keep.is_some()),
            ("q-min", self.q_min.is_some()),
            ("q-max", self.q_max.is_some()),
            ("curve", self.curve.is_some()),
            ("prob", self.prob.is_some()),
            ("faithful", self.faithful),
            ("diffuse-teleport", self.diffuse_teleport.is_some()),
            ("diffuse-top", self.diffuse_top.is_some()),
        ];
        let unread = given.into_iter().filter(|(flag, given)| *given && !sampler.reads.contains(flag));
        unread.map(|(flag, _)| format!("--{flag} has no effect: --sampler {} does not read it", sampler.name)).collect()
    }

    /// Whether a rate or probabilities were given.
    pub(crate) fn rate_flag(&self) -> Option<&'static str> {
        let given =
            [("--p", self.p.is_some()), ("--p-schedule", self.p_schedule.is_some()), ("--prob", self.prob.is_some())];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    fn rates(&self) -> Result<Option<Rates>, Failure> {
        match (&self.p, &self.p_schedule) {
            (Some(p), Some(schedule)) => {
                Err(Failure::usage(format!("--p {p} beside --p-schedule {schedule}: both say what is dropped"))
                    .hint("--p P means --p-schedule const:P; give one of them"))
            }
            (Some(_), None) | (None, Some(_)) if self.prob.is_some() => {
                let flag = if self.p.is_some() { "--p" } else { "--p-schedule" };
                Err(Failure::usage(format!("{flag} beside --prob: the file says what is dropped"))
                    .hint("give one of them"))
            }
            (Some(text), None) | (None, Some(text)) => Ok(Some(text.parse()?)),
            (None, None) => Ok(None),
        }
    }
}

fn parsed<T: std::str::FromStr<Err = sapwood_graph::Error>>(text: &Option<String>) -> Result<Option<T>, Failure> {
    Ok(text.as_deref().map(str::parse).transpose()?)
}

fn scores() -> String {
    names(score::ALL, |e| e.name).replace("file", "file:PATH")
}

/// The names of a registry, so that `--help` knows what was added to it.
pub(super) fn names<E>(registry: &[E], name: impl Fn(&E) -> &'static str) -> String {
    registry.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The help of a flag that takes one of several names.
pub(super) fn choice(what: &str, names: String, default: &str) -> String {
    format!("{what}: {names} [default: {default}]")
}

/// What to say to `--keep`: p has one meaning everywhere.
pub(super) fn keep_refusal(keep: &str) -> Failure {
    let hint = match keep.parse::<f64>() {
        Ok(keep) if (0.0..=1.0).contains(&keep) => format!("p = 1 - keep: write --p {}", rounded(1.0 - keep)),
        _ => "p = 1 - keep: write --p with the share that is dropped".to_owned(),
    };
    Failure::usage("--keep: there is no such flag; --p is the share of the pairs that is dropped").hint(hint)
}

/// Without the last digits that 1 − 0.7 has too many.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}
