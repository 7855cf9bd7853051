//! The combinations of a request: schedule, chunks, groups, setting of recomputation.

use super::{Best, Express, Request, groups, ready};
use crate::baseline::{self, Answer};
use crate::bound;
use crate::megatron::Setting;
use crate::megatron::setting::MODULES;
use crate::problem::Problem;
use crate::schedule::{Dims, Entry, Grouping};
use crate::search::Rule;
use crate::simulate::{Order, Vectors};
use crate::{Error, Result};
use serde::Serialize;
use std::sync::Arc;

/// Steps that a baseline may take for its plan.
const NODES: u64 = 5_000_000;

/// What came of a combination whose turn did not come.
pub(super) const STOPPED: &str = "stopped before its turn";

/// Most operations of a combination.
const OPERATIONS: usize = 1 << 23;

/// One combination, ready to be searched.
pub(super) struct Candidate {
    /// Shared with the combinations that differ in their rule alone.
    pub(super) order: Arc<Order>,
    pub(super) vectors: Arc<Vectors>,
    pub(super) rule: Rule,
    pub(super) starts: Vec<Vec<u32>>,
    pub(super) lower_bound: Option<u64>,
    /// Why it has no plan, if that is known before a search.
    pub(super) failure: Option<Error>,
    /// Whether that is proven.
    pub(super) impossible: bool,
    pub(super) line: Considered,
    /// Makespan and counts of its best plan so far.
    pub(super) best: Option<(u64, Vec<u32>)>,
    /// What came of it.
    pub(super) reason: String,
}

/// A combination and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Considered {
    /// Name of the schedule.
    pub schedule: String,
    /// Chunks of each stage.
    pub chunks: usize,
    /// The rule of groups, where micro-batches are grouped.
    pub group: Option<String>,
    /// The setting of recomputation, where one holds for all.
    pub recompute: Option<String>,
    /// No plan of it is below, in the model's unit of time.
    pub lower_bound: Option<f64>,
    /// The best plan of it.
    pub makespan: Option<f64>,
    /// What came of it.
    pub reason: String,
}

impl Considered {
    fn new(entry: &Entry, chunks: usize) -> Considered {
        Considered {
            schedule: entry.name.to_owned(),
            chunks,
            group: None,
            recompute: None,
            lower_bound: None,
            makespan: None,
            reason: String::new(),
        }
    }

    /// The same with what came of it, in ticks.
    pub(super) fn with(
        self,
        problem: &Problem,
        bound: Option<u64>,
        makespan: Option<u64>,
        reason: String,
    ) -> Considered {
        let shown = |ticks: Option<u64>| ticks.map(|ticks| problem.time().show(ticks));
        Considered { lower_bound: shown(bound), makespan: shown(makespan), reason, ..self }
    }
}

/// All combinations that are possible, and a line for each that is not, or that came after `stop` said yes.
///
/// # Errors
/// [`Error::Problem`] or [`Error::Refused`] with the first reason if none is possible.
pub(super) fn all(
    request: &Request<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Vec<Candidate>, Vec<Considered>)> {
    let (mut possible, mut others, mut first) = (Vec::new(), Vec::new(), None);
    for &chunks in &request.chunks {
        for &entry in &request.schedules {
            // The interleaved schedules with one chunk are 1f1b, and the others have no more than one.
            let same = chunks == 1 && entry.shape.groups && request.schedules.iter().any(|e| e.name == "1f1b");
            let elsewhere = request.chunks.contains(&1) || request.schedules.iter().any(|e| e.shape.chunks);
            let single = chunks > 1 && !entry.shape.chunks && elsewhere;
            if same || single {
                continue;
            }
            if !possible.is_empty() && stop() {
                others.push(Considered { reason: STOPPED.to_owned(), ..Considered::new(entry, chunks) });
                continue;
            }
            match of(request, entry, chunks) {
                Ok(found) => possible.extend(found),
                Err(why @ (Error::Problem { .. } | Error::Refused { .. })) => {
                    others.push(Considered { reason: why.to_string(), ..Considered::new(entry, chunks) });
                    first.get_or_insert(why);
                }
                Err(why) => return Err(why),
            }
        }
    }
    match first {
        Some(why) if possible.is_empty() => Err(why),
        None if possible.is_empty() => Err(Error::Problem { what: "no schedule and number of chunks".to_owned() }),
        _ => Ok((possible, others)),
    }
}

