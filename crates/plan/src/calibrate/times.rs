//! How long layers take, from traces: for each kind of layer the median of its forwards and of its backwards.
//!
//! An operation is a layer at its place, one way, in one process of one file. Its first occurrences are warm-up and left out.
//! Of what is left of all layers of a kind, durations further than three median absolute deviations from the median are
//! outliers; the median of the others is the answer. A file that has events of devices says how long layers take by those
//! alone, else by annotations of the host, else by all events.

use super::events::{Event, Events, occurrences};
use super::names::{Direction, fits, without_place};
use super::{table, trace};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// How far outliers are, in median absolute deviations.
const FAR: f64 = 3.0;

/// How traces are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Occurrences of each operation that are left out as warm-up.
    pub warm_up: usize,
    /// Kinds of layers with patterns of their layers' names, in which `*` stands for anything; the first that fits counts, and
    /// layers that fit none are left out. Empty: names without numbers are the kinds.
    pub layers: Vec<(String, Vec<String>)>,
    /// The unit of tables that do not tell it: s, ms, us or ns.
    pub unit: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { warm_up: 2, layers: Vec::new(), unit: None }
    }
}

/// Times of kinds of layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// Whether they are in ms; else in the unit of the tables, which do not tell it.
    pub milliseconds: bool,
    /// By kind of layer, in the order of [`Options::layers`], or of names.
    pub layers: Vec<LayerTimes>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Times of a kind of layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerTimes {
    /// Its name.
    pub name: String,
    /// Forward.
    pub forward: Median,
    /// Backward without recomputation; where the gradient of the weights is apart, that of the input alone.
    pub backward: Median,
    /// The gradient of the weights, where it is apart.
    pub weight: Option<Median>,
    /// Backwards with kinds of recomputation.
    pub recompute: Vec<(String, Median)>,
}

/// A median and what it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// The median.
    pub value: f64,
    /// Durations that it is the median of.
    pub count: usize,
    /// Durations that were dropped as outliers.
    pub outliers: usize,
    /// Durations that were dropped as warm-up.
    pub warm_up: usize,
}

/// What is measured of a kind of layer.
type Key = (Direction, Option<String>);

/// Durations after the warm-up, and how many were warm-up.
#[derive(Default)]
struct Sample {
    durations: Vec<f64>,
    warm_up: usize,
}

/// Everything measured: by kind of layer and what it does.
struct Samples<'a> {
    options: &'a Options,
    by_kind: BTreeMap<String, BTreeMap<Key, Sample>>,
    /// Whether the files so far are in ms.
    milliseconds: Option<bool>,
    files: Vec<String>,
}

/// Reads traces (Chrome trace events) and tables (CSV), compressed or not.
///
/// # Errors
/// [`Error::Files`]; [`Error::Measured`] for a file that is neither, or in which no layer is found, and for layers without a
/// forward or a backward.
pub fn read(paths: &[PathBuf], options: &Options) -> Result<Times> {
    let mut samples = Samples::new(options);
    for path in paths {
        samples.add(&path.display().to_string(), &sapwood_files::read(Path::new(path))?)?;
    }
    samples.times()
}

/// The same of bytes with names.
///
/// # Errors
/// [`Error::Measured`].
pub fn parse<'f>(files: impl IntoIterator<Item = (&'f str, &'f [u8])>, options: &Options) -> Result<Times> {
    let mut samples = Samples::new(options);
    for (name, bytes) in files {
        samples.add(name, bytes)?;
    }
    samples.times()
}

