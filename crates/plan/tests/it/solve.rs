//! The whole choice: what it may take, what it must keep, what it leaves out.

use crate::reference;
use proptest::prelude::*;
use sapwood_plan::baseline::{self, Answer};
use sapwood_plan::layout::Layout;
use sapwood_plan::megatron::{Item, Setting};
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment};
use sapwood_plan::outcome;
use sapwood_plan::problem::Problem;
use sapwood_plan::recompute::BUILT_IN;
use sapwood_plan::schedule::{self, Grouping};
use sapwood_plan::simulate::memory::{Peak, curve};
use sapwood_plan::simulate::{Order, Vectors, blocking};
use sapwood_plan::solve::{self, Express, Group, Proof, Request, Solved};
use sapwood_plan::{export, import};
use sapwood_skeleton::Runtime;

/// Numbers of a random model.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    pub(crate) stages: usize,
    pub(crate) chunks: usize,
    pub(crate) micro_batches: usize,
    pub(crate) layers: [u32; 2],
    pub(crate) costs: Vec<u32>,
    pub(crate) roomy: f64,
}

fn draws() -> impl Strategy<Value = Draw> {
    let sizes = (1usize..=4, 1usize..=3, 1usize..=9);
    let costs = prop::collection::vec(1u32..30, 40);
    (sizes, [1u32..9, 0u32..7], costs, 0.5f64..2.0).prop_map(
        |((stages, chunks, micro_batches), layers, costs, roomy)| Draw {
            stages,
            chunks,
            micro_batches,
            layers,
            costs,
            roomy,
        },
    )
}

/// A head, two segments of a body with all five kinds, and a tail.
pub(crate) fn problem(draw: &Draw) -> Problem {
    let mut costs = draw.costs.iter().map(|&c| f64::from(c)).cycle();
    let mut next = || costs.next().unwrap();
    let mut segment = |name: &str, role, count, kinds: usize| {
        let (forward, weight, mut extra, mut activation) = (next(), next(), 0.0, 60.0 + next());
        let mut kind = |at: usize| {
            let transient = if at > 0 { next() } else { 0.0 };
            let cost = KindCost { name: BUILT_IN[at].name.to_owned(), activation, extra, transient };
            (extra, activation) = (extra + next(), activation / 2.0);
            cost
        };
        let kinds = (0..kinds).map(&mut kind).collect();
        let (backward, parameters) = (weight + next(), next());
        Segment { name: name.to_owned(), role, count, forward, backward, weight, parameters, kinds }
    };
    let mut segments = vec![segment("head", Role::Head, 1, 1), segment("dense", Role::Body, draw.layers[0], 5)];
    if draw.layers[1] > 0 {
        segments.push(segment("wide", Role::Body, draw.layers[1], 5));
    }
    segments.push(segment("tail", Role::Tail, 1, 1));
    let layers = draw.layers[0] + draw.layers[1];
    let need = 150.0 + 60.0 * f64::from(layers) / draw.stages as f64 * draw.stages.min(draw.micro_batches) as f64;
    let model = Model {
        name: "random".to_owned(),
        segments,
        constant: vec![3.0],
        tails: vec![2.0],
        link: f64::from(draw.costs[0] % 3),
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    };
    Problem::new(model, &vec![(need * draw.roomy).round(); draw.stages], &[]).unwrap()
}

pub(crate) fn request<'a>(problem: &'a Problem, draw: &Draw, express: Express) -> Request<'a> {
    let schedules = ["1f1b", "interleaved", "interleaved-lm"].map(|name| schedule::find(name).unwrap());
    Request {
        problem,
        micro_batches: draw.micro_batches,
        schedules: schedules.to_vec(),
        chunks: (1..=draw.chunks).collect(),
        group: Group::Auto,
        express,
        proof: Proof::Lp,
        gap: 0.0,
        moves: 4_000,
        seed: 1,
        rendezvous: false,
        until: None,
        start: None,
    }
}

