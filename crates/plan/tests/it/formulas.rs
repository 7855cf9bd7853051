//! Formulas: their text, and that their values are what the simulator finds.

use proptest::prelude::*;
use sapwood_plan::Result;
use sapwood_plan::cost_expr::{CostExpr, Env, SymbolId};
use sapwood_plan::explain::{Formula, formulas};
use sapwood_plan::layout::{Layout, Run};
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment, readers};
use sapwood_plan::outcome::{self, Outcome};
use sapwood_plan::problem::Problem;
use sapwood_plan::recompute::BUILT_IN;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::{Order, Vectors};

fn of(problem: &Problem, order: &Order, counts: &[u32], rendezvous: bool) -> (Vec<Formula>, Outcome) {
    let outcome = outcome::simulate(problem, order, counts, rendezvous).unwrap();
    (formulas(problem, order, counts, &outcome).unwrap(), outcome)
}

fn order(name: &str, stages: usize, chunks: usize, micro_batches: usize) -> Order {
    let dims = Dims { stages, chunks, micro_batches, group: Grouping::First };
    Order::new(schedule::find(name).unwrap(), &dims).unwrap()
}

const MODEL: &str = r#"
[[segment]]
name = "embedding"
kind = "embedding"
forward = 0.5
parameters_mem = 7
activation = { none = 1 }
[[segment]]
name = "body"
kind = "dense"
count = 5
forward = 2
backward = 4.5
weight = 2
parameters_mem = 10
activation = { none = 8, selective = 5, full = 1 }
extra = { selective = 0.25 }
transient = { selective = 3, full = 7 }
[[segment]]
name = "loss"
kind = "loss"
forward = 1
parameters_mem = 7
activation = { none = 4 }
[const]
per_stage = [0, 2.5]
tail = [9, 0.125]
[link]
time = 0.5
"#;

fn golden(schedule: &str) -> Vec<(Option<usize>, String, String, String, f64)> {
    let model = readers::parse("m.toml", MODEL.as_bytes(), &readers::Options::default()).unwrap();
    let problem = Problem::new(model, &[200.0; 2], &[]).unwrap();
    let run = |segment, kind, count| Run { segment, kind, count };
    let chunks = vec![vec![run(0, 0, 1), run(1, 2, 1), run(1, 1, 1), run(1, 0, 1)], vec![run(1, 0, 2), run(2, 0, 1)]];
    let counts = Layout { chunks }.counts(&problem).unwrap();
    let (found, _) = of(&problem, &order(schedule, 2, 1, 3), &counts, false);
    found.into_iter().map(|f| (f.stage, f.name, f.expression, f.substituted, f.value)).collect()
}

fn line(
    stage: usize,
    name: &str,
    expression: &str,
    substituted: &str,
    value: f64,
) -> (Option<usize>, String, String, String, f64) {
    (Some(stage), name.to_owned(), expression.to_owned(), substituted.to_owned(), value)
}

