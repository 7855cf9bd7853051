//! `sapwood plan calibrate`: costs of known measurements, what is missing, the way from a guide to costs.

use sapwood_testkit::program::{Program, Ran};
use serde_json::{Value, json};

const TWO_RUNS: &str = "stages = 4\nlayers = 80\nkinds = [\"full\"]\nconstant = false\n[unit]\nmemory = \"MB\"\n\
    [[run]]\nlayers = [20, 21, 19, 20]\nfull = [1, 2, 1, 1]\npeak = [66502, 52536, 35595, 25599]\n\
    [[run]]\nlayers = [20, 19, 21, 20]\nfull = [1, 3, 4, 1]\npeak = [\"-\", 45439, 35700, \"-\"]\n";

fn calibrate(arguments: &[&str], stdin: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["plan", "calibrate"]).args(arguments);
    program.stdin(stdin.to_owned()).run().unwrap()
}

fn found(arguments: &[&str], stdin: &str) -> Value {
    let ran = calibrate(&[arguments, &["--json"]].concat(), stdin);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    ran.json().unwrap()
}

#[test]
fn memory_of_two_runs() {
    let costs = found(&["memory", "-"], TWO_RUNS);
    assert_eq!(costs["schema"], "sapwood.plan.calibrate/1");
    let near =
        |value: &Value, expected: f64| assert!((value.as_f64().unwrap() - expected).abs() < 0.01, "{value} {expected}");
    for (name, value) in [("parameters", 448.37), ("activation.none", 743.89), ("activation.full", 128.44)] {
        near(&costs["unknowns"][name]["value"], value);
        assert!(costs["unknowns"][name]["ci95"].as_f64().unwrap() > 0.0);
    }
    near(&costs["head"], 485.41);
    near(&costs["tail"], 2369.32);
    near(&costs["residual"][2], 57.44);
    assert_eq!((&costs["rank"], &costs["memory_unit"], &costs["missing"]), (&json!(3), &json!("MB"), &json!([])));
    let text = calibrate(&["memory", "-"], TWO_RUNS).stdout;
    assert!(
        text.starts_with("cost             value MB  ± 95 %  moves by") && text.contains("parameters_mem = 448.36"),
        "{text}"
    );
}

#[test]
fn what_is_open_is_said_with_exit_code_1() {
    let open = TWO_RUNS.replace("full = [1, 2, 1, 1]", "").replace("full = [1, 3, 4, 1]", "");
    let ran = calibrate(&["memory", "-"], &open);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    assert_eq!(
        ran.stdout,
        "the measurements do not determine the costs: they have rank 2, and 3 costs are unknown\n\
         activation.full is in no measurement\n\
         measure the peak of stage 1 of a further run, with 21 layers, 1 of them full\n"
    );
    let json = calibrate(&["memory", "-", "--json"], &open).json().unwrap();
    assert_eq!((&json["unknowns"]["parameters"], &json["inseparable"]), (&Value::Null, &json!([["activation.full"]])));
    assert_eq!((&json["missing"][0]["stage"], &json["missing"][0]["recompute"]), (&json!(1), &json!({"full": [1]})));
    let with = calibrate(&["memory", "-"], &TWO_RUNS.replace("constant = false", "schedule = \"gpipe\""));
    assert_eq!(with.code, Some(2));
    assert!(with.stderr.contains("write micro_batches"), "{}", with.stderr);
    let gpipe = calibrate(&["memory", "-", "--schedule", "gpipe", "--micro-batches", "8", "--no-constant"], TWO_RUNS);
    assert!(gpipe.code == Some(1) && gpipe.stderr.contains("take another schedule"), "{gpipe:?}");
}

#[test]
fn from_a_guide_to_costs() {
    let guide = calibrate(&["guide", "--stages", "6", "--layers", "40", "--recompute", "selective,full"], "");
    assert_eq!((guide.code, guide.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        calibrate(&["--guide", "--stages", "6", "--layers", "40", "--recompute", "selective,full"], "").stdout,
        guide.stdout
    );
    // Constant 700, parameters 1710, activations 994, 739, 32; stage s keeps 6 - s micro-batches.
    let mut text = String::new();
    let mut lists: Vec<Vec<u64>> = Vec::new();
    for line in guide.stdout.lines() {
        if let Some((_, list)) =
            line.split_once(" = [").filter(|(key, _)| ["layers", "selective", "full"].contains(key))
        {
            lists.push(list.trim_end_matches(']').split(", ").map(|n| n.parse().unwrap()).collect());
        }
        if line.starts_with("peak") {
            let [layers, selective, full] = &std::mem::take(&mut lists)[..] else { panic!("{text}") };
            let peak = |s: usize| {
                let kept = 994 * (layers[s] - selective[s] - full[s]) + 739 * selective[s] + 32 * full[s];
                700 + 1710 * layers[s] + (6 - s as u64) * kept + [9236, 0, 0, 0, 0, 5794][s]
            };
            text += &format!("peak = {:?}\n", (0..6).map(peak).collect::<Vec<u64>>());
        } else {
            text += &format!("{line}\n");
        }
    }
    let costs = found(&["memory", "-"], &text);
    let expected = [
        ("constant", 700.0),
        ("parameters", 1710.0),
        ("activation.none", 994.0),
        ("activation.selective", 739.0),
        ("activation.full", 32.0),
    ];
    for (name, value) in expected {
        assert!((costs["unknowns"][name]["value"].as_f64().unwrap() - value).abs() < 1e-6, "{name} {costs}");
    }
    assert!(
        (costs["head"].as_f64().unwrap() - 9936.0).abs() < 1e-6
            && (costs["tail"].as_f64().unwrap() - 6494.0).abs() < 1e-6
    );
    let refused = calibrate(&["guide", "--stages", "8", "--layers", "7"], "");
    assert!(refused.code == Some(2) && refused.stderr.contains("7 layers on 8 chunks"), "{refused:?}");
}

#[test]
fn times_of_traces() {
    let table = "layer,direction,duration_ms\n".to_owned() + &"dense,forward,2\ndense,backward,4.5\n".repeat(5);
    let times = found(&["times", "-"], &table);
    assert_eq!((&times["schema"], &times["time_unit"]), (&json!("sapwood.plan.calibrate.times/1"), &json!("ms")));
    let row = json!({"layer": "dense", "direction": "backward", "recompute": null, "median": 4.5, "count": 3, "outliers": 0, "warm_up": 2});
    assert_eq!(times["times"][1], row);
    let text = calibrate(&["times", "-", "--warm-up", "0", "--layer", "body=den*"], &table).stdout;
    assert!(text.contains("body   backward   4.500000") && text.contains("name = \"body\"\n"), "{text}");
    let forward = calibrate(&["times", "-"], "[{\"ph\":\"X\",\"name\":\"fwd a\",\"ts\":1,\"dur\":1}]");
    assert_eq!((forward.code, forward.stdout.as_str()), (Some(2), ""));
    assert!(forward.stderr.contains("a has no backward events, such as backward:a"), "{}", forward.stderr);
    assert_eq!(calibrate(&["times", "-", "--layer", "x"], &table).code, Some(2));
    assert_eq!(calibrate(&["times", "no-such-file"], "").code, Some(2));
}