pub(crate) fn solved(request: &Request<'_>) -> Option<Solved> {
    let runtime = Runtime::threads(1).unwrap();
    solve::solve(runtime.exec(), request, &|| false).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn plans_fit_and_are_what_the_framework_can_state(draw in draws(), rendezvous in any::<bool>()) {
        let problem = problem(&draw);
        let mut best_of_any = None;
        for express in [Express::Any, Express::Mindformers, Express::Megatron] {
            let request = Request { rendezvous, ..request(&problem, &draw, express) };
            let Some(found) = solved(&request) else { continue };
            let Some(best) = found.best else { continue };
            let counts = best.layout.counts(&problem).unwrap();
            problem.check(&counts).unwrap();
            let again = outcome::simulate(&problem, &best.order, &counts, rendezvous).unwrap();
            prop_assert_eq!(again.makespan, best.outcome.makespan);
            prop_assert!(again.exceeding(&problem).is_empty());
            prop_assert!(best.lower_bound <= again.makespan);
            for line in &found.considered {
                let bound = line.lower_bound.unwrap_or(0.0);
                prop_assert!(line.makespan.is_none_or(|makespan| makespan >= bound), "{:?}", line);
                prop_assert!(line.makespan.is_none_or(|makespan| makespan >= problem.time().show(again.makespan)));
            }
            // An optimum of all is not beaten by a plan of a narrower form.
            match best_of_any {
                None => best_of_any = Some((found.optimal, again.makespan)),
                Some((optimal, makespan)) => prop_assert!(!optimal || makespan <= again.makespan),
            }
            let format = match express {
                Express::Any => "plan_json",
                Express::Mindformers => "mindformers",
                Express::Megatron => "megatron",
            };
            let plan = export::Plan::new(&problem, &best.order, &best.layout);
            let text = export::write(export::find(format).unwrap(), &plan).unwrap();
            let reader = match express {
                Express::Any => "plan_json",
                Express::Mindformers => "mindformers_yaml",
                Express::Megatron => "megatron_flags",
            };
            let options = import::Options::default();
            let read = import::read(import::find(reader).unwrap(), &text, problem.model(), &options).unwrap();
            prop_assert_eq!(&read.layout, &best.layout, "{}", text);
            prop_assert_eq!((read.stages, read.chunks), (draw.stages, best.order.dims().chunks));
            let sizes = best.order.dims().group.sizes(draw.stages, draw.micro_batches);
            let group = read.group.map_or(Grouping::First, Grouping::Uniform);
            if read.chunks > 1 {
                prop_assert_eq!(group.sizes(draw.stages, draw.micro_batches), sizes);
            }
        }
    }

    #[test]
    fn peaks_come_with_their_moment(draw in draws(), at in 0usize..5) {
        let problem = problem(&draw).allow_empty();
        let entry = &schedule::ALL[at];
        let chunks = if entry.shape.chunks { draw.chunks } else { 1 };
        let dims = schedule::Dims {
            stages: draw.stages, chunks, micro_batches: draw.micro_batches, group: Grouping::First,
        };
        let order = Order::new(entry, &dims).unwrap();
        let vectors = Vectors::new(&order);
        let counts = sapwood_plan::search::even(&problem, &order, &vectors).unwrap();
        let found = outcome::simulate(&problem, &order, &counts, false).unwrap();
        let peaks: Vec<u64> = found.peaks.iter().map(Peak::total).collect();
        let quick = (0..draw.stages).map(|stage| vectors.peak(&order, stage, &found.memory).unwrap());
        prop_assert_eq!(&peaks, &quick.collect::<Vec<u64>>());
        // The curve over time has the same top, and ends with what is always there.
        let trace = found.trace.unwrap();
        for (stage, spans) in trace.timeline.stages.iter().enumerate() {
            let points = curve(&order, stage, &found.memory, spans);
            prop_assert_eq!(points.iter().map(|point| point.1).max(), Some(peaks[stage]));
            prop_assert_eq!(points.last().unwrap().1, found.memory.constant[stage]);
            prop_assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
        let rendezvous = outcome::simulate(&problem, &order, &counts, true).unwrap();
        prop_assert_eq!(rendezvous.makespan, blocking::makespan(&order, &found.durations).unwrap());
        prop_assert!(rendezvous.makespan >= found.makespan);
    }
}

/// A body of two segments with one between them that is pinned to a virtual stage.
fn pinned(at: usize, before: u32, after: u32) -> Problem {
    let segment = |name: &str, role, count, forward: f64| Segment {
        name: name.to_owned(),
        role,
        count,
        forward,
        backward: 2.0 * forward,
        weight: forward,
        parameters: 1.0,
        kinds: vec![KindCost { name: "none".to_owned(), activation: 1.0, extra: 0.0, transient: 0.0 }],
    };
    let model = Model {
        name: "pinned".to_owned(),
        segments: vec![
            segment("vision", Role::Body, before, 10.0),
            segment("join", Role::At(at), 1, 5.0),
            segment("text", Role::Body, after, 10.0),
        ],
        constant: Vec::new(),
        tails: Vec::new(),
        link: 0.0,
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    };
    Problem::new(model, &[f64::INFINITY; 4], &[]).unwrap()
}

#[test]
fn pinned_segments_stay_between_what_is_around_them() {
    let draw = Draw { stages: 4, chunks: 1, micro_batches: 8, layers: [0; 2], costs: vec![1], roomy: 1.0 };
    for (at, before, after) in [(1, 2, 10), (2, 10, 3), (3, 9, 1), (1, 9, 9), (0, 1, 9)] {
        let problem = pinned(at, before, after);
        let found = solved(&request(&problem, &draw, Express::Any)).unwrap().best.unwrap();
        problem.check(&found.layout.counts(&problem).unwrap()).unwrap();
        let of = |segment: usize| -> Vec<usize> {
            let here = |&at: &usize| found.layout.chunks[at].iter().any(|run| run.segment == segment);
            (0..4).filter(here).collect()
        };
        assert_eq!(of(1), [at]);
        assert!(of(0).iter().all(|&v| v <= at) && of(2).iter().all(|&v| v >= at), "{at}: {:?}", found.layout);
    }
    // Late pins, with a schedule that no other planner gives a start for.
    for (at, before, after) in [(3, 3, 5), (3, 9, 1), (1, 1, 3), (2, 2, 9)] {
        let (problem, gpipe) = (pinned(at, before, after), vec![schedule::find("gpipe").unwrap()]);
        let found = solved(&Request { schedules: gpipe, moves: 0, ..request(&problem, &draw, Express::Any) });
        let found = found.unwrap();
        let best = found.best.unwrap_or_else(|| panic!("{at}: {:?}", found.failure));
        problem.check(&best.layout.counts(&problem).unwrap()).unwrap();
    }
    let crowded = pinned(3, 1, 9);
    let found = solve::solve(Runtime::threads(1).unwrap().exec(), &request(&crowded, &draw, Express::Any), &|| false);
    let message = found.map_or_else(|e| e.to_string(), |found| found.failure.unwrap().to_string());
    assert!(message.contains("pinned segment"), "{message}");
    let message =
        solve::solve(Runtime::threads(1).unwrap().exec(), &request(&pinned(4, 4, 4), &draw, Express::Any), &|| false);
    assert!(message.unwrap_err().to_string().contains("join is pinned to virtual stage 4 of 4"));
}

#[test]
fn groups_are_the_best_that_the_framework_takes() {
    let draw = Draw { stages: 4, chunks: 2, micro_batches: 9, layers: [8, 0], costs: vec![7, 3, 9, 4], roomy: 50.0 };
    let problem = problem(&draw);
    let with = |group, express| {
        let request = Request { chunks: vec![2], group, ..request(&problem, &draw, express) };
        let runtime = Runtime::threads(1).unwrap();
        solve::solve(runtime.exec(), &request, &|| false)
    };
    let auto = with(Group::Auto, Express::Megatron).unwrap().best.unwrap();
    let Grouping::Uniform(size) = auto.order.dims().group else { panic!("{}", auto.order.dims().group) };
    assert!(Grouping::Uniform(size).megatron_accepts(4, 9), "{size}");
    let message = with(Group::Of(Grouping::Uniform(4)), Express::Megatron).unwrap_err().to_string();
    assert_eq!(message, "Megatron-LM does not take groups uniform:4; it takes uniform:5, uniform:9");
    let message = with(Group::Of(Grouping::Uniform(5)), Express::Mindformers);
    // Five and four are the sizes of the first rule, too.
    assert_eq!(message.unwrap().best.unwrap().order.dims().group, Grouping::Uniform(5));
}

#[test]
fn no_baseline_is_better() {
    let instances = proptest::test_runner::TestRunner::deterministic();
    let mut instances = instances;
    let mut judged = 0;
    for _ in 0..60 {
        let draw = proptest::strategy::ValueTree::current(&draws().new_tree(&mut instances).unwrap());
        let problem = problem(&draw);
        for chunks in 1..=draw.chunks {
            let request = Request { moves: 800, chunks: vec![chunks], ..request(&problem, &draw, Express::Any) };
            let best = solved(&request).and_then(|found| found.best).map(|best| best.outcome.makespan);
            let dims = schedule::Dims {
                stages: draw.stages,
                chunks,
                micro_batches: draw.micro_batches,
                group: Grouping::First,
            };
            for planner in baseline::ALL {
                let Ok(Answer::Plan(plan)) = planner.plan(&problem, &dims, &baseline::Options::default()) else {
                    continue;
                };
                let order = Order::new(schedule::find(plan.schedule).unwrap(), &dims).unwrap();
                let outcome =
                    outcome::simulate(&problem, &order, &plan.layout.counts(&problem).unwrap(), false).unwrap();
                if outcome.exceeding(&problem).is_empty() {
                    judged += 1;
                    assert!(best.is_some_and(|best| best <= outcome.makespan), "{}: {draw:?}", planner.name);
                }
            }
        }
    }
    assert!(judged > 100, "{judged}");
}

#[test]
fn one_setting_holds_for_all_layers_under_megatron() {
    let draw = Draw { stages: 16, chunks: 1, micro_batches: 32, layers: [0; 2], costs: vec![1], roomy: 1.0 };
    let problem = reference::problem();
    let found =
        solved(&Request { moves: 60_000, ..request(&problem, &draw, Express::Megatron) }).unwrap().best.unwrap();
    let setting = found.setting.unwrap();
    assert_ne!(setting, Setting::None);
    let kinds = &problem.model().segments[1].kinds;
    for chunk in &found.layout.chunks {
        let own = chunk.iter().filter(|run| run.segment == 1);
        let layers = own.flat_map(|run| std::iter::repeat_n(kinds[run.kind].name.as_str(), run.count as usize));
        let layers: Vec<&str> = layers.collect();
        let wanted: Vec<&str> = (0..layers.len()).map(|at| setting.kind(Item::Decoder, at)).collect();
        assert_eq!(layers, wanted, "{setting}");
    }
}

#[test]
fn a_search_goes_on_from_a_plan_and_never_returns_a_worse_one() {
    let draw = Draw { stages: 16, chunks: 1, micro_batches: 32, layers: [0; 2], costs: vec![1], roomy: 1.0 };
    let problem = reference::problem();
    let long = solved(&Request { moves: 400_000, ..request(&problem, &draw, Express::Any) }).unwrap().best.unwrap();
    let start: Option<Layout> = Some(long.layout.clone());
    let again = solved(&Request { moves: 800, start, ..request(&problem, &draw, Express::Any) }).unwrap().best.unwrap();
    assert!(again.outcome.makespan <= long.outcome.makespan);
    // Without a move it is the plan itself, which no equal cut comes near.
    let start: Option<Layout> = Some(long.layout.clone());
    let same = solved(&Request { moves: 0, start, ..request(&problem, &draw, Express::Any) }).unwrap().best.unwrap();
    assert_eq!(same.layout, long.layout);
    let even = solved(&Request { moves: 0, ..request(&problem, &draw, Express::Any) }).unwrap().best.unwrap();
    assert!(even.outcome.makespan > long.outcome.makespan);
}
