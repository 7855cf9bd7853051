//! Times: traces as tools write them, tables, what is missing in them.

use sapwood_plan::calibrate::times::{Median, Options, Times, parse};
use sapwood_plan::model::readers;
use serde_json::{Value, json};

fn times(text: &str) -> Times {
    parse([("trace", text.as_bytes())], &Options::default()).unwrap()
}

fn wrong(text: &str) -> String {
    parse([("trace", text.as_bytes())], &Options::default()).unwrap_err().to_string()
}

/// As PyTorch 2.5 writes a range of `record_function`.
fn annotation(name: &str, ts: f64, dur: f64, id: u64) -> Value {
    json!({"ph": "X", "cat": "user_annotation", "name": name, "pid": 28877, "tid": 28877, "ts": ts, "dur": dur,
        "args": {"External id": id, "Record function id": 0, "Ev Idx": id - 1}})
}

/// The same on a stream of a device.
fn on_device(name: &str, stream: u64, ts: f64, dur: f64, id: u64) -> Value {
    json!({"ph": "X", "cat": "gpu_user_annotation", "name": name, "pid": 0, "tid": stream, "ts": ts, "dur": dur,
        "args": {"External id": id}})
}

/// As PyTorch writes a trace, with the kinds of events that are about no layer.
fn torch(mut events: Vec<Value>) -> String {
    events.extend([
        json!({"ph": "M", "name": "process_name", "ts": 5386136132748.771, "pid": 28877, "tid": 0, "args": {"name": "python"}}),
        json!({"ph": "X", "cat": "cpu_op", "name": "aten::linear_backward", "pid": 28877, "tid": 28877, "ts": 1.5, "dur": 9.0,
            "args": {"External id": 1, "Input Dims": [[2, 4], []], "Concrete Inputs": ["", null, true]}}),
        json!({"ph": "s", "id": 7, "pid": 28877, "tid": 28877, "ts": 1.5, "cat": "fwdbwd", "name": "fwdbwd"}),
        json!({"ph": "X", "cat": "Trace", "ts": 1.0, "dur": 9.9, "pid": "Spans", "tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)",
            "args": {"Op count": 0}}),
        json!({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 28877, "tid": 28877, "ts": 1.0, "dur": 9.0}),
        json!({"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g", "pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": 1.0}),
    ]);
    let file = json!({"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", "baseTimeNanoseconds": 1790857026000000000u64,
        "traceEvents": events, "traceName": "t.json"});
    file.to_string()
}

fn value(median: &Median) -> (f64, usize, usize, usize) {
    (median.value, median.count, median.outliers, median.warm_up)
}

#[test]
fn annotations_of_the_host() {
    let mut events = Vec::new();
    // Two layers, six steps; the first two are slow, one later backward is an outlier.
    for step in 0..6u64 {
        for layer in 0..2u64 {
            let at = 1000.0 * (10 * step + layer) as f64;
            let slow = if step < 2 { 40_000.0 } else { (step + layer) as f64 };
            let stall = if (step, layer) == (4, 1) { 90_000.0 } else { 0.0 };
            events.push(annotation(&format!("forward:dense.{layer}"), at, 500.0 + slow, 100 * step + layer + 1));
            events.push(annotation(
                &format!("backward:dense.{layer}"),
                at + 50_000.0,
                1000.0 + slow + stall,
                100 * step + layer + 51,
            ));
        }
    }
    let found = times(&torch(events));
    assert_eq!((found.milliseconds, found.layers.len(), &found.warnings[..]), (true, 1, &[][..]));
    let dense = &found.layers[0];
    assert_eq!((dense.name.as_str(), dense.weight, dense.recompute.len()), ("dense", None, 0));
    // 502 503 504 505 and 503 504 505 506; 1002 1003 1004 1005 and 1003 1004 1006.
    assert_eq!(value(&dense.forward), (0.504, 8, 0, 4));
    assert_eq!(value(&dense.backward), (1.004, 7, 1, 4));
    let toml = found.toml();
    assert!(toml.contains("[unit]\ntime = \"ms\"") && toml.contains("forward = 0.504\nbackward = 1.004\n"), "{toml}");
    toml.parse::<toml::Table>().unwrap();
}

