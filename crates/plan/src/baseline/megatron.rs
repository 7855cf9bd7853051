//! Megatron-LM (Narayanan et al., SC 2021; Korthikanti et al. 2022) as it is run: equal shares and one setting for all ranks.
//!
//! Every virtual stage has the same number of layers, what remains goes to the middle ones; layers that predict further
//! tokens are on the last virtual stage. The recomputation is the lightest of what its flags can state ([`Setting`]: none,
//! selective with a list of modules, full block N, full uniform) with which all peaks fit, as found by trying them one after
//! the other; lightest is the least recomputed time of a micro-batch. With chunks the schedule is the interleaved one.
//!
//! Ours: the shares where L does not divide (Megatron refuses, or has counts for the first and last stage), and peaks that
//! are exact, as a run would show them: Megatron's own estimate takes L/S layers for every rank.

use super::sequence::{Sequence, no_cut};
use super::{Answer, Entry, Options};
use crate::Result;
use crate::megatron::setting::MODULES;
use crate::megatron::{Item, Setting};
use crate::model::Role;
use crate::problem::Problem;
use crate::schedule::{self, Dims};
use crate::simulate::{Order, Vectors};

pub(super) const ENTRY: Entry = Entry {
    name: "megatron",
    summary: "equal shares and the lightest one setting of recomputation that fits (Megatron-LM)",
    plan,
};

fn plan(problem: &Problem, dims: &Dims, _: &Options) -> Result<Answer> {
    let sequence = Sequence::new(problem, dims)?;
    let Some(ends) = shares(&sequence) else { return Ok(no_cut()) };
    let mut settings: Vec<Vec<u32>> =
        candidates(&sequence, &ends).iter().filter_map(|setting| counts(&sequence, &ends, setting)).collect();
    let extra = |counts: &Vec<u32>| -> u64 {
        let each = counts.chunks(problem.items().len()).flat_map(|row| row.iter().zip(problem.items()));
        each.map(|(&count, item)| item.extra * u64::from(count)).sum()
    };
    settings.sort_by_key(extra);
    let name = if dims.chunks == 1 { "1f1b" } else { "interleaved" };
    let order = Order::new(schedule::find(name)?, dims)?;
    let vectors = Vectors::new(&order);
    let mut nearest: Option<(u64, usize, u64)> = None;
    for counts in &settings {
        let Some((over, stage, need)) = worst(problem, &order, &vectors, counts) else { continue };
        if over == 0 {
            return Ok(sequence.plan(counts, None));
        }
        nearest = nearest.filter(|&(least, ..)| least <= over).or(Some((over, stage, need)));
    }
    Ok(match nearest {
        Some((_, stage, need)) => sequence.exceeds(stage, need),
        None => Answer::None("no setting fits: none can be stated with the allowed kinds of recomputation".to_owned()),
    })
}

/// The ends of equal shares of the layers, with all that predict further tokens on the last virtual stage; none if pinned
/// segments do not let that be, or a virtual stage would be empty.
fn shares(sequence: &Sequence<'_>) -> Option<Vec<usize>> {
    let further = |at: &usize| sequence.problem.model().segments[sequence.segment(*at)].role == Role::Mtp;
    let first = (0..sequence.len()).find(further).unwrap_or(sequence.len());
    if !sequence.windows.possible() || !(first..sequence.len()).all(|at| further(&at)) {
        return None;
    }
    let mut ends = sequence.windows.even(first);
    let k = sequence.windows.virtual_stages();
    ends[k] = sequence.len();
    let last = k == 1 || ends[k - 1] <= first;
    let filled = ends.windows(2).all(|pair| pair[0] + sequence.windows.least <= pair[1]);
    (last && filled).then_some(ends)
}

/// Every setting that differs on these shares.
fn candidates(sequence: &Sequence<'_>, ends: &[usize]) -> Vec<Setting> {
    let longest = ends.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let selective = ["selective"].into_iter().chain(MODULES).filter(|name| {
        sequence.problem.model().segments.iter().any(|segment| segment.kinds.iter().any(|kind| kind.name == *name))
    });
    let mut all = vec![Setting::None, Setting::Uniform];
    all.extend(selective.map(|name| Setting::Selective(name.to_owned())));
    all.extend((1..=longest).map(Setting::Block));
    all
}

/// Layers by virtual stage and item under a setting; none if a segment has no such kind.
fn counts(sequence: &Sequence<'_>, ends: &[usize], setting: &Setting) -> Option<Vec<u32>> {
    let (segments, items) = (&sequence.problem.model().segments, sequence.problem.items().len());
    let mut counts = vec![0; (ends.len() - 1) * items];
    for (at, pair) in ends.windows(2).enumerate() {
        let row = &mut counts[at * items..(at + 1) * items];
        for group in sequence.pinned(at) {
            row[sequence.lightest(group.segment)] += group.count as u32;
        }
        let layers: Vec<usize> = (pair[0]..pair[1]).map(|layer| sequence.segment(layer)).collect();
        let modules: Vec<Item> = layers.iter().map(|&segment| Item::of_body(segments[segment].role)).collect();
        for (&segment, (_, kind)) in layers.iter().zip(setting.layers(&modules)) {
            let named = |&&item: &&usize| segments[segment].kinds[sequence.item(item).kind].name == kind;
            row[*sequence.kinds(segment).iter().find(named)?] += 1;
        }
    }
    Some(counts)
}

/// By how much the stage that is furthest beyond its cap exceeds it (0 if all fit), the stage and its peak; none beyond u64.
fn worst(problem: &Problem, order: &Order, vectors: &Vectors, counts: &[u32]) -> Option<(u64, usize, u64)> {
    let (_, memory) = problem.costs(order, counts);
    let of = |stage: usize| {
        let peak = vectors.peak(order, stage, &memory)?;
        Some((peak.saturating_sub(problem.caps()[stage]), stage, peak))
    };
    let all: Option<Vec<_>> = (0..order.dims().stages).map(of).collect();
    all?.into_iter().max_by_key(|&(over, stage, _)| (over, std::cmp::Reverse(stage)))
}
