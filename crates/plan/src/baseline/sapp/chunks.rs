//! Several chunks per stage: the least T by bisection, then the least recomputation with it.
//!
//! Whether a T can be kept: each stage says which numbers of layers it can take ([`super::fold`]), and a dynamic program over
//! stages says whether these add up to all layers. With several segments that is asked for each place of the borders between
//! them ([`super::borders`]).

use super::super::sequence::Sequence;
use super::super::{Answer, Nodes, Spent, spent};
use super::borders::{Pieces, Places};
use super::fold::{Chunk, Grid, Load, Stage};
use super::front::Fronts;
use super::{Base, limits, unsolved};
use std::collections::BTreeMap;

pub(super) fn plan(sequence: &Sequence<'_>, nodes: &mut Nodes) -> Result<Answer, Spent> {
    let pieces = Pieces::new(sequence);
    let Some(grid) = Grid::new(&pieces.counts) else { return Ok(spent()) };
    let (all, given) = (pieces.places(nodes)?, *nodes);
    let mut search = Search {
        sequence,
        bases: Base::all(sequence),
        fronts: Fronts::new(sequence, pieces.segments.clone()),
        pieces,
        grid,
        known: BTreeMap::new(),
    };
    let k = sequence.dims.virtual_stages() as u64;
    let ends: u64 = search.bases.iter().map(|base| base.forward + base.backward).sum();
    let least = (ends + sequence.work(0, sequence.len())).div_ceil(k);
    let Some((first, found)) = search.first(least, &all, nodes)? else { return Ok(unsolved()) };
    // What was found stays if the nodes are spent.
    let (slowest, proved) = search.slowest(first, found, &all, nodes);
    let mut nodes = given;
    let (mut best, mut complete): (Option<(u64, Vec<u32>)>, bool) = (None, proved);
    for places in &all {
        match search.lightest(slowest, places, &mut nodes) {
            Ok(Some(plan)) if best.as_ref().is_none_or(|(extra, _)| plan.0 < *extra) => best = Some(plan),
            Ok(_) => {}
            Err(Spent) => {
                complete = false;
                break;
            }
        }
    }
    let (_, counts) = best.ok_or(Spent)?;
    Ok(match sequence.plan(&counts, Some(slowest)) {
        Answer::Plan(plan) => Answer::Plan(super::super::Plan { proved: complete, ..plan }),
        none => none,
    })
}

/// A stage, and for each chunk the pieces it may have layers of.
type Question = (usize, Vec<(usize, usize)>);

/// What a stage can take: layers as a place of the grid, the least extra time, and the longest forward that has it.
type Options = Vec<(usize, u64, u64)>;

struct Search<'a> {
    sequence: &'a Sequence<'a>,
    pieces: Pieces,
    grid: Grid,
    bases: Vec<Base>,
    fronts: Fronts<'a>,
    /// Answers for one T, and whether they are those with least extra time.
    known: BTreeMap<(u64, bool, Question), Options>,
}

impl<'a> Search<'a> {
    /// A T that can be kept, and below which T no one is known not to be.
    fn first(&mut self, least: u64, all: &[Places], nodes: &mut Nodes) -> Result<Option<(u64, u64)>, Spent> {
        let mut open = least;
        for limit in limits(self.sequence, least) {
            for places in all {
                if self.kept(limit, places, nodes)? {
                    return Ok(Some((open, limit)));
                }
            }
            open = limit + 1;
        }
        Ok(None)
    }

    /// The least T that can be kept, from `open` on, where `found` can be; whether it is proved.
    fn slowest(&mut self, open: u64, mut found: u64, all: &[Places], nodes: &mut Nodes) -> (u64, bool) {
        for places in all {
            let mut low = open;
            // First, whether these places are any better at all.
            let mut ask = found.saturating_sub(1);
            while low < found {
                match self.kept(ask, places, nodes) {
                    Ok(true) => found = ask,
                    Ok(false) => low = ask + 1,
                    Err(Spent) => return (found, false),
                }
                ask = low + found.saturating_sub(low) / 2;
            }
        }
        (found, true)
    }

