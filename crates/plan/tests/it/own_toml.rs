//! The reader of the planner's own TOML.

use crate::reference;
use proptest::prelude::*;
use sapwood_plan::model::readers::{self, Options};
use sapwood_plan::model::{MemoryUnit, Model, Role};
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::search;
use sapwood_plan::simulate::{Order, Vectors};
use sapwood_skeleton::Runtime;

const EXAMPLE: &str = include_str!("example.toml");

fn read_with(text: &str, options: &Options) -> Result<Model, String> {
    readers::parse("m.toml", text.as_bytes(), options).map_err(|e| e.to_string())
}

fn read(text: &str) -> Result<Model, String> {
    read_with(text, &Options::default())
}

/// (name, activation, extra, transient) of each kind of a segment.
fn kinds(model: &Model, segment: usize) -> Vec<(&str, f64, f64, f64)> {
    model.segments[segment].kinds.iter().map(|k| (k.name.as_str(), k.activation, k.extra, k.transient)).collect()
}

#[test]
fn the_example_is_read() {
    let model = read(EXAMPLE).unwrap();
    assert_eq!((model.name.as_str(), model.time_unit.as_deref()), ("made-up-moe", Some("ms")));
    assert_eq!((model.memory_unit, model.link), (MemoryUnit::Megabytes, 0.3));
    assert_eq!((&model.constant[..], &model.tails[..]), (&[900.0, 600.0, 600.0, 700.0][..], &[21.5][..]));
    let roles: Vec<Role> = model.segments.iter().map(|s| s.role).collect();
    assert_eq!(roles, [Role::Head, Role::Head, Role::Body, Role::Body, Role::Mtp, Role::Tail]);
    let times: Vec<[f64; 4]> =
        model.segments.iter().map(|s| [f64::from(s.count), s.forward, s.backward, s.weight]).collect();
    let wanted = [
        [1.0, 0.4, 0.8, 0.4],
        [3.0, 1.5, 3.0, 1.5],
        [2.0, 9.5, 19.0, 9.5],
        [38.0, 12.5, 26.0, 11.0],
        [1.0, 15.0, 30.0, 15.0],
        [1.0, 3.5, 7.0, 3.5],
    ];
    assert_eq!(times, wanted);
    assert_eq!(kinds(&model, 0), [("none", 20.0, 0.0, 0.0)]);
    assert_eq!(kinds(&model, 1), [("none", 160.0, 0.0, 0.0), ("full", 10.0, 1.5, 0.0)]);
    let dense = [("none", 1450.0, 0.0, 0.0), ("selective", 980.0, 0.7, 0.0), ("full", 42.0, 9.5, 1408.0)];
    assert_eq!(kinds(&model, 2), dense);
    let experts = [
        ("none", 2300.0, 0.0, 0.0),
        ("router", 2290.0, 0.1, 900.0),
        ("selective", 1500.0, 1.2, 900.0),
        ("full", 42.0, 12.5, 900.0),
    ];
    assert_eq!(kinds(&model, 3), experts);
    assert_eq!(kinds(&model, 4), [("none", 2600.0, 0.0, 0.0), ("full", 84.0, 15.0, 0.0)]);
    assert_eq!((model.segments[3].parameters, model.warnings.len()), (5100.0, 0));
}

#[test]
fn the_example_is_planned() {
    let problem = Problem::new(read(EXAMPLE).unwrap(), &[80_000.0; 4], &[]).unwrap();
    let dims = Dims { stages: 4, chunks: 1, micro_batches: 16, group: Grouping::First };
    let order = Order::new(schedule::find("1f1b").unwrap(), &dims).unwrap();
    let runtime = Runtime::threads(1).unwrap();
    let options = search::Options { moves: 20_000, ..search::Options::default() };
    let found = search::solve(runtime.exec(), &problem, &order, &Vectors::new(&order), &options, &|| false).unwrap();
    // Not below the work of a stage in the middle with a fourth of all layers.
    let work = (2.0 * 28.5 + 38.0 * 38.5) * 16.0 / 4.0;
    assert!(problem.time().show(found.makespan) > work);
    assert!(found.peaks.iter().all(|&peak| problem.memory().show(peak) <= 80_000.0));
}

