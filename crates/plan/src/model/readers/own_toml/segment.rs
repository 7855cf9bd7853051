//! Segments with measured costs.

use super::pins::{self, Pin};
use crate::model::readers::Options;
use crate::model::{KindCost, Role, Segment};
use crate::toml_table::{Table, unknown};

const KEYS: [&str; 11] = [
    "name",
    "kind",
    "count",
    "forward",
    "backward",
    "weight",
    "parameters_mem",
    "activation",
    "extra",
    "transient",
    "pin",
];

/// Most layers of a model.
const MOST: u64 = 1 << 31;

/// Most segments of a model.
const SEGMENTS: usize = 1024;

/// What the layers of a segment are.
struct LayerKind {
    name: &'static str,
    /// Where they lie if they are not pinned.
    role: Role,
    /// Whether they may take no time.
    timeless: bool,
}

const fn layer_kind(name: &'static str, role: Role, timeless: bool) -> LayerKind {
    LayerKind { name, role, timeless }
}

static LAYER_KINDS: [LayerKind; 9] = [
    layer_kind("embedding", Role::Head, true),
    layer_kind("dense", Role::Body, false),
    layer_kind("moe", Role::Body, false),
    layer_kind("mla-dense", Role::Body, false),
    layer_kind("mla-moe", Role::Body, false),
    layer_kind("mtp", Role::Mtp, false),
    layer_kind("loss", Role::Tail, true),
    layer_kind("vision", Role::Body, false),
    layer_kind("custom", Role::Body, true),
];

/// Every `[[segment]]`, in order; `kinds` are the names of the kinds of recomputation.
pub(super) fn read_all(top: &Table<'_>, kinds: &[String], options: &Options) -> Result<Vec<Segment>, String> {
    let tables = top.tables("segment")?;
    if tables.is_empty() {
        return Err(top.wrong("segment", "there is no segment, write [[segment]] for each run of equal layers"));
    }
    if tables.len() > SEGMENTS {
        let what = format!("{} segments, and {SEGMENTS} is the most: equal layers are one segment", tables.len());
        return Err(top.wrong("segment", what));
    }
    let (mut segments, mut pins, mut layers): (Vec<Segment>, Vec<(Pin, bool)>, u64) = (Vec::new(), Vec::new(), 0);
    for table in &tables {
        let name = table.name("name")?.ok_or_else(|| table.wrong("name", "the key name is missing"))?;
        if segments.iter().any(|other| other.name == name) {
            return Err(table.wrong("name", format!("there are two segments called {name}")));
        }
        let place = format!("segment {name}");
        let table = table.named(&place);
        let (segment, pin) = segment(&table, name, kinds, options)?;
        layers += u64::from(segment.count);
        if layers >= MOST {
            return Err(table.wrong("count", "the model has 2^31 layers or more"));
        }
        segments.push(segment);
        let kind = table.text("kind")?.unwrap_or_default();
        pins.push((pin, !["embedding", "vision", "custom", "loss"].contains(&kind)));
    }
    pins::place(&mut segments, &pins).map_err(|(at, what)| {
        let place = format!("segment {}", segments[at].name);
        tables[at].named(&place).wrong("pin", what)
    })?;
    Ok(segments)
}

fn segment(table: &Table<'_>, name: &str, kinds: &[String], options: &Options) -> Result<(Segment, Pin), String> {
    table.only(&KEYS)?;
    let names = LAYER_KINDS.each_ref().map(|kind| kind.name);
    let kind = table.word("kind", &names)?;
    let kind = LAYER_KINDS.iter().find(|known| Some(known.name) == kind);
    let kind =
        kind.ok_or_else(|| table.wrong("kind", format!("kind is missing, write one of {}", names.join(", "))))?;
    let missing: Vec<&str> =
        ["forward", "parameters_mem", "activation"].into_iter().filter(|key| !table.has(key)).collect();
    if !missing.is_empty() {
        let what = format!(
            "no {}: costs cannot be derived from the architecture yet, so write measured ones",
            missing.join(", no ")
        );
        return Err(table.wrong("", what));
    }
    let pin =
        table.text("pin")?.map_or(Ok(Pin::Default), |text| pins::parse(text).map_err(|e| table.wrong("pin", e)))?;
    let [forward, backward, weight] = times(table, kind)?;
    let segment = Segment {
        name: name.to_owned(),
        role: kind.role,
        count: table.count("count")?.unwrap_or(1),
        forward,
        backward,
        weight,
        parameters: table.number("parameters_mem")?.unwrap_or_default(),
        kinds: costs(table, forward, kinds, options)?,
    };
    Ok((segment, pin))
}

