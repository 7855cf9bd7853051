//! A schedule made ready for sweeps: one topological order of all its operations.
//!
//! The order takes one operation from each stage in turn, so that neighbours in it are independent and a processor can work
//! on several at once.

use crate::schedule::{Dims, Entry, Kind, Op, Shape};
use crate::{Error, Result};

/// Most operations of an order.
const MOST: u64 = 1 << 31;

/// A schedule of some sizes, checked and in topological order.
#[derive(Debug, Clone)]
pub struct Order {
    name: String,
    dims: Dims,
    shape: Shape,
    lists: Vec<Vec<Op>>,
    pub(super) steps: Vec<Step>,
    /// Position in `steps` of the step before on the same stage, plus one; 0 for the first.
    pub(super) before: Vec<u32>,
    /// Position in `steps` of the last step of each stage, plus one.
    pub(super) last: Vec<u32>,
    /// The place of the link that operations of each duration wait for: the hop of their virtual stage, 0 for none; see
    /// [`super::Durations`].
    pub(super) links: Vec<u32>,
}

/// An operation as a sweep sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Position of the operation of another stage that it waits for, plus one; 0 for none.
    pub awaits: u32,
    /// Place of its duration: kind × virtual stages + virtual stage.
    pub duration: u32,
    /// The stage.
    pub stage: u32,
}

impl Order {
    /// The schedule `entry` for `dims`.
    ///
    /// # Errors
    /// [`Error::Refused`] for sizes it does not run; [`Error::TooLarge`] for more than 2³¹ operations; as [`Order::of_lists`].
    pub fn new(entry: &Entry, dims: &Dims) -> Result<Order> {
        let refused = |why: String| Error::Refused {
            schedule: entry.name,
            stages: dims.stages,
            chunks: dims.chunks,
            micro_batches: dims.micro_batches,
            why,
        };
        if dims.stages == 0 || dims.chunks == 0 || dims.micro_batches == 0 {
            return Err(refused("none of them may be 0".to_owned()));
        }
        let kinds = if entry.shape.splits_backward { 3u64 } else { 2 };
        let ops = (dims.stages as u64)
            .checked_mul(dims.chunks as u64)
            .and_then(|n| n.checked_mul(dims.micro_batches as u64))
            .and_then(|n| n.checked_mul(kinds));
        if ops.is_none_or(|ops| ops >= MOST) {
            let what = format!("{}: more than 2^31 operations; take fewer micro-batches", entry.name);
            return Err(Error::TooLarge { what });
        }
        (entry.accepts)(dims).map_err(refused)?;
        Order::of_lists(entry.name, entry.shape, dims, (entry.orders)(dims))
    }

    /// The order of given lists, one for each stage.
    ///
    /// # Errors
    /// [`Error::Order`] if an operation is missing, is there twice or on the wrong stage; [`Error::Deadlock`].
    pub fn of_lists(name: &str, shape: Shape, dims: &Dims, lists: Vec<Vec<Op>>) -> Result<Order> {
        check(name, shape, dims, &lists)?;
        let Ready { steps, before, last } = sweep(name, shape, dims, &lists)?;
        let links = links(shape, dims);
        Ok(Order { name: name.to_owned(), dims: dims.clone(), shape, lists, steps, before, last, links })
    }

    /// Name of the schedule.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The sizes.
    pub fn dims(&self) -> &Dims {
        &self.dims
    }

    /// Where virtual stages lie.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The operations of each stage.
    pub fn lists(&self) -> &[Vec<Op>] {
        &self.lists
    }

