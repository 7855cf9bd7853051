//! How the learning rate changes from epoch to epoch: one file per schedule and one line in [`ALL`].
//!
//! A schedule is a factor of `--lr` for each epoch, from above 0 (0 where a double cannot hold it) to 1. Several,
//! separated by commas, multiply: `warmup:10,cosine`. A factor depends on the epoch alone, and for schedules that are not
//! [open-ended](Entry::open_ended) on the number of epochs, so that a run that is resumed follows the same rates.

mod constant;
mod cosine;
mod step;
mod warmup;

use crate::{Error, Result};
use sapwood_graph::Error as GraphError;
use std::fmt;
use std::str::FromStr;

/// A schedule.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--lr-schedule` spells it.
    pub name: &'static str,
    /// The name with its arguments, which colons separate.
    pub form: &'static str,
    /// One sentence, with the ranges of the arguments.
    pub summary: &'static str,
    /// Whether the rates of the epochs so far are the same however many follow.
    pub open_ended: bool,
    /// Whether these are arguments of the schedule, all finite.
    pub accepts: fn(&[f64]) -> bool,
    /// The factor, by the arguments, of an epoch (from 1 to the number of epochs) of so many.
    pub factor: fn(&[f64], u32, u32) -> f64,
}

/// Every schedule; the first is the default.
pub static ALL: &[Entry] = &[constant::ENTRY, step::ENTRY, cosine::ENTRY, warmup::ENTRY];

/// The registry line of `name` among `all`.
///
/// # Errors
/// With the forms of all schedules and the name nearest.
pub fn find<'a>(all: &'a [Entry], name: &str) -> Result<&'a Entry> {
    let unknown = || match GraphError::unknown("schedule in --lr-schedule", name, all.iter().map(|e| e.name)) {
        GraphError::Unknown { kind, name, nearest, .. } => {
            GraphError::Unknown { kind, name, nearest, known: all.iter().map(|e| e.form.to_owned()).collect() }
        }
        other => other,
    };
    all.iter().find(|e| e.name == name).ok_or_else(|| unknown().into())
}

/// A whole number of epochs, 1 or more.
fn is_count(value: f64) -> bool {
    value >= 1.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0
}

/// A schedule and its arguments.
#[derive(Clone)]
struct Part {
    entry: Entry,
    arguments: Vec<f64>,
}

impl Part {
    fn parse(all: &[Entry], text: &str) -> Result<Part> {
        let mut words = text.split(':').map(str::trim);
        let entry = *find(all, words.next().unwrap_or_default())?;
        let arguments: Option<Vec<f64>> = words.map(|w| w.parse().ok().filter(|v: &f64| v.is_finite())).collect();
        match arguments.filter(|arguments| (entry.accepts)(arguments)) {
            Some(arguments) => Ok(Part { entry, arguments }),
            None => Err(Error::Schedule { text: text.trim().into(), form: entry.form, summary: entry.summary }),
        }
    }
}

impl PartialEq for Part {
    fn eq(&self, other: &Part) -> bool {
        self.entry.name == other.entry.name && self.arguments == other.arguments
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.name)?;
        self.arguments.iter().try_for_each(|argument| write!(f, ":{argument}"))
    }
}

/// The value of `--lr-schedule`: one schedule, or the product of several.
#[derive(Clone, PartialEq)]
pub struct LrSchedule(Vec<Part>);

impl LrSchedule {
    /// The schedule that `text` describes, by names among `all`.
    ///
    /// # Errors
    /// For a name that is none, with the nearest and all forms; for arguments that do not fit, with the form.
    pub fn parse(all: &[Entry], text: &str) -> Result<LrSchedule> {
        text.split(',').map(|part| Part::parse(all, part)).collect::<Result<_>>().map(LrSchedule)
    }

    /// What `--lr` is multiplied by in `epoch`, from 1, of a run of `epochs`. Epochs outside count as the nearest inside.
    pub fn factor(&self, epoch: u32, epochs: u32) -> f64 {
        let epochs = epochs.max(1);
        let epoch = epoch.clamp(1, epochs);
        self.0.iter().map(|part| (part.entry.factor)(&part.arguments, epoch, epochs)).product()
    }

    /// Whether a run may be prolonged: the rates of its epochs do not depend on how many there are.
    pub fn open_ended(&self) -> bool {
        self.0.iter().all(|part| part.entry.open_ended)
    }
}

impl Default for LrSchedule {
    fn default() -> Self {
        LrSchedule(vec![Part { entry: constant::ENTRY, arguments: Vec::new() }])
    }
}

impl FromStr for LrSchedule {
    type Err = Error;

    fn from_str(text: &str) -> Result<LrSchedule> {
        LrSchedule::parse(ALL, text)
    }
}

impl fmt::Display for LrSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Debug for LrSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LrSchedule({self})")
    }
}

impl serde::Serialize for LrSchedule {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(text: &str) -> LrSchedule {
        text.parse().unwrap()
    }

    fn factors(text: &str, epochs: u32) -> Vec<f64> {
        (1..=epochs).map(|epoch| schedule(text).factor(epoch, epochs)).collect()
    }

