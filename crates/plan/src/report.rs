//! A plan in the units of its model, as reports and files have it. Nothing is decided here.

use crate::explain::Bubble;
use crate::export;
use crate::layout::Layout;
use crate::model::Role;
use crate::outcome::{Outcome, Trace};
use crate::problem::Problem;
use crate::simulate::{Order, Span};
use crate::{Result, megatron};
use serde::Serialize;

/// A plan and what the simulator says of it.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// The makespan, in the model's unit of time.
    pub makespan: f64,
    /// That unit; none if the model does not tell.
    pub time_unit: Option<String>,
    /// The makespan in seconds, if the unit is known.
    pub makespan_s: Option<f64>,
    /// Name of the schedule.
    pub schedule: String,
    /// Sizes of the groups of micro-batches; empty where they are not grouped.
    pub group: Vec<usize>,
    /// Stages.
    pub stages: usize,
    /// Chunks of each stage.
    pub chunks: usize,
    /// Micro-batches.
    pub micro_batches: usize,
    /// Samples of a micro-batch.
    pub micro_batch_size: u32,
    /// Parts of a sequence that run by themselves.
    pub sequence_chunks: usize,
    /// The cut as Megatron-LM's layout string; none for a model without a body, with pinned layers or with more layers than
    /// a string may have.
    pub layout: Option<String>,
    /// The unit of memory; none if the model does not tell.
    pub memory_unit: Option<String>,
    /// Segments of the model.
    pub segment: Vec<Segment>,
    /// By stage.
    pub stage: Vec<Stage>,
    /// The bubble and its parts, by the useful work.
    pub bubble: Bubble,
    /// What it comes to, if the unit of time is known.
    pub throughput: Option<Throughput>,
}

/// A segment, as far as a plan has to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Segment {
    /// Its name.
    pub segment: String,
    /// What its layers are: head, body, mtp, tail; pinned ones first, last or `at:N`.
    pub role: String,
    /// How many layers.
    pub count: u32,
}

/// Samples a second of one replica of the pipeline, and the part of the machine's speed that does useful work.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Throughput {
    /// Samples a second of one replica.
    pub samples_per_s: f64,
    /// Needs the costs of operations; none for measured times.
    pub model_flops_utilisation: Option<f64>,
}

/// A stage of a plan; times and memory in the model's units.
#[derive(Debug, Clone, Serialize)]
pub struct Stage {
    /// The stage.
    pub stage: usize,
    /// The device that holds it.
    pub device: usize,
    /// Its cap of memory; none if it has no limit.
    pub cap: Option<f64>,
    /// Its peak = static + activations + transient at its heaviest moment.
    pub peak: f64,
    /// What is always there.
    #[serde(rename = "static")]
    pub constant: f64,
    /// What forwards keep.
    pub activations: f64,
    /// What the running backward needs on top.
    pub transient: f64,
    /// The operation that runs at the heaviest moment.
    pub heaviest: Option<String>,
    /// Time that it works; none with rendezvous, as the following ones.
    pub busy: Option<f64>,
    /// Idle before its first backward.
    pub idle_warmup: Option<f64>,
    /// Idle from then to the end of its last forward.
    pub idle_steady: Option<f64>,
    /// Idle after that.
    pub idle_drain: Option<f64>,
    /// Share of the critical path that it runs.
    pub critical_share: Option<f64>,
    /// Its chunks.
    pub chunk: Vec<Chunk>,
}

/// A chunk of a stage.
#[derive(Debug, Clone, Serialize)]
pub struct Chunk {
    /// The chunk.
    pub chunk: usize,
    /// Its virtual stage.
    #[serde(rename = "virtual")]
    pub virtual_stage: usize,
    /// Forward time of a micro-batch.
    pub forward: f64,
    /// Backward time; that of the input alone where the schedule splits it.
    pub backward: f64,
    /// Time of the gradients of weights, where the schedule splits it.
    pub weight: f64,
    /// Its layers.
    pub items: Vec<Run>,
}

/// Layers of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Run {
    /// Name of the segment.
    pub segment: String,
    /// How many.
    pub count: u32,
    /// Kind of recomputation.
    pub recompute: String,
}

/// An operation of the timeline.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// `F(κ,m)`, `B(κ,m)` or `W(κ,m)`.
    pub op: String,
    /// Its stage.
    pub stage: usize,
    /// Its micro-batch.
    pub micro_batch: u32,
    /// When it starts.
    pub start: f64,
    /// When it ends.
    pub end: f64,
}

/// Seconds of a unit of time.
pub fn seconds(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1e-9),
        "us" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        _ => None,
    }
}

/// The name of a role; see [`role_of`].
pub fn role_name(role: Role) -> String {
    match role {
        Role::Head => "head".to_owned(),
        Role::Body => "body".to_owned(),
        Role::Mtp => "mtp".to_owned(),
        Role::First => "first".to_owned(),
        Role::At(at) => format!("at:{at}"),
        Role::Last => "last".to_owned(),
        Role::Tail => "tail".to_owned(),
    }
}

/// The role of a name.
pub fn role_of(name: &str) -> Option<Role> {
    match name {
        "head" => Some(Role::Head),
        "body" => Some(Role::Body),
        "mtp" => Some(Role::Mtp),
        "tail" => Some(Role::Tail),
        "first" => Some(Role::First),
        "last" => Some(Role::Last),
        _ => name.strip_prefix("at:")?.parse().ok().map(Role::At),
    }
}

impl Summary {
    /// Whether the plan places layers, and is no simulation of given times.
    pub fn places_layers(&self) -> bool {
        self.segment.iter().any(|s| s.role == "body" || s.role == "mtp")
    }

