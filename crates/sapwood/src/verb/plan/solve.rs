//! `sapwood plan MODEL`: chooses a plan.

use super::exports::{self, Export, Exported};
use super::given::Given;
use super::search::{Search, limit};
use super::{page, tables};
use crate::cli::resources::peak_rss_bytes;
use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use sapwood_files::interrupt;
use sapwood_plan::export;
use sapwood_plan::import;
use sapwood_plan::layout::Layout;
use sapwood_plan::problem::Problem;
use sapwood_plan::report::Summary;
use sapwood_plan::solve::{self as choose, Best, Considered, Express, Infeasible, Request, Solved};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub(super) struct Solve {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    search: Search,
    /// Only plans that this framework can state: any, megatron or mindformers [default: that of --export, else any]
    #[arg(long, value_name = "FRAMEWORK", value_parser = ["any", "megatron", "mindformers"])]
    express: Option<String>,
    /// Begin with the plan of a file that --out wrote
    #[arg(long, value_name = "FILE.json")]
    from: Option<PathBuf>,
    /// Write the plan for a framework: megatron, mindformers or plan_json, to a file or - (repeatable)
    #[arg(long, value_name = "KIND=PATH")]
    export: Vec<Export>,
    /// Write the plan with all that is known of it as JSON
    #[arg(short, long, value_name = "FILE.json")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    status: &'static str,
    complete: bool,
    interrupted: bool,
    #[serde(flatten)]
    plan: Option<Summary>,
    lower_bound: Option<f64>,
    lower_bound_scope: &'static str,
    gap: Option<f64>,
    seed: String,
    moves: u64,
    express: Expressed,
    considered: Vec<Considered>,
    infeasible: Option<Infeasible>,
    exports: Vec<Exported>,
    warnings: Vec<String>,
    measured: Measured,
}

/// What it costs that a framework has to state the plan.
#[derive(Serialize)]
struct Expressed {
    framework: &'static str,
    /// Recomputation, where one setting holds for all.
    recompute: Option<String>,
    /// The makespan of the best plan found without the restriction.
    makespan_of_any: Option<f64>,
}

#[derive(Serialize)]
struct Measured {
    wall_s: f64,
    moves_per_s: f64,
    peak_rss_bytes: Option<u64>,
}

impl Run for Solve {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let start = Instant::now();
        let model = self.given.model(cx)?;
        let stages = self.given.stages(None)?;
        let express = self.express()?;
        let any = self.given.problem(cx, model, stages)?;
        let (problem, warnings) = self.stated(&any, express)?;
        warnings.iter().for_each(|warning| cx.warn(warning));
        let mut request = self.search.request(cx, &self.given, &problem, express)?;
        request.start = self.start(&problem)?;
        if express != Express::Any {
            // The other half says what the restriction costs.
            request.moves /= 2;
        }
        let inputs: Vec<&Path> = self.given.file().into_iter().chain(self.from.as_deref()).collect();
        exports::check_places(cx, &inputs, &self.export, self.out.as_deref())?;
        interrupt::install()?;
        let limit = limit(self.search.time_limit.as_deref())?;
        request.until = limit.and_then(|limit| start.checked_add(Duration::try_from_secs_f64(limit).ok()?));
        let stop = || interrupt::requested() || limit.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit);
        let runtime = cx.runtime()?;
        let mut solved = choose::solve(runtime.exec(), &request, &stop)?;
        let free = match (&solved.best, express) {
            (Some(best), Express::Megatron | Express::Mindformers) => {
                // A plan that is never worse than the restricted one: it begins with it.
                let start = Some(best.layout.clone());
                let request = Request { problem: &any, express: Express::Any, start, ..request.clone() };
                let free = choose::solve(runtime.exec(), &request, &stop)?;
                solved.moves += free.moves;
                solved.complete &= free.complete;
                free.best.map(|free| free.outcome.makespan.min(best.outcome.makespan))
            }
            _ => None,
        };
        let interrupted = interrupt::requested();
        let infeasible = match (&solved.best, &solved.failure) {
            (None, Some(failure)) if !stop() => {
                choose::infeasible(runtime.exec(), &request, failure, &self.given.caps_of(), &stop)?
            }
            _ => None,
        };
        let written = match &solved.best {
            Some(best) => exports::texts(&self.export, &export::Plan::new(&problem, &best.order, &best.layout))?,
            None => Vec::new(),
        };
        let wall_s = start.elapsed().as_secs_f64();
        let mut report =
            self.report(cx, &problem, &solved, (free, interrupted, infeasible), exports::listed(&written), wall_s)?;
        report.warnings.extend(warnings);
        if solved.best.is_some() {
            exports::write(&written, cx.flags.json)?;
            if let Some(path) = &self.out {
                let text = serde_json::to_string_pretty(&report)? + "\n";
                sapwood_files::write_atomic(path, |out| out.write_all(text.as_bytes()))?;
            }
        }
        if let (Some(best), Some(summary)) = (&solved.best, &report.plan) {
            let sources = page::Sources {
                problem: &problem,
                order: &best.order,
                layout: &best.layout,
                outcome: &best.outcome,
                summary,
                bound: report.lower_bound.zip(report.gap),
                considered: &report.considered,
                gradients: &[],
                diff: &[],
            };
            page::write(cx, sources)?;
        }
        cx.emit(&report, |out| print(&report, &problem, &self, out))?;
        Ok(match &solved.best {
            _ if interrupted => Exit::Interrupted,
            None => Exit::No,
            Some(_) => Exit::Done,
        })
    }
}

