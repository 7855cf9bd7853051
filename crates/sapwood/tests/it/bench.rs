//! `sapwood bench` with made-up peers: what it starts, compares and prints. No test here looks at a time.

use sapwood_testkit::{program::Program, scratch};
use serde_json::Value;

/// A path of three nodes: with k = 1, X = (−0.5, −0.3702.., −0.2403..) and A X = (x₁, x₀ + x₂, x₁).
const EDGES: &str = "0\t1\n1\t2\n";

/// The two numbers by which results are compared, for A X of [`EDGES`].
fn sums() -> [f64; 2] {
    let x = |i: u32| f64::from(((f64::from(131 * i % 1009) / 1009.0) - 0.5) as f32);
    let y = [x(1), x(0) + x(2), x(1)];
    [y.iter().sum(), y.iter().map(|v| v.abs()).sum()]
}

/// A peer that answers `check` with `values`; the shell plays Python.
fn peer(system: &str, values: &[f64]) -> String {
    format!(
        r#"echo '{{"ready": true, "system": "{system}", "version": "7.7", "threads": 1}}'
        while read command case times; do
            case $command in
                run) echo '{{"wall_s": 0.5, "cpu_s": 0.25}}' ;;
                check) echo '{{"values": {values:?}}}' ;;
            esac
        done"#
    )
}

/// Runs `bench sparse` on the path with a peer that answers `check` with `values`.
fn against(values: [f64; 2]) -> sapwood_testkit::program::Ran {
    let peer = peer("scipy", &values);
    let folder = scratch::folder_with(&[("g/edges.tsv", EDGES), ("peers/spmm_scipy.py", &peer)]).unwrap();
    Program::new(env!("CARGO_BIN_EXE_sapwood"))
        .within(folder.path())
        .env("SAPWOOD_PYTHON", "/bin/sh")
        .line("bench sparse g --k 1 --reps 3 --peers-dir peers --threads 1 --json")
        .run()
        .unwrap()
}

fn rows(json: &Value) -> Vec<(&str, bool)> {
    let rows = json["measured"]["rows"].as_array().unwrap();
    rows.iter().map(|row| (row["system"].as_str().unwrap(), row["ok"].as_bool().unwrap())).collect()
}

#[test]
fn a_peer_with_the_same_result_is_in_the_table() {
    let ran = against(sums());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let json = ran.json().unwrap();
    assert_eq!((json["schema"].as_str(), json["tool"].as_str()), (Some("sapwood.bench/1"), Some("sparse")));
    assert_eq!(rows(&json), [("sapwood", true), ("sapwood-csr-f32", true), ("scipy", true)]);
    let scipy = &json["measured"]["rows"][2];
    assert_eq!((scipy["n"].as_u64(), scipy["threads"].as_u64(), scipy["reps"].as_u64()), (Some(3), Some(1), Some(3)));
    assert_eq!((scipy["median_wall_s"].as_f64(), scipy["min_cpu_s"].as_f64()), (Some(0.5), Some(0.25)));
    assert_eq!(scipy["distinct_results"].as_u64(), Some(1));
    assert!(json["systems"].as_array().unwrap().iter().any(|s| s["name"] == "scipy" && s["version"] == "7.7"));
    assert_eq!(json.as_object().unwrap().keys().next_back().map(String::as_str), Some("measured"));
}

