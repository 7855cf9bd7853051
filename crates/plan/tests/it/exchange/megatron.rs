//! Layout strings and flags of Megatron-LM.

use super::*;
use proptest::prelude::*;
use sapwood_plan::import::{Options, parse_layout};
use sapwood_plan::megatron::{Item, MOST, Rules, Setting};

fn lengths(text: &str) -> Vec<usize> {
    parse_layout(text).unwrap().iter().map(|s| s.iter().filter(|&&i| i == Item::Decoder).count()).collect()
}

fn string_of(flags: &str) -> &str {
    flags.split('\'').nth(1).unwrap()
}

/// A layout whose layers all keep everything.
fn plain(layout: &Layout) -> Layout {
    let mut rows = vec![[0; 5]; layout.chunks.len()];
    for (row, chunk) in rows.iter_mut().zip(&layout.chunks) {
        row[0] = chunk.iter().filter(|run| run.segment == 1).map(|run| run.count).sum();
    }
    super::layout(&rows)
}

#[test]
fn golden_layout_of_one_chunk() {
    let (model, layout) = (model(&[96]), plain(&layout(&ONE_CHUNK)));
    let flags = written("megatron", &plan(&model, &layout, 16)).unwrap();
    let string = "E(t*6|)*10(t*7|)*3t*6|t*5|t*4L";
    assert_eq!(flags, format!("--pipeline-model-parallel-size 16 --pipeline-model-parallel-layout '{string}'\n"));
    let options = Options { stages: Some(16), ..Options::default() };
    let imported = read("megatron_layout", string, &model, &options).unwrap();
    assert_eq!((imported.layout, imported.chunks), (layout, 1));
}

#[test]
fn layout_of_two_chunks() {
    let (model, layout) = (model(&[96]), plain(&two_chunks()));
    let flags = written("megatron", &plan(&model, &layout, 16)).unwrap();
    assert!(megatron_twin::accepts(string_of(&flags), 16, 96, 0), "{flags}");
    assert!(!flags.contains("group-size"));
    let options = Options { stages: Some(16), ..Options::default() };
    assert_eq!(read("megatron_layout", string_of(&flags), &model, &options).unwrap().layout, layout);
}

#[test]
fn mixed_kinds_are_refused_with_the_stage() {
    let (model, layout) = (model(&[96]), layout(&ONE_CHUNK));
    let message = written("megatron", &plan(&model, &layout, 16)).unwrap_err();
    assert!(message.starts_with("megatron cannot state this plan: one setting of recomputation"), "{message}");
    assert!(message.contains("first in stage 0 chunk 0: full 1, both 5 and not none 6"), "{message}");
}

#[test]
fn settings_are_found() {
    let cases: [(&[[u32; 5]], &str); 5] = [
        (&[[3, 0, 0, 0, 0], [2, 0, 0, 0, 0]], ""),
        (&[[0, 3, 0, 0, 0], [0, 2, 0, 0, 0]], " --recompute-granularity selective"),
        (
            &[[0, 0, 0, 0, 3], [0, 0, 0, 0, 2]],
            " --recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
        ),
        (
            &[[1, 0, 0, 0, 2], [0, 0, 0, 0, 2]],
            " --recompute-granularity full --recompute-method block --recompute-num-layers 2",
        ),
        (
            &[[0, 0, 0, 0, 1], [5, 0, 0, 0, 2]],
            " --recompute-granularity full --recompute-method block --recompute-num-layers 2",
        ),
    ];
    for (rows, flags) in cases {
        let layout = layout(rows);
        let model = model(&[layers(&layout)]);
        let found = written("megatron", &plan(&model, &layout, 2)).unwrap();
        assert_eq!(found.trim_end().rsplit_once('\'').unwrap().1, flags);
    }
    let layout = layout(&[[1, 0, 0, 0, 1], [3, 0, 0, 0, 0], [1, 0, 0, 0, 1]]);
    let message = written("megatron", &plan(&model(&[7]), &layout, 3)).unwrap_err();
    assert!(message.contains("the nearest, full block 1, differs in 1 virtual stages, first in stage 1 chunk 0: none 3 and not full 1, none 2"), "{message}");
}