/// The documentation's examples of this format are models.
#[test]
fn examples_of_the_documentation_are_read() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/plan.md");
    let page = std::fs::read_to_string(path).unwrap();
    let blocks = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    for block in blocks.filter(|block| block.contains("[[segment]]")) {
        read(block).unwrap();
    }
}

/// Numbers of the reference instance as this format has them.
const REFERENCE: &str = r#"
[unit]
memory = "MB"
[[segment]]
name = "HEAD"
kind = "embedding"
forward = 13
parameters_mem = 9236
activation = { none = 0 }
[[segment]]
name = "BODY"
kind = "dense"
count = 96
forward = 100
parameters_mem = 1710
activation = { full = 32, both = 403, none = 994, selective = 739 }
extra = { selective = 8, both = 33 }
[[segment]]
name = "TAIL"
kind = "loss"
forward = 113
parameters_mem = 5794
activation = { none = 0 }
"#;

#[test]
fn the_reference_is_the_same_in_both_formats() {
    let problem =
        |options: &Options| Problem::new(read_with(REFERENCE, options).unwrap(), &[56_000.0; 16], &[]).unwrap();
    let (own, other) = (problem(&Options::default()), reference::problem());
    assert_eq!((own.items(), own.caps()), (other.items(), other.caps()));
    let model = problem(&Options { transient: true, ..Options::default() });
    let transients: Vec<f64> = model.model().segments[1].kinds.iter().map(|k| k.transient).collect();
    assert_eq!(transients, [0.0, 255.0, 591.0, 962.0]);
}

#[test]
fn byte_order_marks_and_line_ends_of_any_kind() {
    let plain = read(EXAMPLE).unwrap();
    assert_eq!(read(&format!("\u{feff}{EXAMPLE}")).unwrap(), plain);
    assert_eq!(read(&EXAMPLE.replace('\n', "\r\n")).unwrap(), plain);
    assert_eq!(read(&format!("\u{feff}{}", EXAMPLE.replace('\n', "\r\n"))).unwrap(), plain);
}

/// A segment with more lines.
fn segment(lines: &str) -> String {
    format!("[[segment]]\nname = \"a\"\nkind = \"dense\"\nparameters_mem = 1\n{lines}")
}

const COSTS: &str = "forward = 2\nactivation = { none = 8, full = 2 }\n";

