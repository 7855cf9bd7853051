//! YAML of MindFormers' dry runs, as SAPP's pipeline balancing takes it: `pipeline_config` with offsets, `recompute_config`
//! with cumulative lists, `memory_usage` with peaks in MB, `time_config` with relative times. Lists of lists are several runs.
//!
//! Full = `recompute`; both = what `select_recompute` and `select_comm_recompute` have in common beyond full; selective and
//! communication are the rest of each. The first and the last stage have one peak for all runs, so they must hold the same
//! in all of them, unless their peaks are lists.

use super::measured::{Constant, MOST_LAYERS, Measured, Run, virtual_stages};
use crate::schedule::Grouping;
use sapwood_machine::nearest;
use serde_json::{Map, Value};

const KINDS: [&str; 5] = ["none", "selective", "communication", "both", "full"];
/// Most runs of a file.
const MOST_RUNS: usize = 1 << 10;

type Object = Map<String, Value>;

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let file: Value = serde_saphyr::from_str(text).map_err(|error| error.without_snippet().to_string())?;
    let file = file.as_object().ok_or("it is no table of keys")?;
    let pipeline =
        section(file, "pipeline_config", &["pipeline_num", "pipeline_stage", "num_layer", "num_layers", "offset"])?;
    let recompute = match file.get("recompute_config") {
        None | Some(Value::Null) => Object::new(),
        Some(_) => {
            section(file, "recompute_config", &["recompute", "select_recompute", "select_comm_recompute"])?.clone()
        }
    };
    let memory = section(file, "memory_usage", &["head_memory", "tail_memory", "body_memories"])?;
    let stages = whole(pipeline, "pipeline_config", &["pipeline_num", "pipeline_stage"])?;
    let layers = whole(pipeline, "pipeline_config", &["num_layer", "num_layers"])?;
    virtual_stages(stages, 1)?;
    if layers > stages * MOST_LAYERS as usize {
        return Err(format!("pipeline_config: {layers} layers on {stages} stages are too many"));
    }
    let runs = Runs { stages, layers, count: runs(pipeline, memory)? };
    let mut warnings = Vec::new();
    let sizes = runs.sizes(pipeline, &mut warnings)?;
    let counts = runs.counts(&recompute, &sizes)?;
    let peaks = runs.peaks(memory, &counts)?;
    let runs = counts.into_iter().zip(peaks).map(|(counts, peaks)| Run { counts, peaks }).collect();
    Ok(Measured {
        stages,
        chunks: 1,
        schedule: "1f1b".to_owned(),
        micro_batches: None,
        group: Grouping::First,
        kinds: KINDS.map(str::to_owned).to_vec(),
        all_kinds: false,
        constant: Constant::IfEnough,
        transient: false,
        unit: Some("MB".to_owned()),
        times: times(file)?,
        runs,
        warnings,
    })
}

/// A table with known keys.
fn section<'a>(file: &'a Object, name: &str, known: &[&str]) -> Result<&'a Object, String> {
    let table = file.get(name).and_then(Value::as_object).ok_or_else(|| format!("the table {name} is missing"))?;
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(table),
        Some(key) => {
            let short: String = key.chars().take(60).collect();
            let hint = nearest(&short, known.iter().copied())
                .map_or_else(|| format!("write one of {}", known.join(", ")), |near| format!("did you mean {near}?"));
            Err(format!("{name}: unknown key {}, {hint}", short.escape_debug()))
        }
    }
}

/// A whole number from 1 on under one of some names.
fn whole(table: &Object, place: &str, names: &[&str]) -> Result<usize, String> {
    let (name, value) = names
        .iter()
        .find_map(|name| Some((name, table.get(*name)?)))
        .ok_or_else(|| format!("{place}: the key {} is missing", names[0]))?;
    let number = value.as_u64().and_then(|n| usize::try_from(n).ok()).filter(|&n| n > 0);
    number.ok_or_else(|| format!("{place}: {name} is {value}, write a whole number from 1 on"))
}

/// Forward times of head, body and tail.
fn times(file: &Object) -> Result<Option<[f64; 3]>, String> {
    if !file.get("time_config").is_some_and(Value::is_object) {
        return Ok(None);
    }
    let table = section(file, "time_config", &["head", "body", "tail"])?;
    let time = |name: &str| {
        let time = table.get(name).and_then(Value::as_f64).filter(|t| t.is_finite() && *t >= 0.0);
        time.ok_or_else(|| format!("time_config: {name} must be a number from 0 on"))
    };
    Ok(Some([time("head")?, time("body")?, time("tail")?]))
}

