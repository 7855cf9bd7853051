//! Moves: a layer goes to another virtual stage, or changes its kind of recomputation; sometimes two of these at once.
//!
//! The body is one sequence of layers that is cut into virtual stages. A layer that goes from one virtual stage to another
//! takes the end of the sequence that faces it, and every virtual stage between passes one layer on; where all of these are
//! of one segment, those between do not change.

use super::Setting;
use super::state::{Change, State};
use sapwood_skeleton::random::below;
use std::ops::Range;

/// Four random words.
pub(crate) type Words = [u32; 4];

/// Share of the transfers that go to a neighbour, in 2³² parts.
const NEAR: u32 = (0.7 * 4_294_967_296.0) as u32;

/// Adds the changes of one simple move to `changes`; nothing for one that cannot be made. It begins at a virtual stage of the
/// stage that has `near`, else anywhere. Later changes see the earlier ones only through `state`, to which they must be
/// applied first.
pub(crate) fn propose(
    setting: &Setting<'_>,
    state: &State,
    words: Words,
    near: Option<usize>,
    changes: &mut Vec<Change>,
) -> bool {
    let (dims, placement) = (setting.order.dims(), setting.order.shape().placement);
    let at = match near {
        None => below(words[1], state.body.len() as u32) as usize,
        Some(near) => {
            let stage = placement.of(near, dims.stages).0;
            placement.virtual_stage(stage, below(words[1], dims.chunks as u32) as usize, dims.stages)
        }
    };
    if words[0] & 1 == 0 || setting.rule.follows() {
        transfer(setting, state, words, at, changes)
    } else {
        rekind(setting, state, words, at, changes)
    }
}

/// One layer goes from a virtual stage to another.
fn transfer(setting: &Setting<'_>, state: &State, words: Words, from: usize, changes: &mut Vec<Change>) -> bool {
    let k = state.body.len();
    if k < 2 {
        return false;
    }
    let to = if words[2] < NEAR {
        let forward = (from == 0 || words[0] & 2 == 0) && from + 1 < k;
        if forward { from + 1 } else { from - 1 }
    } else {
        let other = below(words[3], k as u32 - 1) as usize;
        if other >= from { other + 1 } else { other }
    };
    shift(setting, state, (from, to), words[3], changes)
}

/// The changes of moving one layer from a virtual stage to another.
pub(crate) fn shift(
    setting: &Setting<'_>,
    state: &State,
    (from, to): (usize, usize),
    word: u32,
    changes: &mut Vec<Change>,
) -> bool {
    if state.body[from] <= setting.problem.least() {
        return false;
    }
    let Some(mut carried) = end_item(setting, state, from, to > from, word) else { return false };
    changes.push(Change { virtual_stage: from, item: carried, more: false });
    let mut at = from;
    loop {
        at = if to > from { at + 1 } else { at - 1 };
        if at == to {
            changes.push(Change { virtual_stage: at, item: carried, more: true });
            return true;
        }
        // The end that passes a layer on; of the same segment it may be the carried one itself.
        let Some(passed) = end_item(setting, state, at, to > from, word) else { return false };
        let items = setting.problem.items();
        if items[passed].segment != items[carried].segment {
            changes.push(Change { virtual_stage: at, item: carried, more: true });
            changes.push(Change { virtual_stage: at, item: passed, more: false });
            carried = passed;
        }
    }
}

/// An item of the last (or first) segment of the body that a virtual stage has, chosen among its layers there.
fn end_item(setting: &Setting<'_>, state: &State, at: usize, last: bool, word: u32) -> Option<usize> {
    let row = at * setting.problem.items().len();
    let there = |segment: &Range<usize>| {
        let counts = &state.counts[row + segment.start..row + segment.end];
        Some((segment.start, counts, counts.iter().sum::<u32>())).filter(|&(_, _, total)| total > 0)
    };
    let mut segments = setting.body.iter();
    let (first, counts, total) = if last { segments.rev().find_map(there) } else { segments.find_map(there) }?;
    pick(counts, below(word, total)).map(|place| first + place)
}

/// The place that the `nth` of all counted falls on.
fn pick(counts: &[u32], mut nth: u32) -> Option<usize> {
    counts.iter().position(|&here| {
        let found = nth < here;
        nth = nth.saturating_sub(here);
        found
    })
}

/// One layer of a virtual stage changes its kind.
fn rekind(setting: &Setting<'_>, state: &State, words: Words, at: usize, changes: &mut Vec<Change>) -> bool {
    let items = setting.problem.items().len();
    let row = &state.counts[at * items..(at + 1) * items];
    let total: u32 = row.iter().sum();
    let Some(item) = pick(row, below(words[2], total.max(1))) else { return false };
    let siblings = &setting.siblings[item];
    if siblings.is_empty() {
        return false;
    }
    let other = siblings[below(words[3], siblings.len() as u32) as usize] as usize;
    changes.push(Change { virtual_stage: at, item, more: false });
    changes.push(Change { virtual_stage: at, item: other, more: true });
    true
}
