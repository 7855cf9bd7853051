//! A table of a TOML document that is being read: keys are taken by name and type, everything wrong is noted with its
//! line, and what nobody asked for is an unknown key.

use std::cell::RefCell;

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use crate::Problem;
use crate::level::Measured;
use crate::nearest::nearest;
use crate::units;

/// Where problems are gathered, and how bytes become lines.
pub(crate) struct Notes {
    line_starts: Vec<usize>,
    found: RefCell<Vec<Problem>>,
}

impl Notes {
    pub(crate) fn new(text: &str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { line_starts: std::iter::once(0).chain(after).collect(), found: RefCell::default() }
    }

    pub(crate) fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    pub(crate) fn add(&self, line: usize, key: impl Into<String>, message: impl Into<String>) {
        self.found.borrow_mut().push(Problem { line, key: key.into(), message: message.into() });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// Everything noted, by line.
    pub(crate) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.found.into_inner();
        problems.sort_by_key(|problem| problem.line); // stable: the order of discovery within a line
        problems.dedup();
        problems
    }
}

/// A value and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'d> {
    pub(crate) value: &'d DeValue<'d>,
    pub(crate) line: usize,
}

/// A table and its place in the document.
pub(crate) struct Section<'d> {
    notes: &'d Notes,
    table: &'d DeTable<'d>,
    /// Dotted, with a dot at the end: `level.link.`
    prefix: String,
    pub(crate) line: usize,
}

impl<'d> Section<'d> {
    /// The document itself.
    pub(crate) fn document(notes: &'d Notes, table: &'d Spanned<DeTable<'d>>) -> Self {
        Self { notes, table: table.get_ref(), prefix: String::new(), line: 1 }
    }