/// The combinations of a schedule and a number of chunks.
fn of(request: &Request<'_>, entry: &'static Entry, chunks: usize) -> Result<Vec<Candidate>> {
    let problem = request.problem;
    let stages = problem.caps().len();
    let dims = Dims { stages, chunks, micro_batches: request.micro_batches, group: Grouping::First };
    problem.accepts(&dims)?;
    small(entry, &dims)?;
    speaks(request.express, entry, &dims)?;
    let group = groups::choose(problem, entry, &dims, request.group, request.express)?;
    let (order, vectors) = ready(entry, &Dims { group, ..dims })?;
    let (order, vectors) = (Arc::new(order), Arc::new(vectors));
    let starts: Vec<Vec<u32>> = match &request.start {
        Some(layout) if layout.chunks.len() == order.dims().virtual_stages() => vec![layout.counts(problem)?],
        _ => Vec::new(),
    };
    let line = Considered {
        group: (entry.shape.groups && chunks > 1).then(|| group.to_string()),
        ..Considered::new(entry, chunks)
    };
    let candidate = |rule: Rule| Candidate {
        order: Arc::clone(&order),
        vectors: Arc::clone(&vectors),
        starts: starts.clone(),
        lower_bound: None,
        failure: None,
        impossible: false,
        best: None,
        reason: String::new(),
        line: Considered {
            recompute: if let Rule::Global(setting) = &rule { Some(setting.to_string()) } else { None },
            ..line.clone()
        },
        rule,
    };
    Ok(match request.express {
        Express::Any => vec![candidate(Rule::Any)],
        Express::Mindformers => vec![candidate(Rule::Nested)],
        Express::Megatron => {
            settings(problem, order.dims().virtual_stages()).into_iter().map(Rule::Global).map(candidate).collect()
        }
    })
}

/// The plan of a baseline for an order, if it has one of that schedule.
pub(super) fn planned(problem: &Problem, planner: &baseline::Entry, order: &Order) -> Result<Option<Vec<u32>>> {
    match planner.plan(problem, order.dims(), &baseline::Options { nodes: NODES })? {
        Answer::Plan(plan) if plan.schedule == order.name() || order.shape().groups => {
            // A planner that knows no least layers may leave virtual stages without any.
            Ok(Some(plan.layout.counts(problem)?).filter(|counts| problem.check(counts).is_ok()))
        }
        _ => Ok(None),
    }
}

/// Refuses sizes with which a search would take hours and memory without end.
fn small(entry: &Entry, dims: &Dims) -> Result<()> {
    let kinds = if entry.shape.splits_backward { 3 } else { 2 };
    let operations = [dims.virtual_stages(), dims.micro_batches].iter().fold(kinds, |a: usize, &b| a.saturating_mul(b));
    if operations <= OPERATIONS {
        return Ok(());
    }
    let most = OPERATIONS / kinds / dims.virtual_stages();
    let advice = match most {
        0 => "take fewer stages or chunks".to_owned(),
        most => format!("take {most} micro-batches at most: more of that many hardly change which plan is best"),
    };
    let what = format!(
        "{operations} operations of {} stages of {} chunks with {} micro-batches are more than the {OPERATIONS} that plans \
         are made for; {advice}",
        dims.stages, dims.chunks, dims.micro_batches
    );
    Err(Error::Problem { what })
}

/// Refuses a schedule that a framework does not have.
fn speaks(express: Express, entry: &Entry, dims: &Dims) -> Result<()> {
    let (framework, names): (&str, &[&str]) = match express {
        Express::Any => return Ok(()),
        Express::Megatron => ("Megatron-LM", &["1f1b", "interleaved"]),
        Express::Mindformers => ("MindFormers", &["gpipe", "1f1b", "interleaved", "interleaved-lm"]),
    };
    let wrong = |what: String| Err(Error::Problem { what });
    if !names.contains(&entry.name) {
        return wrong(format!("{framework} has no schedule {}; it has {}", entry.name, names.join(", ")));
    }
    if express == Express::Megatron && dims.chunks > 1 && dims.stages == 1 {
        return wrong("Megatron-LM needs more than one stage for chunks".to_owned());
    }
    Ok(())
}