#[test]
fn full_layers_after_kept_ones_are_refused() {
    let model = model(&[2, 2]);
    let run = |segment, kind, count| Run { segment, kind, count };
    let layout = Layout { chunks: vec![vec![run(0, 0, 1), run(1, 0, 2), run(2, 4, 1), run(2, 0, 1), run(3, 0, 1)]] };
    assert!(written("megatron", &plan(&model, &layout, 1)).unwrap_err().contains("stage 0 chunk 0"));
}

#[test]
fn groups_are_stated_or_refused() {
    let (model, layout) = (model(&[8]), layout(&[[1, 0, 0, 0, 0]; 8]));
    let base = plan(&model, &layout, 4);
    let with = |micro_batches, group| written("megatron", &Plan { micro_batches, group, ..base });
    let flag = "--microbatch-group-size-per-virtual-pipeline-stage";
    assert!(!with(8, Grouping::First).unwrap().contains(flag));
    assert!(with(7, Grouping::First).unwrap().contains(&format!("{flag} 7")));
    assert!(with(9, Grouping::Uniform(5)).unwrap().contains(&format!("{flag} 5")));
    // Groups of 5 and 4 are what the rule 'first' makes of 9; it makes 5, 4, 4 of 13.
    assert!(with(9, Grouping::First).unwrap().contains(&format!("{flag} 5")));
    let message = with(13, Grouping::First).unwrap_err();
    assert!(message.contains("legal are uniform 7, 8, 9, 13"), "{message}");
    assert!(with(9, Grouping::Uniform(4)).unwrap_err().contains("legal are"));
    assert!(with(3, Grouping::First).unwrap_err().contains("none is legal"));
    let other = |schedule| written("megatron", &Plan { schedule, ..base }).unwrap_err();
    assert!(other("interleaved-lm").contains("not interleaved-lm") && other("1f1b").contains("not 1f1b"));
}

#[test]
fn plans_that_are_none_are_refused() {
    let model = model(&[4]);
    let refused = |rows: &[[u32; 5]], stages| written("megatron", &plan(&model, &layout(rows), stages)).unwrap_err();
    assert!(refused(&[[3, 0, 0, 0, 0]], 1).contains("3 layers of body0, and the model has 4"));
    let good = layout(&[[2, 0, 0, 0, 0], [2, 0, 0, 0, 0]]);
    let wrong = Plan { chunks: 3, ..plan(&model, &good, 2) };
    assert!(written("megatron", &wrong).unwrap_err().contains("2 virtual stages for 2 stages of 3 chunks"));
    let mut late = good.clone();
    late.chunks.reverse();
    assert!(written("megatron", &plan(&model, &late, 2)).unwrap_err().contains("which belong to"));
    let mut unknown = good;
    unknown.chunks[0][0].segment = 9;
    assert!(written("megatron", &plan(&model, &unknown, 2)).unwrap_err().contains("no segment 9"));
}

#[test]
fn strings_are_read() {
    assert_eq!(lengths("Et*3|(tt|)*2,m|L"), [3, 2, 2, 0, 0]);
    assert_eq!(lengths("E t , t |\n t*1 0 L"), [2, 10]);
    assert_eq!(lengths("|*2E(t*2|t)*2L"), [0, 0, 2, 3, 1]);
    assert_eq!(lengths("t*0|(t)*0(||)*1"), [0, 0, 0, 0]);
    assert_eq!(lengths(""), [0]);
}

