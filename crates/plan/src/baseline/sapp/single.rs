//! One chunk per stage: the cut with the least T = max over stages of F + B, then the least recomputation with it.

use super::super::sequence::Sequence;
use super::super::{Answer, Nodes, Spent};
use super::front::Fronts;
use super::{Base, limits, unsolved};

pub(super) fn plan(sequence: &Sequence<'_>, nodes: &mut Nodes) -> Result<Answer, Spent> {
    let mut stages = Stages::new(sequence);
    // Ranges that even without recomputation take longer are not looked at.
    let lightest = |at, from, to| Some(sequence.time(at, from, to));
    let Some((least, _)) = sequence.windows.best(lightest, u64::max) else { return Ok(unsolved()) };
    for limit in limits(sequence, least) {
        let Some((slowest, _)) = stages.best(limit, Stages::time, u64::max, nodes)? else { continue };
        let Some((_, ends)) = stages.best(slowest, |_, extra| extra, |a, b| a + b, nodes)? else { continue };
        let mut counts = Vec::new();
        for (stage, pair) in ends.windows(2).enumerate() {
            counts.extend(stages.row(stage, pair[0], pair[1], slowest, nodes)?);
        }
        return Ok(sequence.plan(&counts, Some(slowest)));
    }
    Ok(unsolved())
}

struct Stages<'a> {
    sequence: &'a Sequence<'a>,
    bases: Vec<Base>,
    fronts: Fronts<'a>,
}

impl<'a> Stages<'a> {
    fn new(sequence: &'a Sequence<'a>) -> Stages<'a> {
        let segments = (0..sequence.problem.model().segments.len()).collect();
        Stages { sequence, bases: Base::all(sequence), fronts: Fronts::new(sequence, segments) }
    }

    /// The best cut with stages up to a time, of a cost that is made of the time without and the extra time.
    fn best(
        &mut self,
        most: u64,
        cost: impl Fn(u64, u64) -> u64,
        join: impl Fn(u64, u64) -> u64,
        nodes: &mut Nodes,
    ) -> Result<Option<(u64, Vec<usize>)>, Spent> {
        let windows = &self.sequence.windows;
        let mut spent = Ok(());
        let cut = windows.best(
            |at, from, to| {
                let found = spent.and_then(|()| self.choose(at, from, to, most, nodes));
                spent = found.map(|_| ());
                found.ok().flatten().map(|choice| cost(choice.work, choice.extra))
            },
            join,
        );
        spent.map(|()| cut)
    }

    /// F + B.
    fn time(work: u64, extra: u64) -> u64 {
        work + extra
    }

    /// The least recomputation of a stage that fits, up to a time.
    fn choose(
        &mut self,
        stage: usize,
        from: usize,
        to: usize,
        most: u64,
        nodes: &mut Nodes,
    ) -> Result<Option<Choice>, Spent> {
        nodes.spend(1)?;
        let (sequence, base) = (self.sequence, self.bases[stage]);
        let work = base.forward + base.backward + sequence.work(from, to);
        let fixed = sequence.problem.constant()[stage] + base.memory + sequence.parameters(from, to);
        let (Some(time), Some(room)) = (most.checked_sub(work), sequence.problem.caps()[stage].checked_sub(fixed))
        else {
            return Ok(None);
        };
        let room = room / base.in_flight;
        let mut layers = vec![0; sequence.problem.model().segments.len()];
        (from..to).for_each(|layer| layers[sequence.segment(layer)] += 1);
        if self.fronts.least(&layers) > room {
            return Ok(None);
        }
        let place = self.fronts.place(&layers, nodes)?;
        let points = &self.fronts.at(place).points;
        let point = points.partition_point(|point| point.activation > room);
        let extra = points.get(point).map(|point| point.extra).filter(|&extra| extra <= time);
        Ok(extra.map(|extra| Choice { work, extra, place, point }))
    }

    fn row(&mut self, stage: usize, from: usize, to: usize, most: u64, nodes: &mut Nodes) -> Result<Vec<u32>, Spent> {
        let mut row = vec![0; self.sequence.problem.items().len()];
        for group in self.sequence.pinned(stage) {
            row[self.sequence.lightest(group.segment)] += group.count as u32;
        }
        if let Some(choice) = self.choose(stage, from, to, most, nodes)? {
            self.fronts.collect(choice.place, choice.point, &mut row);
        }
        Ok(row)
    }
}

/// What a stage does with its layers.
#[derive(Debug, Clone, Copy)]
struct Choice {
    work: u64,
    extra: u64,
    place: usize,
    point: usize,
}