/// Settings of Megatron-LM that the model has costs for, the lightest first.
fn settings(problem: &Problem, virtual_stages: usize) -> Vec<Setting> {
    let model = problem.model();
    let has = |kind: &str| {
        let mut body = model.segments.iter().enumerate().filter(|(_, s)| s.role.moves());
        body.all(|(at, s)| {
            let allowed = |item: &crate::problem::Item| item.segment == at && s.kinds[item.kind].name == kind;
            problem.items().iter().any(allowed)
        })
    };
    let mut all = Vec::new();
    if has("none") {
        all.push(Setting::None);
    }
    let modules = std::iter::once("selective").chain(MODULES);
    all.extend(modules.filter(|kind| has(kind)).map(|kind| Setting::Selective(kind.to_owned())));
    if has("full") {
        if has("none") {
            // Up to twice an equal share: a virtual stage with more layers than that keeps the others.
            let most = 2 * (problem.body_layers() as usize).div_ceil(virtual_stages);
            all.extend((1..most).map(Setting::Block));
        }
        all.push(Setting::Uniform);
    }
    all
}

impl Candidate {
    /// Whether no plan of it can be better than one of a makespan.
    pub(super) fn beaten(&self, makespan: Option<u64>) -> bool {
        self.lower_bound.zip(makespan).is_some_and(|(bound, makespan)| bound >= makespan)
    }

    /// The makespan at which its search may end.
    pub(super) fn target(&self, gap: f64) -> u64 {
        self.lower_bound.map_or(0, |bound| bound.max((bound as f64 / (1.0 - gap.min(0.99))) as u64))
    }

    /// Whether it is the combination of a plan.
    pub(super) fn is(&self, best: &Best) -> bool {
        let setting = if let Rule::Global(setting) = &self.rule { Some(setting) } else { None };
        self.order.name() == best.order.name()
            && self.order.dims() == best.order.dims()
            && setting == best.setting.as_ref()
    }

    /// What came of it.
    pub(super) fn line(self, problem: &Problem) -> Considered {
        let makespan = self.best.map(|(makespan, _)| makespan);
        self.line.with(problem, self.lower_bound, makespan, self.reason)
    }

    /// Bounds the makespans of this combination.
    pub(super) fn bound(&mut self, problem: &Problem, stop: &(dyn Fn() -> bool + Sync)) {
        match bound::lower_bound(problem, &self.order, &self.vectors, &bound::Options::default(), stop) {
            Ok(found) => {
                self.lower_bound = Some(found.ceil());
                self.starts.extend(round(problem, &self.order, &found.counts));
            }
            Err(failure) => (self.failure, self.impossible) = (Some(failure), true),
        }
    }

    /// The bound of another one of the same order, whose partitions are bounded whatever they recompute.
    pub(super) fn bound_of(&mut self, other: &Candidate) {
        (self.lower_bound, self.impossible) = (other.lower_bound, other.impossible);
        self.failure = other.failure.as_ref().map(|why| Error::Problem { what: why.to_string() });
        self.starts.clone_from(&other.starts);
    }
}

/// The partition that is nearest to fractional counts: largest remainders by segment, in model order.
fn round(problem: &Problem, order: &Order, counts: &[f64]) -> Option<Vec<u32>> {
    let (items, k) = (problem.items(), order.dims().virtual_stages());
    let mut whole = vec![0u32; counts.len()];
    for (segment, s) in problem.model().segments.iter().enumerate() {
        let own: Vec<usize> = (0..counts.len()).filter(|at| items[at % items.len()].segment == segment).collect();
        let mut left = s.count;
        for &at in &own {
            whole[at] = (counts[at].max(0.0) as u32).min(left);
            left -= whole[at];
        }
        let mut by_rest = own;
        by_rest.sort_by(|&a, &b| counts[b].fract().total_cmp(&counts[a].fract()).then(a.cmp(&b)));
        by_rest.iter().cycle().take(left as usize).for_each(|&at| whole[at] += 1);
    }
    debug_assert_eq!(whole.len(), k * items.len());
    problem.check(&whole).ok().map(|()| whole)
}
