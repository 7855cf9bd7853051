//! `sapwood machine`: the members of its schemas, the file that discovery writes, and what checking says.

use sapwood_testkit::program::{Program, Ran};
use sapwood_testkit::workspace_root;
use serde_json::{Value, json};

/// Two nodes of two cores, the second core of the second node slower.
const FILE: &str = r#"format = "sapwood-machine/1"
name = "small"
source = "a test"
[[level]]
name = "cluster"
[[level]]
name = "node"
count = 2
link = { latency = "10 us", down = "1 GB/s", up = "2 ns/B" }
memory = { size = "1 GiB" }
[[level]]
name = "core"
count = 2
link = {}
compute = { any = "1 GFLOP/s", f32 = "2 GFLOP/s" }
port = "parallel"
device = { sms = 3, launch = "4 us" }
[[override]]
at = "/node[1]/core[1]"
speed = 0.5
"#;

fn machine(line: &str, stdin: &str) -> Ran {
    Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["machine"]).line(line).stdin(stdin).run().unwrap()
}

fn json_of(line: &str, stdin: &str) -> Value {
    let ran = machine(&format!("{line} --json"), stdin);
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
    ran.json().unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn list_has_every_preset() {
    let list = json_of("list", "");
    assert_eq!(list["schema"], "sapwood.machine.list/1");
    let presets = list["presets"].as_array().unwrap();
    assert_eq!(presets.len(), sapwood_machine::presets::ALL.len());
    assert!(presets.iter().all(|p| keys(p) == ["name", "aliases", "summary", "source", "depth", "leaves"]));
    let node = presets.iter().find(|p| p["name"] == "h100-node").unwrap();
    assert_eq!([&node["aliases"], &node["depth"], &node["leaves"]], [&json!(["dgx-h100"]), &json!(2), &json!(8)]);
    let text = machine("list", "").stdout;
    assert!(presets.iter().all(|p| text.contains(p["name"].as_str().unwrap())));
}

#[test]
fn show_has_the_members_of_its_schema() {
    let shown = json_of("show -", FILE);
    let top = ["schema", "name", "source", "noisy", "depth", "leaves", "levels", "overrides", "rates", "path"];
    assert_eq!(keys(&shown), top);
    assert_eq!(shown["rates"], Value::Null);
    assert_eq!(shown["schema"], "sapwood.machine.show/1");
    assert_eq!([&shown["name"], &shown["source"], &shown["path"]], [&json!("small"), &json!("a test"), &Value::Null]);
    assert_eq!([&shown["noisy"], &shown["depth"], &shown["leaves"]], [&json!(false), &json!(2), &json!(4)]);
    let node = json!({
        "name": "node", "count": 2, "nodes": 2, "flops": {}, "memory_bytes": 1u64 << 30, "bandwidth_bytes_per_s": null,
        "latency_s": 1e-5, "down_s_per_byte": 1e-9, "up_s_per_byte": 2e-9, "side_s_per_byte": 1e-9 + 2e-9,
        "side_latency_s": 2e-5, "port": null, "transport": null, "device": null, "speed": null, "pin": null
    });
    assert_eq!(shown["levels"][1].to_string(), node.to_string());
    let core = &shown["levels"][2];
    assert_eq!(core["flops"], json!({ "any": 1e9, "f32": 2e9 }));
    assert_eq!([&core["port"], &core["latency_s"], &core["nodes"]], [&json!("parallel"), &json!(0.0), &json!(4)]);
    assert_eq!([&core["device"]["sms"], &core["device"]["launch_s"]], [&json!(3), &json!(4e-6)]);
    assert_eq!(core["device"]["l2_bytes"], Value::Null);
    let exception = &shown["overrides"][0];
    assert_eq!([&exception["at"], &exception["speed"]], [&json!("/node[1]/core[1]"), &json!(0.5)]);
    assert_eq!(exception["children"], Value::Null);
}

#[test]
fn show_prints_every_value() {
    let ran = machine("show -", FILE);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let words = [
        "small: 4 workers, depth 2",
        "node x 2  (2 in all)",
        "10 us, down 1 GB/s, up 500 MB/s; siblings 20 us, 333.3 MB/s",
        "1 GiB",
        "any 1 GFLOP/s, f32 2 GFLOP/s",
        "3 SMs, launch 4 us",
        "parallel",
        "/node[1]/core[1]",
        "0.5",
    ];
    for word in words {
        assert!(ran.stdout.contains(word), "'{word}' is not in\n{}", ran.stdout);
    }
}

#[test]
fn a_machine_is_named_in_three_ways() {
    for line in ["show dgx-h100", "show preset:h100-node", "show --machine h100-node", "--machine dgx-h100 show"] {
        assert_eq!(json_of(line, "")["name"], "h100-node", "{line}");
    }
    let ran = machine("show h100-nod", "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("did you mean h100-node?"), "{}", ran.stderr);
    let variable =
        Program::new(env!("CARGO_BIN_EXE_sapwood")).line("machine show --json").env("SAPWOOD_MACHINE", "laptop-8");
    assert_eq!(variable.run().unwrap().json().unwrap()["name"], "laptop-8");
}

#[test]
fn discovery_writes_what_check_accepts() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let put = |path: &str, text: &str| {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    };
    put("sys/devices/system/cpu/online", "0-3");
    put("proc/self/status", "Cpus_allowed_list:\t1-3\n");
    put("proc/sys/kernel/hostname", "fixture");
    let call = |line: &str| {
        let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).within(root);
        program.line(&format!("machine {line}")).run().unwrap()
    };
    let found = call("discover --sysroot . -o found.toml --json");
    let json = found.json().unwrap();
    assert_eq!(json["schema"], "sapwood.machine.discover/1");
    assert_eq!([&json["leaves"], &json["path"], &json["name"]], [&json!(3), &json!("found.toml"), &json!("fixture")]);
    assert_eq!([&json["levels"][1]["pin"], &json["levels"][1]["flops"]], [&json!("1-3"), &json!({})]);
    let checked = call("check found.toml");
    assert_eq!((checked.code, checked.stdout.contains("found.toml: ok, 2 levels, 3 workers")), (Some(0), true));
    let printed = call("discover --sysroot .");
    assert_eq!(printed.stdout, std::fs::read_to_string(root.join("found.toml")).unwrap());
    assert_eq!(call("discover --sysroot . --threads 7 --json").json().unwrap()["leaves"], 7);
    let nothing = call("discover --sysroot sys");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(2), ""));
}

