//! `sapwood train`: JSON with the members of its schema, the same for every thread count; the table; refusals; a run
//! that breaks and one that is interrupted.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::workspace_root;
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs on the karate club, which lies in `./data` of the workspace.
fn train(line: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["train"]).line(line);
    program.within(&workspace_root()).run().unwrap()
}

/// The message of a call that must end with exit code 2 and without a result.
fn refused(line: &str) -> String {
    let ran = train(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
    ran.stderr
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

const SMALL: &str = "karate --layers 2 --hidden 8 --epochs 4 --eval-every 2";

#[test]
fn json_has_the_members_of_its_schema() {
    let ran = train(&format!("{SMALL} --seeds 2 --json"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = ran.json().unwrap();
    let members = "schema data model settings estimate sampler runs methods paired published cost select complete interrupted measured";
    assert_eq!(keys(&found), members.split(' ').collect::<Vec<_>>());
    assert_eq!(found["schema"], "sapwood.train/1");
    assert_eq!(keys(&found["data"]), ["name", "nodes", "pairs", "classes", "features", "split", "sha256"]);
    let data = json!([found["data"]["name"], found["data"]["nodes"], found["data"]["pairs"], found["data"]["split"]]);
    assert_eq!(data, json!(["karate", 34, 78, "public"]));
    assert_eq!(found["model"]["name"], "gcn");
    let settings =
        ["model", "layers", "hidden", "epochs", "features", "sampler", "p", "against", "seed", "split", "dtype"];
    assert!(settings.iter().all(|member| !found["settings"][member].is_null()), "{}", found["settings"]);
    assert_eq!(found["settings"]["features"], "onehot");
    assert_eq!(found["sampler"][1]["k"], 23);
    let (dropedge, ranked) = (&found["sampler"][1], &found["sampler"][2]);
    assert!(["beta", "direction", "auto"].iter().all(|m| dropedge[m].is_null()), "{dropedge}");
    assert_eq!(json!([ranked["name"], ranked["beta"], ranked["direction"]]), json!(["ranked", 2.0, "keep"]));
    assert!(ranked["auto"].is_null());
    for sampler in [dropedge, ranked] {
        assert!(["isolated_mean", "components_mean", "degree_sd"].iter().all(|m| sampler[m].is_f64()), "{sampler}");
    }
    let runs = found["runs"].as_array().unwrap();
    let order: Vec<Value> = runs.iter().map(|r| json!([r["method"], r["seed"], r["epochs"]])).collect();
    assert_eq!(order, ["none", "dropedge", "ranked"].map(|m| [json!([m, "0", 4]), json!([m, "1", 4])]).concat());
    assert!(
        runs.iter()
            .all(|r| [json!(2), json!(4)].contains(&r["best_epoch"]) && r["fingerprint"].as_str().unwrap().len() == 16)
    );
    assert_eq!(keys(&found["methods"][0]), ["name", "mean", "sd", "min", "max", "p_sensitivity"]);
    assert_eq!(keys(&found["paired"][0]), ["a", "b", "n", "mean_diff", "ci_low", "ci_high", "p_value"]);
    assert_eq!((&found["paired"][0]["n"], &found["paired"][0]["p_value"]), (&json!(2), &Value::Null));
    assert_eq!(json!([found["select"], found["complete"], found["interrupted"]]), json!(["val-acc", true, false]));
    assert_eq!(keys(&found["measured"]), ["total_s", "runs", "cost_ratio", "arena_high_water_bytes", "peak_rss_bytes"]);
    assert_eq!(found["measured"]["runs"].as_array().unwrap().len(), 6);
}

#[test]
fn json_is_the_same_on_any_number_of_threads() {
    let on = |threads: u32| {
        let ran = train(&format!("{SMALL} --seeds 2 --json -q --threads {threads}"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        ran.json_unmeasured().unwrap()
    };
    let one = on(1);
    assert_eq!(on(2), one);
    assert_eq!(on(3), one);
    assert_eq!(on(8), one);
}

#[test]
fn the_table_claims_nothing_from_few_seeds() {
    let few = train(&format!("{SMALL} --seeds 5")).stdout;
    assert!(few.starts_with("karate: 34 nodes, 78 pairs, 2 classes · onehot "), "{few}");
    assert!(few.contains("test acc (mean ± sd)") && few.contains("n/a (needs 6 seeds)"), "{few}");
    assert!(!few.contains("better") && !few.contains("p="), "{few}");
    let six = train(&format!("{SMALL} --seeds 6")).stdout;
    assert!(six.contains("Δ ") && six.contains("] p=") && six.contains("dropedge against none: "), "{six}");
    let alone = train(&format!("{SMALL} --seeds 1 --sampler none")).stdout;
    assert!(alone.contains("none") && !alone.contains("dropedge") && !alone.contains('Δ'), "{alone}");
}

#[test]
fn flags_of_later_steps_are_refused_by_name() {
    for flag in ["stages 2", "micro-draws 4", "batch full", "plan file", "multi keep"] {
        let text = refused(&format!("karate --{flag}"));
        let name = flag.split(' ').next().unwrap();
        assert!(text.starts_with(&format!("error: --{name}: not built yet\nhint: ")), "{text}");
    }
}

#[test]
fn keep_is_refused_with_the_drop_rate_to_write() {
    let text = refused("karate --keep 0.7");
    assert!(text.contains("no such flag") && text.contains("hint: p = 1 - keep: write --p 0.3\n"), "{text}");
}

#[test]
fn bad_values_name_the_flag_and_the_range_or_the_names() {
    let says = [
        ("--p 1.5", "--p must be a drop rate from 0 to 1, not 1.5"),
        ("--p -0.1", "--p must be a drop rate from 0 to 1, not -0.1"),
        ("--p nan", "--p must be a drop rate from 0 to 1, not NaN"),
        ("--p some", "--p must be a number from 0 to 1"),
        ("--p 0.3 --p-schedule const:0.3", "--p 0.3 beside --p-schedule const:0.3"),
        ("--p 0.5,0.3", "all layers share a draw"),
        ("--layers 3 --per layer --p 0.5,0.3", "2 rates for 3 layers"),
        ("--layers 3 --per layer-nested --p 0.5,0.3,0.4", "0.4 follows 0.3"),
        ("--beta nan", "--beta must be finite"),
        ("--beta -1", "--beta must be finite and 0 or more"),
        ("--gamma inf", "--gamma must be a finite number"),
        ("--alpha 1", "--alpha must be at least 0 and below 1"),
        ("--q-min 0.5", "--q-min 0.5 cannot hold"),
        ("--score two_stages", "did you mean 'two_stage'?"),
        ("--score file:missing.tsv", "missing.tsv"),
        ("--draw gumble", "did you mean 'gumbel'?"),
        ("--stratify nodes", "did you mean 'node'?"),
        ("--direction up", "known: keep, drop, auto"),
        ("--after unbiast", "did you mean 'unbiased'?"),
        ("--sweep p=2", "2 is no drop rate"),
        ("--sweep p=0.1 --p 0.3", "--sweep p=0.1 beside --p"),
        ("--sweep p=0.1 --prob q.tsv", "--sweep p=0.1 beside --prob"),
        ("--sampler dropnode --per layer", "--per must be epoch"),
        ("--layers 0", "--layers must be from 1 to 4095"),
        ("--dropout 1", "--dropout must be from 0 to below 1"),
        ("--model gnc", "did you mean 'gcn'?"),
        ("--sampler dropege", "did you mean 'dropedge'?"),
        ("--split pubic", "did you mean 'public'?"),
        ("--features tfdif", "did you mean 'tfidf'?"),
    ];
    for (flags, part) in says {
        let text = refused(&format!("karate {flags}"));
        assert!(text.contains(part), "{flags}: {text}");
    }
    assert!(refused("no-such-data").contains("no-such-data"));
}

#[test]
fn a_dry_run_estimates_and_too_much_memory_is_refused() {
    let ran = train(&format!("{SMALL} --dry-run"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("parameters") && ran.stdout.contains("activations") && !ran.stdout.contains("test acc")
    );
    let found = train(&format!("{SMALL} --dry-run --json")).json().unwrap();
    assert_eq!(json!([found["runs"], found["complete"]]), json!([[], false]));
    assert!(found["estimate"]["total_bytes"].as_u64().unwrap() > 0);
    let text = refused("karate --layers 4000 --hidden 1000000");
    assert!(text.contains("bytes of memory") && text.contains("--recompute auto"), "{text}");
}

#[test]
fn the_log_has_one_line_per_run_and_epoch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let ran = train(&format!("{SMALL} --seeds 2 --log {}", path.display()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3 * 2 * 4);
    assert!(lines.iter().all(|line| line["train_loss"].is_f64() && line["lr"] == 0.01));
    assert!(lines.iter().all(|line| line["val_acc"].is_null() == (line["epoch"].as_u64().unwrap() % 2 == 1)));
}

#[test]
fn a_loss_that_is_no_number_keeps_what_there_is_and_exits_1() {
    let ran = train("karate --layers 2 --epochs 9 --seeds 1 --sampler none --lr 1e30 --json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let found = ran.json().unwrap();
    assert_eq!(json!([found["complete"], found["interrupted"]]), json!([false, false]));
    assert_eq!(found["runs"][0]["broken"], json!({"epoch": 1, "layer": "convs.1.lin"}));
    assert!(found["runs"][0]["test_acc"].is_null() && found["methods"][0]["mean"].is_null());
    let text = train("karate --layers 2 --epochs 9 --seeds 1 --sampler none --lr 1e30").stdout;
    assert!(text.contains("stopped in epoch 1, convs.1.lin gave a value that is no number"), "{text}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_epoch_and_prints_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.args("train karate --epochs 100000000 --seeds 6 --json --log".split(' ')).arg(&log);
    command.env_remove("SAPWOOD_DATA").current_dir(workspace_root()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let start = Instant::now();
    while std::fs::metadata(&log).map_or(0, |m| m.len()) < 2000 {
        assert!(start.elapsed() < Duration::from_secs(60), "training did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json!([found["interrupted"], found["complete"]]), json!([true, false]));
    let runs = found["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    assert!(runs[0]["epochs"].as_u64().unwrap() > 0 && runs[0]["test_acc"].is_f64());
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.ends_with('\n') && text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

#[test]
fn a_log_replaces_logs_only() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("edges.tsv");
    std::fs::write(&data, "0\t1\n").unwrap();
    assert!(refused(&format!("{SMALL} --seeds 1 --log {}", data.display())).contains("it holds something else"));
    assert_eq!(std::fs::read_to_string(&data).unwrap(), "0\t1\n");
    let log = folder.path().join("log.jsonl");
    for _ in 0..2 {
        assert_eq!(
            train(&format!("{SMALL} --seeds 1 --against none --sampler none --log {}", log.display())).code,
            Some(0)
        );
    }
    assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 4);
}

#[test]
fn features_asked_for_must_be_there() {
    assert!(refused(&format!("{SMALL} --seeds 1 --features tfidf")).contains("none are stored"));
}

#[test]
fn every_sampler_and_choice_runs() {
    let chosen = [
        "--sampler dropedge-arcs --after fixed",
        "--sampler dropnode",
        "--sampler dropmessage",
        "--sampler gca-pagerank --faithful",
        "--sampler dropsens",
        "--sampler ppr-diffusion",
        "--sampler ppr-diffusion+dropedge --diffuse-top 4",
        "--sampler degree --per layer --p 0.5,0.3",
        "--per layer-nested --p 0.5,0.3 --after unbiased",
        "--p-schedule linear:0:0.8 --draw pivotal --stratify none",
        "--draw bernoulli --score inv_degree --beta 4 --curve linear",
        "--draw gumbel --stratify score --score resistance",
        "--min-degree 1 --keep-forest --direction drop --weighted",
        "--p auto --score core",
    ];
    for flags in chosen {
        let ran = train(&format!("{SMALL} --seeds 1 --against none {flags} --json"));
        assert_eq!(ran.code, Some(0), "{flags}: {}", ran.stderr);
        assert_eq!(ran.json().unwrap()["complete"], true, "{flags}");
    }
}

#[test]
fn direction_auto_says_how_it_decided() {
    let ran = train(&format!("{SMALL} --seeds 1 --against none --direction auto --json"));
    let auto = &ran.json().unwrap()["sampler"][1]["auto"];
    assert_eq!(auto["decision"], "too few labelled pairs", "{auto}");
    assert!(ran.stderr.contains("direction auto: too few labelled pairs"), "{}", ran.stderr);
}

#[test]
fn a_sweep_trains_at_every_rate_and_says_what_the_rate_is_worth() {
    let ran = train(&format!("{SMALL} --seeds 2 --sweep p=0.1:0.5:0.2 --json"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let found = ran.json().unwrap();
    let rates: Vec<f64> = found["sweep"].as_array().unwrap().iter().map(|at| at["p"].as_f64().unwrap()).collect();
    assert_eq!(rates, [0.1, 0.3, 0.5]);
    let names = |at: usize| -> Vec<&str> {
        let methods = found["sweep"][at]["methods"].as_array().unwrap();
        methods.iter().map(|m| m["name"].as_str().unwrap()).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["none", "dropedge", "ranked"], vec!["dropedge", "ranked"]));
    for method in 1..3 {
        let means: Vec<f64> = (0..3)
            .map(|at| {
                let methods = found["sweep"][at]["methods"].as_array().unwrap();
                let name = &found["methods"][method]["name"];
                methods.iter().find(|m| m["name"] == *name).unwrap()["mean"].as_f64().unwrap()
            })
            .collect();
        let mean = means.iter().sum::<f64>() / 3.0;
        let sd = (means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / 2.0).sqrt();
        assert!((found["methods"][method]["p_sensitivity"].as_f64().unwrap() - sd).abs() < 1e-12);
    }
    assert!(found["methods"][0]["p_sensitivity"].is_null());
    let text = train(&format!("{SMALL} --seeds 1 --sweep p=0.1,0.5")).stdout;
    assert!(text.contains("sd over p") && text.lines().count() == 6, "{text}");
}

/// The mask that `drop` gives for the key of a run is the one the run trained on: the same number of isolated nodes.
#[test]
fn drop_repeats_the_draws_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    train(&format!("{SMALL} --seeds 2 --against none --log {}", path.display()));
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for seed in ["0", "1"] {
        let of_run = lines.iter().filter(|l| l["method"] == "ranked" && l["seed"] == seed);
        let isolated: Vec<&Value> = of_run.map(|l| &l["isolated"]).collect();
        let line = format!("drop karate --draws 4 --epoch 1 --stats --seed {seed} --json");
        let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).line(&line);
        let draws = program.within(&workspace_root()).run().unwrap().json().unwrap();
        let drawn: Vec<&Value> = draws["draws"].as_array().unwrap().iter().map(|d| &d["isolated"]).collect();
        assert_eq!(isolated, drawn, "seed {seed}");
    }
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let folder = sapwood_testkit::scratch::folder_with(&[("edges.tsv", "0\t\u{1b}[31mred\n")]).unwrap();
    let text = refused(folder.path().to_str().unwrap());
    assert!(text.contains("\\u{1b}[31mred") && !text.contains('\u{1b}'), "{text:?}");
}

/// The structure of a schedule is that of all its epochs, not that of the first.
#[test]
fn structure_follows_a_schedule() {
    let flags = "--seeds 1 --against none --epochs 100 --p-schedule linear:0:0.9 --json";
    let found = train(&format!("karate --layers 2 --hidden 4 --eval-every 50 {flags}")).json().unwrap();
    let ranked = &found["sampler"][1];
    let value = |member: &str| ranked[member].as_f64().unwrap();
    assert!(value("components_mean") > value("isolated_mean"), "{ranked}");
    assert!(value("degree_sd") > 0.0, "{ranked}");
}

#[test]
fn methods_are_compared_with_the_first_where_none_is_not_among_them() {
    let text = train(&format!("{SMALL} --seeds 2 --against dropedge")).stdout;
    assert!(text.contains("vs dropedge") && !text.contains("vs none"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("ranked") && line.contains("needs 6 seeds")), "{text}");
    assert!(train(&format!("{SMALL} --seeds 1")).stdout.contains("vs none"));
}

#[test]
fn rates_that_change_are_not_said_of_every_epoch() {
    let said = |rates: &str| train(&format!("{SMALL} --seeds 1 --sampler dropedge --against none {rates}")).stderr;
    assert!(said("--p 0.3").contains("dropped in each epoch"), "{}", said("--p 0.3"));
    assert!(said("--p-schedule linear:0.1:0.5").contains("dropped in the first epoch"));
    assert!(said("--per layer --p 0.5,0.1").contains("dropped in the first layer"));
}
