//! Flags of a Megatron-LM job, read as Megatron-LM reads them: stages and layers from a layout string, or from counts of
//! layers; groups and number of micro-batches; recomputation. Other flags of the job are passed over, unless they are one of
//! these but for a slip.

use super::{Entry, Imported, Options, finish, parse_layout, total};
use crate::megatron::{Item, MOST, Setting, setting::MODULES};
use crate::model::{Model, Role};
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "megatron_flags",
    summary: "flags of a Megatron-LM job: layout or counts of layers, recomputation, groups of micro-batches",
    read,
};

const STAGES: &str = "--pipeline-model-parallel-size";
const LAYERS: &str = "--num-layers";
const MTP: &str = "--mtp-num-layers";
const LAYOUT: &str = "--pipeline-model-parallel-layout";
const LAYERS_PER_CHUNK: &str = "--num-layers-per-virtual-pipeline-stage";
const CHUNKS: &str = "--num-virtual-stages-per-pipeline-rank";
const FIRST: &str = "--decoder-first-pipeline-num-layers";
const LAST: &str = "--decoder-last-pipeline-num-layers";
const WITH_EMBEDDING: &str = "--account-for-embedding-in-pipeline-split";
const WITH_LOSS: &str = "--account-for-loss-in-pipeline-split";
const GROUP: &str = "--microbatch-group-size-per-virtual-pipeline-stage";
const ACTIVATIONS: &str = "--recompute-activations";
const GRANULARITY: &str = "--recompute-granularity";
const METHOD: &str = "--recompute-method";
const RECOMPUTED: &str = "--recompute-num-layers";
const RECOMPUTED_MODULES: &str = "--recompute-modules";

/// Flags of the batch and the machine, which alone say nothing of a pipeline.
const BATCH: [&str; 6] = [GLOBAL_BATCH, MICRO_BATCH, REPLICAS, WORLD, TENSOR, CONTEXT];
const GLOBAL_BATCH: &str = "--global-batch-size";
const MICRO_BATCH: &str = "--micro-batch-size";
const REPLICAS: &str = "--data-parallel-size";
const WORLD: &str = "--world-size";
const TENSOR: &str = "--tensor-model-parallel-size";
const CONTEXT: &str = "--context-parallel-size";

/// Flags with one value.
const ONE: [&str; 12] =
    [STAGES, LAYERS, MTP, LAYOUT, LAYERS_PER_CHUNK, CHUNKS, FIRST, LAST, GROUP, GRANULARITY, METHOD, RECOMPUTED];
/// Flags without a value.
const BARE: [&str; 3] = [WITH_EMBEDDING, WITH_LOSS, ACTIVATIONS];

fn read(text: &str, model: &Model, options: &Options) -> Result<Imported, String> {
    let flags = Flags::of(&words(text)?)?;
    super::no_pinned_layers(model)?;
    let (decoders, mtp) = (total(model, Role::Body), total(model, Role::Mtp));
    for (flag, count) in [(LAYERS, decoders), (MTP, mtp)] {
        if let Some(said) = flags.number(flag)?.filter(|&said| said != count) {
            return Err(format!("{flag} is {said}, and the model has {count} such layers"));
        }
    }
    let stages = flags.positive(STAGES)?.unwrap_or(1);
    let several = [LAYOUT, LAYERS_PER_CHUNK, CHUNKS].map(|flag| flags.has(flag));
    if several.into_iter().filter(|&there| there).count() > 1 {
        return Err(format!("more than one of {LAYOUT}, {LAYERS_PER_CHUNK} and {CHUNKS}"));
    }
    let virtual_stages = match flags.value(LAYOUT) {
        Some(string) => {
            if let Some(flag) = [FIRST, LAST, WITH_EMBEDDING, WITH_LOSS].into_iter().find(|flag| flags.has(flag)) {
                return Err(format!("{flag} beside {LAYOUT}"));
            }
            parse_layout(string).map_err(|what| format!("{LAYOUT}: {what}"))?
        }
        None => items(&flags.sizes(stages, decoders)?, mtp),
    };
    let mut warnings = flags.passed_over();
    let setting = flags.setting(model, &mut warnings)?;
    let imported = finish(&virtual_stages, stages, &setting, model, options)?;
    let group = flags.positive(GROUP)?.filter(|_| imported.chunks > 1);
    Ok(Imported { group, warnings, micro_batches: flags.micro_batches(stages)?, ..imported })
}

