//! Flags of Megatron-LM: the shortest layout string, the group of micro-batches, the one setting of recomputation. Flags that
//! count layers of first, last or virtual stages never stand beside a layout string.

use super::{Entry, Plan, no_pinned_layers};
use crate::import::parse_layout;
use crate::megatron::{Item, Rules, Setting, rules::Broken, setting::Layer, shortest};
use crate::schedule::Grouping;

pub(super) const ENTRY: Entry = Entry {
    name: "megatron",
    summary: "flags of Megatron-LM: layout string, group of micro-batches, recomputation",
    states: no_pinned_layers,
    knows: |_| true,
    beginning: "--pipeline-model-parallel-size ",
    write,
};

fn write(plan: &Plan<'_>) -> Result<String, String> {
    let chunked = plan.chunks > 1;
    match plan.schedule {
        "1f1b" if !chunked => {}
        "interleaved" if !chunked || plan.stages > 1 => {}
        "interleaved" => return Err("more than one chunk needs more than one stage".to_owned()),
        other => return Err(format!("its schedules are 1f1b and interleaved, not {other}")),
    }
    plan.ends_keep_all()?;
    let layers = plan.body()?;
    let setting = Setting::of(&layers, plan.stages)?;
    let items = items(&layers);
    let string = shortest(&items);
    let rules = Rules {
        stages: plan.stages,
        decoders: crate::megatron::count(&items, Item::Decoder),
        mtp: crate::megatron::count(&items, Item::Mtp),
        multi_loss: false,
    };
    rules.check(&items).map_err(|broken: Broken| broken.to_string())?;
    if parse_layout(&string)? != items {
        return Err(format!("the layout string {string} does not read as the layout it was written for"));
    }
    let group = if chunked { group(plan)? } else { None };
    let mut flags = vec![
        format!("--pipeline-model-parallel-size {}", plan.stages),
        format!("--pipeline-model-parallel-layout '{string}'"),
    ];
    flags.extend(group.map(|size| format!("--microbatch-group-size-per-virtual-pipeline-stage {size}")));
    flags.extend(Some(setting.flags()).filter(|flags| !flags.is_empty()));
    Ok(flags.join(" ") + "\n")
}

/// The items of each virtual stage, the ends included.
pub(super) fn items(layers: &[Vec<Layer<'_>>]) -> Vec<Vec<Item>> {
    let items = |stage: &Vec<Layer<'_>>| stage.iter().map(|&(item, _)| item).collect::<Vec<_>>();
    let mut items: Vec<Vec<Item>> = layers.iter().map(items).collect();
    items.first_mut().into_iter().for_each(|stage| stage.insert(0, Item::Embedding));
    items.last_mut().into_iter().for_each(|stage| stage.push(Item::Loss));
    items
}

/// Micro-batches of a group, where they are not as many as stages.
fn group(plan: &Plan<'_>) -> Result<Option<usize>, String> {
    let (stages, micro_batches) = (plan.stages, plan.micro_batches);
    let sizes = plan.group.sizes(stages, micro_batches);
    let accepts = |size: usize| Grouping::Uniform(size).megatron_accepts(stages, micro_batches);
    let size = sizes.first().copied().unwrap_or(0);
    if accepts(size) && Grouping::Uniform(size).sizes(stages, micro_batches) == sizes {
        return Ok(Some(size).filter(|&size| size != stages));
    }
    let legal: Vec<String> = (stages..=micro_batches).filter(|&size| accepts(size)).map(|s| s.to_string()).collect();
    let legal =
        if legal.is_empty() { "none is legal".to_owned() } else { format!("legal are uniform {}", legal.join(", ")) };
    Err(format!("groups '{}' of {micro_batches} micro-batches on {stages} stages; {legal}", plan.group))
}
