//! YAML of MindFormers: offsets and lists of recomputed layers, anywhere in a file.
//!
//! `recompute` and its two companions are true, false, a number for every chunk, a list by stage or lists by chunk and
//! stage. A list by stage of several chunks is shared out among them, the first ones getting the rest. What is listed by
//! operator is refused.

use super::{Entry, Imported, Options, layout, total};
use crate::export::LESS_MEMORY;
use crate::megatron::{Item, MOST, setting::Layer};
use crate::model::{Model, Role};
use serde_json::Value;

pub(super) const ENTRY: Entry = Entry {
    name: "mindformers_yaml",
    summary: "YAML of MindFormers: offsets, lists of recomputed layers, scheduler, micro-batches",
    read,
};

/// Keys that say something of a plan.
const KEYS: [&str; 7] = [
    "pipeline_stage",
    "pipeline_num",
    "pp_interleave_num",
    "offset",
    "recompute",
    "select_recompute",
    "select_comm_recompute",
];

fn read(text: &str, model: &Model, options: &Options) -> Result<Imported, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: Value = serde_saphyr::from_str(text).map_err(|error| error.without_snippet().to_string())?;
    if KEYS.iter().all(|key| matches!(find(&file, &[key]), Ok(None))) {
        return Err(format!("no key of a pipeline is there, of {}", KEYS.join(", ")));
    }
    super::no_pinned_layers(model)?;
    if total(model, Role::Mtp) > 0 {
        return Err("layers that predict further tokens have no place in its offsets".to_owned());
    }
    let total = total(model, Role::Body);
    let stages = number(&file, &["pipeline_stage", "pipeline_num"])?.or(options.stages);
    let stages = stages.ok_or("pipeline_stage is not there; state the stages")?;
    let chunks = number(&file, &["pp_interleave_num"])?.unwrap_or(1);
    let shape = Shape { stages, chunks };
    let k = stages.checked_mul(chunks).filter(|&k| k > 0 && k <= MOST && total <= MOST);
    let k = k.ok_or_else(|| {
        format!("{stages} stages of {chunks} chunks for {total} layers; write 1 or more, {MOST} at most")
    })?;
    if let Some(said) = whole(&file, &["num_layers", "num_layer"])?.filter(|&said| said != total) {
        return Err(format!("num_layers is {said}, and the model has {total} layers"));
    }
    let sizes = shape.sizes(&file, total / k)?;
    let sum: usize = sizes.iter().sum();
    if sum != total {
        return Err(format!("offset: the virtual stages have {sum} layers together, and the model has {total}"));
    }
    let full = shape.counts(&file, "recompute", &sizes)?;
    let select = shape.counts(&file, "select_recompute", &sizes)?;
    let comm = shape.counts(&file, "select_comm_recompute", &sizes)?;
    let stage = |at: usize| kinds(sizes[at], [full[at], select[at], comm[at]]);
    let virtual_stages: Vec<Vec<Layer<'_>>> = (0..k).map(stage).collect();
    Ok(Imported {
        stages,
        chunks,
        layout: layout(&virtual_stages, model)?,
        schedule: Some(schedule(&file, text, chunks)?),
        micro_batches: number(&file, &["micro_batch_num"])?,
        group: None,
        warnings: Vec::new(),
    })
}

/// Name of the schedule.
fn schedule(file: &Value, text: &str, chunks: usize) -> Result<&'static str, String> {
    let scheduler = find(file, &["pipeline_scheduler"])?.map(|(_, value)| value.as_str().unwrap_or("?").to_owned());
    let less_memory = || text.lines().any(|line| line.trim_start().starts_with('#') && line.contains(LESS_MEMORY));
    match scheduler.as_deref().unwrap_or("1f1b") {
        "gpipe" if chunks == 1 => Ok("gpipe"),
        "1f1b" if chunks == 1 => Ok("1f1b"),
        "1f1b" if less_memory() => Ok("interleaved-lm"),
        "1f1b" => Ok("interleaved"),
        other => Err(format!("pipeline_scheduler {other} with {chunks} chunks is not known here; write gpipe or 1f1b")),
    }
}

/// Layers of a chunk by cumulative counts, the most recomputed ones first. A count beyond the chunk takes all of it.
fn kinds(layers: usize, [full, select, comm]: [usize; 3]) -> Vec<Layer<'static>> {
    let both = select.min(comm).saturating_sub(full);
    let selective = select.saturating_sub(full + both);
    let communication = comm.saturating_sub(full + both);
    let runs =
        [("full", full), ("both", both), ("selective", selective), ("communication", communication), ("none", layers)];
    let all = runs.into_iter().flat_map(|(kind, count)| std::iter::repeat_n((Item::Decoder, kind), count));
    all.take(layers).collect()
}

