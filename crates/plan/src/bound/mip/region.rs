//! Parts of the space of plans: which patterns are allowed, and how a part is split in two.
//!
//! A region bounds the layers of every stage and every value of every virtual stage: layers of each segment of the body,
//! durations by kind of operation. A split takes what a relaxation mixed apart: first segments that overlap (the first one
//! ends at some virtual stage, and the second one does not begin before it), then parts of a layer on a stage, which decide
//! most of its time and memory, then those of a virtual stage, then what else differs.

use super::patterns::{Pattern, Patterns};

/// Weights below which a pattern counts as absent.
const ABSENT: f64 = 1e-6;

/// A restriction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    /// A value of a virtual stage is at most this.
    AtMost { at: usize, value: usize, most: u64 },
    /// A value of a virtual stage is at least this.
    AtLeast { at: usize, value: usize, least: u64 },
    /// A stage has at most so many layers of the body.
    StageAtMost { stage: usize, most: u64 },
    /// A stage has at least so many layers of the body.
    StageAtLeast { stage: usize, least: u64 },
    /// No layer of a segment of the body is after a virtual stage.
    Until { segment: usize, at: usize },
    /// No layer of a segment of the body is before a virtual stage.
    From { segment: usize, at: usize },
}

/// The virtual stages of each stage's chunks.
pub(super) type Places = Vec<Vec<usize>>;

/// By stage the patterns of a mixture with their weights.
pub(super) type Mixture = Vec<Vec<(u32, f64)>>;

/// Least and most of each value.
pub(super) struct Region {
    width: usize,
    /// By virtual stage and value.
    least: Vec<u64>,
    most: Vec<u64>,
    /// Layers of the body, by stage.
    layers: Vec<(u64, u64)>,
}

impl Region {
    /// The part that `splits` leave.
    pub(super) fn new(patterns: &Patterns, places: &Places, splits: &[Split]) -> Region {
        let (width, virtual_stages) = (patterns.width, places.iter().map(Vec::len).sum::<usize>());
        let (least, most) = (vec![0; virtual_stages * width], vec![u64::MAX; virtual_stages * width]);
        let mut region = Region { width, least, most, layers: vec![(0, u64::MAX); places.len()] };
        splits.iter().for_each(|&split| region.apply(split, virtual_stages));
        region
    }

    fn apply(&mut self, split: Split, virtual_stages: usize) {
        let width = self.width;
        match split {
            Split::AtMost { at, value, most } => {
                let slot = &mut self.most[at * width + value];
                *slot = most.min(*slot);
            }
            Split::AtLeast { at, value, least } => {
                let slot = &mut self.least[at * width + value];
                *slot = least.max(*slot);
            }
            Split::StageAtMost { stage, most } => self.layers[stage].1 = most.min(self.layers[stage].1),
            Split::StageAtLeast { stage, least } => self.layers[stage].0 = least.max(self.layers[stage].0),
            Split::Until { segment, at } => {
                (at + 1..virtual_stages).for_each(|at| self.most[at * width + segment] = 0);
            }
            Split::From { segment, at } => (0..at).for_each(|at| self.most[at * width + segment] = 0),
        }
    }

    fn allows(&self, pattern: &Pattern, places: &[usize]) -> bool {
        let chunk = |(&at, values): (&usize, &[u64])| {
            let (least, most) = (&self.least[at * self.width..], &self.most[at * self.width..]);
            values.iter().zip(least).zip(most).all(|((value, least), most)| least <= value && value <= most)
        };
        places.iter().zip(pattern.values.chunks(self.width)).all(chunk)
    }

    /// The allowed patterns of each stage.
    pub(super) fn allowed(&self, patterns: &Patterns, places: &Places) -> Vec<Vec<u32>> {
        let of = |stage: usize| {
            let (least, most) = self.layers[stage];
            let allows = |pattern: &Pattern| {
                (least..=most).contains(&patterns.placed(pattern)) && self.allows(pattern, &places[stage])
            };
            let all = patterns.stages[stage].iter().enumerate();
            all.filter(|(_, pattern)| allows(pattern)).map(|(at, _)| at as u32).collect()
        };
        (0..places.len()).map(of).collect()
    }
}

/// Mean, least and most of a value in a mixture.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    least: u64,
    most: u64,
}

