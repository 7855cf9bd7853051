//! Long runs: a kill at any moment and `--resume` give the bits of the unbroken run; what is saved can be used.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::workspace_root;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Deep enough to have segments to recompute, batch norms to remember, a schedule and a norm to clip.
const RUNS: &str = "karate --model jknet --layers 5 --hidden 16 --norm-layer batch --epochs 40 --eval-every 3 --seeds 2 \
                    --against none --lr-schedule step:10:0.5 --clip 1 --select val-loss";

fn train(line: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["train"]).line(line);
    program.within(&workspace_root()).run().unwrap()
}

fn refused(line: &str) -> String {
    let ran = train(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
    ran.stderr
}

/// The result of a call that must succeed, without what was measured.
fn found(line: &str) -> Value {
    let ran = train(&format!("{line} --json -q"));
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    ran.json_unmeasured().unwrap()
}

fn start(line: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.arg("train").args(line.split_whitespace()).env_remove("SAPWOOD_DATA").current_dir(workspace_root());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Waits until the log has so many lines.
fn wait_for(log: &Path, count: usize) {
    let start = Instant::now();
    while lines(log).len() < count {
        assert!(start.elapsed() < Duration::from_secs(60), "training did not get so far");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Each epoch of each run stands once in the log.
fn whole(log: &Path, runs: usize, epochs: usize) {
    let all = lines(log);
    let places: BTreeSet<String> =
        all.iter().map(|l| json!([l["method"], l["seed"], l["epoch"]]).to_string()).collect();
    assert_eq!((all.len(), places.len()), (runs * epochs, runs * epochs));
}

#[test]
fn a_killed_experiment_goes_on_to_the_same_bits() {
    let unbroken = found(RUNS);
    for (threads, moments) in [(1, [7, 61, 125]), (2, [23, 90, 158])] {
        let folder = tempfile::tempdir().unwrap();
        let (out, log) = (folder.path().join("runs"), folder.path().join("log.jsonl"));
        let (out, shown) = (out.display(), log.display());
        for (i, moment) in moments.into_iter().enumerate() {
            let how = if i == 0 { "-o" } else { "--resume" };
            let mut child =
                start(&format!("{RUNS} --threads {threads} {how} {out} --checkpoint-every 5 --log {shown}"));
            wait_for(&log, moment);
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let resumed = found(&format!("{RUNS} --threads {threads} --resume {out} --checkpoint-every 5 --log {shown}"));
        assert_eq!(resumed, unbroken);
        whole(&log, 4, 40);
        // Finished runs are not run again.
        assert_eq!(found(&format!("{RUNS} --resume {out}")), unbroken);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_experiment_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (out, log) = (folder.path().join("runs"), folder.path().join("log.jsonl"));
    let line = format!("{RUNS} --log {}", log.display());
    let mut child = start(&format!("{line} -o {}", out.display()));
    wait_for(&log, 25);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(found(&format!("{line} --resume {}", out.display())), found(RUNS));
    whole(&log, 4, 40);
}

#[cfg(unix)]
#[test]
fn an_interrupt_in_the_last_run_is_no_end() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let line = format!("karate --layers 2 --epochs 100000000 --seeds 1 --sampler none --log {}", log.display());
    let mut child = start(&line);
    wait_for(&log, 5);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_directed_graph_stays_directed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let line = "karate --layers 2 --hidden 8 --epochs 9 --seeds 1 --sampler none";
    let run = format!("{line} --directed -o {} --save-predictions {}", at("runs"), at("all.tsv"));
    found(&run);
    found(&format!("predict --from {} -o {}", at("runs"), at("one.tsv")));
    let column = |file: &str, at: usize| -> Vec<String> {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().skip(1).map(|line| line.split('\t').nth(at).unwrap().to_owned()).collect()
    };
    assert_eq!(column(&at("one.tsv"), 1), column(&at("all.tsv"), 2));
    let text = refused(&format!("{line} --resume {}", at("runs")));
    assert!(text.contains("directed: true then, false now"), "{text}");
}

#[test]
fn fewer_seeds_leave_the_log_of_the_others_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (out, log) = (folder.path().join("runs"), folder.path().join("log.jsonl"));
    let line = |seeds: u32| {
        format!("karate --layers 2 --hidden 8 --epochs 4 --seeds {seeds} --sampler none --log {}", log.display())
    };
    found(&format!("{} -o {}", line(3), out.display()));
    found(&format!("{} --resume {}", line(1), out.display()));
    whole(&log, 3, 4);
}

#[test]
fn recomputing_changes_no_bit() {
    let runs = |extra: &str| found(&format!("{RUNS} {extra}"))["runs"].clone();
    let kept = runs("");
    assert_eq!(runs("--recompute full"), kept);
    assert_eq!(runs("--recompute auto --threads 1"), kept);
    let dry = |how: &str| found(&format!("{RUNS} --dry-run --recompute {how}"))["estimate"].clone();
    let (none, full) = (dry("none"), dry("full"));
    assert_eq!(json!([none["recomputed_segments"], full["recomputed_segments"]]), json!([0, full["segments"]]));
    assert!(full["activation_bytes"].as_u64() < none["activation_bytes"].as_u64());
}

#[test]
fn more_epochs_continue_where_no_schedule_looks_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display();
    let of = |epochs: u32| RUNS.replace("--epochs 40", &format!("--epochs {epochs}"));
    found(&format!("{} -o {out}", of(24)));
    assert_eq!(found(&format!("{RUNS} --resume {out}")), found(RUNS));
    let text = refused(&format!("{} --resume {out}", of(24)));
    assert!(text.contains("epochs: 40 then, 24 now"), "{text}");
    let text = refused(&format!("{} --resume {out}", of(50)));
    assert!(text.contains("epochs: 40 then, 50 now (the old number is no multiple of --eval-every"), "{text}");
}

#[test]
fn other_settings_and_damage_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    let small = "karate --layers 2 --hidden 8 --epochs 6 --seeds 1 --sampler none";
    found(&format!("{small} -o {}", out.display()));
    let resume = |line: &str| refused(&format!("{line} --resume {}", out.display()));
    let text = resume("karate --layers 2 --hidden 8 --epochs 6 --seeds 1 --sampler none --lr 0.5 --dropout 0");
    assert!(text.contains("dropout: 0.5 then, 0.0 now; lr: 0.01 then, 0.5 now"), "{text}");
    let text = resume("karate --layers 2 --hidden 8 --epochs 7 --seeds 1 --sampler none --lr-schedule cosine");
    assert!(text.contains("epochs: 6 then, 7 now (a schedule depends on them)"), "{text}");
    let text = resume("sbm:n=30,k=2,in=0.5,out=0.1 --layers 2 --hidden 8 --epochs 6 --seeds 1 --sampler none");
    assert!(text.contains("data: other files"), "{text}");
    assert!(refused(&format!("{small} --resume {}/none", out.display())).contains("no run is saved there"));
    assert!(!out.join("none/lock").exists(), "a folder of something else stays as it is");
    let text = refused(&format!("{small} -o {}", out.display()));
    assert!(text.contains("holds a run of none with seed 0 already; go on with --resume"), "{text}");
    assert!(refused(&format!("{small} --checkpoint-every 0 -o x")).contains("--checkpoint-every must be 1 or more"));
    assert!(refused(&format!("{small} --checkpoint-every 5")).contains("say where with -o DIR"));

    let run = out.join("none/seed-0");
    let weights = run.join("epoch-6/weights.safetensors");
    let bytes = std::fs::read(&weights).unwrap();
    std::fs::write(&weights, &bytes[..bytes.len() - 1]).unwrap();
    let text = resume(small);
    assert!(text.contains("weights.safetensors is damaged"), "{text}");
    std::fs::write(&weights, &bytes).unwrap();
    found(&format!("{small} --resume {}", out.display()));
    let swapped = out.join("none/seed-1");
    std::fs::rename(&run, &swapped).unwrap();
    let text = resume(&small.replace("--seeds 1", "--seeds 2"));
    assert!(text.contains("is a run of none with seed 0, in the folder of another one"), "{text}");
    std::fs::rename(&swapped, &run).unwrap();
    std::fs::write(run.join("latest"), "name = \"epoch-6\"").unwrap();
    assert!(resume(small).contains("latest is damaged"));
    #[cfg(unix)]
    {
        std::fs::remove_file(run.join("latest")).unwrap();
        assert!(Command::new("mkfifo").arg(run.join("latest")).status().unwrap().success());
        assert!(resume(small).contains("named pipe"));
    }
}

#[test]
fn patience_ends_a_run_and_is_told_apart_from_a_break() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display();
    let line = "karate --layers 2 --hidden 8 --epochs 400 --patience 20 --seeds 2 --sampler none";
    let first = found(&format!("{line} -o {out}"));
    for run in first["runs"].as_array().unwrap() {
        let (epochs, best) = (run["epochs"].as_u64().unwrap(), run["best_epoch"].as_u64().unwrap());
        assert!(epochs < 400 && epochs == best + 20, "{run}");
    }
    assert_eq!(first["complete"], true);
    assert_eq!(found(&format!("{line} --resume {out}")), first);
    // Patience is asked after evaluations: a run never ends without one.
    let rare = found("karate --layers 2 --hidden 8 --epochs 400 --eval-every 5 --patience 3 --seeds 1 --sampler none");
    let epochs = rare["runs"][0]["epochs"].as_u64().unwrap();
    assert!(rare["runs"][0]["best_epoch"].is_u64() && epochs.is_multiple_of(5), "{rare}");
}

#[test]
fn patience_that_is_left_goes_on_with_more_epochs() {
    let folder = tempfile::tempdir().unwrap();
    let line = |epochs: u32| format!("karate --layers 2 --epochs {epochs} --patience 1000 --seeds 2 --sampler none");
    found(&format!("{} -o {}", line(10), folder.path().display()));
    assert_eq!(found(&format!("{} --resume {}", line(25), folder.path().display())), found(&line(25)));
}

#[test]
fn what_is_not_said_again_is_as_it_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    let line = "karate --layers 2 --sampler none";
    let first = found(&format!("{line} --epochs 12 --seeds 2 -o {}", folder.path().display()));
    let ran = train(&format!("{line} --resume {} --json", folder.path().display()));
    assert!(ran.stderr.contains("12 epochs and 2 seeds, as saved"), "{}", ran.stderr);
    assert_eq!(ran.json_unmeasured().unwrap(), first);
}