#[test]
fn a_peer_with_another_result_makes_the_answer_no() {
    let [sum, absolute] = sums();
    let ran = against([sum + 0.001, absolute]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(rows(&ran.json().unwrap()), [("sapwood", true), ("sapwood-csr-f32", true), ("scipy", false)]);
}

#[test]
fn without_python_ours_is_measured_alone_and_the_user_is_told() {
    let folder = scratch::folder_with(&[("g/edges.tsv", EDGES)]).unwrap();
    let bench = |flags: &str| {
        let line = format!("bench sparse g --k 1,3 --reps 1 --threads 2 {flags}");
        Program::new(env!("CARGO_BIN_EXE_sapwood")).within(folder.path()).line(&line).run().unwrap()
    };
    let ran = bench("--json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(rows(&ran.json().unwrap()).len(), 4);
    assert!(ran.stderr.contains("g: peer scipy skipped: no Python at .venv/bin/python"), "{}", ran.stderr);
    let text = bench("--peers none");
    assert!(!text.stderr.contains("skipped") && text.stdout.contains("g k=3"), "{}{}", text.stdout, text.stderr);
}

/// Runs `bench graph` on `graph` (the path is `g`) with the peers `script`, each answering `check` with its `values`.
fn graph_against(flags: &str, peers: &[(&str, &str, &[f64])]) -> sapwood_testkit::program::Ran {
    let scripts: Vec<(String, String)> =
        peers.iter().map(|(name, script, values)| (format!("peers/{script}.py"), peer(name, values))).collect();
    let mut files: Vec<(&str, &str)> = vec![("g/edges.tsv", EDGES)];
    files.extend(scripts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let folder = scratch::folder_with(&files).unwrap();
    Program::new(env!("CARGO_BIN_EXE_sapwood"))
        .within(folder.path())
        .env("SAPWOOD_PYTHON", "/bin/sh")
        .line(&format!("bench graph {flags} --reps 1 --peers-dir peers --threads 1 --json"))
        .run()
        .unwrap()
}

/// PageRank of the path: x₁ = 0.05 + 0.85 (x₀ + x₂) and the three sum to 1.
#[test]
fn ranks_of_the_path_are_those_of_its_equations() {
    let middle = 0.9 / 1.85;
    let end = (1.0 - middle) / 2.0;
    let with = |error: f64| {
        graph_against("rank --graph g --peers scipy,pyg", &[("scipy", "rank_scipy", &[middle, end, end - error])])
    };
    let (ran, off) = (with(1e-9), with(2e-8));
    assert_eq!((ran.code, off.code), (Some(0), Some(1)), "{}{}", ran.stderr, off.stderr);
    let json = ran.json().unwrap();
    let rows = rows(&json);
    assert!(rows.iter().all(|(system, ok)| *ok && *system != "pyg"), "{rows:?}");
    assert_eq!((rows[0].0, rows[rows.len() - 1].0), ("sapwood", "scipy"));
    assert_eq!((json["tool"].as_str(), json["measured"]["rows"][0]["case"].as_str()), (Some("graph"), Some("g rank")));
    assert!(json["measured"]["rows"][0].get("ns_per_pair").is_none());
}

#[test]
fn draws_leave_the_arcs_that_are_expected() {
    // 1.4 arcs stay for each of the pairs, counted from a run without a peer
    let generated = "draw --graph rmat:scale=7,edge=8 --peers";
    let alone = graph_against(&format!("{generated} none"), &[]);
    assert_eq!(alone.code, Some(0), "{}", alone.stderr);
    let json = alone.json().unwrap();
    assert_eq!(rows(&json), [("sapwood", true), ("sapwood", true)]);
    let cases: Vec<&str> =
        json["measured"]["rows"].as_array().unwrap().iter().map(|r| r["case"].as_str().unwrap()).collect();
    assert!(cases[0].ends_with(" draw-ranked") && cases[1].ends_with(" draw-dropedge"), "{cases:?}");
    let row = &json["measured"]["rows"][0];
    let pairs = row["min_wall_s"].as_f64().unwrap() * 1e9 / row["ns_per_pair"].as_f64().unwrap();
    let sigma = 2.0 * (pairs * 0.3 * 0.7).sqrt();
    for (off, code) in [(4.9, 0), (5.1, 1)] {
        let ran = graph_against(&format!("{generated} pyg"), &[("pyg", "draw_pyg", &[1.4 * pairs + off * sigma])]);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    }
}

#[test]
fn unknown_names_are_wrong_use() {
    for (line, says) in [
        (
            "bench sparse --peers scypi",
            "--peers scypi: no such peer\nhint: one of scipy, scipy-inplace, torch, or none",
        ),
        ("bench train --peers none citeseer", "citeseer: no such benchmark\nhint: one of debian, cora, cora-deep"),
        ("bench sparse --reps 0", "'0'"),
        ("bench graph ranks", "ranks: no such benchmark\nhint: one of rank, draw"),
        ("bench graph --peers torch", "hint: one of networkx, igraph, scipy, pyg, or none"),
    ] {
        let ran = Program::new(env!("CARGO_BIN_EXE_sapwood")).line(line).run().unwrap();
        assert_eq!(ran.code, Some(2), "{line}");
        assert!(ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
}

/// Five nodes where `cora` is looked for.
const SMALL_CORA: &[(&str, &str)] = &[
    ("data/cora/edges.tsv", "0\t1\n1\t2\n2\t3\n3\t4\n"),
    ("data/cora/words.tsv", "0\n0 1\n1\n2\n1 2\n"),
    ("data/cora/labels.tsv", "0\t0\n1\t0\n2\t0\n3\t1\n4\t1\n"),
    ("data/cora/split_full.tsv", "0\ttrain\n4\ttrain\n1\tval\n3\tval\n2\ttest\n"),
];

#[test]
fn a_peer_of_the_deep_case_is_told_the_network_and_given_its_weights() {
    let remembers = format!("echo \"$*\" > told; ls \"$3\" > given\n{}", peer("pyg", &[0.0; 5]));
    let files = [SMALL_CORA, &[("peers/epoch_pyg.py", &remembers)]].concat();
    let folder = scratch::folder_with(&files).unwrap();
    let ran = Program::new(env!("CARGO_BIN_EXE_sapwood"))
        .within(folder.path())
        .env("SAPWOOD_PYTHON", "/bin/sh")
        .env("SAPWOOD_DATA", folder.path().join("data"))
        .line("bench train cora-deep --peers pyg --reps 1 --peers-dir peers --threads 1 --json")
        .run()
        .unwrap();
    // No network has five losses of zero.
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let json = ran.json().unwrap();
    assert_eq!(rows(&json), [("sapwood", true), ("pyg", false)]);
    assert_eq!(json["measured"]["rows"][1]["case"], "cora jknet 64×128 train+evaluate");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let told = read("told");
    assert!(told.contains("--model jknet --layers 64 --hidden 128 ") && told.contains("--split full"), "{told}");
    let given = read("given");
    let names: Vec<&str> = given.lines().collect();
    // The first layer, 63 convolutions, and the output layer in 64 parts; each of the three with biases.
    assert_eq!(names.len(), 2 + 2 * 63 + 64 + 1, "{names:?}");
    let last = ["lins.0.weight", "convs.62.lin.weight", "convs.62.bias", "lins.1.63.weight", "lins.1.bias"];
    assert!(last.iter().all(|name| names.contains(&&*format!("{name}.npy"))), "{names:?}");
}

/// `bench/targets.py` on a program that is none: what it measures, and what it writes.
#[cfg(unix)]
#[test]
fn targets_are_shares_in_the_page() {
    use std::os::unix::fs::PermissionsExt;
    let script = sapwood_testkit::workspace_root().join("bench/targets.py");
    let python = || std::process::Command::new("python3");
    if !python().arg("--version").output().is_ok_and(|output| output.status.success()) {
        return sapwood_testkit::data::skipped("no python3");
    }
    let measure = |fingerprint: &str, work: &[&str]| {
        let answer = |fingerprint: &str, arena: u32, rss: u32, epoch: f64| {
            let measured =
                format!(r#""arena_high_water_bytes":{arena},"peak_rss_bytes":{rss},"runs":[{{"epoch_s":{epoch}}}]"#);
            format!(r#"echo '{{"runs":[{{"fingerprint":"{fingerprint}"}}],"measured":{{{measured}}}}}'"#)
        };
        let (full, none) = (answer(fingerprint, 300, 800, 0.3), answer("ab", 1000, 1000, 0.2));
        let program = format!(
            "#!/bin/sh\ncase \"$*\" in\n*'--recompute full'*) {full} ;;\n*'--recompute none'*) {none} ;;\n\
             'train --json -q --threads 2') echo '{{\"runs\":[1,2],\"measured\":{{\"total_s\":210}}}}' ;;\n*) exit 2 ;;\nesac\n"
        );
        let page = "before\n<!-- bench:targets -->\nold\n<!-- /bench:targets -->\nafter\n";
        let folder = scratch::folder_with(&[("sapwood", &program), ("page.md", page)]).unwrap();
        let (program, page) = (folder.path().join("sapwood"), folder.path().join("page.md"));
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ran = python().arg(&script).args([&program, &page]).args(work).args(["--threads", "2"]).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        (ran.status.code(), said.into_owned(), std::fs::read_to_string(page).unwrap())
    };
    let (code, said, page) = measure("ab", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("default job: 2 runs in 210 s, 0.50 of 420 s"), "{said}");
    assert!(
        page.starts_with("before\n<!-- bench:targets -->\n| measured |") && page.ends_with("-->\nafter\n"),
        "{page}"
    );
    for cell in ["seven minutes | 2 | **0.50×** | – | ≤ 1 |", "highest | 2 | **0.30×** | 0.00 | ≤ 0.5 |"] {
        assert!(page.contains(cell), "{cell}: {page}");
    }
    assert!(page.contains("process | 2 | **0.80×**") && page.contains("epoch | 2 | **1.50×**"), "{page}");
    assert!(!page.contains("old") && !page.contains("210"), "{page}");
    assert!(!measure("ab", &["job"]).2.contains("recompute"));
    let (code, said, page) = measure("cd", &["memory"]);
    assert!(code == Some(1) && said.contains("other weights") && page.contains("old"), "{said}{page}");
    assert_eq!(measure("ab", &["jobs"]).0, Some(1));
}

/// The trainer against its plain twin in numpy and scipy: the losses of the first epochs, where a Python has both.
#[test]
fn the_trainer_has_the_losses_of_its_twin() {
    let root = sapwood_testkit::workspace_root();
    let python = std::env::var_os("SAPWOOD_PYTHON").map_or_else(|| root.join(".venv/bin/python"), Into::into);
    let Some(cora) = sapwood_testkit::data::public("cora") else { return };
    let has = std::process::Command::new(&python).args(["-c", "import numpy, scipy"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        return sapwood_testkit::data::skipped("no Python with numpy and scipy (SAPWOOD_PYTHON, or .venv)");
    }
    let ran = Program::new(env!("CARGO_BIN_EXE_sapwood"))
        .within(&root)
        .env("SAPWOOD_PYTHON", &python)
        .env("SAPWOOD_DATA", cora.parent().unwrap())
        .line("bench train cora cora-deep --peers scipy --reps 1 --json")
        .run()
        .unwrap();
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let json = ran.json().unwrap();
    assert_eq!(rows(&json), [("sapwood", true), ("scipy", true)].repeat(3));
}
