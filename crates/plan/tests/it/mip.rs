//! The best partition with its proof: goldens, an enumeration of all partitions, and laws of optima.

use crate::bound::{Draw, Liar, brute_force, draws, instance};
use crate::reference;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sapwood_plan::Error;
use sapwood_plan::bound::lp::Microlp;
use sapwood_plan::bound::mip::{self, Limits, Mip, Options, Reason, Status};
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment};
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::{Order, Sweep, Vectors};
use std::cell::Cell;

/// Without HiGHS, built in or not.
fn patterns() -> Limits<'static> {
    Limits { compact: 0, ..Limits::default() }
}

pub(crate) fn solved(problem: &Problem, order: &Order) -> Mip {
    let options = Options { limits: patterns(), ..Options::default() };
    mip::solve_mip(problem, order, &Vectors::new(order), &options).unwrap()
}

/// The makespan of a plan, if there is one; that it is one is checked.
pub(crate) fn optimum(problem: &Problem, order: &Order, mip: &Mip) -> Option<u64> {
    if let Some(layout) = &mip.layout {
        let counts = layout.counts(problem).unwrap();
        problem.check(&counts).unwrap();
        let (durations, memory) = problem.costs(order, &counts);
        let vectors = Vectors::new(order);
        assert!((0..order.dims().stages).all(|s| vectors.peak(order, s, &memory).unwrap() <= problem.caps()[s]));
        assert_eq!(Some(Sweep::new().run(order, &durations)), mip.makespan);
    }
    assert_eq!(mip.reason, Reason::Proven);
    assert_eq!(mip.status, if mip.makespan.is_some() { Status::Optimal } else { Status::Infeasible });
    assert!(
        mip.makespan.is_none_or(|makespan| makespan == mip.bound) && mip.layout.is_some() == mip.makespan.is_some()
    );
    mip.makespan
}

/// The instance of the specification's 6.3, with times `by` as long: body of 10 and 20, three kinds, ends on top.
pub(crate) fn small(layers: u32, stages: usize, cap: f64, by: f64) -> Problem {
    let kind = |name: &str, activation, extra: f64| KindCost {
        name: name.to_owned(),
        activation,
        extra: extra * by,
        transient: 0.0,
    };
    let end = |name: &str, role, forward: f64, parameters| Segment {
        name: name.to_owned(),
        role,
        count: 1,
        forward: forward * by,
        backward: 2.0 * forward * by,
        weight: forward * by,
        parameters,
        kinds: vec![kind("none", 0.0, 0.0)],
    };
    let kinds = vec![kind("none", 10.0, 0.0), kind("selective", 7.0, 2.0), kind("full", 1.0, 10.0)];
    let body = Segment { count: layers, kinds, ..end("body", Role::Body, 10.0, 5.0) };
    let segments = vec![end("head", Role::Head, 2.0, 8.0), body, end("tail", Role::Tail, 12.0, 4.0)];
    let model = Model {
        name: "small".to_owned(),
        segments,
        constant: Vec::new(),
        tails: Vec::new(),
        link: 0.0,
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    };
    Problem::new(model, &vec![cap; stages], &[]).unwrap()
}

pub(crate) fn order(name: &str, stages: usize, chunks: usize, micro_batches: usize) -> Order {
    let dims = Dims { stages, chunks, micro_batches, group: Grouping::First };
    Order::new(schedule::find(name).unwrap(), &dims).unwrap()
}

#[test]
fn golden_optima_of_brute_force() {
    for (layers, stages, schedule, chunks, micro_batches, cap, makespan, cut) in [
        (7, 3, "1f1b", 1, 6, 80.0, 732, vec![2, 3, 2]),
        (8, 3, "1f1b", 1, 6, 80.0, 804, vec![3, 3, 2]),
        (8, 2, "interleaved", 2, 4, 120.0, 660, vec![1, 3, 3, 1]),
        (9, 4, "1f1b", 1, 8, 70.0, 996, vec![2, 2, 3, 2]),
    ] {
        let (problem, order) = (small(layers, stages, cap, 1.0), order(schedule, stages, chunks, micro_batches));
        let mip = solved(&problem, &order);
        assert_eq!(optimum(&problem, &order, &mip), Some(makespan));
        assert_eq!((mip.gap(), mip.layout.as_ref().map(|layout| layout.body(&problem))), (0.0, Some(cut)));
        // In a unit of a millionth part: the solver's precision is coarser than a tick.
        let fine = mip::solve_mip(
            &small(layers, stages, cap, 1.0 + 1e-9),
            &order,
            &Vectors::new(&order),
            &Options { limits: patterns(), ..Options::default() },
        );
        let fine = fine.unwrap();
        assert!(fine.gap() < 1e-8 && fine.reason == Reason::Proven, "{fine:?}");
        let best = makespan * 1_000_000_000 + makespan;
        assert!(fine.makespan.is_some_and(|found| found.abs_diff(best) < 1_000), "{fine:?}");
    }
}

