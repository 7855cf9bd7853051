//! `sapwood drop`: what draws do to a graph, files of them, what users of other programs ran into, what is refused.

use sapwood_files::npy::{self, Data};
use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::scratch::{folder, folder_with};
use sapwood_testkit::workspace_root;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn drop(line: &str) -> Ran {
    Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["drop"]).line(line).within(&workspace_root()).run().unwrap()
}

fn drawn(line: &str) -> Value {
    let ran = drop(&format!("{line} --json -q"));
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{line}");
    ran.json().unwrap()
}

fn refused(line: &str) -> String {
    let ran = drop(line);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}: {}", ran.stderr);
    ran.stderr
}

/// The files of a call, in the order of the draws.
fn files(found: &Value) -> Vec<PathBuf> {
    let draws = found["draws"].as_array().unwrap();
    draws.iter().map(|draw| PathBuf::from(draw["kept_file"].as_str().unwrap())).collect()
}

/// One file of one draw.
fn file(line: &str, form: &str, out: &Path) -> PathBuf {
    files(&drawn(&format!("{line} --write {form} -o {}", out.display()))).remove(0)
}

fn mask(path: &Path) -> Vec<bool> {
    let array = npy::read(path).unwrap();
    match array.data {
        Data::Bool(mask) if array.shape == [mask.len()] => mask,
        other => panic!("{other:?}"),
    }
}

fn ids(path: &Path) -> Vec<i64> {
    match npy::read(path).unwrap().data {
        Data::I64(ids) => ids,
        other => panic!("{other:?}"),
    }
}

/// Lines of numbers, comments left out.
fn lines(path: &Path) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split('\t').map(|field| field.parse().unwrap()).collect();
    text.lines().filter(|line| !line.starts_with('#')).map(numbers).collect()
}

#[test]
fn the_object_has_the_members_of_its_schema() {
    let found = drawn("data/karate --draws 3 --epoch 5");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let members =
        "schema sampler units k p achieved_p isolated_expected q draws degree_sd spectral_gap frequency_max_z";
    assert_eq!(keys(&found), members);
    assert_eq!(keys(&found["q"]), "min mean max offset");
    assert_eq!(keys(&found["draws"][0]), "draw epoch dropped isolated components largest kept_file");
    assert_eq!(
        (&found["schema"], &found["sampler"], &found["k"]),
        (&json!("sapwood.drop/1"), &json!("ranked"), &json!(23))
    );
    assert!((found["q"]["offset"].as_f64().unwrap() + 1.132509900899).abs() < 1e-10);
    let epochs: Vec<&Value> = found["draws"].as_array().unwrap().iter().map(|d| &d["epoch"]).collect();
    assert_eq!(epochs, [5, 6, 7]);
    assert_eq!(found["draws"][2], {
        let mut alone = drawn("data/karate --epoch 7")["draws"][0].clone();
        alone["draw"] = json!(2);
        alone
    });
    assert_eq!((&drawn("data/karate")["degree_sd"], &found["frequency_max_z"]), (&Value::Null, &Value::Null));
}

/// Units go as often as they should.
#[test]
fn frequencies_over_a_thousand_draws() {
    let z = drawn("data/karate --draws 1000")["frequency_max_z"].as_f64().unwrap();
    assert!((1.5..4.5).contains(&z), "{z}");
    // not where the draw is known to have other marginals
    let z = drawn("data/karate --draws 1000 --draw gumbel --p 0.7")["frequency_max_z"].as_f64().unwrap();
    assert!(z > 6.0, "{z}");
}

/// A mask has one entry for each unit of the input, ids ascend, and both say the same.
#[test]
fn masks_and_ids_align_with_the_input() {
    let out = folder().unwrap();
    let line = "data/karate --epoch 3 --seed 4";
    let (mask, ids) = (mask(&file(line, "mask", out.path())), ids(&file(line, "ids", out.path())));
    assert_eq!((mask.len(), ids.len()), (78, 55));
    assert!(ids.windows(2).all(|w| w[0] < w[1]));
    assert!((0..78).all(|e| mask[e] == ids.contains(&(e as i64))));
    // the edges that stay are those of the input at the ids
    let input = drawn_ends();
    let kept: Vec<Vec<f64>> = ids.iter().map(|&e| input[e as usize].clone()).collect();
    assert_eq!(lines(&file(line, "edges", out.path())), kept);
    let other = file("data/karate --epoch 4 --seed 4", "mask", out.path());
    assert_ne!(mask, self::mask(&other));
    assert_eq!(mask, self::mask(&file(&format!("{line} --threads 3"), "mask", out.path())));
}

