//! What a stage can hold: every choice of layers and kinds for its chunks that fits its cap, but for those that another one
//! of as many layers beats.
//!
//! A pattern is whole, and its peak is exact, transients and all. So a program that chooses one pattern for each stage needs no
//! rows of memory, and its relaxation mixes only what is possible. Two patterns with the same layers in each chunk differ in
//! durations alone; one that is nowhere shorter is left out.

use super::Limits;
use crate::problem::Problem;
use crate::simulate::memory::Activations;
use crate::simulate::{Durations, Order, Vectors};

/// A choice for the chunks of a stage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    /// By chunk: layers of each segment of the body, then durations by kind of operation.
    pub(super) values: Box<[u64]>,
    /// Chunk, item, layers.
    pub(super) runs: Box<[(u32, u32, u32)]>,
}

/// The patterns of all stages.
pub(super) struct Patterns {
    /// The segments of the body that have layers, in model order.
    pub(super) body: Vec<usize>,
    /// Values of a chunk: segments of the body and kinds of operations.
    pub(super) width: usize,
    /// By stage, sorted by layers.
    pub(super) stages: Vec<Vec<Pattern>>,
}

/// What a layer of an item costs.
struct Unit {
    work: Vec<u64>,
    kept: u64,
    transient: u64,
    constant: u64,
}

/// What one chunk may hold.
#[derive(Debug, Clone)]
struct Choice {
    values: Vec<u64>,
    kept: u64,
    transient: u64,
    constant: u64,
    counts: Vec<u32>,
}

impl Choice {
    /// Costs that a better one has less of.
    fn costs(&self, segments: usize) -> impl Iterator<Item = u64> + '_ {
        self.values[segments..].iter().copied().chain([self.kept, self.transient, self.constant])
    }
}

struct Builder<'a> {
    problem: &'a Problem,
    order: &'a Order,
    vectors: &'a Vectors,
    body: Vec<usize>,
    units: Vec<Unit>,
    tails: Vec<u64>,
    /// No plan that takes this long is looked for.
    makespan: u64,
    /// Combinations that may still be looked at.
    left: u64,
}

/// The patterns of every stage with which a makespan below `makespan` is possible; `None` if there are too many, or once
/// `limits` say to stop.
pub(super) fn all(
    problem: &Problem,
    order: &Order,
    vectors: &Vectors,
    makespan: u64,
    limits: &Limits<'_>,
) -> Option<Patterns> {
    let segments = &problem.model().segments;
    let body: Vec<usize> = (0..segments.len()).filter(|&at| problem.is_body(at) && segments[at].count > 0).collect();
    let (k, items) = (order.dims().virtual_stages(), problem.items().len());
    let (empty, before) = problem.costs(order, &vec![0; k * items]);
    let unit = |item: usize| {
        let mut counts = vec![0; k * items];
        counts[item] = 1;
        unit(&problem.costs(order, &counts), before.constant[0], k)
    };
    let units: Vec<Unit> = (0..items).map(unit).collect();
    let width = body.len() + empty.operations.len() / k;
    let mut builder =
        Builder { problem, order, vectors, body, units, tails: empty.tails, makespan, left: limits.combinations };
    let mut stages = Vec::new();
    for stage in 0..order.dims().stages {
        let found = if (limits.stop)() { None } else { builder.stage(stage) };
        stages.push(found?);
        if stages.iter().map(Vec::len).sum::<usize>() > limits.patterns {
            return None;
        }
    }
    Some(Patterns { body: builder.body, width, stages })
}

/// What one layer in the first virtual stage costs.
fn unit((durations, memory): &(Durations<u64>, Activations), constant: u64, k: usize) -> Unit {
    Unit {
        work: durations.operations.iter().step_by(k).copied().collect(),
        kept: memory.kept[0],
        transient: memory.transient[0],
        constant: memory.constant[0] - constant,
    }
}

