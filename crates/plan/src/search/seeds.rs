//! Where chains begin: uniform cuts with one kind of recomputation for all, and what makes them fit.

use super::state::State;
use super::{Options, Setting, descent, repair};
use crate::simulate::Sweep;
use crate::{Error, Result};

/// Partitions that do not fit from which one that fits is looked for.
const REPAIRED: usize = 4;

/// Partitions that fit, the best first.
///
/// # Errors
/// [`Error::Infeasible`] with the stage that is furthest beyond its cap in the partition that comes nearest.
pub(super) fn feasible(
    setting: &Setting<'_>,
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<State>> {
    let own = options.starts.len();
    let all = states(setting, [options.starts.clone(), equal(setting)].concat(), stop)?;
    let (mut found, mut others): (Vec<State>, Vec<State>) = all.into_iter().partition(|state| state.fits(setting));
    // Partitions that were asked for are made to fit in any case.
    if !found.is_empty() {
        others.truncate(own);
    }
    others.sort_by_key(|state| repair::excess(state, setting));
    others.truncate(REPAIRED);
    let before = others.clone();
    for (number, state) in others.iter_mut().enumerate() {
        if stop() && !found.is_empty() {
            break;
        }
        repair::walk(state, setting, options.seed, number)?;
        state.makespan = setting.makespan(state, &mut Sweep::new());
    }
    if found.is_empty() && !others.iter().any(|state| state.fits(setting)) {
        // The walks look for less excess in all, wherever it is; what is shown is near each cap.
        others.extend(before);
        for state in &mut others {
            descent::approach(state, setting, stop);
            state.makespan = setting.makespan(state, &mut Sweep::new());
        }
    }
    let nearest = others.iter().min_by_key(|state| descent::distance(state, setting)).cloned();
    found.extend(others.into_iter().filter(|state| state.fits(setting)));
    found.sort_by(|a, b| a.compare(b, setting));
    match nearest {
        Some(nearest) if found.is_empty() => Err(infeasible(&nearest, setting)),
        None if found.is_empty() => Err(Error::Problem { what: "no equal cut can be stated".to_owned() }),
        _ => Ok(found),
    }
}

/// What given partitions come to, as the rule has them; those that it does not allow are left out. Once one fits, `stop` is
/// asked before each.
///
/// # Errors
/// [`Error::Problem`] for one that is none.
pub(super) fn states(
    setting: &Setting<'_>,
    given: Vec<Vec<u32>>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<State>> {
    let (items, mut sweep) = (setting.problem.items().len(), Sweep::new());
    let (mut all, mut any) = (Vec::new(), false);
    for mut counts in given {
        setting.problem.check(&counts)?;
        if any && stop() {
            break;
        }
        counts.chunks_mut(items).for_each(|row| setting.rule.follow(setting, row));
        if counts.chunks(items).all(|row| setting.rule.allows(setting, row)) {
            let state = State::new(setting, counts, &mut sweep);
            any |= state.fits(setting);
            all.push(state);
        }
    }
    Ok(all)
}

/// Equal cuts, each kind of recomputation for all.
pub(super) fn equal(setting: &Setting<'_>) -> Vec<Vec<u32>> {
    let kinds = setting.problem.items().iter().map(|item| item.kind).max().unwrap_or(0) + 1;
    let cuts = [uniform(setting), descending(setting)];
    (0..kinds).flat_map(|kind| cuts.iter().map(move |cut| counts(setting, cut, kind))).collect()
}

/// What does not fit in the partition that comes nearest.
fn infeasible(state: &State, setting: &Setting<'_>) -> Error {
    if !state.keeps_pins(setting) {
        let what = "no partition was found that keeps the layers before a pinned segment before it and those after it \
                    after it, with a layer of the body in each virtual stage (unless they may be empty)";
        return Error::Problem { what: what.to_owned() };
    }
    let (caps, memory) = (setting.problem.caps(), setting.problem.memory());
    let over = |stage: &usize| state.peaks[*stage].saturating_sub(caps[*stage]);
    let stage = (0..state.peaks.len()).max_by_key(over).unwrap_or(0);
    Error::Infeasible { stage, need: memory.show(state.peaks[stage]), cap: memory.show(caps[stage]) }
}

/// An equal cut of the body whose layers keep as much as is allowed.
pub(super) fn even(setting: &Setting<'_>) -> Vec<u32> {
    counts(setting, &uniform(setting), 0)
}

/// Layers of the body in equal shares, what remains to the virtual stages in the middle.
fn uniform(setting: &Setting<'_>) -> Vec<u32> {
    let (layers, k) = (setting.problem.body_layers(), setting.order.dims().virtual_stages() as u32);
    let (share, rest) = (layers / k, layers % k);
    let first = (k - rest) / 2;
    beside_pins(setting, (0..k).map(|at| share + u32::from((first..first + rest).contains(&at))).collect())
}

/// A cut that is changed until the layers before a pinned segment are before it, and those after it after it.
fn beside_pins(setting: &Setting<'_>, cut: Vec<u32>) -> Vec<u32> {
    if setting.pins.is_empty() {
        return cut;
    }
    let least = setting.problem.least();
    let mut ends: Vec<u32> = std::iter::once(0)
        .chain(cut.iter().scan(0, |sum, &layers| {
            *sum += layers;
            Some(*sum)
        }))
        .collect();
    // Layers before the end of each virtual stage: the least and the most that the pins allow.
    let (last, all) = (ends.len() - 1, setting.problem.body_layers());
    let (mut low, mut high) = (vec![0; last + 1], vec![all; last + 1]);
    (high[0], low[last]) = (0, all);
    for &(at, before) in &setting.pins {
        high[at] = high[at].min(before);
        low[at + 1] = low[at + 1].max(before);
    }
    (1..=last).for_each(|at| low[at] = low[at].max(low[at - 1] + least));
    (0..last).rev().for_each(|at| high[at] = high[at].min(high[at + 1].saturating_sub(least)));
    for at in 1..=last {
        ends[at] = ends[at].max(ends[at - 1] + least).max(low[at]).min(high[at]).max(ends[at - 1]);
    }
    let kept: Vec<u32> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Pins that leave no room for a layer in each virtual stage are for the walk to find out.
    if kept.iter().all(|&layers| layers >= least) { kept } else { cut }
}

/// The same, what remains to the last virtual stages: the first ones keep most micro-batches.
fn descending(setting: &Setting<'_>) -> Vec<u32> {
    let (layers, k) = (setting.problem.body_layers(), setting.order.dims().virtual_stages() as u32);
    let (share, rest) = (layers / k, layers % k);
    beside_pins(setting, (0..k).map(|at| share + u32::from(at >= k - rest)).collect())
}

/// Counts of a cut of the body where all layers have the kind `kind`, or the nearest one that keeps less or the last.
pub(super) fn counts(setting: &Setting<'_>, cut: &[u32], kind: usize) -> Vec<u32> {
    let problem = setting.problem;
    let (items, segments) = (problem.items(), &problem.model().segments);
    let of_segment = |segment: usize| {
        let mut own = (0..items.len()).filter(|&i| items[i].segment == segment);
        let last = own.clone().next_back();
        own.find(|&i| items[i].kind >= kind).or(last)
    };
    let mut counts = vec![0; cut.len() * items.len()];
    let mut body = segments.iter().enumerate().filter(|(at, _)| problem.is_body(*at));
    let mut left = body.next().map(|(at, segment)| (at, segment.count));
    for (virtual_stage, &layers) in cut.iter().enumerate() {
        let mut wanted = layers;
        while wanted > 0 {
            let Some((segment, there)) = left else { break };
            let taken = wanted.min(there);
            if let Some(item) = of_segment(segment) {
                counts[virtual_stage * items.len() + item] += taken;
            }
            wanted -= taken;
            left = if taken == there {
                body.next().map(|(at, segment)| (at, segment.count))
            } else {
                Some((segment, there - taken))
            };
        }
    }
    for (at, segment) in segments.iter().enumerate().filter(|(at, _)| !problem.is_body(*at)) {
        let Some(virtual_stage) = segment.role.place(cut.len()) else { continue };
        if let Some(item) = (0..items.len()).find(|&i| items[i].segment == at) {
            counts[virtual_stage * items.len() + item] += segment.count;
        }
    }
    counts
}