#[test]
fn defaults() {
    let model = read(&segment(COSTS)).unwrap();
    assert_eq!((model.name.as_str(), model.time_unit, model.memory_unit), ("model", None, MemoryUnit::Raw));
    assert_eq!((model.constant.len(), model.tails.len(), model.link), (0, 0, 0.0));
    let s = &model.segments[0];
    assert_eq!((s.count, s.backward, s.weight, s.role), (1, 4.0, 2.0, Role::Body));
    assert_eq!(s.kinds.iter().map(|k| (k.extra, k.transient)).collect::<Vec<_>>(), [(0.0, 0.0), (2.0, 0.0)]);
    let s = &read(&segment(&format!("backward = 3\n{COSTS}"))).unwrap().segments[0];
    assert_eq!((s.backward, s.weight), (3.0, 1.5));
    // What is written counts more than the option.
    let written = format!("transient = {{ full = 1 }}\n{COSTS}");
    let option = Options { transient: true, ..Options::default() };
    for (text, transient) in [(written, 1.0), (format!("transient = 0\n{COSTS}"), 0.0), (COSTS.to_owned(), 6.0)] {
        let model = read_with(&segment(&text), &option).unwrap();
        assert_eq!((model.segments[0].kinds[0].transient, model.segments[0].kinds[1].transient), (0.0, transient));
    }
    let kinds = |text: &str| {
        let model = read(&segment(&format!("forward = 2\n{text}"))).unwrap();
        model.segments[0].kinds.iter().map(|k| k.name.clone()).collect::<Vec<_>>().join(" ")
    };
    // The one that keeps most first; of two that keep the same the quicker one.
    assert_eq!(kinds("activation = { full = 1, moe_act = 5, none = 9 }\nextra = { moe_act = 1 }"), "none moe_act full");
    let same = "activation = { both = 5, core_attn = 5, none = 5 }\nextra = { both = 2, core_attn = 1 }";
    assert_eq!(kinds(same), "none core_attn both");
    let unused = format!("[[recompute]]\nname = \"mine\"\n{}", segment(COSTS));
    assert_eq!(read(&unused).unwrap().warnings, ["no segment has the kind mine of recomputation"]);
    for (memory, time) in MemoryUnit::NAMED.into_iter().zip(["s", "ms", "us", "ns"].into_iter().cycle()) {
        let text = format!("[unit]\ntime = \"{time}\"\nmemory = \"{}\"\n{}", memory.name(), segment(COSTS));
        let model = read(&text).unwrap();
        assert_eq!((model.memory_unit, model.time_unit.as_deref()), (memory, Some(time)));
        assert!(sapwood_plan::report::seconds(time).is_some());
    }
    let frozen =
        "[[segment]]\nname = \"a\"\nkind = \"custom\"\nforward = 0\nparameters_mem = 0\nactivation = { none = 0 }";
    assert_eq!(read(frozen).unwrap().segments[0].role, Role::Body);
    assert_eq!(read(&segment("forward = 0x10\nactivation = { none = 1_000 }")).unwrap().segments[0].forward, 16.0);
}

/// Texts, and what the message has to say.
fn refused(cases: &[(String, &str)]) {
    for (text, part) in cases {
        let message = read(text).map(drop).unwrap_err();
        assert!(message.starts_with("m.toml: ") && message.contains(part), "{message}\nnot: {part}\n{text}");
    }
}