#[test]
fn a_kill_before_the_first_checkpoint_loses_only_the_time() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("none/seed-0/epoch-2.tmp")).unwrap();
    let ran =
        train(&format!("karate --layers 2 --epochs 4 --seeds 1 --sampler none --resume {}", folder.path().display()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing is saved there yet, all runs begin"), "{}", ran.stderr);
    assert!(folder.path().join("none/seed-0/epoch-4").is_dir());
}

#[test]
fn a_file_of_probabilities_is_part_of_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keep.tsv");
    let line = |epochs: u32| {
        let keep = file.display();
        format!("karate --layers 2 --epochs {epochs} --seeds 1 --against none --always-keep {keep}")
    };
    std::fs::write(&file, "0\t1\n").unwrap();
    found(&format!("{} -o {}/runs", line(4), folder.path().display()));
    let resume = format!("{} --resume {}/runs", line(8), folder.path().display());
    std::fs::write(&file, "0\t2\n").unwrap();
    let text = refused(&resume);
    assert!(text.contains("was made with other settings (say the same again): always_keep_sha256"), "{text}");
    std::fs::write(&file, "0\t1\n").unwrap();
    found(&resume);
}

#[test]
fn a_saved_network_classifies_as_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let line = format!("{RUNS} -o {} --save-predictions {}", at("runs"), at("all.tsv"));
    let trained = found(&line);
    let all = std::fs::read_to_string(at("all.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = all.lines().map(|l| l.split('\t').collect()).collect();
    assert_eq!(rows[0], ["node", "label", "none:0", "none:1", "ranked:0", "ranked:1"]);
    assert_eq!(rows.len(), 35);
    let from = at("runs/ranked/seed-1");
    let told = found(&format!("predict --from {from} -o {}", at("one.tsv")));
    assert_eq!(told["schema"], "sapwood.train.predict/1");
    let run = &trained["runs"][3];
    assert_eq!(json!([told["test_acc"], told["model"]["epoch"]]), json!([run["test_acc"], run["best_epoch"]]));
    let one = std::fs::read_to_string(at("one.tsv")).unwrap();
    let predicted: Vec<&str> = one.lines().skip(1).map(|l| l.split('\t').nth(1).unwrap()).collect();
    assert_eq!(predicted, rows[1..].iter().map(|row| row[5]).collect::<Vec<_>>());
    assert_eq!(train(&format!("predict --from {from}")).stdout, one);
    let text = refused(&format!("predict --from {}", at("runs")));
    assert!(text.contains("4 runs are saved there") && text.contains("none/seed-0"), "{text}");
    let text = refused(&format!("predict --from {}", at("runs/ranked")));
    assert!(text.contains("2 runs are saved there") && text.contains("ranked/seed-1"), "{text}");
    assert!(refused(&format!("predict --from {from} --report x.html")).contains("predict makes none"));
    let before = std::fs::read(at("runs/ranked/seed-1/latest")).unwrap();
    assert!(refused(&format!("predict --from {from} -o {from}/latest")).contains("it holds something else"));
    assert_eq!(std::fs::read(at("runs/ranked/seed-1/latest")).unwrap(), before);
    assert!(refused(&format!("predict --from {}", at("nothing"))).contains("no run is saved there"));
    let told = |data: &str| train(&format!("predict --from {from} {data}")).stderr;
    assert!(!told("").contains("not the data"), "{}", told(""));
    std::fs::create_dir(at("other")).unwrap();
    for file in ["edges.tsv", "labels.tsv", "split.tsv"] {
        std::fs::copy(workspace_root().join("data/karate").join(file), format!("{}/{file}", at("other"))).unwrap();
    }
    let labels = std::fs::read_to_string(format!("{}/labels.tsv", at("other"))).unwrap();
    std::fs::write(format!("{}/labels.tsv", at("other")), labels.replacen("\t0", "\t1", 1)).unwrap();
    assert!(told(&at("other")).contains("not the data that the network was trained on"), "{}", told(&at("other")));
    let text = refused(&format!("predict --from {from} sbm:n=30,k=2,in=0.5,out=0.1"));
    assert!(text.contains("feature columns"), "{text}");
}

#[test]
fn a_sweep_is_saved_rate_by_rate() {
    let folder = tempfile::tempdir().unwrap();
    let line = "karate --layers 2 --hidden 8 --epochs 6 --seeds 2 --sweep p=0.2,0.4";
    let text = refused(&format!("{line} --resume {}/nothing", folder.path().display()));
    assert!(text.contains("no run is saved there"), "{text}");
    let first = found(&format!("{line} -o {}", folder.path().display()));
    assert!(folder.path().join("p-0.4/ranked/seed-1/latest").is_file());
    assert_eq!(found(&format!("{line} --resume {}", folder.path().display())), first);
}

#[test]
fn one_process_saves_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (out, log) = (folder.path().join("runs"), folder.path().join("log.jsonl"));
    let line = "karate --layers 2 --epochs 100000000 --seeds 1 --sampler none --checkpoint-every 100000000";
    let mut child = start(&format!("{line} -o {} --log {}", out.display(), log.display()));
    wait_for(&log, 5);
    for how in ["-o", "--resume"] {
        let text = refused(&format!("{line} {how} {}", out.display()));
        assert!(text.contains("is in use by another process"), "{text}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    found(&format!("karate --layers 2 --epochs 3 --seeds 1 --sampler none -o {}", out.display()));
}

#[test]
fn files_of_another_kind_are_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edges.tsv");
    std::fs::write(&path, "0\t1\n").unwrap();
    for flag in ["--save-predictions", "--report", "--log"] {
        let text = refused(&format!("karate --layers 2 --epochs 2 --seeds 1 {flag} {}", path.display()));
        assert!(text.contains("edges.tsv") && text.contains("it holds something else"), "{flag}: {text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "0\t1\n", "{flag}");
    }
}

#[test]
fn places_are_looked_at_before_anything_is_trained() {
    let line = "karate --layers 2 --epochs 100000000 --seeds 1 --sampler none";
    for (flags, why) in [
        ("--save-predictions /nosuch/p.tsv", "its folder is not there"),
        ("--save-predictions .", "it is a folder"),
        ("--save-predictions -", "not standard output"),
        ("--report -", "not standard output"),
        ("--log -", "not standard output"),
        ("--report r.html --log r.html", "--log r.html: --report goes there too"),
    ] {
        let text = refused(&format!("{line} {flags}"));
        assert!(text.contains(why), "{flags}: {text}");
    }
}

#[test]
fn a_sweep_that_breaks_says_where() {
    let ran = train("karate --layers 2 --epochs 3 --seeds 1 --against none --lr 1e38 --sweep p=0.1,0.5");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("p=0.5 ranked seed 0: stopped in epoch 1, "), "{}", ran.stdout);
}

#[test]
fn a_run_that_breaks_at_once_is_told_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let line = "karate --layers 2 --epochs 4 --seeds 2 --sampler none --lr 1e38";
    let ran = train(&format!("{line} --save-predictions {} -o {}", at("p.tsv"), at("runs")));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("stopped in epoch 1,") && !ran.stdout.contains("results kept"), "{}", ran.stdout);
    let text = std::fs::read_to_string(at("p.tsv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("node\tlabel\tnone:0\tnone:1"));
    assert!(lines.all(|line| line.ends_with("\t-1\t-1")), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_comes_before_a_file_that_cannot_be_written() {
    let ran = train("karate --layers 2 --epochs 3 --seeds 1 --sampler none --save-predictions /dev/full");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stdout.contains("epoch chosen by") && ran.stderr.contains("/dev/full"), "{}{}", ran.stdout, ran.stderr);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sapwood"));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    assert_eq!(command.args(["train", "nosuch"]).stderr(full).status().unwrap().code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_no_run_and_is_told() {
    // A folder that cannot be written stands for a full disk; root may write anywhere, so a file is in the way.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    std::fs::create_dir_all(out.join("none")).unwrap();
    std::fs::write(out.join("none/seed-0"), "in the way").unwrap();
    let line = format!("karate --layers 2 --hidden 8 --epochs 6 --seeds 1 --sampler none -o {}", out.display());
    let ran = train(&line);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("seed-0"), "{}", ran.stderr);
}
