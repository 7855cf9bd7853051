//! The iteration space of a kernel: loops, runs of loops, and how memory is reached from them.

use crate::canon::{Class, Kind};

/// Loops with one mark that are neighbours in the order of memory, walked by one flat index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Run {
    /// Numbers of the loops, outermost first.
    pub(super) loops: Vec<usize>,
    /// Product of their extents; 1 for no loops.
    pub(super) extent: usize,
}

/// How a tile lies in the space: its columns are the innermost run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Columns are reduced, rows are kept.
    Rows,
    /// Columns are kept, rows are reduced.
    Columns,
    /// Nothing is reduced.
    Map,
}

/// The iteration space of a kernel.
#[derive(Debug, Clone)]
pub(super) struct Space {
    pub(super) mode: Mode,
    /// Extent of each loop.
    pub(super) extents: Vec<usize>,
    /// Kept loops outside the tile: one task or more for each of their indices.
    pub(super) outer: Run,
    /// Reduced runs outside the tile, outermost first.
    pub(super) reduced: Vec<Run>,
    /// Rows of tiles.
    pub(super) rows: Run,
    /// Columns of tiles.
    pub(super) cols: Run,
}

/// Elements of memory, reached by the loops: `offset` + Σ index·stride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) offset: usize,
    /// Per loop.
    pub(super) strides: Vec<usize>,
}

impl Reach {
    /// Distance of the element at index `flat` of a run from the one at 0.
    pub(super) fn at(&self, space: &Space, run: &Run, flat: usize) -> usize {
        match run.loops[..] {
            _ if flat == 0 => 0,
            [] => 0,
            [one] => flat * self.strides[one],
            _ => {
                let (mut rest, mut place) = (flat, 0);
                for &l in run.loops.iter().rev() {
                    place += rest % space.extents[l] * self.strides[l];
                    rest /= space.extents[l];
                }
                place
            }
        }
    }

    /// Stride along the innermost loop of a run; 0 for no loops.
    pub(super) fn inner_stride(&self, run: &Run) -> usize {
        run.loops.last().map_or(0, |&l| self.strides[l])
    }

    /// Whether a run is walked with one stride.
    pub(super) fn is_even(&self, space: &Space, run: &Run) -> bool {
        run.loops.windows(2).all(|w| self.strides[w[0]] == self.strides[w[1]] * space.extents[w[1]])
    }

    /// Whether the place depends on a run.
    pub(super) fn varies(&self, run: &Run) -> bool {
        run.loops.iter().any(|&l| self.strides[l] != 0)
    }
}

/// Iterators merged where everything that is read or written walks them as one.
///
/// Two neighbours of the domain with one mark stay apart only where the strides of some access tell them apart: this is the
/// propagation of cuts, read off where it ends, because inside a region every value is a function of the same iterators.
pub(super) fn merge(domain: &[(Class, Kind, usize)], accesses: &mut [Vec<usize>]) -> Vec<(Kind, usize)> {
    let mut loops: Vec<(Kind, usize)> = Vec::new();
    let mut merged: Vec<Vec<usize>> = vec![Vec::new(); accesses.len()];
    for (i, &(_, kind, extent)) in domain.iter().enumerate().filter(|(_, d)| d.2 != 1) {
        let as_one = loops.last().is_some_and(|l| l.0 == kind)
            && accesses.iter().zip(&merged).all(|(a, m)| m.last().is_none_or(|&outer| outer == a[i] * extent));
        if as_one {
            if let Some(last) = loops.last_mut() {
                last.1 *= extent;
            }
            merged.iter_mut().for_each(|m| {
                m.pop();
            });
        } else {
            loops.push((kind, extent));
        }
        merged.iter_mut().zip(accesses.iter()).for_each(|(m, a)| m.push(a[i]));
    }
    accesses.iter_mut().zip(merged).for_each(|(a, m)| *a = m);
    loops
}

impl Space {
    /// The space of merged loops, outermost first.
    pub(super) fn new(loops: &[(Kind, usize)]) -> Space {
        let extents: Vec<usize> = loops.iter().map(|l| l.1).collect();
        let run = |list: Vec<usize>| Run { extent: list.iter().map(|&l| extents[l]).product(), loops: list };
        let reduces = loops.iter().any(|l| l.0 == Kind::Reduced);
        let mut runs: Vec<(Kind, Vec<usize>)> = Vec::new();
        for (i, &(kind, _)) in loops.iter().enumerate() {
            match runs.last_mut() {
                // Where nothing is reduced, every loop is a run of its own.
                Some(last) if last.0 == kind && reduces => last.1.push(i),
                _ => runs.push((kind, vec![i])),
            }
        }
        let cols = runs.pop();
        let mode = match &cols {
            _ if !reduces => Mode::Map,
            Some((Kind::Reduced, _)) => Mode::Rows,
            _ => Mode::Columns,
        };
        let rows = runs.pop();
        let (mut outer, mut reduced) = (Vec::new(), Vec::new());
        for (kind, list) in runs {
            if kind == Kind::Kept { outer.extend(list) } else { reduced.push(run(list)) }
        }
        let tile = |r: Option<(Kind, Vec<usize>)>| run(r.map_or_else(Vec::new, |r| r.1));
        Space { mode, outer: run(outer), reduced, rows: tile(rows), cols: tile(cols), extents: extents.clone() }
    }
}
