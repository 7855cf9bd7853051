//! The compact integer program under HiGHS: the same optima as an enumeration and as patterns find.
#![cfg(feature = "highs")]

use crate::bound::brute_force;
use crate::mip::{optimum, order, run, small, with_pin};
use crate::reference;
use proptest::prelude::*;
use sapwood_plan::Error;
use sapwood_plan::bound::mip::{self, Limits, Mip, Options, Reason, Status};
use sapwood_plan::problem::Problem;
use sapwood_plan::simulate::{Order, Vectors};
use std::cell::Cell;
use std::time::Instant;

/// The best makespan; none where nothing fits, be it found by HiGHS or by the relaxation.
fn best_of(problem: &Problem, order: &Order) -> Option<u64> {
    let options = Options { limits: compact(), ..Options::default() };
    match mip::solve_mip(problem, order, &Vectors::new(order), &options) {
        Err(Error::Infeasible { .. }) => None,
        found => optimum(problem, order, &found.unwrap()),
    }
}

/// No pattern is looked at.
fn compact() -> Limits<'static> {
    Limits { patterns: 0, compact: 1 << 20, ..Limits::default() }
}

fn with(problem: &Problem, order: &Order, options: &Options<'_>) -> Mip {
    let found = mip::solve_mip(problem, order, &Vectors::new(order), options).unwrap();
    assert_eq!(found.patterns, 0);
    found
}

fn solved(problem: &Problem, order: &Order) -> Mip {
    with(problem, order, &Options { limits: compact(), ..Options::default() })
}

#[test]
fn golden_optima_of_brute_force() {
    for (layers, stages, schedule, chunks, micro_batches, cap, makespan) in [
        (7, 3, "1f1b", 1, 6, 80.0, 732),
        (8, 3, "1f1b", 1, 6, 80.0, 804),
        (8, 2, "interleaved", 2, 4, 120.0, 660),
        (9, 4, "1f1b", 1, 8, 70.0, 996),
    ] {
        let order = order(schedule, stages, chunks, micro_batches);
        let found = solved(&small(layers, stages, cap, 1.0), &order);
        assert_eq!(optimum(&small(layers, stages, cap, 1.0), &order, &found), Some(makespan));
        // In a unit of a millionth part: HiGHS' tolerances are coarser than a tick, and are part of the bound.
        let fine = solved(&small(layers, stages, cap, 1.0 + 1e-9), &order);
        let best = makespan * 1_000_000_000 + makespan;
        assert!(fine.bound <= best && fine.gap() > 0.0 && fine.gap() < 2e-6, "{fine:?}");
        assert_eq!((fine.reason, fine.status), (Reason::Proven, Status::Feasible));
        assert!(fine.makespan.is_some_and(|found| found.abs_diff(best) < 1_000), "{fine:?}");
    }
}

#[test]
fn the_enumeration_and_patterns_find_the_same() {
    let (feasible, infeasible) = (Cell::new(0), Cell::new(0));
    run(400, |problem, order, _| {
        let best = brute_force(&problem, &order);
        prop_assert_eq!(best_of(&problem, &order), best);
        prop_assert_eq!(crate::mip::solved(&problem, &order).makespan, best);
        let count = if best.is_some() { &feasible } else { &infeasible };
        count.set(count.get() + 1);
        Ok(())
    });
    assert!(feasible.get() >= 150 && infeasible.get() >= 3, "{} {}", feasible.get(), infeasible.get());
}

#[test]
fn the_enumeration_finds_the_same_with_pins_and_empty_stages() {
    let pinned = Cell::new(0);
    run(300, |problem, order, draw| {
        let problem = with_pin(&problem, &order, &draw);
        let best = brute_force(&problem, &order);
        prop_assert_eq!(best_of(&problem, &order), best);
        pinned.set(pinned.get() + usize::from(best.is_some() && problem.model().segments.len() == 5));
        Ok(())
    });
    assert!(pinned.get() >= 15, "{}", pinned.get());
}

#[test]
fn the_reference_is_bounded_the_same_twice() {
    let (problem, order) = (reference::problem(), reference::order("1f1b", 1));
    let bounded = |nodes| {
        let limits = Limits { compact: nodes, ..compact() };
        with(&problem, &order, &Options { limits, ..Options::default() })
    };
    let found = bounded(600);
    assert!(found.bound > 90_000 && found.bound <= 93_777, "{found:?}");
    assert!(found.makespan.is_some_and(|makespan| (93_777..96_000).contains(&makespan)), "{found:?}");
    assert_eq!((found.status, found.reason), (Status::Feasible, Reason::Limit));
    assert_eq!(format!("{found:?}"), format!("{:?}", bounded(600)));
}

#[test]
fn it_ends_when_it_is_told_to() {
    let (problem, order) = (small(8, 3, 80.0, 1.0), order("1f1b", 3, 1, 6));
    let stopped =
        with(&problem, &order, &Options { limits: Limits { stop: &|| true, ..compact() }, ..Options::default() });
    assert_eq!((stopped.status, stopped.reason, stopped.makespan), (Status::Unknown, Reason::Stopped, None));
    let best = solved(&problem, &order).layout.unwrap().counts(&problem).unwrap();
    let gap = with(&problem, &order, &Options { gap: 0.5, limits: compact(), start: Some(&best) });
    assert_eq!((gap.reason, gap.makespan, gap.nodes), (Reason::Gap, Some(804), 0), "{gap:?}");
    // HiGHS has no time at all, and all but one turn of nodes.
    let late = Limits { until: Some(Instant::now()), compact: 1, ..compact() };
    let late = with(&problem, &order, &Options { limits: late, ..Options::default() });
    assert!(late.bound > 700 && late.bound < 804 && late.reason == Reason::Limit, "{late:?}");
}

#[test]
fn the_version_is_the_locked_one() {
    let lock = include_str!("../../../../Cargo.lock");
    assert!(lock.contains(&format!("name = \"highs-sys\"\nversion = \"{}\"", mip::HIGHS.unwrap())));
}