/// Items of virtual stages with so many decoders; the ends at the ends.
fn items(sizes: &[usize], mtp: usize) -> Vec<Vec<Item>> {
    let mut stages: Vec<Vec<Item>> = sizes.iter().map(|&size| vec![Item::Decoder; size]).collect();
    stages.first_mut().into_iter().for_each(|stage| stage.insert(0, Item::Embedding));
    if let Some(stage) = stages.last_mut() {
        stage.extend(std::iter::repeat_n(Item::Mtp, mtp));
        stage.push(Item::Loss);
    }
    stages
}

/// The words of a command line, as a shell splits them.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut marks = text.chars().enumerate();
    while let Some((at, mark)) = marks.next() {
        let open = |word: &mut Option<String>, mark| word.get_or_insert_default().push(mark);
        match (mark, quote) {
            (mark, Some((end, _))) if mark == end => quote = None,
            ('\'' | '"', None) => {
                quote = Some((mark, at + 1));
                word.get_or_insert_default();
            }
            ('\\', None | Some(('"', _))) => match marks.next() {
                Some((_, '\n')) | None => {}
                Some((_, next)) => open(&mut word, next),
            },
            (mark, None) if mark.is_whitespace() => words.extend(word.take()),
            (mark, _) => open(&mut word, mark),
        }
    }
    match quote {
        Some((quote, at)) => Err(format!("character {at}: {quote} is not closed")),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

/// The flags that matter here; the last one counts, as for Megatron-LM.
struct Flags {
    values: BTreeMap<&'static str, Vec<String>>,
    /// Flags that do not matter.
    others: usize,
}

impl Flags {
    fn of(words: &[String]) -> Result<Flags, String> {
        let (mut values, mut others) = (BTreeMap::new(), 0);
        let one = || ONE.into_iter().chain(BATCH);
        for (at, word) in words.iter().enumerate() {
            let (name, own) =
                word.split_once('=').map_or((word.as_str(), None), |(name, own)| (name, Some(own.to_owned())));
            let following = words[at + 1..].iter().take_while(|word| !word.starts_with("--")).cloned();
            if let Some(&flag) = BARE.iter().find(|&&flag| flag == name) {
                values.insert(flag, Vec::new());
            } else if let Some(flag) = one().find(|&flag| flag == name) {
                let value = own.into_iter().chain(following).next();
                values.insert(flag, vec![value.ok_or_else(|| format!("{flag} has no value"))?]);
            } else if name == RECOMPUTED_MODULES {
                values.insert(RECOMPUTED_MODULES, own.map_or_else(|| following.collect(), |own| vec![own]));
            } else if name.starts_with("--") {
                let known = one().chain(BARE).chain([RECOMPUTED_MODULES]);
                if let Some(near) = sapwood_machine::slip(name, known) {
                    return Err(format!("{name} is no flag, did you mean {near}?"));
                }
                others += 1;
            }
        }
        if values.keys().all(|flag| BATCH.contains(flag)) {
            return Err(format!("no flag of a pipeline is there: {STAGES}, with {LAYERS} or {LAYOUT}"));
        }
        Ok(Flags { values, others })
    }

    fn has(&self, flag: &str) -> bool {
        self.values.contains_key(flag)
    }

    fn value(&self, flag: &str) -> Option<&str> {
        self.values.get(flag)?.first().map(String::as_str)
    }

    fn number(&self, flag: &str) -> Result<Option<usize>, String> {
        let number =
            |value: &str| value.parse().map_err(|_| format!("{flag} is {value}, which is no whole number from 0 on"));
        self.value(flag).map(number).transpose()
    }

    fn positive(&self, flag: &str) -> Result<Option<usize>, String> {
        match self.number(flag)? {
            Some(0) => Err(format!("{flag} is 0; write 1 or more")),
            number => Ok(number),
        }
    }

    /// Says how many flags do not matter.
    fn passed_over(&self) -> Vec<String> {
        let flags = if self.others == 1 { "flag is" } else { "flags are" };
        Vec::from_iter((self.others > 0).then(|| format!("{} other {flags} not read", self.others)))
    }

    /// Micro-batches of a step, where the flags say enough.
    fn micro_batches(&self, stages: usize) -> Result<Option<usize>, String> {
        let [samples, size, said, world] = [GLOBAL_BATCH, MICRO_BATCH, REPLICAS, WORLD].map(|flag| self.positive(flag));
        let (samples, size, said, world) = (samples?, size?, said?, world?);
        let (tensor, context) = (self.positive(TENSOR)?.unwrap_or(1), self.positive(CONTEXT)?.unwrap_or(1));
        let derived = match world {
            Some(world) => {
                let each = [tensor, context].into_iter().try_fold(stages, usize::checked_mul);
                let each = each.filter(|&each| world.is_multiple_of(each));
                let each = each.ok_or_else(|| {
                    format!(
                        "{WORLD} {world} is no multiple of {tensor} x {context} x {stages} (tensor, context, pipeline)"
                    )
                })?;
                Some(world / each)
            }
            None => None,
        };
        if let (Some(said), Some(derived)) = (said, derived)
            && said != derived
        {
            return Err(format!("{REPLICAS} is {said}, and {WORLD} makes {derived} replicas"));
        }
        let (Some(samples), Some(size), Some(replicas)) = (samples, size, said.or(derived)) else { return Ok(None) };
        let each = size.checked_mul(replicas).filter(|&each| samples.is_multiple_of(each));
        let each = each.ok_or_else(|| {
            format!("{GLOBAL_BATCH} {samples} is no multiple of {size} x {replicas} ({MICRO_BATCH}, replicas)")
        })?;
        Ok(Some(samples / each))
    }

    /// Layers of each virtual stage, where no layout says it (`get_num_layers_to_build`).
    fn sizes(&self, stages: usize, layers: usize) -> Result<Vec<usize>, String> {
        let (first, last) = (self.number(FIRST)?, self.number(LAST)?);
        let uneven = first.is_some() || last.is_some();
        let (embedding, loss) = (self.has(WITH_EMBEDDING), self.has(WITH_LOSS));
        if uneven && (embedding || loss) {
            return Err(format!("{FIRST} or {LAST} beside {WITH_EMBEDDING} or {WITH_LOSS}"));
        }
        let counted = layers + usize::from(embedding) + usize::from(loss);
        let chunks = self.chunks(stages, counted, uneven)?;
        let k = stages.checked_mul(chunks).filter(|&k| k <= MOST && layers <= MOST);
        let k = k.ok_or_else(|| format!("{stages} stages of {chunks} chunks for {layers} layers; {MOST} at most"))?;
        let ends = first.unwrap_or(0).saturating_add(last.unwrap_or(0));
        let rest =
            counted.checked_sub(ends).ok_or_else(|| format!("{FIRST} and {LAST} are more than the {layers} layers"))?;
        let middle = stages.saturating_sub(usize::from(first.is_some()) + usize::from(last.is_some()));
        let each = if middle == 0 { 0 } else { divide(rest, middle, "stages")? };
        let of_rank = |rank: usize| match (first, last) {
            (_, Some(last)) if rank + 1 == stages => last,
            (Some(first), _) if rank == 0 => first,
            _ => each,
        };
        let mut sizes =
            (0..k).map(|at| divide(of_rank(at % stages), chunks, "chunks")).collect::<Result<Vec<_>, String>>()?;
        let none_left = || "a virtual stage of the embedding or the loss alone has no layer to give for it".to_owned();
        sizes[0] = sizes[0].checked_sub(usize::from(embedding)).ok_or_else(none_left)?;
        sizes[k - 1] = sizes[k - 1].checked_sub(usize::from(loss)).ok_or_else(none_left)?;
        Ok(sizes)
    }

    /// Chunks of each stage, where no layout says it.
    fn chunks(&self, stages: usize, counted: usize, uneven: bool) -> Result<usize, String> {
        let chunks = match (self.positive(CHUNKS)?, self.positive(LAYERS_PER_CHUNK)?) {
            (None, None) => return Ok(1),
            (Some(chunks), _) => chunks,
            (None, Some(_)) if uneven => {
                return Err(format!("{LAYERS_PER_CHUNK} beside {FIRST} or {LAST}; write {CHUNKS}"));
            }
            (None, Some(layers)) => divide(divide(counted, stages, "stages")?, layers, "layers of a chunk")?,
        };
        if stages == 1 {
            return Err("chunks need more than one stage".to_owned());
        }
        if chunks == 0 { Err(format!("{LAYERS_PER_CHUNK} is more than a stage has")) } else { Ok(chunks) }
    }

    /// Recomputation.
    fn setting(&self, model: &Model, warnings: &mut Vec<String>) -> Result<Setting, String> {
        if let Some(other) = self.value(GRANULARITY).filter(|&said| self.has(ACTIVATIONS) && said != "selective") {
            return Err(format!("{ACTIVATIONS} means {GRANULARITY} selective, and {GRANULARITY} is {other}"));
        }
        let granularity = self.value(GRANULARITY).or(self.has(ACTIVATIONS).then_some("selective"));
        match (granularity, self.value(METHOD), self.number(RECOMPUTED)?) {
            (None, ..) => Ok(Setting::None),
            (Some("selective"), None, None) => Ok(self.selective(model, warnings)),
            (Some("selective"), ..) => Err(format!("{METHOD} and {RECOMPUTED} go with {GRANULARITY} full")),
            (Some("full"), Some("block"), Some(layers)) => Ok(Setting::Block(layers)),
            (Some("full"), Some("uniform"), Some(1)) => Ok(Setting::Uniform),
            (Some("full"), Some("uniform"), Some(layers)) => Err(format!(
                "{METHOD} uniform in groups of {layers} layers, of which the model has no costs; it has those of 1"
            )),
            (Some("full"), Some(method), Some(_)) => Err(format!("{METHOD} is {method}, not block or uniform")),
            (Some("full"), ..) => Err(format!("{GRANULARITY} full needs {METHOD} and {RECOMPUTED}")),
            (Some(other), ..) => Err(format!("{GRANULARITY} is {other}, not selective or full")),
        }
    }

    /// The kind that the modules of selective recomputation are.
    fn selective(&self, model: &Model, warnings: &mut Vec<String>) -> Setting {
        let modules = self.values.get(RECOMPUTED_MODULES).filter(|modules| !modules.is_empty());
        let modules = modules.cloned().unwrap_or_else(|| vec!["core_attn".to_owned()]);
        let has = |kind: &str| {
            let mut body = model.segments.iter().filter(|segment| segment.role == Role::Body);
            body.all(|segment| segment.kinds.iter().any(|cost| cost.name == kind))
        };
        match &modules[..] {
            [module] if MODULES.contains(&module.as_str()) && has(module) => Setting::Selective(module.clone()),
            _ => {
                if self.has(RECOMPUTED_MODULES) {
                    warnings.push(format!(
                        "{RECOMPUTED_MODULES} {}: taken as the model's kind selective",
                        modules.join(" ")
                    ));
                }
                Setting::Selective("selective".to_owned())
            }
        }
    }
}

/// A quotient without a rest.
fn divide(layers: usize, by: usize, what: &str) -> Result<usize, String> {
    if layers.is_multiple_of(by) {
        Ok(layers / by)
    } else {
        Err(format!("{layers} layers do not divide into {by} {what}"))
    }
}
