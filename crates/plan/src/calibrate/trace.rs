//! Chrome trace events (JSON): what PyTorch's profiler, Ascend's and most tracing tools write.
//!
//! An object with `traceEvents`, or the list of events itself, whose last bracket may be missing. Events are complete (`X`) or
//! begin and end (`B`, `E`), times are in µs, as numbers or as texts. An event is about a layer by its name ([`super::names`]), or by
//! `direction` and `layer` (and `recompute`) among its `args`. In PyTorch's traces ranges of `record_function` are there twice, on
//! the host (`user_annotation`) and on the streams of the device (`gpu_user_annotation`); see [`super::times`].

use super::events::{Event, Events, Numbers};
use super::names::{Direction, Name};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;

/// Categories of PyTorch's events that are single operations: `aten::linear_backward` is no layer.
const OPERATIONS: [&str; 8] =
    ["cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "python_function", "Trace"];

pub(super) fn read(text: &str) -> Result<Events, String> {
    let mut reading = Reading::default();
    let list = text.trim_end();
    // Tools that are killed leave the list open, which the format allows.
    let closed;
    let text = if list.starts_with('[') && !list.ends_with(']') {
        closed = format!("{}]", list.trim_end_matches(','));
        &closed
    } else {
        list
    };
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Top(&mut reading).deserialize(&mut json).and_then(|()| json.end());
    // An error of our own comes through the parser, which adds where it is.
    read.map_err(|e| e.to_string())?;
    if !reading.found {
        return Err("no list of traceEvents is in it".to_owned());
    }
    Ok(reading.events)
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    events: Events,
    found: bool,
    processes: Numbers,
    threads: Numbers,
    /// Begun and not yet ended, by thread.
    open: BTreeMap<(u32, u32), Vec<Option<Begun>>>,
}

/// A begin that is about a layer.
struct Begun {
    name: Name,
    /// In µs.
    start: f64,
    rank: u8,
    id: Option<u64>,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    name: Loose,
    #[serde(default)]
    ph: Loose,
    #[serde(default)]
    cat: Loose,
    #[serde(default)]
    pid: Loose,
    #[serde(default)]
    tid: Loose,
    #[serde(default)]
    ts: Loose,
    #[serde(default)]
    dur: Loose,
    #[serde(default)]
    args: Args,
}

impl Reading {
    fn add(&mut self, raw: &Raw) -> Result<(), String> {
        self.events.timed = true;
        let kind = raw.ph.text();
        if !["X", "B", "E"].contains(&kind) {
            return Ok(());
        }
        let lane = (self.processes.of(&raw.pid.shown()), self.threads.of(&raw.tid.shown()));
        if kind == "E" {
            let begun = self.open.get_mut(&lane).and_then(Vec::pop).flatten();
            let Some(Begun { name, start, rank, id }) = begun else { return Ok(()) };
            let duration = time(&raw.ts, "ts", &raw.name)? - start;
            return self.push(Event { name, rank, lane, id, start: start / 1000.0, duration: duration / 1000.0 });
        }
        let operation = OPERATIONS.contains(&raw.cat.text());
        let name = raw.args.name().or_else(|| Name::parse(raw.name.text()).filter(|_| !operation));
        let rank = match raw.cat.text() {
            "gpu_user_annotation" => 2,
            "user_annotation" => 1,
            _ => 0,
        };
        let id = raw.args.id;
        let Some(name) = name else {
            self.events.others += 1;
            if kind == "B" {
                self.open.entry(lane).or_default().push(None);
            }
            return Ok(());
        };
        let start = time(&raw.ts, "ts", &raw.name)?;
        if kind == "B" {
            self.open.entry(lane).or_default().push(Some(Begun { name, start, rank, id }));
            return Ok(());
        }
        let duration = time(&raw.dur, "dur", &raw.name)?;
        self.push(Event { name, rank, lane, id, start: start / 1000.0, duration: duration / 1000.0 })
    }

    fn push(&mut self, event: Event) -> Result<(), String> {
        if event.duration < 0.0 {
            let Name { layer, direction, .. } = &event.name;
            return Err(format!("the {} of {layer} takes {} ms", direction.name(), event.duration));
        }
        self.events.all.push(event);
        Ok(())
    }
}

/// A time in µs.
fn time(value: &Loose, key: &str, name: &Loose) -> Result<f64, String> {
    let time = value.number().filter(|time| time.is_finite());
    let name: String = name.text().chars().take(60).collect();
    time.ok_or_else(|| format!("the event {name:?} has no {key} that is a number"))
}

/// A text, a number, or something that is neither.
#[derive(Debug, Default)]
enum Loose {
    Text(String),
    Number(f64),
    #[default]
    Other,
}

impl Loose {
    fn text(&self) -> &str {
        if let Loose::Text(text) = self { text } else { "" }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Loose::Text(text) => text.trim().parse().ok(),
            Loose::Number(number) => Some(*number),
            Loose::Other => None,
        }
    }

    fn shown(&self) -> String {
        match self {
            Loose::Text(text) => text.clone(),
            Loose::Number(number) => number.to_string(),
            Loose::Other => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Loose, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Loose, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Loose, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }
}

/// What is of interest among the arguments of an event.
#[derive(Debug, Default)]
struct Args {
    id: Option<u64>,
    layer: Option<String>,
    direction: Option<String>,
    recompute: Option<String>,
}

impl Args {
    fn name(&self) -> Option<Name> {
        let direction = Direction::of_word(self.direction.as_deref()?)?;
        Some(Name { layer: self.layer.clone()?, direction, recompute: self.recompute.clone() })
    }
}

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Args, D::Error> {
        struct ArgsVisitor;
        impl<'de> Visitor<'de> for ArgsVisitor {
            type Value = Args;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("arguments")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Args, A::Error> {
                let mut args = Args::default();
                while let Some(key) = map.next_key::<String>()? {
                    let value = map.next_value::<Loose>()?;
                    let text = || Some(value.shown()).filter(|text| !text.is_empty());
                    match key.as_str() {
                        "External id" => args.id = value.number().filter(|id| *id >= 0.0).map(|id| id as u64),
                        "layer" => args.layer = text(),
                        "direction" => args.direction = text(),
                        "recompute" => args.recompute = text(),
                        _ => {}
                    }
                }
                Ok(args)
            }

            fn visit_unit<E>(self) -> Result<Args, E> {
                Ok(Args::default())
            }

            fn visit_str<E>(self, _: &str) -> Result<Args, E> {
                Ok(Args::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Args, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Args::default())
            }
        }
        deserializer.deserialize_any(ArgsVisitor)
    }
}

/// The whole file.
struct Top<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for Top<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Top<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("trace events: an object with traceEvents, or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "traceEvents" {
                map.next_value_seed(List(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
        List(self.0).visit_seq(list)
    }
}

/// The list of events.
struct List<'r>(&'r mut Reading);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.found = true;
        while let Some(raw) = list.next_element::<Raw>()? {
            self.0.add(&raw).map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}
