//! `sapwood plan`: known makespans, what is refused, one JSON on any number of threads.

use super::plan;
use sapwood_testkit::program::Ran;
use serde_json::{Value, json};

fn simulate(arguments: &[&str]) -> Ran {
    plan(&[&["simulate"], arguments].concat())
}

fn found(arguments: &[&str]) -> Value {
    super::found(&[&["simulate"], arguments].concat())
}

fn refused(arguments: &[&str]) -> String {
    super::refused(&[&["simulate"], arguments].concat())
}

fn each(found: &Value, member: &str) -> Vec<f64> {
    found["stage"].as_array().unwrap().iter().map(|stage| stage[member].as_f64().unwrap()).collect()
}

#[test]
fn one_chunk_by_hand() {
    let found = found(&["--forward", "[[8,8,8,8.8]]", "--micro-batches", "16", "--schedule", "1f1b"]);
    assert_eq!(found["schema"], "sapwood.plan.simulate/1");
    assert_eq!(found["makespan"], json!(494.4));
    assert_eq!(each(&found, "peak"), [32.0, 24.0, 16.0, 8.8]);
    let part = |name: &str| found["bubble"][name].as_f64().unwrap();
    assert!((part("real") - 0.2561).abs() < 5e-5 && (part("imbalance") - 0.0686).abs() < 5e-5);
    let sum: f64 = ["ideal", "imbalance", "recompute", "comm"].into_iter().map(part).sum();
    assert!((sum - part("real")).abs() < 1e-9);
    // All of the makespan is busy or idle, and the critical path has no gap.
    let whole = ["busy", "idle_warmup", "idle_steady", "idle_drain"].map(|member| each(&found, member));
    for stage in 0..4 {
        assert!((whole.iter().map(|part| part[stage]).sum::<f64>() - 494.4).abs() < 1e-9);
    }
    assert!((each(&found, "critical_share").iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let path = found["critical"].as_array().unwrap();
    assert_eq!((&path[0]["start"], &path[path.len() - 1]["end"]), (&json!(0.0), &json!(494.4)));
    assert!(path.windows(2).all(|pair| pair[0]["end"] == pair[1]["start"]));
}

#[test]
fn chunks_links_and_text() {
    let chunks = ["--forward", "[[2,2,2,2],[1,2,3,3.2]]", "--micro-batches", "8"];
    let with = |more: &[&str]| found(&[&chunks, more].concat());
    assert_eq!((&with(&[])["makespan"], &with(&[])["schedule"]), (&json!(145.8), &json!("interleaved")));
    assert_eq!(with(&["--link-time", "0.5"])["makespan"], json!(149.8));
    let blocking = with(&["--link-time", "0.1", "--link", "blocking"]);
    assert!(blocking["makespan"].as_f64() > with(&["--link-time", "0.1"])["makespan"].as_f64());
    assert_eq!((&blocking["critical"], &blocking["stage"][0]["busy"]), (&json!([]), &Value::Null));
    let seconds = with(&["--time-unit", "ms"]);
    assert_eq!((&seconds["time_unit"], &seconds["makespan_s"]), (&json!("ms"), &json!(0.1458)));
    let text = simulate(&[&chunks[..], &["--timeline"]].concat()).stdout;
    assert!(text.starts_with("interleaved: 4 stages, 2 chunks, 8 micro-batches: makespan 145.8\n"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains(" to ")).count(), 2 * 8 * 8);
    // Columns of few digits, each with as many decimals; JSON tells all.
    let long = ["--forward", "[[1,1.123456789]]", "--micro-batches", "100", "--time-unit", "s"];
    assert_eq!(self::found(&long)["makespan"], json!(340.037_036_7));
    let text = simulate(&long).stdout;
    assert!(text.contains("makespan 340.037 s\n") && text.contains("samples/s per replica"), "{text}");
    let busy = |line: &str| line.split_whitespace().nth(2).unwrap().to_owned();
    assert_eq!(text.lines().skip(2).take(2).map(busy).collect::<Vec<_>>(), ["300.000", "337.037"], "{text}");
    let split = ["--forward", "[[10,10,10,10]]", "--backward", "[[12,12,12,12]]", "--weight", "[[6,6,6,6]]"];
    let split = found(&[&split[..], &["--schedule", "zb-h1", "--micro-batches", "8"]].concat());
    assert_eq!(split["makespan"], json!(272.0));
}

#[test]
fn bad_input_is_named() {
    let one = |forward: &'static str| refused(&["--forward", forward, "--micro-batches", "4"]);
    for forward in ["", "[]", "[[]]", "[[1],[1,2]]", "[[1,\"x\"]]", "[[-1]]", "[[1e400]]", "{}"] {
        assert!(one(forward).contains("--forward"), "{forward}: {}", one(forward));
    }
    assert!(one("[[1e300,1]]").contains("too large"));
    let more = |more: &[&str]| refused(&[&["--forward", "[[1,1],[1,1]]", "--micro-batches", "5"], more].concat());
    assert!(more(&["--schedule", "1f1b"]).contains("it has one chunk per stage"));
    assert!(more(&["--schedule", "interleved"]).contains("did you mean interleaved?"));
    assert!(more(&["--backward", "[[1,1]]"]).contains("--backward: 1 x 2, not 2 x 2"));
    assert!(more(&["--weight", "[[1,1],[1,1]]"]).contains("does not split"));
    assert!(more(&["--group", "uniform:0"]).contains("--group"));
    assert!(more(&["--link-time", "-1"]).contains("--link-time"));
    for without in [&["--recompute", "full"][..], &["--transient"], &["--sapp-time", "total"], &["--allow-empty"]] {
        assert!(more(without).contains("cannot be used with"), "{without:?}");
    }
    assert!(more(&["--dp", "2"]).contains("cannot be used with"));
    let wide = "[[1,1,1,1,1],[1,1,1,1,1],[1,1,1,1,1]]";
    let stuck = refused(&["--forward", wide, "--micro-batches", "7", "--group", "uniform:6"]);
    assert!(stuck.contains("deadlocks, blocked at stage 0: F("), "{stuck}");
}
