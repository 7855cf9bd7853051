//! In which virtual stages the borders between the segments of the body lie.
//!
//! Once these are chosen, a virtual stage has layers of known segments, and only their numbers are left to choose. A pinned
//! segment in the midst of the body is a border whose virtual stage is known.

use super::super::sequence::Sequence;
use super::super::{Nodes, Spent};

/// The body in pieces of one segment each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The segment of each piece; any for one without layers.
    pub(super) segments: Vec<usize>,
    /// Layers of each piece.
    pub(super) counts: Vec<usize>,
    /// The virtual stages between each piece and the next in which their border may lie, first and last.
    borders: Vec<(usize, usize)>,
}

/// The virtual stage of each border.
pub(super) type Places = Vec<usize>;

impl Pieces {
    pub(super) fn new(sequence: &Sequence<'_>) -> Pieces {
        let k = sequence.dims.virtual_stages();
        let mut pieces = Pieces { segments: Vec::new(), counts: Vec::new(), borders: Vec::new() };
        let mut layers = 0;
        for (at, segment) in sequence.problem.model().segments.iter().enumerate() {
            let open = pieces.counts.len() > pieces.borders.len();
            match segment.role.place(k) {
                // At an end of the body it is no border.
                Some(place) if place == 0 && layers == 0 || place + 1 == k && layers == sequence.len() => {}
                Some(place) => {
                    if !open {
                        pieces.push(0, 0);
                    }
                    pieces.borders.push((place, place));
                }
                None => {
                    if open {
                        pieces.borders.push(within(sequence, layers));
                    }
                    pieces.push(at, segment.count as usize);
                    layers += segment.count as usize;
                }
            }
        }
        if pieces.counts.len() == pieces.borders.len() {
            pieces.push(0, 0);
        }
        pieces
    }

    fn push(&mut self, segment: usize, count: usize) {
        self.segments.push(segment);
        self.counts.push(count);
    }

    /// Every choice of places.
    pub(super) fn places(&self, nodes: &mut Nodes) -> Result<Vec<Places>, Spent> {
        let mut all: Vec<Places> = vec![Vec::new()];
        for &(first, last) in &self.borders {
            let mut longer = Vec::new();
            for places in all {
                let from = places.last().map_or(first, |&before| first.max(before));
                nodes.spend((last + 1).saturating_sub(from))?;
                longer.extend((from..=last).map(|place| [&places[..], &[place]].concat()));
            }
            all = longer;
        }
        Ok(all)
    }

    /// The first and the last piece that a virtual stage may have layers of.
    pub(super) fn allowed(places: &Places, at: usize) -> (usize, usize) {
        (places.partition_point(|&place| place < at), places.partition_point(|&place| place <= at))
    }
}

/// The virtual stages that may have the border after so many layers.
fn within(sequence: &Sequence<'_>, layers: usize) -> (usize, usize) {
    let windows = &sequence.windows;
    let inside = |&at: &usize| windows.begin(at).0 <= layers && layers <= windows.end(at).1;
    let mut all = (0..windows.virtual_stages()).filter(inside);
    let first = all.next().unwrap_or(0);
    (first, all.next_back().unwrap_or(first))
}
