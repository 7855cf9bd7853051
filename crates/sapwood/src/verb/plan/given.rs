//! What all sub-verbs that work on a model take: the model, its memory, its micro-batches.

use crate::cli::{Context, Failure};
use clap::Args;
use sapwood_machine::units;
use sapwood_plan::model::{MemoryUnit, Model, readers};
use sapwood_plan::problem::Problem;
use sapwood_plan::solve::Caps;
use std::io::Read;
use std::path::Path;

/// Largest model description that is read from stdin.
const MOST_STDIN: u64 = 64 << 20;

#[derive(Debug, Clone, Args)]
pub(super) struct Given {
    /// The model: a description with measured costs (SAPP's JSON or the project's TOML), or `-`
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    /// Stages: groups of devices that the layers are spread over
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) stages: Option<u32>,
    /// Memory of a stage with its unit, such as 56000MB or 80GiB; or one for each stage [default: the devices of --machine
    /// or $SAPWOOD_MACHINE, else no limit]
    #[arg(long, value_name = "SIZE[,SIZE..]")]
    memory: Option<String>,
    /// Per cent of the memory that stay free
    #[arg(long, value_name = "PCT", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(super) margin: f64,
    /// Kinds of recomputation that may be used: none, full, auto (all that the model has costs of), or a list
    #[arg(long, value_name = "none|full|auto|KIND,..", default_value = "auto")]
    pub(super) recompute: String,
    /// What `time` is in a SAPP file: forward, or (older files) forward and backward together
    #[arg(long, value_name = "TIME", default_value = "forward", value_parser = ["forward", "total"])]
    sapp_time: String,
    /// Count the memory of one layer that is made again while its backward runs, where the model does not state it
    #[arg(long)]
    transient: bool,
    /// The unit of times, where the model does not tell
    #[arg(long, value_name = "UNIT", value_parser = ["ns", "us", "ms", "s"])]
    pub(super) time_unit: Option<String>,
    /// Time of a transfer between neighbouring stages, in the unit of the model [default: the model's, else 0]
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(super) link_time: Option<f64>,
    /// What a transfer delays: async (the receiver alone) or blocking (sender and receiver, as a rendezvous)
    #[arg(long, value_name = "MODE", default_value = "async", value_parser = ["async", "blocking"])]
    pub(super) link: String,
    /// Let virtual stages have no layer of the body
    #[arg(long)]
    allow_empty: bool,
    /// Micro-batches of a step
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..))]
    micro_batches: Option<u32>,
    /// Samples of a step, over all replicas: micro-batches = G / (dp x micro-batch size)
    #[arg(long, value_name = "G", conflicts_with = "micro_batches", value_parser = clap::value_parser!(u32).range(1..))]
    global_batch: Option<u32>,
    /// Samples of a micro-batch
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) micro_batch_size: u32,
    /// Replicas of the pipeline (data parallel)
    #[arg(long, value_name = "D", default_value_t = 1, conflicts_with = "micro_batches", value_parser = clap::value_parser!(u32).range(1..))]
    dp: u32,
}

impl Given {
    /// Whether transfers are rendezvous.
    pub(super) fn rendezvous(&self) -> bool {
        self.link == "blocking"
    }

    /// The same for another plan of the model.
    pub(super) fn with(&self, stages: Option<usize>, micro_batches: Option<usize>) -> Given {
        let short = |size: Option<usize>| size.and_then(|size| u32::try_from(size).ok());
        Given {
            stages: short(stages),
            micro_batches: short(micro_batches),
            global_batch: self.global_batch.filter(|_| micro_batches.is_none()),
            ..self.clone()
        }
    }

    /// Whether a model is named.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// The file of the model.
    pub(super) fn file(&self) -> Option<&Path> {
        self.model.as_deref().filter(|name| *name != "-").map(Path::new)
    }

    /// How the caps are stated.
    pub(super) fn caps_of(&self) -> Caps {
        Caps { one: self.memory.as_deref().is_none_or(|memory| !memory.contains(',')), margin: self.margin / 100.0 }
    }

    /// The model; what is odd about it goes to stderr.
    pub(super) fn model(&self, cx: &Context) -> Result<Model, Failure> {
        let name = self.model.as_deref().ok_or_else(|| {
            Failure::usage("no model is named").hint("sapwood plan MODEL --stages S --micro-batches M --memory SIZE")
        })?;
        let options = readers::Options { sapp_total: self.sapp_time == "total", transient: self.transient };
        let mut model = if name == "-" {
            let mut bytes = Vec::new();
            std::io::stdin().lock().take(MOST_STDIN).read_to_end(&mut bytes)?;
            readers::parse("-", &bytes, &options)?
        } else {
            readers::read(Path::new(name), &options)?
        };
        model.warnings.iter().for_each(|warning| cx.warn(warning));
        if let Some(unit) = &self.time_unit {
            if model.time_unit.as_ref().is_some_and(|own| own != unit) {
                return Err(Failure::usage(format!("--time-unit {unit}: the model states its own unit of time")));
            }
            model.time_unit = Some(unit.clone());
        }
        if let Some(link) = self.link_time {
            if !(link >= 0.0 && link.is_finite()) {
                return Err(Failure::usage(format!("--link-time {link}: write 0 or more")));
            }
            model.link = link;
        }
        Ok(model)
    }