    /// Whether T = `most` can be kept with these places of borders.
    fn kept(&mut self, most: u64, places: &Places, nodes: &mut Nodes) -> Result<bool, Spent> {
        let all = self.grid.len();
        let mut reached = vec![0];
        for stage in 0..self.sequence.dims.stages {
            let options = self.options(most, false, stage, places, nodes)?;
            nodes.spend(options.len() * reached.len())?;
            let mut next = vec![false; all];
            for (layers, ..) in options {
                let layers = self.grid.layers(layers);
                for then in reached.iter().filter_map(|&place| self.grid.add(place, &layers)) {
                    next[then] = true;
                }
            }
            reached = (0..all).filter(|&place| next[place]).collect();
        }
        Ok(reached.last() == Some(&(all - 1)))
    }

    /// The plan with T = `most` and the least recomputation with these places of borders, and its extra time.
    fn lightest(&mut self, most: u64, places: &Places, nodes: &mut Nodes) -> Result<Option<(u64, Vec<u32>)>, Spent> {
        let all = self.grid.len();
        // By stage and layers until there: the least extra time, and what the stage takes for it.
        let mut tables: Vec<Vec<Option<(u64, usize, u64)>>> = Vec::new();
        let mut reached = vec![(0, 0)];
        for stage in 0..self.sequence.dims.stages {
            let options = self.options(most, true, stage, places, nodes)?;
            nodes.spend(options.len() * reached.len())?;
            let mut next: Vec<Option<(u64, usize, u64)>> = vec![None; all];
            for (own, extra, forward) in options {
                let layers = self.grid.layers(own);
                for &(place, before) in &reached {
                    let Some(then) = self.grid.add(place, &layers) else { continue };
                    let new = (before + extra, own, forward);
                    next[then] = Some(next[then].map_or(new, |known| known.min(new)));
                }
            }
            reached = (0..all).filter_map(|place| Some((place, next[place]?.0))).collect();
            tables.push(next);
        }
        let Some((extra, ..)) = tables[tables.len() - 1][all - 1] else { return Ok(None) };
        let (mut rows, mut place) = (Vec::new(), all - 1);
        for (stage, table) in tables.iter().enumerate().rev() {
            let Some((_, own, forward)) = table[place] else { return Ok(None) };
            rows.push(self.rows(most, stage, places, (own, forward), nodes)?);
            place -= own;
        }
        rows.reverse();
        let chunks = 0..self.sequence.dims.chunks;
        let counts = chunks.flat_map(|chunk| rows.iter().flat_map(move |stage| stage[chunk].clone()));
        Ok(Some((extra, counts.collect())))
    }

    /// What a stage can take within T = `most`; the least extra time of it only if `whole`.
    fn options(
        &mut self,
        most: u64,
        whole: bool,
        number: usize,
        places: &Places,
        nodes: &mut Nodes,
    ) -> Result<Options, Spent> {
        let question = (most, whole, (number, self.allowed(number, places)));
        if let Some(known) = self.known.get(&question) {
            return Ok(known.clone());
        }
        // Questions of another T do not come again.
        self.known.retain(|&(known, ..), _| known == most);
        let chunks = self.chunks(most, number, &question.2.1, nodes)?;
        let stage = self.stage(most, number, &chunks);
        let mut best: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for forward in stage.forwards() {
            let levels = stage.levels(forward, whole, nodes)?;
            for (&layers, sums) in &levels[levels.len() - 1] {
                let Some(extra) = sums.first().map(|sum| sum.extra) else { continue };
                let slot = best.entry(layers).or_insert((extra, forward));
                *slot = (*slot).min((extra, forward));
            }
        }
        let options: Options = best.into_iter().map(|(layers, (extra, forward))| (layers, extra, forward)).collect();
        self.known.insert(question, options.clone());
        Ok(options)
    }