/// The pairs of karate in the order of their ids.
fn drawn_ends() -> Vec<Vec<f64>> {
    let out = folder().unwrap();
    lines(&file("data/karate --p 0", "edges", out.path()))
}

#[test]
fn an_archive_holds_mask_ids_and_ends() {
    let out = folder().unwrap();
    let bytes = std::fs::read(file("data/karate", "npz", out.path())).unwrap();
    assert_eq!((&bytes[..4], &bytes[bytes.len() - 22..][..4]), (&b"PK\x03\x04"[..], &b"PK\x05\x06"[..]));
    for name in ["mask.npy", "ids.npy", "u.npy", "v.npy"] {
        let found = bytes.windows(name.len()).filter(|w| *w == name.as_bytes()).count();
        assert_eq!(found, 2, "{name}"); // local header and directory
    }
    assert_eq!(bytes, std::fs::read(file("data/karate", "npz", out.path())).unwrap());
}

#[test]
fn scores_agree_with_the_probabilities_of_the_draw() {
    let out = folder().unwrap();
    let found = drawn(&format!("data/karate --write scores -o {}", out.path().display()));
    assert_eq!(found["draws"][0]["kept_file"], Value::Null);
    let path = out.path().join("scores.tsv");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("# u\tv\tscore\tz\tq\n"));
    let lines = lines(&path);
    assert_eq!(lines.len(), 78);
    let q = || lines.iter().map(|line| line[4]);
    assert_eq!(q().sum::<f64>(), 23.0);
    assert_eq!(q().fold(1.0, f64::min), found["q"]["min"].as_f64().unwrap());
    assert_eq!(q().fold(0.0, f64::max), found["q"]["max"].as_f64().unwrap());
    assert!((lines[0][2] - 0.028921642621).abs() < 1e-10);
    // the highest score has the highest rank and goes least often
    let top = lines.iter().max_by(|a, b| a[2].total_cmp(&b[2])).unwrap();
    assert_eq!((top[0], top[1], top[3]), (32.0, 33.0, 1.0));
    assert_eq!(top[4], q().fold(1.0, f64::min));
    assert!(
        refused(&format!("data/karate --sampler dropnode --write scores -o {}", out.path().display()))
            .contains("has no probabilities of units")
    );
}

#[test]
fn what_stays_is_a_graph_with_the_same_nodes() {
    let out = folder().unwrap();
    let found = drawn(&format!("data/karate --p 0.9 --write edges -o {}", out.path().display()));
    let path = &files(&found)[0];
    let shown =
        Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["data", "show", "--json"]).args([path]).run().unwrap();
    let shown = shown.json().unwrap();
    assert_eq!((&shown["nodes"], &shown["pairs"]), (&json!(34), &json!(78 - 70)));
    for count in ["isolated", "components", "largest"] {
        assert_eq!(shown[count], found["draws"][0][count], "{count}");
    }
    let weighted = lines(&file("data/karate --weighted", "edges", out.path()));
    assert!(weighted.iter().all(|line| line.len() == 3) && weighted.iter().any(|line| line[2] > 1.0));
}

/// A self-loop is no unit, stays in every draw, and stays once; an arc listed one way is not lost.
#[test]
fn self_loops_survive_once() {
    let set = folder_with(&[("edges.tsv", "0 1\n0 0\n1 0\n2 1\n")]).unwrap();
    let out = folder().unwrap();
    for p in ["0", "0.5", "1"] {
        let path = file(&format!("{} --p {p}", set.path().display()), "edges", out.path());
        let lines = lines(&path);
        assert_eq!(lines.iter().filter(|line| line[0] == line[1]).count(), 1, "p = {p}: {lines:?}");
    }
    let found = drawn(&format!("{} --p 0", set.path().display()));
    assert_eq!((&found["units"], &found["draws"][0]["components"]), (&json!(2), &json!(1)));
    let path = file(&format!("{} --p 1 --sampler dropedge-arcs", set.path().display()), "mask", out.path());
    assert_eq!(mask(&path), [false; 5]); // four arcs and the self-loop, which counts as one there
}

