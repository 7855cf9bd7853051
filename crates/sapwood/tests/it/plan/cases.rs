//! What users of pipelines ran into, and what should have come.

use sapwood_testkit::program::{Program, Ran};
use serde_json::Value;

/// A model of equal layers between an embedding and a loss.
fn model(layers: u32, more: &str) -> String {
    format!(
        "[unit]\ntime = \"ms\"\nmemory = \"MB\"\n\
         [[segment]]\nname = \"embedding\"\nkind = \"embedding\"\nforward = 2\nparameters_mem = 800\nactivation = {{ none = 10 }}\n\
         [[segment]]\nname = \"block\"\nkind = \"dense\"\ncount = {layers}\nforward = 10\nparameters_mem = 500\n\
         activation = {{ none = 300, full = 20 }}\ntransient = {{ full = 280 }}\n{more}\
         [[segment]]\nname = \"loss\"\nkind = \"loss\"\nforward = 6\nparameters_mem = 800\nactivation = {{ none = 200 }}\n"
    )
}

fn run(model: &str, flags: &[&str]) -> Ran {
    let program = Program::new(env!("CARGO_BIN_EXE_sapwood")).args(["plan", "-"]).args(flags);
    program.args(["--moves", "40000", "--json"]).stdin(model).run().unwrap()
}

fn found(model: &str, flags: &[&str]) -> Value {
    let ran = run(model, flags);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.json().unwrap()
}

/// Layers of a segment by virtual stage.
fn layers(plan: &Value, segment: &str) -> Vec<u64> {
    let mut by_virtual: Vec<(u64, u64)> = Vec::new();
    for chunk in plan["stage"].as_array().unwrap().iter().flat_map(|stage| stage["chunk"].as_array().unwrap()) {
        let own = chunk["items"].as_array().unwrap().iter().filter(|item| item["segment"] == segment);
        by_virtual.push((chunk["virtual"].as_u64().unwrap(), own.map(|item| item["count"].as_u64().unwrap()).sum()));
    }
    by_virtual.sort_unstable();
    by_virtual.into_iter().map(|(_, count)| count).collect()
}

#[test]
fn forty_layers_on_sixteen_stages_are_all_there_and_no_stage_is_empty() {
    for chunks in ["1", "2"] {
        let flags = ["--stages", "16", "--micro-batches", "32", "--chunks", chunks, "--export", "megatron=-"];
        let plan = found(&model(40, ""), &flags);
        let layers = layers(&plan, "block");
        assert!(layers.iter().sum::<u64>() == 40 && layers.iter().all(|&count| count > 0), "{layers:?}");
        let text = plan["exports"][0]["text"].as_str().unwrap();
        // Counts of layers never stand beside a layout.
        assert!(text.contains("--pipeline-model-parallel-layout '") && !text.contains("num-layers"), "{text}");
        assert!(!text.contains("virtual"), "{text}");
    }
}

