//! The reference instance: 96 layers on 16 stages, 32 micro-batches, 56 000 MB.

use sapwood_plan::layout::{Layout, Run};
use sapwood_plan::model::readers;
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::search::{self, Options};
use sapwood_plan::simulate::{Order, Sweep, Vectors};
use sapwood_skeleton::Runtime;
use std::path::Path;

pub(crate) fn problem() -> Problem {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/plan/llama70b-sapp.json");
    let model = readers::read(&path, &readers::Options::default()).unwrap();
    Problem::new(model, &[56_000.0; 16], &[]).unwrap()
}

pub(crate) fn order(schedule: &str, chunks: usize) -> Order {
    let dims = Dims { stages: 16, chunks, micro_batches: 32, group: Grouping::First };
    Order::new(schedule::find(schedule).unwrap(), &dims).unwrap()
}

/// Makespan and peaks of a layout of (none, selective, both, full) by virtual stage.
fn judged(order: &Order, rows: &[[u32; 4]]) -> (u64, Vec<u64>) {
    let problem = problem();
    let chunk = |(at, row): (usize, &[u32; 4])| {
        let body = row.iter().enumerate().map(|(kind, &count)| Run { segment: 1, kind, count });
        let mut runs: Vec<Run> = body.filter(|run| run.count > 0).collect();
        if at == 0 {
            runs.push(Run { segment: 0, kind: 0, count: 1 });
        }
        if at + 1 == rows.len() {
            runs.push(Run { segment: 2, kind: 0, count: 1 });
        }
        runs
    };
    let layout = Layout { chunks: rows.iter().enumerate().map(chunk).collect() };
    let (durations, memory) = problem.costs(order, &layout.counts(&problem).unwrap());
    let vectors = Vectors::new(order);
    let peaks = (0..16).map(|s| vectors.peak(order, s, &memory).unwrap()).collect();
    (Sweep::new().run(order, &durations), peaks)
}

#[test]
fn golden_plans_are_judged_as_published() {
    let rows = [
        [0, 0, 5, 1],
        [1, 0, 5, 0],
        [0, 2, 4, 0],
        [0, 3, 3, 0],
        [0, 4, 2, 0],
        [0, 5, 1, 0],
        [0, 6, 0, 0],
        [2, 4, 0, 0],
        [5, 1, 0, 0],
        [6, 0, 0, 0],
        [7, 0, 0, 0],
        [7, 0, 0, 0],
        [7, 0, 0, 0],
        [6, 0, 0, 0],
        [5, 0, 0, 0],
        [4, 0, 0, 0],
    ];
    let peaks = [
        52248, 55395, 53520, 54798, 55404, 55338, 54600, 54756, 55932, 52008, 53718, 46760, 39802, 28152, 18490, 16610,
    ];
    assert_eq!(judged(&order("1f1b", 1), &rows), (93_777, peaks.to_vec()));
    let chunk_0 = [
        [0, 0, 0, 2],
        [0, 0, 1, 1],
        [0, 0, 0, 2],
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 2, 0],
        [0, 1, 0, 1],
        [0, 1, 2, 0],
        [0, 1, 2, 0],
        [1, 0, 2, 0],
        [0, 2, 1, 0],
        [1, 1, 1, 0],
        [0, 2, 2, 0],
        [1, 0, 3, 0],
    ];
    let chunk_1 = [
        [0, 1, 3, 0],
        [0, 1, 3, 0],
        [0, 3, 1, 0],
        [0, 1, 3, 0],
        [1, 0, 3, 0],
        [0, 2, 2, 0],
        [0, 2, 2, 0],
        [0, 1, 3, 0],
        [1, 0, 3, 0],
        [0, 1, 2, 0],
        [0, 2, 1, 0],
        [1, 0, 2, 0],
        [1, 1, 1, 0],
        [0, 3, 0, 0],
        [1, 2, 0, 0],
        [1, 0, 0, 0],
    ];
    let (makespan, peaks) = judged(&order("interleaved", 2), &[chunk_0, chunk_1].concat());
    assert_eq!((makespan, peaks.into_iter().max()), (81_958, Some(55_939)));
}

#[test]
fn golden_uniform_plans() {
    for (chunks, kind, makespan, peak) in [
        (1, 0, 95_487, 114_920),
        (1, 2, 104_793, 58_184),
        (1, 3, 123_687, 22_568),
        (2, 0, 82_572, 159_650),
        (2, 2, 90_393, 76_319),
        (2, 3, 106_272, 24_008),
    ] {
        let mut row = [0; 4];
        row[kind] = 6 / chunks as u32;
        let (found, peaks) = judged(&order("interleaved", chunks), &vec![row; 16 * chunks]);
        assert_eq!((found, peaks.into_iter().max()), (makespan, Some(peak)), "{chunks} {kind}");
    }
}

#[test]
fn the_search_reaches_the_best_known_plan_of_one_chunk() {
    let (problem, order) = (problem(), order("1f1b", 1));
    let vectors = Vectors::new(&order);
    let options = Options { moves: 1_000_000, ..Options::default() };
    let solve = |threads| {
        let runtime = Runtime::threads(threads).unwrap();
        search::solve(runtime.exec(), &problem, &order, &vectors, &options, &|| false).unwrap()
    };
    let found = solve(2);
    assert_eq!((&solve(1).layout, &solve(7).layout), (&found.layout, &found.layout));
    assert!(found.makespan <= 93_777 && found.peaks.iter().all(|&peak| peak <= 56_000), "{found:?}");
}