impl<'a> Samples<'a> {
    fn new(options: &'a Options) -> Samples<'a> {
        Samples { options, by_kind: BTreeMap::new(), milliseconds: None, files: Vec::new() }
    }

    /// Takes the durations of a file.
    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let wrong = |what: String| Error::Measured { file: name.to_owned(), what };
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
            wrong(format!("line {line}: no UTF-8 text"))
        })?;
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let json = text.starts_with(['{', '[']);
        let events =
            if json { trace::read(text) } else { table::read(text, self.options.unit.as_deref()) }.map_err(wrong)?;
        if *self.milliseconds.get_or_insert(events.timed) != events.timed {
            return Err(wrong("its times have no unit and those of other files do, or the other way round".to_owned()));
        }
        self.files.push(name.to_owned());
        self.take(&events).map_err(wrong)
    }

    fn take(&mut self, events: &Events) -> std::result::Result<(), String> {
        let named = events.all.iter().filter_map(|event| Some((self.kind(&event.name.layer)?, event)));
        let named: Vec<(String, &Event)> = named.collect();
        let Some(rank) = named.iter().map(|(_, event)| event.rank).max() else { return Err(self.none(events)) };
        let mut operations: BTreeMap<(&str, u32, _), Vec<&Event>> = BTreeMap::new();
        for (kind, event) in named.iter().filter(|(_, event)| event.rank == rank) {
            operations.entry((kind, event.lane.0, &event.name)).or_default().push(event);
        }
        for ((kind, _, name), mut events) in operations {
            let all = occurrences(&mut events);
            let warm_up = self.options.warm_up.min(all.len());
            let key = (name.direction, name.recompute.clone());
            let sample = self.by_kind.entry(kind.to_owned()).or_default().entry(key).or_default();
            sample.warm_up += warm_up;
            sample.durations.extend(&all[warm_up..]);
        }
        Ok(())
    }

    /// The kind of a layer, none if it is left out.
    fn kind(&self, layer: &str) -> Option<String> {
        if self.options.layers.is_empty() {
            return Some(without_place(layer));
        }
        let fitting = self.options.layers.iter().find(|(_, patterns)| patterns.iter().any(|p| fits(p, layer)));
        fitting.map(|(kind, _)| kind.clone())
    }

    /// Why nothing was found.
    fn none(&self, events: &Events) -> String {
        if events.all.is_empty() {
            return format!(
                "none of its {} events is called forward:LAYER or backward:LAYER, so no layer is found",
                events.others
            );
        }
        let names: BTreeSet<&str> = events.all.iter().map(|event| event.name.layer.as_str()).collect();
        let some: Vec<&str> = names.into_iter().take(5).collect();
        format!("no layer fits the patterns; it has {}", some.join(", "))
    }

    fn times(self) -> Result<Times> {
        let files = self.files.join(", ");
        let wrong = |what: String| Error::Measured { file: files.clone(), what };
        if self.by_kind.is_empty() {
            return Err(wrong("there is no file".to_owned()));
        }
        let chosen = !self.options.layers.is_empty();
        let names: Vec<String> = if chosen {
            self.options.layers.iter().map(|(name, _)| name.clone()).collect()
        } else {
            self.by_kind.keys().cloned().collect()
        };
        let (mut layers, mut missing, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            match of_kind(&name, self.by_kind.get(&name).unwrap_or(&BTreeMap::new())) {
                Ok(times) => layers.push(times),
                Err(what) => missing.push(what),
            }
        }
        if layers.is_empty() || chosen && !missing.is_empty() {
            return Err(wrong(missing.join("; ")));
        }
        warnings.extend(missing.into_iter().map(|what| format!("{what}; it is left out")));
        for layer in &layers {
            let backward = layer.backward.value;
            for (kind, _) in layer.recompute.iter().filter(|(_, median)| median.value < backward) {
                warnings.push(format!("the backward of {} with {kind} is shorter than without", layer.name));
            }
        }
        Ok(Times { milliseconds: self.milliseconds.unwrap_or(true), layers, warnings })
    }
}

/// The times of a kind of layer; what is missing if they are not complete.
fn of_kind(name: &str, samples: &BTreeMap<Key, Sample>) -> std::result::Result<LayerTimes, String> {
    let of = |direction: Direction| samples.get(&(direction, None));
    let both = [Direction::Forward, Direction::Backward];
    if let Some(missing) = both.into_iter().find(|&direction| of(direction).is_none()) {
        let missing = missing.name();
        return Err(format!("{name} has no {missing} events, such as {missing}:{name} (there is {})", there(samples)));
    }
    let need = |direction: Direction| {
        let what = "ran so rarely that all of it is warm-up: record more steps, or leave out less";
        of(direction).and_then(median).ok_or_else(|| format!("the {} of {name} {what}", direction.name()))
    };
    let kinds = samples.iter().filter(|((direction, _), _)| *direction == Direction::Backward);
    let kinds = kinds.filter_map(|((_, kind), sample)| Some((kind.clone()?, median(sample)?)));
    Ok(LayerTimes {
        name: name.to_owned(),
        forward: need(Direction::Forward)?,
        backward: need(Direction::Backward)?,
        weight: of(Direction::Weight).and_then(median),
        recompute: kinds.collect(),
    })
}

/// What is there of a layer: `forward 64 times, backward@full 64 times`.
fn there(samples: &BTreeMap<Key, Sample>) -> String {
    let each = samples.iter().map(|((direction, kind), sample)| {
        let kind = kind.as_ref().map_or_else(String::new, |kind| format!("@{kind}"));
        format!("{}{kind} {} times", direction.name(), sample.durations.len() + sample.warm_up)
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() { "nothing of it".to_owned() } else { each.join(", ") }
}

/// The median without outliers; none of nothing.
fn median(sample: &Sample) -> Option<Median> {
    let middle = middle(&sample.durations)?;
    let deviations: Vec<f64> = sample.durations.iter().map(|x| (x - middle).abs()).collect();
    let far = FAR * self::middle(&deviations)?;
    let kept: Vec<f64> = sample.durations.iter().copied().filter(|x| (x - middle).abs() <= far).collect();
    let outliers = sample.durations.len() - kept.len();
    Some(Median { value: self::middle(&kept)?, count: kept.len(), outliers, warm_up: sample.warm_up })
}

/// The middle value, of an even number the mean of the two.
fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_by_hand() {
        let of = |durations: &[f64]| median(&Sample { durations: durations.to_vec(), warm_up: 2 });
        let value = |durations: &[f64]| of(durations).map(|m| (m.value, m.count, m.outliers));
        assert_eq!(value(&[]), None);
        assert_eq!(value(&[3.0]), Some((3.0, 1, 0)));
        assert_eq!(value(&[1.0, 2.0, 4.0, 3.0]), Some((2.5, 4, 0)));
        // Median 12.5, deviations 2.5 1.5 0.5 0.5 1.5 87.5: their median is 1.5, so only 100 is further than 4.5.
        assert_eq!(value(&[10.0, 11.0, 12.0, 13.0, 14.0, 100.0]), Some((12.0, 5, 1)));
        // Equal durations have no deviation at all.
        assert_eq!(value(&[5.0, 5.0, 5.0, 6.0]), Some((5.0, 3, 1)));
    }
}