#[test]
fn the_machine_at_hand() {
    let found = json_of("discover", "");
    assert!(found["leaves"].as_u64().unwrap() >= 1);
    assert_eq!(found["path"], Value::Null);
}

#[test]
fn check_says_all_that_is_wrong() {
    let wrong = FILE.replace("\"10 us\"", "\"10\"").replace("count = 2\nlink = {}", "count = 0\nlink = {}");
    let ran = machine("check - --json", &wrong);
    assert_eq!(ran.code, Some(2));
    let report = ran.json().unwrap();
    assert_eq!(keys(&report), ["schema", "ok", "errors", "warnings"]);
    assert_eq!([&report["schema"], &report["ok"]], [&json!("sapwood.machine.check/1"), &json!(false)]);
    let errors: Vec<_> =
        report["errors"].as_array().unwrap().iter().map(|e| (e["line"].as_u64(), e["key"].as_str())).collect();
    assert_eq!(errors, [(Some(9), Some("level.link.latency")), (Some(13), Some("level.count"))]);
    assert!(report["errors"][0]["message"].as_str().unwrap().contains("has no unit"));
    let text = machine("check -", &wrong);
    assert!(text.stdout.contains("line 9: level.link.latency: ") && text.stderr.contains("2 problems"), "{text:?}");
}

