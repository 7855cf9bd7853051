//! `sapwood train`: a network trained with several samplers and seeds, and what they allow one to say.
//!
//! Flags are in `flags`, those of later steps in `later`, the JSON object in `report`, the table in `table`.

mod flags;
mod later;
mod progress;
mod report;
mod sweep;
mod table;

use crate::cli::{Context, Exit, Failure, Run, resources};
use progress::Progress;
use report::{Facts, Report};
use sapwood_files::interrupt;
use sapwood_graph::{features, sampler};
use sapwood_train::experiment::{self, Outcome};
use sapwood_train::settings::Dtype;
use sapwood_train::{Estimate, Log, Number, Problem, Registries, Settings};
use std::time::Instant;

pub(crate) use flags::Train;

impl Run for Train {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        self.later.refuse()?;
        if self.data == "predict" {
            return Err(Failure::usage("train predict: not built yet")
                .hint("the test accuracy of each run is in the table and in --json"));
        }
        if let (Some(sweep), Some(flag)) = (&self.sweep, self.sampler.rate_flag()) {
            return Err(Failure::usage(format!("--sweep {sweep} beside {flag}: both say what is dropped"))
                .hint("a sweep sets the rate itself; leave the other flag out"));
        }
        let settings = Settings::resolve(&self.request(cx.flags.seed)?, &self.data, Registries::default())?;
        match settings.dtype {
            Dtype::F32 => self.train::<f32>(cx, settings),
            Dtype::F64 => self.train::<f64>(cx, settings),
        }
    }
}

impl Train {
    fn train<T: Number>(self, cx: &Context, mut settings: Settings) -> Result<Exit, Failure> {
        let start = Instant::now();
        interrupt::install()?;
        resources::check_generated(&self.data)?;
        let mut data = sapwood_graph::load(&self.data, &self.load_options())?;
        data.warnings.iter().for_each(|warning| cx.warn(warning));
        let split = data.training_split(settings.split.as_deref())?;
        split.warnings.iter().for_each(|warning| cx.warn(warning));
        let split = split.split.clone();
        settings.split = Some(split.name.clone());
        check_random_features(&data, settings.features)?;
        let made = features::make(&data, settings.features, settings.seed)?;
        made.note.iter().for_each(|note| cx.note(note));
        settings.features = Some(made.kind);
        // The network reads what was made of the stored features.
        data.features = features::Features::Absent;
        let estimate = Estimate::new::<T>(&data.graph, &made.matrix, data.classes, &settings)?;
        let runtime = cx.runtime()?;
        let facts = Facts::new(&data, &made.matrix, &settings, estimate, runtime.exec().threads());
        if self.dry_run {
            Report::new(&facts, &settings, None, &[], start.elapsed().as_secs_f64()).emit_dry(cx)?;
            return Ok(Exit::Done);
        }
        estimate.check(resources::available_bytes())?;
        let log = self.log.as_deref().map(Log::create).transpose()?;
        let exec = runtime.exec();
        let problem = Problem::<T>::new(exec, data, made.matrix, &split, &settings)?;
        if let Some(sweep) = &self.sweep {
            return sweep::run(cx, exec, &sweep.parse::<sweep::Sweep>()?, (&problem, &facts, settings), log, start);
        }
        let unread = self.sampler.unread(sampler::find(sampler::ALL, &settings.sampler)?);
        unread.iter().for_each(|line| cx.warn(line));
        let methods = experiment::methods(exec, &problem, &settings, Registries::default())?;
        methods.iter().for_each(|method| announce(cx, &method.facts(), facts.unit));
        let mut progress = Progress::new(cx, &settings, 1, log);
        let outcome = experiment::run(exec, &problem, &settings, &methods, &mut progress)?;
        progress.finish();
        let structure = experiment::structure(exec, &problem, &settings, &methods)?;
        Report::new(&facts, &settings, Some(&outcome), &structure, start.elapsed().as_secs_f64()).emit(cx)?;
        progress.log_failure()?;
        Ok(exit([&outcome]))
    }
}

/// Refuses random features that are larger than the memory there is, before they are made.
fn check_random_features(data: &sapwood_graph::GraphData, kind: Option<features::FeatureKind>) -> Result<(), Failure> {
    let Some(features::FeatureKind::Random(columns)) = kind else { return Ok(()) };
    let needed = (data.graph.nodes() as u64).saturating_mul(columns as u64).saturating_mul(4);
    match resources::available_bytes() {
        Some(available) if available < needed => Err(sapwood_train::Error::Memory { needed, available }.into()),
        _ => Ok(()),
    }
}

/// Says before the first run how many nodes a sampler is expected to leave without an edge.
fn announce(cx: &Context, facts: &sapwood_graph::SamplerFacts, unit: &str) {
    let (name, k, units, isolated) = (facts.name, facts.k, facts.units, facts.isolated_expected);
    let unit = facts.unit.unwrap_or(unit);
    cx.note(&format!(
        "{name}: {k} of {units} {unit} dropped in each epoch, {isolated:.1} nodes expected without an edge"
    ));
    if let Some(auto) = &facts.auto {
        let shown = |rate: Option<f64>| rate.map_or_else(|| "-".into(), |r| format!("{r:.3}"));
        let (hi, lo, (high, low)) = (shown(auto.hi), shown(auto.lo), auto.pairs);
        cx.note(&format!(
            "{name}: direction auto: {} (same label: {hi} of {high} training pairs with high scores, {lo} of {low} with low ones)",
            auto.decision
        ));
    }
    facts.notes.iter().for_each(|note| cx.warn(&format!("{name}: {}", note.trim_start_matches(&format!("{name}: ")))));
}

fn exit<'a>(outcomes: impl IntoIterator<Item = &'a Outcome> + Clone) -> Exit {
    if outcomes.clone().into_iter().any(|o| o.interrupted) {
        Exit::Interrupted
    } else if outcomes.into_iter().any(|o| o.first_broken().is_some()) {
        Exit::No
    } else {
        Exit::Done
    }
}