/// The value of a key of any of these names, at any depth, with its name; the same key may be there again with the same value.
fn find<'a>(file: &'a Value, names: &[&'static str]) -> Result<Option<(&'static str, &'a Value)>, String> {
    let mut found: Option<(&'static str, &Value)> = None;
    let mut open = vec![file];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    // The lists lie beside each other; what is inside one of them is no key of the file.
                    match names.iter().find(|name| key == *name) {
                        Some(name) => match found {
                            Some((_, other)) if other != value => {
                                return Err(format!("{name} is there twice: {other} and {value}"));
                            }
                            _ => found = Some((name, value)),
                        },
                        None => open.push(value),
                    }
                }
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    Ok(found.filter(|(_, value)| !value.is_null()))
}

/// A number from 0 on.
fn whole(file: &Value, names: &[&'static str]) -> Result<Option<usize>, String> {
    let Some((name, value)) = find(file, names)? else { return Ok(None) };
    let number = value.as_u64().and_then(|n| usize::try_from(n).ok());
    number.map(Some).ok_or_else(|| format!("{name} is {value}, which is no whole number from 0 on"))
}

/// A number from 1 on.
fn number(file: &Value, names: &[&'static str]) -> Result<Option<usize>, String> {
    match whole(file, names)? {
        Some(0) => Err(format!("{} is 0; write 1 or more", names.join(" or "))),
        number => Ok(number),
    }
}

/// Stages and chunks.
#[derive(Clone, Copy)]
struct Shape {
    stages: usize,
    chunks: usize,
}

impl Shape {
    /// Layers of each virtual stage.
    fn sizes(self, file: &Value, each: usize) -> Result<Vec<usize>, String> {
        let offsets = match find(file, &["offset"])? {
            None => vec![0; self.stages * self.chunks],
            Some((_, value)) if value.as_i64() == Some(0) => vec![0; self.stages * self.chunks],
            Some((_, value)) => match self.rows(value).map_err(|what| format!("offset: {what}"))? {
                Rows::Chunks(rows) => rows,
                Rows::Stages(row) if self.chunks == 1 => row,
                Rows::Stages(_) => return Err(format!("offset: write {} lists, one a chunk", self.chunks)),
            },
        };
        let size = |(at, &offset): (usize, &i64)| {
            let size =
                (each as i64).checked_add(offset).and_then(|size| usize::try_from(size).ok()).filter(|&n| n <= MOST);
            size.ok_or_else(|| format!("offset {offset} of virtual stage {at} does not fit {each} layers"))
        };
        offsets.iter().enumerate().map(size).collect()
    }

    /// Recomputed layers of each virtual stage under a key.
    fn counts(self, file: &Value, key: &'static str, sizes: &[usize]) -> Result<Vec<usize>, String> {
        let k = self.stages * self.chunks;
        let rows = match find(file, &[key])? {
            None | Some((_, Value::Bool(false))) => return Ok(vec![0; k]),
            Some((_, Value::Bool(true))) => return Ok(sizes.to_vec()),
            Some((_, Value::Number(number))) => Rows::Chunks(vec![number.as_i64().unwrap_or(-1); k]),
            Some((_, value)) => self.rows(value).map_err(|what| format!("{key}: {what}"))?,
        };
        let values: Vec<i64> = match rows {
            Rows::Chunks(rows) => rows,
            Rows::Stages(row) => {
                let part =
                    |chunk: i64, count: i64| count / self.chunks as i64 + i64::from(chunk < count % self.chunks as i64);
                (0..self.chunks as i64).flat_map(|chunk| row.iter().map(move |&count| part(chunk, count))).collect()
            }
        };
        let count = |(at, &value): (usize, &i64)| {
            let count = usize::try_from(value).ok().filter(|&count| count <= sizes[at]);
            count.ok_or_else(|| format!("{key}: {value} of the {} layers of virtual stage {at}", sizes[at]))
        };
        values.iter().enumerate().map(count).collect()
    }

    /// Lists of whole numbers.
    fn rows(self, value: &Value) -> Result<Rows, String> {
        let Value::Array(values) = value else {
            return Err(format!("{value} is no list of numbers; lists by operator have no counterpart here"));
        };
        if values.iter().all(Value::is_array) && !values.is_empty() {
            let rows = values.iter().map(|row| self.row(row)).collect::<Result<Vec<_>, String>>()?;
            if rows.len() != self.chunks {
                return Err(format!("{} lists for {} chunks", rows.len(), self.chunks));
            }
            return Ok(Rows::Chunks(rows.concat()));
        }
        self.row(value).map(Rows::Stages)
    }

    fn row(self, value: &Value) -> Result<Vec<i64>, String> {
        let values = value.as_array().map_or(&[][..], Vec::as_slice);
        if values.len() != self.stages {
            return Err(format!("a list of {} for {} stages", values.len(), self.stages));
        }
        let number = |value: &Value| value.as_i64().ok_or_else(|| format!("{value} is no whole number"));
        values.iter().map(number).collect()
    }
}

/// Numbers of virtual stages, or of stages alone.
enum Rows {
    Chunks(Vec<i64>),
    Stages(Vec<i64>),
}