/// Random instances of at most eight layers, three stages, two chunks and two kinds.
fn few() -> impl Strategy<Value = Draw> {
    draws(3, 5).prop_map(|draw| Draw { kinds: draw.kinds.min(2), cap: 0.3 + 0.8 * draw.cap, ..draw })
}

pub(crate) fn run(cases: u32, case: impl Fn(Problem, Order, Draw) -> Result<(), TestCaseError>) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let whole = |draw: Draw| instance(&draw).map_or(Ok(()), |(problem, order)| case(problem, order, draw));
    TestRunner::new(config).run(&few(), whole).unwrap();
}

#[test]
fn the_enumeration_finds_the_same() {
    let (feasible, infeasible, mixed) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let add = |count: &Cell<usize>, one: bool| count.set(count.get() + usize::from(one));
    run(600, |problem, order, draw| {
        let mip = solved(&problem, &order);
        let best = brute_force(&problem, &order);
        prop_assert_eq!(optimum(&problem, &order, &mip), best, "{:?}", mip);
        add(&feasible, best.is_some());
        add(&infeasible, best.is_none());
        add(&mixed, best.is_some() && draw.layers[1] > 0);
        Ok(())
    });
    eprintln!(
        "{} with a plan, {} of them with two segments, {} without",
        feasible.get(),
        mixed.get(),
        infeasible.get()
    );
    assert!(feasible.get() >= 200 && mixed.get() >= 50 && infeasible.get() >= 5);
}

/// The problem with a pinned segment between the two of the body, if there are two, and in half of the draws with leave to
/// have stages without a layer of the body.
pub(crate) fn with_pin(problem: &Problem, order: &Order, draw: &Draw) -> Problem {
    let k = order.dims().virtual_stages();
    let mut model = problem.model().clone();
    // Anywhere but at the ends.
    if k > 2 && model.segments.len() == 4 {
        let place = 1 + draw.costs[0] as usize % (k - 2);
        let pin = Segment { role: Role::At(place), name: "pinned".to_owned(), ..model.segments[3].clone() };
        model.segments.insert(2, pin);
    }
    let caps: Vec<f64> = problem.caps().iter().map(|&cap| problem.memory().show(cap) + 60.0).collect();
    let problem = Problem::new(model, &caps, &[]).unwrap();
    if draw.costs[1].is_multiple_of(2) { problem.allow_empty() } else { problem }
}

#[test]
fn the_enumeration_finds_the_same_with_pins_and_empty_stages() {
    let pinned = Cell::new(0);
    run(400, |problem, order, draw| {
        let problem = with_pin(&problem, &order, &draw);
        let best = brute_force(&problem, &order);
        let mip = solved(&problem, &order);
        prop_assert_eq!(optimum(&problem, &order, &mip), best, "{:?}", mip);
        pinned.set(pinned.get() + usize::from(best.is_some() && problem.model().segments.len() == 5));
        Ok(())
    });
    assert!(pinned.get() >= 20, "{}", pinned.get());
}

#[test]
fn more_room_and_more_choice_are_never_worse() {
    // None, no plan, is the worst.
    let key = |makespan: Option<u64>| makespan.unwrap_or(u64::MAX);
    run(250, |problem, order, draw| {
        let best = key(solved(&problem, &order).makespan);
        let mut caps: Vec<f64> = problem.caps().iter().map(|&cap| problem.memory().show(cap)).collect();
        caps[draw.costs[2] as usize % order.dims().stages] += f64::from(draw.costs[3]);
        let roomy = Problem::new(problem.model().clone(), &caps, &[]).unwrap();
        prop_assert!(key(solved(&roomy, &order).makespan) <= best);
        prop_assert!(key(solved(&problem.clone().allow_empty(), &order).makespan) <= best);
        let caps: Vec<f64> = problem.caps().iter().map(|&cap| problem.memory().show(cap)).collect();
        let kinds = [problem.model().segments[1].kinds[0].name.clone()];
        let plain = Problem::new(problem.model().clone(), &caps, &kinds).unwrap();
        prop_assert!(best <= key(solved(&plain, &order).makespan));
        // More chunks and schedules: the best over more of them.
        let Dims { stages, micro_batches, .. } = *order.dims();
        let mut last = u64::MAX;
        for (schedule, chunks) in [("gpipe", 1), ("1f1b", 1), ("zb-h1", 1), ("interleaved", 2), ("interleaved-lm", 2)] {
            if problem.body_layers() as usize >= stages * chunks {
                let order = self::order(schedule, stages, chunks, micro_batches);
                let both = last.min(key(solved(&problem, &order).makespan));
                prop_assert!(both <= last);
                last = both;
            }
        }
        Ok(())
    });
}

