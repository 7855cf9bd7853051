//! Flags of running jobs.

use super::*;
use proptest::prelude::*;
use sapwood_plan::import::{Imported, Options};

fn job(text: &str, layers: u32) -> Result<Imported, String> {
    read("megatron_flags", text, &model(&[layers]), &Options::default())
}

fn sizes(text: &str, layers: u32) -> Vec<u32> {
    let body = |chunk: &Vec<Run>| chunk.iter().filter(|run| run.segment == 1).map(|run| run.count).sum();
    job(text, layers).unwrap().layout.chunks.iter().map(body).collect()
}

#[test]
fn counts_are_read_as_megatron_reads_them() {
    let four = "torchrun pretrain_gpt.py --lr 1e-4 --pipeline-model-parallel-size 4";
    assert_eq!(sizes("--num-layers 8", 8), [8]);
    assert_eq!(sizes(four, 8), [2; 4]);
    assert_eq!(sizes(&format!("{four} --num-layers-per-virtual-pipeline-stage 1"), 8), [1; 8]);
    assert_eq!(sizes(&format!("{four} --num-virtual-stages-per-pipeline-rank=2"), 16), [2; 8]);
    assert_eq!(sizes(&format!("{four} --decoder-first-pipeline-num-layers 1"), 10), [1, 3, 3, 3]);
    assert_eq!(sizes(&format!("{four} --decoder-last-pipeline-num-layers 1"), 10), [3, 3, 3, 1]);
    let both = format!("{four} --decoder-first-pipeline-num-layers 2 \\\n --decoder-last-pipeline-num-layers 4");
    assert_eq!(sizes(&both, 18), [2, 6, 6, 4]);
    assert_eq!(sizes(&format!("{both} --num-virtual-stages-per-pipeline-rank 2"), 18), [1, 3, 3, 2, 1, 3, 3, 2]);
    let accounted = format!("{four} --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split");
    assert_eq!(sizes(&accounted, 10), [2, 3, 3, 2]);
    let chunked = format!("{accounted} --num-layers-per-virtual-pipeline-stage 2");
    assert_eq!(sizes(&chunked, 14), [1, 2, 2, 2, 2, 2, 2, 1]);
    assert_eq!(sizes(&format!("{four} --pipeline-model-parallel-layout \"Et*3|(tt|)*2 t,L\""), 8), [3, 2, 2, 1]);
}

#[test]
fn flags_that_megatron_refuses_are_refused() {
    let four = "--pipeline-model-parallel-size 4";
    for (flags, layers, message) in [
        ("--num-layers 9", 8, "--num-layers is 9, and the model has 8"),
        ("", 9, "9 layers do not divide into 4 stages"),
        ("--num-virtual-stages-per-pipeline-rank 3", 8, "2 layers do not divide into 3 chunks"),
        ("--num-layers-per-virtual-pipeline-stage 3", 8, "2 layers do not divide into 3 layers of a chunk"),
        ("--num-layers-per-virtual-pipeline-stage 0", 8, "is 0; write 1 or more"),
        (
            "--num-layers-per-virtual-pipeline-stage 1 --decoder-first-pipeline-num-layers 2",
            8,
            "write --num-virtual-stages",
        ),
        ("--num-layers-per-virtual-pipeline-stage 1 --num-virtual-stages-per-pipeline-rank 2", 8, "more than one of"),
        ("--decoder-first-pipeline-num-layers 9", 8, "are more than the 8 layers"),
        ("--decoder-first-pipeline-num-layers 2 --account-for-loss-in-pipeline-split", 8, "beside"),
        ("--decoder-first-pipeline-num-layers", 8, "has no value"),
        ("--decoder-first-pipeline-num-layers two", 8, "no whole number"),
        ("--pipeline-model-parallel-layout 'Et|t|t|tL' --decoder-last-pipeline-num-layers 1", 4, "beside"),
        ("--pipeline-model-parallel-layout 'Et|t|tL'", 3, "rule 'divisible'"),
        ("--pipeline-model-parallel-layout 'Et|q'", 3, "character 4: 'q'"),
        ("--pipeline-model-parallel-layout 'Et", 3, "character 67: ' is not closed"),
        ("--recompute-granularity some", 8, "is some, not selective or full"),
        ("--recompute-granularity full", 8, "needs --recompute-method"),
        ("--recompute-granularity full --recompute-method some --recompute-num-layers 1", 8, "is some, not block"),
        ("--recompute-granularity full --recompute-method uniform --recompute-num-layers 2", 8, "groups of 2"),
        ("--recompute-activations --recompute-method block", 8, "go with"),
        (
            "--recompute-activations --recompute-granularity full --recompute-method uniform --recompute-num-layers 1",
            8,
            "means --recompute-granularity selective, and --recompute-granularity is full",
        ),
        ("--recompute-granularty full", 8, "did you mean --recompute-granularity?"),
        ("--num_layers 8", 8, "did you mean --num-layers?"),
        ("--micro-batch-size 0", 8, "is 0; write 1 or more"),
        ("--global-batch-size 9 --micro-batch-size 2 --data-parallel-size 2", 8, "9 is no multiple of 2 x 2"),
        ("--world-size 20 --tensor-model-parallel-size 2", 8, "20 is no multiple of 2 x 1 x 4"),
        ("--world-size 16 --data-parallel-size 2", 8, "is 2, and --world-size makes 4"),
    ] {
        let found = job(&format!("{four} {flags}"), layers).unwrap_err();
        assert!(found.contains(message), "{flags}: {found}");
    }
    assert!(job("--num-virtual-stages-per-pipeline-rank 2", 8).unwrap_err().contains("more than one stage"));
    let message = job("--pipeline-model-parallel-size 99999999999", 8).unwrap_err();
    assert!(message.contains("16384 at most"), "{message}");
    let message = job(
        "--pipeline-model-parallel-size 2 --decoder-first-pipeline-num-layers 1 --decoder-last-pipeline-num-layers 1",
        8,
    );
    assert!(message.unwrap_err().contains("rule 'as many t as layers'"));
}

