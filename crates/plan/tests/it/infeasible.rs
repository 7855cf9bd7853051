//! What is said where nothing fits: the nearest partition, and the smallest changes that help.

use crate::reference;
use sapwood_plan::Error;
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule;
use sapwood_plan::solve::{self, Caps, Express, Group, Infeasible, Proof, Request};
use sapwood_skeleton::Runtime;

fn request(problem: &Problem, express: Express) -> Request<'_> {
    Request {
        problem,
        micro_batches: 32,
        schedules: vec![schedule::find("1f1b").unwrap()],
        chunks: vec![1],
        group: Group::Auto,
        express,
        proof: Proof::None,
        gap: 0.01,
        moves: 800,
        seed: 0,
        rendezvous: false,
        until: None,
        start: None,
    }
}

/// The reference with so much memory on each of some stages.
fn reference(stages: usize, cap: f64) -> Problem {
    Problem::new(reference::problem().model().clone(), &vec![cap; stages], &[]).unwrap()
}

fn why(problem: &Problem, margin: f64) -> Option<Infeasible> {
    let (runtime, request) = (Runtime::threads(1).unwrap(), request(problem, Express::Any));
    let failure = solve::solve(runtime.exec(), &request, &|| false).unwrap().failure?;
    solve::infeasible(runtime.exec(), &request, &failure, &Caps { one: true, margin }, &|| false).unwrap()
}

fn fits(problem: &Problem) -> bool {
    let (runtime, request) = (Runtime::threads(1).unwrap(), request(problem, Express::Any));
    solve::solve(runtime.exec(), &request, &|| false).unwrap().best.is_some()
}

#[test]
fn the_nearest_partition_is_that_of_the_least_memory_with_which_any_fits() {
    let runtime = Runtime::threads(1).unwrap();
    for cap in [13_600.0, 10_000.0, 3_000.0] {
        for express in [Express::Any, Express::Megatron] {
            let problem = reference(16, cap);
            let solved = solve::solve(runtime.exec(), &request(&problem, express), &|| false).unwrap();
            let Some(Error::Infeasible { stage, need, cap: said }) = solved.failure else { panic!("{cap}") };
            assert_eq!((stage, need, said), (0, 13_680.0, cap), "{express:?}");
        }
    }
}

#[test]
fn remedies_are_the_smallest_that_do() {
    let found = why(&reference(16, 12_500.0), 0.0).unwrap();
    let of = |flag: &str| found.remedies.iter().find(|remedy| remedy.change.starts_with(flag)).unwrap();
    let memory = of("--memory");
    assert_eq!((memory.change.as_str(), memory.value, memory.step), ("--memory 13680MB", Some(13_680.0), Some(1.0)));
    assert!(!fits(&reference(16, 13_679.0)) && fits(&reference(16, 13_680.0)));
    let stages = of("--stages");
    let fewest = stages.value.unwrap() as usize;
    assert_eq!((stages.change.clone(), stages.step), (format!("--stages {fewest}"), Some(1.0)));
    assert!(!fits(&reference(fewest - 1, 12_500.0)) && fits(&reference(fewest, 12_500.0)));
    // 5 per cent of 14 000 MB free leave 13 300; 2.2 leave 13 692, and 2.3 no more than 13 678.
    let found = why(&reference(16, 13_300.0), 0.05).unwrap();
    let changes: Vec<&str> = found.remedies.iter().map(|remedy| remedy.change.as_str()).collect();
    assert_eq!(changes[..2], ["--memory 13680MB --margin 0", "--margin 2.2"]);
}
