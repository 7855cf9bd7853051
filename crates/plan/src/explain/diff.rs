//! Two plans of one model side by side: what differs on which stage.

use crate::report::{Chunk, Stage, Summary};
use serde::Serialize;

/// Something that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The stage; none for the whole plan.
    pub stage: Option<usize>,
    /// What it is.
    pub what: String,
    /// In the first plan.
    pub from: String,
    /// In the second plan.
    pub to: String,
}

/// What differs from one plan to another: sizes, makespan and its parts for the whole; layers, times and peak by stage.
pub fn diff(from: &Summary, to: &Summary) -> Vec<Difference> {
    let mut all = Vec::new();
    let mut add = |stage: Option<usize>, what: &str, from: String, to: String| {
        if from != to {
            all.push(Difference { stage, what: what.to_owned(), from, to });
        }
    };
    add(None, "schedule", from.schedule.clone(), to.schedule.clone());
    add(None, "stages", from.stages.to_string(), to.stages.to_string());
    add(None, "chunks", from.chunks.to_string(), to.chunks.to_string());
    add(None, "groups", format!("{:?}", from.group), format!("{:?}", to.group));
    add(None, "makespan", from.makespan.to_string(), to.makespan.to_string());
    // Stage time that is no useful work, as a time: the parts add up to the whole, S times the difference of the makespans.
    let parts = |b: &crate::explain::Bubble| [b.ideal, b.imbalance, b.recompute, b.comm];
    for (name, (a, b)) in
        ["ideal", "imbalance", "recompute", "comm"].iter().zip(parts(&from.bubble).into_iter().zip(parts(&to.bubble)))
    {
        add(None, &format!("bubble: {name}"), format!("{a:.4}"), format!("{b:.4}"));
    }
    for at in 0..from.stages.max(to.stages) {
        let (a, b) = (from.stage.get(at), to.stage.get(at));
        let mut both = |what: &str, of: &dyn Fn(&Stage) -> String| {
            let shown = |stage: Option<&Stage>| stage.map_or_else(|| "-".to_owned(), of);
            add(Some(at), what, shown(a), shown(b));
        };
        both("layers", &|stage| stage.chunk.iter().map(items).collect::<Vec<_>>().join(" / "));
        both("forward", &|stage| sum(stage, |chunk| chunk.forward));
        both("backward", &|stage| sum(stage, |chunk| chunk.backward + chunk.weight));
        both("peak", &|stage| stage.peak.to_string());
    }
    all
}

/// Time of all chunks, for a micro-batch.
fn sum(stage: &Stage, of: fn(&Chunk) -> f64) -> String {
    let total: f64 = stage.chunk.iter().map(of).sum();
    // Decimals of a file are not exact in binary.
    ((total * 1e9).round() / 1e9).to_string()
}

/// The layers of a chunk: `1 HEAD, 5 BODY (both)`.
pub fn items(chunk: &Chunk) -> String {
    let item = |run: &crate::report::Run| {
        let kind = if run.recompute == "none" { String::new() } else { format!(" ({})", run.recompute) };
        format!("{} {}{kind}", run.count, run.segment)
    };
    let items: Vec<String> = chunk.items.iter().map(item).collect();
    if items.is_empty() { "-".to_owned() } else { items.join(", ") }
}