#[test]
fn check_accepts_with_warnings() {
    let quiet = json_of("check -", FILE);
    assert_eq!(quiet, json!({ "schema": "sapwood.machine.check/1", "ok": true, "errors": [], "warnings": [] }));
    let unknown = FILE.replace("compute = { any = \"1 GFLOP/s\", f32 = \"2 GFLOP/s\" }\n", "");
    assert_eq!(json_of("check -", &unknown)["warnings"][0]["key"], "level.compute");
    assert_eq!(machine("check /no/such/file", "").code, Some(2));
}

#[test]
fn check_agrees_with_the_files_of_the_library() {
    let folder = workspace_root().join("crates/machine/tests/it");
    let check = |file: &std::path::Path| machine(&format!("check {}", file.display()), "").code;
    assert_eq!(check(&folder.join("t2.toml")), Some(0));
    for entry in std::fs::read_dir(folder.join("bad")).unwrap() {
        let file = entry.unwrap().path();
        assert_eq!(check(&file), Some(2), "{}", file.display());
    }
}

/// Rates of four workers.
const RATES: &str = "[rates]\nthreads = 4\ngemm = { value = \"45 GFLOP/s\", mad = \"1 GFLOP/s\", samples = 9 }\n\
                     [rates.one]\ndispatch = \"5 ns\"\n";

#[test]
fn show_has_the_rates() {
    let file = format!("{FILE}{RATES}");
    let gemm = json!({ "value": 4.5e10, "unit": "FLOP/s", "mad": 1e9, "samples": 9 });
    let step = json!({ "value": 5e-9, "unit": "s", "mad": null, "samples": 0 });
    let rates = json!({ "threads": 4, "all": { "gemm": gemm }, "one": { "dispatch": step } });
    assert_eq!(json_of("show -", &file)["rates"], rates);
    let text = machine("show -", &file).stdout;
    assert!(text.contains("4 workers") && text.contains("45 GFLOP/s ± 2 %") && text.contains("5 ns"), "{text}");
    let wrong = machine("check -", &file.replace("gemm =", "gem ="));
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stdout.contains("rates.gem: unknown key, did you mean gemm?"), "{}", wrong.stdout);
}

/// `machine probe` in an empty folder.
fn probe(folder: &std::path::Path, line: &str) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).within(folder);
    program.line(&format!("machine probe {line}")).run().unwrap()
}