#[test]
fn golden_formulas() {
    let mut found = golden("1f1b");
    let (_, name, expression, substituted, value) = found.pop().unwrap();
    // By hand: F(0,0) to 6.5, F(1,0) 7 to 12, B(1,0) to 23, B(0,0) 23.5 to 40.25, F(0,2) to 46.75, F(1,2) 47.25 to 52.25,
    // B(1,2) to 63.25, B(0,2) 63.75 to 80.5, and what the stage does at its end.
    let last = "2·F[0] + 2·F[1] + 2·B[0] + 2·B[1] + 4·link + tail[0]";
    assert_eq!((name.as_str(), expression.as_str()), ("T", last));
    assert_eq!((substituted.as_str(), value), ("2·6.5 + 2·5 + 2·16.75 + 2·11 + 4·0.5 + 9", 89.5));
    let x = "(x[body,none,0] + x[body,selective,0] + x[body,full,0])";
    assert_eq!(
        found,
        [
            line(0, "F[0]", &format!("f[embedding]·x[embedding,none,0] + f[body]·{x}"), "0.5·1 + 2·(1 + 1 + 1)", 6.5),
            line(
                0,
                "B[0]",
                "b[embedding]·x[embedding,none,0] + b[body]·x[body,none,0] \
                 + (b[body] + rec[body,selective])·x[body,selective,0] + (b[body] + rec[body,full])·x[body,full,0]",
                "1·1 + 4.5·1 + (4.5 + 0.25)·1 + (4.5 + 2)·1",
                16.75
            ),
            line(
                0,
                "A[0]",
                "act[embedding,none]·x[embedding,none,0] + act[body,none]·x[body,none,0] \
                 + act[body,selective]·x[body,selective,0] + act[body,full]·x[body,full,0]",
                "1·1 + 8·1 + 5·1 + 1·1",
                15.0
            ),
            line(0, "tr[0]", "max(tr[body,selective], tr[body,full])", "max(3, 7)", 7.0),
            line(
                0,
                "P[0]",
                &format!("par[embedding]·x[embedding,none,0] + par[body]·{x}"),
                "7·1 + 10·(1 + 1 + 1)",
                37.0
            ),
            line(0, "peak[0]", "P[0] + 2·A[0] + tr[0]", "37 + 2·15 + 7", 74.0),
            line(1, "F[1]", "f[body]·x[body,none,1] + f[loss]·x[loss,none,1]", "2·2 + 1·1", 5.0),
            line(1, "B[1]", "b[body]·x[body,none,1] + b[loss]·x[loss,none,1]", "4.5·2 + 2·1", 11.0),
            line(1, "A[1]", "act[body,none]·x[body,none,1] + act[loss,none]·x[loss,none,1]", "8·2 + 4·1", 20.0),
            line(1, "P[1]", "const[1] + par[body]·x[body,none,1] + par[loss]·x[loss,none,1]", "2.5 + 10·2 + 7·1", 29.5),
            line(1, "peak[1]", "P[1] + A[1]", "29.5 + 20", 49.5),
        ]
    );
    let split = golden("zb-h1");
    let named = |name: &str| split.iter().find(|f| f.1 == name).unwrap().clone();
    assert_eq!(named("B[1]"), line(1, "B[1]", "bi[body]·x[body,none,1] + bi[loss]·x[loss,none,1]", "2.5·2 + 1·1", 6.0));
    assert_eq!(named("W[1]"), line(1, "W[1]", "bw[body]·x[body,none,1] + bw[loss]·x[loss,none,1]", "2·2 + 1·1", 5.0));
}

#[test]
fn members_of_the_json() {
    let model = readers::parse("m.toml", MODEL.as_bytes(), &readers::Options::default()).unwrap();
    let problem = Problem::new(model, &[200.0], &[]);
    assert!(problem.is_err(), "constants of two stages");
    let model = Model {
        constant: Vec::new(),
        tails: Vec::new(),
        ..readers::parse("m", MODEL.as_bytes(), &readers::Options::default()).unwrap()
    };
    let problem = Problem::new(model, &[200.0], &[]).unwrap();
    let (found, outcome) = of(&problem, &order("1f1b", 1, 1, 2), &[1, 5, 0, 0, 1], false);
    let json = serde_json::to_value(found.last().unwrap()).unwrap();
    let wanted = serde_json::json!({
        "stage": null, "name": "T", "expression": "2·F[0] + 2·B[0]", "substituted": "2·11.5 + 2·25.5", "value": 74.0
    });
    assert_eq!(json, wanted);
    // The outcome of another partition.
    let other = formulas(&problem, &order("1f1b", 1, 1, 2), &[1, 4, 1, 0, 1], &outcome).unwrap_err();
    assert!(other.to_string().contains("another partition"), "{other}");
    assert!(formulas(&problem, &order("1f1b", 1, 1, 2), &[1, 5], &outcome).is_err());
}

#[test]
fn names_are_not_mistaken() {
    let segment = |name: &str, kind: &str, activation: f64| {
        let cost = KindCost { name: kind.to_owned(), activation, extra: 0.0, transient: 0.0 };
        Segment {
            name: name.to_owned(),
            role: Role::Body,
            count: 1,
            forward: 1.0,
            backward: 2.0,
            weight: 1.0,
            parameters: 0.0,
            kinds: vec![cost],
        }
    };
    let base = readers::parse("m.toml", MODEL.as_bytes(), &readers::Options::default()).unwrap();
    let segments = vec![segment("a", "b,c", 3.0), segment("a,b", "c", 5.0), segment("#0", "c", 7.0)];
    let model = Model { segments, constant: Vec::new(), tails: Vec::new(), ..base };
    let problem = Problem::new(model, &[200.0], &[]).unwrap();
    let (found, _) = of(&problem, &order("1f1b", 1, 1, 1), &[1, 1, 1], false);
    let kept = found.iter().find(|f| f.name == "A[0]").unwrap();
    let wanted = "act[a,#0]·x[a,#0,0] + act[#1,c]·x[#1,c,0] + act[#2,c]·x[#2,c,0]";
    assert_eq!((kept.expression.as_str(), kept.value), (wanted, 15.0));
}

