//! The lower bound: published values, and that no partition is below it.

use crate::reference;
use proptest::prelude::*;
use sapwood_plan::bound::lp::{LpBackend, Microlp, Program, Row};
use sapwood_plan::bound::{self, Bound, Options};
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment};
use sapwood_plan::problem::Problem;
use sapwood_plan::recompute::BUILT_IN;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::search;
use sapwood_plan::simulate::{Order, Sweep, Vectors};
use sapwood_skeleton::Runtime;

fn of(problem: &Problem, order: &Order) -> sapwood_plan::Result<Bound> {
    bound::lower_bound(problem, order, &Vectors::new(order), &Options::default(), &|| false)
}

#[test]
fn golden_bounds_of_the_reference() {
    for (chunks, optimum) in [(1, 88_048.65), (2, 74_804.48)] {
        let start = std::time::Instant::now();
        let found = of(&reference::problem(), &reference::order("interleaved", chunks)).unwrap();
        eprintln!("{} of {} cuts in {:?}", found.ticks, found.cuts, start.elapsed());
        assert!(found.converged && (found.ticks - optimum).abs() < 0.01, "{} for {optimum}", found.ticks);
        assert_eq!((found.floor(), found.ceil()), (optimum as u64, optimum as u64 + 1));
        let layers: f64 = found.counts.iter().sum();
        assert!((layers - 98.0).abs() < 1e-6, "{layers}");
    }
}

/// A solver that is wrong by a little everywhere.
pub(crate) struct Liar(pub(crate) Microlp, pub(crate) f64);

impl Liar {
    fn lie(&self, x: Option<Vec<f64>>) -> Option<Vec<f64>> {
        let wrong = |(at, v): (usize, f64)| v * (1.0 + self.1 * (at % 7) as f64) + self.1 * (at % 3) as f64;
        x.map(|x| x.into_iter().enumerate().map(wrong).collect())
    }
}

impl LpBackend for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn start(&mut self, program: &Program) -> sapwood_plan::Result<Option<Vec<f64>>> {
        self.0.start(program).map(|x| self.lie(x))
    }

    fn add(&mut self, rows: &[Row]) -> sapwood_plan::Result<Option<Vec<f64>>> {
        self.0.add(rows).map(|x| self.lie(x))
    }
}

#[test]
fn errors_of_a_solver_do_not_raise_the_bound() {
    let (problem, order) = (reference::problem(), reference::order("1f1b", 1));
    let vectors = Vectors::new(&order);
    for size in [1e-9, 1e-6, 1e-3, 0.1, 10.0] {
        let options = Options { cuts: Some(40), ..Options::default() };
        let mut liar = Liar(Microlp::new(), size);
        let found = bound::lower_bound_with(&problem, &order, &vectors, &options, &|| false, &mut liar).unwrap();
        eprintln!("{size}: {}", found.ticks);
        assert!(found.ticks > 10_000.0 && found.ticks <= 88_048.648, "{size}: {}", found.ticks);
    }
}

#[test]
fn fewer_cuts_are_a_lower_bound_too() {
    let (problem, order) = (reference::problem(), reference::order("interleaved", 2));
    let vectors = Vectors::new(&order);
    let mut last = 0.0;
    for cuts in [0, 10, 60] {
        let options = Options { cuts: Some(cuts), ..Options::default() };
        let found = bound::lower_bound(&problem, &order, &vectors, &options, &|| false).unwrap();
        assert!(!found.converged && found.ticks > last && found.ticks < 74_804.49, "{cuts}: {}", found.ticks);
        last = found.ticks;
    }
}

#[test]
fn a_stopped_bound_is_a_lower_bound() {
    let (problem, order) = (reference::problem(), reference::order("interleaved", 2));
    let asked = std::sync::atomic::AtomicUsize::new(0);
    // It is asked once for each stage, then after each path.
    let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 16 + 10;
    let found = bound::lower_bound(&problem, &order, &Vectors::new(&order), &Options::default(), &stop).unwrap();
    assert!(!found.converged && found.cuts == 10 && found.ticks > 65_000.0 && found.ticks < 74_804.0, "{found:?}");
}

