//! The HTML report of a plan: who works when, what is in memory under which cap, where the bubble is, what was considered.
//! Every number comes from the summary that the table is printed from, or from the simulation itself.

use super::stated::Planned;
use crate::cli::{Context, Failure};
use sapwood_plan::explain::{self, Difference, Gradient, items};
use sapwood_plan::export;
use sapwood_plan::layout::Layout;
use sapwood_plan::outcome::{Outcome, Trace};
use sapwood_plan::problem::Problem;
use sapwood_plan::report::{Stage, Summary};
use sapwood_plan::schedule::Kind;
use sapwood_plan::simulate::{Order, memory};
use sapwood_plan::solve::Considered;
use sapwood_report::{
    Axis, BarSeries, Bars, Cell, Column, Figure, Gantt, KeyFigure, Report, Section, Steps, Table, Task, Unit,
};

/// Stages that are drawn; of more, the first, the last and the fullest ones.
const DRAWN: usize = 64;

/// Operations that are drawn: a chart of more says no more and is no page any longer.
const MOST: usize = 20_000;

/// Curves of memory.
const CURVES: usize = 5;

/// Changes that would help.
const GRADIENTS: usize = 24;

/// What a page is made of.
pub(super) struct Sources<'a> {
    pub(super) problem: &'a Problem,
    pub(super) order: &'a Order,
    pub(super) layout: &'a Layout,
    pub(super) outcome: &'a Outcome,
    pub(super) summary: &'a Summary,
    /// (lower bound, gap).
    pub(super) bound: Option<(f64, f64)>,
    pub(super) considered: &'a [Considered],
    pub(super) gradients: &'a [Gradient],
    /// What differs from another plan.
    pub(super) diff: &'a [Difference],
}

impl<'a> Sources<'a> {
    /// What a stated plan's page is made of.
    pub(super) fn of(planned: &'a Planned, outcome: &'a Outcome, summary: &'a Summary) -> Sources<'a> {
        let Planned { problem, order, layout, .. } = planned;
        let (bound, considered, gradients, diff) = (None, &[], &[], &[]);
        Sources { problem, order, layout, outcome, summary, bound, considered, gradients, diff }
    }

    /// The same with what would help, and what differs from another plan.
    pub(super) fn explained(self, gradients: &'a [Gradient], diff: &'a [Difference]) -> Sources<'a> {
        Sources { gradients, diff, ..self }
    }
}

/// Writes the report where `--report` says.
pub(super) fn write(cx: &Context, from: Sources<'_>) -> Result<(), Failure> {
    let Some(path) = cx.flags.report.as_deref() else { return Ok(()) };
    crate::verb::page::write(cx, path, &page(from))
}

fn page(from: Sources<'_>) -> Report {
    let summary = from.summary;
    let model = &from.problem.model().name;
    let mut page = Report::new(format!("{model}: {} stages, {}", summary.stages, summary.schedule))
        .subtitle(format!("{} chunks a stage, {} micro-batches", summary.chunks, summary.micro_batches))
        .made_by(concat!("sapwood ", env!("CARGO_PKG_VERSION")))
        .section(result(&from));
    let sections = [from.outcome.trace.as_ref().map(|trace| when(&from, trace)), memory(&from), Some(bubble(&from))];
    for section in sections.into_iter().flatten() {
        page = page.section(section);
    }
    page = page.section(layers(&from));
    if let Some(section) = formulas(&from) {
        page = page.section(section);
    }
    let (gradients, differences, considered) = (gradients(&from), differences(&from), considered(&from));
    for section in gradients.into_iter().chain(differences).chain(considered) {
        page = page.section(section);
    }
    page.section(repeat())
}

/// A unit of the model, or none.
fn unit(name: Option<&str>) -> Unit {
    name.map_or(Unit::None, |name| Unit::Named(name.to_owned()))
}

fn time_axis(from: &Sources<'_>) -> Axis {
    Axis::new("time").unit(unit(from.summary.time_unit.as_deref()))
}

/// A number with all its digits: plans are exact.
fn exact(value: f64) -> Cell {
    Cell::figure(value.to_string())
}

fn shown(value: f64, unit: Option<&str>) -> String {
    let value = value.to_string();
    unit.map_or_else(|| value.clone(), |unit| format!("{value} {unit}"))
}

/// The stage with the largest share of its cap, or else the largest peak.
fn fullest(summary: &Summary) -> Option<&Stage> {
    let share = |stage: &Stage| stage.cap.map_or(0.0, |cap| stage.peak / cap);
    summary.stage.iter().max_by(|a, b| share(a).total_cmp(&share(b)).then(a.peak.total_cmp(&b.peak)))
}

