//! A plan as the user states it: a layout string, flags of a job, a file.

use super::given::Given;
use crate::cli::{Context, Failure};
use clap::Args;
use sapwood_plan::import::{self, Imported};
use sapwood_plan::layout::Layout;
use sapwood_plan::megatron::{Setting, rules};
use sapwood_plan::model::Model;
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::Order;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct Stated {
    /// The plan as Megatron-LM's layout string, such as Ettt|ttttL; --recompute-layers says what it recomputes
    #[arg(long, value_name = "STRING", group = "plan_of")]
    layout: Option<String>,
    /// The plan as flags of a Megatron-LM job, read as Megatron-LM reads them
    #[arg(long, value_name = "FLAGS", group = "plan_of", allow_hyphen_values = true)]
    megatron_flags: Option<String>,
    /// The plan as --out wrote it
    #[arg(long, value_name = "FILE.json", group = "plan_of")]
    plan: Option<PathBuf>,
    /// The plan as MindFormers' YAML
    #[arg(long, value_name = "FILE.yaml", group = "plan_of")]
    yaml: Option<PathBuf>,
    /// What all layers of --layout recompute: none, full, or another kind of the model
    #[arg(long, value_name = "KIND", default_value = "none", requires = "layout")]
    recompute_layers: String,
    /// Further layers of tokens may have a loss each
    #[arg(long)]
    megatron_multi_loss: bool,
    /// Schedule [default: what the plan states, else 1f1b, or interleaved with several chunks]
    #[arg(long, value_name = "NAME")]
    pub(super) schedule: Option<String>,
    /// Groups of micro-batches of interleaved schedules: first, or uniform:SIZE [default: what the plan states, else first]
    #[arg(long, value_name = "RULE")]
    pub(super) group: Option<String>,
    /// Stages and micro-batches where the text does not tell them.
    #[arg(skip)]
    beside: Option<(usize, usize)>,
}

/// A plan of a problem.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) problem: Problem,
    pub(super) order: Order,
    pub(super) layout: Layout,
    pub(super) warnings: Vec<String>,
}

impl Stated {
    /// A plan that is stated by one text: a file that --out or an exporter wrote, flags of Megatron-LM, or a layout string. What
    /// it does not tell of stages and micro-batches is as in the plan beside it.
    pub(super) fn of(text: &str, beside: (usize, usize)) -> Stated {
        let ends = |all: &[&str]| all.iter().any(|end| text.ends_with(end));
        let flags = text.trim_start().starts_with("--");
        let (yaml, json) = (ends(&[".yaml", ".yml"]), ends(&[".json"]));
        let file = !flags && (yaml || json || Path::new(text).is_file());
        let path = || Some(PathBuf::from(text));
        Stated {
            layout: (!flags && !file).then(|| text.to_owned()),
            megatron_flags: flags.then(|| text.to_owned()),
            plan: path().filter(|_| file && !yaml),
            yaml: path().filter(|_| file && yaml),
            recompute_layers: "none".to_owned(),
            megatron_multi_loss: false,
            schedule: None,
            group: None,
            beside: Some(beside),
        }
    }

    /// Whether all that is known is where the layers are.
    pub(super) fn is_layout(&self) -> bool {
        self.layout.is_some()
    }

    /// The file of the plan.
    pub(super) fn file(&self) -> Option<&Path> {
        self.plan.as_deref().or(self.yaml.as_deref())
    }

    /// The stated plan of the given model.
    pub(super) fn read(&self, cx: &Context, given: &Given) -> Result<Planned, Failure> {
        let model = given.model(cx)?;
        let imported = self.imported(&model, given)?;
        let own = self.beside.map(|(_, micro_batches)| {
            given.with(Some(imported.stages), imported.micro_batches.or(Some(micro_batches)))
        });
        let given = own.as_ref().unwrap_or(given);
        let stages = given.stages(Some(imported.stages))?;
        let group = match (&self.group, imported.group) {
            (Some(text), _) => group(text)?,
            (None, Some(size)) => Grouping::Uniform(size),
            (None, None) => Grouping::First,
        };
        let micro_batches = given.micro_batches(imported.micro_batches)?;
        if self.megatron_flags.is_some() && self.group.is_none() && imported.chunks > 1 {
            let groups = rules::groups(group, stages, micro_batches);
            groups.map_err(|broken| Failure::usage(format!("--megatron-flags: {broken}")))?;
        }
        let dims = Dims { stages, chunks: imported.chunks, micro_batches, group };
        let default = if imported.chunks > 1 { "interleaved" } else { "1f1b" };
        let name = self.schedule.as_deref().or(imported.schedule).unwrap_or(default);
        let order = Order::new(schedule::find(name)?, &dims)?;
        let mut problem = given.problem(cx, model, stages)?;
        if imported.layout.body(&problem).contains(&0) {
            problem = problem.allow_empty();
        }
        Ok(Planned { problem, order, layout: imported.layout, warnings: imported.warnings })
    }

    fn imported(&self, model: &Model, given: &Given) -> Result<Imported, Failure> {
        let file = |path: &Path| -> Result<String, Failure> {
            let bytes = sapwood_files::read(path)?;
            String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{}: no UTF-8 text", path.display())))
        };
        let flag = |own: &str| if self.beside.is_some() { "--against".to_owned() } else { own.to_owned() };
        let (name, text, place) = if let Some(text) = &self.layout {
            ("megatron_layout", text.clone(), flag("--layout"))
        } else if let Some(text) = &self.megatron_flags {
            ("megatron_flags", text.clone(), flag("--megatron-flags"))
        } else if let Some(path) = &self.plan {
            ("plan_json", file(path)?, path.display().to_string())
        } else if let Some(path) = &self.yaml {
            ("mindformers_yaml", file(path)?, path.display().to_string())
        } else {
            return Err(Failure::usage("no plan is stated")
                .hint("--layout STRING, --megatron-flags FLAGS, --plan FILE.json or --yaml FILE.yaml"));
        };
        let options = import::Options {
            stages: self.beside.map(|(stages, _)| stages).or(given.stages.map(|stages| stages as usize)),
            recompute: match self.recompute_layers.as_str() {
                "none" => Setting::None,
                "full" => Setting::Uniform,
                kind => Setting::Selective(kind.to_owned()),
            },
            multi_loss: self.megatron_multi_loss,
        };
        import::read(import::find(name)?, &text, model, &options)
            .map_err(|why| Failure::usage(format!("{place}: {why}")))
    }
}

/// The rule of groups of a text.
pub(super) fn group(text: &str) -> Result<Grouping, Failure> {
    match text.split_once(':') {
        None if text == "first" => Ok(Grouping::First),
        Some(("uniform", size)) => match size.parse() {
            Ok(size) if size > 0 => Ok(Grouping::Uniform(size)),
            _ => Err(Failure::usage(format!("--group {text}: the size of a group is a number of micro-batches"))),
        },
        _ => Err(Failure::usage(format!("--group {text}: write first or uniform:SIZE"))),
    }
}
