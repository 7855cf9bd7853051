//! `sapwood rank`: known values, files, restarts, what is refused.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::scratch::{folder, folder_with};
use sapwood_testkit::workspace_root;
use serde_json::{Value, json};

fn rank(line: &str) -> Ran {
    Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["rank"]).line(line).within(&workspace_root()).run().unwrap()
}

fn ranked(line: &str) -> Value {
    let ran = rank(&format!("{line} --json -q"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}");
    ran.json().unwrap()
}

fn refused(line: &str) -> String {
    let ran = rank(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
    ran.stderr
}

/// Score of each node; `--top` must have been large enough.
fn scores(found: &Value, nodes: usize) -> Vec<f64> {
    let mut of = vec![f64::NAN; nodes];
    for top in found["top"].as_array().unwrap() {
        of[top["node"].as_u64().unwrap() as usize] = top["score"].as_f64().unwrap();
    }
    of
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-10, "{found} instead of {expected}");
}

#[test]
fn karate_has_its_known_ranks() {
    let found = ranked("data/karate --top 34 --tol 1e-14");
    let members = "schema by alpha iterations residual error_bound converged sum dangling top spearman_degree";
    let keys: Vec<&str> = found.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, members.split(' ').collect::<Vec<_>>());
    let of = scores(&found, 34);
    let known = [
        (0, 0.096997285388),
        (1, 0.052876924061),
        (2, 0.057078509488),
        (3, 0.035859857786),
        (32, 0.071693226006),
        (33, 0.100919182333),
    ];
    known.iter().for_each(|&(node, score)| near(of[node], score));
    assert_eq!(
        (&found["schema"], &found["by"], &found["dangling"]),
        (&json!("sapwood.rank/1"), &json!("pagerank"), &json!(0))
    );
    assert_eq!(found["top"][0]["node"], 33);
    assert_eq!(found["top"][0]["degree"], 17);
    near(found["sum"].as_f64().unwrap(), 1.0);
    assert!((found["spearman_degree"].as_f64().unwrap() - 0.9789).abs() < 1e-4);
    let usual = ranked("data/karate");
    assert_eq!((usual["top"].as_array().unwrap().len(), &usual["iterations"]), (20, &json!(60)));
    assert!(usual["error_bound"].as_f64().unwrap() < 1e-9);
}

#[test]
fn six_nodes_with_a_sink() {
    let arcs = "0 1\n0 2\n2 0\n2 1\n2 4\n3 4\n3 5\n4 3\n4 5\n5 3\n";
    let set = folder_with(&[("arcs.tsv", arcs)]).unwrap();
    let path = set.path().to_str().unwrap();
    let known = [0.037211965078, 0.053957349363, 0.041505653356, 0.375080815110, 0.205998331877, 0.286245885215];
    for method in ["power", "gauss-seidel"] {
        let found = ranked(&format!("{path} --directed --alpha 0.9 --tol 1e-13 --method {method}"));
        assert_eq!((&found["dangling"], &found["alpha"]), (&json!(1), &json!(0.9)));
        scores(&found, 6).iter().zip(known).for_each(|(&found, known)| near(found, known));
    }
    // what a sink holds goes to node 3 instead of anywhere: node 0 loses, node 3 gains
    let sink = folder_with(&[("to.tsv", "3\n")]).unwrap();
    let to = sink.path().join("to.tsv");
    let moved = scores(&ranked(&format!("{path} --directed --alpha 0.9 --dangling {}", to.display())), 6);
    assert!(moved[0] < known[0] && moved[3] > known[3], "{moved:?}");
}

#[test]
fn restarts_go_where_they_are_sent() {
    let k4 = folder_with(&[
        ("edges.tsv", "0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n"),
        ("r.tsv", "# weights\n0\n1\t1\n2\t4\n3\t4\n"),
        ("one.tsv", "3\n"),
    ])
    .unwrap();
    let path = k4.path().to_str().unwrap();
    let of = scores(&ranked(&format!("{path} --reset {path}/r.tsv --tol 1e-14")), 4);
    of.iter().zip([0.232467532468, 0.232467532468, 0.267532467532, 0.267532467532]).for_each(|(&a, b)| near(a, b));
    let of = scores(&ranked(&format!("{path} --reset {path}/one.tsv --tol 1e-14")), 4);
    of.iter().zip([0.220779220779, 0.220779220779, 0.220779220779, 0.337662337662]).for_each(|(&a, b)| near(a, b));
    // nine nodes of karate train: each gets at least its share of the restarts
    let of = scores(&ranked("data/karate --reset train --top 34"), 34);
    assert!((0..34).step_by(4).all(|node| of[node] > 0.15 / 9.0));
}

#[test]
fn the_file_holds_every_score_to_the_last_bit() {
    let out = folder().unwrap();
    let path = out.path().join("ranks.tsv");
    let found = ranked(&format!("data/karate --by both --top 34 -o {}", path.display()));
    let of = scores(&found, 34);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 34);
    for (node, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!((fields.len(), fields[0]), (3, node.to_string().as_str()));
        assert_eq!(fields[1].parse::<f64>().unwrap(), of[node]);
    }
    assert_eq!(text.lines().next().unwrap().split('\t').nth(2), Some("16"));
    ranked(&format!("data/karate -o {}", path.display()));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().next().unwrap().split('\t').count(), 2);
}

