//! Laws of calibration on random runs.

use super::guide::{Costs, simulated};
use proptest::prelude::*;
use sapwood_plan::calibrate::memory::{Verdict, fit};
use sapwood_plan::calibrate::{Constant, Measured, Run};
use sapwood_plan::schedule::{self, Grouping};

/// Runs with chunks of any content and the true costs; peaks are simulated.
fn runs(most_chunks: usize) -> impl Strategy<Value = (Measured, Costs)> {
    let sizes = (0..schedule::ALL.len(), 3usize..8, 1..=most_chunks, 1usize..12, 1usize..4, 1usize..4, any::<bool>());
    sizes.prop_flat_map(|(at, stages, chunks, micro_batches, kinds, runs, transient)| {
        let entry = &schedule::ALL[at];
        let chunks = if entry.shape.chunks { chunks } else { 1 };
        let counts = prop::collection::vec(prop::collection::vec(0u32..4, kinds), stages * chunks);
        let values = prop::collection::vec(1u64..3_000_000, 8);
        (prop::collection::vec(counts, runs), values).prop_map(move |(counts, values)| {
            let mut activations = vec![4_000_000 + values[0]];
            activations.extend((1..kinds).map(|kind| (4 - kind as u64) * 1_000_000 + values[kind] / 3));
            let costs =
                Costs { constant: values[4], parameters: values[5], activations, head: values[6], tail: values[7] };
            let mut measured = Measured {
                stages,
                chunks,
                schedule: entry.name.to_owned(),
                micro_batches: Some(micro_batches),
                group: Grouping::First,
                kinds: ["none", "selective", "full"][..kinds].iter().map(|kind| (*kind).to_owned()).collect(),
                all_kinds: true,
                constant: Constant::Yes,
                transient,
                unit: None,
                times: None,
                runs: counts.into_iter().map(|counts| Run { counts, peaks: vec![None; stages] }).collect(),
                warnings: Vec::new(),
            };
            for run in 0..measured.runs.len() {
                let peaks = simulated(&measured, run, &costs);
                measured.runs[run].peaks = peaks.into_iter().map(|peak| Some(peak as f64)).collect();
            }
            (measured, costs)
        })
    })
}

/// Values by name.
fn truth(costs: &Costs, measured: &Measured, name: &str) -> f64 {
    let value = match name {
        "constant" => costs.constant,
        "parameters" => costs.parameters,
        name => {
            let kind = name.strip_prefix("activation.").unwrap();
            costs.activations[measured.kinds.iter().position(|other| other == kind).unwrap()]
        }
    };
    value as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn exact_peaks_give_exact_costs((measured, costs) in runs(1)) {
        let measured = Measured { transient: false, ..measured };
        let mut simulated_again = measured.clone();
        for run in 0..measured.runs.len() {
            let peaks = simulated(&measured, run, &costs);
            simulated_again.runs[run].peaks = peaks.into_iter().map(|peak| Some(peak as f64)).collect();
        }
        if let Verdict::Found(fit) = fit(&simulated_again).unwrap() {
            for unknown in &fit.unknowns {
                let truth = truth(&costs, &measured, &unknown.name);
                prop_assert!((unknown.value - truth).abs() < 0.01, "{} is {truth}: {:?}", unknown.name, fit);
            }
            prop_assert!((fit.head.unwrap() - (costs.head + costs.constant) as f64).abs() < 0.1);
            prop_assert!((fit.tail.unwrap() - (costs.tail + costs.constant) as f64).abs() < 0.1);
        }
    }

    #[test]
    fn what_is_found_simulates_to_what_was_fitted((measured, _) in runs(3)) {
        let Verdict::Found(fit) = fit(&measured).unwrap() else { return Ok(()) };
        let value = |name: &str| fit.unknowns.iter().find(|u| u.name == name).map_or(0.0, |u| u.value);
        let settled = !fit.warnings.iter().any(|warning| warning.contains("no choice"));
        if !settled || fit.unknowns.iter().any(|unknown| unknown.value < 0.0) {
            return Ok(());
        }
        let ticks = |value: f64| (value * 1000.0).round() as u64;
        let costs = Costs {
            constant: ticks(value("constant")),
            parameters: ticks(value("parameters")),
            activations: measured.kinds.iter().map(|kind| ticks(value(&format!("activation.{kind}")))).collect(),
            head: 0,
            tail: 0,
        };
        // Recomputed layers have nothing to make again where nothing is known of layers that keep all.
        if measured.transient && costs.activations.windows(2).any(|pair| pair[0] < pair[1]) {
            return Ok(());
        }
        for residual in fit.residuals.iter().filter(|r| r.stage > 0 && r.stage + 1 < measured.stages) {
            let peak = simulated(&measured, residual.run, &costs)[residual.stage] as f64 / 1000.0;
            prop_assert!((peak - residual.fitted).abs() < 1.0, "{peak} {residual:?} {fit:?}");
        }
    }

    #[test]
    fn further_measurements_raise_the_rank((measured, _) in runs(2)) {
        let Verdict::Undetermined(open) = fit(&measured).unwrap() else { return Ok(()) };
        prop_assert!(open.rank < open.unknowns.len() && !open.inseparable.is_empty());
        prop_assert!(open.measurements.len() <= open.unknowns.len() - open.rank);
        prop_assert_eq!(open.enough, open.measurements.len() == open.unknowns.len() - open.rank);
        let mut more = measured.clone();
        for measurement in &open.measurements {
            let mut run = Run { peaks: vec![None; measured.stages], ..measured.runs[0].clone() };
            for (chunk, &layers) in measurement.layers.iter().enumerate() {
                let mut counts = vec![layers; 1];
                counts.resize(measured.kinds.len(), 0);
                for (kind, n) in &measurement.kinds {
                    let at = measured.kinds.iter().position(|other| other == kind).unwrap();
                    counts[at] = n[chunk];
                    counts[0] -= n[chunk];
                }
                run.counts[chunk * measured.stages + measurement.stage] = counts;
            }
            run.peaks[measurement.stage] = Some(1e6);
            more.runs.push(run);
        }
        let rank = match fit(&more).unwrap() {
            Verdict::Found(fit) => fit.rank,
            Verdict::Undetermined(open) => open.rank,
        };
        prop_assert!(rank >= open.rank + open.measurements.len(), "{rank} {open:?}");
    }
}

#[test]
fn heaviest_moments_are_found_with_the_costs() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let values = prop::collection::vec(0u64..1_000_000, 4);
    let (mut good, mut all) = (0, 0);
    while all < 500 {
        let (mut measured, mut costs) = runs(3).new_tree(&mut runner).unwrap().current();
        // Costs that are far from any first guess: kinds in no order.
        costs.activations = values.new_tree(&mut runner).unwrap().current()[..measured.kinds.len()].to_vec();
        measured.transient = false;
        for run in 0..measured.runs.len() {
            let peaks = simulated(&measured, run, &costs);
            measured.runs[run].peaks = peaks.into_iter().map(|peak| Some(peak as f64)).collect();
        }
        let Verdict::Found(fit) = fit(&measured).unwrap() else { continue };
        if measured.chunks == 1 || fit.unknowns[0].ci95.is_none() {
            continue;
        }
        all += 1;
        let close = |name: &str, value: f64| (value - truth(&costs, &measured, name)).abs() < 0.1;
        good += usize::from(fit.unknowns.iter().all(|unknown| close(&unknown.name, unknown.value)));
    }
    assert!(good >= 495, "{good} of {all}");
}
