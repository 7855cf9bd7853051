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
    let top = ["schema", "name", "source", "noisy", "depth", "leaves", "levels", "overrides", "path"];
    assert_eq!(keys(&shown), top);
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