impl Builder<'_> {
    /// The patterns of a stage; `None` if there are too many combinations.
    fn stage(&mut self, stage: usize) -> Option<Vec<Pattern>> {
        let dims = self.order.dims();
        let (k, placement) = (dims.virtual_stages(), self.order.shape().placement);
        let mut memory =
            Activations { kept: vec![0; k], transient: vec![0; k], constant: self.problem.constant().to_vec() };
        let places: Vec<usize> =
            (0..dims.chunks).map(|chunk| placement.virtual_stage(stage, chunk, dims.stages)).collect();
        let mut choices = Vec::new();
        for &at in &places {
            choices.push(self.choices(stage, at, &mut memory)?);
        }
        let mut found = Vec::new();
        self.combine(stage, &places, &choices, &mut Vec::new(), &mut memory, &mut found)?;
        Some(self.best(found))
    }

    /// Every choice of the chunk at virtual stage `at` that fits by itself.
    fn choices(&mut self, stage: usize, at: usize, memory: &mut Activations) -> Option<Vec<Choice>> {
        let (problem, kinds) = (self.problem, self.units[0].work.len());
        let none = Choice {
            values: vec![0; self.body.len() + kinds],
            kept: 0,
            transient: 0,
            constant: 0,
            counts: vec![0; problem.items().len()],
        };
        let mut all = vec![none];
        for (segment, s) in problem.model().segments.iter().enumerate() {
            let pinned = s.role.place(self.order.dims().virtual_stages());
            if pinned.is_some_and(|place| place != at) || !self.may_be(segment, at) {
                continue;
            }
            for item in (0..problem.items().len()).filter(|&item| problem.items()[item].segment == segment) {
                all = self.extended(&all, (segment, item), stage, at, memory)?;
            }
            let layers = |choice: &Choice| self.layers(choice, segment);
            all.retain(|choice| pinned.is_none() || layers(choice) == s.count);
        }
        all.retain(|choice| self.is_whole(choice));
        Some(all)
    }

    /// Whether pinned segments in the midst let layers of a segment be at a virtual stage.
    fn may_be(&self, segment: usize, at: usize) -> bool {
        let (k, segments) = (self.order.dims().virtual_stages(), &self.problem.model().segments);
        let fits = |(other, s): (usize, &crate::model::Segment)| match s.role.place(k) {
            Some(place) if place > 0 && place + 1 < k && self.problem.is_body(segment) && s.count > 0 => {
                if other < segment { at >= place } else { at <= place }
            }
            _ => true,
        };
        segments.iter().enumerate().all(fits)
    }

    fn layers(&self, choice: &Choice, segment: usize) -> u32 {
        let own = self.problem.items().iter().zip(&choice.counts).filter(|(item, _)| item.segment == segment);
        own.map(|(_, &count)| count).sum()
    }

    /// Whether it is a run of the body, long enough: between two of its segments no layer is left out.
    fn is_whole(&self, choice: &Choice) -> bool {
        let layers = &choice.values[..self.body.len()];
        let present = |&at: &usize| layers[at] > 0;
        let (first, last) = ((0..layers.len()).find(present), (0..layers.len()).rev().find(present));
        let (Some(first), Some(last)) = (first, last) else { return self.problem.least() == 0 };
        let full = |at: usize| layers[at] == u64::from(self.problem.model().segments[self.body[at]].count);
        (first + 1..last).all(full) && layers.iter().sum::<u64>() >= u64::from(self.problem.least())
    }

    /// The choices with any number of layers of an item on top; those that another one beats are left out.
    fn extended(
        &mut self,
        all: &[Choice],
        (segment, item): (usize, usize),
        stage: usize,
        at: usize,
        memory: &mut Activations,
    ) -> Option<Vec<Choice>> {
        let most = self.problem.model().segments[segment].count;
        let place = self.body.iter().position(|&other| other == segment);
        let mut found = Vec::new();
        for choice in all {
            let mut choice = choice.clone();
            let mut layers = self.layers(&choice, segment);
            loop {
                self.left = self.left.checked_sub(1)?;
                if !self.fits(stage, &[(at, &choice)], memory) {
                    break;
                }
                found.push(choice.clone());
                layers += 1;
                if layers > most {
                    break;
                }
                let unit = &self.units[item];
                choice.counts[item] += 1;
                choice.kept = choice.kept.checked_add(unit.kept)?;
                choice.constant = choice.constant.checked_add(unit.constant)?;
                choice.transient = choice.transient.max(unit.transient);
                place.iter().for_each(|&place| choice.values[place] += 1);
                let work = choice.values[self.body.len()..].iter_mut();
                work.zip(&unit.work).for_each(|(sum, work)| *sum += work);
            }
        }
        let segments = self.body.len();
        let key = |choice: &Choice| (choice.values[..segments].to_vec(), self.layers(choice, segment));
        found.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.costs(segments).cmp(b.costs(segments))));
        let beats = |a: &Choice, b: &Choice| a.costs(segments).zip(b.costs(segments)).all(|(a, b)| a <= b);
        Some(unbeaten(found, key, beats))
    }

    /// Whether chunks of a stage fit its cap and time, the others empty.
    fn fits(&self, stage: usize, chunks: &[(usize, &Choice)], memory: &mut Activations) -> bool {
        let (mut constant, mut work) = (self.problem.constant()[stage], self.tails[stage]);
        for &(at, choice) in chunks {
            (memory.kept[at], memory.transient[at]) = (choice.kept, choice.transient);
            constant = constant.saturating_add(choice.constant);
            let own: u64 = choice.values[self.body.len()..].iter().sum();
            work = work.saturating_add(own.saturating_mul(self.order.dims().micro_batches as u64));
        }
        memory.constant[stage] = constant;
        let peak = self.vectors.peak(self.order, stage, memory);
        chunks.iter().for_each(|&(at, _)| (memory.kept[at], memory.transient[at]) = (0, 0));
        work < self.makespan && peak.is_some_and(|peak| peak <= self.problem.caps()[stage])
    }

    /// Takes a choice for each chunk.
    fn combine<'c>(
        &mut self,
        stage: usize,
        places: &[usize],
        choices: &'c [Vec<Choice>],
        chosen: &mut Vec<(usize, &'c Choice)>,
        memory: &mut Activations,
        found: &mut Vec<Pattern>,
    ) -> Option<()> {
        let Some((own, rest)) = choices.split_first() else {
            found.push(pattern(chosen));
            return Some(());
        };
        for choice in own {
            self.left = self.left.checked_sub(1)?;
            chosen.push((places[chosen.len()], choice));
            if self.fits(stage, chosen, memory) {
                self.combine(stage, places, rest, chosen, memory, found)?;
            }
            chosen.pop();
        }
        Some(())
    }

    /// Those that no other one of the same layers beats, sorted by layers.
    fn best(&self, mut found: Vec<Pattern>) -> Vec<Pattern> {
        let (segments, width) = (self.body.len(), self.body.len() + self.units[0].work.len());
        let layers = |pattern: &Pattern| pattern.layers(segments, width);
        found.sort();
        found.sort_by_cached_key(layers);
        unbeaten(found, layers, |a, b| a.values.iter().zip(&b.values).all(|(a, b)| a <= b))
    }
}