    /// Micro-batches of a step.
    pub(super) fn micro_batches(&self, stated: Option<usize>) -> Result<usize, Failure> {
        let asked = match (self.micro_batches, self.global_batch) {
            (Some(micro_batches), _) => Some(micro_batches as usize),
            (None, Some(samples)) => {
                let each = u64::from(self.dp) * u64::from(self.micro_batch_size);
                if !u64::from(samples).is_multiple_of(each) {
                    let what = format!(
                        "--global-batch {samples}: no multiple of {each} (--dp {} x --micro-batch-size {})",
                        self.dp, self.micro_batch_size
                    );
                    return Err(Failure::usage(what));
                }
                Some((u64::from(samples) / each) as usize)
            }
            (None, None) => None,
        };
        match (asked, stated) {
            (Some(asked), Some(stated)) if asked != stated => {
                Err(Failure::usage(format!("{asked} micro-batches are asked for, and the plan states {stated}")))
            }
            (Some(micro_batches), _) | (None, Some(micro_batches)) => Ok(micro_batches),
            (None, None) => Err(Failure::usage("state --micro-batches M or --global-batch G")),
        }
    }

    /// Stages of a step: the flag, or what a plan states.
    pub(super) fn stages(&self, stated: Option<usize>) -> Result<usize, Failure> {
        match (self.stages, stated) {
            (Some(asked), Some(stated)) if asked as usize != stated => {
                Err(Failure::usage(format!("--stages {asked}: the plan has {stated} stages")))
            }
            (Some(stages), _) => Ok(stages as usize),
            (None, Some(stages)) => Ok(stages),
            (None, None) => Err(Failure::usage("state --stages S")),
        }
    }

    /// The kinds of recomputation that are allowed; empty for all.
    fn kinds(&self) -> Vec<String> {
        match self.recompute.as_str() {
            "auto" => Vec::new(),
            list => list.split(',').map(|kind| kind.trim().to_owned()).collect(),
        }
    }

    /// The caps of the stages in the unit of the model; infinite without any.
    pub(super) fn caps(&self, cx: &Context, model: &Model, stages: usize) -> Result<Vec<f64>, Failure> {
        if !(0.0..100.0).contains(&self.margin) {
            return Err(Failure::usage(format!("--margin {}: per cent from 0 on, below 100", self.margin)));
        }
        let unit = model.memory_unit;
        let given = match &self.memory {
            Some(sizes) => sizes.split(',').map(|size| cap(size.trim(), unit)).collect::<Result<_, _>>()?,
            // Bytes of a device say nothing of numbers without a unit.
            None if unit == MemoryUnit::Raw => vec![f64::INFINITY],
            None => vec![device_memory(cx)?.map_or(f64::INFINITY, |bytes| bytes / unit.bytes())],
        };
        let caps: Vec<f64> = match given.len() {
            1 => vec![given[0]; stages],
            n if n == stages => given,
            n => return Err(Failure::usage(format!("--memory: {n} sizes for {stages} stages"))),
        };
        Ok(caps.into_iter().map(|cap| cap * (1.0 - self.margin / 100.0)).collect())
    }

    /// The problem of `model` on `stages` stages.
    pub(super) fn problem(&self, cx: &Context, model: Model, stages: usize) -> Result<Problem, Failure> {
        let layers: u64 = model.segments.iter().map(|segment| u64::from(segment.count)).sum();
        if stages as u64 > layers {
            return Err(Failure::usage(format!("--stages {stages}: the model has {layers} layers")));
        }
        let caps = self.caps(cx, &model, stages)?;
        let problem = Problem::new(model, &caps, &self.kinds())?;
        Ok(if self.allow_empty { problem.allow_empty() } else { problem })
    }
}

/// A size in a model's unit of memory.
fn cap(text: &str, unit: MemoryUnit) -> Result<f64, Failure> {
    let above_0 = |cap: f64| match cap > 0.0 {
        true => Ok(cap),
        false => Err(Failure::usage(format!("--memory {text}: a stage needs more than 0"))),
    };
    if unit == MemoryUnit::Raw {
        let number = text.parse::<f64>().ok().filter(|cap| *cap >= 0.0);
        let number = number
            .ok_or_else(|| Failure::usage(format!("--memory {text}: the model's memory is a number without unit")))?;
        return above_0(number);
    }
    let bytes = units::bytes(text).map_err(|why| Failure::usage(format!("--memory: {why}")))?;
    above_0(bytes as f64 / unit.bytes())
}

/// Memory of a leaf of the machine that is named, in bytes.
fn device_memory(cx: &Context) -> Result<Option<f64>, Failure> {
    let Some(tree) = cx.named_machine()? else { return Ok(None) };
    let size = tree.levels().last().and_then(|level| level.values.memory.as_ref()?.size);
    let none = || Failure::usage(format!("machine {}: its devices state no memory", tree.name())).hint("--memory SIZE");
    Ok(Some(size.ok_or_else(none)? as f64))
}