impl Solve {
    /// The problem as the framework that has to state the plan knows it, and what it does not know.
    fn stated(&self, any: &Problem, express: Express) -> Result<(Problem, Vec<String>), Failure> {
        for export in &self.export {
            export::stated(export::find(&export.kind)?, any)?;
        }
        if express == Express::Any {
            return Ok((any.clone(), Vec::new()));
        }
        let name = framework(express);
        let (problem, unknown) = export::stated(export::find(name)?, any)?;
        let left_out = || format!("{name} has no word for the recomputation {}: left out", unknown.join(", "));
        let warnings = Vec::from_iter((!unknown.is_empty()).then(left_out));
        Ok((problem, warnings))
    }

    /// The partition to begin with.
    fn start(&self, problem: &Problem) -> Result<Option<Layout>, Failure> {
        let Some(path) = &self.from else { return Ok(None) };
        let bytes = sapwood_files::read(path)?;
        let text =
            String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{}: no UTF-8 text", path.display())))?;
        let found = import::read(import::find("plan_json")?, &text, problem.model(), &import::Options::default());
        let found = found.map_err(|why| Failure::usage(format!("--from {}: {why}", path.display())))?;
        // Its kinds must be allowed here, too.
        problem.check(&found.layout.counts(problem)?)?;
        Ok(Some(found.layout))
    }

    /// The framework that has to state the plan: the one that is named, else that of the exports.
    fn express(&self) -> Result<Express, Failure> {
        let named = |name: &str| match name {
            "megatron" => Express::Megatron,
            "mindformers" => Express::Mindformers,
            _ => Express::Any,
        };
        if let Some(name) = &self.express {
            return Ok(named(name));
        }
        let mut wanted: Vec<Express> = self.export.iter().map(|export| named(&export.kind)).collect();
        wanted.retain(|express| *express != Express::Any);
        wanted.dedup();
        match wanted[..] {
            [] => Ok(Express::Any),
            [only] => Ok(only),
            _ => {
                Err(Failure::usage("--export names two frameworks")
                    .hint("say which one has to state the plan: --express"))
            }
        }
    }

    fn report(
        &self,
        cx: &Context,
        problem: &Problem,
        solved: &Solved,
        (free, interrupted, infeasible): (Option<u64>, bool, Option<Infeasible>),
        exports: Vec<Exported>,
        wall_s: f64,
    ) -> Result<Report, Failure> {
        let best = solved.best.as_ref();
        let bounded = best.filter(|best| best.lower_bound > 0);
        let time = problem.time();
        let plan =
            |best: &Best| Summary::new(problem, &best.order, &best.layout, &best.outcome, self.given.micro_batch_size);
        Ok(Report {
            schema: "sapwood.plan.solve/1",
            status: match best {
                None => "infeasible",
                Some(_) if solved.optimal => "optimal",
                Some(_) => "feasible",
            },
            complete: solved.complete && !interrupted,
            interrupted,
            plan: best.map(plan).transpose()?,
            lower_bound: bounded.map(|best| time.show(best.lower_bound)),
            lower_bound_scope: "schedule",
            gap: bounded.map(|best| 1.0 - best.lower_bound as f64 / best.outcome.makespan as f64),
            seed: cx.flags.seed.to_string(),
            moves: solved.moves,
            express: Expressed {
                framework: framework(self.express()?),
                recompute: best.and_then(|best| best.setting.as_ref()).map(|setting| setting.to_string()),
                makespan_of_any: free.map(|ticks| time.show(ticks)),
            },
            considered: solved.considered.clone(),
            infeasible,
            exports,
            warnings: problem.model().warnings.clone(),
            measured: Measured { wall_s, moves_per_s: solved.moves as f64 / wall_s, peak_rss_bytes: peak_rss_bytes() },
        })
    }
}

fn framework(express: Express) -> &'static str {
    match express {
        Express::Any => "any",
        Express::Megatron => "megatron",
        Express::Mindformers => "mindformers",
    }
}

fn print(report: &Report, problem: &Problem, flags: &Solve, out: &mut dyn std::io::Write) -> std::io::Result<()> {
    let Some(plan) = &report.plan else {
        writeln!(out, "no plan fits")?;
        tables::considered(&report.considered, out)?;
        return match &report.infeasible {
            Some(infeasible) => tables::infeasible(infeasible, problem.model().memory_unit.name(), out),
            None => Ok(()),
        };
    };
    tables::plan(plan, out)?;
    if let (Some(bound), Some(gap)) = (report.lower_bound, report.gap) {
        let optimal = if report.status == "optimal" { ": no plan of those considered is faster" } else { "" };
        let bound = tables::number(bound);
        writeln!(out, "no plan of this schedule is below {bound}; gap {:.2} %{optimal}", 100.0 * gap)?;
    }
    if let Some(free) = report.express.makespan_of_any {
        let cost = 100.0 * (plan.makespan / free - 1.0);
        let free = tables::number(free);
        writeln!(out, "{}: {cost:.2} % slower than the best plan of any form, {free}", report.express.framework)?;
    }
    tables::considered(&report.considered, out)?;
    if !report.complete {
        writeln!(out, "stopped early: the best plan so far, {} of {} moves", report.moves, flags.search.moves)?;
    }
    Ok(())
}
