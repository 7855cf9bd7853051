//! The relaxation: fractional counts of layers, and the rows that every partition meets.
//!
//! Columns are x[item, virtual stage] ≥ 0, layers, and at last T, the makespan. Left out, which only lowers the bound:
//! whole numbers, the order of segments of the body, and transients of recomputed layers.

use super::lp::{Program, Row, Sense};
use crate::Result;
use crate::problem::{Item, Problem};
use crate::simulate::memory::Activations;
use crate::simulate::path::Path;
use crate::simulate::{Durations, Order, Vectors};

/// A column of counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) item: usize,
    pub(super) virtual_stage: usize,
}

/// A row of memory.
pub(super) struct MemoryRow {
    pub(super) row: Row,
    pub(super) stage: usize,
    /// The cap of the stage, in the unit of the row.
    pub(super) cap: f64,
}

/// The columns of a problem under an order, and what they cost.
pub(super) struct Relaxation<'a> {
    pub(super) problem: &'a Problem,
    pub(super) order: &'a Order,
    pub(super) columns: Vec<Column>,
    /// Layers that have no choice, by virtual stage and item.
    pub(super) fixed: Vec<u32>,
    /// Durations of the layers that have no choice, with links and tails.
    base: Durations<f64>,
    /// Ticks that one unit of T stands for: it makes coefficients of about 1.
    pub(super) unit: f64,
}

