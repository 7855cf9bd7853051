//! The planner's own TOML of measured runs: sizes and kinds once, then a `[[run]]` with layers, kinds and peaks for each run.
//!
//! Lists have a number for each stage; with several chunks they are lists of such lists, one for each chunk. Counts of kinds
//! are not cumulative: what no kind names keeps all activations.

use super::measured::{Constant, MOST_LAYERS, Measured, Run, virtual_stages};
use crate::schedule::{self, Grouping};
use crate::toml_table::{Lines, Table, number_of};
use sapwood_machine::units;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 11] = [
    "stages",
    "chunks",
    "layers",
    "schedule",
    "micro_batches",
    "group",
    "kinds",
    "constant",
    "transient",
    "unit",
    "run",
];
const NONE: &str = "none";

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|e| {
        let line = lines.of(e.span().map_or(text.len(), |span| span.start));
        format!("line {line}: {}", e.message())
    })?;
    let top = Table::document(&lines, &document);
    top.only(&KEYS)?;
    let count = |key: &str| Ok::<_, String>(top.count(key)?.map(|n| n as usize));
    let stages = count("stages")?.ok_or("the key stages is missing")?;
    let chunks = count("chunks")?.unwrap_or(1);
    virtual_stages(stages, chunks).map_err(|what| top.wrong("stages", what))?;
    let default = if chunks > 1 { "interleaved" } else { "1f1b" };
    let mut measured = Measured {
        stages,
        chunks,
        schedule: schedule::find(top.name("schedule")?.unwrap_or(default))
            .map(|entry| entry.name.to_owned())
            .map_err(|why| top.wrong("schedule", why))?,
        micro_batches: count("micro_batches")?,
        group: count("group")?.map_or(Grouping::First, Grouping::Uniform),
        kinds: kinds(&top)?,
        all_kinds: true,
        constant: if top.flag("constant")?.unwrap_or(true) { Constant::Yes } else { Constant::No },
        transient: top.flag("transient")?.unwrap_or(false),
        unit: unit(&top)?,
        times: None,
        runs: Vec::new(),
        warnings: Vec::new(),
    };
    let total = count("layers")?;
    let tables = top.tables("run")?;
    if tables.is_empty() {
        return Err(top.wrong("run", "there is no run, write [[run]] for each measured one"));
    }
    for (at, table) in tables.iter().enumerate() {
        let run = run(&table.named(&format!("run {}", at + 1)), &measured, total)?;
        measured.runs.push(run);
    }
    Ok(measured)
}

/// The kinds, `none` first.
fn kinds(top: &Table<'_>) -> Result<Vec<String>, String> {
    let mut kinds = vec![NONE.to_owned()];
    for name in top.texts("kinds")?.unwrap_or_default() {
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(top.wrong("kinds", "kinds must be names of one line"));
        }
        if ["layers", "peak"].contains(&name) {
            return Err(top.wrong("kinds", format!("{name} is no kind, it is a key of a run")));
        }
        if kinds[1..].iter().any(|other| other == name) {
            return Err(top.wrong("kinds", format!("the kind {name} is there twice")));
        }
        if name != NONE {
            kinds.push(name.to_owned());
        }
    }
    Ok(kinds)
}

fn unit(top: &Table<'_>) -> Result<Option<String>, String> {
    let Some(unit) = top.table("unit")? else { return Ok(None) };
    unit.only(&["memory"])?;
    let Some(name) = unit.name("memory")? else { return Ok(None) };
    match units::bytes(&format!("1 {name}")) {
        Ok(_) => Ok(Some(name.to_owned())),
        Err(_) => {
            let what = format!("{name:?} is no unit of memory, write one such as \"MB\" or \"GiB\"");
            Err(unit.wrong("memory", what))
        }
    }
}