/// Forward, backward, and the part of it that is the gradient of the weights.
fn times(table: &Table<'_>, kind: &LayerKind) -> Result<[f64; 3], String> {
    let forward = table.number("forward")?.unwrap_or_default();
    let backward = table.number("backward")?.unwrap_or(2.0 * forward);
    let weight = table.number("weight")?.unwrap_or(backward / 2.0);
    for (key, value) in [("forward", forward), ("backward", backward)] {
        if value == 0.0 && !kind.timeless {
            return Err(table.wrong(key, format!("{key} is 0, and a layer of the kind {} takes time", kind.name)));
        }
    }
    if !backward.is_finite() {
        return Err(table.wrong("forward", format!("forward is {forward:e}, which is too large")));
    }
    if weight > backward {
        return Err(
            table.wrong("weight", format!("weight is {weight}, and it is a part of the backward of {backward}"))
        );
    }
    Ok([forward, backward, weight])
}

/// The kinds of recomputation, the one that keeps most first.
fn costs(table: &Table<'_>, forward: f64, known: &[String], options: &Options) -> Result<Vec<KindCost>, String> {
    let activation = table.by_name("activation")?.unwrap_or_default();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let Some(&(_, most)) = activation.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Err(table.wrong("activation", "activation is empty, write at least { none = .. }"));
    };
    let none = activation.iter().find(|(name, _)| *name == "none").map(|&(_, kept)| kept);
    for &(name, kept) in &activation {
        if !known.contains(&name) {
            let what = unknown("kind of recomputation", name, &known);
            return Err(table.wrong("activation", format!("{what} (a kind of your own needs a [[recompute]])")));
        }
        if none.is_some_and(|none| kept > none) {
            let what = format!("activation.{name} is {kept}, and a kind of recomputation keeps no more than none does");
            return Err(table.wrong("activation", what));
        }
    }
    let own: Vec<&str> = activation.iter().map(|&(name, _)| name).collect();
    let extra = table.by_name("extra")?.unwrap_or_default();
    let transient = transients(table, &own)?;
    same_kinds(table, "extra", &extra, &own)?;
    let mut kinds = Vec::with_capacity(own.len());
    for (name, kept) in activation {
        let extra = extra_of(table, name, forward, &extra)?;
        let default = if options.transient { none.unwrap_or(most) - kept } else { 0.0 };
        let transient = transient(name).unwrap_or(default);
        kinds.push(KindCost { name: name.to_owned(), activation: kept, extra, transient });
    }
    // Of two that keep the same the quicker one comes first, then the one that stands first in the file.
    kinds.sort_by(|a, b| b.activation.total_cmp(&a.activation).then(a.extra.total_cmp(&b.extra)));
    Ok(kinds)
}

/// Refuses numbers of kinds that the segment does not have.
fn same_kinds(table: &Table<'_>, key: &str, numbers: &[(&str, f64)], own: &[&str]) -> Result<(), String> {
    let stranger = numbers.iter().find(|(name, _)| !own.contains(name));
    stranger.map_or(Ok(()), |(name, _)| {
        let what = unknown("kind", name, own);
        Err(table.wrong(key, format!("{key}: {what} (the kinds of a segment are those of its activation)")))
    })
}

/// Time that a kind adds to the backward: what is written; without that none for `none`, and the forward for `full`, which
/// runs it again.
fn extra_of(table: &Table<'_>, kind: &str, forward: f64, extra: &[(&str, f64)]) -> Result<f64, String> {
    match (kind, extra.iter().find(|(name, _)| *name == kind)) {
        ("none", Some(&(_, time))) if time > 0.0 => {
            Err(table.wrong("extra", format!("extra.none is {time}, and nothing is recomputed with none")))
        }
        (_, Some(&(_, time))) => Ok(time),
        ("none", None) => Ok(0.0),
        ("full", None) => Ok(forward),
        (_, None) => {
            Err(table.wrong("extra", format!("extra.{kind} is missing, the time that {kind} adds to the backward")))
        }
    }
}

/// Memory that the backward of a kind needs on top, where it is written: by kind, or one number for all kinds but none.
fn transients<'d>(table: &Table<'d>, own: &[&str]) -> Result<impl Fn(&str) -> Option<f64> + use<'d>, String> {
    let (all, named) = if table.is_table("transient") {
        (None, table.by_name("transient")?.unwrap_or_default())
    } else {
        (table.number("transient")?, Vec::new())
    };
    same_kinds(table, "transient", &named, own)?;
    if all.is_some_and(|all| all > 0.0) && own == ["none"] {
        let what = "transient is memory of recomputed layers, and the segment has the kind none alone";
        return Err(table.wrong("transient", what));
    }
    Ok(move |kind: &str| {
        let own = named.iter().find(|(name, _)| *name == kind).map(|&(_, memory)| memory);
        own.or(all.filter(|_| kind != "none"))
    })
}
