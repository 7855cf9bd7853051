//! The planner's own TOML of measured runs: sizes and kinds once, then a `[[run]]` with layers, kinds and peaks for each run.
//!
//! Lists have a number for each stage; with several chunks they are lists of such lists, one for each chunk. Counts of kinds
//! are not cumulative: what no kind names keeps all activations.

use super::measured::{Constant, MOST_LAYERS, Measured, Run, virtual_stages};
use crate::schedule::Grouping;
use sapwood_machine::{nearest, units};
use toml::Spanned;
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

type Value<'d> = Spanned<DeValue<'d>>;

/// A table that is being read.
#[derive(Clone, Copy)]
struct Table<'d> {
    text: &'d str,
    table: &'d DeTable<'d>,
    /// `run 2: `, or nothing.
    place: &'d str,
}

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let document = DeTable::parse(text).map_err(|e| {
        let line = line(text, e.span().map_or(text.len(), |span| span.start));
        format!("line {line}: {}", e.message())
    })?;
    let top = Table { text, table: document.get_ref(), place: "" };
    top.only(&KEYS)?;
    let stages = top.count("stages")?.ok_or("the key stages is missing")?;
    let chunks = top.count("chunks")?.unwrap_or(1);
    virtual_stages(stages, chunks).map_err(|what| top.wrong("stages", &what))?;
    let default = if chunks > 1 { "interleaved" } else { "1f1b" };
    let mut measured = Measured {
        stages,
        chunks,
        schedule: top.word("schedule")?.unwrap_or(default).to_owned(),
        micro_batches: top.count("micro_batches")?,
        group: top.count("group")?.map_or(Grouping::First, Grouping::Uniform),
        kinds: kinds(top)?,
        all_kinds: true,
        constant: if top.flag("constant")?.unwrap_or(true) { Constant::Yes } else { Constant::No },
        transient: top.flag("transient")?.unwrap_or(false),
        unit: unit(top)?,
        times: None,
        runs: Vec::new(),
        warnings: Vec::new(),
    };
    let total = top.count("layers")?;
    for (at, run) in top.runs()?.into_iter().enumerate() {
        let place = format!("run {}: ", at + 1);
        let run = self::run(Table { text, table: run, place: &place }, &measured, total)?;
        measured.runs.push(run);
    }
    Ok(measured)
}

/// The kinds, `none` first.
fn kinds(top: Table<'_>) -> Result<Vec<String>, String> {
    let mut kinds = vec![NONE.to_owned()];
    for value in top.list("kinds")?.unwrap_or_default() {
        let name = value.get_ref().as_str().filter(|name| !name.is_empty() && !name.chars().any(char::is_control));
        let name = name.ok_or_else(|| top.at(value, "kinds must be names in quotes"))?;
        if ["layers", "peak"].contains(&name) {
            return Err(top.at(value, &format!("{name} is no kind, it is a key of a run")));
        }
        if kinds[1..].iter().any(|other| other == name) {
            return Err(top.at(value, &format!("the kind {name} is there twice")));
        }
        if name != NONE {
            kinds.push(name.to_owned());
        }
    }
    Ok(kinds)
}

fn unit(top: Table<'_>) -> Result<Option<String>, String> {
    let Some(value) = top.table.get("unit") else { return Ok(None) };
    let table = value.get_ref().as_table().ok_or_else(|| top.wrong("unit", "unit must be a table, write [unit]"))?;
    let unit = Table { table, place: "[unit] ", ..top };
    unit.only(&["memory"])?;
    let Some(name) = unit.word("memory")? else { return Ok(None) };
    match units::bytes(&format!("1 {name}")) {
        Ok(_) => Ok(Some(name.to_owned())),
        Err(_) => {
            Err(unit.wrong("memory", &format!("{name:?} is no unit of memory, write one such as \"MB\" or \"GiB\"")))
        }
    }
}

fn run(table: Table<'_>, measured: &Measured, total: Option<usize>) -> Result<Run, String> {
    let names: Vec<&str> = measured.kinds.iter().map(String::as_str).collect();
    table.only(&[&["layers", "peak"], &names[..]].concat())?;
    let virtual_stages = measured.stages * measured.chunks;
    let layers = match (table.counts("layers", measured)?, total) {
        (Some(layers), _) => layers,
        (None, Some(total)) if total.is_multiple_of(virtual_stages) => {
            vec![u32::try_from(total / virtual_stages).unwrap_or(u32::MAX); virtual_stages]
        }
        (None, _) => {
            return Err(table.wrong("layers", "the key layers is missing, and cannot be an equal share of all"));
        }
    };
    let sum: u64 = layers.iter().map(|&n| u64::from(n)).sum();
    if let Some(total) = total.filter(|&total| total as u64 != sum) {
        return Err(table.wrong("layers", &format!("its stages have {sum} layers together, and layers says {total}")));
    }
    let mut counts: Vec<Vec<u32>> = vec![vec![0; names.len()]; virtual_stages];
    for (kind, name) in names.iter().enumerate() {
        for (at, count) in table.counts(name, measured)?.unwrap_or_default().into_iter().enumerate() {
            counts[at][kind] = count;
        }
    }
    let explicit = table.table.contains_key(NONE);
    for (at, counts) in counts.iter_mut().enumerate() {
        let (named, there) = (counts.iter().map(|&n| u64::from(n)).sum::<u64>(), layers[at]);
        if named > u64::from(there) || explicit && named < u64::from(there) {
            let (stage, chunk) = (at % measured.stages, at / measured.stages);
            let what = format!("stage {stage} chunk {chunk} has {there} layers, and its kinds are {named} together");
            return Err(table.wrong(names.iter().find(|name| table.table.contains_key(**name)).unwrap_or(&NONE), &what));
        }
        counts[0] += there - u32::try_from(named).unwrap_or(there);
    }
    Ok(Run { counts, peaks: table.peaks(measured.stages)? })
}

