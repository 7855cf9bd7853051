//! What was measured: the peaks of the stages of one or more runs, and what each stage held.

use super::{dry_run_yaml, measured_toml};
use crate::schedule::Grouping;
use crate::{Error, Result};
use std::path::Path;

/// Most stages × chunks.
pub(super) const MOST_VIRTUAL: usize = 1 << 14;
/// Most layers of a chunk, so that sums of counts are exact in floats and in u32.
pub(super) const MOST_LAYERS: u32 = 1 << 14;

/// Measured runs of one model on one number of stages.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Stages.
    pub stages: usize,
    /// Chunks of each stage.
    pub chunks: usize,
    /// Name of the schedule.
    pub schedule: String,
    /// Micro-batches of a step; none: a multiple of the stages, so many that more change nothing.
    pub micro_batches: Option<usize>,
    /// How micro-batches are grouped, where the schedule does that.
    pub group: Grouping,
    /// Kinds of recomputation; `none` is the first.
    pub kinds: Vec<String>,
    /// Whether a kind that no measured stage has is looked for all the same (and then reported as undetermined); `none` is not.
    pub all_kinds: bool,
    /// Whether a constant for each stage is looked for.
    pub constant: Constant,
    /// Whether the backward of a recomputed layer holds its activations once more.
    pub transient: bool,
    /// The unit of memory, if the file tells.
    pub unit: Option<String>,
    /// Forward times of head, body and tail, if the file tells, in no unit.
    pub times: Option<[f64; 3]>,
    /// The runs.
    pub runs: Vec<Run>,
    /// What the user should know about the file.
    pub warnings: Vec<String>,
}

/// Whether memory that each stage has besides its layers is an unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// It is.
    Yes,
    /// It is 0.
    No,
    /// It is where there are as many measured stages as unknowns (the rule of SAPP's pipeline balancing).
    IfEnough,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Layers of each kind of [`Measured::kinds`], by chunk × stages + stage.
    pub counts: Vec<Vec<u32>>,
    /// Peak of each stage, where it was measured.
    pub peaks: Vec<Option<f64>>,
}

impl Measured {
    /// Checks that sizes agree and nothing is beyond what is counted here.
    ///
    /// # Errors
    /// What is wrong and where.
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let virtual_stages = virtual_stages(self.stages, self.chunks)?;
        if self.runs.is_empty() {
            return Err("there is no run".to_owned());
        }
        for (at, run) in self.runs.iter().enumerate() {
            if run.counts.len() != virtual_stages || run.peaks.len() != self.stages {
                return Err(format!("run {}: its lists are not those of {} stages", at + 1, self.stages));
            }
            let wide = run.counts.iter().position(|counts| {
                counts.len() != self.kinds.len()
                    || counts.iter().map(|&n| u64::from(n)).sum::<u64>() > u64::from(MOST_LAYERS)
            });
            if let Some(chunk) = wide {
                let stage = chunk % self.stages;
                return Err(format!("run {}: stage {stage} has more than {MOST_LAYERS} layers", at + 1));
            }
            if let Some(bad) = run.peaks.iter().flatten().find(|peak| !(peak.is_finite() && **peak >= 0.0)) {
                return Err(format!("run {}: a peak is {bad}, write a number from 0 on", at + 1));
            }
        }
        match self.runs.iter().any(|run| run.peaks.iter().any(Option::is_some)) {
            true => Ok(()),
            false => Err("no peak is measured: write them in place of \"-\"".to_owned()),
        }
    }
}

/// Stages × chunks, within what is handled here.
pub(super) fn virtual_stages(stages: usize, chunks: usize) -> std::result::Result<usize, String> {
    let product = stages.checked_mul(chunks).filter(|k| (1..=MOST_VIRTUAL).contains(k));
    product
        .ok_or_else(|| format!("{stages} stages of {chunks} chunks: write 1 or more, {MOST_VIRTUAL} together at most"))
}

/// Reads measurements of any known format, compressed or not; `-` is standard input.
///
/// # Errors
/// [`Error::Files`] when the file cannot be read, [`Error::Measured`] with what is wrong and where.
pub fn read(path: &Path) -> Result<Measured> {
    let bytes = sapwood_files::read(path)?;
    parse(&path.display().to_string(), &bytes)
}

/// The same of bytes that are called `name`: the planner's own TOML, or the YAML of MindFormers' dry runs.
///
/// # Errors
/// [`Error::Measured`].
pub fn parse(name: &str, bytes: &[u8]) -> Result<Measured> {
    let wrong = |what: String| Error::Measured { file: name.to_owned(), what };
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        wrong(format!("line {line}: no UTF-8 text"))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let yaml = text.lines().any(|line| line.starts_with("pipeline_config:") || line.starts_with("memory_usage:"));
    let measured = if yaml { dry_run_yaml::read(text) } else { measured_toml::read(text) };
    let measured = measured.map_err(wrong)?;
    measured.check().map_err(wrong)?;
    Ok(measured)
}