#[test]
fn the_longest_stream_of_the_device() {
    let mut events = Vec::new();
    for step in 0..5u64 {
        for (way, length) in [("forward", 100.0), ("backward", 200.0)] {
            let (at, id) = (10_000.0 * step as f64 + 50.0 * length, 10 * step + length as u64);
            let name = format!("{way}:moe.7");
            // The host only launches; communication overlaps on another stream, in two parts.
            events.push(annotation(&name, at - 500.0, 3.0, id));
            events.push(on_device(&name, 7, at, length, id));
            events.push(on_device(&name, 20, at + 5.0, 0.7 * length, id));
            events.push(on_device(&name, 20, at + 0.8 * length, 0.5 * length, id));
        }
    }
    let found = times(&torch(events));
    let close = |median: &Median, us: f64| (median.value - us / 1000.0).abs() < 1e-9 && median.count == 3;
    assert!(close(&found.layers[0].forward, 120.0) && close(&found.layers[0].backward, 240.0), "{found:?}");
}

#[test]
fn streams_without_ids_overlap() {
    let event = |name: &str, tid: u64, ts: u64, dur: u64| json!({"ph": "X", "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur});
    let mut events = Vec::new();
    for step in 0..4u64 {
        let at = 1000 * step;
        events.extend([
            event("fwd dense", 1, at, 100),
            event("fwd dense", 2, at + 50, 130),
            event("fwd dense", 1, at + 110, 90),
        ]);
        events.extend([event("bwd dense", 1, at + 500, 70), event("bwd dense", 3, at + 500, 60)]);
    }
    let options = Options { warm_up: 0, ..Options::default() };
    let found = parse([("t", Value::Array(events).to_string().as_bytes())], &options).unwrap();
    // Streams 1 and 2 together 130, then stream 1 alone 90.
    assert_eq!(value(&found.layers[0].forward), (0.11, 8, 0, 0));
    assert_eq!(value(&found.layers[0].backward), (0.07, 4, 0, 0));
}

#[test]
fn begin_and_end_texts_and_open_lists() {
    let mut text = "\u{feff}[".to_owned();
    for step in 0..3 {
        for (at, way) in [(0, "F"), (40, "B")] {
            let name = if way == "F" { "x" } else { "y" };
            let args = json!({"layer": "block.3", "direction": if way == "F" { "forward" } else { "bwd" }});
            let at = 100 * step + at;
            text += &format!(
                "{{\"ph\":\"B\",\"name\":\"{name}\",\"pid\":\"rank 0\",\"tid\":1,\"ts\":\"{at}.25\",\"args\":{args}}},\r\n"
            );
            text += &format!("{{\"ph\":\"B\",\"name\":\"inner\",\"pid\":\"rank 0\",\"tid\":1,\"ts\":{at}.5}},");
            text += &format!("{{\"ph\":\"E\",\"pid\":\"rank 0\",\"tid\":1,\"ts\":{}}},", at + 1);
            text += &format!("{{\"ph\":\"E\",\"pid\":\"rank 0\",\"tid\":1,\"ts\":\"{}.75\"}},\n", at + 20);
        }
    }
    let found = times(&text);
    assert_eq!((found.layers[0].name.as_str(), value(&found.layers[0].forward)), ("block", (0.0205, 1, 0, 2)));
}

#[test]
fn tables() {
    let own = "layer,direction,recompute,duration_us,rank\n\
        dense.0,forward,,10,0\ndense.0,forward,,10,0\ndense.0,forward,,3000,0\ndense.0,forward,,3000,1\ndense.0,forward,,3000,1\ndense.0,forward,,5000,1\n\
        dense.0,bwd,none,9000,0\ndense.0,bwd,none,9000,0\ndense.0,backward,,6000,0\n\
        dense.0,backward,full,9,0\ndense.0,backward,full,9,0\ndense.0,backward,full,9500,0\n\
        dense.0,weight,,1,0\ndense.0,wgrad,,1,0\ndense.0,weight,,2500,0\n";
    let found = times(own);
    let dense = &found.layers[0];
    assert_eq!((value(&dense.forward), value(&dense.backward)), ((4.0, 2, 0, 4), (6.0, 1, 0, 2)));
    assert_eq!(
        (dense.weight.unwrap().value, dense.recompute[0].0.as_str(), dense.recompute[0].1.value),
        (2.5, "full", 9.5)
    );
    let whole = found.toml() + "parameters_mem = 1\nactivation = { none = 2, full = 1 }\n";
    let model = readers::parse("times", whole.as_bytes(), &readers::Options::default()).unwrap();
    let segment = &model.segments[0];
    assert_eq!((segment.forward, segment.backward, segment.weight, segment.kinds[1].extra), (4.0, 8.5, 2.5, 3.5));
    assert!(found.toml().contains("backward = 8.5\nweight = 2.5\nextra = { full = 3.5 }\n"), "{}", found.toml());
    // As nsys stats prints it, with the range's domain before the colon left out.
    let nsys = "Processing [report.sqlite] with [nvtx_gpu_proj_trace.py]... \n\n\
        Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack\n\
        :forward:moe.3,100,5000000,90,10,PushPop,42,77,2,0,2,1,,:1\n\
        :forward:moe.3,10000100,5000000,90,10,PushPop,42,77,2,0,2,2,,:2\n\
        :forward:moe.3,20000100,7000000,90,10,PushPop,42,77,2,0,2,3,,:3\n\
        \":optimizer, step\",20000100,7000000,90,10,PushPop,42,77,2,0,2,3,,:3\n\
        :bwd moe.3,5000100,1,90,10,PushPop,42,77,2,0,2,4,,:4\n\
        :bwd moe.3,15000100,1,90,10,PushPop,42,77,2,0,2,5,,:5\n\
        :bwd moe.3,25000100,8000000,90,10,PushPop,42,77,2,0,2,6,,:6\n";
    let found = times(nsys);
    assert_eq!((found.layers[0].forward.value, found.layers[0].backward.value, found.milliseconds), (7.0, 8.0, true));
    let plain = "name;x\nname,duration\nfwd a,1\nfwd a,1\nfwd a,3\nbwd a,1\nbwd a,1\nbwd a,4\n";
    let found = times(plain);
    assert_eq!((found.milliseconds, found.layers[0].backward.value), (false, 4.0));
    assert!(!found.toml().contains("[unit]"));
    let with = |unit: &str| {
        let options = Options { unit: Some(unit.to_owned()), ..Options::default() };
        parse([("a", plain.as_bytes())], &options).map(|found| (found.milliseconds, found.layers[0].forward.value))
    };
    assert_eq!(with("s").unwrap(), (true, 3000.0));
    assert!(with("h").unwrap_err().to_string().contains("is no unit of time"));
    let mixed = parse([("a", plain.as_bytes()), ("b", own.as_bytes())], &Options::default()).unwrap_err().to_string();
    assert!(mixed.starts_with("b: its times have no unit"), "{mixed}");
}

#[test]
fn patterns_choose_layers() {
    let mut text = "name,duration_ms\n".to_owned();
    for layer in ["layers.0", "layers.1", "layers.2", "FullyShardedDataParallel"] {
        for _ in 0..3 {
            text += &format!("{layer}.forward,{}\n", if layer == "layers.0" { 1 } else { 5 });
            if layer.starts_with('l') {
                text += &format!("{layer}.backward,{}\n", if layer == "layers.0" { 2 } else { 9 });
            }
        }
    }
    // By names alone the framework's range is left out with a warning.
    let found = times(&text);
    assert_eq!((found.layers.len(), found.warnings.len()), (1, 1));
    assert!(found.warnings[0].starts_with("FullyShardedDataParallel has no backward events"), "{found:?}");
    let with = |layers: &[(&str, &str)]| {
        let layers = layers.iter().map(|(kind, pattern)| ((*kind).to_owned(), vec![(*pattern).to_owned()])).collect();
        parse([("trace", text.as_bytes())], &Options { layers, ..Options::default() })
    };
    let found = with(&[("dense", "layers.0"), ("moe", "layers.*")]).unwrap();
    let of =
        |at: usize| (found.layers[at].name.as_str(), found.layers[at].forward.value, found.layers[at].backward.value);
    assert_eq!((of(0), of(1)), (("dense", 1.0, 2.0), ("moe", 5.0, 9.0)));
    assert!(with(&[("x", "nothing*")]).unwrap_err().to_string().contains("no layer fits the patterns; it has Fully"));
    let missing = with(&[("dense", "layers.*"), ("fsdp", "Fully*")]).unwrap_err().to_string();
    assert!(
        missing.contains("fsdp has no backward events, such as backward:fsdp (there is forward 3 times)"),
        "{missing}"
    );
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let forward: Vec<Value> = (1..6).map(|step| annotation("forward:dense", 100.0 * step as f64, 9.0, step)).collect();
    let missing = wrong(&torch(forward.clone()));
    assert_eq!(missing, "trace: dense has no backward events, such as backward:dense (there is forward 5 times)");
    assert!(
        wrong(&torch(Vec::new())).starts_with("trace: none of its 3 events is called forward:LAYER or backward:LAYER")
    );
    let rare = wrong("name,duration_ms\nfwd a,1\nfwd a,1\nbwd a,1\n");
    assert!(rare.contains("the forward of a ran so rarely that all of it is warm-up"), "{rare}");
    let cases = [
        ("", "no table of durations"),
        ("a,b\n1,2\n", "no table of durations"),
        ("name,duration_ms\nfwd a,x\n", "line 2: duration is \"x\""),
        ("name,duration_ms\nfwd a,-1\n", "line 2: duration is -1"),
        ("name,duration_ms\nfwd a\n", "line 2: duration is \"\""),
        ("layer,direction,dur\na,sideways,1\n", "line 2: direction is \"sideways\""),
        ("layer,direction,dur\n,fwd,1\n", "line 2: the layer has no name"),
        ("{}", "no list of traceEvents"),
        ("{\"traceEvents\": 3}", "line 1"),
        ("{\"traceEvents\": [3]}", "line 1"),
        ("{\"traceEvents\": [", "line 1"),
        ("[{\"ph\":\"X\",\"name\":\"fwd a\",\"ts\":1}]", "the event \"fwd a\" has no dur that is a number"),
        ("[{\"ph\":\"X\",\"name\":\"fwd a\",\"dur\":1}]", "has no ts that is a number"),
        ("[\n{\"ph\":\"X\",\"name\":\"fwd a\",\"ts\":1,\"dur\":-1}]", "line 2"),
        ("[{\"ph\":\"B\",\"name\":\"fwd a\",\"ts\":5},{\"ph\":\"E\",\"ts\":1}]", "the forward of a takes"),
    ];
    for (text, part) in cases {
        assert!(wrong(text).starts_with("trace: ") && wrong(text).contains(part), "{text:?}: {}", wrong(text));
    }
    let bytes = parse([("x.json", &b"{\n\xff}"[..])], &Options::default()).unwrap_err().to_string();
    assert_eq!(bytes, "x.json: line 2: no UTF-8 text");
    assert!(parse([], &Options::default()).is_err());
}