#[test]
fn keys_and_types() {
    let with = |lines: &str| segment(&format!("{lines}\n{COSTS}"));
    refused(&[
        (with("forwrd = 1"), "line 5: segment a: unknown key forwrd, did you mean forward?"),
        (format!("[unitt]\n{}", segment(COSTS)), "line 1: unknown key unitt, did you mean unit?"),
        (format!("[unit]\ntimes = \"s\"\n{}", segment(COSTS)), "line 2: [unit] unknown key times, did you mean time?"),
        (format!("[unit]\ntime = \"min\"\n{}", segment(COSTS)), "line 2: [unit] unknown time min"),
        (format!("[unit]\nmemory = \"Mb\"\n{}", segment(COSTS)), "unknown memory Mb, did you mean MB?"),
        (format!("[model]\nhiden = 3\n{}", segment(COSTS)), "line 2: [model] unknown key hiden, did you mean hidden?"),
        (format!("[model]\nhidden = 3.5\n{}", segment(COSTS)), "[model] hidden must be a whole number from 1 to"),
        (format!("[model]\nheads = 0\n{}", segment(COSTS)), "[model] heads must be a whole number from 1 to"),
        (format!("[model]\ntied = 1\n{}", segment(COSTS)), "tied must be true or false"),
        (format!("[model]\nattention = \"flsh\"\n{}", segment(COSTS)), "unknown attention flsh, did you mean flash?"),
        (format!("[model]\ndropout = 1\n{}", segment(COSTS)), "dropout is 1, write a number below 1"),
        (
            format!("[model]\nmla = {{ q = 1, ropes = 2 }}\n{}", segment(COSTS)),
            "[mla] unknown key ropes, did you mean rope?",
        ),
        (format!("[model]\nmla = 3\n{}", segment(COSTS)), "mla must be a table"),
        (with("forward = 1"), "line 6: duplicate key"),
        (with("count = 0"), "count must be a whole number from 1 to 2147483647"),
        (with("count = \"3\""), "count must be a whole number"),
        (with("count = 4294967297"), "count must be a whole number"),
        (with("pin = 3"), "pin must be a text in quotes"),
        (with("extra = 3"), "extra must be a table of numbers such as extra = { full = 1.0 }"),
        (with("extra = { full = \"3\" }"), "extra.full must be a number without quotes"),
        (with("transient = \"3\""), "transient must be a number without quotes"),
        (segment("forward = 1\nactivation = 3"), "activation must be a table of numbers"),
        (segment("forward = 1\nactivation = {}"), "activation is empty"),
        ("[unit]\ntime = \"s\"".to_owned(), "there is no segment, write [[segment]]"),
        ("[segment]\nname = \"a\"".to_owned(), "segment must be an array of tables, write [[segment]]"),
        ("[[segment]]\nkind = \"loss\"".to_owned(), "line 1: [[segment]] the key name is missing"),
        ("[[segment]]\nname = \"\"".to_owned(), "name must be a text of one line in quotes that is not empty"),
        ("[[segment]]\nname = \"a\"".to_owned(), "segment a: kind is missing, write one of embedding, dense"),
        ("[[segment]]\nname = \"a\"\nkind = \"mo\"".to_owned(), "unknown kind mo, did you mean moe?"),
        ("[[segment]]\nname = \"a\"\nkind = ".to_owned(), "line 3: "),
        (format!("{}\n{}", segment(COSTS), segment(COSTS)), "line 9: [[segment]] there are two segments called a"),
        (
            "[[segment]]\nname = \"a\"\nkind = \"dense\"\n".to_owned(),
            "line 1: segment a: no forward, no parameters_mem, no activation: costs cannot be derived",
        ),
        (
            "[[segment]]\nname = \"a\"\nkind = \"loss\"\nforward = 1\nparameters_mem = 1".to_owned(),
            "no activation: costs",
        ),
        (format!("[const]\nmemory = 1\nper_stage = [1]\n{}", segment(COSTS)), "[const] memory and per_stage"),
        (format!("[const]\nper_stage = 1\n{}", segment(COSTS)), "per_stage must be a list of numbers"),
        (format!("[const]\nper_stage = []\n{}", segment(COSTS)), "per_stage is an empty list"),
        (
            format!("[const]\ntail = [1, -1]\n{}", segment(COSTS)),
            "line 2: [const] tail is -1, write a number from 0 on",
        ),
        (format!("[link]\ntimes = 1\n{}", segment(COSTS)), "[link] unknown key times, did you mean time?"),
        (format!("[[recompute]]\nname = \"full\"\n{}", segment(COSTS)), "full is a built-in kind, take another name"),
        (
            format!("[[recompute]]\nname = \"x\"\n[[recompute]]\nname = \"x\"\n{}", segment(COSTS)),
            "line 4: [[recompute]] there are two kinds called x",
        ),
        (format!("[[recompute]]\nname = \"x\"\ndrops = \"q\"\n{}", segment(COSTS)), "drops must be a list of texts"),
        (format!("[[recompute]]\nnames = \"x\"\n{}", segment(COSTS)), "unknown key names, did you mean name?"),
    ]);
}

