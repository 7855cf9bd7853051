//! What a stop leaves, and sizes at which something has to give.

use crate::reference;
use crate::solve::{Draw, problem, request, solved};
use sapwood_plan::baseline::{self, Answer};
use sapwood_plan::outcome;
use sapwood_plan::report::Summary;
use sapwood_plan::schedule::{self, Grouping};
use sapwood_plan::search;
use sapwood_plan::simulate::{Order, Vectors};
use sapwood_plan::solve::{self, Express, Group, Proof, Request};
use sapwood_skeleton::Runtime;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A stop that says yes from its `after`-th question on.
fn after(after: usize) -> impl Fn() -> bool + Sync {
    let asked = AtomicUsize::new(0);
    move || asked.fetch_add(1, Ordering::Relaxed) >= after
}

#[test]
fn an_answer_is_never_worse_than_a_baseline_however_early_it_is_stopped() {
    let problem = reference::problem();
    let runtime = Runtime::threads(1).unwrap();
    let schedules = ["1f1b", "interleaved", "interleaved-lm"].map(|name| schedule::find(name).unwrap()).to_vec();
    let request = Request {
        problem: &problem,
        micro_batches: 32,
        schedules,
        chunks: vec![1, 2],
        group: Group::Auto,
        express: Express::Any,
        proof: Proof::Lp,
        gap: 0.01,
        moves: 10_000_000,
        seed: 0,
        rendezvous: false,
        until: None,
        start: None,
    };
    let stopped = |questions| {
        let solved = solve::solve(runtime.exec(), &request, &after(questions)).unwrap();
        assert!(!solved.complete && !solved.optimal);
        let best = solved.best.unwrap();
        let chosen = solved.considered.iter().find(|line| line.reason == "chosen").unwrap();
        assert_eq!(chosen.makespan, Some(best.outcome.makespan as f64));
        assert!(best.outcome.exceeding(&problem).is_empty());
        best.outcome.makespan
    };
    // The moment it begins: an equal cut.
    let first = stopped(0);
    assert_eq!(first, 123_687);
    let mut baselines = Vec::new();
    for chunks in [1, 2] {
        let dims = schedule::Dims { stages: 16, chunks, micro_batches: 32, group: Grouping::First };
        for planner in baseline::ALL {
            if let Answer::Plan(plan) = planner.plan(&problem, &dims, &baseline::Options::default()).unwrap() {
                let order = Order::new(schedule::find(plan.schedule).unwrap(), &dims).unwrap();
                let counts = plan.layout.counts(&problem).unwrap();
                let outcome = outcome::simulate(&problem, &order, &counts, false).unwrap();
                baselines.extend(Some(outcome.makespan).filter(|_| outcome.exceeding(&problem).is_empty()));
            }
        }
    }
    let least = *baselines.iter().min().unwrap();
    assert!(stopped(100) <= least && least < first, "{least}");
}

#[test]
fn a_search_stops_between_a_few_simulations() {
    let draw = Draw { stages: 2, chunks: 1, micro_batches: 6, layers: [8, 0], costs: vec![7, 3, 11], roomy: 2.0 };
    let problem = problem(&draw);
    let runtime = Runtime::threads(1).unwrap();
    let dims = schedule::Dims { stages: 2, chunks: 1, micro_batches: 6, group: Grouping::First };
    let order = Order::new(schedule::find("1f1b").unwrap(), &dims).unwrap();
    let options = search::Options { moves: 20_000_000, ..search::Options::default() };
    let vectors = Vectors::new(&order);
    let found = search::solve(runtime.exec(), &problem, &order, &vectors, &options, &after(40)).unwrap();
    assert!(!found.complete && found.moves <= 40 * 256, "{} moves", found.moves);
}

#[test]
fn sizes_beyond_all_sense_are_refused_with_the_most_that_is_taken() {
    let problem = reference::problem();
    let draw = Draw { stages: 16, chunks: 1, micro_batches: 1_000_000, layers: [96, 0], costs: vec![1], roomy: 1.0 };
    let runtime = Runtime::threads(1).unwrap();
    let why = solve::solve(runtime.exec(), &request(&problem, &draw, Express::Any), &|| false).unwrap_err().to_string();
    assert!(why.contains("32000000 operations") && why.contains("take 262144 micro-batches at most"), "{why}");
}

#[test]
fn models_too_large_for_a_baseline_are_planned_without_it() {
    let draw = Draw { stages: 2, chunks: 1, micro_batches: 4, layers: [20_000, 0], costs: vec![7, 3, 11], roomy: 2.0 };
    let problem = problem(&draw);
    let dims = schedule::Dims { stages: 2, chunks: 1, micro_batches: 4, group: Grouping::First };
    for planner in baseline::ALL {
        let answer = planner.plan(&problem, &dims, &baseline::Options::default()).unwrap();
        let Answer::None(why) = answer else { panic!("{}: {answer:?}", planner.name) };
        assert!(why.contains("it takes 16384 at most"), "{why}");
    }
    let best = solved(&request(&problem, &draw, Express::Any)).unwrap().best.unwrap();
    let summary = Summary::new(&problem, &best.order, &best.layout, &best.outcome, 1).unwrap();
    assert_eq!((summary.layout, summary.stage.len()), (None, 2));
}
