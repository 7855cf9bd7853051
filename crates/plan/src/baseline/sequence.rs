//! The body as one sequence of layers in model order, and what ranges of it cost on a virtual stage.

use super::cut::Windows;
use super::{Answer, Plan};
use crate::layout::Layout;
use crate::problem::{Item, Problem};
use crate::schedule::Dims;
use crate::{Error, Result};

/// Sums of times and of memory stay below this.
const LARGEST: u128 = 1 << 62;

/// Layers of a segment in a virtual stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) segment: usize,
    pub(super) count: usize,
}

/// The layers of a problem for so many virtual stages.
pub(super) struct Sequence<'a> {
    pub(super) problem: &'a Problem,
    pub(super) dims: &'a Dims,
    /// Where the body may be cut.
    pub(super) windows: Windows,
    /// Segment of each layer of the body.
    layers: Vec<usize>,
    /// Items of each segment, in the order of the problem.
    kinds: Vec<Vec<usize>>,
    /// Segments that are pinned to each virtual stage.
    pinned: Vec<Vec<usize>>,
    /// Sums of forward and backward over the first layers, without recomputation.
    work: Vec<u64>,
    /// The same of the least recomputation that is allowed.
    extra: Vec<u64>,
    /// The same of memory that is always there.
    parameters: Vec<u64>,
}