#[test]
fn numbers_and_kinds() {
    let with = |lines: &str| segment(&format!("forward = 2\n{lines}"));
    let none = "activation = { none = 8 }";
    refused(&[
        (segment(&format!("forward = -2\n{none}")), "line 5: segment a: forward is -2, write a number from 0 on"),
        (segment(&format!("forward = nan\n{none}")), "forward is nan, write a number from 0 on"),
        (segment(&format!("forward = inf\n{none}")), "forward is inf, write a number from 0 on"),
        (segment(&format!("forward = 1e308\n{none}")), "forward is 1e308, which is too large"),
        (
            segment(&format!("forward = 0\n{none}")),
            "line 5: segment a: forward is 0, and a layer of the kind dense takes time",
        ),
        (with(&format!("backward = 0\n{none}")), "line 6: segment a: backward is 0, and a layer of the kind dense"),
        (with(&format!("weight = 5\n{none}")), "weight is 5, and it is a part of the backward of 4"),
        (with("activation = { none = -1 }"), "activation.none is -1, write a number from 0 on"),
        (with("activation = { none = 8, fulll = 1 }"), "unknown kind of recomputation fulll, did you mean full?"),
        (with("activation = { none = 8, mine = 1 }"), "(a kind of your own needs a [[recompute]])"),
        (
            with("activation = { none = 8, full = 9 }"),
            "activation.full is 9, and a kind of recomputation keeps no more",
        ),
        (with("activation = { none = 8, selective = 1 }"), "extra.selective is missing, the time that selective adds"),
        (with(&format!("extra = {{ none = 1 }}\n{none}")), "extra.none is 1, and nothing is recomputed with none"),
        (with(&format!("extra = {{ full = 1 }}\n{none}")), "extra: unknown kind full"),
        (with(&format!("transient = {{ full = 1 }}\n{none}")), "transient: unknown kind full"),
        (
            with(&format!("transient = 1\n{none}")),
            "transient is memory of recomputed layers, and the segment has the kind none alone",
        ),
    ]);
}

/// Segments by name, kind and pin.
fn pinned(segments: &[(&str, &str, &str)]) -> String {
    let one = |&(name, kind, pin): &(&str, &str, &str)| {
        let pin = if pin.is_empty() { String::new() } else { format!("pin = \"{pin}\"\n") };
        format!("[[segment]]\nname = \"{name}\"\nkind = \"{kind}\"\nparameters_mem = 1\n{COSTS}{pin}")
    };
    segments.iter().map(one).collect()
}

#[test]
fn pins() {
    let roles = |segments: &[(&str, &str, &str)]| -> Vec<Role> {
        read(&pinned(segments)).unwrap().segments.iter().map(|s| s.role).collect()
    };
    use Role::{At, Body, Head, Last, Mtp, Tail};
    let plain =
        [("e", "embedding", ""), ("v", "vision", ""), ("b", "mla-moe", ""), ("m", "mtp", ""), ("l", "loss", "")];
    assert_eq!(roles(&plain), [Head, Body, Body, Mtp, Tail]);
    let with = [
        ("v", "vision", "with:e"),
        ("e", "embedding", ""),
        ("b", "dense", ""),
        ("m", "mtp", "with:l"),
        ("l", "loss", ""),
    ];
    assert_eq!(roles(&with), [Head, Head, Body, Last, Tail]);
    let chain = [
        ("b", "dense", ""),
        ("x", "custom", "with:y"),
        ("y", "custom", "with:z"),
        ("z", "custom", "stage:3"),
        ("c", "dense", ""),
    ];
    assert_eq!(roles(&chain), [Body, At(3), At(3), At(3), Body]);
    let ends = [
        ("x", "custom", "first"),
        ("e", "embedding", "stage:0"),
        ("b", "dense", ""),
        ("l", "loss", "stage:7"),
        ("y", "custom", "last"),
    ];
    assert_eq!(roles(&ends), [Head, At(0), Body, At(7), Tail]);
    let form = "write \"first\", \"last\", \"stage:N\" or \"with:SEGMENT\"";
    refused(&[
        (pinned(&[("b", "dense", "middle")]), "line 7: segment b: pin is \"middle\""),
        (pinned(&[("b", "dense", "stage:-1")]), form),
        (pinned(&[("b", "dense", "stage:1.5")]), form),
        (pinned(&[("b", "dense", "with:")]), form),
        (pinned(&[("b", "dense", ""), ("x", "custom", "with:c")]), "line 13: segment x: pin: unknown segment c"),
        (pinned(&[("body", "dense", ""), ("x", "custom", "with:boddy")]), "did you mean body?"),
        (
            pinned(&[("b", "dense", ""), ("x", "custom", "with:b")]),
            "segment x: pinned with b, which may lie anywhere: pin b",
        ),
        (
            pinned(&[("x", "custom", "with:y"), ("y", "custom", "with:x")]),
            "pinned with segments that are pinned with each other",
        ),
        (pinned(&[("x", "custom", "with:x")]), "pinned with each other"),
        (pinned(&[("b", "dense", ""), ("e", "embedding", "")]), "segment e: on the first stage, but after segment b"),
        (pinned(&[("l", "loss", ""), ("b", "dense", "")]), "segment b: after segment l, which is on the last stage"),
        (
            pinned(&[("x", "dense", "stage:3"), ("y", "dense", "stage:2")]),
            "segment y: on a stage before that of segment x",
        ),
        (pinned(&[("l", "loss", ""), ("e", "embedding", "")]), "segment e: on a stage before that of segment l"),
    ]);
}