/// The stage that most of the critical path is on.
fn binding(summary: &Summary) -> Option<&Stage> {
    summary.stage.iter().max_by(|a, b| a.critical_share.unwrap_or(0.0).total_cmp(&b.critical_share.unwrap_or(0.0)))
}

fn result(from: &Sources<'_>) -> Section {
    let (summary, time) = (from.summary, from.summary.time_unit.as_deref());
    let mut figures = vec![KeyFigure::new("makespan of a step", shown(summary.makespan, time))];
    if let Some((bound, gap)) = from.bound {
        let note = format!("no plan of this schedule is below {}", shown(bound, time));
        figures.push(KeyFigure::new("distance from the bound", format!("{:.2} %", 100.0 * gap)).note(note));
    }
    let note = "stage time that is no useful work, by the useful work";
    figures.push(KeyFigure::new("bubble", format!("{:.1} %", 100.0 * summary.bubble.real)).note(note));
    if let Some(stage) = fullest(summary) {
        let peak = shown(stage.peak, summary.memory_unit.as_deref());
        let value = stage.cap.map_or(peak.clone(), |cap| format!("{:.1} % of its cap", 100.0 * stage.peak / cap));
        let during = stage.heaviest.as_ref().map_or_else(String::new, |op| format!(", during {op}"));
        let note = format!("stage {}: {peak}{during}", stage.stage);
        figures.push(KeyFigure::new("fullest stage", value).note(note));
    }
    if let Some(throughput) = summary.throughput {
        figures.push(
            KeyFigure::new("throughput", format!("{:.3} samples/s", throughput.samples_per_s)).note("per replica"),
        );
    }
    let mut section = Section::new("Result").key_figures(figures);
    for stage in summary.stage.iter().filter(|stage| stage.cap.is_some_and(|cap| stage.peak > cap)) {
        section = section.warning(format!("Stage {} does not fit: its peak is beyond its cap.", stage.stage));
    }
    let Some(layout) = &summary.layout else { return section };
    let plan = export::Plan::new(from.problem, from.order, from.layout);
    match export::find("megatron").and_then(|entry| export::write(entry, &plan)) {
        Ok(flags) => section.paragraph("As flags of Megatron-LM, recomputation included:").code(flags.trim_end()),
        Err(why) => section
            .paragraph("The cut, as Megatron-LM's layout string:")
            .code(layout)
            .paragraph(format!("It does not tell all: {why}.")),
    }
}

