//! `sapwood plan MODEL`: the reference instance, what fits nowhere, what is refused, interruption.

use super::{REFERENCE, found, plan, reference, refused};
use sapwood_testkit::program::Program;
use sapwood_testkit::scratch;
use serde_json::{Value, json};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn the_reference_with_one_chunk() {
    let model = reference();
    let few = [&[model.as_str(), "--memory", "56000MB", "--chunks", "1"][..], &REFERENCE].concat();
    let one = [&few[..], &["--moves", "1000000"]].concat();
    let plan = found(&one);
    assert!(number(&plan["makespan"]) <= 93_777.0, "{}", plan["makespan"]);
    assert!(number(&plan["lower_bound"]) >= 88_048.0 && plan["status"] == "feasible" && plan["complete"] == true);
    for stage in plan["stage"].as_array().unwrap() {
        assert!(number(&stage["peak"]) <= 56_000.0 && stage["cap"] == json!(56_000.0), "{stage}");
        let parts = ["static", "activations", "transient"].map(|part| number(&stage[part]));
        assert_eq!(parts.iter().sum::<f64>(), number(&stage["peak"]));
    }
    let same = found(&[&one[..], &["--threads", "2"]].concat());
    assert_eq!(found(&[&one[..], &["--threads", "1"]].concat()), same);
    let seed = |seed| found(&[&few[..], &["--moves", "9000", "--seed", seed]].concat());
    assert_ne!(seed("1")["stage"], seed("2")["stage"]);
}

#[test]
fn the_best_of_several_chunks_and_a_good_second() {
    let model = reference();
    let all = [&[model.as_str(), "--memory", "56000MB", "--moves", "700000"][..], &REFERENCE].concat();
    let best = found(&all);
    let rows = best["considered"].as_array().unwrap();
    let least = rows.iter().filter_map(|row| row["makespan"].as_f64()).fold(f64::INFINITY, f64::min);
    assert_eq!(number(&best["makespan"]), least);
    // One chunk cannot win, and its bound says so.
    let one = rows.iter().find(|row| row["schedule"] == "1f1b").unwrap();
    assert!(one["makespan"].is_null() && number(&one["lower_bound"]) >= least, "{one}");
}

