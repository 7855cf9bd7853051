//! Searches on a small model with two segments.

use super::anneal::{Cooling, deltas};
use super::descent::{changed, descend, neighbours};
use super::filter::Filter;
use super::group::Group;
use super::state::State;
use super::{CHAINS, Options, ROUNDS, Setting, anneal, moves, seeds, solve};
use crate::Result;
use crate::model::{KindCost, MemoryUnit, Model, Role, Segment};
use crate::problem::Problem;
use crate::recompute::BUILT_IN;
use crate::schedule::{self, Dims, Grouping};
use crate::simulate::path::Path;
use crate::simulate::{Order, Sweep, Vectors};
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{Exec, Runtime};

/// Two segments of a body between its ends; the second one has a kind more, and transients.
fn problem(cap: f64, kinds: &[String]) -> Problem {
    let kind = |at: usize, activation, extra| KindCost {
        name: BUILT_IN[at].name.to_owned(),
        activation,
        extra,
        transient: extra,
    };
    let segment = |name: &str, role, count, forward: f64, kinds| Segment {
        name: name.to_owned(),
        role,
        count,
        forward,
        backward: 2.0 * forward,
        weight: forward,
        parameters: 5.0,
        kinds,
    };
    let segments = vec![
        segment("head", Role::Head, 1, 2.0, vec![kind(0, 1.0, 0.0)]),
        segment("dense", Role::Body, 9, 10.0, vec![kind(0, 10.0, 0.0), kind(4, 1.0, 10.0)]),
        segment("wide", Role::Body, 7, 13.0, vec![kind(0, 12.0, 0.0), kind(1, 7.0, 2.0), kind(4, 2.0, 13.0)]),
        segment("tail", Role::Tail, 1, 12.0, vec![kind(0, 3.0, 0.0)]),
    ];
    let (time_unit, memory_unit) = (None, MemoryUnit::Raw);
    let model = Model {
        name: "m".into(),
        segments,
        constant: vec![],
        tails: vec![],
        link: 0.0,
        time_unit,
        memory_unit,
        warnings: vec![],
    };
    Problem::new(model, &[cap; 3], kinds).unwrap()
}

/// What a chain has after any number of moves is what its counts alone come to, and stays a partition.
#[test]
fn a_chain_keeps_a_partition_and_its_costs() {
    for entry in schedule::ALL {
        let chunks = if entry.shape.chunks { 2 } else { 1 };
        let dims = Dims { stages: 3, chunks, micro_batches: 7, group: Grouping::First };
        let (problem, order) = (problem(400.0, &[]), Order::new(entry, &dims).unwrap());
        let vectors = Vectors::new(&order);
        let setting = Setting::new(&problem, &order, &vectors, &Options::default()).unwrap();
        let options = Options { moves: 6400, seed: 3, ..Options::default() };
        let seeds = seeds::feasible(&setting, &Options::default(), &|| false).unwrap();
        let mut group = Group::<u32>::all(&seeds, &options, 1).swap_remove(0);
        let cooling = Cooling::new(&seeds[0], 6400);
        for round in 0..ROUNDS {
            group.run(&setting, &cooling, cooling.before(round + 1), &|| false).unwrap();
            let now = &group.chains[round as usize % CHAINS].now;
            let anew = State::new(&setting, now.counts.clone(), &mut Sweep::new());
            assert_eq!((&anew.durations, &anew.memory), (&now.durations, &now.memory), "{}", entry.name);
            assert_eq!((anew.makespan, &anew.peaks), (now.makespan, &now.peaks), "{}", entry.name);
            assert_eq!(anew.body, now.body);
            assert!(now.fits(&setting) && now.body.iter().all(|&layers| layers > 0));
            partition(&problem, &now.counts);
        }
        let bests = group.chains.iter().map(|chain| &chain.best);
        assert!(bests.clone().all(|best| best.makespan <= seeds[0].makespan && best.fits(&setting)));
        assert_eq!(bests.count(), CHAINS);
    }
}