#[test]
fn edges_are_ranked_by_a_score() {
    let out = folder().unwrap();
    let path = out.path().join("edges.tsv");
    let found = ranked(&format!("data/karate --edges two_stage --top 2 -o {}", path.display()));
    assert_eq!(
        (&found["by"], &found["spearman_degree"], &found["alpha"]),
        (&json!("two_stage"), &Value::Null, &Value::Null)
    );
    let top = &found["top"][0];
    assert_eq!((&top["u"], &top["v"]), (&json!(32), &json!(33)));
    near(top["score"].as_f64().unwrap(), 0.038611313040);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 78);
    let [u, v, score] = text.lines().next().unwrap().split('\t').collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert_eq!((u, v), ("0", "1"));
    near(score.parse().unwrap(), 0.028921642621);
}

#[test]
fn every_centrality_of_the_registry_has_a_ranking() {
    for entry in sapwood::graph::centrality::ALL {
        let restarts = if entry.name == "personalised" { "--reset train" } else { "" };
        let found = ranked(&format!("data/karate --by {} {restarts} --top 1", entry.name));
        assert_eq!((&found["by"], &found["converged"]), (&json!(entry.name), &json!(true)));
    }
    let help = rank("--help").stdout;
    assert!(sapwood::graph::centrality::ALL.iter().all(|e| help.contains(e.name)) && help.contains("both"), "{help}");
}

#[test]
fn the_best_nodes_of_cora() {
    let Some(cora) = sapwood_testkit::data::public("cora") else { return };
    let found = ranked(&format!("{} --top 5 --tol 1e-14", cora.display()));
    let known = [
        (1358, 0.012210533823),
        (1701, 0.006237197834),
        (1986, 0.005341411050),
        (306, 0.005069680306),
        (1810, 0.003625788211),
    ];
    for (i, (node, score)) in known.into_iter().enumerate() {
        assert_eq!(found["top"][i]["node"], node);
        near(found["top"][i]["score"].as_f64().unwrap(), score);
    }
}

#[test]
fn an_iteration_that_does_not_converge_still_answers() {
    let ran = rank("data/karate --max-iter 3 --json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let found = ran.json().unwrap();
    assert_eq!((&found["converged"], &found["iterations"]), (&json!(false), &json!(3)));
    assert_eq!(found["top"].as_array().unwrap().len(), 20);
    assert!(rank("data/karate --max-iter 3").stdout.contains("NOT converged"));
}

#[test]
fn threads_do_not_matter() {
    let of = |threads: u32| ranked(&format!("data/karate --top 34 --threads {threads}"));
    assert!([2, 3].iter().all(|&threads| of(threads) == of(1)));
}

#[test]
fn what_is_wrong_is_named() {
    for alpha in ["1", "-0.1", "NaN", "inf"] {
        let message = refused(&format!("data/karate --alpha {alpha}"));
        assert!(message.starts_with("error: --alpha must be at least 0 and below 1, not"), "{message}");
    }
    assert!(refused("data/karate --tol 0").contains("--tol must be positive"));
    assert!(refused("data/karate --max-iter 0").contains("--max-iter must be at least 1"));
    let unknown = refused("data/karate --by pagerang");
    assert!(unknown.contains("did you mean 'pagerank'?") && unknown.contains("both"), "{unknown}");
    assert!(refused("data/karate --edges twostage").contains("did you mean 'two_stage'?"));
    assert!(refused("data/karate --edges flow --by degree").contains("cannot be used with"));
    assert!(refused("data/karate --edges flow --reset train").contains("not for --edges"));
    assert!(refused("data/karate --split x --reset train").contains("unknown split 'x'"));
    let files = [
        ("0\n1 2 3\n", ":2: more than 2 columns"),
        ("0\n34\n", ":2: node 34 does not exist, the graph has 34"),
        ("-1\n", ":1: node id -1 is negative"),
        ("0 -1\n", ":1: weight -1 is negative"),
        ("0 nan\n", ":1: nan is not a finite number"),
        ("0\n# again\n0\n", ":3: node 0 stands already in line 1"),
        ("0 0\n", "no node has a weight above 0"),
        ("", "no node has a weight above 0"),
    ];
    for (text, expected) in files {
        let set = folder_with(&[("nodes.tsv", text)]).unwrap();
        let path = set.path().join("nodes.tsv");
        for flag in ["--reset", "--dangling"] {
            let message = refused(&format!("data/karate {flag} {}", path.display()));
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }
    assert!(refused("data/karate --reset nowhere.tsv").contains("there is no such file"));
}

#[test]
fn restarts_are_for_pagerank() {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).line("rank data/karate --by degree --reset train");
    let ran = program.within(&workspace_root()).run().unwrap();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("--reset and --dangling are for PageRank, not for --by degree"), "{}", ran.stderr);
}
