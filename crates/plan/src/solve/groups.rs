//! Which groups of micro-batches an interleaved schedule takes.

use super::Express;
use crate::outcome;
use crate::problem::Problem;
use crate::schedule::{Dims, Entry, Grouping};
use crate::search;
use crate::simulate::{Order, Vectors};
use crate::{Error, Result};

/// Sizes that are tried.
const TRIED: usize = 32;

/// Operations of an order beyond which only the simplest rule is taken.
const LARGE: usize = 1 << 18;

/// How micro-batches are to be grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Group {
    /// The best of those that the framework accepts.
    #[default]
    Auto,
    /// These.
    Of(Grouping),
}

/// The rule of groups for a schedule; `dims.group` is not looked at. With [`Group::Auto`] it is `first` where the stages
/// divide the micro-batches; else the one with the smallest makespan of an even partition that keeps everything, then with
/// the smallest peak.
///
/// # Errors
/// [`Error::Problem`] for one that the framework does not accept, with those that it does.
pub(super) fn choose(
    problem: &Problem,
    entry: &Entry,
    dims: &Dims,
    group: Group,
    express: Express,
) -> Result<Grouping> {
    let (stages, micro_batches) = (dims.stages, dims.micro_batches);
    if !entry.shape.groups || dims.chunks == 1 {
        return Ok(Grouping::First);
    }
    let accepted = |group: Grouping| match express {
        Express::Any => true,
        Express::Megatron => group.megatron_accepts(stages, micro_batches),
        Express::Mindformers => group.sizes(stages, micro_batches) == Grouping::First.sizes(stages, micro_batches),
    };
    let legal = || uniform(stages, micro_batches);
    match group {
        Group::Of(group) if accepted(group) => Ok(group),
        Group::Of(group) => {
            let legal: Vec<String> = legal().into_iter().map(|size| format!("uniform:{size}")).collect();
            let what = match express {
                Express::Mindformers => format!("MindFormers groups micro-batches by the rule first, not {group}"),
                _ if legal.is_empty() => {
                    format!("Megatron-LM takes no groups of {micro_batches} micro-batches on {stages} stages")
                }
                _ => format!("Megatron-LM does not take groups {group}; it takes {}", legal.join(", ")),
            };
            Err(Error::Problem { what })
        }
        Group::Auto => {
            let all = std::iter::once(Grouping::First).chain(legal().into_iter().map(Grouping::Uniform));
            let all: Vec<Grouping> = all.filter(|&group| accepted(group)).collect();
            let simple =
                micro_batches.is_multiple_of(stages) || dims.virtual_stages().saturating_mul(micro_batches) > LARGE;
            match all[..] {
                [] => Err(Error::Problem {
                    what: format!("Megatron-LM takes no groups of {micro_batches} micro-batches on {stages} stages"),
                }),
                [only] => Ok(only),
                [first, ..] if simple => Ok(first),
                _ => best(problem, entry, dims, &all),
            }
        }
    }
}

/// Sizes of uniform groups that Megatron-LM accepts, the smallest ones and the divisors.
fn uniform(stages: usize, micro_batches: usize) -> Vec<usize> {
    let accepts = |size: &usize| Grouping::Uniform(*size).megatron_accepts(stages, micro_batches);
    (stages..=micro_batches).filter(accepts).take(TRIED).collect()
}

fn best(problem: &Problem, entry: &Entry, dims: &Dims, all: &[Grouping]) -> Result<Grouping> {
    let mut best: Option<(u64, u64, Grouping)> = None;
    for &group in all {
        let order = Order::new(entry, &Dims { group, ..dims.clone() })?;
        let counts = search::even(problem, &order, &Vectors::new(&order))?;
        let outcome = outcome::simulate(problem, &order, &counts, false)?;
        let peak = outcome.peaks.iter().map(|peak| peak.total()).max().unwrap_or(0);
        if best.is_none_or(|(makespan, least, _)| (outcome.makespan, peak) < (makespan, least)) {
            best = Some((outcome.makespan, peak, group));
        }
    }
    best.map(|(.., group)| group).ok_or(Error::Problem { what: "no rule of groups".to_owned() })
}
