//! A model, memory caps and what recomputation is allowed, in whole ticks.
//!
//! An **item** is a segment with one of its kinds: a partition is how many layers of each item every virtual stage has. What
//! a virtual stage costs is linear in these counts, but for the transient of its largest recomputed layer.

use crate::model::Model;
use crate::schedule::Dims;
use crate::simulate::memory::Activations;
use crate::simulate::{Durations, Order};
use crate::ticks::Ticks;
use crate::{Error, Result};

/// A segment with one of its kinds of recomputation: what a layer of it costs, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// The segment, by its place in the model.
    pub segment: usize,
    /// The kind, by its place among the segment's kinds.
    pub kind: usize,
    /// Forward time.
    pub forward: u64,
    /// Backward time without the recomputation.
    pub backward: u64,
    /// Part of it that is the gradient of the weights.
    pub weight: u64,
    /// Time that the recomputation adds to the backward.
    pub extra: u64,
    /// Memory kept from forward to backward.
    pub activation: u64,
    /// Memory that the backward needs on top.
    pub transient: u64,
    /// Memory that is always there.
    pub parameters: u64,
}

/// A planning problem.
#[derive(Debug, Clone)]
pub struct Problem {
    model: Model,
    items: Vec<Item>,
    constant: Vec<u64>,
    caps: Vec<u64>,
    tails: Vec<u64>,
    link: u64,
    least: u32,
    time: Ticks,
    memory: Ticks,
}