impl<'a> Sequence<'a> {
    /// # Errors
    /// As the planners of [`super::ALL`].
    pub(super) fn new(problem: &'a Problem, dims: &'a Dims) -> Result<Sequence<'a>> {
        if dims.virtual_stages() == 0 || dims.micro_batches == 0 {
            return Err(Error::Problem { what: "no stage, no chunk or no micro-batch".to_owned() });
        }
        problem.accepts(dims)?;
        check(problem, dims)?;
        let k = dims.virtual_stages();
        let segments = &problem.model().segments;
        let of = |segment| (0..problem.items().len()).filter(|&i| problem.items()[i].segment == segment).collect();
        let mut sequence = Sequence {
            problem,
            dims,
            windows: Windows::new(problem, k),
            layers: Vec::new(),
            kinds: (0..segments.len()).map(of).collect(),
            pinned: vec![Vec::new(); k],
            work: vec![0],
            extra: vec![0],
            parameters: vec![0],
        };
        for (at, segment) in segments.iter().enumerate() {
            match segment.role.place(k) {
                Some(place) => sequence.pinned[place].push(at),
                None => (0..segment.count).for_each(|_| sequence.push(at)),
            }
        }
        Ok(sequence)
    }

    fn push(&mut self, segment: usize) {
        let item = *self.item(self.lightest(segment));
        let then = |sums: &mut Vec<u64>, by: u64| sums.push(sums[sums.len() - 1] + by);
        self.layers.push(segment);
        then(&mut self.work, item.forward + item.backward);
        then(&mut self.extra, item.extra);
        then(&mut self.parameters, item.parameters);
    }

    /// An item of the problem.
    pub(super) fn item(&self, at: usize) -> &Item {
        &self.problem.items()[at]
    }

    /// Items of a segment.
    pub(super) fn kinds(&self, segment: usize) -> &[usize] {
        &self.kinds[segment]
    }

    /// The item of a segment with the least recomputation, of equal ones that which keeps least.
    pub(super) fn lightest(&self, segment: usize) -> usize {
        let key = |&&at: &&usize| (self.item(at).extra, self.item(at).activation, at);
        self.kinds[segment].iter().min_by_key(key).copied().unwrap_or(0)
    }

    /// The segment of a layer of the body.
    pub(super) fn segment(&self, layer: usize) -> usize {
        self.layers[layer]
    }

    /// Layers of the body.
    pub(super) fn len(&self) -> usize {
        self.layers.len()
    }

    /// What is pinned to a virtual stage.
    pub(super) fn pinned(&self, at: usize) -> impl Iterator<Item = Group> + '_ {
        let segments = &self.problem.model().segments;
        self.pinned[at].iter().map(|&segment| Group { segment, count: segments[segment].count as usize })
    }

    /// Layers `from..to` of the body and what is pinned to virtual stage `at`, a group for each run of equal ones.
    pub(super) fn groups(&self, at: usize, from: usize, to: usize) -> Vec<Group> {
        let runs = self.layers[from..to].chunk_by(|a, b| a == b);
        self.pinned(at).chain(runs.map(|run| Group { segment: run[0], count: run.len() })).collect()
    }

    /// The sum over what is pinned to a virtual stage, with the least recomputation.
    pub(super) fn pinned_sum(&self, at: usize, of: impl Fn(&Item) -> u64) -> u64 {
        self.pinned(at).map(|group| of(self.item(self.lightest(group.segment))) * group.count as u64).sum()
    }

    /// Forward and backward of layers `from..to` of the body, without recomputation.
    pub(super) fn work(&self, from: usize, to: usize) -> u64 {
        self.work[to] - self.work[from]
    }

    /// Forward and backward of a virtual stage with layers `from..to`, with the least recomputation that is allowed.
    pub(super) fn time(&self, at: usize, from: usize, to: usize) -> u64 {
        let pinned = self.pinned_sum(at, |item| item.forward + item.backward + item.extra);
        pinned + self.work(from, to) + self.extra[to] - self.extra[from]
    }

    /// Memory that layers `from..to` of the body always take.
    pub(super) fn parameters(&self, from: usize, to: usize) -> u64 {
        self.parameters[to] - self.parameters[from]
    }

    /// Micro-batches that 1F1B with one chunk has in flight on a stage.
    pub(super) fn in_flight(&self, stage: usize) -> u64 {
        self.dims.micro_batches.min(self.dims.stages - stage) as u64
    }

    /// Peak of a stage of 1F1B with one chunk, for its layers by item: all that it always has, as many activations as are in
    /// flight, and the transient of its largest layer while a backward runs. Exact.
    pub(super) fn peak(&self, stage: usize, row: &[u32]) -> u64 {
        let (mut fixed, mut kept, mut transient) = (self.problem.constant()[stage], 0, 0);
        for (item, &count) in self.problem.items().iter().zip(row).filter(|&(_, &count)| count > 0) {
            fixed += item.parameters * u64::from(count);
            kept += item.activation * u64::from(count);
            transient = transient.max(item.transient);
        }
        fixed + kept * self.in_flight(stage) + transient
    }

    /// Layers by item where all of a virtual stage are as light as they may be.
    pub(super) fn lightest_row(&self, at: usize, from: usize, to: usize) -> Vec<u32> {
        let mut row = vec![0; self.problem.items().len()];
        for group in self.groups(at, from, to) {
            row[self.lightest(group.segment)] += group.count as u32;
        }
        row
    }

    /// The plan with these layers by virtual stage and item.
    pub(super) fn plan(&self, counts: &[u32], objective: Option<u64>) -> Answer {
        let schedule = if self.dims.chunks == 1 { "1f1b" } else { "interleaved" };
        Answer::Plan(Plan { layout: Layout::of_counts(self.problem, counts), schedule, objective, proved: true })
    }

    /// That a stage does not come down to its cap.
    pub(super) fn exceeds(&self, stage: usize, need: u64) -> Answer {
        let (memory, unit) = (self.problem.memory(), self.problem.model().memory_unit.name());
        let cap = memory.show(self.problem.caps()[stage]);
        let text =
            format!("no setting fits: stage {stage} comes down to {} {unit}, its cap is {cap}", memory.show(need));
        Answer::None(text.replace("  ", " "))
    }
}

/// That no cut meets what is pinned.
pub(super) fn no_cut() -> Answer {
    Answer::None("no cut has every pinned segment between the layers before and after it".to_owned())
}

/// Refuses sums that may be no u64.
fn check(problem: &Problem, dims: &Dims) -> Result<()> {
    let flight = dims.micro_batches.max(2 * dims.stages) as u128;
    let [mut time, mut memory] = [2 * u128::from(problem.link()), 0];
    for item in problem.items() {
        let count = u128::from(problem.model().segments[item.segment].count);
        let whole = |values: &[u64]| values.iter().map(|&v| u128::from(v)).sum::<u128>();
        time += count * whole(&[item.forward, item.backward, item.extra]);
        memory += count * (whole(&[item.parameters, item.transient]) + flight * u128::from(item.activation));
    }
    memory += problem.constant().iter().map(|&c| u128::from(c)).sum::<u128>();
    if time * (dims.micro_batches as u128 + 2) >= LARGEST || memory >= LARGEST {
        let what = "the sums of all times or of all memory are 2^62 ticks or more; use a coarser unit".to_owned();
        return Err(Error::TooLarge { what });
    }
    Ok(())
}
