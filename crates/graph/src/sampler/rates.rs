//! Drop rates over epochs and layers.

use crate::{Error, Result, draw};
use std::str::FromStr;

/// The share of the units that goes, in each epoch and layer.
#[derive(Debug, Clone, PartialEq)]
pub enum Rates {
    /// The same always: `0.3` or `const:0.3`.
    Const(f64),
    /// The largest of 0.01, 0.02, … that leaves few more nodes without an edge than the whole graph has: `auto`.
    Auto,
    /// From the first in epoch 1 to the second in the last epoch, in equal steps: `linear:0.1:0.5`.
    Linear(f64, f64),
    /// One for each layer that propagates, from the first: `0.5,0.4,0.3`.
    Layers(Vec<f64>),
}

impl Rates {
    /// Checks every rate against [0, 1].
    ///
    /// # Errors
    /// [`Error::Range`] naming `--p`.
    pub fn check(&self) -> Result<()> {
        match self {
            Rates::Auto => Ok(()),
            Rates::Const(p) => draw::drop_rate(*p).map(|_| ()),
            Rates::Linear(first, last) => [first, last].into_iter().try_for_each(|&p| draw::drop_rate(p).map(|_| ())),
            Rates::Layers(rates) => rates.iter().try_for_each(|&p| draw::drop_rate(p).map(|_| ())),
        }
    }

    /// Whether more epochs leave the rates of the first ones as they are.
    pub fn open_ended(&self) -> bool {
        !matches!(self, Rates::Linear(..))
    }

    /// Where the rates of one draw hold that is described for all, if not everywhere.
    pub fn described(&self) -> Option<&'static str> {
        match self {
            Rates::Linear(first, last) if first != last => Some("in the first epoch"),
            Rates::Layers(rates) if rates.windows(2).any(|pair| pair[0] != pair[1]) => Some("in the first layer"),
            _ => None,
        }
    }

    /// The largest rate of all epochs and layers, with what `auto` came to.
    pub fn largest(&self, auto: f64) -> f64 {
        match self {
            Rates::Const(p) => *p,
            Rates::Auto => auto,
            Rates::Linear(first, last) => first.max(*last),
            Rates::Layers(rates) => rates.iter().copied().fold(0.0, f64::max),
        }
    }

    /// The rate of epoch `epoch` (from 1) of `epochs` in layer `layer` (from 1; 0 where all layers share a draw), with
    /// what `auto` came to.
    pub fn at(&self, epoch: u32, epochs: u32, layer: u16, auto: f64) -> f64 {
        match self {
            Rates::Const(p) => *p,
            Rates::Auto => auto,
            Rates::Linear(first, last) => {
                let passed = f64::from(epoch.clamp(1, epochs.max(1)) - 1) / f64::from(epochs.max(2) - 1);
                first + (last - first) * passed
            }
            Rates::Layers(rates) => {
                let at = usize::from(layer.max(1) - 1).min(rates.len().saturating_sub(1));
                rates.get(at).copied().unwrap_or(0.0)
            }
        }
    }
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rates::Const(p) => p.fmt(f),
            Rates::Auto => f.write_str("auto"),
            Rates::Linear(first, last) => write!(f, "linear:{first}:{last}"),
            Rates::Layers(rates) => f.write_str(&rates.iter().map(f64::to_string).collect::<Vec<_>>().join(",")),
        }
    }
}

impl serde::Serialize for Rates {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Rates::Const(p) => s.serialize_f64(*p),
            other => s.collect_str(other),
        }
    }
}

impl FromStr for Rates {
    type Err = Error;

    fn from_str(text: &str) -> Result<Rates> {
        let wrong = || Error::Range {
            flag: "--p",
            range: "a number from 0 to 1 (the share that is dropped), auto, a list by layer like 0.5,0.4, const:P or linear:P0:P1",
            value: text.to_owned(),
        };
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
        let rates = match text.split(':').collect::<Vec<_>>()[..] {
            ["auto"] => Rates::Auto,
            ["const", p] => Rates::Const(number(p)?),
            ["linear", first, last] => Rates::Linear(number(first)?, number(last)?),
            [list] if list.contains(',') => Rates::Layers(list.split(',').map(number).collect::<Result<_>>()?),
            [p] => Rates::Const(number(p)?),
            _ => return Err(wrong()),
        };
        rates.check()?;
        Ok(rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_rates() {
        let at = |text: &str, epoch, layer| text.parse::<Rates>().unwrap().at(epoch, 5, layer, 0.25);
        assert_eq!([at("0.3", 4, 2), at("const:0.3", 1, 0), at("auto", 1, 0)], [0.3, 0.3, 0.25]);
        assert_eq!(
            [at("linear:0.25:0.75", 1, 0), at("linear:0.25:0.75", 3, 0), at("linear:0.25:0.75", 5, 0)],
            [0.25, 0.5, 0.75]
        );
        assert_eq!([at("0.5,0.4", 1, 1), at("0.5,0.4", 1, 2)], [0.5, 0.4]);
        let described = |text: &str| text.parse::<Rates>().unwrap().described();
        assert_eq!([described("0.3"), described("auto"), described("linear:0.3:0.3"), described("0.5,0.5")], [None; 4]);
        assert_eq!(described("linear:0:0.5"), Some("in the first epoch"));
        assert_eq!(described("0.5,0.5,0.4"), Some("in the first layer"));
        for text in ["0.3", "auto", "linear:0.1:0.5", "0.5,0.4,0.3"] {
            assert_eq!(text.parse::<Rates>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_rate_is_refused_with_the_forms() {
        for text in ["", "x", "1.5", "-0.1", "NaN", "linear:0.1", "linear:0:2", "0.5,,0.4", "const:", "step:1:2"] {
            let message = text.parse::<Rates>().unwrap_err().to_string();
            assert!(message.starts_with("--p must be"), "{text}: {message}");
        }
    }
}