/// The draw of a training run by its seed and epoch; epochs of training count from 1.
#[test]
fn a_run_has_the_draws_of_its_epochs() {
    use sapwood::graph::{DrawBuffers, DrawKey, LoadOptions, SamplerOptions, TrainLabels, load, sampler};
    let karate = load(workspace_root().join("data/karate").to_str().unwrap(), &LoadOptions::default()).unwrap();
    let runtime = sapwood::skeleton::Runtime::threads(2).unwrap();
    let options = SamplerOptions { epochs: 10, rates: "linear:0.1:0.9".parse().unwrap(), ..SamplerOptions::default() };
    let ranked = (sampler::find(sampler::ALL, "ranked").unwrap().new)(&options).unwrap();
    let graph = std::sync::Arc::new(karate.graph.clone());
    let prepared = ranked.prepare(runtime.exec(), &graph, &TrainLabels::none(34)).unwrap();
    let mut buffers = DrawBuffers::default();
    let sampled = prepared.kept(runtime.exec(), DrawKey::of_epoch(11, 7), &mut buffers).unwrap();
    let out = folder().unwrap();
    let line = "data/karate --p-schedule linear:0.1:0.9 --epochs 10 --seed 11 --epoch 7";
    let found = mask(&file(line, "mask", out.path()));
    assert!((0..78).all(|e| found[e as usize] == sampled.keeps(e)));
}

#[test]
fn every_sampler_of_the_registry_draws() {
    for entry in sapwood::graph::sampler::ALL {
        let found = drawn(&format!("data/karate --sampler {} --draws 2", entry.name));
        assert_eq!((&found["sampler"], found["draws"].as_array().unwrap().len()), (&json!(entry.name), 2));
    }
    let messages = drawn("data/karate --sampler dropmessage");
    assert_eq!((&messages["draws"][0]["dropped"], &messages["draws"][0]["components"]), (&Value::Null, &json!(1)));
}

#[test]
fn the_table_says_what_the_object_says() {
    let ran = drop("data/karate --draws 12 --stats");
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("karate: ranked drops 23 of 78 pairs, p = 0.2949"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("mean of 12") && ran.stdout.contains("isolated nodes expected: 1.69"),
        "{}",
        ran.stdout
    );
    let rows = |text: &str| text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).count();
    assert_eq!(rows(&ran.stdout), 0);
    assert_eq!(rows(&drop("data/karate --draws 12 --stats -v").stdout), 12);
    assert_eq!(rows(&drop("data/karate --draws 10 --stats").stdout), 10);
    let auto = drop("data/karate --direction auto");
    assert!(auto.stdout.contains("direction auto: too few labelled pairs"), "{}", auto.stdout);
    let notes = drop("data/karate --sampler dropedge-arcs --draws 3");
    assert_eq!(notes.stderr.matches("not symmetric").count(), 1);
}

#[test]
fn what_is_wrong_is_named() {
    let keep = refused("data/karate --keep 0.7");
    assert!(keep.contains("--p is the share of the pairs that is dropped") && keep.contains("write --p 0.3"), "{keep}");
    let out = folder().unwrap();
    let to = out.path().join("new").display().to_string();
    assert!(refused("data/karate --write mask").contains("hint: add -o DIR"));
    assert!(refused(&format!("data/karate -o {to}")).contains("hint: add --write"));
    for sampler in ["dropnode", "dropmessage"] {
        let message = refused(&format!("data/karate --sampler {sampler} --write edges -o {to}"));
        assert!(message.contains(&format!("sampler {sampler} drops no edges")), "{message}");
    }
    assert!(refused(&format!("data/karate --write masks -o {to}")).contains("'mask'"));
    for p in ["1.5", "-0.1", "NaN"] {
        assert!(refused(&format!("data/karate --p {p}")).contains("--p must be"));
    }
    assert!(refused("data/karate --draws 0").contains("--draws must be 1 or more"));
    assert!(refused("data/karate --epoch 4294967295 --draws 2").contains("--epoch must be"));
    assert!(refused("data/karate --layer 4096").contains("layer must be below 4096"));
    assert!(refused("data/karate --sampler dropege").contains("did you mean 'dropedge'?"));
    assert!(refused("data/karate --split x").contains("unknown split 'x'"));
}

