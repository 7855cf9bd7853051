//! Guides: what they ask to be measured gives true costs back.

use super::{found, measured};
use proptest::prelude::*;
use sapwood_plan::calibrate::guide::{Guide, Wanted, search};
use sapwood_plan::calibrate::memory::{Verdict, fit};
use sapwood_plan::calibrate::{Measured, parse};
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::Order;
use sapwood_plan::simulate::memory::{Activations, Peak};
use sapwood_plan::solve::Express;

pub(super) fn wanted(stages: usize, layers: usize, kinds: &[&str]) -> Wanted {
    Wanted {
        stages,
        chunks: 1,
        layers,
        schedule: "1f1b".to_owned(),
        micro_batches: None,
        group: Grouping::First,
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        constant: true,
        transient: false,
        express: Express::Any,
        spread: None,
        runs: None,
    }
}

/// True costs of a made-up model.
#[derive(Debug, Clone)]
pub(super) struct Costs {
    pub(super) constant: u64,
    pub(super) parameters: u64,
    /// By kind, `none` first.
    pub(super) activations: Vec<u64>,
    pub(super) head: u64,
    pub(super) tail: u64,
}

/// Peaks of a run by the walk over the schedule's lists, in ticks.
pub(super) fn simulated(measured: &Measured, run: usize, costs: &Costs) -> Vec<u64> {
    let counts = &measured.runs[run].counts;
    let (stages, chunks) = (measured.stages, measured.chunks);
    let micro_batches = measured.micro_batches.unwrap_or(4 * stages);
    let dims = Dims { stages, chunks, micro_batches, group: measured.group };
    let order = Order::new(schedule::find(&measured.schedule).unwrap(), &dims).unwrap();
    let kept = |counts: &[u32]| counts.iter().zip(&costs.activations).map(|(&n, a)| u64::from(n) * a).sum::<u64>();
    let again = |counts: &[u32]| {
        let kinds = (1..counts.len()).filter(|&kind| measured.transient && counts[kind] > 0);
        kinds.map(|kind| costs.activations[0] - costs.activations[kind]).max().unwrap_or(0)
    };
    let constant = |stage: usize| {
        let layers: u64 = (stage..counts.len()).step_by(stages).flat_map(|at| &counts[at]).map(|&n| u64::from(n)).sum();
        let ends = if stage == 0 { costs.head } else { 0 } + if stage + 1 == stages { costs.tail } else { 0 };
        costs.constant + layers * costs.parameters + ends
    };
    // All schedules here are looped: virtual stages are in the order of the lists.
    let memory = Activations {
        kept: counts.iter().map(|counts| kept(counts)).collect(),
        transient: counts.iter().map(|counts| again(counts)).collect(),
        constant: (0..stages).map(constant).collect(),
    };
    (0..stages).map(|stage| Peak::of(&order, stage, &memory).unwrap().total()).collect()
}

/// The guide's file with simulated peaks, `unit` ticks in one unit, rounded to whole units.
fn filled(guide: &Guide, costs: &Costs, unit: u64) -> String {
    let peaks = |run: usize| {
        let peaks = simulated(&guide.measured, run, costs);
        let peaks: Vec<String> = peaks.iter().map(|peak| ((peak + unit / 2) / unit).to_string()).collect();
        format!("peak = [{}]", peaks.join(", "))
    };
    let mut run = 0;
    let lines = guide
        .toml()
        .lines()
        .map(|line| {
            if !line.starts_with("peak") {
                return line.to_owned();
            }
            run += 1;
            peaks(run - 1)
        })
        .collect::<Vec<_>>();
    lines.join("\n")
}

/// Asserts that the guide's runs, rounded to whole units, give the costs back as well as rounding lets them.
fn assert_back(guide: &Guide, costs: &Costs, unit: u64) {
    let fit = found(&measured(&filled(guide, costs, unit)));
    let truth = |name: &str| match name {
        "constant" => costs.constant,
        "parameters" => costs.parameters,
        name => {
            let kind = name.strip_prefix("activation.").unwrap();
            costs.activations[guide.measured.kinds.iter().position(|other| other == kind).unwrap()]
        }
    };
    assert_eq!(fit.unknowns.len(), guide.rank, "{fit:?}");
    for (unknown, (name, gain)) in fit.unknowns.iter().zip(&guide.gains) {
        assert_eq!(&unknown.name, name);
        let off = (unknown.value - truth(name) as f64 / unit as f64).abs();
        assert!(off <= 0.5 * gain + 1e-6, "{name} is off by {off}, gain {gain}: {fit:?}");
        assert!((unknown.gain - gain).abs() < 1e-9, "{fit:?}");
    }
}