/// Stages that are drawn.
fn drawn(from: &Sources<'_>) -> Vec<usize> {
    let summary = from.summary;
    let most = (MOST * summary.stages / from.order.len().max(1)).clamp(3, DRAWN);
    if summary.stages <= most {
        return (0..summary.stages).collect();
    }
    let mut wanted = vec![0, summary.stages - 1];
    wanted.extend([binding(summary), fullest(summary)].into_iter().flatten().map(|stage| stage.stage));
    let mut others: Vec<usize> = (0..most).map(|at| at * summary.stages / most).collect();
    wanted.append(&mut others);
    wanted.truncate(most.max(4));
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

fn when(from: &Sources<'_>, trace: &Trace) -> Section {
    let (summary, ticks) = (from.summary, from.problem.time());
    let stages = drawn(from);
    let names: Vec<String> = stages.iter().map(|stage| format!("stage {stage}")).collect();
    let split = from.order.shape().splits_backward;
    let kinds: &[&str] = if split { &["forward", "backward", "weights"] } else { &["forward", "backward"] };
    let tasks = stages.iter().enumerate().flat_map(|(lane, &stage)| {
        trace.timeline.stages[stage].iter().map(move |span| {
            let kind = match span.op.kind {
                Kind::Forward => 0,
                Kind::Backward => 1,
                Kind::Weight => 2,
            };
            let label = format!("{}", span.op.micro_batch);
            Task::new(lane, kind, ticks.show(span.start), ticks.show(span.end)).label(label)
        })
    });
    let gantt = Gantt::new("Who works when", names, kinds.iter().copied()).axis(time_axis(from)).tasks(tasks);
    let left_out = summary.stages - stages.len();
    let mut caption = "Each bar is a micro-batch on a stage; what is white is the bubble.".to_owned();
    if left_out > 0 {
        caption.push_str(&format!(" {left_out} stages are left out."));
    }
    let busy = |of: fn(&Stage) -> Option<f64>| summary.stage.iter().map(move |stage| of(stage).unwrap_or(f64::NAN));
    let stages = summary.stage.iter().map(|stage| stage.stage.to_string());
    let bars = Bars::new("What each stage does with the time", time_axis(from), stages)
        .series(BarSeries::new("busy", busy(|s| s.busy)))
        .series(BarSeries::new("idle in the warm-up", busy(|s| s.idle_warmup)))
        .series(BarSeries::new("idle in between", busy(|s| s.idle_steady)))
        .series(BarSeries::new("idle in the drain", busy(|s| s.idle_drain)));
    let mut section = Section::new("When").figure(Figure::new(gantt).caption(caption));
    if summary.stages <= 32 {
        section = section.figure(Figure::new(bars).caption("Each stage's parts add up to the makespan."));
    }
    if let Some(stage) = binding(summary) {
        let share = 100.0 * stage.critical_share.unwrap_or(0.0);
        section = section.paragraph(format!(
            "The critical path is {share:.1} % on stage {}: what makes that stage faster makes the step faster.",
            stage.stage
        ));
    }
    section
}

fn memory(from: &Sources<'_>) -> Option<Section> {
    let (summary, ticks) = (from.summary, from.problem.memory());
    let trace = from.outcome.trace.as_ref()?;
    let mut stages: Vec<&Stage> = summary.stage.iter().collect();
    let share = |stage: &Stage| stage.cap.map_or(stage.peak, |cap| stage.peak / cap);
    stages.sort_by(|a, b| share(b).total_cmp(&share(a)).then(a.stage.cmp(&b.stage)));
    let mut wanted: Vec<usize> = stages.iter().take(CURVES - 2).map(|stage| stage.stage).collect();
    wanted.extend([0, summary.stages - 1]);
    wanted.sort_unstable();
    wanted.dedup();
    let axis = Axis::new("memory").unit(unit(summary.memory_unit.as_deref()));
    let mut steps = Steps::new("Memory over the step", time_axis(from), axis).until(summary.makespan);
    for stage in wanted {
        let curve = memory::curve(from.order, stage, &from.outcome.memory, &trace.timeline.stages[stage]);
        let time = from.problem.time();
        let points = curve.into_iter().map(|(at, held)| (time.show(at), ticks.show(held)));
        steps = steps.curve(format!("stage {stage}"), points);
    }
    let mut caps: Vec<f64> = summary.stage.iter().filter_map(|stage| stage.cap).collect();
    caps.sort_by(f64::total_cmp);
    caps.dedup();
    // Many different caps would be lines that nobody can tell apart.
    for &cap in caps.iter().take(3) {
        steps = steps.cap(cap, "cap");
    }
    let caption = "The fullest stages, the first and the last one, with what is always there.";
    let stages = summary.stage.iter().map(|stage| stage.stage.to_string());
    let axis = Axis::new("memory").unit(unit(summary.memory_unit.as_deref()));
    let part = |of: fn(&Stage) -> f64| summary.stage.iter().map(of);
    let mut bars = Bars::new("The heaviest moment of each stage", axis, stages)
        .series(BarSeries::new("always there", part(|s| s.constant)))
        .series(BarSeries::new("kept by forwards", part(|s| s.activations)));
    if summary.stage.iter().any(|stage| stage.transient > 0.0) {
        bars = bars.series(BarSeries::new("of the running backward", part(|s| s.transient)));
    }
    let mut section = Section::new("Memory").figure(Figure::new(steps).caption(caption));
    if summary.stages <= 32 {
        section = section.figure(Figure::new(bars).caption("The parts of a stage add up to its peak."));
    }
    Some(section)
}

fn bubble(from: &Sources<'_>) -> Section {
    let b = &from.summary.bubble;
    let parts = [
        ("ideal", b.ideal, "what the schedule has where all stages are equal"),
        ("imbalance", b.imbalance, "stages that wait for slower ones"),
        ("recompute", b.recompute, "forwards that run again to save memory"),
        ("comm", b.comm, "transfers between stages"),
    ];
    let bars =
        Bars::new("The bubble and its parts", Axis::new("of the useful work").unit(Unit::Percent), parts.map(|p| p.0))
            .series(BarSeries::new("bubble", parts.map(|p| p.1)))
            .horizontal();
    let mut table = Table::new(format!("All together: {:.2} % of the useful work", 100.0 * b.real)).columns([
        Column::new("part"),
        Column::new("of the useful work").unit("%"),
        Column::new("what it is"),
    ]);
    for (name, value, what) in parts {
        table = table.row([Cell::text(name), Cell::fixed(100.0 * value, 2), Cell::text(what)]);
    }
    Section::new("Bubble").figure(Figure::new(bars)).table(table)
}

fn layers(from: &Sources<'_>) -> Section {
    let (summary, time) = (from.summary, from.summary.time_unit.as_deref());
    let column = |name: &str, unit: Option<&str>| {
        let column = Column::new(name);
        unit.map_or(column.clone(), |unit| column.unit(unit))
    };
    let memory = summary.memory_unit.as_deref();
    let mut columns = vec![Column::new("stage"), column("peak", memory), column("cap", memory), column("busy", time)];
    columns.push(Column::new("of the critical path").unit("%"));
    let mut table = Table::new("What each stage keeps and does").columns(columns);
    let chunks = (0..summary.chunks).map(|chunk| Column::new(format!("chunk {chunk}")));
    let mut layers = Table::new("Layers of each chunk, with what they recompute")
        .columns(std::iter::once(Column::new("stage")).chain(chunks));
    for stage in &summary.stage {
        let number = |value: Option<f64>| value.map_or_else(Cell::missing, exact);
        let share = stage.critical_share.map_or_else(Cell::missing, |share| Cell::fixed(100.0 * share, 1));
        let cells = [Cell::count(stage.stage as u64), exact(stage.peak), number(stage.cap), number(stage.busy), share];
        table = table.row(cells);
        let chunks = stage.chunk.iter().map(|chunk| Cell::text(items(chunk)));
        layers = layers.row(std::iter::once(Cell::count(stage.stage as u64)).chain(chunks));
    }
    let section = Section::new("Stages").table(table);
    if summary.places_layers() { section.table(layers) } else { section }
}

/// The formulas of the stage that most of the critical path is on, and of the makespan.
fn formulas(from: &Sources<'_>) -> Option<Section> {
    let binding = binding(from.summary)?.stage;
    let counts = from.layout.counts(from.problem).ok()?;
    let all = explain::formulas(from.problem, from.order, &counts, from.outcome).ok()?;
    let own = all.iter().filter(|formula| formula.stage.is_none_or(|stage| stage == binding));
    let lines = own.map(|f| format!("{} = {}\n  = {}\n  = {}", f.name, f.expression, f.substituted, f.value));
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() || !from.summary.places_layers() {
        return None;
    }
    let what =
        format!("What stage {binding} takes and keeps, and the makespan along the critical path; numbers below.");
    Some(Section::new("Formulas of the binding stage").paragraph(what).code(lines.join("\n")))
}

fn gradients(from: &Sources<'_>) -> Option<Section> {
    if from.gradients.is_empty() {
        return None;
    }
    let time = from.summary.time_unit.as_deref();
    let column = Column::new("change of the makespan");
    let columns = [Column::new("change"), time.map_or(column.clone(), |unit| column.unit(unit))];
    let left_out = from.gradients.len().saturating_sub(GRADIENTS);
    let mut title = "The largest gain first, by the exact simulator".to_owned();
    if left_out > 0 {
        title.push_str(&format!("; {left_out} smaller ones are left out"));
    }
    let mut table = Table::new(title).columns(columns);
    for gradient in from.gradients.iter().take(GRADIENTS) {
        table = table.row([Cell::text(&gradient.change), exact(gradient.makespan_change)]);
    }
    Some(Section::new("What would help").table(table))
}

fn differences(from: &Sources<'_>) -> Option<Section> {
    if from.diff.is_empty() {
        return None;
    }
    let columns = ["stage", "what", "this plan", "the other"];
    let mut table = Table::new("What differs, for all and by stage").columns(columns.map(Column::new));
    for d in from.diff {
        let stage = d.stage.map_or_else(|| Cell::text("all"), |stage| Cell::count(stage as u64));
        table = table.row([stage, Cell::text(&d.what), Cell::text(&d.from), Cell::text(&d.to)]);
    }
    Some(Section::new("Beside the other plan").table(table))
}

fn considered(from: &Sources<'_>) -> Option<Section> {
    if from.considered.is_empty() {
        return None;
    }
    let columns = ["schedule", "chunks", "groups", "recompute", "lower bound", "makespan", "outcome"];
    let mut table = Table::new("Every combination that was considered").columns(columns.map(Column::new));
    let text = |value: &Option<String>| value.as_ref().map_or_else(Cell::missing, Cell::text);
    let number = |value: Option<f64>| value.map_or_else(Cell::missing, exact);
    for line in from.considered {
        table = table.row([
            Cell::text(&line.schedule),
            Cell::count(line.chunks as u64),
            text(&line.group),
            text(&line.recompute),
            number(line.lower_bound),
            number(line.makespan),
            Cell::text(&line.reason),
        ]);
    }
    Some(Section::new("Considered").table(table))
}

fn repeat() -> Section {
    Section::new("How to repeat this")
        .paragraph("The same command gives the same plan on any number of threads.")
        .code(crate::verb::page::command())
}
