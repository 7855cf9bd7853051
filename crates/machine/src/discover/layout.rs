//! From processors to levels: packages, NUMA nodes, groups that share an L3 cache, cores, threads; levels that divide
//! nothing are left out.

use std::collections::BTreeMap;

use super::processors::Processor;
use super::{in_memory, root};
use crate::cpu_list::CpuList;
use crate::level::{Level, Memory, Override, Values};
use crate::path::{Path, Step, Which};

/// Speeds closer than this count as equal: some cores of one kind may clock a little higher than others.
const EQUAL: f64 = 0.9;

/// Levels and overrides for workers at `leaves`, the lowest level being called `worker`.
pub(super) fn layout(leaves: &[Processor], worker: &'static str) -> (Vec<Level>, Vec<Override>) {
    let numa_counts = within_packages(leaves);
    let keys = leaves.iter().map(|p| key(p, numa_counts));
    let mut sorted: Vec<(&Processor, Vec<u32>)> = leaves.iter().zip(keys).collect();
    sorted.sort_by(|a, b| a.1.cmp(&b.1));
    let names = ["socket", "numa", "l3", "core", "thread"];
    let kept = kept_levels(&sorted, names.len() - usize::from(worker == "core"));
    let mut levels = vec![root()];
    let mut overrides = Vec::new();
    let mut above = groups(&sorted, 0);
    let mut paths: Vec<Vec<Step>> = vec![Vec::new()];
    for &depth in &kept {
        let here = groups(&sorted, depth);
        let counts: Vec<u32> = above.iter().map(|range| within(range, &here)).collect();
        let count = commonest(&counts);
        for (path, children) in paths.iter().zip(&counts).filter(|(_, children)| **children != count) {
            let at = Path::new(path.clone());
            overrides.extend(at.map(|at| Override { at, children: Some(*children), values: Values::default() }));
        }
        let name = names[depth - 1].to_owned();
        let steps = paths.iter().zip(&counts).flat_map(|(path, children)| {
            (0..*children).map(|index| {
                let step = Step { name: name.clone(), which: Which::One(index) };
                path.iter().cloned().chain([step]).collect()
            })
        });
        paths = steps.collect();
        let mut level = Level { name: name.clone(), count, values: in_memory() };
        if numa_counts && same_partition(&sorted, depth, 2) {
            let bytes: Vec<_> = here.iter().map(|range| sorted[range.start].0.numa_bytes).collect();
            memories(&mut level, &bytes, &paths, &mut overrides);
        }
        levels.push(level);
        above = here;
    }
    finish(&sorted, &mut levels, &paths, &mut overrides);
    (levels, overrides)
}

/// Group numbers of a leaf from package to thread.
fn key(p: &Processor, numa_counts: bool) -> Vec<u32> {
    vec![p.package, if numa_counts { p.numa } else { u32::MAX }, p.l3, p.core, p.cpu]
}

/// Whether every NUMA node lies in one package; one that spans several is no group.
fn within_packages(leaves: &[Processor]) -> bool {
    let mut package_of: BTreeMap<u32, u32> = BTreeMap::new();
    leaves.iter().all(|p| *package_of.entry(p.numa).or_insert(p.package) == p.package)
}

/// Runs of leaves whose first `depth` group numbers agree.
fn groups(sorted: &[(&Processor, Vec<u32>)], depth: usize) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, (_, key)) in sorted.iter().enumerate() {
        match groups.last_mut() {
            Some(last) if sorted[last.start].1[..depth] == key[..depth] => last.end = i + 1,
            _ => groups.push(i..i + 1),
        }
    }
    groups
}

/// The depths worth a level: neither one group in all, nor the same groups as the level above; the lowest keeps its
/// place against the levels above it, any other gives way.
fn kept_levels(sorted: &[(&Processor, Vec<u32>)], lowest: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for depth in 1..=lowest {
        let count = groups(sorted, depth).len();
        let same = kept.last().is_some_and(|last| groups(sorted, *last).len() == count);
        if same && depth == lowest {
            kept.pop();
        }
        if count > 1 && (!same || depth == lowest) {
            kept.push(depth);
        }
    }
    kept
}

fn same_partition(sorted: &[(&Processor, Vec<u32>)], a: usize, b: usize) -> bool {
    // one refines the other, so that equal numbers of groups are equal groups
    groups(sorted, a).len() == groups(sorted, b).len()
}

fn within(range: &std::ops::Range<usize>, groups: &[std::ops::Range<usize>]) -> u32 {
    groups.iter().filter(|group| range.contains(&group.start)).count() as u32
}

fn commonest(counts: &[u32]) -> u32 {
    let mut tally: BTreeMap<u32, usize> = BTreeMap::new();
    for count in counts {
        *tally.entry(*count).or_default() += 1;
    }
    tally.into_iter().max_by_key(|(_, times)| *times).map_or(1, |(count, _)| count)
}

/// The memory of NUMA nodes: the first one's is the level's, the others differ by override.
fn memories(level: &mut Level, bytes: &[Option<u64>], paths: &[Vec<Step>], overrides: &mut Vec<Override>) {
    let memory = |size: Option<u64>| size.map(|size| Memory { size: Some(size), bandwidth: None });
    let Some(first) = bytes.iter().flatten().next() else { return };
    level.values.memory = memory(Some(*first));
    for (size, path) in bytes.iter().zip(paths).filter(|(size, _)| **size != Some(*first)) {
        // a node without memory of its own has 0 bytes
        let values = Values { memory: memory(Some(size.unwrap_or(0))), ..Values::default() };
        overrides.extend(Path::new(path.clone()).map(|at| Override { at, children: None, values }));
    }
}

/// Pins and unequal speeds of the workers.
fn finish(sorted: &[(&Processor, Vec<u32>)], levels: &mut [Level], paths: &[Vec<Step>], overrides: &mut Vec<Override>) {
    let Some(lowest) = levels.last_mut() else { return };
    lowest.values.pin = CpuList::new(sorted.iter().map(|(p, _)| p.cpu).collect());
    let capacities: Option<Vec<f64>> = sorted.iter().map(|(p, _)| p.capacity).collect();
    let Some(capacities) = capacities else { return };
    let most = capacities.iter().copied().fold(0.0, f64::max);
    if capacities.iter().all(|capacity| capacity / most >= EQUAL) {
        return;
    }
    let mut at = 0;
    while let Some(capacity) = capacities.get(at) {
        let run = (at..capacities.len()).take_while(|i| alike(paths, &capacities, at, *i)).count();
        let speed = capacity / most;
        if speed < EQUAL
            && let Some(at) = path_of_run(paths, at, run)
        {
            overrides.push(Override { at, children: None, values: Values { speed: Some(speed), ..Values::default() } });
        }
        at += run;
    }
}

/// Whether two workers are siblings of the same speed.
fn alike(paths: &[Vec<Step>], capacities: &[f64], a: usize, b: usize) -> bool {
    let parent = |i: usize| paths.get(i).and_then(|path| path.split_last()).map(|(_, parent)| parent);
    capacities[a] == capacities[b] && parent(a) == parent(b)
}

fn path_of_run(paths: &[Vec<Step>], first: usize, run: usize) -> Option<Path> {
    let mut steps = paths.get(first)?.clone();
    let step = steps.last_mut()?;
    if let (Which::One(index), true) = (step.which, run > 1) {
        step.which = Which::Range(index, index + run as u32 - 1);
    }
    Path::new(steps)
}
