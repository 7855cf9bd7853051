//! `sapwood train --preset`: the line with what the paper says; and, in `make test-long`, every preset on its data.
//!
//! The long tests print what the paper reports beside what was measured. No test demands the gain that the paper reports.

use sapwood_testkit::data::{public, skipped};
use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::scratch;
use sapwood_train::preset::{self, Preset};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Runs a preset with the data sets below `folder`.
fn train(name: &str, flags: &str, folder: &Path) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).env("SAPWOOD_DATA", folder);
    program.line(&format!("train --preset {name} {flags}")).run().unwrap()
}

/// Six nodes that call themselves Cora: whoever has no Cora sees the same line.
fn small_cora() -> scratch::TempDir {
    let files = [
        ("cora/edges.tsv", "0\t1\n1\t2\n2\t0\n3\t4\n4\t5\n5\t3\n2\t3\n"),
        ("cora/words.tsv", "0 1\n1\n0\n2 3\n3\n2\n"),
        ("cora/labels.tsv", "0\t0\n1\t0\n2\t0\n3\t1\n4\t1\n5\t1\n"),
        ("cora/split.tsv", "0\ttrain\n3\ttrain\n1\tval\n4\tval\n2\ttest\n5\ttest\n"),
    ];
    scratch::folder_with(&files).unwrap()
}

#[test]
fn a_preset_prints_what_the_paper_reports() {
    let small = small_cora();
    let folder = small.path();
    let ran = train("semi-cora-gcn", "--seeds 1", folder);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = &ran.stdout;
    assert!(text.contains("published: none 0.811, dropedge 0.828; "), "{text}");
    assert!(text.contains("· gcn-2 ·") && text.contains("epoch chosen by dropedge"), "{text}");
    let json = train("semi-cora-gcn", "--seeds 1 --json", folder).json().unwrap();
    assert_eq!(json["published"], serde_json::json!({ "no_drop": 0.811, "dropedge": 0.828 }));
    for flags in
        ["--model mlp", "--layers 3", "--norm-layer batch", "--epochs 3", "--lr 1", "--p 0.9", "--select val-acc"]
    {
        let other = train("semi-cora-gcn", &format!("--seeds 1 {flags}"), folder);
        assert!(!other.stdout.contains("published"), "{flags}: {}", other.stdout);
    }
    let other = train("semi-citeseer-gcn", "--epochs 3 --seeds 1 cora", folder);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    assert!(!other.stdout.contains("published"), "the paper has no such network: {}", other.stdout);
}

/// Every preset, with whatever data are at hand.
fn presets() -> impl Iterator<Item = Preset> {
    preset::ALL.iter().map(|entry| preset::find(preset::ALL, entry.name).unwrap())
}

