//! The planner's own model description: TOML with units, the segments of the model in order, and what each stage has besides.
//!
//! Every segment carries measured costs. The keys of the architecture are read and checked, and nothing is derived from them
//! yet. `toml_table` takes values by name and type, `segment` makes segments of them, `pins` says where these may lie.

mod pins;
mod segment;

use super::{Entry, Options};
use crate::model::{MemoryUnit, Model};
use crate::recompute;
use crate::toml_table::{Lines, Table};
use toml::de::DeTable;

pub(super) const ENTRY: Entry = Entry {
    name: "toml",
    summary: "the planner's own description (TOML): segments with measured times and memory, pins, constants",
    recognises,
    read,
};

const SECTIONS: [&str; 6] = ["unit", "model", "segment", "recompute", "const", "link"];
const TIMES: [&str; 4] = ["s", "ms", "us", "ns"];

/// Keys of `[model]` that are whole numbers.
const COUNTS: [&str; 12] = [
    "seq",
    "hidden",
    "heads",
    "kv_groups",
    "head_dim",
    "ffn",
    "vocab",
    "positions",
    "experts",
    "active_experts",
    "expert_ffn",
    "shared_ffn",
];
const FLAGS: [&str; 3] = ["tied", "bias", "qk_norm"];
const WORDS: [(&str, &[&str]); 3] =
    [("attention", &["flash", "core"]), ("norm", &["rms", "layer"]), ("activation", &["swiglu", "gelu"])];
const LATENT: [&str; 5] = ["q", "kv", "nope", "rope", "v"];

/// Whether a line is the header of one of the tables that only this format has.
fn recognises(text: &str) -> bool {
    let header = |line: &str| {
        let name = line.trim_start().strip_prefix('[')?.trim_start_matches('[').split(']').next()?.trim();
        ["unit", "model", "segment", "recompute"].contains(&name).then_some(())
    };
    !text.trim_start().starts_with('{') && text.lines().any(|line| header(line).is_some())
}

fn read(text: &str, options: &Options) -> Result<Model, String> {
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|e| {
        let line = lines.of(e.span().map_or(text.len(), |span| span.start));
        format!("line {line}: {}", e.message())
    })?;
    let top = Table::document(&lines, &document);
    top.only(&SECTIONS)?;
    let (time_unit, memory_unit) = units(&top)?;
    let name = architecture(&top)?;
    let own = kinds(&top)?;
    let built_in = recompute::all().map(|kind| kind.name.to_owned());
    let known: Vec<String> = built_in.chain(own.iter().cloned()).collect();
    let segments = segment::read_all(&top, &known, options)?;
    let used = |kind: &&String| segments.iter().any(|segment| segment.kinds.iter().any(|cost| cost.name == **kind));
    let unused = own.iter().filter(|kind| !used(kind));
    let warnings = unused.map(|kind| format!("no segment has the kind {kind} of recomputation")).collect();
    let (constant, tails) = constants(&top)?;
    Ok(Model { name, segments, constant, tails, link: link(&top)?, time_unit, memory_unit, warnings })
}

/// Units of time and memory; without one, numbers are plain.
fn units(top: &Table<'_>) -> Result<(Option<String>, MemoryUnit), String> {
    let Some(unit) = top.table("unit")? else { return Ok((None, MemoryUnit::Raw)) };
    unit.only(&["time", "memory"])?;
    let time = unit.word("time", &TIMES)?.map(str::to_owned);
    let memory = unit.word("memory", &MemoryUnit::NAMED.map(MemoryUnit::name))?;
    let named = |name| MemoryUnit::NAMED.into_iter().find(|unit| unit.name() == name);
    Ok((time, memory.and_then(named).unwrap_or(MemoryUnit::Raw)))
}

/// Checks `[model]`; the model's name.
fn architecture(top: &Table<'_>) -> Result<String, String> {
    let Some(model) = top.table("model")? else { return Ok("model".to_owned()) };
    let words = WORDS.map(|(key, _)| key);
    model.only(&[&["name", "dropout", "mla"], &COUNTS[..], &FLAGS, &words].concat())?;
    COUNTS.iter().try_for_each(|key| model.count(key).map(drop))?;
    FLAGS.iter().try_for_each(|key| model.flag(key).map(drop))?;
    WORDS.iter().try_for_each(|(key, words)| model.word(key, words).map(drop))?;
    if let Some(dropout) = model.number("dropout")?.filter(|&dropout| dropout >= 1.0) {
        return Err(model.wrong("dropout", format!("dropout is {dropout}, write a number below 1")));
    }
    if let Some(latent) = model.table("mla")? {
        latent.only(&LATENT)?;
        LATENT.iter().try_for_each(|key| latent.count(key).map(drop))?;
    }
    Ok(model.name("name")?.unwrap_or("model").to_owned())
}

/// Names of the user's kinds of recomputation.
fn kinds(top: &Table<'_>) -> Result<Vec<String>, String> {
    let mut names: Vec<String> = Vec::new();
    for table in top.tables("recompute")? {
        table.only(&["name", "drops", "repeats"])?;
        let name = table.name("name")?.ok_or_else(|| table.wrong("name", "the key name is missing"))?;
        if recompute::all().any(|kind| kind.name == name) {
            return Err(table.wrong("name", format!("{name} is a built-in kind, take another name")));
        }
        if names.iter().any(|other| other == name) {
            return Err(table.wrong("name", format!("there are two kinds called {name}")));
        }
        table.texts("drops")?;
        table.texts("repeats")?;
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Memory that stages have besides their layers, and work at their end.
fn constants(top: &Table<'_>) -> Result<(Vec<f64>, Vec<f64>), String> {
    let Some(constants) = top.table("const")? else { return Ok((Vec::new(), Vec::new())) };
    constants.only(&["memory", "per_stage", "tail"])?;
    if constants.has("memory") && constants.has("per_stage") {
        return Err(
            constants.wrong("per_stage", "memory and per_stage are the same for one stage and for each: keep one")
        );
    }
    let all = constants.number("memory")?.map(|memory| vec![memory]);
    let memory = all.or(constants.list("per_stage")?).unwrap_or_default();
    Ok((memory, constants.numbers("tail")?.unwrap_or_default()))
}

/// Time of a transfer between neighbouring stages.
fn link(top: &Table<'_>) -> Result<f64, String> {
    let Some(link) = top.table("link")? else { return Ok(0.0) };
    link.only(&["time"])?;
    Ok(link.number("time")?.unwrap_or(0.0))
}