#[test]
fn the_best_plan_of_the_reference_is_proven() {
    let (problem, order) = (reference::problem(), reference::order("1f1b", 1));
    let vectors = Vectors::new(&order);
    let with = |nodes, start| {
        let options = Options { start, limits: Limits { nodes, ..patterns() }, ..Options::default() };
        mip::solve_mip(&problem, &order, &vectors, &options).unwrap()
    };
    let found = with(u64::MAX, None);
    assert_eq!(optimum(&problem, &order, &found), Some(93_777));
    let counts = found.layout.unwrap().counts(&problem).unwrap();
    let few = with(100, Some(&counts[..]));
    assert!(few.makespan == Some(93_777) && few.gap() <= 0.024 && few.nodes == 100, "{few:?}");
    assert_eq!((few.status, few.reason), (Status::Feasible, Reason::Limit));
    // The same again, bit for bit.
    assert_eq!(format!("{few:?}"), format!("{:?}", with(100, Some(&counts[..]))));
    let gap =
        mip::solve_mip(&problem, &order, &vectors, &Options { gap: 0.024, start: Some(&counts), limits: patterns() });
    let gap = gap.unwrap();
    assert!(gap.reason == Reason::Gap && gap.gap() <= 0.024 && gap.nodes < 100, "{gap:?}");
}

#[test]
fn two_chunks_of_the_reference_are_bounded() {
    let (problem, order) = (reference::problem(), reference::order("interleaved", 2));
    let limits = Limits { nodes: 4, ..patterns() };
    let options = Options { limits, ..Options::default() };
    let found = mip::solve_mip(&problem, &order, &Vectors::new(&order), &options).unwrap();
    // Above the linear relaxation, below the best plan there is.
    assert!(found.bound > 75_000 && found.bound <= 81_958, "{found:?}");
    assert!(found.makespan.is_none_or(|makespan| makespan >= 81_958));
}

#[test]
fn errors_of_a_solver_do_not_raise_the_bound() {
    let (problem, order) = (small(7, 3, 80.0, 1.0), order("1f1b", 3, 1, 6));
    for size in [1e-9, 1e-6, 1e-3, 0.1, 10.0] {
        let mut liar = Liar(Microlp::new(), size);
        let limits = Limits { work: 300_000, ..patterns() };
        let options = Options { limits, ..Options::default() };
        let found = mip::solve_mip_with(&problem, &order, &Vectors::new(&order), &options, &mut liar).unwrap();
        assert!(found.bound <= 732 && found.makespan.is_none_or(|makespan| makespan >= 732), "{size} {found:?}");
        assert!(found.reason != Reason::Proven || optimum(&problem, &order, &found) == Some(732), "{size} {found:?}");
    }
}

#[test]
fn limits_end_it_with_what_is_known() {
    let (problem, order) = (small(8, 3, 80.0, 1.0), order("1f1b", 3, 1, 6));
    let vectors = Vectors::new(&order);
    let with = |limits| mip::solve_mip(&problem, &order, &vectors, &Options { limits, ..Options::default() }).unwrap();
    let stopped = with(Limits { stop: &|| true, ..patterns() });
    assert_eq!((stopped.status, stopped.reason, stopped.layout.is_none()), (Status::Unknown, Reason::Stopped, true));
    for limits in [Limits { patterns: 5, ..patterns() }, Limits { combinations: 20, ..patterns() }] {
        let linear = with(limits);
        assert_eq!((linear.status, linear.reason, linear.nodes), (Status::Unknown, Reason::Patterns, 0));
        assert!(linear.bound > 700 && linear.bound <= 804, "{linear:?}");
    }
    let worked = with(Limits { work: 1, ..patterns() });
    assert!(worked.reason == Reason::Limit && worked.bound <= 804, "{worked:?}");
}

#[test]
fn a_start_is_judged() {
    let (problem, order) = (small(7, 3, 80.0, 1.0), order("1f1b", 3, 1, 6));
    let vectors = Vectors::new(&order);
    let with = |start: &[u32]| {
        let options = Options { start: Some(start), ..Options::default() };
        mip::solve_mip(&problem, &order, &vectors, &options)
    };
    // By virtual stage: head, body with none, selective and full, tail.
    let row = |head, body, tail| [head, body, 0, 0, tail];
    let best = [row(1, 2, 0), row(0, 3, 0), row(0, 2, 1)].concat();
    assert_eq!(with(&best).unwrap().makespan, Some(732));
    for bad in [
        vec![1; 3],
        [row(1, 2, 0), row(0, 3, 0), row(0, 1, 1)].concat(),
        [row(1, 5, 0), row(0, 1, 0), row(0, 1, 1)].concat(),
    ] {
        assert!(matches!(with(&bad), Err(Error::Problem { .. })), "{bad:?}");
    }
    let few = order_of_many();
    assert!(matches!(
        mip::solve_mip(&problem, &few, &Vectors::new(&few), &Options::default()),
        Err(Error::Problem { .. })
    ));
}

/// More virtual stages than layers.
fn order_of_many() -> Order {
    order("interleaved", 3, 3, 6)
}