/// What is said of a draw is said of that draw: the rate of its layer and epoch.
#[test]
fn facts_are_those_of_the_layer_and_epoch_asked_for() {
    for (line, gone) in [
        ("data/karate --per layer --p 0.5,0.1 --layer 1", 39),
        ("data/karate --per layer --p 0.5,0.1 --layer 2", 8),
        ("data/karate --per layer-nested --p 0.5,0.1 --layer 2", 8),
        ("data/karate --p-schedule linear:0.1:0.9 --epochs 5 --epoch 1", 8),
        ("data/karate --p-schedule linear:0.1:0.9 --epochs 5 --epoch 5", 70),
    ] {
        let found = drawn(line);
        assert_eq!((&found["k"], &found["draws"][0]["dropped"]), (&json!(gone), &json!(gone)), "{line}");
        let mean = found["q"]["mean"].as_f64().unwrap();
        assert!((mean - f64::from(gone) / 78.0).abs() < 1e-9, "{line}: {mean}");
    }
    let text = refused("data/karate --per layer --p 0.5,0.1 --layer 3");
    assert!(text.contains("layer must be one that has a rate, not 3"), "{text}");
}

#[test]
fn given_probabilities_are_taken_as_they_are_by_bernoulli() {
    let edges = std::fs::read_to_string(workspace_root().join("data/karate/edges.tsv")).unwrap();
    let ends = edges.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    let text: String = ends.map(|e| format!("{}\t{}\t0.31\n", e[0], e[1])).collect();
    let folder = folder_with(&[("q.tsv", &text)]).unwrap();
    let file = folder.path().join("q.tsv");
    let line = |draw: &str| format!("data/karate --draw {draw} --prob {}", file.display());
    let ran = drop(&line("bernoulli"));
    assert!(!ran.stderr.contains("moved together"), "{}", ran.stderr);
    let found = drawn(&line("bernoulli"));
    assert!((found["achieved_p"].as_f64().unwrap() - 0.31).abs() < 1e-9, "{found}");
    let exact = drop(&line("systematic"));
    assert!(exact.stderr.contains("the probabilities sum to 24.18; moved together to 24"), "{}", exact.stderr);
    assert!(refused(&format!("{} --p 0.3", line("systematic"))).contains("--p beside --prob"));
}

#[test]
fn flags_without_effect_are_warned_of() {
    for (line, flag) in [
        ("data/karate --sampler dropedge --keep-forest", "--keep-forest has no effect"),
        ("data/karate --sampler degree --score two_stage", "--score has no effect"),
        ("data/karate --faithful", "--faithful has no effect"),
        ("data/karate --layer 3", "all layers share a draw"),
        ("data/karate --per layer", "counts them from 1"),
    ] {
        let ran = drop(line);
        assert!(ran.code == Some(0) && ran.stderr.contains(flag), "{line}: {}", ran.stderr);
    }
    assert!(!drop("data/karate --keep-forest --beta 1 --layer 0").stderr.contains("no effect"));
}

#[test]
fn an_interrupt_keeps_whole_files_and_says_how_far_it_came() {
    let out = folder().unwrap();
    let program = env!("CARGO_BIN_EXE_sapwood");
    let mut child = std::process::Command::new(program)
        .current_dir(workspace_root())
        .args(["drop", "data/karate", "--draws", "1000000", "--write", "mask", "-o"])
        .arg(out.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let count = || std::fs::read_dir(out.path()).unwrap().count();
    let start = std::time::Instant::now();
    while count() < 5 && start.elapsed() < std::time::Duration::from_secs(60) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let names = std::fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.to_str().unwrap().ends_with(".npy")), "a temporary file was left");
}