/// How many runs there are: as many as lists of offsets, or of measured stages.
fn runs(pipeline: &Object, memory: &Object) -> Result<usize, String> {
    let nested = |value: Option<&Value>| {
        let rows = value.and_then(Value::as_array).filter(|rows| rows.iter().any(Value::is_array))?;
        Some(rows.len())
    };
    let body = memory.get("body_memories").and_then(|body| body.get("stage_id"));
    let count = match (nested(pipeline.get("offset")), nested(body)) {
        (Some(a), Some(b)) if a != b => return Err(format!("offset is of {a} runs, and stage_id of {b}")),
        (a, b) => a.or(b).unwrap_or(1),
    };
    match count {
        0..=MOST_RUNS => Ok(count),
        _ => Err(format!("{count} runs are too many, {MOST_RUNS} are read at most")),
    }
}

/// The sizes that all lists share.
struct Runs {
    stages: usize,
    layers: usize,
    count: usize,
}

impl Runs {
    /// What a key has for each run: its rows where it is a list of lists, itself for a run alone, or what is no list.
    fn rows<'a>(&self, value: &'a Value, name: &str) -> Result<Vec<&'a Value>, String> {
        match value.as_array() {
            Some(rows) if rows.iter().any(Value::is_array) || self.count > 1 => match rows.len() {
                n if n == self.count => Ok(rows.iter().collect()),
                n => Err(format!("{name}: {n} lists for {} runs", self.count)),
            },
            _ => Ok(vec![value; self.count]),
        }
    }

    /// Layers of each stage, by run.
    fn sizes(&self, pipeline: &Object, warnings: &mut Vec<String>) -> Result<Vec<Vec<u32>>, String> {
        let zero = Value::from(0);
        let each = (self.layers / self.stages) as i64;
        let mut sizes = Vec::with_capacity(self.count);
        for (at, row) in self.rows(pipeline.get("offset").unwrap_or(&zero), "offset")?.into_iter().enumerate() {
            let offsets = match row {
                Value::Number(number) if number.as_i64() == Some(0) => vec![0; self.stages],
                _ => self.row(row, "offset")?,
            };
            let size = |offset: &i64| {
                let size = each.checked_add(*offset).and_then(|n| u32::try_from(n).ok()).filter(|&n| n <= MOST_LAYERS);
                size.ok_or_else(|| format!("offset: {offset} does not fit the {each} layers of a stage"))
            };
            let row = offsets.iter().map(size).collect::<Result<Vec<u32>, String>>()?;
            let sum: u64 = row.iter().map(|&n| u64::from(n)).sum();
            if sum != self.layers as u64 {
                let run = at + 1;
                warnings.push(format!(
                    "offset: the stages of run {run} have {sum} layers, and num_layer is {}",
                    self.layers
                ));
            }
            sizes.push(row);
        }
        Ok(sizes)
    }

    /// Layers of each kind, by run and stage.
    fn counts(&self, recompute: &Object, sizes: &[Vec<u32>]) -> Result<Vec<Vec<Vec<u32>>>, String> {
        let [full, select, comm] = ["recompute", "select_recompute", "select_comm_recompute"];
        let [full, select, comm] = [
            self.listed(recompute, full, sizes)?,
            self.listed(recompute, select, sizes)?,
            self.listed(recompute, comm, sizes)?,
        ];
        let stage = |run: usize, s: usize| {
            let (layers, full, select, comm) = (sizes[run][s], full[run][s], select[run][s], comm[run][s]);
            let both = select.min(comm).saturating_sub(full);
            let [selective, communication] = [select, comm].map(|listed| listed.saturating_sub(full + both));
            let named = full + both + selective + communication;
            let none = layers.checked_sub(named).ok_or_else(|| {
                format!("recompute_config: {named} layers of stage {s} in run {}, which has {layers}", run + 1)
            })?;
            Ok(vec![none, selective, communication, both, full])
        };
        (0..self.count).map(|run| (0..self.stages).map(|s| stage(run, s)).collect()).collect()
    }

    /// A cumulative list, by run and stage.
    fn listed(&self, recompute: &Object, name: &str, sizes: &[Vec<u32>]) -> Result<Vec<Vec<u32>>, String> {
        let none = Value::Bool(false);
        let rows = self.rows(recompute.get(name).unwrap_or(&none), name)?;
        let row = |(run, row): (usize, &Value)| match row {
            Value::Null | Value::Bool(false) => Ok(vec![0; self.stages]),
            Value::Number(number) if number.as_i64() == Some(0) => Ok(vec![0; self.stages]),
            Value::Bool(true) => Ok(sizes[run].clone()),
            row => {
                let count = |(s, n): (usize, &i64)| {
                    let count = u32::try_from(*n).ok().filter(|&n| n <= sizes[run][s]);
                    count.ok_or_else(|| {
                        format!("{name}: {n} of the {} layers of stage {s} in run {}", sizes[run][s], run + 1)
                    })
                };
                self.row(row, name)?.iter().enumerate().map(count).collect()
            }
        };
        rows.into_iter().enumerate().map(row).collect()
    }

    /// A list of whole numbers by stage.
    fn row(&self, value: &Value, name: &str) -> Result<Vec<i64>, String> {
        let row = value.as_array().filter(|row| row.len() == self.stages);
        let row = row.ok_or_else(|| format!("{name}: {} is no list of {} numbers", short(value), self.stages))?;
        let number =
            |value: &Value| value.as_i64().ok_or_else(|| format!("{name}: {} is no whole number", short(value)));
        row.iter().map(number).collect()
    }

    /// The peak of each stage, by run.
    fn peaks(&self, memory: &Object, counts: &[Vec<Vec<u32>>]) -> Result<Vec<Vec<Option<f64>>>, String> {
        let mut peaks = vec![vec![None; self.stages]; self.count];
        self.bodies(memory, &mut peaks)?;
        for (name, stage) in [("head_memory", 0), ("tail_memory", self.stages - 1)] {
            let value = memory.get(name).ok_or_else(|| format!("memory_usage: the key {name} is missing"))?;
            if let Value::Array(values) = value {
                if values.len() != self.count {
                    return Err(format!("{name}: {} peaks for {} runs", values.len(), self.count));
                }
                for (run, value) in values.iter().enumerate() {
                    peaks[run][stage] = peak(value, name)?;
                }
                continue;
            }
            if counts.iter().any(|run| run[stage] != counts[0][stage]) {
                return Err(format!(
                    "{name}: one peak for runs in which stage {stage} holds different layers; write a list with a peak \
                     for each run, or \"-\""
                ));
            }
            peaks[0][stage] = peak(value, name)?;
        }
        Ok(peaks)
    }

    /// Peaks of the stages between the first and the last.
    fn bodies(&self, memory: &Object, peaks: &mut [Vec<Option<f64>>]) -> Result<(), String> {
        let body = section(memory, "body_memories", &["stage_id", "memories"])?;
        let of = |name: &str| body.get(name).ok_or_else(|| format!("body_memories: the key {name} is missing"));
        let (ids, values) = (self.rows(of("stage_id")?, "stage_id")?, self.rows(of("memories")?, "memories")?);
        for (run, (ids, values)) in ids.into_iter().zip(values).enumerate() {
            let (ids, values) = (list(ids, "stage_id")?, list(values, "memories")?);
            if ids.len() != values.len() {
                return Err(format!(
                    "body_memories: {} stages and {} memories in run {}",
                    ids.len(),
                    values.len(),
                    run + 1
                ));
            }
            for (id, value) in ids.iter().zip(values) {
                let stage = id.as_u64().filter(|&s| s > 0 && s + 1 < self.stages as u64);
                let stage = stage.ok_or_else(|| {
                    format!("stage_id: {} is no stage between the first and the last of {}", short(id), self.stages)
                })?;
                let slot = &mut peaks[run][stage as usize];
                if slot.is_some() {
                    return Err(format!("stage_id: stage {stage} is there twice in run {}", run + 1));
                }
                *slot = peak(value, "memories")?;
            }
        }
        Ok(())
    }
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{name}: {} is no list", short(value)))
}

/// A peak in MB, none for "-".
fn peak(value: &Value, name: &str) -> Result<Option<f64>, String> {
    if value.is_null() || value.as_str() == Some("-") {
        return Ok(None);
    }
    let number = value.as_f64().filter(|peak| peak.is_finite() && *peak >= 0.0);
    number.map(Some).ok_or_else(|| format!("{name}: {} is no number from 0 on", short(value)))
}

/// The start of a value, for messages.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