#[test]
fn what_does_not_fit_comes_with_remedies_that_do() {
    let model = reference();
    let with = |more: &[&str]| {
        let flags =
            [&[model.as_str(), "--micro-batches", "32", "--chunks", "1", "--moves", "16000"][..], more].concat();
        plan(&flags)
    };
    let ran = with(&["--stages", "16", "--memory", "13000MB", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let json: Value = ran.json().unwrap();
    let infeasible = &json["infeasible"];
    assert_eq!((&json["status"], &infeasible["stage"]), (&json!("infeasible"), &json!(0)));
    assert_eq!((number(&infeasible["need"]), number(&infeasible["cap"])), (13_680.0, 13_000.0));
    let remedies = infeasible["remedies"].as_array().unwrap();
    assert!(remedies.len() >= 2, "{infeasible}");
    for remedy in remedies {
        let change: Vec<&str> = remedy["change"].as_str().unwrap().split(' ').collect();
        let mut flags = vec!["--stages", "16", "--memory", "13000MB"];
        // A flag of the remedy replaces the one that it changes.
        if let Some(at) = flags.iter().position(|flag| *flag == change[0]) {
            flags.drain(at..at + 2);
        }
        let ran = with(&[&flags[..], &change].concat());
        assert_eq!(ran.code, Some(0), "{change:?}: {}", ran.stderr);
    }
    let text = with(&["--stages", "16", "--memory", "13000MB"]).stdout;
    assert!(text.contains("stage 0 is the tightest") && text.contains("680 MB are missing"), "{text}");
}

#[test]
fn caps_of_stages_and_margins_are_kept() {
    let model = reference();
    let caps: Vec<String> = (0..16).map(|stage| format!("{}MB", 56_000 - 1000 * (stage % 3))).collect();
    let caps = caps.join(",");
    let flags = [&[model.as_str(), "--chunks", "1", "--moves", "16000", "--memory", &caps][..], &REFERENCE].concat();
    let plan = found(&[&flags[..], &["--margin", "3"]].concat());
    for (at, stage) in plan["stage"].as_array().unwrap().iter().enumerate() {
        let cap = 0.97 * (56_000.0 - 1000.0 * (at % 3) as f64);
        assert!((number(&stage["cap"]) - cap).abs() < 1.0 && number(&stage["peak"]) <= cap, "{stage}");
    }
}

#[test]
fn a_named_machine_says_how_much_memory_there_is() {
    let model = reference();
    let flags =
        [&[model.as_str(), "--moves", "0", "--chunks", "4", "--bound", "none", "--json"][..], &REFERENCE].concat();
    let with = |machine: &str, more: &[&str]| {
        let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["plan"]).args(&flags).args(more);
        program.env("SAPWOOD_MACHINE", machine).run().unwrap()
    };
    let cap = |machine: &str, more: &[&str]| with(machine, more).json().unwrap()["stage"][0]["cap"].clone();
    assert_eq!(cap("", &[]), Value::Null);
    assert_eq!(cap("h100-node", &[]), json!(80_000.0));
    assert_eq!(cap("h100-node", &["--machine", "h200-node"]), json!(141_000.0));
    assert_eq!(cap("h100-node", &["--memory", "90GB"]), json!(90_000.0));
    let none = with("laptop-8", &[]);
    assert!(none.code == Some(2) && none.stderr.contains("laptop-8: its devices state no memory"), "{}", none.stderr);
}

#[test]
fn bad_requests_are_named() {
    let model = reference();
    let say = |flags: &[&str]| refused(&[&[model.as_str()], flags].concat());
    assert!(say(&["--micro-batches", "4"]).contains("state --stages"));
    assert!(say(&["--stages", "4"]).contains("--micro-batches M or --global-batch G"));
    assert!(say(&["--stages", "4", "--global-batch", "30", "--dp", "4"]).contains("no multiple of 4"));
    let more = |flags: &[&str]| say(&[&["--stages", "4", "--micro-batches", "8"], flags].concat());
    assert!(more(&["--memory", "56000"]).contains("--memory"));
    assert!(more(&["--memory", "0MB"]).contains("--memory 0MB: a stage needs more than 0"));
    assert!(more(&["--memory", "1GB,2GB"]).contains("2 sizes for 4 stages"));
    assert!(more(&["--chunks", "0"]).contains("--chunks"));
    assert!(more(&["--chunks", "30"]).contains("96 layers for 120 virtual stages: at most 24 chunks on 4 stages"));
    assert!(more(&["--schedule", "1f1c"]).contains("did you mean 1f1b?"));
    let unknown = more(&["--recompute", "fulll"]);
    assert!(unknown.contains("did you mean full?") && unknown.matches("none").count() == 1, "{unknown}");
    assert!(more(&["--margin", "100"]).contains("--margin"));
    assert!(more(&["--gap", "-1"]).contains("--gap"));
    assert!(more(&["--time-limit", "60"]).contains("--time-limit"));
    assert!(more(&["--export", "megatorn=-"]).contains("did you mean megatron?"));
    assert!(more(&["--export", "megatron=-", "--export", "mindformers=x"]).contains("two frameworks"));
    assert!(refused(&["no-such-file.json", "--stages", "2", "--micro-batches", "2"]).contains("no-such-file.json"));
    assert!(refused(&["--stages", "2"]).contains("no model"));
}

#[test]
fn a_time_limit_ends_a_search_and_an_interrupt_keeps_the_plan() {
    let scratch = scratch::folder().unwrap();
    let (model, out) = (reference(), scratch.path().join("plan.json"));
    let long = [&[model.as_str(), "--memory", "56000MB", "--moves", "100000000000"][..], &REFERENCE].concat();
    let ran = plan(&[&long[..], &["--time-limit", "1s", "--json"]].concat());
    let json: Value = ran.json().unwrap();
    assert_eq!((ran.code, &json["complete"], &json["interrupted"]), (Some(0), &json!(false), &json!(false)));
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["plan"]).args(long).args(["--json", "--out"]);
    let ran = program.args([&out]).interrupt_after(std::time::Duration::from_secs(2)).unwrap();
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let json: Value = ran.json().unwrap();
    assert_eq!((&json["complete"], &json["interrupted"]), (&json!(false), &json!(true)));
    let written: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(written["makespan"], json["makespan"]);
    let out = out.to_str().unwrap();
    let again = found(&[&["simulate", model.as_str(), "--memory", "56000MB", "--plan", out][..]].concat());
    assert_eq!(again["makespan"], json["makespan"]);
}