impl Pattern {
    /// By chunk and segment of the body.
    fn layers(&self, segments: usize, width: usize) -> Vec<u64> {
        self.values.chunks(width).flat_map(|chunk| chunk[..segments].iter().copied()).collect()
    }
}

impl Patterns {
    /// The patterns of a stage with given layers by chunk and segment of the body: a range of their places.
    pub(super) fn of_layers(&self, stage: usize, layers: &[u64]) -> std::ops::Range<usize> {
        let all = &self.stages[stage];
        let own = |pattern: &Pattern| pattern.layers(self.body.len(), self.width);
        let start = all.partition_point(|pattern| own(pattern)[..] < *layers);
        start..all.partition_point(|pattern| own(pattern)[..] <= *layers)
    }

    /// Layers of the body in all chunks.
    pub(super) fn placed(&self, pattern: &Pattern) -> u64 {
        pattern.values.chunks(self.width).flat_map(|chunk| &chunk[..self.body.len()]).sum()
    }

    /// Layers of the body and durations of a chunk.
    pub(super) fn chunk<'p>(&self, pattern: &'p Pattern, chunk: usize) -> (&'p [u64], &'p [u64]) {
        pattern.values[chunk * self.width..(chunk + 1) * self.width].split_at(self.body.len())
    }
}

fn pattern(chosen: &[(usize, &Choice)]) -> Pattern {
    let values = chosen.iter().flat_map(|(_, choice)| choice.values.iter().copied()).collect();
    let runs = chosen.iter().enumerate().flat_map(|(chunk, (_, choice))| {
        let present = choice.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        present.map(move |(item, &count)| (chunk as u32, item as u32, count))
    });
    Pattern { values, runs: runs.collect() }
}

/// Leaves out what another one with the same key beats; neighbours with one key come together, of equals the first stays.
fn unbeaten<T, K: PartialEq>(all: Vec<T>, key: impl Fn(&T) -> K, beats: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    let (mut start, mut current) = (0, None);
    for one in all {
        let own = Some(key(&one));
        if own != current {
            (start, current) = (kept.len(), own);
        }
        if !kept[start..].iter().any(|other| beats(other, &one)) {
            kept.push(one);
        }
    }
    kept
}