/// What a random case is made of.
#[derive(Debug, Clone)]
struct Draw {
    schedule: usize,
    sizes: (usize, usize, usize),
    /// Layers of each virtual stage, and the kind of each of them.
    layers: Vec<Vec<usize>>,
    names: [String; 4],
    costs: Vec<u32>,
    scale: f64,
    pinned: bool,
    rendezvous: bool,
}

fn draws() -> impl Strategy<Value = Draw> {
    (0..schedule::ALL.len(), 1usize..=5, 1usize..=3, 1usize..=9).prop_flat_map(|(schedule, stages, chunks, batches)| {
        let chunks = if schedule::ALL[schedule].shape.chunks { chunks } else { 1 };
        let layers = prop::collection::vec(prop::collection::vec(0usize..3, 1..5), stages * chunks);
        let names = prop_oneof![
            3 => Just(["head", "body", "other", "tail"].map(str::to_owned)),
            1 => prop::array::uniform4("[a#,\\[\\]` ]{0,3}"),
        ];
        let costs = prop::collection::vec(0u32..60, 64);
        let scale = prop::sample::select(vec![1.0, 0.1, 0.25, 1e-9, 1.0 / 3.0, 1000.0]);
        (layers, names, costs, scale, any::<bool>(), any::<bool>()).prop_map(
            move |(layers, names, costs, scale, pinned, rendezvous)| Draw {
                schedule,
                sizes: (stages, chunks, batches),
                layers,
                names,
                costs,
                scale,
                pinned,
                rendezvous,
            },
        )
    })
}

/// The problem, the order and the counts of a draw: the first half of the body is of one segment, the rest of another.
fn instance(draw: &Draw) -> Result<(Problem, Order, Vec<u32>)> {
    let (stages, chunks, batches) = draw.sizes;
    let all = draw.layers.iter().map(Vec::len).sum::<usize>();
    let mut costs = draw.costs.iter().map(|&c| f64::from(c) * draw.scale).cycle();
    let mut next = || costs.next().unwrap();
    let mut segment = |at: usize, role, count, kinds: usize| {
        let (forward, weight, parameters) = (next(), next(), next());
        let kinds = BUILT_IN[..kinds].iter().enumerate().map(|(kind, built_in)| KindCost {
            name: built_in.name.to_owned(),
            activation: next(),
            extra: if kind > 0 { next() } else { 0.0 },
            transient: if kind > 0 { next() } else { 0.0 },
        });
        let kinds = kinds.collect();
        let backward = weight + next();
        Segment { name: draw.names[at].clone(), role, count, forward, backward, weight, parameters, kinds }
    };
    let first = all.div_ceil(2) as u32;
    let mut segments = vec![segment(0, Role::Head, 1, 1), segment(1, Role::Body, first, 3)];
    segments.push(segment(2, Role::Mtp, all as u32 - first, 3));
    let tail = if draw.pinned { Role::At(stages * chunks - 1) } else { Role::Tail };
    segments.push(segment(3, tail, 2, 1));
    let constant = (0..stages).map(|_| next()).collect();
    let tails = (0..stages).map(|_| next()).collect();
    let model = Model {
        name: "random".to_owned(),
        segments,
        constant,
        tails,
        link: next(),
        time_unit: None,
        memory_unit: MemoryUnit::Raw,
        warnings: Vec::new(),
    };
    let problem = Problem::new(model, &vec![f64::INFINITY; stages], &[])?;
    let order = order(schedule::ALL[draw.schedule].name, stages, chunks, batches);
    let items = problem.items().len();
    let mut counts = vec![0; draw.layers.len() * items];
    counts[0] = 1;
    *counts.last_mut().unwrap() = 2;
    let mut done = 0;
    for (at, kinds) in draw.layers.iter().enumerate() {
        for kind in kinds {
            counts[at * items + if done < first { 1 } else { 4 } + kind] += 1;
            done += 1;
        }
    }
    Ok((problem, order, counts))
}