impl<'d> Table<'d> {
    /// A message about `key`, or about the whole table where it has no such key.
    fn wrong(self, key: &str, what: &str) -> String {
        match self.table.get_key_value(key) {
            Some((_, value)) => self.at(value, what),
            None => format!("{}{what}", self.place),
        }
    }

    fn at(self, value: &Value<'_>, what: &str) -> String {
        format!("line {}: {}{what}", line(self.text, value.span().start), self.place)
    }

    fn only(self, known: &[&str]) -> Result<(), String> {
        let Some(key) = self.table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) else { return Ok(()) };
        let line = line(self.text, key.span().start);
        let name: String = key.get_ref().chars().take(60).collect();
        let hint = match nearest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("write one of {}", known.join(", ")),
        };
        Err(format!("line {line}: {}unknown key {}, {hint}", self.place, name.escape_debug()))
    }

    fn word(self, key: &str) -> Result<Option<&'d str>, String> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let word = value.get_ref().as_str().filter(|word| !word.is_empty());
        word.map(Some).ok_or_else(|| self.at(value, &format!("{key} must be a name in quotes")))
    }

    fn flag(self, key: &str) -> Result<Option<bool>, String> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        value.get_ref().as_bool().map(Some).ok_or_else(|| self.at(value, &format!("{key} must be true or false")))
    }

    /// A whole number from 1 on.
    fn count(self, key: &str) -> Result<Option<usize>, String> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let count = whole(value).filter(|&n| n > 0);
        count
            .map(|n| Some(n as usize))
            .ok_or_else(|| self.at(value, &format!("{key} must be a whole number from 1 on")))
    }

    fn list(self, key: &str) -> Result<Option<&'d [Value<'d>]>, String> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let list = value.get_ref().as_array();
        list.map(|list| Some(&list[..])).ok_or_else(|| self.at(value, &format!("{key} must be a list")))
    }

    fn runs(self) -> Result<Vec<&'d DeTable<'d>>, String> {
        let missing = || self.wrong("run", "there is no run, write [[run]] for each measured one");
        let list = self.list("run").map_err(|_| missing())?.filter(|list| !list.is_empty()).ok_or_else(missing)?;
        list.iter().map(|value| value.get_ref().as_table().ok_or_else(missing)).collect()
    }

    /// Counts of layers by chunk × stages + stage: a list by stage, or such a list for each chunk.
    fn counts(self, key: &str, measured: &Measured) -> Result<Option<Vec<u32>>, String> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let nested = list.iter().all(|value| value.get_ref().is_array()) && !list.is_empty();
        if !nested && measured.chunks > 1 {
            return Err(self.wrong(key, &format!("{key}: write {} lists, one for each chunk", measured.chunks)));
        }
        let rows: Vec<&[Value<'d>]> = if nested {
            list.iter().filter_map(|row| Some(&row.get_ref().as_array()?[..])).collect()
        } else {
            vec![list]
        };
        if rows.len() != measured.chunks {
            return Err(self.wrong(key, &format!("{key}: {} lists for {} chunks", rows.len(), measured.chunks)));
        }
        if let Some(row) = rows.iter().find(|row| row.len() != measured.stages) {
            return Err(self.wrong(key, &format!("{key}: a list of {} for {} stages", row.len(), measured.stages)));
        }
        let count = |value: &Value<'_>| {
            let count = whole(value).and_then(|n| u32::try_from(n).ok()).filter(|&n| n <= MOST_LAYERS);
            count.ok_or_else(|| self.at(value, &format!("{key} must be whole numbers from 0 to {MOST_LAYERS}")))
        };
        rows.into_iter().flatten().map(count).collect::<Result<_, _>>().map(Some)
    }

    /// A peak for each stage, "-" where it was not measured.
    fn peaks(self, stages: usize) -> Result<Vec<Option<f64>>, String> {
        let list = self.list("peak")?.ok_or_else(|| self.wrong("peak", "the key peak is missing"))?;
        if list.len() != stages {
            return Err(self.wrong("peak", &format!("peak: a list of {} for {stages} stages", list.len())));
        }
        let peak = |value: &Value<'_>| {
            if value.get_ref().as_str() == Some("-") {
                return Ok(None);
            }
            let peak = number(value.get_ref()).filter(|peak| peak.is_finite() && *peak >= 0.0);
            peak.map(Some)
                .ok_or_else(|| self.at(value, "peak must be numbers from 0 on, or \"-\" where none was measured"))
        };
        list.iter().map(peak).collect()
    }
}

/// The line of a byte, counted from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

fn whole(value: &Value<'_>) -> Option<u64> {
    let integer = value.get_ref().as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) if integer.radix() == 10 => integer.as_str().parse().ok(),
        DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|n| n as f64),
        _ => None,
    }
}
