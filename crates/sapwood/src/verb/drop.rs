//! `sapwood drop`: draws of a sampler on a graph, what they do to it, and files of what stays.
//!
//! The text is in `text`, the files in `write`.

mod text;
mod write;

use super::sampling::{SamplerFlags, keep_refusal};
use super::source::Source;
use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use sapwood_files::interrupt;
use sapwood_graph::sampler::{self, ProbabilityFacts};
use sapwood_graph::structure::{self, DrawFacts, Statistics};
use sapwood_graph::{DrawKey, GraphData, Prepared, Rates, SamplerFacts, SamplerOptions, TrainLabels};
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use write::Files;

/// Sample a graph: draw which edges go, say what that does to the graph, write what stays.
///
/// p is always the share that is dropped. All randomness is a function of --seed, --epoch, --layer and --micro: with the
/// values of a training run this gives the very mask of that run, so that training need not save it. Training counts
/// epochs from 1; layers count from 1 where they draw apart (--per layer), else the layer is 0.
#[derive(Debug, Args)]
pub(crate) struct Drop {
    #[command(flatten)]
    source: Source,
    /// Split whose training labels --direction auto may see [default: the data set's own, if it has one]
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    #[command(flatten)]
    sampler: SamplerFlags,
    #[command(flatten)]
    draws: Draws,
    #[command(flatten)]
    output: Output,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", allow_negative_numbers = true)]
    keep: Option<String>,
}

/// Which draws.
#[derive(Debug, Args)]
#[command(next_help_heading = "Draws")]
struct Draws {
    /// Draws, one for each epoch from --epoch on
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    draws: u32,
    /// Epoch of the first draw; those of a training run count from 1
    #[arg(long, value_name = "E", default_value_t = 0, allow_negative_numbers = true)]
    epoch: u32,
    /// Layer of the draw, from 1; 0 where all layers share it
    #[arg(long, value_name = "L", default_value_t = 0, allow_negative_numbers = true)]
    layer: u16,
    /// Micro-batch of the draw
    #[arg(long, value_name = "M", default_value_t = 0, allow_negative_numbers = true)]
    micro: u16,
    /// Epochs of the run, over which linear:P0:P1 stretches
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
}

/// What comes out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct Output {
    /// Print what the draws do to the graph: isolated nodes, components, spread of the degrees
    #[arg(long)]
    stats: bool,
    /// Write one file for each draw (of scores: one in all) to the folder of --out
    #[arg(long, value_name = "FORM")]
    write: Option<write::Wanted>,
    /// Folder of the files, made if it is missing
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Run for Box<Drop> {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        if let Some(keep) = &self.keep {
            return Err(keep_refusal(keep));
        }
        interrupt::install()?;
        let data = self.source.load(cx)?;
        let name = self.sampler.sampler.as_deref().unwrap_or("ranked");
        let new = sampler::find(sampler::ALL, name)?.new;
        let options = self.options()?;
        let train = self.labels(&data)?;
        let runtime = cx.runtime()?;
        let exec = runtime.exec();
        let (data_name, graph) = (data.name, Arc::new(data.graph));
        let prepared = new(&options)?.prepare(exec, &graph, &train)?;
        let facts = prepared.facts_at(exec, self.key(cx.flags.seed))?;
        self.no_run_has(prepared.as_ref()).iter().for_each(|line| cx.warn(line));
        self.sampler.unread(sampler::find(sampler::ALL, name)?).iter().for_each(|line| cx.warn(line));
        facts.notes.iter().for_each(|note| cx.warn(note));
        let files = Files::new(self.output.write, self.output.out.as_deref(), &graph, prepared.as_ref())?;
        if let Some(path) = files.scores(exec, self.key(cx.flags.seed))? {
            cx.note(&format!("scores written to {}", path.display()));
        }
        let (statistics, drawn) = self.draw(cx, exec, &graph, prepared.as_ref(), &files)?;
        let unit = unit_name(&facts, &graph);
        let report = Report::new(&facts, &statistics, drawn);
        cx.emit(&report, |out| {
            let all = cx.flags.verbose || self.draws.draws <= 10;
            let text = text::Text { data: &data_name, facts: &facts, unit, statistics: &statistics, report: &report };
            if self.output.stats { text.table(all, out) } else { text.summary(out) }
        })?;
        if statistics.draws.len() < self.draws.draws as usize {
            cx.warn(&format!("interrupted after {} of {} draws", statistics.draws.len(), self.draws.draws));
            return Ok(Exit::Interrupted);
        }
        Ok(Exit::Done)
    }
}

