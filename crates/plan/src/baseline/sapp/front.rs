//! What some layers can do: pairs of extra time and kept memory of which no other one is better in both.

use super::super::sequence::Sequence;
use super::super::{Nodes, Spent};
use std::collections::BTreeMap;

/// One choice of kinds for some layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    /// Extra time of their recomputation.
    pub(super) extra: u64,
    /// Memory that a micro-batch keeps.
    pub(super) activation: u64,
    /// The choice for one layer less, in its front.
    before: usize,
    /// The item of the layer that was added.
    item: usize,
}

/// The choices of so many layers of each segment; extra time rises, memory falls.
#[derive(Debug, Clone)]
pub(super) struct Front {
    pub(super) points: Vec<Point>,
    /// The front of one layer less.
    before: usize,
}

/// Fronts by numbers of layers, made when they are asked for.
pub(super) struct Fronts<'a> {
    sequence: &'a Sequence<'a>,
    /// The segment of each number.
    segments: Vec<usize>,
    known: BTreeMap<Vec<usize>, usize>,
    fronts: Vec<Front>,
}

impl<'a> Fronts<'a> {
    pub(super) fn new(sequence: &'a Sequence<'a>, segments: Vec<usize>) -> Fronts<'a> {
        let nothing = Front { points: vec![Point { extra: 0, activation: 0, before: 0, item: 0 }], before: 0 };
        let known = BTreeMap::from([(vec![0; segments.len()], 0)]);
        Fronts { sequence, segments, known, fronts: vec![nothing] }
    }

    /// A front by its place.
    pub(super) fn at(&self, place: usize) -> &Front {
        &self.fronts[place]
    }

    /// The place of the front of so many layers of each segment.
    pub(super) fn place(&mut self, layers: &[usize], nodes: &mut Nodes) -> Result<usize, Spent> {
        if let Some(&place) = self.known.get(layers) {
            return Ok(place);
        }
        // The nearest known one, then a layer more at a time.
        let mut path = vec![layers.to_vec()];
        let mut place = 0;
        while let Some(at) = path[path.len() - 1].iter().rposition(|&count| count > 0) {
            let mut less = path[path.len() - 1].clone();
            less[at] -= 1;
            if let Some(&known) = self.known.get(&less) {
                place = known;
                break;
            }
            path.push(less);
        }
        while let Some(layers) = path.pop() {
            let at = layers.iter().rposition(|&count| count > 0).unwrap_or(0);
            let front = self.longer(place, self.segments[at], nodes)?;
            place = self.fronts.len();
            self.fronts.push(front);
            self.known.insert(layers, place);
        }
        Ok(place)
    }

    /// The front of one layer more.
    fn longer(&self, place: usize, segment: usize, nodes: &mut Nodes) -> Result<Front, Spent> {
        let kinds = self.sequence.kinds(segment);
        let points = &self.fronts[place].points;
        nodes.spend(points.len() * kinds.len())?;
        let mut all: Vec<Point> = Vec::with_capacity(points.len() * kinds.len());
        for &item in kinds {
            let cost = self.sequence.item(item);
            all.extend(points.iter().enumerate().map(|(before, point)| Point {
                extra: point.extra + cost.extra,
                activation: point.activation + cost.activation,
                before,
                item,
            }));
        }
        all.sort_unstable();
        let mut least = u64::MAX;
        all.retain(|point| {
            let better = point.activation < least;
            least = least.min(point.activation);
            better
        });
        Ok(Front { points: all, before: place })
    }

    /// Adds the layers of a point to counts by item.
    pub(super) fn collect(&self, mut place: usize, mut point: usize, row: &mut [u32]) {
        while place != 0 {
            let Point { before, item, .. } = self.fronts[place].points[point];
            row[item] += 1;
            (place, point) = (self.fronts[place].before, before);
        }
    }

    /// The least memory that so many layers of each segment can keep.
    pub(super) fn least(&self, layers: &[usize]) -> u64 {
        let of = |(&count, &segment): (&usize, &usize)| {
            let kept = self.sequence.kinds(segment).iter().map(|&item| self.sequence.item(item).activation);
            kept.min().unwrap_or(0) * count as u64
        };
        layers.iter().zip(&self.segments).map(of).sum()
    }
}