    fn entry(&self, key: &str) -> Option<Entry<'d>> {
        let value = self.table.get(key)?;
        Some(Entry { value: value.get_ref(), line: self.notes.line(value.span().start) })
    }

    /// Notes a problem of `key`.
    pub(crate) fn wrong(&self, line: usize, key: &str, message: impl Into<String>) {
        self.notes.add(line, format!("{}{key}", self.prefix), message);
    }

    /// The line of `key`, or that of the section.
    pub(crate) fn line_of(&self, key: &str) -> usize {
        self.entry(key).map_or(self.line, |entry| entry.line)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Notes every key that is not one of `known`.
    pub(crate) fn only(&self, known: &[&str]) {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let message = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("unknown key, did you mean {near}?"),
                    None => format!("unknown key, write one of {}", known.join(", ")),
                };
                self.wrong(self.notes.line(key.span().start), &printable(name), message);
            }
        }
    }

    /// The value of `key` as `read` understands it; what it is not is noted as "must be `kind`".
    fn take<T>(&self, key: &str, kind: &str, read: impl FnOnce(&'d DeValue<'d>) -> Option<T>) -> Option<T> {
        let entry = self.entry(key)?;
        let value = read(entry.value);
        if value.is_none() {
            self.wrong(entry.line, key, format!("must be {kind}"));
        }
        value
    }

    pub(crate) fn string(&self, key: &str, kind: &str) -> Option<&'d str> {
        self.take(key, kind, text_of)
    }

    pub(crate) fn boolean(&self, key: &str) -> Option<bool> {
        self.take(key, "true or false", |value| match value {
            DeValue::Boolean(b) => Some(*b),
            _ => None,
        })
    }

    /// An integer from `least` to `most`.
    pub(crate) fn integer(&self, key: &str, least: u32, most: u32) -> Option<u32> {
        let kind = format!("an integer from {least} to {most}, without quotes");
        self.take(key, &kind, |value| match value {
            DeValue::Integer(i) => {
                u32::from_str_radix(i.as_str(), i.radix()).ok().filter(|n| (least..=most).contains(n))
            }
            _ => None,
        })
    }

    /// A bare number above 0.
    pub(crate) fn positive(&self, key: &str) -> Option<f64> {
        let value = self.take(key, "a number above 0, without unit and quotes", |value| number_of(value)?.parse().ok());
        value.filter(|v: &f64| {
            let good = v.is_finite() && *v > 0.0;
            if !good {
                self.wrong(self.line_of(key), key, "must be above 0");
            }
            good
        })
    }

    /// A list of strings.
    pub(crate) fn strings(&self, key: &str) -> Option<Vec<String>> {
        self.take(key, "a list of strings like [\"a\", \"b\"]", |value| match value {
            DeValue::Array(items) => items.iter().map(|item| text_of(item.get_ref()).map(str::to_owned)).collect(),
            _ => None,
        })
    }

    /// A table of strings, by name.
    pub(crate) fn named_strings(&self, key: &str) -> Option<Vec<(String, String)>> {
        self.take(key, "a table of strings like { rustc = \"1.89\" }", |value| match value {
            DeValue::Table(table) => table
                .iter()
                .map(|(name, value)| Some((name.get_ref().to_string(), text_of(value.get_ref())?.to_owned())))
                .collect(),
            _ => None,
        })
    }

    /// A word that `parse` understands.
    pub(crate) fn word<T>(&self, key: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let text = self.string(key, "a string")?;
        parse(text).map_err(|message| self.wrong(self.line_of(key), key, message)).ok()
    }

    /// A quantity: a string with a unit, or the number 0.
    pub(crate) fn quantity<T>(&self, key: &str, parse: impl Fn(&str) -> Result<T, units::Error>) -> Option<T> {
        let entry = self.entry(key)?;
        let Some(text) = text_of(entry.value).or_else(|| number_of(entry.value)) else {
            self.wrong(entry.line, key, "must be a string with a number and a unit");
            return None;
        };
        parse(text).map_err(|e| self.wrong(entry.line, key, e.to_string())).ok()
    }

    /// A quantity that may be measured: also `{ value = "..", mad = "..", samples = 1000 }`.
    pub(crate) fn measured(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<f64, units::Error>,
    ) -> Option<Measured<f64>> {
        self.measured_by(key, |text| parse(text).map(|value| (value, ())), |text, _, ()| parse(text))
    }

    /// [`Section::measured`] where the spread is read as the value's way of writing asks for.
    pub(crate) fn measured_by<W: Copy>(
        &self,
        key: &str,
        value: impl Fn(&str) -> Result<(f64, W), units::Error>,
        spread: impl Fn(&str, f64, W) -> Result<f64, units::Error>,
    ) -> Option<Measured<f64>> {
        let Some(section) = self.inner(key) else {
            return self.quantity(key, value).map(|(value, _)| Measured::stated(value));
        };
        section.only(&["value", "mad", "samples"]);
        if !section.has("value") {
            section.wrong(section.line, "value", "missing, write value = \"..\"");
        }
        let samples = section.integer("samples", 0, u32::MAX).unwrap_or(0);
        let (value, way) = section.quantity("value", value)?;
        let mad = section.quantity("mad", |text| spread(text, value, way));
        Some(Measured { value, mad, samples })
    }

    /// The table `key`, if it is one.
    pub(crate) fn inner(&self, key: &str) -> Option<Section<'d>> {
        let entry = self.entry(key)?;
        match entry.value {
            DeValue::Table(table) => Some(self.below(key, table, entry.line)),
            _ => None,
        }
    }

    /// The table `key`; anything else is noted.
    pub(crate) fn section(&self, key: &str) -> Option<Section<'d>> {
        let section = self.inner(key);
        if section.is_none() && self.has(key) {
            self.wrong(self.line_of(key), key, format!("must be a table like {key} = {{ .. }}"));
        }
        section
    }

    /// The tables of the array `key`; anything else is noted.
    pub(crate) fn sections(&self, key: &str) -> Vec<Section<'d>> {
        let Some(entry) = self.entry(key) else { return Vec::new() };
        let DeValue::Array(items) = entry.value else {
            self.wrong(entry.line, key, format!("must be an array of tables, write [[{key}]]"));
            return Vec::new();
        };
        let tables = items.iter().filter_map(|item| match item.get_ref() {
            DeValue::Table(table) => Some(self.below(key, table, self.notes.line(item.span().start))),
            _ => {
                self.wrong(self.notes.line(item.span().start), key, format!("must be a table, write [[{key}]]"));
                None
            }
        });
        tables.collect()
    }

    fn below(&self, key: &str, table: &'d DeTable<'d>, line: usize) -> Section<'d> {
        Section { notes: self.notes, table, prefix: format!("{}{key}.", self.prefix), line }
    }
}

fn text_of<'d>(value: &'d DeValue<'d>) -> Option<&'d str> {
    match value {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

/// The digits of a bare number, for the message that its unit is missing.
fn number_of<'d>(value: &'d DeValue<'d>) -> Option<&'d str> {
    match value {
        DeValue::Integer(i) if i.radix() == 10 => Some(i.as_str()),
        DeValue::Float(f) => Some(f.as_str()),
        _ => None,
    }
}

/// A key as it can stand in a message of one line.
fn printable(name: &str) -> String {
    let short: String = name.chars().take(60).collect();
    if short.is_empty() { "\"\"".to_owned() } else { short.escape_debug().to_string() }
}