#[test]
fn what_cannot_be_is_said() {
    let order = reference::order("1f1b", 1);
    let small = Problem::new(reference::problem().model().clone(), &[11_000.0; 16], &[]).unwrap();
    let Err(sapwood_plan::Error::Infeasible { stage, need, cap }) = of(&small, &order) else { panic!() };
    // All stages exceed alike; in the last one, with one micro-batch alive, a byte more holds most.
    assert!(stage == 15 && cap == 11_000.0 && (need - 12_747.596).abs() < 0.01, "{stage} {need}");
    let mut caps = [56_000.0; 16];
    caps[3] = 2_000.0;
    let small = Problem::new(reference::problem().model().clone(), &caps, &[]).unwrap();
    let Err(sapwood_plan::Error::Infeasible { stage, need, cap }) = of(&small, &order) else { panic!() };
    // One layer with all recomputed, 13 micro-batches alive.
    assert!((stage, cap) == (3, 2_000.0) && (need - f64::from(1710 + 13 * 32)).abs() < 0.01, "{stage} {need}");
    let message = of(&reference::problem(), &reference::order("interleaved", 7)).unwrap_err().to_string();
    assert!(message.contains("96 layers for 112 virtual stages"), "{message}");
}

/// Numbers that a random instance is made of.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    pub(crate) schedule: usize,
    pub(crate) stages: usize,
    pub(crate) chunks: usize,
    pub(crate) micro_batches: usize,
    pub(crate) layers: [u32; 2],
    pub(crate) kinds: usize,
    pub(crate) costs: Vec<u32>,
    pub(crate) cap: f64,
}

pub(crate) fn draws(stages: usize, layers: u32) -> impl Strategy<Value = Draw> {
    let sizes = (0..schedule::ALL.len(), 1..=stages, 1usize..=2, 1usize..=7, 1usize..=3);
    let costs = proptest::collection::vec(1u32..40, 64);
    (sizes, [1..=layers, 0..=3u32], costs, 0.4f64..1.3).prop_map(
        |((schedule, stages, chunks, micro_batches, kinds), layers, costs, cap)| Draw {
            schedule,
            stages,
            chunks,
            micro_batches,
            layers,
            kinds,
            costs,
            cap,
        },
    )
}

/// The problem and order of a draw; `None` if it has too few layers.
pub(crate) fn instance(draw: &Draw) -> Option<(Problem, Order)> {
    let entry = &schedule::ALL[draw.schedule];
    let chunks = if entry.shape.chunks { draw.chunks } else { 1 };
    let dims = Dims { stages: draw.stages, chunks, micro_batches: draw.micro_batches, group: Grouping::First };
    let order = Order::new(entry, &dims).unwrap();
    let mut costs = draw.costs.iter().map(|&c| f64::from(c)).cycle();
    let mut next = || costs.next().unwrap();
    let mut segment = |name: &str, role, count, kinds: usize| {
        let (forward, weight) = (next(), next());
        let (mut extra, mut activation) = (0.0, 40.0 + next());
        let kinds = (0..kinds).map(|at| {
            let cost = KindCost {
                name: BUILT_IN[at].name.to_owned(),
                activation,
                extra,
                transient: if at > 0 { next() / 8.0 } else { 0.0 },
            };
            (extra, activation) = (extra + next() / 4.0, activation / 2.0);
            cost
        });
        let kinds = kinds.collect();
        let name = name.to_owned();
        Segment { name, role, count, forward, backward: weight + next(), weight, parameters: next(), kinds }
    };
    let mut segments = vec![segment("head", Role::Head, 1, 1), segment("body", Role::Body, draw.layers[0], draw.kinds)];
    if draw.layers[1] > 0 {
        segments.push(segment("other", Role::Body, draw.layers[1], draw.kinds));
    }
    segments.push(segment("tail", Role::Tail, 1, 2));
    let model = Model {
        name: "random".to_owned(),
        segments,
        constant: vec![7.0],
        tails: Vec::new(),
        link: 0.0,
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    };
    let layers = draw.layers[0] + draw.layers[1];
    // About what an even cut needs.
    let need =
        120.0 + f64::from(layers) / draw.stages as f64 * (20.0 + 60.0 * draw.stages.min(draw.micro_batches) as f64);
    let problem = Problem::new(model, &vec![(need * draw.cap).round(); draw.stages], &[]).unwrap();
    (problem.body_layers() as usize >= dims.virtual_stages()).then_some((problem, order))
}

