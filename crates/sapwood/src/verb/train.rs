//! `sapwood train`: a network trained with several samplers and seeds, and what they allow one to say.
//!
//! Flags are in `flags`, those of later steps in `later`, the JSON object in `report`, the table in `table`.

mod cost;
mod flags;
mod later;
mod page;
mod predict;
mod progress;
mod report;
mod save;
mod sweep;
mod table;

use crate::cli::{Context, Exit, Failure, Run, resources};
use progress::Progress;
use report::{Facts, Report};
use sapwood_files::interrupt;
use sapwood_graph::{TrainLabels, features, sampler};
use sapwood_train::checkpoint::Source;
use sapwood_train::experiment::{self, Outcome};
use sapwood_train::settings::Dtype;
use sapwood_train::{Estimate, Number, Problem, Registries, Settings, preset};
use std::sync::Arc;
use std::time::Instant;

pub(crate) use flags::Train;

impl Run for Train {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        self.later.refuse()?;
        if let Some(flags::Command::Predict(predict)) = &self.command {
            return predict.run(cx);
        }
        if let (Some(sweep), Some(flag)) = (&self.sweep, self.sampler.rate_flag()) {
            return Err(Failure::usage(format!("--sweep {sweep} beside {flag}: both say what is dropped"))
                .hint("a sweep sets the rate itself; leave the other flag out"));
        }
        if self.sweep.is_some() && self.saving.save_predictions.is_some() {
            return Err(Failure::usage("--save-predictions beside --sweep: a sweep has several runs of each name"));
        }
        let preset = self.preset.as_deref().map(|name| preset::find(preset::ALL, name)).transpose()?;
        let data = match (&self.data, &preset) {
            (Some(data), _) => data.clone(),
            (None, Some(preset)) => preset.data.clone(),
            (None, None) => "debian".to_owned(),
        };
        let mut request = self.request(cx.flags.seed, preset.as_ref())?;
        if let Some(folder) = &self.saving.resume {
            save::go_as_far(cx, folder, &mut request);
        }
        let settings = Settings::resolve(&request, &data, Registries::default())?;
        match settings.dtype {
            Dtype::F32 => self.train::<f32>(cx, &data, settings),
            Dtype::F64 => self.train::<f64>(cx, &data, settings),
        }
    }
}

impl Train {
    fn train<T: Number>(self, cx: &Context, spec: &str, mut settings: Settings) -> Result<Exit, Failure> {
        let start = Instant::now();
        interrupt::install()?;
        resources::check_generated(spec)?;
        let mut data = sapwood_graph::load(spec, &settings.load_options())?;
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
        let available = resources::available_bytes();
        let page = page::place(cx)?;
        save::check_distinct(&[
            ("--report", page.as_deref()),
            ("--save-predictions", self.saving.save_predictions.as_deref()),
            ("--log", self.log.as_deref()),
        ])?;
        let estimate = Estimate::fit::<T>(&data.graph, &made.matrix, data.classes, &mut settings, available)?;
        let runtime = cx.runtime()?;
        let facts = Facts::new(&data, &made.matrix, &settings, estimate, runtime.exec().threads());
        let prices = cost::prices::<T>(cx, runtime.exec())?;
        let subject = cost::subject(&made.matrix, &data, &split);
        let sweep = self.sweep.as_deref().map(str::parse::<sweep::Sweep>).transpose()?;
        if self.dry_run {
            let labels = TrainLabels::new(&data, &split);
            let rates = sweep.as_ref().map(sweep::Sweep::rates);
            let graph = (&Arc::new(data.graph), &labels);
            let predicted = cost::dry::<T>(runtime.exec(), graph, (&settings, rates), &subject, prices.as_ref())?;
            let found = (None, &[][..], predicted.as_ref());
            Report::new(&facts, &settings, found, start.elapsed().as_secs_f64()).emit_dry(cx)?;
            return Ok(Exit::Done);
        }
        estimate.check(available)?;
        let plan = save::Plan::new(&self.saving)?;
        let exec = runtime.exec();
        let (labels, class_names) = (data.labels.clone(), data.class_names.clone());
        let problem = Problem::<T>::new(exec, data, made.matrix, &split, &settings)?;
        let source = Source { spec, digest: &facts.data.sha256 };
        if let Some(sweep) = &sweep {
            let files = sweep::Files { plan, source, log: self.log.as_deref() };
            return sweep::run(cx, exec, sweep, (&problem, &facts, settings), files, start);
        }
        let saving = plan.open(&settings, source, None)?;
        plan.must_find(cx, saving.as_slice(), &settings)?;
        let log = plan.log(self.log.as_deref(), saving.as_ref(), &settings)?;
        let unread = self.sampler.unread(sampler::find(sampler::ALL, &settings.sampler)?);
        unread.iter().for_each(|line| cx.warn(line));
        let methods = experiment::methods(exec, &problem, &settings, Registries::default())?;
        methods.iter().for_each(|method| announce(cx, &method.facts(), facts.unit, &settings.options.rates));
        let graph = (&methods[..], problem.graph().as_ref());
        let predicted = cost::forecast::<T>(exec, graph, &settings, &subject, prices.as_ref())?;
        let mut progress = Progress::new(cx, &settings, 1, log);
        let outcome = experiment::run(exec, &problem, &settings, &methods, saving.as_ref(), &mut progress)?;
        progress.finish();
        let structure = experiment::structure(exec, &problem, &settings, &methods)?;
        let found = (Some(&outcome), &structure[..], predicted.as_ref());
        let report = Report::new(&facts, &settings, found, start.elapsed().as_secs_f64());
        report.emit(cx)?;
        // What is printed is safe by now, whatever becomes of the files.
        let saved = self.saving.save_predictions.as_ref().map(|path| save::predictions(cx, path, &labels, &outcome));
        if let Some(path) = page {
            let probabilities = page::probabilities(exec, &settings, &methods)?;
            let sources = page::Sources {
                facts: &facts,
                settings: &settings,
                report: &report,
                outcome: &outcome,
                structure: &structure,
                probabilities: &probabilities,
                class_names: &class_names,
                command: super::page::command(),
            };
            match super::page::write(cx, &path, &page::page(&sources)) {
                Err(failure) if cx.flags.report.is_none() => cx.warn(&format!("no report: {failure}")),
                written => written?,
            }
        }
        saved.transpose()?;
        progress.failure()?;
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
fn announce(cx: &Context, facts: &sapwood_graph::SamplerFacts, unit: &str, rates: &sapwood_graph::Rates) {
    let (name, k, units, isolated) = (facts.name, facts.k, facts.units, facts.isolated_expected);
    let unit = facts.unit.unwrap_or(unit);
    cx.note(&format!(
        "{name}: {k} of {units} {unit} dropped {}, {isolated:.1} nodes without an edge if drops were independent",
        rates.described().unwrap_or("in each epoch")
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