#[test]
fn too_many_layers_are_refused() {
    let text = pinned(&[("b", "dense", ""), ("c", "dense", "")])
        .replace("parameters_mem", "count = 2000000000\nparameters_mem");
    refused(&[(text.clone(), "line 11: segment c: the model has 2^31 layers or more")]);
    let one = pinned(&[("b", "dense", "")]).replace("parameters_mem", "count = 2000000000\nparameters_mem");
    assert!(Problem::new(read(&one).unwrap(), &[1.0], &[]).is_ok());
    let names: Vec<String> = (0..1025).map(|at| format!("s{at}")).collect();
    let all: Vec<(&str, &str, &str)> = names.iter().map(|name| (name.as_str(), "dense", "")).collect();
    assert_eq!(read(&pinned(&all[1..])).unwrap().segments.len(), 1024);
    refused(&[(pinned(&all), "1025 segments, and 1024 is the most")]);
    // One part in 10⁹ makes ticks small.
    let long = one.replace("forward = 2", "forward = 2e6\nbackward = 1e-9");
    let large = one.replace("none = 8, full = 2", "none = 8e6, full = 1e-9");
    for (text, what) in [(long, "of time"), (large, "of memory")] {
        let message = Problem::new(read(&text).unwrap(), &[1.0], &[]).unwrap_err().to_string();
        assert!(message.contains(&format!("2^63 ticks {what}")), "{message}");
    }
}

#[test]
fn formats_are_told_apart() {
    for text in ["", "{}", "[run]\n", "[[level]]\nname = \"a\"", "segment: 3", "[[8,8],[8,8]]"] {
        let message = read(text).unwrap_err();
        assert!(message.contains("no known description of a model; formats: toml, sapp"), "{text}: {message}");
    }
    assert!(read("# first a remark\n\n  [[ segment ]] # one\n").unwrap_err().contains("the key name is missing"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_makes_it_panic(text in "(\\[\\[?(segment|unit|model|const)\\]\\]?|[a-z_]{1,9} = [-0-9.e\"{}\\[\\]]{0,9}|\\PC{0,9}|\n){0,12}") {
        let _ = read(&format!("[[segment]]\n{text}"));
    }

    #[test]
    fn no_damage_makes_it_panic(at in 0usize..2000, length in 0usize..40, put in "\\PC{0,3}") {
        let chars: Vec<char> = EXAMPLE.chars().collect();
        let (start, end) = (at.min(chars.len()), (at + length).min(chars.len()));
        let text: String = chars[..start].iter().copied().chain(put.chars()).chain(chars[end..].iter().copied()).collect();
        if let Ok(model) = read(&text) {
            for segment in &model.segments {
                let kept: Vec<f64> = segment.kinds.iter().map(|k| k.activation).collect();
                prop_assert!(kept.is_sorted_by(|a, b| a >= b) && segment.weight <= segment.backward);
                prop_assert!(segment.kinds.iter().all(|k| k.extra >= 0.0 && k.transient >= 0.0));
            }
            let _ = Problem::new(model, &[80_000.0; 4], &[]);
        }
    }
}