#[test]
fn strings_that_are_none_are_refused_with_the_place() {
    for (text, message) in [
        ("Etx", "character 3: 'x' is none of"),
        ("E tX", "character 4: 'X'"),
        ("*3", "character 1: '*' must follow"),
        ("t*2*3", "character 4: '*' must follow"),
        ("(t)*2*3", "character 6: '*' must follow"),
        ("t*", "character 2: a number must follow"),
        ("t*x", "character 2: a number must follow"),
        ("(t|", "character 1: the group is not closed"),
        ("t)", "character 2: ')' closes no group"),
        ("E((t)*2)*2", "character 3: a group inside a group"),
        ("()*3", "character 1: the group is empty"),
        ("E(t|)t", "character 2: '*' and a number"),
        ("t*999999999", "character 1: more than 16384"),
        ("t*99999999999999999999999999", "character 1: more than 16384"),
        ("(t*9999)*9999", "character 1: more than 16384"),
        ("t*16000(t*300|)*2", "character 8: more than 16384"),
    ] {
        let found = parse_layout(text).unwrap_err();
        assert!(found.starts_with(message), "{text}: {found}");
    }
    assert!(parse_layout(&"(".repeat(1_000_000)).is_err());
    assert!(parse_layout(&"t".repeat(1_000_000)).is_err());
    assert_eq!(parse_layout(&"t".repeat(MOST)).unwrap()[0].len(), MOST);
    assert!(parse_layout("(t*0)*99999999999999999999").unwrap()[0].is_empty());
}

#[test]
fn every_rule_is_named() {
    let check = |text: &str, stages, decoders, mtp, multi_loss| {
        let rules = Rules { stages, decoders, mtp, multi_loss };
        rules.check(&parse_layout(text).unwrap()).map_err(|broken| broken.rule)
    };
    for (text, stages, decoders, mtp, rule) in [
        ("Et|tL", 3, 2, 0, "divisible"),
        ("Et|tL", 0, 2, 0, "divisible"),
        ("tE|tL", 2, 2, 0, "first item is E"),
        ("|", 2, 0, 0, "first item is E"),
        ("", 1, 0, 0, "first item is E"),
        ("Et|Lt", 2, 2, 0, "last item is L"),
        ("E", 1, 0, 0, "last item is L"),
        ("Et|EL", 2, 1, 0, "one E"),
        ("EL|tL", 2, 1, 0, "one L"),
        ("Et|tL", 2, 3, 0, "as many t as layers"),
        ("Et|tmL", 2, 2, 0, "as many m as layers"),
        ("Et|tL", 2, 2, 1, "as many m as layers"),
        ("Et|tmtL", 2, 3, 1, "no t after m"),
        ("Et|m|mL", 3, 1, 2, "all m in one virtual stage"),
        ("Et|m|L|", 2, 1, 1, "m in the last chunk of its rank"),
        ("Et|t|mL|", 2, 2, 1, "m not on rank 0"),
        ("Et|t|m|L", 2, 2, 1, "m not on rank 0"),
    ] {
        assert_eq!(check(text, stages, decoders, mtp, false), Err(rule), "{text}");
        assert!(stages == 0 || !megatron_twin::accepts(text, stages, decoders, mtp), "{text}");
    }
    for (text, stages, decoders, mtp) in [
        ("E(|tt)*30,|mL", 32, 60, 1),
        ("E(|tt)*30,|mL", 16, 60, 1),
        ("Et*3|(tt|)*29,m|L", 16, 61, 1),
        ("|E||tL||", 3, 1, 0),
        ("EtmL", 1, 1, 1),
        ("Et|mmL", 2, 1, 2),
    ] {
        assert_eq!(check(text, stages, decoders, mtp, false), Ok(()), "{text}");
        assert!(megatron_twin::accepts(text, stages, decoders, mtp), "{text}");
    }
    assert_eq!(check("Et|mLL", 2, 1, 1, true), Ok(()));
    assert_eq!(check("Et|mLLL", 2, 1, 1, true), Err("one L more than m"));
    let rules = Rules { stages: 2, decoders: 2, mtp: 1, multi_loss: false };
    let message = rules.check(&parse_layout("Et|t|m|L").unwrap()).unwrap_err().to_string();
    assert_eq!(message, "rule 'm not on rank 0': virtual stage 2 is on rank 0");
}