#[test]
fn recomputation_is_read() {
    let kinds = |flags: &str| -> Vec<Vec<(usize, u32)>> {
        let imported = job(&format!("--pipeline-model-parallel-size 2 {flags}"), 6).unwrap();
        let body = |chunk: &Vec<Run>| chunk.iter().filter(|r| r.segment == 1).map(|r| (r.kind, r.count)).collect();
        imported.layout.chunks.iter().map(body).collect()
    };
    assert_eq!(kinds(""), [[(0, 3)], [(0, 3)]]);
    assert_eq!(kinds("--recompute-activations"), [[(1, 3)], [(1, 3)]]);
    let full = "--recompute-granularity full --recompute-num-layers";
    assert_eq!(kinds(&format!("{full} 1 --recompute-method uniform")), [[(4, 3)], [(4, 3)]]);
    assert_eq!(kinds(&format!("{full} 2 --recompute-method block")), [[(4, 2), (0, 1)], [(4, 2), (0, 1)]]);
    assert_eq!(kinds(&format!("{full} 9 --recompute-method block")), [[(4, 3)], [(4, 3)]]);
    let imported = job("--recompute-granularity selective --recompute-modules moe_act layernorm --seed 1", 2).unwrap();
    let taken = "--recompute-modules moe_act layernorm: taken as the model's kind selective";
    assert_eq!(imported.warnings, ["1 other flag is not read", taken]);
}

#[test]
fn texts_without_a_pipeline_are_refused() {
    for text in ["", "hello", "--lr 1e-4", "--global-batch-size 8 --micro-batch-size 1"] {
        let message = job(text, 8).unwrap_err();
        assert!(
            message.contains("no flag of a pipeline is there: --pipeline-model-parallel-size"),
            "{text}: {message}"
        );
    }
    for text in ["", "a: 1\nb: [2]", "micro_batch_num: 4"] {
        let options = Options { stages: Some(2), ..Options::default() };
        let message = read("mindformers_yaml", text, &model(&[4]), &options).unwrap_err();
        assert!(message.contains("no key of a pipeline is there, of pipeline_stage"), "{text}: {message}");
    }
}

#[test]
fn micro_batches_follow_from_the_batch_where_they_can() {
    let four = "--pipeline-model-parallel-size 4 --global-batch-size 64 --micro-batch-size 2";
    let micro_batches = |more: &str| job(&format!("{four} {more}"), 8).unwrap().micro_batches;
    assert_eq!(micro_batches(""), None);
    assert_eq!(micro_batches("--data-parallel-size 4"), Some(8));
    assert_eq!(micro_batches("--world-size 32 --tensor-model-parallel-size 2 --context-parallel-size 2"), Some(16));
    assert_eq!(micro_batches("--world-size 16 --data-parallel-size 4"), Some(8));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn what_is_written_is_read(
        stages in 1usize..7,
        chunks in 1usize..4,
        counts in prop::collection::vec(0u32..9, 18),
        block in 0u32..4,
        group in 0usize..4,
    ) {
        let row = |&count: &u32| [count - count.min(block), 0, 0, 0, count.min(block)];
        let rows: Vec<[u32; 5]> = counts[..stages * chunks].iter().map(row).collect();
        let layout = layout(&rows);
        let model = model(&[layers(&layout)]);
        let size = stages + group;
        let plan = Plan { micro_batches: 2 * size, group: Grouping::Uniform(size), ..plan(&model, &layout, stages) };
        if let Ok(flags) = written("megatron", &plan) {
            let imported = read("megatron_flags", &flags, &model, &Options::default()).unwrap();
            prop_assert_eq!((imported.layout, imported.stages, imported.chunks), (layout.clone(), stages, chunks));
            prop_assert_eq!(imported.group, (chunks > 1 && group > 0).then_some(size));
            prop_assert_eq!(imported.schedule, Some(plan.schedule));
        } else {
            prop_assert!(stages == 1 && chunks > 1);
        }
    }

    #[test]
    fn any_flags_are_read_or_refused(
        numbers in prop::collection::vec(any::<u64>(), 8),
        chosen in prop::collection::vec(0usize..9, 0..6),
        text in "\\PC{0,10}",
    ) {
        let names = [
            "--pipeline-model-parallel-size", "--num-layers-per-virtual-pipeline-stage",
            "--num-virtual-stages-per-pipeline-rank", "--decoder-first-pipeline-num-layers",
            "--decoder-last-pipeline-num-layers", "--account-for-loss-in-pipeline-split",
            "--recompute-granularity full --recompute-method block --recompute-num-layers",
            "--microbatch-group-size-per-virtual-pipeline-stage", "--pipeline-model-parallel-layout",
        ];
        let flag = |(at, &name): (usize, &usize)| format!("{} {}", names[name], numbers[at] >> (numbers[7] % 64));
        let flags: Vec<String> = chosen.iter().enumerate().map(flag).collect();
        let _ = job(&flags.join(" "), 12);
        let _ = job(&format!("{} {text}", flags.join(" ")), 12);
    }
}