impl Drop {
    fn key(&self, seed: u64) -> DrawKey {
        DrawKey { seed, epoch: self.draws.epoch, layer: self.draws.layer, micro: self.draws.micro }
    }

    /// Says that no training run has the layer asked for.
    fn no_run_has(&self, prepared: &dyn Prepared) -> Option<String> {
        let layer = self.draws.layer;
        match (prepared.per_layer(), layer) {
            (true, 0) => Some("--layer 0: layers draw apart here, a training run counts them from 1".to_owned()),
            (false, 1..) if prepared.facts().name != "dropmessage" => {
                Some(format!("--layer {layer}: all layers share a draw here, that of a training run is layer 0"))
            }
            _ => None,
        }
    }

    fn options(&self) -> Result<SamplerOptions, Failure> {
        let options = self.sampler.options(self.source.weighted)?;
        let layers = match &options.rates {
            Rates::Layers(rates) => rates.len().min(usize::from(u16::MAX)) as u16,
            _ => options.layers,
        };
        Ok(SamplerOptions { epochs: self.draws.epochs, layers, ..options })
    }

    /// Labels of the training nodes; none if the data set has no split of its own and none is named.
    fn labels(&self, data: &GraphData) -> Result<TrainLabels, Failure> {
        match (data.split(self.split.as_deref()), &self.split) {
            (Ok(split), _) => Ok(TrainLabels::new(data, split)),
            (Err(_), None) => Ok(TrainLabels::none(data.graph.nodes())),
            (Err(error), Some(_)) => Err(error.into()),
        }
    }

    /// All draws: what they leave, and the file of each.
    fn draw(
        &self,
        cx: &Context,
        exec: sapwood_skeleton::Exec<'_>,
        graph: &sapwood_graph::Graph,
        prepared: &dyn Prepared,
        files: &Files<'_>,
    ) -> Result<(Statistics, Drawn), Failure> {
        let (key, draws) = (self.key(cx.flags.seed), self.draws.draws);
        key.b()?;
        let own = prepared.graph().map_or(graph, |own| own);
        let mut drawn = Drawn::default();
        let statistics = structure::statistics_with(exec, graph, prepared, key, (draws, 1), |facts, sampled| {
            let flow = if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            drawn.kept_files.push(files.draw(DrawKey { epoch: facts.epoch, ..key }, sampled)?);
            if self.output.stats && facts.draw == 0 {
                drawn.spectral_gap = structure::spectral_gap(exec, own, sampled)?;
            }
            Ok(flow)
        })?;
        Ok((statistics, drawn))
    }
}

/// What is kept of the draws beside their counts.
#[derive(Debug, Default)]
struct Drawn {
    /// The file of each.
    kept_files: Vec<Option<String>>,
    /// Of the first, with `--stats`.
    spectral_gap: Option<f64>,
}

/// What the sampler drops, in words.
fn unit_name(facts: &SamplerFacts, graph: &sapwood_graph::Graph) -> &'static str {
    facts.unit.unwrap_or(if graph.directed() { "arcs" } else { "pairs" })
}

/// The JSON object.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    sampler: &'static str,
    units: u64,
    k: u64,
    p: f64,
    achieved_p: f64,
    isolated_expected: f64,
    q: Option<ProbabilityFacts>,
    draws: Vec<Draw>,
    degree_sd: Option<f64>,
    spectral_gap: Option<f64>,
    frequency_max_z: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Draw {
    #[serde(flatten)]
    facts: DrawFacts,
    kept_file: Option<String>,
}

impl Report {
    fn new(facts: &SamplerFacts, statistics: &Statistics, Drawn { kept_files, spectral_gap }: Drawn) -> Report {
        let draws = statistics.draws.iter().zip(kept_files);
        Report {
            schema: "sapwood.drop/1",
            sampler: facts.name,
            units: facts.units,
            k: facts.k,
            p: facts.p,
            achieved_p: facts.achieved_p,
            isolated_expected: facts.isolated_expected,
            q: facts.q,
            draws: draws.map(|(&facts, kept_file)| Draw { facts, kept_file }).collect(),
            degree_sd: statistics.degree_sd,
            spectral_gap,
            frequency_max_z: statistics.frequency_max_z,
        }
    }
}