/// Values of all symbols that the model and the counts give, in ticks, by their definition.
fn symbols(problem: &Problem, order: &Order, counts: &[u32]) -> Env<u64> {
    let mut env = Env::new();
    let segments = &problem.model().segments;
    for (place, item) in problem.items().iter().enumerate() {
        let (segment, kind) = (&segments[item.segment].name, &segments[item.segment].kinds[item.kind].name);
        let mut bind = |name: String, ticks: u64| env.bind(SymbolId::new(&name), ticks);
        bind(format!("f[{segment}]"), item.forward);
        bind(format!("b[{segment}]"), item.backward);
        bind(format!("bi[{segment}]"), item.backward - item.weight);
        bind(format!("bw[{segment}]"), item.weight);
        bind(format!("par[{segment}]"), item.parameters);
        bind(format!("rec[{segment},{kind}]"), item.extra);
        bind(format!("act[{segment},{kind}]"), item.activation);
        bind(format!("tr[{segment},{kind}]"), item.transient);
        for (at, row) in counts.chunks(problem.items().len()).enumerate() {
            bind(format!("x[{segment},{kind},{at}]"), u64::from(row[place]));
        }
    }
    env.bind(SymbolId::new("link"), problem.link());
    for stage in 0..order.dims().stages {
        env.bind(SymbolId::new(&format!("const[{stage}]")), problem.constant()[stage]);
        env.bind(SymbolId::new(&format!("tail[{stage}]")), problem.tails()[stage]);
    }
    env
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn values_are_those_of_the_simulator(draw in draws()) {
        let (problem, order, counts) = instance(&draw).unwrap();
        let (found, outcome) = of(&problem, &order, &counts, draw.rendezvous);
        let (time, memory) = (problem.time(), problem.memory());
        let value = |name: String| found.iter().find(|f| f.name == name).map(|f| f.value);
        let k = order.dims().virtual_stages();
        for (place, &ticks) in outcome.durations.operations.iter().enumerate() {
            let name = format!("{}[{}]", ["F", "B", "W"][place / k], place % k);
            prop_assert_eq!(value(name), Some(time.show(ticks)));
        }
        for at in 0..k {
            prop_assert_eq!(value(format!("A[{at}]")), Some(memory.show(outcome.memory.kept[at])));
            let transient = Some(outcome.memory.transient[at]).filter(|&ticks| ticks > 0);
            prop_assert_eq!(value(format!("tr[{at}]")), transient.map(|ticks| memory.show(ticks)));
        }
        let vectors = Vectors::new(&order);
        for stage in 0..order.dims().stages {
            prop_assert_eq!(value(format!("P[{stage}]")), Some(memory.show(outcome.memory.constant[stage])));
            let peak = vectors.peak(&order, stage, &outcome.memory).unwrap();
            prop_assert_eq!(value(format!("peak[{stage}]")), Some(memory.show(peak)));
        }
        let makespan = (!draw.rendezvous).then(|| time.show(outcome.makespan));
        prop_assert_eq!(value("T".to_owned()), makespan);
        prop_assert_eq!(found.len(), {
            let transients = outcome.memory.transient.iter().filter(|&&ticks| ticks > 0).count();
            outcome.durations.operations.len() + k + transients + 2 * order.dims().stages + usize::from(makespan.is_some())
        });
    }

    #[test]
    fn expressions_say_what_the_values_are(draw in draws()) {
        let (problem, order, counts) = instance(&draw).unwrap();
        let (found, _) = of(&problem, &order, &counts, false);
        let plain = draw.names[0] == "head";
        let mut env = symbols(&problem, &order, &counts);
        for formula in found {
            let memory = ["A", "P", "p", "t"].iter().any(|letter| formula.name.starts_with(letter));
            let unit = if memory { problem.memory() } else { problem.time() };
            let numbers: CostExpr = formula.substituted.parse().unwrap();
            let value = numbers.eval(&Env::new()).unwrap();
            prop_assert!((value - formula.value).abs() <= 1e-12 * formula.value, "{} {value}", formula.name);
            let expression: CostExpr = formula.expression.parse().unwrap();
            if plain {
                let ticks = expression.eval_whole(&env).unwrap();
                prop_assert_eq!(unit.show(ticks), formula.value, "{}", formula.expression);
                env.bind(SymbolId::new(&formula.name), ticks);
            }
            let stage = formula.name.split(['[', ']']).nth(1).map(|at| at.parse::<usize>().unwrap());
            prop_assert_eq!(formula.stage, stage.map(|at| at % order.dims().stages));
        }
    }
}