#[test]
fn outputs_go_where_they_can_and_replace_nothing_of_another_kind() {
    let folder = scratch::folder_with(&[("mine.txt", "mine")]).unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let model = reference();
    let say = |more: &[&str]| refused(&[&[model.as_str(), "--moves", "0", "--chunks", "1"], more, &REFERENCE].concat());
    assert!(say(&["-o", &path("mine.txt")]).contains("it holds something else"));
    assert!(say(&["-o", &path("no/plan.json")]).contains("its folder is not there"));
    let export = format!("plan_json={}", path("plan.json"));
    assert!(say(&["-o", &path("plan.json"), "--export", &export]).contains("another output goes there"));
    for export in ["megatron", "mindformers", "plan_json"] {
        let export = format!("{export}={}", path("mine.txt"));
        assert!(say(&["--export", &export]).contains("it holds something else"), "{export}");
    }
    let page = format!("megatron={}", path("page.html"));
    assert!(say(&["--report", &path("page.html"), "--export", &page]).contains("another output goes there"));
    assert!(!folder.path().join("plan.json").exists());
    assert_eq!(std::fs::read_to_string(path("mine.txt")).unwrap(), "mine");
    let many = ["--stages", "4294967295", "--micro-batches", "8"];
    assert!(refused(&[&[model.as_str()], &many[..]].concat()).contains("the model has 98 layers"));
    // A plan replaces a plan, and flags replace flags.
    let (out, yaml) = (path("plan.json"), path("plan.yaml"));
    let export = format!("mindformers={yaml}");
    let flags = [&[model.as_str(), "--moves", "0", "--chunks", "1", "-o", &out, "--export", &export][..], &REFERENCE];
    assert_eq!(found(&flags.concat())["status"], found(&flags.concat())["status"]);
    // An input is never replaced, by whichever name it is called.
    std::fs::copy(&model, path("model.json")).unwrap();
    std::os::unix::fs::symlink(path("model.json"), path("link.json")).unwrap();
    let model = path("model.json");
    let judge = ["simulate", &model, "--plan", &out];
    for (verb, output) in [
        ([&[model.as_str()], &REFERENCE[..]].concat(), vec!["--out", "link.json"]),
        ([&[model.as_str()], &REFERENCE[..]].concat(), vec!["--export", "plan_json=link.json"]),
        ([&[model.as_str(), "--from", &out], &REFERENCE[..]].concat(), vec!["--out", "plan.json"]),
        (judge.to_vec(), vec!["--report", "plan.json"]),
        (
            ["explain"].iter().chain(&judge[1..]).copied().chain(["--against", &yaml]).collect(),
            vec!["--report", "plan.yaml"],
        ),
        (vec!["export", &out], vec!["plan_json=plan.json"]),
    ] {
        let ran = Program::new(env!("CARGO_BIN_EXE_sapwood"))
            .args(["plan"])
            .args(&verb)
            .args(&output)
            .within(folder.path())
            .run()
            .unwrap();
        assert!(ran.code == Some(2) && ran.stderr.contains("it is an input"), "{output:?}: {}", ran.stderr);
    }
    assert!(refused(&["export", &out, "plan_json=-", "--report", &path("new.html")]).contains("make reports"));
    assert!(refused(&["presets", "--report", &path("new.html")]).contains("make reports"));
}

#[test]
fn small_optima_are_proven() {
    let model = |layers: u32| {
        format!(
            "[[segment]]\nname = \"first\"\nkind = \"embedding\"\nforward = 2\nparameters_mem = 8\nactivation = {{ none = 0 }}\n\
             [[segment]]\nname = \"body\"\nkind = \"dense\"\ncount = {layers}\nforward = 10\nparameters_mem = 5\n\
             activation = {{ none = 10, selective = 7, full = 1 }}\nextra = {{ selective = 2, full = 10 }}\n\
             [[segment]]\nname = \"last\"\nkind = \"loss\"\nforward = 12\nparameters_mem = 4\nactivation = {{ none = 0 }}\n"
        )
    };
    // Layers, stages, chunks, micro-batches, memory; the makespan and the cut that an exhaustive search found.
    for (layers, stages, chunks, micro_batches, memory, makespan, cut) in [
        (7, "3", "1", "6", "80", 732.0, vec![2, 3, 2]),
        (8, "3", "1", "6", "80", 804.0, vec![3, 3, 2]),
        (8, "2", "2", "4", "120", 660.0, vec![1, 3, 3, 1]),
        (9, "4", "1", "8", "70", 996.0, vec![2, 2, 3, 2]),
    ] {
        let flags = ["plan", "-", "--stages", stages, "--chunks", chunks, "--micro-batches", micro_batches];
        let proof =
            ["--memory", memory, "--bound", "mip", "--gap", "0", "--moves", "800", "--schedule", "1f1b,interleaved"];
        let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(flags).args(proof).args(["--json"]);
        let ran = program.stdin(model(layers)).run().unwrap();
        let json: Value = ran.json().unwrap();
        assert_eq!((ran.code, &json["makespan"]), (Some(0), &json!(makespan)), "{}", ran.stderr);
        assert_eq!(
            (&json["status"], &json["gap"], &json["lower_bound"]),
            (&json!("optimal"), &json!(0.0), &json!(makespan))
        );
        let mut found: Vec<(u64, u64)> = Vec::new();
        for chunk in json["stage"].as_array().unwrap().iter().flat_map(|stage| stage["chunk"].as_array().unwrap()) {
            let body = chunk["items"].as_array().unwrap().iter().filter(|item| item["segment"] == "body");
            found.push((chunk["virtual"].as_u64().unwrap(), body.map(|item| item["count"].as_u64().unwrap()).sum()));
        }
        found.sort_unstable();
        assert_eq!(found.into_iter().map(|(_, layers)| layers).collect::<Vec<_>>(), cut);
    }
}
