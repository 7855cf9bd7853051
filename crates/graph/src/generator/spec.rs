//! The text form of a generator's parameters: `n=1000,k=4,in=0.05`, in any order, each once.

use super::Entry;
use crate::{Error, Result};

/// What values a parameter may have; both ends belong to the range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number.
    Whole {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A probability, 0 to 1.
    Probability,
}

/// A parameter of a generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter {
    /// Name, as a spec sets it.
    pub name: &'static str,
    /// What it means, in a few words.
    pub meaning: &'static str,
    /// Its range.
    pub kind: Kind,
    /// Its value where the spec has none; a parameter without a default must be set. [`UNSET`] leaves it without a value.
    pub default: Option<&'static str>,
}

/// The default of a parameter that a spec may leave out and that then has no value.
pub const UNSET: &str = "";

/// The seed of the graph, the last parameter of every generator that draws. The seed of a run (`--seed`) is another.
pub const SEED: Parameter = Parameter {
    name: "seed",
    meaning: "seed of the graph",
    kind: Kind::Whole { least: 0, most: u64::MAX },
    default: Some("0"),
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Whole(u64),
    Real(f64),
}

/// The values of a generator's parameters, each inside its range.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    spec: String,
    of: Vec<(&'static str, Value)>,
}

impl Values {
    /// The whole number `name`; 0 if the generator has none of this name.
    pub fn whole(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Whole(value)) => value,
            _ => 0,
        }
    }

    /// The number `name`; 0 if the generator has none of this name.
    pub fn real(&self, name: &str) -> f64 {
        match self.value(name) {
            Some(Value::Real(value)) => value,
            _ => 0.0,
        }
    }

    /// Whether `name` has a value, set or by default.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.of.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    /// An error about the spec.
    pub fn wrong(&self, what: impl Into<String>) -> Error {
        wrong(&self.spec, what)
    }

    /// The spec with every parameter in the order of the registry.
    pub(super) fn full_form(&self, entry: &Entry) -> String {
        let settings = self.of.iter().map(|(name, value)| match value {
            Value::Whole(value) => format!("{name}={value}"),
            Value::Real(value) => format!("{name}={value}"),
        });
        format!("{}:{}", entry.name, settings.collect::<Vec<_>>().join(","))
    }
}

fn wrong(spec: &str, what: impl Into<String>) -> Error {
    Error::Generator { spec: spec.into(), what: what.into() }
}

/// Reads the part of `spec` behind the colon.
pub(super) fn parse(entry: &Entry, spec: &str, settings: &str) -> Result<Values> {
    let mut given: Vec<Option<Value>> = vec![None; entry.parameters.len()];
    for setting in settings.split(',').map(str::trim).filter(|s| !s.is_empty()) {
        let Some((name, text)) = setting.split_once('=') else {
            return Err(wrong(spec, format!("'{setting}' sets nothing, write name=value, as in {}", entry.example)));
        };
        let (name, text) = (name.trim(), text.trim());
        let Some(at) = entry.parameters.iter().position(|p| p.name == name) else {
            return Err(Error::unknown("parameter", name, entry.parameters.iter().map(|p| p.name)));
        };
        if given[at].is_some() {
            return Err(wrong(spec, format!("{name} is set twice")));
        }
        given[at] = Some(value(&entry.parameters[at], spec, text)?);
    }
    let mut values = Values { spec: spec.into(), of: Vec::new() };
    let mut missing = Vec::new();
    for (parameter, given) in entry.parameters.iter().zip(given) {
        match (given, parameter.default) {
            (Some(value), _) => values.of.push((parameter.name, value)),
            (None, Some(UNSET)) => {}
            (None, Some(text)) => values.of.push((parameter.name, value(parameter, spec, text)?)),
            (None, None) => missing.push(parameter.name),
        }
    }
    if missing.is_empty() {
        return Ok(values);
    }
    Err(wrong(spec, format!("{} not set, write it as in {}", missing.join(", "), entry.example)))
}

fn value(parameter: &Parameter, spec: &str, text: &str) -> Result<Value> {
    let name = parameter.name;
    match parameter.kind {
        Kind::Whole { least, most } => match text.parse() {
            Ok(value) if (least..=most).contains(&value) => Ok(Value::Whole(value)),
            _ => Err(wrong(spec, format!("{name} must be a whole number from {least} to {most}, not {text}"))),
        },
        Kind::Probability => match text.parse::<f64>() {
            Ok(value) if (0.0..=1.0).contains(&value) => Ok(Value::Real(value + 0.0)), // −0 becomes 0
            _ => Err(wrong(spec, format!("{name} must be a probability from 0 to 1, not {text}"))),
        },
    }
}