fn costs(kinds: usize) -> Costs {
    let activations = [852_310_000, 767_250_000, 535_860_000, 511_500_000, 32_100_000];
    let activations = if kinds == 2 { vec![activations[0], activations[4]] } else { activations[..kinds].to_vec() };
    Costs { constant: 1_896_750_000, parameters: 2_141_750_123, activations, head: 4_245_500_000, tail: 1_203_500_000 }
}

#[test]
fn guides_of_usual_sizes_give_megabytes_back() {
    for (stages, layers, runs) in [(16, 96, 1), (8, 32, 1), (4, 80, 2), (6, 45, 1), (3, 24, 2), (64, 128, 1)] {
        let guide = search(&wanted(stages, layers, &["full"])).unwrap();
        assert_eq!((guide.rank, guide.measured.runs.len()), (4, runs), "{stages} {layers}");
        assert_eq!(measured(&guide.toml().replacen("\"-\"", "1", 1)).runs[0].counts, guide.measured.runs[0].counts);
        assert_back(&guide, &costs(2), 1_000_000);
    }
    let all = ["selective", "communication", "both", "full"];
    for express in [Express::Any, Express::Mindformers] {
        let guide = search(&Wanted { express, ..wanted(16, 96, &all) }).unwrap();
        assert_eq!((guide.rank, guide.measured.runs.len()), (7, 1));
        assert_back(&guide, &costs(5), 1_000_000);
        let nested = |counts: &Vec<u32>| express == Express::Any || counts[1] == 0 || counts[2] == 0;
        assert!(guide.measured.runs[0].counts.iter().all(nested));
    }
}

#[test]
fn megatron_has_one_setting_a_run() {
    let guide = search(&Wanted { express: Express::Megatron, ..wanted(8, 48, &["selective", "full"]) }).unwrap();
    assert_back(&guide, &costs(3), 1_000_000);
    for run in &guide.measured.runs {
        let all = |kind: usize| run.counts.iter().all(|counts| counts[kind] == counts.iter().sum::<u32>());
        let first = run.counts.iter().map(|counts| counts[2]).max().unwrap();
        let block = run.counts.iter().all(|counts| counts[1] == 0 && counts[2] == first.min(counts[0] + counts[2]));
        assert!(all(0) || all(1) || block, "{run:?}");
    }
}

#[test]
fn chunks_two_stages_and_what_is_impossible() {
    let chunked = Wanted { chunks: 2, schedule: "interleaved".to_owned(), ..wanted(4, 34, &["full"]) };
    let guide = search(&chunked).unwrap();
    assert_back(&guide, &costs(2), 1_000_000);
    let two = search(&wanted(2, 16, &["full"])).unwrap();
    assert_eq!((two.rank, two.measured.runs.len()), (3, 3));
    assert_back(&two, &Costs { constant: 0, ..costs(2) }, 1_000_000);
    let error = |wanted: &Wanted| search(wanted).unwrap_err().to_string();
    assert!(error(&wanted(8, 7, &["full"])).contains("7 layers on 8 chunks"));
    assert!(
        error(&wanted(8, 8, &["full"])).contains("determine constant, parameters"),
        "{}",
        error(&wanted(8, 8, &["full"]))
    );
    assert!(error(&wanted(8, 16, &["full", "full"])).contains("twice"));
    assert!(error(&Wanted { schedule: "gpipe".into(), ..wanted(4, 16, &[]) }).contains("write micro_batches"));
    // All stages keep all micro-batches: parameters cannot be told from what is kept.
    let gpipe =
        Wanted { schedule: "gpipe".into(), micro_batches: Some(8), constant: false, ..wanted(4, 16, &["full"]) };
    assert!(error(&gpipe).contains("take a schedule"));
}