fn files(folder: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn a_probe_writes_a_machine_with_rates() {
    let folder = tempfile::tempdir().unwrap();
    let ran = probe(folder.path(), "--budget 200ms --threads 2 -o m.toml --json");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = ran.json().unwrap();
    assert_eq!(keys(&report), ["schema", "path", "budget_s", "threads", "levels", "measured"]);
    assert_eq!([&report["schema"], &report["path"]], [&json!("sapwood.machine.probe/1"), &json!("m.toml")]);
    assert_eq!([&report["budget_s"], &report["threads"]], [&json!(0.2), &json!(2)]);
    assert_eq!(report["levels"], json!(["machine", "core"]));
    let measured = &report["measured"];
    assert_eq!(keys(measured), ["noisy", "spent_s", "host", "values"]);
    assert!(measured["spent_s"].as_f64().unwrap() > 0.0);
    let tree = sapwood_machine::Tree::read(&folder.path().join("m.toml")).unwrap();
    let rates = tree.rates().unwrap();
    let values = measured["values"].as_array().unwrap();
    for kernel in sapwood_machine::Kernel::ALL {
        for (key, workers) in [(format!("rates.{kernel}"), 2), (format!("rates.one.{kernel}"), 1)] {
            let value = values.iter().find(|v| v["key"] == key.as_str()).unwrap();
            assert_eq!(keys(value), ["level", "key", "value", "unit", "mad", "samples"]);
            let rate = rates.at(kernel, workers).unwrap();
            assert!(rate > 0.0 && rate.is_finite() && value["samples"].as_u64().unwrap() >= 5, "{value}");
            assert_eq!([&value["value"], &value["unit"]], [&json!(rate), &json!(kernel.quantity().unit())]);
        }
    }
    let of_level = |key: &str, level: &str| values.iter().any(|v| v["key"] == key && v["level"] == level);
    assert!(of_level("compute.f32", "core") && of_level("compute.f64", "core"));
    assert!(of_level("memory.bandwidth", "machine") && of_level("memory.bandwidth", "core"));
    let header = tree.header().measured.as_ref().unwrap();
    assert_eq!(json!(header.noisy), measured["noisy"]);
    assert!(header.date.as_ref().is_some_and(|date| date.len() == 10));
    assert_eq!(files(folder.path()), ["m.toml"]);
    let call = |line: &str| Program::new(env!("CARGO_BIN_EXE_sapwood")).within(folder.path()).line(line).run().unwrap();
    assert_eq!(call("machine check m.toml").code, Some(0));
    let shown = call("--machine m.toml machine show --json").json().unwrap();
    assert_eq!(shown["rates"]["all"]["gemm"]["value"], json!(rates.at(sapwood_machine::Kernel::Gemm, 2).unwrap()));
}

#[test]
fn a_probe_prints_a_table_or_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let table = probe(folder.path(), "--budget 200ms --threads 1");
    assert_eq!(table.code, Some(0), "{}", table.stderr);
    assert!(sapwood_machine::Kernel::ALL.iter().all(|kernel| table.stdout.contains(kernel.name())), "{}", table.stdout);
    assert!(table.stdout.contains("samples of each in ") && table.stdout.contains("of 200 ms"), "{}", table.stdout);
    let text = probe(folder.path(), "--budget 200ms --threads 1 -o -").stdout;
    let tree = sapwood_machine::Tree::parse(&text, "printed").unwrap();
    assert!(tree.rates().unwrap().one.is_empty() && tree.rates().unwrap().threads == Some(1), "{text}");
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_base_keeps_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let base = "format = \"sapwood-machine/1\"\nname = \"mine\"\nsource = \"by hand\"\n[[level]]\nname = \"box\"\n";
    std::fs::write(folder.path().join("base.toml"), base).unwrap();
    let ran = probe(folder.path(), "--budget 200ms --base base.toml -o base.toml");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let tree = sapwood_machine::Tree::read(&folder.path().join("base.toml")).unwrap();
    assert_eq!((tree.name(), tree.header().source.as_deref()), ("mine", Some("by hand")));
    assert!(tree.rates().is_some() && tree.level("box").is_some());
    let large = base.to_owned() + "[[level]]\nname = \"core\"\ncount = 100000\n";
    std::fs::write(folder.path().join("large.toml"), large).unwrap();
    let ran = probe(folder.path(), "--budget 200ms --base large.toml -o out.toml");
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("large.toml: 100000 workers, but this process may use"), "{}", ran.stderr);
    assert!(!folder.path().join("out.toml").exists());
}

#[test]
fn a_probe_that_cannot_be_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("--budget 1ms", "too short to measure anything, write 200 ms or more"),
        ("--budget 2", "has no unit"),
        ("--budget 9999s", "write 3600 s or less"),
        ("--machine preset:h100-node", "--base FILE"),
        ("--threads none", "no number of threads"),
        ("--base no-such.toml", "no-such.toml"),
        ("--budget 3000s -o no/such/folder/m.toml", "no/such/folder/m.toml: cannot be written"),
        ("--budget 3000s -o .", "it is a folder"),
    ];
    for (line, words) in cases {
        let ran = probe(folder.path(), line);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
        assert!(files(folder.path()).is_empty(), "{line}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_probe_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sapwood"));
    command.current_dir(folder.path()).args(["machine", "probe", "--budget", "600s", "--threads", "1", "-o", "m.toml"]);
    let stderr = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut child = command.stdout(std::process::Stdio::null()).stderr(stderr).spawn().unwrap();
    let log = || std::fs::read_to_string(folder.path().join("log")).unwrap();
    let start = std::time::Instant::now();
    while !log().contains("measuring for 600 s") {
        assert!(start.elapsed() < std::time::Duration::from_secs(60), "measuring did not start");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(log().contains("interrupted: nothing is written"), "{}", log());
    assert_eq!(files(folder.path()), ["log"]);
}