#[test]
fn layers_of_further_tokens_are_written_and_read() {
    let mut model = model(&[4, 1]);
    model.segments[2].role = Role::Mtp;
    let run = |segment, kind, count| Run { segment, kind, count };
    let chunks = vec![vec![run(0, 0, 1), run(1, 0, 2)], vec![run(1, 0, 2)], vec![run(2, 0, 1), run(3, 0, 1)]];
    let layout = Layout { chunks };
    let plan = plan(&model, &layout, 3);
    let flags = written("megatron", &plan).unwrap();
    assert_eq!(string_of(&flags), "Ett|tt|mL");
    let options = Options { stages: Some(3), ..Options::default() };
    assert_eq!(read("megatron_layout", "Ett|tt|mL", &model, &options).unwrap().layout, layout);
    let first = Layout { chunks: vec![layout.chunks.concat(), vec![]] };
    let mut first = first;
    let tail = first.chunks[0].pop().unwrap();
    first.chunks[1].push(tail);
    let message = written("megatron", &Plan { layout: &first, stages: 2, ..plan }).unwrap_err();
    assert!(message.contains("rule 'm not on rank 0'"), "{message}");
}

#[test]
fn imports_need_stages_and_costs_of_the_kind() {
    let model = model(&[2]);
    let options = Options::default();
    assert!(read("megatron_layout", "Et|tL", &model, &options).unwrap_err().contains("state them"));
    let options = Options { stages: Some(2), recompute: Setting::Selective("mlp".to_owned()), ..options };
    let message = read("megatron_layout", "Et|tL", &model, &options).unwrap_err();
    assert!(message.contains("segment body0 has no costs for the kind mlp"), "{message}");
}

/// Layouts under one setting of recomputation.
fn layouts() -> impl Strategy<Value = (usize, Vec<u32>, Setting)> {
    let settings = prop_oneof![
        Just(Setting::None),
        Just(Setting::Selective("selective".to_owned())),
        Just(Setting::Uniform),
        (1usize..4).prop_map(Setting::Block),
    ];
    let counts = |(stages, chunks): (usize, usize)| {
        let few = prop::collection::vec(0u32..4, stages * chunks);
        let many = prop::collection::vec(0u32..14, stages * chunks);
        (Just(stages), prop_oneof![few, many])
    };
    ((1usize..9, 1usize..4).prop_flat_map(counts), settings)
        .prop_map(|((stages, counts), setting)| (stages, counts, setting))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_written_is_read((stages, counts, setting) in layouts()) {
        let row = |&count: &u32| match &setting {
            Setting::None => [count, 0, 0, 0, 0],
            Setting::Selective(_) => [0, count, 0, 0, 0],
            Setting::Uniform => [0, 0, 0, 0, count],
            Setting::Block(n) => [count - count.min(*n as u32), 0, 0, 0, count.min(*n as u32)],
        };
        let rows: Vec<[u32; 5]> = counts.iter().map(row).collect();
        let layout = layout(&rows);
        let model = model(&[counts.iter().sum()]);
        let plan = plan(&model, &layout, stages);
        let flags = written("megatron", &plan);
        if stages == 1 && plan.chunks > 1 {
            prop_assert!(flags.is_err());
        } else {
            let flags = flags.unwrap();
            let string = string_of(&flags);
            prop_assert!(megatron_twin::accepts(string, stages, layers(&layout) as usize, 0), "{}", string);
            let options = Options { stages: Some(stages), recompute: setting, ..Options::default() };
            let imported = read("megatron_layout", string, &model, &options).unwrap();
            prop_assert_eq!(imported.layout, layout.clone());
        }
    }
}

/// Blanks apart, what we read Megatron-LM reads the same.
fn reads_as_the_twin(text: &str) -> Result<(), TestCaseError> {
    if let Ok(stages) = parse_layout(text) {
        let letters: Vec<String> = stages.iter().map(|s| s.iter().map(|i| i.letter()).collect()).collect();
        prop_assert_eq!(megatron_twin::stages(&text.replace(' ', "")), Some(letters));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000_000))]

    #[test]
    #[ignore = "long: part of make test-long"]
    fn a_million_random_strings_never_panic(text in "[EtmL|()*0-9, ]{0,24}") {
        reads_as_the_twin(&text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn random_strings_never_panic(text in "[EtmL|()*0-9, ]{0,24}") {
        reads_as_the_twin(&text)?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,12}") {
        let _ = parse_layout(&text);
    }
}