/// By virtual stage and value.
fn spreads(patterns: &Patterns, places: &Places, mixture: &Mixture) -> Vec<Spread> {
    let count = places.iter().map(Vec::len).sum::<usize>() * patterns.width;
    let mut all = vec![Spread { mean: 0.0, least: u64::MAX, most: 0 }; count];
    for ((stage, places), weights) in patterns.stages.iter().zip(places).zip(mixture) {
        let present = weights.iter().filter(|&&(_, weight)| weight > ABSENT);
        let whole: f64 = present.clone().map(|&(_, weight)| weight).sum();
        for &(pattern, weight) in present {
            for (&at, values) in places.iter().zip(stage[pattern as usize].values.chunks(patterns.width)) {
                for (slot, &value) in all[at * patterns.width..].iter_mut().zip(values) {
                    slot.mean += weight / whole * value as f64;
                    (slot.least, slot.most) = (slot.least.min(value), slot.most.max(value));
                }
            }
        }
    }
    all
}

/// Mean layers of the body in a mixture, by virtual stage and segment of the body.
pub(super) fn layers(patterns: &Patterns, places: &Places, mixture: &Mixture) -> Vec<Vec<f64>> {
    let all = spreads(patterns, places, mixture);
    all.chunks(patterns.width).map(|row| row[..patterns.body.len()].iter().map(|s| s.mean).collect()).collect()
}

/// Two parts that a mixture is in neither of, which together hold every plan; `None` if it mixes nothing.
pub(super) fn branch(patterns: &Patterns, places: &Places, mixture: &Mixture) -> Option<[Split; 2]> {
    let all = spreads(patterns, places, mixture);
    border(patterns, &all).or_else(|| stage(patterns, mixture)).or_else(|| value(patterns, &all))
}

/// How far a mean is from a whole number.
fn fraction(mean: f64) -> f64 {
    (mean - mean.floor()).min(mean.ceil() - mean)
}

/// Splits at the stage whose layers are furthest from whole.
fn stage(patterns: &Patterns, mixture: &Mixture) -> Option<[Split; 2]> {
    let mean = |stage: usize| {
        let present = mixture[stage].iter().filter(|&&(_, weight)| weight > ABSENT);
        let whole: f64 = present.clone().map(|&(_, weight)| weight).sum();
        let layers = |pattern: u32| patterns.placed(&patterns.stages[stage][pattern as usize]) as f64;
        present.map(|&(pattern, weight)| weight / whole * layers(pattern)).sum::<f64>()
    };
    let means = (0..mixture.len()).map(|stage| (stage, mean(stage))).filter(|&(_, mean)| fraction(mean) > ABSENT);
    let (stage, mean) = means.max_by(|a, b| fraction(a.1).total_cmp(&fraction(b.1)).then(b.0.cmp(&a.0)))?;
    let most = mean as u64;
    Some([Split::StageAtMost { stage, most }, Split::StageAtLeast { stage, least: most + 1 }])
}

/// Splits where two segments of the body overlap, so that most of both is on the wrong side.
fn border(patterns: &Patterns, all: &[Spread]) -> Option<[Split; 2]> {
    let k = all.len() / patterns.width;
    let mean = |at: usize, segment: usize| all[at * patterns.width + segment].mean;
    let mut best: Option<(f64, [Split; 2])> = None;
    for segment in 1..patterns.body.len() {
        for at in 0..k.saturating_sub(1) {
            let after: f64 = (at + 1..k).map(|other| mean(other, segment - 1)).sum();
            let before: f64 = (0..=at).map(|other| mean(other, segment)).sum();
            let wrong = after.min(before);
            if wrong > ABSENT && best.as_ref().is_none_or(|&(most, _)| wrong > most) {
                best = Some((wrong, [Split::Until { segment: segment - 1, at }, Split::From { segment, at: at + 1 }]));
            }
        }
    }
    best.map(|(_, splits)| splits)
}

/// Splits at the value that is furthest from whole: layers first, then the widest ones.
fn value(patterns: &Patterns, all: &[Spread]) -> Option<[Split; 2]> {
    let segments = patterns.body.len();
    let score = |at: usize| {
        let Spread { mean, least, most } = all[at];
        let fraction = fraction(mean);
        let is_layers = at % patterns.width < segments;
        let width = most.saturating_sub(least) as f64;
        // Layers: parts of one before whole mixtures. Durations: the widest, as a part of themselves.
        match (is_layers, fraction > ABSENT) {
            (true, true) => 3.0 + fraction,
            (true, false) => 2.0 + width / (1.0 + width),
            (false, _) => width / most.max(1) as f64,
        }
    };
    let mixed = (0..all.len()).filter(|&at| all[at].least < all[at].most);
    let at = mixed.max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a)))?;
    let Spread { mean, least, most } = all[at];
    let cut = (mean as u64).clamp(least, most - 1);
    let (at, value) = (at / patterns.width, at % patterns.width);
    Some([Split::AtMost { at, value, most: cut }, Split::AtLeast { at, value, least: cut + 1 }])
}