    /// The operations in topological order, as a sweep sees them.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = Step> + '_ {
        self.steps.iter().copied()
    }

    /// Place of the link that a step waits for.
    pub fn link(&self, step: Step) -> usize {
        self.links[step.duration as usize] as usize
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// What an operation waits for besides its own stage: the same micro-batch in the virtual stage before (forwards) or after
/// (backwards).
pub(super) fn awaited(op: Op, dims: &Dims) -> Option<Op> {
    let virtual_stage = op.virtual_stage as usize;
    match op.kind {
        Kind::Forward => virtual_stage.checked_sub(1).map(|before| Op { virtual_stage: before as u32, ..op }),
        Kind::Backward if virtual_stage + 1 < dims.virtual_stages() => {
            Some(Op { virtual_stage: op.virtual_stage + 1, ..op })
        }
        Kind::Backward | Kind::Weight => None,
    }
}

/// Place of an operation among all of its sizes.
fn place(op: Op, dims: &Dims) -> usize {
    (op.kind as usize * dims.virtual_stages() + op.virtual_stage as usize) * dims.micro_batches
        + op.micro_batch as usize
}

/// Every operation once, on its stage, forward before backward before weight.
fn check(name: &str, shape: Shape, dims: &Dims, lists: &[Vec<Op>]) -> Result<()> {
    let wrong = |what: String| Err(Error::Order { schedule: name.to_owned(), what });
    if lists.len() != dims.stages {
        return wrong(format!("{} lists for {} stages", lists.len(), dims.stages));
    }
    let kinds = if shape.splits_backward { 3 } else { 2 };
    let mut seen = vec![false; kinds * dims.virtual_stages() * dims.micro_batches];
    for (stage, list) in lists.iter().enumerate() {
        for &op in list {
            let known = (op.kind as usize) < kinds
                && (op.virtual_stage as usize) < dims.virtual_stages()
                && (op.micro_batch as usize) < dims.micro_batches;
            if !known {
                return wrong(format!("stage {stage} runs {op}, which there is not"));
            }
            if shape.placement.of(op.virtual_stage as usize, dims.stages).0 != stage {
                return wrong(format!("stage {stage} runs {op}, which is of another stage"));
            }
            if std::mem::replace(&mut seen[place(op, dims)], true) {
                return wrong(format!("stage {stage} runs {op} twice"));
            }
            let earlier = match op.kind {
                Kind::Forward => None,
                Kind::Backward => Some(Kind::Forward),
                Kind::Weight => Some(Kind::Backward),
            };
            if let Some(kind) = earlier.filter(|&kind| !seen[place(Op { kind, ..op }, dims)]) {
                return wrong(format!("stage {stage} runs {op} before {}", Op { kind, ..op }));
            }
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(at) => {
            let (at, micro_batch) = (at / dims.micro_batches, at % dims.micro_batches);
            let kind = [Kind::Forward, Kind::Backward, Kind::Weight][at / dims.virtual_stages()];
            wrong(format!("{} is never run", Op::new(kind, at % dims.virtual_stages(), micro_batch)))
        }
        None => Ok(()),
    }
}

/// What [`sweep`] makes of lists: the fields of an [`Order`].
struct Ready {
    steps: Vec<Step>,
    before: Vec<u32>,
    last: Vec<u32>,
}

/// One operation from each stage in turn, as soon as what it waits for was there before this turn.
fn sweep(name: &str, shape: Shape, dims: &Dims, lists: &[Vec<Op>]) -> Result<Ready> {
    let total: usize = lists.iter().map(Vec::len).sum();
    let kinds = if shape.splits_backward { 3 } else { 2 };
    let mut position = vec![0u32; kinds * dims.virtual_stages() * dims.micro_batches];
    let (mut steps, mut before) = (Vec::with_capacity(total), Vec::with_capacity(total));
    let (mut next, mut last) = (vec![0; lists.len()], vec![0u32; lists.len()]);
    while steps.len() < total {
        let count = steps.len();
        for (stage, list) in lists.iter().enumerate() {
            let Some(&op) = list.get(next[stage]) else { continue };
            let awaits = match awaited(op, dims) {
                None => 0,
                Some(other) => match position[place(other, dims)] {
                    0 => continue,
                    at if at as usize > count => continue,
                    at => at,
                },
            };
            // On the same stage the order of the list says enough.
            let awaits = if same_stage(op, shape, dims) { 0 } else { awaits };
            let duration = op.kind as u32 * dims.virtual_stages() as u32 + op.virtual_stage;
            steps.push(Step { awaits, duration, stage: stage as u32 });
            before.push(last[stage]);
            (position[place(op, dims)], last[stage]) = (steps.len() as u32, steps.len() as u32);
            next[stage] += 1;
        }
        if steps.len() == count {
            let heads = lists.iter().zip(&next).enumerate();
            let heads = heads.filter_map(|(s, (list, &at))| Some(format!("stage {s}: {}", list.get(at)?)));
            return Err(Error::Deadlock { schedule: name.to_owned(), heads: heads.collect() });
        }
    }
    Ok(Ready { steps, before, last })
}

/// Whether what an operation waits for is of its own stage.
fn same_stage(op: Op, shape: Shape, dims: &Dims) -> bool {
    let stage = |op: Op| shape.placement.of(op.virtual_stage as usize, dims.stages).0;
    awaited(op, dims).is_some_and(|other| stage(other) == stage(op))
}

/// For each place of a duration that of the link before it.
fn links(shape: Shape, dims: &Dims) -> Vec<u32> {
    let kinds =
        [Kind::Forward, Kind::Backward, Kind::Weight].into_iter().take(if shape.splits_backward { 3 } else { 2 });
    let ops = kinds.flat_map(|kind| (0..dims.virtual_stages()).map(move |at| Op::new(kind, at, 0)));
    let waits = |op: Op| awaited(op, dims).is_some() && !same_stage(op, shape, dims);
    ops.map(|op| if waits(op) { hop(op, dims) } else { 0 }).collect()
}

/// The hop that an operation's data come over: 1 + virtual stage for forwards (from the one before), 1 + virtual stages +
/// virtual stage for backwards (from the one after). Place 0 is no hop.
pub(super) fn hop(op: Op, dims: &Dims) -> u32 {
    let back = if op.kind == Kind::Backward { dims.virtual_stages() as u32 } else { 0 };
    1 + back + op.virtual_stage
}
