//! The project's own JSON, as `sapwood plan --out` and the exporter of the same name write it.

use super::{Entry, Imported, Options};
use crate::layout::{Layout, Run};
use crate::model::{KindCost, MemoryUnit, Model, Segment};
use crate::report;
use crate::schedule::{self, Grouping};
use serde::Deserialize;

pub(super) const ENTRY: Entry = Entry {
    name: "plan_json",
    summary: "a plan of this program (JSON), as --out writes it",
    read: |text, model, _: &Options| file(text)?.imported(model),
};

#[derive(Deserialize)]
struct File {
    schema: String,
    schedule: String,
    #[serde(default)]
    group: Vec<usize>,
    stages: usize,
    chunks: usize,
    micro_batches: usize,
    segment: Vec<report::Segment>,
    stage: Vec<Stage>,
}

#[derive(Deserialize)]
struct Stage {
    stage: usize,
    chunk: Vec<Chunk>,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(rename = "virtual")]
    virtual_stage: usize,
    items: Vec<report::Run>,
}

fn file(text: &str) -> Result<File, String> {
    let file: File = serde_json::from_str(text).map_err(|e| e.to_string())?;
    if !file.schema.starts_with("sapwood.plan.") {
        return Err(format!("schema is {}, not sapwood.plan.*", file.schema));
    }
    Ok(file)
}

/// The model that a plan was made for, without costs: enough to write the plan in another format.
///
/// # Errors
/// What is wrong with the text.
pub fn model(text: &str) -> Result<Model, String> {
    let file = file(text)?;
    let segment = |s: &report::Segment| {
        let runs = file.stage.iter().flat_map(|s| &s.chunk).flat_map(|c| &c.items);
        let mut names: Vec<&str> =
            runs.filter(|run| run.segment == s.segment).map(|run| run.recompute.as_str()).collect();
        let place = |name: &str| crate::recompute::BUILT_IN.iter().position(|kind| kind.name == name);
        names.sort_by_key(|name| (place(name), name.to_owned()));
        names.dedup();
        let kind = |name: &str| KindCost { name: name.to_owned(), activation: 0.0, extra: 0.0, transient: 0.0 };
        Ok(Segment {
            name: s.segment.clone(),
            role: report::role_of(&s.role).ok_or_else(|| format!("segment {}: role {}", s.segment, s.role))?,
            count: s.count,
            forward: 1.0,
            backward: 2.0,
            weight: 1.0,
            parameters: 0.0,
            kinds: names.into_iter().map(kind).collect(),
        })
    };
    Ok(Model {
        name: String::new(),
        segments: file.segment.iter().map(segment).collect::<Result<_, String>>()?,
        constant: Vec::new(),
        tails: Vec::new(),
        link: 0.0,
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    })
}

impl File {
    fn imported(&self, model: &Model) -> Result<Imported, String> {
        let entry = schedule::find(&self.schedule).map_err(|e| e.to_string())?;
        let k = self.stages.checked_mul(self.chunks).filter(|&k| k > 0 && k <= crate::megatron::MOST);
        let k = k.ok_or_else(|| format!("{} stages of {} chunks", self.stages, self.chunks))?;
        let mut chunks: Vec<Option<Vec<Run>>> = vec![None; k];
        for stage in &self.stage {
            for chunk in &stage.chunk {
                let at = chunk.virtual_stage;
                let slot = chunks.get_mut(at).ok_or_else(|| format!("virtual stage {at} of {k}"))?;
                if entry.shape.placement.of(at, self.stages).0 != stage.stage {
                    return Err(format!("virtual stage {at} is not on stage {} in {}", stage.stage, self.schedule));
                }
                let runs = chunk.items.iter().map(|run| found(model, run)).collect::<Result<_, String>>();
                let runs = runs.map_err(|why| format!("stage {} chunk {}: {why}", stage.stage, at / self.stages))?;
                if slot.replace(runs).is_some() {
                    return Err(format!("virtual stage {at} is there twice"));
                }
            }
        }
        let missing = chunks.iter().position(Option::is_none);
        if let Some(at) = missing {
            return Err(format!("virtual stage {at} is missing"));
        }
        let mut layout = Layout { chunks: chunks.into_iter().flatten().collect() };
        for runs in &mut layout.chunks {
            runs.sort_by_key(|run| (run.segment, std::cmp::Reverse(run.kind)));
        }
        for (segment, own) in model.segments.iter().enumerate() {
            let runs = layout.chunks.iter().flatten().filter(|run| run.segment == segment);
            let count: u64 = runs.map(|run| u64::from(run.count)).sum();
            if count != u64::from(own.count) {
                return Err(format!("{count} layers of {} in all, and the model has {}", own.name, own.count));
            }
        }
        Ok(Imported {
            stages: self.stages,
            chunks: self.chunks,
            layout,
            schedule: Some(entry.name),
            micro_batches: Some(self.micro_batches),
            group: self.group()?,
            warnings: Vec::new(),
        })
    }

    /// The size of the groups; none where they follow the rule `first`.
    fn group(&self) -> Result<Option<usize>, String> {
        let sizes = |rule: Grouping| rule.sizes(self.stages, self.micro_batches);
        match self.group.first() {
            None => Ok(None),
            Some(_) if sizes(Grouping::First) == self.group => Ok(None),
            Some(&size) if sizes(Grouping::Uniform(size)) == self.group => Ok(Some(size)),
            Some(_) => Err(format!("no rule groups micro-batches as {:?}", self.group)),
        }
    }
}

/// A run of a model by the names of its segment and kind.
fn found(model: &Model, run: &report::Run) -> Result<Run, String> {
    let segment = model.segments.iter().position(|s| s.name == run.segment);
    let segment = segment.ok_or_else(|| format!("the model has no segment {}", run.segment))?;
    let kind = model.segments[segment].kinds.iter().position(|kind| kind.name == run.recompute);
    let kind = kind.ok_or_else(|| format!("segment {} has no kind {}", run.segment, run.recompute))?;
    Ok(Run { segment, kind, count: run.count })
}