/// The smallest makespan of all partitions that fit.
pub(crate) fn brute_force(problem: &Problem, order: &Order) -> Option<u64> {
    let items = problem.items();
    let k = order.dims().virtual_stages();
    let segments = &problem.model().segments;
    let layers: Vec<usize> =
        segments.iter().enumerate().flat_map(|(at, s)| std::iter::repeat_n(at, s.count as usize)).collect();
    let (vectors, mut sweep, mut best) = (Vectors::new(order), Sweep::new(), None);
    // Counts, next layer, virtual stage and item of the last one.
    let mut open = vec![(vec![0u32; k * items.len()], 0, 0, None::<usize>)];
    while let Some((counts, layer, at, last)) = open.pop() {
        let Some(&segment) = layers.get(layer) else {
            if problem.check(&counts).is_err() {
                continue;
            }
            let (durations, memory) = problem.costs(order, &counts);
            let fits = |s| vectors.peak(order, s, &memory).unwrap() <= problem.caps()[s];
            if (0..order.dims().stages).all(fits) {
                let makespan = sweep.run(order, &durations);
                best = Some(best.map_or(makespan, |best: u64| best.min(makespan)));
            }
            continue;
        };
        let end = if problem.least() == 0 { k } else { (at + 2).min(k) };
        let places = segments[segment].role.place(k).map_or(at..end, |at| at..at + 1);
        for place in places {
            for item in (0..items.len()).filter(|&i| items[i].segment == segment) {
                let falls = place == at && last.is_some_and(|last| items[last].segment == segment && last > item);
                if !falls {
                    let mut counts = counts.clone();
                    counts[place * items.len() + item] += 1;
                    open.push((counts, layer + 1, place, Some(item)));
                }
            }
        }
    }
    best
}

proptest! {
    // Nearly half of them have too few layers or do not fit.
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_partition_of_all_is_below(draw in draws(3, 4)) {
        let Some((problem, order)) = instance(&draw) else { return Ok(()) };
        let best = brute_force(&problem, &order);
        match of(&problem, &order) {
            Ok(found) => {
                prop_assert!(found.converged);
                let best = best.unwrap_or(u64::MAX);
                prop_assert!(found.ticks <= best as f64 && found.ceil() <= best, "{} > {best}", found.ticks);
            }
            Err(e) => prop_assert_eq!(best, None, "{}", e),
        }
    }

    #[test]
    fn no_partition_of_the_search_is_below(draw in draws(5, 30)) {
        let Some((problem, order)) = instance(&draw) else { return Ok(()) };
        let runtime = Runtime::threads(1).unwrap();
        let options = search::Options { moves: 4000, seed: 3, ..Default::default() };
        let found = search::solve(runtime.exec(), &problem, &order, &Vectors::new(&order), &options, &|| false);
        match of(&problem, &order) {
            Ok(bound) => {
                prop_assert!(bound.converged && bound.ticks > 0.0);
                if let Ok(found) = found {
                    prop_assert!(bound.ceil() <= found.makespan, "{} > {}", bound.ticks, found.makespan);
                }
            }
            Err(e) => prop_assert!(found.is_err(), "{e}"),
        }
    }
}
