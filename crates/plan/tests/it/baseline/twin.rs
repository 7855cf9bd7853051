//! The slow twin: all cuts and all kinds of all layers, and what each planner says of them, written anew.

use sapwood_plan::layout::Layout;
use sapwood_plan::problem::{Item, Problem};
use sapwood_plan::schedule::Dims;

/// Items of the layers of a virtual stage, in model order, as segments.
pub(crate) type Chunk = Vec<usize>;

/// Every way to lay the segments on virtual stages, as lists of segments.
pub(crate) fn cuts(problem: &Problem, dims: &Dims) -> Vec<Vec<Chunk>> {
    let k = dims.virtual_stages();
    let segments = &problem.model().segments;
    // Layers one by one; each is where the one before it is, or later; pinned ones where they are pinned.
    let mut all: Vec<(usize, Vec<Chunk>)> = vec![(0, vec![Vec::new(); k])];
    for (at, segment) in segments.iter().enumerate() {
        for _ in 0..segment.count {
            let mut next = Vec::new();
            for (last, chunks) in all {
                for place in 0..k {
                    let here = segment.role.place(k).is_none_or(|pin| pin == place);
                    if here && place >= last {
                        let mut longer = chunks.clone();
                        longer[place].push(at);
                        next.push((place, longer));
                    }
                }
            }
            all = next;
        }
        if segment.count == 0
            && let Some(pin) = segment.role.place(k)
        {
            // A segment without layers is a border all the same.
            all.retain_mut(|(last, _)| {
                let before = *last <= pin;
                *last = pin.max(*last);
                before
            });
        }
    }
    let filled = |chunks: &Vec<Chunk>| {
        let body = |chunk: &Chunk| chunk.iter().filter(|&&at| problem.is_body(at)).count();
        chunks.iter().all(|chunk| body(chunk) >= problem.least() as usize)
    };
    all.into_iter().map(|(_, chunks)| chunks).filter(filled).collect()
}

/// The cut of a plan.
pub(crate) fn cut_of(layout: &Layout) -> Vec<Chunk> {
    let chunk = |runs: &Vec<sapwood_plan::layout::Run>| {
        let mut all: Vec<usize> =
            runs.iter().flat_map(|run| std::iter::repeat_n(run.segment, run.count as usize)).collect();
        all.sort_unstable();
        all
    };
    layout.chunks.iter().map(chunk).collect()
}

/// Items of a plan by virtual stage.
pub(crate) fn items_of<'a>(problem: &'a Problem, layout: &Layout) -> Vec<Vec<&'a Item>> {
    let item = |segment, kind| problem.items().iter().find(|i| (i.segment, i.kind) == (segment, kind)).unwrap();
    let chunk = |runs: &Vec<sapwood_plan::layout::Run>| {
        runs.iter().flat_map(|run| std::iter::repeat_n(item(run.segment, run.kind), run.count as usize)).collect()
    };
    layout.chunks.iter().map(chunk).collect()
}

/// Every choice of items for segments; what is pinned has its lightest one if it is not `free`.
pub(crate) fn choices<'a>(problem: &'a Problem, chunk: &Chunk, free: bool) -> Vec<Vec<&'a Item>> {
    let mut all = vec![Vec::new()];
    for &segment in chunk {
        let kinds: Vec<&Item> = if free || problem.is_body(segment) {
            problem.items().iter().filter(|item| item.segment == segment).collect()
        } else {
            vec![lightest(problem, segment)]
        };
        all = all.iter().flat_map(|list| kinds.iter().map(move |&kind| [&list[..], &[kind]].concat())).collect();
    }
    all
}

pub(crate) fn lightest(problem: &Problem, segment: usize) -> &Item {
    let own = problem.items().iter().filter(|item| item.segment == segment);
    own.min_by_key(|item| (item.extra, item.activation)).unwrap()
}

pub(crate) fn sum<'a>(items: &[&'a Item], of: impl Fn(&'a Item) -> u64) -> u64 {
    items.iter().map(|item| of(item)).sum()
}

pub(crate) fn time(items: &[&Item]) -> u64 {
    sum(items, |item| item.forward + item.backward + item.extra)
}

/// The peak of a stage of 1F1B.
pub(crate) fn peak(problem: &Problem, dims: &Dims, stage: usize, items: &[&Item]) -> u64 {
    let flight = dims.micro_batches.min(dims.stages - stage) as u64;
    let transient = items.iter().map(|item| item.transient).max().unwrap_or(0);
    problem.constant()[stage] + sum(items, |item| item.parameters + flight * item.activation) + transient
}
