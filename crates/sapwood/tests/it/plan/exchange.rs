//! Plans out to frameworks and in again.

use super::{REFERENCE, found, plan, reference, refused};
use sapwood_testkit::scratch;
use serde_json::Value;

#[test]
fn plans_for_frameworks_are_read_back_as_the_same() {
    let scratch = scratch::folder().unwrap();
    let path = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let model = reference();
    let some = [&[model.as_str(), "--memory", "56000MB", "--moves", "40000"][..], &REFERENCE].concat();
    for (framework, chunks, flag) in
        [("megatron", "1", "--megatron-flags"), ("megatron", "2", "--megatron-flags"), ("mindformers", "2", "--yaml")]
    {
        let (out, json) = (path(framework), path("plan.json"));
        let export = format!("{framework}={out}");
        let more = ["--chunks", chunks, "--express", framework, "--export", &export, "--out", &json];
        let solved = found(&[&some[..], &more].concat());
        assert!(solved["express"]["makespan_of_any"].as_f64() <= solved["makespan"].as_f64(), "{framework}");
        let text = std::fs::read_to_string(&out).unwrap();
        let stated = if flag == "--yaml" { out.clone() } else { text.clone() };
        let read = ["explain", &model, "--memory", "56000MB", "--micro-batches", "32", flag, &stated];
        // MindFormers' file does not tell one interleaved schedule from the other.
        let schedule = solved["schedule"].as_str().unwrap();
        let again = found(&[&read[..], &["--schedule", schedule, "--against", &json]].concat());
        assert_eq!(
            (&again["makespan"], &again["stage"]),
            (&solved["makespan"], &solved["stage"]),
            "{framework}: {text}"
        );
        assert_eq!(again["diff"], serde_json::json!([]), "{framework}");
        // And from the file of the plan alone.
        let ran = plan(&["export", &json, &format!("{framework}=-")]);
        assert_eq!((ran.code, ran.stdout), (Some(0), text), "{}", ran.stderr);
    }
}

#[test]
fn one_object_holds_a_text_for_stdout() {
    let model = reference();
    let flags = [&[model.as_str(), "--memory", "56000MB", "--moves", "8000", "--chunks", "2"][..], &REFERENCE].concat();
    let solved = found(&[&flags[..], &["--schedule", "interleaved", "--export", "megatron=-"]].concat());
    let text = solved["exports"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("--pipeline-model-parallel-size 16 --pipeline-model-parallel-layout 'E"), "{text}");
    assert_eq!(solved["express"]["framework"], "megatron");
    // What was asked to be of any form is not written in another one.
    let wanted = ["--schedule", "interleaved", "--express", "any", "--export", "megatron=-"];
    let message = refused(&[&flags[..], &wanted].concat());
    assert!(
        message.contains("one setting of recomputation holds for all stages") && message.contains("--express megatron")
    );
}

#[test]
fn two_plans_differ_where_they_do() {
    let scratch = scratch::folder().unwrap();
    let out = scratch.path().join("plan.json");
    let out = out.to_str().unwrap();
    let model = reference();
    let flags = ["explain", &model, "--stages", "16", "--micro-batches", "32"];
    let even = "E(t*6|)*15t*6L";
    let same = found(&[&flags[..], &["--layout", even, "--against", even]].concat());
    assert_eq!((&same["makespan"], &same["diff"]), (&serde_json::json!(95_487.0), &serde_json::json!([])));
    let other = found(&[&flags[..], &["--layout", even, "--against", "E(t*6|)*13t*5|t*7|t*6L"]].concat());
    let stages: Vec<&Value> =
        other["diff"].as_array().unwrap().iter().map(|d| &d["stage"]).filter(|s| !s.is_null()).collect();
    assert!(!stages.is_empty() && stages.iter().all(|s| **s == 13 || **s == 14), "{stages:?}");
    let gains = found(
        &[&flags[..], &["--layout", even, "--recompute-layers", "full", "--memory", "56000MB", "--gradients"]].concat(),
    );
    let gains = gains["gradients"].as_array().unwrap();
    // 16 stages with free memory, 16 virtual stages with a layer to give, 16 stages with a cap.
    assert_eq!(gains.len(), 48);
    // Where all layers could keep everything in the memory that is free, more memory is worth nothing.
    let worth =
        |change: &str| gains.iter().find(|g| g["change"] == change).unwrap()["makespan_change"].as_f64().unwrap();
    assert_eq!(worth("+1 GB on stage 15"), 0.0);
    assert!(worth("less recomputation on stage 15, within its memory") < 0.0);
    assert!(gains.windows(2).all(|pair| pair[0]["makespan_change"].as_f64() <= pair[1]["makespan_change"].as_f64()));
    // The table says how many it leaves out.
    let job = "--pipeline-model-parallel-size 16 --recompute-granularity full --recompute-method uniform --recompute-num-layers 1";
    let job = ["--memory", "56000MB", "--gradients", "--megatron-flags", job];
    let text = plan(&[&flags[..], &job, &["--against", even]].concat()).stdout;
    assert!(text.contains("40 more changes of 48, the best of them -592: --json has all"), "{text}");
    // What a layout string does not tell is said; flags and files have their own stages and recomputation.
    assert!(text.contains("a layout string tells no recomputation: none was assumed"), "{text}");
    let eight = "--pipeline-model-parallel-size 8 --recompute-granularity full --recompute-method block --recompute-num-layers 2";
    let other = found(&[&flags[..], &["--layout", even, "--against", eight]].concat());
    assert_eq!(other["against"]["stages"], 8);
    assert!(
        other["diff"][0]["what"] == "stages" && other["diff"].to_string().contains("2 BODY (full), 10 BODY"),
        "{other}"
    );
    assert!(refused(&[&flags[..], &["--layout", even, "--against", "Et"]].concat()).contains("--against"));
    // A layout that does not fit is explained, and the answer is no.
    let ran = plan(&[&flags[..], &["--layout", even, "--memory", "56000MB"]].concat());
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("stage 0 does not fit: its peak is 114920 MB, its memory 56000 MB"), "{}", ran.stderr);
    for (flags, batches, why) in [
        ("--microbatch-group-size-per-virtual-pipeline-stage 8", "32", "rule 'stages <= group <= micro-batches'"),
        ("--microbatch-group-size-per-virtual-pipeline-stage 32", "33", "leave 1, on 16 stages"),
        ("", "33", "leave 1, on 16 stages"),
        ("--global-batch-size 64 --micro-batch-size 1 --data-parallel-size 2", "33", "the plan states 32"),
    ] {
        let job = format!("--pipeline-model-parallel-size 16 --num-layers-per-virtual-pipeline-stage 3 {flags}");
        let ran = refused(&["explain", &model, "--micro-batches", batches, "--megatron-flags", &job]);
        assert!(ran.contains(why), "{flags}: {ran}");
    }
    for wrong in ["Et*95|L", "E(t*6|)*15t*6", "Ex", ""] {
        assert!(refused(&[&flags[..], &["--layout", wrong]].concat()).contains("--layout"), "{wrong}");
    }
    std::fs::write(out, "{\"schema\": \"sapwood.plan.solve/1\"").unwrap();
    assert!(refused(&[&flags[..], &["--layout", even, "--against", out]].concat()).contains("plan.json"));
}

