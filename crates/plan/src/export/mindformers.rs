//! YAML of MindFormers: offsets from L // (S·V) layers, and how many layers of each chunk are recomputed.
//!
//! The lists are cumulative, a full layer counts in all three: `select_recompute` = full + both + selective,
//! `select_comm_recompute` = full + both + communication. Each counts the first layers of a chunk, so a chunk with both
//! selective and communication cannot be stated, nor one whose layers are not full, both, one of them, none in this order.

use super::{Entry, Plan, no_pinned_layers};
use crate::megatron::setting::Layer;
use crate::model::{Model, Role};

pub(super) const ENTRY: Entry = Entry {
    name: "mindformers",
    summary: "YAML of MindFormers: offsets, lists of recomputed layers, scheduler, micro-batches",
    states,
    knows: |kind| rank(kind).is_some(),
    beginning: "parallel:\n  pipeline_config:\n    pipeline_interleave: ",
    write,
};

/// What sets MindSpore's interleaved schedule with less memory; it has no key in the file.
pub(crate) const LESS_MEMORY: &str = "ENABLE_LESS_MEM_VPP=1";

/// Layers in the three lists: recompute, select_recompute, select_comm_recompute.
type Counts = [usize; 3];

fn states(model: &Model) -> Result<(), String> {
    if model.segments.iter().any(|segment| segment.role == Role::Mtp) {
        return Err("layers that predict further tokens have no place in its offsets".to_owned());
    }
    no_pinned_layers(model)
}

fn write(plan: &Plan<'_>) -> Result<String, String> {
    let (stages, chunks) = (plan.stages, plan.chunks);
    let scheduler = match plan.schedule {
        "gpipe" if chunks == 1 => "gpipe",
        "1f1b" | "interleaved" | "interleaved-lm" => "1f1b",
        other => return Err(format!("its schedules are gpipe, 1f1b, interleaved and interleaved-lm, not {other}")),
    };
    if chunks > 1
        && plan.group.sizes(stages, plan.micro_batches)
            != crate::schedule::Grouping::First.sizes(stages, plan.micro_batches)
    {
        return Err(format!("groups '{}' of micro-batches; it has those of the rule 'first'", plan.group));
    }
    plan.ends_keep_all()?;
    let layers = plan.body()?;
    let total: usize = layers.iter().map(Vec::len).sum();
    let each = (total / layers.len()) as i64;
    let offsets: Vec<i64> = layers.iter().map(|stage| stage.len() as i64 - each).collect();
    let counted = layers.iter().enumerate().map(|(at, stage)| {
        counts(stage).map_err(|what| format!("stage {} chunk {}: {what}", at % stages, at / stages))
    });
    let counts = counted.collect::<Result<Vec<Counts>, String>>()?;
    let list = |of: usize| lists(&counts.iter().map(|count| count[of] as i64).collect::<Vec<_>>(), stages);
    let less_memory = if plan.schedule == "interleaved-lm" && chunks > 1 {
        format!("# run with {LESS_MEMORY} in the environment\n")
    } else {
        String::new()
    };
    // The scheduler is read only where pipelines interleave.
    let interleave = chunks > 1 || scheduler != "1f1b";
    Ok(format!(
        "parallel:\n  pipeline_config:\n    pipeline_interleave: {interleave}\n    pipeline_scheduler: \"{scheduler}\"\n\
         {less_memory}\
         parallel_config:\n  pipeline_stage: {stages}\n  micro_batch_num: {micro_batches}\n\
         model:\n  model_config:\n    num_layers: {total}\n    offset: {offset}\n    pp_interleave_num: {chunks}\n\
         recompute_config:\n  recompute: {recompute}\n  select_recompute: {select}\n  select_comm_recompute: {comm}\n",
        micro_batches = plan.micro_batches,
        offset = lists(&offsets, stages),
        recompute = list(0),
        select = list(1),
        comm = list(2),
    ))
}

/// Place of a kind in the order in which a chunk has them.
fn rank(kind: &str) -> Option<usize> {
    match kind {
        "full" => Some(0),
        "both" => Some(1),
        "selective" | "communication" => Some(2),
        "none" => Some(3),
        _ => None,
    }
}

/// The counts of a chunk.
fn counts(layers: &[Layer<'_>]) -> Result<Counts, String> {
    let mut latest = 0;
    for &(_, kind) in layers {
        let rank = rank(kind).ok_or_else(|| format!("it has no list for the kind {kind}"))?;
        if rank < latest {
            return Err(format!(
                "a layer with {kind} after one that keeps more; its lists count the first layers of a chunk"
            ));
        }
        latest = rank;
    }
    let of = |wanted: &str| layers.iter().filter(|&&(_, kind)| kind == wanted).count();
    let (full, both, selective, communication) = (of("full"), of("both"), of("selective"), of("communication"));
    if selective > 0 && communication > 0 {
        return Err(format!(
            "{selective} layers with selective beside {communication} with communication; its lists are nested"
        ));
    }
    Ok([full, full + both + selective, full + both + communication])
}

/// `[1, 0]`, or `[[1, 0], [0, 2]]` for several chunks.
fn lists(values: &[i64], stages: usize) -> String {
    let row = |row: &[i64]| format!("[{}]", row.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    let rows: Vec<String> = values.chunks(stages.max(1)).map(row).collect();
    if rows.len() == 1 { rows.concat() } else { format!("[{}]", rows.join(", ")) }
}
