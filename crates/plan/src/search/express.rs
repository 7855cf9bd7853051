//! What a framework can state: kinds of recomputation that follow from the cut, or that come in a certain order.

use super::Setting;
use super::state::{Change, State};
use crate::megatron::{self, Item};
use crate::problem::Problem;
use crate::{Error, Result};

/// Which partitions are allowed, besides those that fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Rule {
    /// All.
    #[default]
    Any,
    /// The layers of a virtual stage are full, then both, then selective or communication but not both of them, then none
    /// (the nested lists of MindFormers).
    Nested,
    /// One setting of recomputation holds for all (Megatron-LM); the kinds follow from the cut.
    Global(megatron::Setting),
}

/// A rule made ready for a problem.
#[derive(Debug, Clone)]
pub(crate) enum Ready {
    Any,
    /// Place of each item in the order of the nested lists.
    Nested(Vec<Nested>),
    /// By segment of the body.
    Global(Vec<Global>),
}

/// What an item is in the nested lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nested {
    Full,
    Both,
    Selective,
    Communication,
    None,
}

/// How the layers of a segment recompute: the first of a virtual stage as `first`, the others as `rest`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Global {
    segment: usize,
    first: usize,
    rest: usize,
    /// How many layers of a virtual stage, of all segments, are the first ones.
    most: u32,
    /// Whether its layers count for that.
    counts: bool,
}

impl Rule {
    /// # Errors
    /// [`Error::Problem`] for a segment without costs of a kind that the rule needs.
    pub(crate) fn ready(&self, problem: &Problem) -> Result<Ready> {
        let name = |item: usize| {
            let item = &problem.items()[item];
            problem.model().segments[item.segment].kinds[item.kind].name.as_str()
        };
        match self {
            Rule::Any => Ok(Ready::Any),
            Rule::Nested => {
                let nested = |item| match name(item) {
                    "full" => Ok(Nested::Full),
                    "both" => Ok(Nested::Both),
                    "selective" => Ok(Nested::Selective),
                    "communication" => Ok(Nested::Communication),
                    "none" => Ok(Nested::None),
                    other => Err(Error::Problem {
                        what: format!("MindFormers has no list for the kind {other}; leave it out of --recompute"),
                    }),
                };
                Ok(Ready::Nested((0..problem.items().len()).map(nested).collect::<Result<_>>()?))
            }
            Rule::Global(setting) => {
                let segments = problem.model().segments.iter().enumerate().filter(|(_, s)| s.role.moves());
                let of = |(segment, s): (usize, &crate::model::Segment)| {
                    let item = Item::of_body(s.role);
                    let find = |kind: &str| {
                        let own = |&at: &usize| problem.items()[at].segment == segment && name(at) == kind;
                        (0..problem.items().len()).find(own).ok_or_else(|| Error::Problem {
                            what: format!("segment {} has no costs of the kind {kind}, or it is not allowed", s.name),
                        })
                    };
                    let most = if let megatron::Setting::Block(layers) = setting { *layers as u32 } else { 0 };
                    Ok(Global {
                        segment,
                        first: find(setting.kind(item, 0))?,
                        rest: find(setting.kind(item, usize::MAX))?,
                        most,
                        counts: item == Item::Decoder,
                    })
                };
                Ok(Ready::Global(segments.map(of).collect::<Result<_>>()?))
            }
        }
    }
}

impl Ready {
    /// Whether kinds follow from the cut.
    pub(crate) fn follows(&self) -> bool {
        matches!(self, Ready::Global(_))
    }

    /// Whether a virtual stage is one that the framework can state.
    pub(crate) fn allows(&self, setting: &Setting<'_>, counts: &[u32]) -> bool {
        let Ready::Nested(nested) = self else { return true };
        let (problem, items) = (setting.problem, setting.problem.items());
        let mut latest = Nested::Full;
        let mut last = None;
        let present = (0..items.len()).filter(|&at| counts[at] > 0 && problem.is_body(items[at].segment));
        let (mut selective, mut communication) = (false, false);
        // Within a segment the kinds may come in any order; the order of segments is that of the model.
        for at in present {
            let (segment, place) = (items[at].segment, nested[at]);
            if last != Some(segment) {
                let first = (0..items.len()).filter(|&i| counts[i] > 0 && items[i].segment == segment);
                if first.map(|i| nested[i]).min().is_some_and(|first| first < latest) {
                    return false;
                }
                last = Some(segment);
            }
            latest = latest.max(place);
            selective |= place == Nested::Selective;
            communication |= place == Nested::Communication;
        }
        !(selective && communication)
    }

    /// The counts that a virtual stage has once its kinds follow from its layers.
    pub(crate) fn follow(&self, setting: &Setting<'_>, counts: &mut [u32]) {
        let Ready::Global(segments) = self else { return };
        let items = setting.problem.items();
        let mut used = 0;
        for own in segments {
            let mut layers = 0;
            for (item, count) in items.iter().zip(&mut *counts) {
                if item.segment == own.segment {
                    layers += std::mem::take(count);
                }
            }
            let first = if own.counts { layers.min(own.most.saturating_sub(used)) } else { 0 };
            used += if own.counts { layers } else { 0 };
            counts[own.first] += first;
            counts[own.rest] += layers - first;
        }
    }

    /// Counts in `state` what follows from `changes`, which are counted, and adds it to them.
    pub(crate) fn settle(&self, setting: &Setting<'_>, state: &mut State, changes: &mut Vec<Change>) {
        if !self.follows() {
            return;
        }
        let items = setting.problem.items().len();
        let mut touched: Vec<usize> = changes.iter().map(|change| change.virtual_stage).collect();
        touched.sort_unstable();
        touched.dedup();
        for virtual_stage in touched {
            let row = virtual_stage * items;
            let mut wanted = state.counts[row..row + items].to_vec();
            self.follow(setting, &mut wanted);
            for (item, want) in wanted.into_iter().enumerate() {
                while state.counts[row + item] != want {
                    let change = Change { virtual_stage, item, more: state.counts[row + item] < want };
                    state.count(setting, change);
                    changes.push(change);
                }
            }
        }
    }
}
