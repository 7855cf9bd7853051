//! YAML of MindFormers.

use super::*;
use proptest::prelude::*;
use sapwood_plan::import::Options;

fn line<'a>(text: &'a str, key: &str) -> &'a str {
    let found = text.lines().find_map(|line| line.trim_start().strip_prefix(key)?.strip_prefix(": "));
    found.unwrap_or_else(|| panic!("no {key} in {text}"))
}

#[test]
fn golden_lists_of_one_chunk() {
    let (model, layout) = (model(&[96]), layout(&ONE_CHUNK));
    let plan = Plan { micro_batches: 32, ..plan(&model, &layout, 16) };
    let text = written("mindformers", &plan).unwrap();
    assert_eq!(line(&text, "offset"), "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, -1, -2]");
    assert_eq!(line(&text, "recompute"), "[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]");
    assert_eq!(line(&text, "select_recompute"), "[6, 5, 6, 6, 6, 6, 6, 4, 1, 0, 0, 0, 0, 0, 0, 0]");
    assert_eq!(line(&text, "select_comm_recompute"), "[6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]");
    assert_eq!((line(&text, "pp_interleave_num"), line(&text, "micro_batch_num")), ("1", "32"));
    let imported = read("mindformers_yaml", &text, &model, &Options::default()).unwrap();
    assert_eq!((imported.layout, imported.stages, imported.chunks), (layout, 16, 1));
    assert_eq!((imported.schedule, imported.micro_batches), (Some("1f1b"), Some(32)));
}

#[test]
fn lists_of_two_chunks() {
    let (model, layout) = (model(&[96]), two_chunks());
    let base = plan(&model, &layout, 16);
    for schedule in ["interleaved", "interleaved-lm"] {
        let text = written("mindformers", &Plan { schedule, ..base }).unwrap();
        assert_eq!(
            line(&text, "offset"),
            "[[-1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1], \
             [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, -2]]"
        );
        assert_eq!(line(&text, "pipeline_interleave"), "true");
        let imported = read("mindformers_yaml", &text, &model, &Options::default()).unwrap();
        assert_eq!((imported.layout, imported.schedule), (layout.clone(), Some(schedule)));
    }
}

#[test]
fn what_has_no_list_is_refused() {
    let refused = |rows: &[[u32; 5]], change: &dyn Fn(&mut Plan<'_>)| {
        let layout = layout(rows);
        let model = model(&[layers(&layout)]);
        let mut plan = plan(&model, &layout, 2);
        change(&mut plan);
        written("mindformers", &plan).unwrap_err()
    };
    let message = refused(&[[1, 0, 0, 0, 0], [0, 1, 2, 0, 0]], &|_| {});
    assert!(message.contains("stage 1 chunk 0: 1 layers with selective beside 2"), "{message}");
    assert!(refused(&[[1, 0, 0, 0, 0]; 2], &|p| p.schedule = "zb-h1").contains("not zb-h1"));
    assert!(
        refused(&[[1, 0, 0, 0, 0]; 4], &|p| (p.micro_batches, p.group) = (5, Grouping::Uniform(5)))
            .contains("uniform:5")
    );
    let model = model(&[1, 1]);
    let run = |segment, kind, count| Run { segment, kind, count };
    let layout = Layout { chunks: vec![vec![run(0, 0, 1), run(1, 0, 1), run(2, 4, 1), run(3, 0, 1)]] };
    let message = written("mindformers", &plan(&model, &layout, 1)).unwrap_err();
    assert!(message.contains("stage 0 chunk 0: a layer with full after"), "{message}");
}

