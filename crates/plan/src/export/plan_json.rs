//! The project's own JSON: what a plan states, without costs. `sapwood plan --out` writes the same members among others, and
//! [`crate::import`] reads both.

use super::{Entry, Plan};
use crate::report::{Run, Segment, role_name};
use serde::Serialize;

pub(super) const ENTRY: Entry = Entry {
    name: "plan_json",
    summary: "schedule, groups and layers of each chunk (JSON)",
    states: |_| Ok(()),
    knows: |_| true,
    beginning: "{\n  \"schema\": \"sapwood.plan.",
    write,
};

#[derive(Serialize)]
struct File<'a> {
    schema: &'static str,
    schedule: &'a str,
    group: Vec<usize>,
    stages: usize,
    chunks: usize,
    micro_batches: usize,
    segment: Vec<Segment>,
    stage: Vec<Stage>,
}

#[derive(Serialize)]
struct Stage {
    stage: usize,
    chunk: Vec<Chunk>,
}

#[derive(Serialize)]
struct Chunk {
    chunk: usize,
    #[serde(rename = "virtual")]
    virtual_stage: usize,
    items: Vec<Run>,
}

fn write(plan: &Plan<'_>) -> Result<String, String> {
    let segments = &plan.model.segments;
    let run = |run: &crate::layout::Run| Run {
        segment: segments[run.segment].name.clone(),
        count: run.count,
        recompute: segments[run.segment].kinds[run.kind].name.clone(),
    };
    let placement = crate::schedule::find(plan.schedule).map_err(|e| e.to_string())?.shape.placement;
    let chunk = |stage: usize, chunk: usize| {
        let virtual_stage = placement.virtual_stage(stage, chunk, plan.stages);
        Chunk { chunk, virtual_stage, items: plan.layout.chunks[virtual_stage].iter().map(run).collect() }
    };
    let stage = |stage| Stage { stage, chunk: (0..plan.chunks).map(|at| chunk(stage, at)).collect() };
    let segment =
        |s: &crate::model::Segment| Segment { segment: s.name.clone(), role: role_name(s.role), count: s.count };
    let file = File {
        schema: "sapwood.plan.layout/1",
        schedule: plan.schedule,
        group: if plan.chunks > 1 { plan.group.sizes(plan.stages, plan.micro_batches) } else { Vec::new() },
        stages: plan.stages,
        chunks: plan.chunks,
        micro_batches: plan.micro_batches,
        segment: segments.iter().map(segment).collect(),
        stage: (0..plan.stages).map(stage).collect(),
    };
    serde_json::to_string_pretty(&file).map(|text| text + "\n").map_err(|e| e.to_string())
}