/// A line past the capture of the test harness.
fn say(line: &str) {
    // A lost message is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[test]
#[ignore = "long: part of make test-long"]
fn every_preset_starts_on_its_data() {
    for preset in presets() {
        let Some(data) = public(&preset.data) else { continue };
        let clock = Instant::now();
        let ran = train(preset.name, "--epochs 2 --seeds 1 --json", data.parent().unwrap());
        if sapwood_files::find(&data, "features.mtx").is_none() {
            // The rest of the features is missing here: a user must not train on a part without knowing.
            assert_eq!(ran.code, Some(2), "{}: {}", preset.name, ran.stdout);
            assert!(ran.stderr.contains("features_partial"), "{}: {}", preset.name, ran.stderr);
            skipped(&format!("{} has no features.mtx, so {} stays untrained", preset.data, preset.name));
            continue;
        }
        assert_eq!(ran.code, Some(0), "{}: {}", preset.name, ran.stderr);
        let found = ran.json().unwrap();
        let runs = found["runs"].as_array().unwrap();
        assert_eq!((runs.len(), &found["complete"]), (2, &Value::Bool(true)), "{}", preset.name);
        assert!(runs.iter().all(|run| run["train_loss"].is_f64() && run["test_acc"].is_f64()), "{found}");
        let model = &found["model"];
        assert_eq!(
            (model["name"].as_str(), model["layers"].as_u64()),
            (Some(&*preset.model), Some(preset.layers as u64))
        );
        say(&format!("{}: 2 epochs of 2 runs in {:.1} s", preset.name, clock.elapsed().as_secs_f64()));
    }
}

/// What a preset trained to its end must reach: mean test accuracy of each method within `band`.
struct Whole {
    preset: &'static str,
    seeds: u32,
    band: std::ops::RangeInclusive<f64>,
}

/// The paper's gain is in no band: `none` and `dropedge` share it.
const WHOLE: &[Whole] = &[
    Whole { preset: "full-cora-gcn", seeds: 3, band: 0.83..=0.90 },
    Whole { preset: "full-cora-densegcn", seeds: 1, band: 0.80..=0.90 },
    Whole { preset: "full-cora-incepgcn", seeds: 1, band: 0.80..=0.90 },
    Whole { preset: "semi-cora-gcn", seeds: 3, band: 0.76..=0.85 },
    Whole { preset: "semi-cora-densegcn", seeds: 3, band: 0.72..=0.85 },
];

#[test]
#[ignore = "long: part of make test-long"]
fn the_presets_of_cora_run_to_their_end() {
    let Some(cora) = public("cora") else { return };
    for Whole { preset, seeds, band } in WHOLE {
        let clock = Instant::now();
        let ran = train(preset, &format!("--seeds {seeds} --json"), cora.parent().unwrap());
        assert_eq!(ran.code, Some(0), "{preset}: {}", ran.stderr);
        let found = ran.json().unwrap();
        let runs = found["runs"].as_array().unwrap();
        assert_eq!(runs.len() as u32, 2 * seeds, "{preset}");
        assert!(runs.iter().all(|run| run["epochs"] == 400 && run["train_loss"].is_f64()), "{preset}: {runs:?}");
        let mut line = format!("{preset}:");
        for method in found["methods"].as_array().unwrap() {
            let (name, mean) = (method["name"].as_str().unwrap(), method["mean"].as_f64().unwrap());
            let sd = method["sd"].as_f64().map_or_else(|| "-".to_owned(), |sd| format!("{:.1}", 100.0 * sd));
            let published = found["published"][if name == "none" { "no_drop" } else { name }].as_f64();
            let published = published.map_or_else(|| "-".to_owned(), |value| format!("{:.1}", 100.0 * value));
            line += &format!(" {name} {:.1} ± {sd} (published {published})", 100.0 * mean);
            assert!(band.contains(&mean), "{preset} {name}: {mean} is not within {band:?}");
        }
        say(&format!("{line}; {seeds} seeds, {:.0} s", clock.elapsed().as_secs_f64()));
    }
}

/// 64 branches of 1 to 64 convolutions: as many layers as any preset has.
#[test]
#[ignore = "long: part of make test-long"]
fn two_thousand_layers_train_for_twenty_epochs() {
    let Some(cora) = public("cora") else { return };
    let clock = Instant::now();
    let flags = "--epochs 20 --seeds 1 --against dropedge --json";
    let ran = train("semi-cora-incepgcn", flags, cora.parent().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = ran.json().unwrap();
    let run = &found["runs"][0];
    assert_eq!((run["epochs"].as_u64(), found["runs"].as_array().unwrap().len()), (Some(20), 1));
    let (loss, accuracy) = (run["train_loss"].as_f64().unwrap(), run["test_acc"].as_f64().unwrap());
    assert!(loss.is_finite() && loss > 0.0 && (0.0..=1.0).contains(&accuracy), "{run}");
    say(&format!(
        "semi-cora-incepgcn: 20 epochs in {:.0} s, loss {loss:.3}, test accuracy {:.1} %",
        clock.elapsed().as_secs_f64(),
        100.0 * accuracy
    ));
}
