//! The rules that Megatron-LM checks of a layout (`PipelineParallelLayerLayout`), each with a name.

use super::{Item, count};
use crate::schedule::Grouping;

/// What a layout is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Stages (pipeline ranks).
    pub stages: usize,
    /// Layers of the body.
    pub decoders: usize,
    /// Layers that predict further tokens.
    pub mtp: usize,
    /// Whether each of the latter may have a loss of its own.
    pub multi_loss: bool,
}

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule '{rule}': {what}")]
pub struct Broken {
    /// Name of the rule.
    pub rule: &'static str,
    /// What is there instead, with its place.
    pub what: String,
}

type Checked = std::result::Result<(), Broken>;

fn hold(holds: bool, rule: &'static str, what: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Broken { rule, what: what() }) }
}

/// Checks how the micro-batches of several chunks are grouped.
///
/// # Errors
/// The first rule that is broken.
pub fn groups(group: Grouping, stages: usize, micro_batches: usize) -> Checked {
    let size = match group {
        Grouping::First => stages,
        Grouping::Uniform(size) => size,
    };
    hold((stages..=micro_batches).contains(&size), "stages <= group <= micro-batches", || {
        format!("groups of {size} of {micro_batches} micro-batches on {stages} stages")
    })?;
    let rest = micro_batches.checked_rem(size).unwrap_or(0);
    hold(rest == 0 || rest >= stages, "no rest of a group below the stages", || {
        format!("{micro_batches} micro-batches in groups of {size} leave {rest}, on {stages} stages")
    })
}

impl Rules {
    /// Checks the items of each virtual stage. Empty stages are allowed anywhere.
    ///
    /// # Errors
    /// The first rule that is broken.
    pub fn check(&self, stages: &[Vec<Item>]) -> Checked {
        let k = stages.len();
        hold(self.stages > 0 && k.is_multiple_of(self.stages), "divisible", || {
            format!("{k} virtual stages are no multiple of the {} stages", self.stages)
        })?;
        self.ends(stages)?;
        self.counts(stages)?;
        self.mtp(stages)
    }

    fn ends(&self, stages: &[Vec<Item>]) -> Checked {
        let mut places = stages.iter().enumerate().flat_map(|(at, stage)| stage.iter().map(move |&item| (at, item)));
        let first = places.next();
        let last = places.last().or(first);
        let shown = |found: Option<(usize, Item)>| match found {
            Some((at, item)) => format!("it is {} in virtual stage {at}", item.letter()),
            None => "there is no item".to_owned(),
        };
        let is = |found: Option<(usize, Item)>, item| found.is_some_and(|(_, other)| other == item);
        hold(is(first, Item::Embedding), "first item is E", || shown(first))?;
        hold(is(last, Item::Loss), "last item is L", || shown(last))
    }

    fn counts(&self, stages: &[Vec<Item>]) -> Checked {
        let many = |item| {
            let holds = |stage: &Vec<Item>| stage.contains(&item);
            let at: Vec<String> = (0..stages.len()).filter(|&at| holds(&stages[at])).map(|at| at.to_string()).collect();
            format!("{} in virtual stages {}", count(stages, item), at.join(", "))
        };
        hold(count(stages, Item::Embedding) == 1, "one E", || many(Item::Embedding))?;
        let (losses, mtp) = (count(stages, Item::Loss), count(stages, Item::Mtp));
        hold(losses == 1 || self.multi_loss, "one L", || {
            format!("{}, and several losses are not allowed", many(Item::Loss))
        })?;
        hold(losses == 1 || losses == 1 + mtp, "one L more than m", || format!("{losses} L and {mtp} m"))?;
        let decoders = count(stages, Item::Decoder);
        hold(decoders == self.decoders, "as many t as layers", || {
            format!("{decoders} t, and {} layers", self.decoders)
        })?;
        hold(mtp == self.mtp, "as many m as layers", || format!("{mtp} m, and {} such layers", self.mtp))
    }

    fn mtp(&self, stages: &[Vec<Item>]) -> Checked {
        let items = || stages.iter().enumerate().flat_map(|(at, stage)| stage.iter().map(move |&item| (at, item)));
        let Some((at, _)) = items().find(|&(_, item)| item == Item::Mtp) else { return Ok(()) };
        let late = items().skip_while(|&(_, item)| item != Item::Mtp).find(|&(_, item)| item == Item::Decoder);
        hold(late.is_none(), "no t after m", || {
            format!("m in virtual stage {at}, t in virtual stage {}", late.map_or(at, |(late, _)| late))
        })?;
        let other = items().find(|&(other, item)| item == Item::Mtp && other != at).map(|(other, _)| other);
        hold(other.is_none(), "all m in one virtual stage", || {
            format!("m in virtual stages {at} and {}", other.unwrap_or(at))
        })?;
        let (rank, chunk, chunks) = (at % self.stages, at / self.stages, stages.len() / self.stages);
        hold(chunk + 1 == chunks, "m in the last chunk of its rank", || {
            format!("virtual stage {at} is chunk {chunk} of {chunks} of rank {rank}")
        })?;
        hold(rank > 0 || self.stages == 1, "m not on rank 0", || format!("virtual stage {at} is on rank 0"))
    }
}
