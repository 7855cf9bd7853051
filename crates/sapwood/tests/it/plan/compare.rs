//! `sapwood plan compare` and `presets`; formulas of a model in the project's own TOML.

use super::{REFERENCE, found, plan, reference, refused};
use serde_json::Value;

#[test]
fn no_planner_is_ahead_of_ours() {
    let model = reference();
    let flags = [&["compare", &model, "--memory", "56000MB", "--moves", "200000", "--chunks", "1,2"][..], &REFERENCE];
    let flags = flags.concat();
    let json = found(&flags);
    let rows = json["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["planner"].as_str().unwrap()).collect();
    assert_eq!(names, ["sapwood", "megatron", "pipedream", "merak", "adapipe", "sapp"]);
    let ours = rows[0]["makespan"].as_f64().unwrap();
    assert!(rows[0]["feasible"] == true && rows[0]["ratio"] == 1.0);
    for row in rows {
        let (makespan, ratio) = (row["makespan"].as_f64().unwrap(), row["ratio"].as_f64().unwrap());
        assert!((ratio - makespan / ours).abs() < 1e-12, "{row}");
        // A plan that does not fit may be faster; one that does may not.
        assert!(row["feasible"] == false || ratio >= 1.0, "{row}");
        assert_eq!(row["feasible"].as_bool(), Some(row["peak"].as_f64().unwrap() <= 56_000.0), "{row}");
    }
    // The uniform cut with full recomputation, by hand: the published makespan of all layers full.
    assert_eq!(rows[1]["makespan"].as_f64(), Some(106_272.0));
    let text = plan(&flags).stdout;
    assert!(text.starts_with("planner") && text.lines().count() == 7, "{text}");
}

#[test]
fn planners_without_a_plan_say_why() {
    let model = reference();
    let few = [&["compare", &model, "--memory", "14200MB", "--moves", "800", "--chunks", "2"][..], &REFERENCE].concat();
    let ran = plan(&[&few[..], &["--json"]].concat());
    let json: Value = ran.json().unwrap();
    for row in &json["rows"].as_array().unwrap()[2..] {
        assert!(row["makespan"].is_number() || row["reason"].is_string(), "{row}");
    }
    assert!(json["rows"][4]["reason"].as_str().unwrap().contains("chunks"), "{}", json["rows"][4]);
}

#[test]
fn everything_that_has_a_name_is_listed() {
    let json = found(&["presets", "--all"]);
    let of = |what: &str| json[what].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("schedules"), ["gpipe", "1f1b", "interleaved", "interleaved-lm", "zb-h1"]);
    assert_eq!(of("baselines"), ["megatron", "pipedream", "merak", "adapipe", "sapp"]);
    assert!(of("readers").contains(&"toml") && of("importers").contains(&"megatron_flags"));
    assert!(of("exporters").contains(&"plan_json") && of("recomputation").contains(&"full"));
    let text = plan(&["presets", "--all"]).stdout;
    assert!(of("exporters").iter().all(|name| text.contains(name)), "{text}");
}

#[test]
fn formulas_of_the_own_description() {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../plan/tests/it/example.toml");
    let flags =
        ["explain", model, "--stages", "4", "--micro-batches", "4", "--layout", "E(t*10|)*3t*10mL", "--formulas"];
    let json = found(&flags);
    assert_eq!(json["time_unit"], "ms");
    let all = json["formulas"].as_array().unwrap();
    let of = |name: &str| all.iter().find(|formula| formula["name"] == name).unwrap();
    // 0.4 + 3 x 1.5 + 2 x 9.5 + 8 x 12.5
    assert_eq!(of("F[0]")["value"], 123.9);
    assert_eq!(of("T")["value"], json["makespan"]);
    for stage in json["stage"].as_array().unwrap() {
        assert_eq!(of(&format!("peak[{}]", stage["stage"]))["value"], stage["peak"]);
    }
    let b = &json["bubble"];
    let part = |name: &str| b[name].as_f64().unwrap();
    let sum: f64 = ["ideal", "imbalance", "recompute", "comm"].into_iter().map(part).sum();
    assert!((sum - part("real")).abs() < 1e-9);
    assert!(refused(&["explain", model, "--micro-batches", "4", "--layout", "Et*5|t*5L"]).contains("state them"));
}
