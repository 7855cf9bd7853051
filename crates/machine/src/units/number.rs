//! A text cut into number and unit.

use super::Error;
use crate::nearest::nearest;

/// A unit is a power of ten times a power of two of the SI base.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    pub(super) ten: i32,
    pub(super) two: i32,
}

pub(super) const fn unit(name: &'static str, ten: i32, two: i32) -> Unit {
    Unit { name, ten, two }
}

/// The units of one kind of quantity; the second is the example in messages.
pub(super) type Units = &'static [Unit];

/// A text cut into its parts: `digits`·10^`exponent` `unit`.
pub(super) struct Number<'t> {
    text: &'t str,
    pub(super) digits: &'t str,
    pub(super) exponent: i32,
    unit: &'t str,
}

impl<'t> Number<'t> {
    pub(super) fn split(text: &'t str, kinds: &[Units]) -> Result<Self, Error> {
        let text = text.trim();
        let negative = text.starts_with('-');
        let rest = text.strip_prefix('-').unwrap_or(text);
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, mut unit) = rest.split_at(end);
        let mut exponent = 0;
        if let Some((e, after)) = exponent_of(unit) {
            (exponent, unit) = (e, after);
        }
        if digits.parse::<f64>().is_err() {
            let example = format!("10 {}", example(kinds));
            return Err(Error::NotAQuantity { text: text.to_owned(), example });
        }
        let number = Self { text, digits, exponent, unit: unit.trim_start() };
        if negative && number.value(&ONE)? != 0.0 {
            return Err(Error::Negative { text: text.to_owned() });
        }
        Ok(number)
    }

    pub(super) fn unit(&self, kinds: &[Units]) -> Result<(&'static Unit, usize), Error> {
        for (kind, units) in kinds.iter().enumerate() {
            if let Some(unit) = units.iter().find(|unit| unit.name == self.unit) {
                return Ok((unit, kind));
            }
        }
        if self.unit.is_empty() && self.value(&ONE)? == 0.0 {
            return Ok((&ONE, 0));
        }
        let text = self.text.to_owned();
        if self.unit.is_empty() {
            return Err(Error::NoUnit { text, example: example(kinds), units: names(kinds) });
        }
        let all = kinds.iter().flat_map(|units| units.iter().map(|unit| unit.name));
        let hint = match nearest(self.unit, all) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "write one of the units".to_owned(),
        };
        Err(Error::UnknownUnit { text, unit: self.unit.to_owned(), hint, units: names(kinds) })
    }

    pub(super) fn value(&self, unit: &Unit) -> Result<f64, Error> {
        let text = format!("{}e{}", self.digits, self.exponent + unit.ten);
        let value = text.parse::<f64>().unwrap_or(f64::INFINITY) * 2f64.powi(unit.two);
        if value.is_finite() { Ok(value) } else { Err(Error::TooLarge { text: self.text.to_owned() }) }
    }
}

static ONE: Unit = unit("", 0, 0);

/// `e-6 rest`: an exponent and what follows it.
fn exponent_of(text: &str) -> Option<(i32, &str)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let sign = usize::from(rest.starts_with(['+', '-']));
    let end = rest[sign..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |end| sign + end);
    if end == sign {
        return None;
    }
    // far beyond any float, and far from overflowing where a prefix is added
    let value = rest[..end].parse::<i64>().unwrap_or(i64::MAX).clamp(-99_999, 99_999);
    Some((value as i32, &rest[end..]))
}

fn example(kinds: &[Units]) -> &'static str {
    kinds.first().and_then(|units| units.get(1)).map_or("", |unit| unit.name)
}

fn names(kinds: &[Units]) -> String {
    let mut units: Vec<_> = kinds.iter().flat_map(|units| units.iter()).collect();
    units.sort_by_key(|unit| (unit.two, unit.ten)); // stable: decimal, then binary
    units.iter().map(|unit| unit.name).collect::<Vec<_>>().join(" ")
}