#[test]
fn guides_are_near_the_best_there_is() {
    // 5 stages, 10 layers, 1 to 3 on each; the three stages between the ends give the equations of three unknowns.
    let small = Wanted { constant: false, ..wanted(5, 10, &["full"]) };
    let found = search(&small).unwrap();
    let stage: Vec<[u32; 2]> = (1..=3).flat_map(|layers| (0..=layers).map(move |full| [layers - full, full])).collect();
    let layers = |counts: &[u32; 2]| counts[0] + counts[1];
    let mut best = f64::INFINITY;
    let pairs: Vec<_> = stage.iter().flat_map(|a| stage.iter().map(move |b| (*a, *b))).collect();
    for (a, b, c) in pairs.iter().flat_map(|&(a, b)| stage.iter().map(move |&c| (a, b, c))) {
        let ends = 10u32.saturating_sub(layers(&a) + layers(&b) + layers(&c));
        if !(2..=6).contains(&ends) {
            continue;
        }
        let mut guide = found.measured.clone();
        let run = &mut guide.runs[0];
        run.counts = [[ends / 2, 0], a, b, c, [ends - ends / 2, 0]].map(|counts| counts.to_vec()).to_vec();
        run.peaks = vec![Some(1.0); 5];
        if let Verdict::Found(fit) = fit(&guide).unwrap() {
            best = best.min(fit.condition);
        }
    }
    assert!(found.condition <= 1.01 * best, "{} where {best} is possible", found.condition);
    // What longer searches found for usual sizes.
    for (stages, layers, kinds, condition) in
        [(16, 96, &["full"][..], 7.15), (4, 80, &["full"], 9.25), (8, 48, &["selective", "full"], 7.6)]
    {
        let found = search(&wanted(stages, layers, kinds)).unwrap().condition;
        assert!(found <= condition, "{stages} {layers}: {found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_a_guide_asks_for_gives_the_costs_back(
        stages in 3usize..9, chunks in 1usize..3, each in 2usize..6, more in 0usize..5, kinds in 0usize..3,
        name in 0usize..3, transient: bool, micro in prop::option::of(1usize..4),
        values in prop::collection::vec(1u64..3_000_000, 8),
    ) {
        let schedule = ["1f1b", "interleaved", "interleaved-lm"][name];
        let chunks = if schedule == "1f1b" { 1 } else { chunks };
        let mut wanted = wanted(stages, stages * chunks * each + more, &["selective", "full"][..kinds]);
        wanted = Wanted { chunks, schedule: schedule.into(), transient, micro_batches: micro.map(|m| m * stages), ..wanted };
        let guide = search(&wanted).unwrap();
        prop_assert_eq!(&search(&wanted).unwrap(), &guide);
        for run in &guide.measured.runs {
            prop_assert_eq!(run.counts.iter().flatten().sum::<u32>() as usize, wanted.layers);
            prop_assert!(run.counts.iter().all(|counts| counts.iter().sum::<u32>() > 0));
        }
        // Kinds keep the less the later they are, so that what is judged the heaviest is.
        let mut activations = vec![4_000_000 + values[0]];
        activations.extend((0..kinds).map(|kind| (3 - kind as u64) * 1_000_000 + values[1 + kind] / 3));
        let costs = Costs { constant: values[4], parameters: values[5], activations, head: values[6], tail: values[7] };
        assert_back(&guide, &costs, 1000);
        let text = filled(&guide, &costs, 1);
        let exact = found(&parse("exact", text.as_bytes()).unwrap());
        for (unknown, truth) in exact.unknowns.iter().zip([costs.constant, costs.parameters].iter().chain(&costs.activations)) {
            prop_assert!((unknown.value - *truth as f64).abs() < 1e-3, "{} {} {:?}", unknown.name, truth, exact);
        }
        prop_assert!((exact.head.unwrap() - (costs.head + costs.constant) as f64).abs() < 1e-2);
        prop_assert!((exact.tail.unwrap() - (costs.tail + costs.constant) as f64).abs() < 1e-2);
    }
}