impl Problem {
    /// The problem of `model` on as many stages as there are `caps`, which are in the model's unit of memory, with the kinds
    /// of recomputation called in `kinds` (all of them if it is empty).
    ///
    /// # Errors
    /// [`Error::Problem`] for a kind that no segment has, a segment without any allowed kind, or constants of another number
    /// of stages; [`Error::TooLarge`].
    pub fn new(model: Model, caps: &[f64], kinds: &[String]) -> Result<Problem> {
        let wrong = |what: String| Error::Problem { what };
        let allowed = |name: &str| kinds.is_empty() || kinds.iter().any(|kind| kind == name);
        for kind in kinds {
            let own = model.segments.iter().flat_map(|s| s.kinds.iter().map(|k| k.name.as_str()));
            let mut known: Vec<&str> = Vec::new();
            for name in crate::recompute::all().map(|k| k.name).chain(own) {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
            if !known.contains(&kind.as_str()) {
                return Err(Error::unknown("kind of recomputation", kind, known.into_iter()));
            }
        }
        let times = |m: &Model| -> Vec<f64> {
            let of = |s: &crate::model::Segment| {
                let extras: Vec<f64> = s.kinds.iter().map(|k| k.extra).collect();
                [vec![s.forward, s.backward, s.weight], extras].concat()
            };
            m.segments.iter().flat_map(of).chain(m.tails.iter().copied()).chain([m.link]).collect()
        };
        let sizes = |m: &Model| -> Vec<f64> {
            let of = |s: &crate::model::Segment| {
                let kinds: Vec<f64> = s.kinds.iter().flat_map(|k| [k.activation, k.transient]).collect();
                [vec![s.parameters], kinds].concat()
            };
            m.segments.iter().flat_map(of).chain(m.constant.iter().copied()).collect()
        };
        let (time, memory) = (Ticks::of(times(&model)), Ticks::of(sizes(&model)));
        let mut items = Vec::new();
        for (segment, s) in model.segments.iter().enumerate() {
            let before = items.len();
            for (kind, k) in s.kinds.iter().enumerate() {
                // What is not in the body may always keep all.
                if allowed(&k.name) || (!s.role.moves() && kind == 0) {
                    let own = |key: &str| format!("segment {}: {key}", s.name);
                    let kinds = |key: &str| format!("segment {}: {key} of {}", s.name, k.name);
                    items.push(Item {
                        segment,
                        kind,
                        forward: ticks(time, s.forward, &|| own("forward"))?,
                        backward: ticks(time, s.backward, &|| own("backward"))?,
                        weight: ticks(time, s.weight, &|| own("weight"))?,
                        extra: ticks(time, k.extra, &|| kinds("extra"))?,
                        activation: ticks(memory, k.activation, &|| kinds("activation"))?,
                        transient: ticks(memory, k.transient, &|| kinds("transient"))?,
                        parameters: ticks(memory, s.parameters, &|| own("parameters"))?,
                    });
                }
            }
            if items.len() == before {
                let own: Vec<&str> = s.kinds.iter().map(|kind| kind.name.as_str()).collect();
                let what =
                    format!("segment {} has none of the kinds {}: it has {}", s.name, kinds.join(", "), own.join(", "));
                return Err(wrong(what));
            }
        }
        representable(&model, &items)?;
        let by_stage = |what: &str, values: &[f64], ticks: Ticks| -> Result<Vec<u64>> {
            let values = match values.len() {
                0 => vec![0.0; caps.len()],
                1 => vec![values[0]; caps.len()],
                n if n == caps.len() => values.to_vec(),
                n => return Err(wrong(format!("{what} of {n} stages for {} stages", caps.len()))),
            };
            values.into_iter().map(|c| self::ticks(ticks, c, &|| what.to_owned())).collect()
        };
        let constant = by_stage("constant memory", &model.constant, memory)?;
        let tails = by_stage("work at the end of a step", &model.tails, time)?;
        let link = ticks(time, model.link, &|| "link".to_owned())?;
        // A cap that is no whole number of ticks is rounded down: nothing may exceed it. An infinite one is none.
        let floor = |cap: f64| {
            if cap == f64::INFINITY {
                Ok(u64::MAX)
            } else {
                ticks(memory, cap, &|| "cap of memory".to_owned())
                    .map(|ticks| if memory.show(ticks) > cap { ticks - 1 } else { ticks })
            }
        };
        let caps = caps.iter().map(|&cap| floor(cap)).collect::<Result<_>>()?;
        Ok(Problem { model, items, constant, caps, tails, link, least: 1, time, memory })
    }

    /// The same where virtual stages may have no layer of the body.
    #[must_use]
    pub fn allow_empty(self) -> Problem {
        Problem { least: 0, ..self }
    }

    /// The same without the kinds of recomputation that `known` does not know, and the names of those.
    ///
    /// # Errors
    /// [`Error::Problem`] for a segment that has no other kind.
    pub(crate) fn only(&self, known: impl Fn(&str) -> bool) -> Result<(Problem, Vec<String>)> {
        let name = |item: &Item| self.model.segments[item.segment].kinds[item.kind].name.as_str();
        let (items, others): (Vec<Item>, Vec<Item>) = self.items.iter().partition(|item| known(name(item)));
        if let Some(item) = others.iter().find(|item| items.iter().all(|kept| kept.segment != item.segment)) {
            let own: Vec<&str> = others.iter().filter(|other| other.segment == item.segment).map(name).collect();
            let segment = &self.model.segments[item.segment].name;
            return Err(Error::Problem { what: format!("segment {segment} has no kind but {}", own.join(", ")) });
        }
        let mut names: Vec<String> = others.iter().map(|item| name(item).to_owned()).collect();
        names.sort();
        names.dedup();
        Ok((Problem { items, ..self.clone() }, names))
    }

    /// Fewest layers of the body in a virtual stage: 1, or 0 where they may be empty.
    pub fn least(&self) -> u32 {
        self.least
    }

    /// Refuses sizes that no partition of the model has.
    ///
    /// # Errors
    /// [`Error::Problem`] for another number of stages than caps, for more virtual stages than layers of the body, and for a
    /// pin to a virtual stage that is not there.
    pub fn accepts(&self, dims: &Dims) -> Result<()> {
        let (stages, k, layers) = (dims.stages, dims.virtual_stages(), self.body_layers() as usize);
        let wrong = |what: String| Err(Error::Problem { what });
        if stages != self.caps.len() {
            return wrong(format!("{} caps of memory for {stages} stages", self.caps.len()));
        }
        if layers < k * self.least as usize {
            let most = match layers / stages {
                0 if layers == 0 => "none can lie anywhere, and each virtual stage needs one that can".to_owned(),
                0 => format!("at most {layers} stages"),
                most => format!("at most {most} chunks on {stages} stages"),
            };
            return wrong(format!("{layers} layers for {k} virtual stages: {most}"));
        }
        for segment in &self.model.segments {
            if let Some(at) = segment.role.place(k).filter(|&at| at >= k) {
                return wrong(format!("segment {} is pinned to virtual stage {at} of {k}", segment.name));
            }
        }
        Ok(())
    }

    /// The virtual stage of each pinned segment of `virtual_stages` with the layers of the body before it in the model:
    /// that many at most are before that virtual stage, and at least until its end.
    pub(crate) fn pins(&self, virtual_stages: usize) -> Vec<(usize, u32)> {
        let mut before = 0;
        let mut pins = Vec::new();
        for segment in &self.model.segments {
            match segment.role.place(virtual_stages) {
                Some(at) => pins.push((at, before)),
                None => before += segment.count,
            }
        }
        let real =
            |&(at, layers): &(usize, u32)| !(at == 0 && layers == 0 || at + 1 == virtual_stages && layers == before);
        pins.retain(real);
        pins
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Segments with their allowed kinds, in model order.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Caps of the stages, in ticks of memory.
    pub fn caps(&self) -> &[u64] {
        &self.caps
    }

    /// Memory of the stages besides layers, in ticks.
    pub fn constant(&self) -> &[u64] {
        &self.constant
    }

    /// Work of the stages at the end of a step, in ticks.
    pub fn tails(&self) -> &[u64] {
        &self.tails
    }

    /// Time of a transfer between neighbouring stages, in ticks.
    pub fn link(&self) -> u64 {
        self.link
    }

    /// Ticks of time.
    pub fn time(&self) -> Ticks {
        self.time
    }

    /// Ticks of memory.
    pub fn memory(&self) -> Ticks {
        self.memory
    }

    /// Whether a segment may lie anywhere.
    pub fn is_body(&self, segment: usize) -> bool {
        self.model.segments[segment].role.moves()
    }

    /// Layers of the body.
    pub fn body_layers(&self) -> u32 {
        self.model.segments.iter().filter(|s| s.role.moves()).map(|s| s.count).sum()
    }

    /// Refuses counts that are no partition of the model: other numbers of layers, layers away from where they are pinned, or
    /// segments out of the order of the model.
    ///
    /// # Errors
    /// [`Error::Problem`] with the segment and the virtual stage.
    pub fn check(&self, counts: &[u32]) -> Result<()> {
        let rows: Vec<&[u32]> = counts.chunks(self.items.len().max(1)).collect();
        let wrong = |what: String| Err(Error::Problem { what });
        let mut reached = 0;
        for (segment, s) in self.model.segments.iter().enumerate() {
            let here = |row: &[u32]| -> u64 {
                let own = self.items.iter().zip(row).filter(|(item, _)| item.segment == segment);
                own.map(|(_, &count)| u64::from(count)).sum()
            };
            let layers: Vec<u64> = rows.iter().map(|row| here(row)).collect();
            let total: u64 = layers.iter().sum();
            if total != u64::from(s.count) {
                return wrong(format!("{total} layers of {}, and the model has {}", s.name, s.count));
            }
            let place = s.role.place(rows.len());
            let mut present = (0..rows.len()).filter(|&at| layers[at] > 0);
            if let Some(at) = present.clone().find(|&at| place.is_some_and(|place| at != place) || at < reached) {
                return wrong(match place {
                    Some(place) => format!("virtual stage {at} has layers of {}, which belong to {place}", s.name),
                    None => format!("virtual stage {at} has layers of {} before layers that precede them", s.name),
                });
            }
            // Pinned segments may be listed anywhere, such as a loss on the stage of the embedding.
            if place.is_none_or(|place| place > 0 && place + 1 < rows.len()) {
                reached = present.next_back().unwrap_or(reached);
            }
        }
        let body = |row: &&[u32]| self.items.iter().zip(*row).any(|(i, &n)| n > 0 && self.is_body(i.segment));
        match rows.iter().position(|row| self.least > 0 && !body(row)) {
            Some(at) => wrong(format!("virtual stage {at} has no layer of the body")),
            None => Ok(()),
        }
    }

    /// Recomputation of one micro-batch through all virtual stages, in ticks.
    pub fn recomputation(&self, counts: &[u32]) -> u64 {
        let of = |row: &[u32]| -> u64 { self.items.iter().zip(row).map(|(i, &n)| i.extra * u64::from(n)).sum() };
        counts.chunks(self.items.len().max(1)).map(of).sum()
    }

    /// What an order takes with the counts of a partition: durations, and memory by virtual stage and stage.
    pub fn costs(&self, order: &Order, counts: &[u32]) -> (Durations<u64>, Activations) {
        let (dims, shape) = (order.dims(), order.shape());
        let k = dims.virtual_stages();
        let rows: Vec<&[u32]> = counts.chunks(self.items.len()).collect();
        let sum = |row: &[u32], of: &dyn Fn(&Item) -> u64| -> u64 {
            self.items.iter().zip(row).map(|(item, &count)| of(item) * u64::from(count)).sum()
        };
        let times = |of: &dyn Fn(&Item) -> u64| rows.iter().map(|row| sum(row, of)).collect::<Vec<_>>();
        let mut operations = times(&|i| i.forward);
        if shape.splits_backward {
            operations.extend(times(&|i| i.backward - i.weight + i.extra));
            operations.extend(times(&|i| i.weight));
        } else {
            operations.extend(times(&|i| i.backward + i.extra));
        }
        let mut constant = self.constant.clone();
        for (at, row) in rows.iter().enumerate() {
            constant[shape.placement.of(at, dims.stages).0] += sum(row, &|i| i.parameters);
        }
        let largest = |row: &&[u32]| {
            let present = self.items.iter().zip(row.iter()).filter(|&(_, &count)| count > 0);
            present.map(|(item, _)| item.transient).max().unwrap_or(0)
        };
        let memory =
            Activations { kept: times(&|i| i.activation), transient: rows.iter().map(largest).collect(), constant };
        let mut durations = Durations::new(operations, k, dims.stages);
        // Place 0 is no transfer; places of hops within a stage are never looked up.
        durations.links[1..].fill(self.link);
        durations.tails.clone_from(&self.tails);
        (durations, memory)
    }
}

/// A value in ticks; what it is of, in the message of one that has none.
fn ticks(ticks: Ticks, value: f64, what: &dyn Fn() -> String) -> Result<u64> {
    ticks.from(value).map_err(|why| Error::TooLarge { what: format!("{}: {why}", what()) })
}

/// Refuses a model whose layers together take 2⁶³ ticks or more, or are 2³¹ or more: no sum over a partition overflows then.
fn representable(model: &Model, items: &[Item]) -> Result<()> {
    let most = |of: fn(&Item) -> u64| -> u128 {
        let of_segment = |(at, s): (usize, &crate::model::Segment)| {
            let own = items.iter().filter(|item| item.segment == at).map(of);
            u128::from(own.max().unwrap_or(0)) * u128::from(s.count)
        };
        model.segments.iter().enumerate().map(of_segment).sum()
    };
    let too_large = |what: &str| Err(Error::TooLarge { what: what.to_owned() });
    if model.segments.iter().map(|s| u64::from(s.count)).sum::<u64>() >= 1 << 31 {
        return too_large("the model has 2^31 layers or more");
    }
    if most(|i| i.forward + i.backward + i.extra) >= 1 << 63 {
        return too_large("all layers together take 2^63 ticks of time or more; use a coarser unit of time");
    }
    if most(|i| i.parameters + i.activation + i.transient) >= 1 << 63 {
        return too_large("all layers together take 2^63 ticks of memory or more; use a coarser unit of memory");
    }
    Ok(())
}