#[test]
fn files_of_users_are_read() {
    // 48 layers on 5 stages of 2 chunks; a list by stage is shared out among the chunks.
    let text = "
model:
  model_config:
    num_layers: 48
    pp_interleave_num: 2
    offset: [[0,1,1,1,1],[1,1,1,1,1]]
parallel_config:
  pipeline_stage: 5
  micro_batch_num: 10
recompute_config:
  recompute: [[2,1,0,0,0],[1,0,0,0,0]]
  select_recompute: [2,1,0,0,0]
  select_comm_recompute: False
";
    let model = model(&[49]);
    let options = Options::default();
    let message = read("mindformers_yaml", text, &model, &options).unwrap_err();
    assert!(message.contains("num_layers is 48, and the model has 49"), "{message}");
    let model = super::model(&[48]);
    let message = read("mindformers_yaml", text, &model, &options).unwrap_err();
    assert!(message.contains("offset: the virtual stages have 49 layers together"), "{message}");
    let text = text.replace("[1,1,1,1,1]", "[1,1,1,1,0]");
    let imported = read("mindformers_yaml", &text, &model, &options).unwrap();
    assert_eq!((imported.stages, imported.chunks, imported.micro_batches), (5, 2, Some(10)));
    let chunk = &imported.layout.chunks[0];
    assert_eq!(chunk[1..], [Run { segment: 1, kind: 4, count: 2 }, Run { segment: 1, kind: 0, count: 2 }]);
    let all = text.replace("[[2,1,0,0,0],[1,0,0,0,0]]", "true");
    let imported = read("mindformers_yaml", &all, &model, &options).unwrap();
    assert!(imported.layout.chunks.iter().flatten().all(|run| run.segment != 1 || run.kind == 4));
    for (from, to, what) in [
        ("[[0,1,1,1,1],[1,1,1,1,0]]", "[0,1,1,1,0]", "offset: write 2 lists, one a chunk"),
        ("select_recompute: [2,1,0,0,0]", "select_recompute: {'mul': True}", "lists by operator"),
        ("select_recompute: [2,1,0,0,0]", "select_recompute: [2,1,0,0]", "select_recompute: a list of 4 for 5 stages"),
        (
            "select_recompute: [2,1,0,0,0]",
            "select_recompute: [20,1,0,0,0]",
            "select_recompute: 10 of the 4 layers of virtual stage 0",
        ),
        ("select_recompute: [2,1,0,0,0]", "select_recompute: [-2,1,0,0,0]", "select_recompute: -1 of the 4"),
        ("[[2,1,0,0,0],[1,0,0,0,0]]", "[[2,1,0,0,0]]", "recompute: 1 lists for 2 chunks"),
        ("pipeline_stage: 5", "pipeline_stage: 0", "is 0; write 1 or more"),
        ("pipeline_stage: 5", "pipeline_stage: 99999999999999", "16384 at most"),
        ("[[0,1", "[[-9,1", "offset -9 of virtual stage 0 does not fit 4 layers"),
        ("micro_batch_num: 10", "micro_batch_num: many", "micro_batch_num is \"many\""),
        ("micro_batch_num: 10", "num_layers: 4", "num_layers is there twice"),
    ] {
        let message = read("mindformers_yaml", &text.replacen(from, to, 1), &model, &options).unwrap_err();
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn hostile_files_are_refused() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n".to_owned()
        + &('b'..='k')
            .map(|c| format!("{c}: &{c} [{}]\n", format!("*{},", (c as u8 - 1) as char).repeat(9)))
            .collect::<String>();
    for text in ["[".repeat(100_000), "a:\n  - ".to_owned(), bomb, "\u{feff}".to_owned(), "- 1\n a: 2".to_owned()] {
        let message = read("mindformers_yaml", &text, &model(&[4]), &Options::default()).unwrap_err();
        assert!(!message.contains('\n') && message.len() < 200, "{message}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_written_is_read(
        stages in 1usize..7,
        chunks in 1usize..4,
        numbers in prop::collection::vec((0u32..4, 0u32..4, 0u32..4, 0u32..4, any::<bool>()), 18),
    ) {
        let row = |&(none, one, both, full, selective): &(u32, u32, u32, u32, bool)| {
            if selective { [none, one, 0, both, full] } else { [none, 0, one, both, full] }
        };
        let rows: Vec<[u32; 5]> = numbers[..stages * chunks].iter().map(row).collect();
        let layout = layout(&rows);
        let model = model(&[layers(&layout)]);
        let text = written("mindformers", &plan(&model, &layout, stages)).unwrap();
        let imported = read("mindformers_yaml", &text, &model, &Options::default()).unwrap();
        prop_assert_eq!(imported.layout, layout);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9\\[\\]{}:,&*!|>'\" \n-]{0,60}") {
        let _ = read("mindformers_yaml", &text, &model(&[4]), &Options { stages: Some(2), ..Options::default() });
    }
}