impl<'a> Relaxation<'a> {
    /// # Errors
    /// As [`Problem::accepts`].
    pub(super) fn new(problem: &'a Problem, order: &'a Order) -> Result<Relaxation<'a>> {
        let k = order.dims().virtual_stages();
        problem.accepts(order.dims())?;
        let items = problem.items();
        let mut columns = Vec::new();
        let mut fixed = vec![0; k * items.len()];
        for (at, item) in items.iter().enumerate() {
            let segment = &problem.model().segments[item.segment];
            let kinds = items.iter().filter(|other| other.segment == item.segment).count();
            let place = segment.role.place(k).map_or(0..k, |at| at..at + 1);
            if place.len() == 1 && kinds == 1 {
                fixed[place.start * items.len() + at] = segment.count;
            } else {
                columns.extend(place.map(|virtual_stage| Column { item: at, virtual_stage }));
            }
        }
        let (durations, _) = problem.costs(order, &fixed);
        let real = |ticks: &[u64]| ticks.iter().map(|&t| t as f64).collect::<Vec<_>>();
        let base = Durations {
            operations: real(&durations.operations),
            links: real(&durations.links),
            tails: real(&durations.tails),
        };
        let mut relaxation = Relaxation { problem, order, columns, fixed, base, unit: 1.0 };
        let works = relaxation.durations(&relaxation.even()).operations;
        let work = works.iter().sum::<f64>() * order.dims().micro_batches as f64 / order.dims().stages as f64;
        // A power of two: scaling by it is exact.
        relaxation.unit = (work / 64.0).log2().ceil().exp2().clamp(f64::MIN_POSITIVE, f64::MAX);
        Ok(relaxation)
    }

    /// Number of columns of counts, which is the place of T.
    pub(super) fn makespan(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn of(&self, column: Column) -> &Item {
        &self.problem.items()[column.item]
    }

    pub(super) fn layers(&self, segment: usize) -> f64 {
        f64::from(self.problem.model().segments[segment].count)
    }

    /// Every layer spread evenly over all places and kinds that it may have.
    pub(super) fn even(&self) -> Vec<f64> {
        let share = |column: &Column| {
            let segment = self.of(*column).segment;
            let places = self.columns.iter().filter(|&&other| self.of(other).segment == segment).count();
            self.layers(segment) / places as f64
        };
        self.columns.iter().map(share).chain([0.0]).collect()
    }

    /// Places of [`Durations::operations`] that a layer of a column adds to, and how many ticks.
    fn times(&self, column: Column) -> [(usize, u64); 3] {
        let (item, k, at) = (self.of(column), self.order.dims().virtual_stages(), column.virtual_stage);
        if self.order.shape().splits_backward {
            let input = item.backward - item.weight + item.extra;
            [(at, item.forward), (k + at, input), (2 * k + at, item.weight)]
        } else {
            [(at, item.forward), (k + at, item.backward + item.extra), (at, 0)]
        }
    }

    /// Durations of counts `x`, in ticks.
    pub(super) fn durations(&self, x: &[f64]) -> Durations<f64> {
        let mut durations = self.base.clone();
        for (&column, &count) in self.columns.iter().zip(x) {
            for (place, ticks) in self.times(column) {
                durations.operations[place] += ticks as f64 * count.max(0.0);
            }
        }
        durations
    }

    /// The counts of `x` by virtual stage and item, those without a choice included.
    pub(super) fn counts(&self, x: &[f64]) -> Vec<f64> {
        let items = self.problem.items().len();
        let mut counts: Vec<f64> = self.fixed.iter().map(|&count| f64::from(count)).collect();
        for (column, &count) in self.columns.iter().zip(x) {
            counts[column.virtual_stage * items + column.item] = count.max(0.0);
        }
        counts
    }

    /// T is at least the length of a path: T − Σ coefficient · x ≥ constant, in units of T.
    pub(super) fn path(&self, path: &Path) -> Row {
        let along = |(place, ticks): (usize, u64)| f64::from(path.operations[place]) * ticks as f64;
        let length = |&column: &Column| self.times(column).into_iter().map(along).sum::<f64>();
        let lengths = self.columns.iter().map(length).enumerate().filter(|&(_, length)| length > 0.0);
        let mut terms: Vec<(usize, f64)> = lengths.map(|(at, length)| (at, -length / self.unit)).collect();
        terms.push((self.makespan(), 1.0));
        let sum = |counts: &[u32], lengths: &[f64]| -> f64 {
            counts.iter().zip(lengths).map(|(&count, length)| f64::from(count) * length).sum()
        };
        let base = sum(&path.operations, &self.base.operations) + sum(&path.links, &self.base.links);
        Row { terms, sense: Sense::Ge, right: (base + self.base.tails[path.stage]) / self.unit }
    }

    /// The program without any path: layers of each segment, a layer of the body in each virtual stage, memory.
    pub(super) fn program(&self, vectors: &Vectors) -> Program {
        let mut program = self.places();
        program.rows.extend((0..self.order.dims().stages).flat_map(|stage| self.memory(vectors, stage)).map(|m| m.row));
        program
    }

    /// The same without memory.
    pub(super) fn places(&self) -> Program {
        let mut costs = vec![0.0; self.columns.len()];
        costs.push(1.0);
        let mut rows = self.assignment();
        if self.problem.least() > 0 {
            rows.extend((0..self.order.dims().virtual_stages()).filter_map(|at| self.some_layer(at)));
        }
        Program { free: vec![false; costs.len()], costs, rows }
    }

    fn row(&self, coefficient: impl Fn(Column) -> f64, sense: Sense, right: f64) -> Row {
        let all = self.columns.iter().map(|&column| coefficient(column)).enumerate();
        Row { terms: all.filter(|&(_, coefficient)| coefficient != 0.0).collect(), sense, right }
    }

    /// Every layer of a segment has one place: one row for each segment that has columns, by segment.
    fn assignment(&self) -> Vec<Row> {
        let of = |segment| {
            let own = |column| f64::from(u8::from(self.of(column).segment == segment));
            self.row(own, Sense::Eq, self.layers(segment))
        };
        (0..self.problem.model().segments.len()).map(of).filter(|row| !row.terms.is_empty()).collect()
    }

    /// A layer of the body in a virtual stage that has none without a choice.
    fn some_layer(&self, virtual_stage: usize) -> Option<Row> {
        let items = self.problem.items();
        let body = |item: usize| self.problem.is_body(items[item].segment);
        if (0..items.len()).any(|item| body(item) && self.fixed[virtual_stage * items.len() + item] > 0) {
            return None;
        }
        let own = |column: Column| column.virtual_stage == virtual_stage && body(column.item);
        Some(self.row(|column| f64::from(u8::from(own(column))), Sense::Ge, 1.0))
    }

    /// A row for each set of live micro-batches of a stage that may be its peak and beyond its cap, divided by its largest
    /// coefficient.
    pub(super) fn memory(&self, vectors: &Vectors, stage: usize) -> Vec<MemoryRow> {
        let (_, fixed) = self.problem.costs(self.order, &self.fixed);
        let mut live: Vec<&[u32]> = vectors.of(stage).iter().map(|live| &live.chunks[..]).collect();
        live.sort_unstable();
        live.dedup();
        let below = |a: &[u32], b: &[u32]| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
        let most: Vec<&[u32]> = live.iter().filter(|a| !live.iter().any(|b| below(a, b))).copied().collect();
        most.into_iter().filter_map(|live| self.memory_row(live, stage, &fixed, 0, None)).collect()
    }

    /// The row of some live micro-batches; none if no partition is beyond the cap then. On top come `above` and, where the
    /// column `there.0` is 1, `there.1`.
    pub(super) fn memory_row(
        &self,
        live: &[u32],
        stage: usize,
        fixed: &Activations,
        above: u64,
        there: Option<(usize, u64)>,
    ) -> Option<MemoryRow> {
        let (placement, stages) = (self.order.shape().placement, self.order.dims().stages);
        let need = |column: Column| {
            let (own, chunk) = placement.of(column.virtual_stage, stages);
            let item = self.of(column);
            let kept = f64::from(live[chunk]) * item.activation as f64;
            if own == stage { kept + item.parameters as f64 } else { 0.0 }
        };
        // In whole numbers: a difference of rounded ones may be off by more than its own size tells.
        let kept = live.iter().enumerate().map(|(chunk, &count)| {
            i128::from(count) * i128::from(fixed.kept[placement.virtual_stage(stage, chunk, stages)])
        });
        let cap = self.problem.caps()[stage];
        let room = i128::from(cap) - i128::from(fixed.constant[stage]) - i128::from(above) - kept.sum::<i128>();
        let mut row = self.row(need, Sense::Le, room as f64);
        let largest = |segment: usize| {
            let own = row.terms.iter().filter(|&&(at, _)| self.of(self.columns[at]).segment == segment);
            self.layers(segment) * own.map(|&(_, need)| need).fold(0.0, f64::max)
        };
        let segments: f64 = (0..self.problem.model().segments.len()).map(largest).sum();
        // With a margin for rounding, which is far smaller.
        if (segments + there.map_or(0.0, |(_, top)| top as f64)) * 1.001 <= row.right {
            return None;
        }
        row.terms.extend(there.map(|(column, top)| (column, top as f64)));
        let largest = row.terms.iter().map(|&(_, c)| c).fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest.log2().ceil().exp2() } else { 1.0 };
        row.terms.iter_mut().for_each(|(_, coefficient)| *coefficient /= scale);
        row.right /= scale;
        Some(MemoryRow { row, stage, cap: cap as f64 / scale })
    }
}