/// All layers are there, and those of the first segment before those of the second.
fn partition(problem: &Problem, counts: &[u32]) {
    let items = problem.items();
    let of = |row: &[u32], segment: usize| -> u32 {
        items.iter().zip(row).filter(|(item, _)| item.segment == segment).map(|(_, &n)| n).sum()
    };
    let rows: Vec<&[u32]> = counts.chunks(items.len()).collect();
    let total = |segment| rows.iter().map(|row| of(row, segment)).sum::<u32>();
    assert_eq!([0, 1, 2, 3].map(total), [1, 9, 7, 1]);
    assert_eq!((of(rows[0], 0), of(rows[rows.len() - 1], 3)), (1, 1));
    let last = rows.iter().rposition(|row| of(row, 1) > 0).unwrap();
    let first = rows.iter().position(|row| of(row, 2) > 0).unwrap();
    assert!(last <= first, "{counts:?}");
}

/// The filter rejects nothing that the simulation would accept.
#[test]
fn a_known_path_is_never_longer_than_the_makespan() {
    let dims = Dims { stages: 3, chunks: 2, micro_batches: 7, group: Grouping::First };
    let order = Order::new(schedule::find("interleaved").unwrap(), &dims).unwrap();
    let (problem, vectors) = (problem(400.0, &[]), Vectors::new(&order));
    let setting = Setting::new(&problem, &order, &vectors, &Options::default()).unwrap();
    let mut state = seeds::feasible(&setting, &Options::default(), &|| false).unwrap().swap_remove(0);
    let mut filter = Filter::<u32>::new(state.durations.operations.len());
    let (stream, mut sweep) = (Stream::new(5, Purpose::Test), Sweep::new());
    let mut rejected = 0;
    for at in 0..4000 {
        let (mut changes, mut by) = (Vec::new(), Vec::new());
        let near = (at % 2 == 0).then_some(at as usize % state.body.len());
        if !moves::propose(&setting, &state, stream.at(0, 0, at).unwrap(), near, &mut changes) {
            continue;
        }
        let before = state.makespan;
        changes.iter().for_each(|&change| state.apply(&setting, change));
        deltas(&setting, &changes, &mut by);
        let makespan = sweep.run(&order, &state.durations);
        let known = filter.longest(&by);
        assert!(known <= makespan, "move {at}");
        rejected += u32::from(known > before);
        let path = Path::of(&order, &state.durations, |at| sweep.end(at));
        if at % 3 == 0 {
            filter.learn(&path, &state.durations, &by);
            filter.accept(&by);
        } else {
            filter.accept(&by);
            filter.learn(&path, &state.durations, &[]);
        }
        assert_eq!(filter.longest(&[]), makespan);
        state.makespan = makespan;
    }
    assert!(rejected > 500, "{rejected}");
}

/// Neither the width of numbers nor how chains are grouped changes anything.
#[test]
fn grouped_chains_find_what_single_ones_do() {
    for entry in schedule::ALL {
        let chunks = if entry.shape.chunks { 2 } else { 1 };
        let dims = Dims { stages: 3, chunks, micro_batches: 7, group: Grouping::First };
        let (problem, order) = (problem(150.0, &[]), Order::new(entry, &dims).unwrap());
        let vectors = Vectors::new(&order);
        for rendezvous in [false, true] {
            let options = Options { moves: 10_000, seed: 7, rendezvous, ..Options::default() };
            let setting = Setting::new(&problem, &order, &vectors, &options).unwrap();
            let seeds = seeds::feasible(&setting, &options, &|| false).unwrap();
            assert!(setting.narrow(&seeds[0]));
            let found = |threads, run: Run| {
                let runtime = Runtime::threads(threads).unwrap();
                let (best, moves, complete) = run(runtime.exec(), &setting, &options, &seeds, &|| false).unwrap();
                assert!(complete && moves == 10_000);
                (best.counts, best.makespan, best.peaks)
            };
            let single = found(8, anneal::<u64>);
            assert!(single.1 < seeds[0].makespan, "{}", entry.name);
            for threads in [1, 2, 3] {
                assert_eq!(found(threads, anneal::<u32>), single, "{} {threads}", entry.name);
                assert_eq!(found(threads, anneal::<u64>), single, "{} {threads}", entry.name);
            }
        }
    }
}