#[test]
fn a_wrong_plan_is_refused_with_its_place() {
    let scratch = scratch::folder().unwrap();
    let path = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let (model, good, bad, page) = (reference(), path("plan.json"), path("bad.json"), path("page.html"));
    found(
        &[&[model.as_str(), "--moves", "0", "--chunks", "2", "--bound", "none", "--out", &good][..], &REFERENCE]
            .concat(),
    );
    let text = std::fs::read_to_string(&good).unwrap();
    let broken = |change: &dyn Fn(&mut Value)| {
        let mut plan: Value = serde_json::from_str(&text).unwrap();
        change(&mut plan);
        serde_json::to_string(&plan).unwrap()
    };
    let item = |plan: &mut Value, key: &str, to: Value| plan["stage"][3]["chunk"][1]["items"][0][key] = to;
    for (text, why) in [
        (broken(&|plan| item(plan, "recompute", "ful".into())), "stage 3 chunk 1: segment BODY has no kind ful"),
        (broken(&|plan| item(plan, "segment", "BODI".into())), "stage 3 chunk 1: the model has no segment BODI"),
        (broken(&|plan| item(plan, "count", 90.into())), "layers of BODY in all, and the model has 96"),
        (broken(&|plan| item(plan, "count", (-1).into())), "line 1 column"),
        (broken(&|plan| plan["stages"] = "16".into()), "line 1 column"),
        (broken(&|plan| _ = plan["stage"].as_array_mut().unwrap().pop()), "virtual stage 15 is missing"),
        (broken(&|plan| plan["schedule"] = "interleavd".into()), "did you mean interleaved?"),
        (broken(&|plan| plan["group"] = vec![3, 5].into()), "as [3, 5]"),
        (text[..text.len() / 2].to_owned(), "line"),
    ] {
        std::fs::write(&bad, text).unwrap();
        for verb in ["simulate", "explain"] {
            let message = refused(&[verb, &model, "--plan", &bad, "--report", &page]);
            assert!(message.contains("bad.json") && message.contains(why), "{verb}: {why}: {message}");
        }
        let message = refused(&["explain", &model, "--plan", &good, "--against", &bad, "--report", &page]);
        assert!(message.contains("bad.json") && message.contains(why), "--against: {why}: {message}");
        let message = refused(&[&[model.as_str(), "--from", &bad, "--out", &page][..], &REFERENCE].concat());
        assert!(message.contains("bad.json") && message.contains(why), "--from: {why}: {message}");
    }
    assert!(!std::path::Path::new(&page).exists());
}

#[test]
fn a_report_is_written_where_it_can_be() {
    let scratch = scratch::folder().unwrap();
    let page = scratch.path().join("plan.html");
    let model = reference();
    let flags =
        ["explain", &model, "--stages", "16", "--micro-batches", "32", "--layout", "E(t*6|)*15t*6L", "--report"];
    found(&[&flags[..], &[page.to_str().unwrap()]].concat());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("95487") && text.contains("E(t*6|)*15t*6L"));
    // Recomputation, as flags; and what differs from another plan.
    let page = page.to_str().unwrap();
    let other = ["--recompute-layers", "full", "--against", "E(t*6|)*13t*5|t*7|t*6L"];
    found(&[&flags[..], &[page], &other].concat());
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"));
    assert!(text.contains("Beside the other plan") && text.contains("5 BODY"));
    // A file of another kind is not replaced.
    std::fs::write(page, "mine").unwrap();
    assert!(refused(&[&flags[..], &[page]].concat()).contains("plan.html"));
    assert_eq!(std::fs::read_to_string(page).unwrap(), "mine");
}