    #[test]
    fn factors_by_hand() {
        let near = |text: &str, want: &[f64]| {
            let found = factors(text, want.len() as u32);
            assert!(found.iter().zip(want).all(|(f, w)| (f - w).abs() < 1e-15), "{text}: {found:?} {want:?}");
        };
        near("const", &[1.0, 1.0, 1.0]);
        near("step:2:0.5", &[1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.125]);
        near("step:1:0.1", &[1.0, 0.1, 0.01]);
        let root = 0.5f64.sqrt();
        near("cosine", &[1.0, 0.5 * (1.0 + root), 0.5, 0.5 * (1.0 - root)]);
        near("cosine", &[1.0]);
        near("warmup:4", &[0.25, 0.5, 0.75, 1.0, 1.0, 1.0]);
        near("warmup:1", &[1.0, 1.0]);
        near("warmup:2,cosine", &[0.5, 0.5 * (1.0 + root), 0.5, 0.5 * (1.0 - root)]);
        near("step:1:0.5,step:2:0.1", &[1.0, 0.5, 0.025, 0.0125]);
    }

    #[test]
    fn factors_are_above_zero_and_at_most_one() {
        for text in ["const", "step:3:0.5", "step:1:1", "cosine", "warmup:7", "warmup:1000", "warmup:5,cosine"] {
            for epochs in [1, 2, 7, 100, 1000] {
                assert!(factors(text, epochs).iter().all(|f| *f > 0.0 && *f <= 1.0), "{text} {epochs}");
            }
        }
        let cosine = factors("cosine", 500);
        assert!(cosine.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(factors("warmup:50", 80).windows(2).all(|pair| pair[0] <= pair[1]));
        // A power that a double cannot hold is 0, not an error; ends of the ranges do not overflow.
        assert_eq!(schedule("step:1:1e-300").factor(u32::MAX, u32::MAX), 0.0);
        assert!(schedule("cosine").factor(u32::MAX, u32::MAX) > 0.0);
        assert_eq!(schedule("warmup:4").factor(0, 0), 0.25);
        assert_eq!(schedule("cosine").factor(9, 4), schedule("cosine").factor(4, 4));
    }

    #[test]
    fn only_open_ended_schedules_have_the_same_rates_in_a_longer_run() {
        for (text, open) in [("const", true), ("step:3:0.5", true), ("warmup:4", true), ("cosine", false)] {
            assert_eq!(schedule(text).open_ended(), open, "{text}");
            assert_eq!(factors(text, 10)[..] == factors(text, 20)[..10], open, "{text}");
        }
        assert!(!schedule("warmup:4,cosine").open_ended() && schedule("warmup:4,step:9:0.1").open_ended());
    }

    #[test]
    fn texts_come_back() {
        for text in ["const", "step:100:0.5", "cosine", "warmup:10,cosine", "warmup:10,step:50:0.1,step:80:0.5"] {
            assert_eq!(schedule(text).to_string(), text);
            assert_eq!(serde_json::to_string(&schedule(text)).unwrap(), format!("\"{text}\""));
            assert_eq!(schedule(&schedule(text).to_string()), schedule(text));
        }
        assert_eq!(schedule(" warmup:10 , cosine"), schedule("warmup:10,cosine"));
        assert_eq!(LrSchedule::default(), schedule("const"));
        assert_ne!(schedule("step:10:0.5"), schedule("step:10:0.25"));
        assert_ne!(schedule("const"), schedule("cosine"));
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_the_nearest_name_or_the_form() {
        let says = |text: &str| text.parse::<LrSchedule>().unwrap_err().to_string();
        for (text, near) in
            [("cosin", "cosine"), ("warm-up:10", "warmup"), ("constant", ""), ("warmup:10,stpe:1:1", "step")]
        {
            let message = says(text);
            assert!(message.contains("--lr-schedule") && message.contains("step:EVERY:FACTOR"), "{message}");
            assert!(near.is_empty() || message.contains(&format!("did you mean '{near}'?")), "{message}");
        }
        let wrong = [
            "step",
            "step:10",
            "step:0:0.5",
            "step:2.5:0.5",
            "step:-1:0.5",
            "step:10:0",
            "step:10:1.5",
            "step:10:-0.5",
            "step:10:NaN",
            "step:inf:0.5",
            "step:x:0.5",
            "step:10:0.5:1",
            "warmup",
            "warmup:0",
            "warmup:1.5",
            "warmup:",
            "cosine:3",
            "const:1",
            "warmup:5000000000",
        ];
        for text in wrong {
            let message = says(text);
            let form = ALL.iter().find(|e| text.starts_with(e.name)).unwrap().form;
            assert!(message.contains("--lr-schedule") && message.contains(form) && message.contains(text), "{message}");
        }
        for text in ["", ",", "cosine,", ",cosine", "cosine;warmup:1"] {
            assert!(says(text).contains("--lr-schedule"), "{text}");
        }
    }

    #[test]
    fn a_schedule_of_ones_own_is_one_line() {
        let half = Entry { name: "half", form: "half", factor: |_, _, _| 0.5, ..constant::ENTRY };
        let found = LrSchedule::parse(&[half, cosine::ENTRY], "half,cosine").unwrap();
        assert_eq!((found.factor(1, 4), found.to_string()), (0.5, "half,cosine".into()));
    }
}