fn run(table: &Table<'_>, measured: &Measured, total: Option<usize>) -> Result<Run, String> {
    let names: Vec<&str> = measured.kinds.iter().map(String::as_str).collect();
    table.only(&[&["layers", "peak"], &names[..]].concat())?;
    let layers = layers(table, measured, total)?;
    let mut counts: Vec<Vec<u32>> = vec![vec![0; names.len()]; layers.len()];
    for (kind, name) in names.iter().enumerate() {
        for (at, count) in lists(table, name, measured)?.unwrap_or_default().into_iter().enumerate() {
            counts[at][kind] = count;
        }
    }
    for (at, counts) in counts.iter_mut().enumerate() {
        let (named, there) = (counts.iter().map(|&n| u64::from(n)).sum::<u64>(), layers[at]);
        if named > u64::from(there) || table.has(NONE) && named < u64::from(there) {
            let (stage, chunk) = (at % measured.stages, at / measured.stages);
            let what = format!("stage {stage} chunk {chunk} has {there} layers, and its kinds are {named} together");
            return Err(table.wrong(names.iter().find(|name| table.has(name)).unwrap_or(&NONE), what));
        }
        counts[0] += there - u32::try_from(named).unwrap_or(there);
    }
    Ok(Run { counts, peaks: peaks(table, measured.stages)? })
}

/// Layers of each chunk, by chunk × stages + stage: what the run says, else an equal share of all.
fn layers(table: &Table<'_>, measured: &Measured, total: Option<usize>) -> Result<Vec<u32>, String> {
    let virtual_stages = measured.stages * measured.chunks;
    let layers = match (lists(table, "layers", measured)?, total) {
        (Some(layers), _) => layers,
        (None, Some(total)) if total.is_multiple_of(virtual_stages) => {
            vec![u32::try_from(total / virtual_stages).unwrap_or(u32::MAX); virtual_stages]
        }
        (None, _) => {
            return Err(table.wrong("layers", "the key layers is missing, and cannot be an equal share of all"));
        }
    };
    let sum: u64 = layers.iter().map(|&n| u64::from(n)).sum();
    match total.filter(|&total| total as u64 != sum) {
        Some(total) => {
            Err(table.wrong("layers", format!("its stages have {sum} layers together, and layers says {total}")))
        }
        None => Ok(layers),
    }
}

/// Counts of layers by chunk × stages + stage: a list by stage, or such a list for each chunk.
fn lists(table: &Table<'_>, key: &str, measured: &Measured) -> Result<Option<Vec<u32>>, String> {
    let form = format!("whole numbers from 0 to {MOST_LAYERS}, a list by stage or such a list for each chunk");
    let rows = table.take(key, &form, |value| {
        let list = value.as_array()?;
        if list.iter().any(|value| value.get_ref().is_array()) {
            return list.iter().map(|row| numbers(row.get_ref())).collect::<Option<Vec<_>>>();
        }
        Some(vec![numbers(value)?])
    })?;
    let Some(rows) = rows else { return Ok(None) };
    if rows.len() != measured.chunks {
        let what = format!("{key}: write {} lists, one for each chunk, not {}", measured.chunks, rows.len());
        return Err(table.wrong(key, what));
    }
    match rows.iter().find(|row| row.len() != measured.stages) {
        Some(row) => Err(table.wrong(key, format!("{key}: a list of {} for {} stages", row.len(), measured.stages))),
        None => Ok(Some(rows.concat())),
    }
}

fn numbers(value: &DeValue<'_>) -> Option<Vec<u32>> {
    let number = |value: &DeValue<'_>| {
        let integer = value.as_integer()?;
        u32::from_str_radix(integer.as_str(), integer.radix()).ok().filter(|&n| n <= MOST_LAYERS)
    };
    value.as_array()?.iter().map(|value| number(value.get_ref())).collect()
}

/// A peak for each stage, "-" where it was not measured.
fn peaks(table: &Table<'_>, stages: usize) -> Result<Vec<Option<f64>>, String> {
    let peak = |value: &DeValue<'_>| match value.as_str() {
        Some("-") => Some(None),
        _ => number_of(value).filter(|peak| peak.is_finite() && *peak >= 0.0).map(Some),
    };
    let form = "a list of numbers from 0 on, or \"-\" where none was measured";
    let read = |value: &DeValue<'_>| value.as_array()?.iter().map(|value| peak(value.get_ref())).collect();
    let peaks: Vec<Option<f64>> =
        table.take("peak", form, read)?.ok_or_else(|| table.wrong("peak", "the key peak is missing"))?;
    match peaks.len() {
        n if n == stages => Ok(peaks),
        n => Err(table.wrong("peak", format!("peak: a list of {n} for {stages} stages"))),
    }
}