    /// The summary of a partition under an order with its verdict; `micro_batch_size` samples are a micro-batch.
    ///
    /// # Errors
    /// [`crate::Error::Inexpressible`] for more layers than a layout string may have.
    pub fn new(
        problem: &Problem,
        order: &Order,
        layout: &Layout,
        outcome: &Outcome,
        micro_batch_size: u32,
    ) -> Result<Summary> {
        let (model, dims) = (problem.model(), order.dims());
        let makespan = problem.time().show(outcome.makespan);
        let unit = model.time_unit.as_deref().and_then(seconds);
        let makespan_s = unit.map(|unit| makespan * unit);
        let samples = dims.micro_batches as f64 * f64::from(micro_batch_size);
        let segment =
            |s: &crate::model::Segment| Segment { segment: s.name.clone(), role: role_name(s.role), count: s.count };
        let grouped = order.shape().groups && dims.chunks > 1;
        Ok(Summary {
            makespan,
            time_unit: model.time_unit.clone(),
            makespan_s,
            schedule: order.name().to_owned(),
            group: if grouped { dims.group.sizes(dims.stages, dims.micro_batches) } else { Vec::new() },
            stages: dims.stages,
            chunks: dims.chunks,
            micro_batches: dims.micro_batches,
            micro_batch_size,
            sequence_chunks: 1,
            layout: match (problem.body_layers(), model.pinned_layers()) {
                (0, _) | (_, Some(_)) => None,
                _ => export::Plan::new(problem, order, layout).items().ok().map(|items| megatron::shortest(&items)),
            },
            memory_unit: Some(model.memory_unit.name()).filter(|name| !name.is_empty()).map(str::to_owned),
            segment: model.segments.iter().map(segment).collect(),
            stage: (0..dims.stages).map(|at| stage(problem, order, layout, outcome, at)).collect(),
            bubble: outcome.bubble,
            throughput: makespan_s
                .filter(|&time| time > 0.0)
                .map(|time| Throughput { samples_per_s: samples / time, model_flops_utilisation: None }),
        })
    }
}

fn stage(problem: &Problem, order: &Order, layout: &Layout, outcome: &Outcome, at: usize) -> Stage {
    let (time, memory, peak) = (problem.time(), problem.memory(), outcome.peaks[at]);
    let usage = outcome.trace.as_ref().map(|trace| trace.timeline.usage(at));
    let shown = |of: fn(&crate::simulate::Usage) -> u64| usage.as_ref().map(|usage| time.show(of(usage)));
    Stage {
        stage: at,
        device: at,
        cap: Some(problem.caps()[at]).filter(|&cap| cap < u64::MAX).map(|cap| memory.show(cap)),
        peak: memory.show(peak.total()),
        constant: memory.show(peak.constant),
        activations: memory.show(peak.kept),
        transient: memory.show(peak.transient),
        heaviest: peak.op.map(|op| op.to_string()),
        busy: shown(|u| u.busy),
        idle_warmup: shown(|u| u.warmup),
        idle_steady: shown(|u| u.steady),
        idle_drain: shown(|u| u.drain),
        critical_share: outcome.trace.as_ref().and_then(|trace| share(order, outcome, trace, at)),
        chunk: (0..order.dims().chunks)
            .map(|chunk| self::chunk(problem, order, layout, outcome, (at, chunk)))
            .collect(),
    }
}

/// Share of the critical path that a stage runs.
fn share(order: &Order, outcome: &Outcome, trace: &Trace, stage: usize) -> Option<f64> {
    let (k, placement) = (order.dims().virtual_stages(), order.shape().placement);
    let own = |&(place, _): &(usize, &u32)| placement.of(place % k, order.dims().stages).0 == stage;
    let runs = trace.path.operations.iter().enumerate().filter(own);
    let ticks: u64 = runs.map(|(place, &count)| u64::from(count) * outcome.durations.operations[place]).sum();
    (outcome.makespan > 0).then(|| ticks as f64 / outcome.makespan as f64)
}

fn chunk(
    problem: &Problem,
    order: &Order,
    layout: &Layout,
    outcome: &Outcome,
    (stage, chunk): (usize, usize),
) -> Chunk {
    let (dims, segments) = (order.dims(), &problem.model().segments);
    let at = order.shape().placement.virtual_stage(stage, chunk, dims.stages);
    let time = |kind: usize| {
        let place = kind * dims.virtual_stages() + at;
        outcome.durations.operations.get(place).map_or(0.0, |&ticks| problem.time().show(ticks))
    };
    let run = |run: &crate::layout::Run| Run {
        segment: segments[run.segment].name.clone(),
        count: run.count,
        recompute: segments[run.segment].kinds[run.kind].name.clone(),
    };
    Chunk {
        chunk,
        virtual_stage: at,
        forward: time(0),
        backward: time(1),
        weight: time(2),
        items: layout.chunks[at].iter().map(run).collect(),
    }
}

/// The operations of the critical path, from the first to the last, in the model's unit of time.
pub fn critical(problem: &Problem, order: &Order, trace: &Trace) -> Vec<Step> {
    let step = |(stage, position): (usize, usize)| step(problem, stage, &trace.timeline.stages[stage][position]);
    trace.path.ops(order).map(step).collect()
}

/// All operations, stage by stage.
pub fn timeline(problem: &Problem, trace: &Trace) -> Vec<Step> {
    let stages = trace.timeline.stages.iter().enumerate();
    stages.flat_map(|(stage, spans)| spans.iter().map(move |span| step(problem, stage, span))).collect()
}

fn step(problem: &Problem, stage: usize, span: &Span) -> Step {
    let time = problem.time();
    Step {
        op: span.op.to_string(),
        stage,
        micro_batch: span.op.micro_batch,
        start: time.show(span.start),
        end: time.show(span.end),
    }
}
