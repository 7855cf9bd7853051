//! Flags of later steps: each is known by name and refused, so that nobody believes it had an effect.

use crate::cli::Failure;
use crate::verb::sampling::keep_refusal;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Long flags of later steps, and what serves meanwhile.
const LATER: &[(&str, &str)] = &[
    ("multi", "parallel edges are merged"),
    ("seeds-in-parallel", "seeds run one after the other, each on all threads"),
    ("batch", "training is full-batch"),
    ("batch-size", "training is full-batch"),
    ("micro-draws", "there is one draw per step"),
    ("stages", "the whole network runs as one stage"),
    ("plan", "the whole network runs as one stage"),
];

/// Whichever of the flags of later steps was given first in the table, and the other way to say p.
#[derive(Debug, Clone, Default)]
pub(crate) struct Later {
    given: Option<(&'static str, &'static str)>,
    keep: Option<String>,
}

impl Later {
    /// Fails if one was given.
    pub(crate) fn refuse(&self) -> Result<(), Failure> {
        if let Some(keep) = &self.keep {
            return Err(keep_refusal(keep));
        }
        match self.given {
            Some((name, instead)) => Err(Failure::usage(format!("--{name}: not built yet")).hint(instead)),
            None => Ok(()),
        }
    }
}

fn hidden(name: &'static str) -> Arg {
    // With or without a value: what follows is not understood anyway.
    Arg::new(name).long(name).hide(true).num_args(0..=1).action(ArgAction::Append).allow_negative_numbers(true)
}

impl Args for Later {
    fn augment_args(command: Command) -> Command {
        command.args(LATER.iter().map(|(name, _)| hidden(name))).arg(hidden("keep"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Later {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Later, clap::Error> {
        let given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let keep = given("keep").then(|| matches.get_one::<String>("keep").cloned().unwrap_or_default());
        Ok(Later { given: LATER.iter().find(|(name, _)| given(name)).copied(), keep })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Later::from_arg_matches(matches)?;
        Ok(())
    }
}
