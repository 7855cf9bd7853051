//! What was found, as TOML to paste: costs for a model description, runs to be measured.

use super::guide::Guide;
use super::measured::Measured;
use super::memory::Fit;
use super::times::{LayerTimes, Times};
use crate::schedule::Grouping;

/// A key or a text of TOML, quoted.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A key of TOML, quoted where it has to be.
pub(super) fn key(text: &str) -> String {
    let bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { text.to_owned() } else { quoted(text) }
}

/// A number that TOML reads, with at most six decimals.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6 + 0.0;
    // Whole numbers of TOML end at 2^63.
    if rounded.abs() < 1e15 { rounded.to_string() } else { format!("{value:?}") }
}

/// The same of an amount of memory, with a remark where a model description cannot have it.
fn amount(value: f64) -> String {
    number(value) + if value < 0.0 { " # below 0, which is not accepted" } else { "" }
}

impl Guide {
    /// The runs as a file for [`super::parse`]: the peaks are to be written in place of "-".
    pub fn toml(&self) -> String {
        let m = &self.measured;
        let mut out = format!("stages = {}\n", m.stages);
        let mut line = |text: String| out.push_str(&(text + "\n"));
        line(format!("chunks = {}", m.chunks));
        line(format!("schedule = {}", quoted(&m.schedule)));
        if let Some(micro_batches) = m.micro_batches {
            line(format!("micro_batches = {micro_batches}"));
        }
        if let Grouping::Uniform(size) = m.group {
            line(format!("group = {size}"));
        }
        line(format!("kinds = [{}]", m.kinds[1..].iter().map(|kind| quoted(kind)).collect::<Vec<_>>().join(", ")));
        line(format!("constant = {}", m.constant != super::Constant::No));
        line(format!("transient = {}", m.transient));
        for run in &m.runs {
            let list = |of: &dyn Fn(&[u32]) -> u32| {
                let rows = run.counts.chunks(m.stages).map(|row| {
                    format!("[{}]", row.iter().map(|counts| of(counts).to_string()).collect::<Vec<_>>().join(", "))
                });
                let rows: Vec<String> = rows.collect();
                if rows.len() == 1 { rows.concat() } else { format!("[{}]", rows.join(", ")) }
            };
            line("\n[[run]]".to_owned());
            line(format!("layers = {}", list(&|counts| counts.iter().sum())));
            for (kind, name) in m.kinds.iter().enumerate().skip(1) {
                line(format!("{} = {}", key(name), list(&|counts| counts[kind])));
            }
            line(format!("peak = [{}]", vec!["\"-\""; m.stages].join(", ")));
        }
        out
    }
}

impl Fit {
    /// The costs as parts of a model description ([`crate::model`]), without the times that are not known here.
    pub fn toml(&self, measured: &Measured) -> String {
        let of = |name: &str| self.unknowns.iter().find(|unknown| unknown.name == name).map(|unknown| unknown.value);
        let constant = of("constant").unwrap_or(0.0);
        let time = |at: usize| match measured.times {
            Some(times) => format!("forward = {}\n", number(times[at])),
            None => "# forward = .., backward = ..: see sapwood plan calibrate times\n".to_owned(),
        };
        let end = |name: &str, kind: &str, memory: Option<f64>, at: usize| {
            let memory = amount(memory? - constant);
            let of_kind = format!("name = \"{name}\"\nkind = \"{kind}\"\n{}", time(at));
            Some(format!("[[segment]]\n{of_kind}parameters_mem = {memory}\nactivation = {{ none = 0 }}\n"))
        };
        let parts = [
            measured.unit.as_ref().map(|unit| format!("[unit]\nmemory = {}\n", quoted(unit))),
            (constant != 0.0).then(|| format!("[const]\nmemory = {}\n", amount(constant))),
            end("head", "embedding", self.head, 0),
            Some(body(measured, &time(1), &of)),
            end("tail", "loss", self.tail, 2),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

/// The segment of the layers between head and tail, as many as the first run has.
fn body(measured: &Measured, time: &str, of: &dyn Fn(&str) -> Option<f64>) -> String {
    let first = measured.runs.first().map_or(&[][..], |run| &run.counts);
    let layers: u64 = first.iter().flatten().map(|&n| u64::from(n)).sum();
    let kinds = measured.kinds.iter().filter_map(|kind| Some((kind, of(&format!("activation.{kind}"))?)));
    let kept: Vec<String> = kinds.clone().map(|(kind, value)| format!("{} = {}", key(kind), number(value))).collect();
    let extra: Vec<String> = kinds.skip(1).map(|(kind, _)| format!("{} = ..", key(kind))).collect();
    let extra = if extra.is_empty() { String::new() } else { format!("# extra = {{ {} }}\n", extra.join(", ")) };
    format!(
        "[[segment]]\nname = \"body\"\nkind = \"dense\"\ncount = {layers}\n{time}parameters_mem = {}\n\
         activation = {{ {} }}\n{extra}",
        amount(of("parameters").unwrap_or(0.0)),
        kept.join(", ")
    )
}

impl Times {
    /// The times as parts of a model description ([`crate::model`]), without the memory that is not known here.
    pub fn toml(&self) -> String {
        let unit = if self.milliseconds { "[unit]\ntime = \"ms\"\n\n" } else { "" };
        unit.to_owned() + &self.layers.iter().map(timed).collect::<Vec<_>>().join("\n")
    }
}

/// A segment with times.
fn timed(layer: &LayerTimes) -> String {
    let weight = layer.weight.map_or(0.0, |weight| weight.value);
    let backward = layer.backward.value;
    let apart = layer.weight.map_or_else(String::new, |weight| format!("weight = {}\n", number(weight.value)));
    let extra = layer.recompute.iter().map(|(kind, m)| format!("{} = {}", key(kind), number(m.value - backward)));
    let extra: Vec<String> = extra.collect();
    let extra = if extra.is_empty() { String::new() } else { format!("extra = {{ {} }}\n", extra.join(", ")) };
    format!(
        "[[segment]]\nname = {}\nkind = \"{}\"\n# count = .., parameters_mem = .., activation = ..: see sapwood plan \
         calibrate memory\nforward = {}\nbackward = {}\n{apart}{extra}",
        quoted(&layer.name),
        kind(&layer.name),
        number(layer.forward.value),
        number(backward + weight),
    )
}

/// What a layer of such a name usually is.
fn kind(name: &str) -> &'static str {
    let name = name.to_lowercase();
    let known: [(&[&str], &str); 6] = [
        (&["embed"], "embedding"),
        (&["loss", "head", "output"], "loss"),
        (&["mtp"], "mtp"),
        (&["mla-moe", "mla_moe"], "mla-moe"),
        (&["moe", "expert"], "moe"),
        (&["mla"], "mla-dense"),
    ];
    known.iter().find(|(words, _)| words.iter().any(|word| name.contains(word))).map_or("dense", |(_, kind)| kind)
}