    /// Layers by item of each chunk of a stage that takes some layers with a longest forward and the least extra time.
    fn rows(
        &mut self,
        most: u64,
        number: usize,
        places: &Places,
        (layers, forward): (usize, u64),
        nodes: &mut Nodes,
    ) -> Result<Vec<Vec<u32>>, Spent> {
        let chunks = self.chunks(most, number, &self.allowed(number, places), nodes)?;
        let stage = self.stage(most, number, &chunks);
        let levels = stage.levels(forward, true, nodes)?;
        let mut rows = Vec::new();
        for (chunk, (load, point)) in stage.trace(&levels, layers, 0).into_iter().enumerate() {
            let mut row = vec![0; self.sequence.problem.items().len()];
            for group in self.sequence.pinned(chunk * self.sequence.dims.stages + number) {
                row[self.sequence.lightest(group.segment)] += group.count as u32;
            }
            self.fronts.collect(chunks[chunk].loads[load].front, point, &mut row);
            rows.push(row);
        }
        Ok(rows)
    }

    fn stage<'b>(&'b self, most: u64, stage: usize, chunks: &'b [Chunk]) -> Stage<'b> {
        let problem = self.sequence.problem;
        let (constant, cap) = (problem.constant()[stage], problem.caps()[stage]);
        Stage { chunks, fronts: &self.fronts, grid: &self.grid, constant, cap, most }
    }

    /// For each chunk of a stage the pieces it may have layers of, first and last.
    fn allowed(&self, stage: usize, places: &Places) -> Vec<(usize, usize)> {
        let dims = self.sequence.dims;
        (0..dims.chunks).map(|chunk| Pieces::allowed(places, chunk * dims.stages + stage)).collect()
    }

    /// The loads of all chunks of a stage that may be within T = `most` and the cap.
    fn chunks(
        &mut self,
        most: u64,
        stage: usize,
        allowed: &[(usize, usize)],
        nodes: &mut Nodes,
    ) -> Result<Vec<Chunk>, Spent> {
        let problem = self.sequence.problem;
        let Some(room) = problem.caps()[stage].checked_sub(problem.constant()[stage]) else {
            return Ok(vec![Chunk { loads: Vec::new(), in_flight: 1 }; allowed.len()]);
        };
        let mut chunks = Vec::new();
        for (chunk, &(first, last)) in allowed.iter().enumerate() {
            let base = self.bases[chunk * self.sequence.dims.stages + stage];
            let mut lists = vec![vec![0; self.pieces.counts.len()]];
            for piece in first..=last {
                lists = self.longer(lists, piece, |layers| self.load(base, layers, most, room).is_some(), nodes)?;
            }
            lists.retain(|layers| layers.iter().sum::<usize>() >= self.sequence.windows.least);
            let mut loads: Vec<Load> = lists.iter().filter_map(|layers| self.load(base, layers, most, room)).collect();
            for load in &mut loads {
                load.front = self.fronts.place(&load.layers, nodes)?;
            }
            chunks.push(Chunk { loads, in_flight: base.in_flight });
        }
        Ok(chunks)
    }

    /// Each list with any number of layers of a piece that keeps `fits`.
    fn longer(
        &self,
        lists: Vec<Vec<usize>>,
        piece: usize,
        fits: impl Fn(&[usize]) -> bool,
        nodes: &mut Nodes,
    ) -> Result<Vec<Vec<usize>>, Spent> {
        let mut longer = Vec::new();
        for mut list in lists {
            while list[piece] <= self.pieces.counts[piece] && fits(&list) {
                nodes.spend(1)?;
                longer.push(list.clone());
                list[piece] += 1;
            }
        }
        Ok(longer)
    }

    /// A chunk with some layers of each piece, without its front; none if it alone is beyond T or the memory.
    fn load(&self, base: Base, layers: &[usize], most: u64, room: u64) -> Option<Load> {
        let mut load = Load {
            layers: layers.to_vec(),
            forward: base.forward,
            backward: base.backward,
            memory: base.memory,
            front: 0,
        };
        for (&count, &segment) in layers.iter().zip(&self.pieces.segments) {
            let item = self.sequence.item(self.sequence.lightest(segment));
            load.forward += item.forward * count as u64;
            load.backward += item.backward * count as u64;
            load.memory += item.parameters * count as u64;
        }
        let memory = load.memory + base.in_flight * self.fronts.least(layers);
        (load.forward + load.backward <= most && memory <= room).then_some(load)
    }
}