type Run = fn(Exec<'_>, &Setting<'_>, &Options, &[State], &(dyn Fn() -> bool + Sync)) -> Result<(State, u64, bool)>;

/// No single move is better than where descent ends, unless it has no simulations left.
#[test]
fn descent_ends_where_no_move_is_better() {
    let mut moved = 0;
    for (entry, rendezvous) in schedule::ALL.iter().zip([false, true].into_iter().cycle()) {
        let chunks = if entry.shape.chunks { 2 } else { 1 };
        let dims = Dims { stages: 3, chunks, micro_batches: 7, group: Grouping::First };
        let (problem, order) = (problem(150.0, &[]), Order::new(entry, &dims).unwrap());
        let vectors = Vectors::new(&order);
        let options = Options { rendezvous, ..Options::default() };
        let setting = Setting::new(&problem, &order, &vectors, &options).unwrap();
        let mut sweep = Sweep::new();
        let key = |state: &State| (state.makespan, state.recomputed(&setting));
        for seed in seeds::feasible(&setting, &options, &|| false).unwrap() {
            let mut none = seed.clone();
            descend(&mut none, &setting, 1, &|| false);
            assert_eq!(none.counts, seed.counts);
            let mut end = seed.clone();
            descend(&mut end, &setting, 100_000, &|| false);
            assert_eq!(end.makespan, State::new(&setting, end.counts.clone(), &mut sweep).makespan);
            assert!(end.fits(&setting) && key(&end) <= key(&seed));
            moved += usize::from(end.counts != seed.counts);
            let others = neighbours(&end, &setting, 0..end.body.len());
            let others = others.into_iter().filter_map(|changes| changed(&end, &setting, changes));
            for mut other in others.filter(|other| other.fits(&setting)) {
                other.makespan = setting.makespan(&other, &mut sweep);
                assert!(key(&other) >= key(&end), "{}: {:?} of {:?}", entry.name, other.counts, end.counts);
            }
        }
    }
    assert!(moved > 5, "{moved}");
}

/// Without recomputation there are few enough cuts to look at all of them.
#[test]
fn the_best_cut_of_all_is_found() {
    let problem = problem(1000.0, &["none".to_owned()]);
    let runtime = Runtime::sequential().unwrap();
    for entry in schedule::ALL {
        let chunks = if entry.shape.chunks { 2 } else { 1 };
        let dims = Dims { stages: 3, chunks, micro_batches: 7, group: Grouping::First };
        let order = Order::new(entry, &dims).unwrap();
        let vectors = Vectors::new(&order);
        let setting = Setting::new(&problem, &order, &vectors, &Options::default()).unwrap();
        let mut sweep = Sweep::new();
        let mut best = u64::MAX;
        for cut in compositions(16, dims.virtual_stages()) {
            let state = State::new(&setting, seeds::counts(&setting, &cut, 0), &mut sweep);
            best = if state.fits(&setting) { best.min(state.makespan) } else { best };
        }
        let options = Options { moves: 20_000, seed: 1, ..Options::default() };
        let found = solve(runtime.exec(), &problem, &order, &vectors, &options, &|| false).unwrap();
        assert_eq!(found.makespan, best, "{}", entry.name);
    }
}

/// Every way to write `total` as a sum of `parts` numbers above 0.
fn compositions(total: u32, parts: usize) -> Vec<Vec<u32>> {
    if parts == 1 {
        return vec![vec![total]];
    }
    let first = 1..=total + 1 - parts as u32;
    let rest =
        |first: u32| compositions(total - first, parts - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    first.flat_map(rest).collect()
}