#[test]
fn few_layers_go_where_the_ends_are_lighter() {
    // The loss is heavier than the embedding: the last stage has the fewer layers.
    let plan = found(&model(7, ""), &["--stages", "2", "--micro-batches", "8", "--chunks", "1"]);
    assert_eq!(layers(&plan, "block"), [4, 3]);
    let plan = found(&model(5, ""), &["--stages", "4", "--micro-batches", "8", "--chunks", "1"]);
    let mut cut = layers(&plan, "block");
    cut.sort_unstable();
    assert_eq!(cut, [1, 1, 1, 2]);
    // More virtual stages than layers, and how many there may be.
    let ran = run(&model(5, ""), &["--stages", "4", "--micro-batches", "8", "--chunks", "2"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("5 layers for 8 virtual stages: at most 1 chunks on 4 stages"), "{}", ran.stderr);
    // Unless they may be empty.
    let plan = found(&model(5, ""), &["--stages", "4", "--micro-batches", "8", "--chunks", "2", "--allow-empty"]);
    assert_eq!(layers(&plan, "block").iter().sum::<u64>(), 5);
}

#[test]
fn a_full_recomputation_counts_the_layer_that_is_made_again() {
    let flags = ["--stages", "4", "--micro-batches", "8", "--chunks", "1", "--recompute", "full", "--memory", "4GB"];
    let plan = found(&model(16, ""), &flags);
    for stage in plan["stage"].as_array().unwrap() {
        assert_eq!(stage["transient"], 280.0);
        assert!(stage["heaviest"].as_str().unwrap().starts_with("B("), "{stage}");
    }
}

#[test]
fn a_layer_of_further_tokens_is_where_megatron_takes_it() {
    let mtp = "[[segment]]\nname = \"next\"\nkind = \"mtp\"\nforward = 12\nparameters_mem = 600\nactivation = { none = 350, full = 20 }\n";
    let three = mtp.replace("kind", "count = 3\nkind");
    for (chunks, mtp, count) in [("1", mtp, 1), ("2", mtp, 1), ("1", three.as_str(), 3), ("2", three.as_str(), 3)] {
        let flags = ["--stages", "4", "--micro-batches", "8", "--chunks", chunks, "--export", "megatron=-"];
        let plan = found(&model(14, mtp), &flags);
        let at = layers(&plan, "next").iter().position(|&here| here == count).unwrap();
        // In the last chunk of its rank, which is not rank 0.
        assert!(at % 4 != 0 && at / 4 == chunks.parse::<usize>().unwrap() - 1, "{at}");
    }
}

#[test]
fn pinned_layers_are_planned_and_never_left_out_of_a_file() {
    let lead = "[[segment]]\nname = \"lead\"\nkind = \"dense\"\nforward = 12\nparameters_mem = 600\nactivation = { none = 350 }\npin = \"first\"\n";
    let text =
        model(8, "").replacen("[[segment]]\nname = \"block\"", &format!("{lead}[[segment]]\nname = \"block\""), 1);
    let flags = ["--stages", "3", "--micro-batches", "6", "--chunks", "1"];
    let plan = found(&text, &flags);
    assert!(plan["layout"].is_null() && layers(&plan, "lead") == [1, 0, 0], "{plan}");
    for framework in ["megatron=-", "mindformers=-"] {
        let ran = run(&text, &[&flags[..], &["--export", framework]].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.stdout);
        assert!(ran.stderr.contains("segment lead is pinned"), "{}", ran.stderr);
    }
    let plan = found(&text, &[&flags[..], &["--export", "plan_json=-"]].concat());
    assert!(plan["exports"][0]["text"].as_str().unwrap().contains("\"role\": \"first\""));
}

#[test]
fn mindformers_is_asked_for_what_it_has_lists_for() {
    let parts = "activation = { none = 300, core_attn = 150, full = 20 }\nextra = { core_attn = 1 }\n";
    let text = model(16, "").replace("activation = { none = 300, full = 20 }\n", parts);
    let flags = ["--stages", "4", "--micro-batches", "8", "--chunks", "1", "--memory", "5GB"];
    let plan = found(&text, &[&flags[..], &["--export", "mindformers=-"]].concat());
    let warning = "mindformers has no word for the recomputation core_attn: left out";
    assert_eq!(plan["warnings"], serde_json::json!([warning]));
    let (own, any) = (plan["makespan"].as_f64(), plan["express"]["makespan_of_any"].as_f64());
    assert!(any < own, "the other kind is of use: {any:?} {own:?}");
    assert!(found(&text, &flags)["stage"].to_string().contains("core_attn"));
    let ran = run(&text, &[&flags[..], &["--recompute", "core_attn", "--express", "mindformers"]].concat());
    assert!(ran.code == Some(2) && ran.stderr.contains("segment block has no kind but core_attn"), "{}", ran.stderr);
    // What it can never state is refused before the search: nothing fits here.
    let mtp = "[[segment]]\nname = \"next\"\nkind = \"mtp\"\nforward = 12\nparameters_mem = 600\nactivation = { none = 350 }\n";
    let small = ["--stages", "4", "--micro-batches", "8", "--memory", "1MB", "--export", "mindformers=-"];
    for more in [&[][..], &["--express", "any"]] {
        let ran = run(&model(14, mtp), &[&small[..], more].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains("have no place in its offsets"), "{}", ran.stderr);
    }
}

#[test]
fn every_schedule_that_is_named_is_considered_under_the_same_caps() {
    let flags = ["--stages", "4", "--micro-batches", "8", "--schedule", "gpipe,1f1b,interleaved,interleaved-lm,zb-h1"];
    let plan = found(&model(16, ""), &[&flags[..], &["--memory", "9GB"]].concat());
    let rows = plan["considered"].as_array().unwrap();
    for schedule in ["gpipe", "1f1b", "interleaved", "interleaved-lm", "zb-h1"] {
        assert!(rows.iter().any(|row| row["schedule"] == schedule), "{schedule}");
    }
    let best = rows.iter().filter_map(|row| row["makespan"].as_f64()).fold(f64::INFINITY, f64::min);
    assert_eq!(plan["makespan"].as_f64(), Some(best));
}

#[test]
fn what_cannot_be_counted_is_named() {
    let flags = ["--stages", "4", "--micro-batches", "8"];
    let say = |text: &str, more: &[&str]| {
        let ran = run(text, &[&flags[..], more].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        ran.stderr
    };
    let text = model(16, "");
    assert!(say(&text.replace("forward = 10", "forward = 1e300"), &[]).contains("segment block: forward: 1e300 is"));
    assert!(
        say(&text.replace("full = 20", "full = 0.1").replace("none = 300", "none = 1e17"), &[])
            .contains("segment block: activation of none: 1e17 is")
    );
    assert!(say(&text, &["--recompute", "mlp"]).contains("mlp"));
    assert!(say(&text, &["--link-time", "1e300"]).contains("link: 1e300 is"));
    let pinned = text.replace("count = 16", "count = 16\npin = \"first\"");
    assert!(say(&pinned, &["--chunks", "1"]).contains("none can lie anywhere"), "{}", say(&pinned, &["--chunks", "1"]));
}
