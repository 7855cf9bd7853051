//! PipeDream (Narayanan et al., SOSP 2019): the contiguous cut whose slowest stage is fastest.
//!
//! A(i, s) = min over j of max(A(j, s − 1), Σ of f + b over layers j..i, transfer), the dynamic program of section 3.1 with
//! one replica a stage. A transfer is the activations forth and their gradients back, two of the model's links. The schedule
//! is PipeDream-flush, 1F1B.
//!
//! Our reconstruction is the recomputation, of which the paper has none: as long as a stage exceeds its cap, the stage with
//! the most excess takes the step of one layer to a kind that keeps less which costs the least time by memory saved.

use super::cut::balanced;
use super::sequence::{Sequence, no_cut};
use super::{Answer, Entry, Nodes, Options, one_chunk, spent};
use crate::Result;
use crate::problem::{Item, Problem};
use crate::schedule::Dims;
use std::cmp::{Ordering, Reverse};

pub(super) const ENTRY: Entry = Entry {
    name: "pipedream",
    summary: "the cut whose slowest stage is fastest, then the lightest recomputation that fits (Narayanan et al. 2019)",
    plan,
};

fn plan(problem: &Problem, dims: &Dims, options: &Options) -> Result<Answer> {
    let sequence = Sequence::new(problem, dims)?;
    if let Some(answer) = one_chunk(dims) {
        return Ok(answer);
    }
    let (slowest, ends) = match balanced(&sequence, 2 * problem.link(), &mut Nodes(options.nodes)) {
        Ok(Some(cut)) => cut,
        Ok(None) => return Ok(no_cut()),
        Err(_) => return Ok(spent()),
    };
    let row = |(at, ends): (usize, &[usize])| sequence.lightest_row(at, ends[0], ends[1]);
    let mut rows: Vec<Vec<u32>> = ends.windows(2).enumerate().map(row).collect();
    while let Some((stage, need)) = fullest(&sequence, &rows) {
        let Some((from, to)) = cheapest(&sequence, &rows[stage]) else { return Ok(sequence.exceeds(stage, need)) };
        rows[stage][from] -= 1;
        rows[stage][to] += 1;
    }
    Ok(sequence.plan(&rows.concat(), Some(slowest)))
}

/// The stage that exceeds its cap the most, with its peak.
fn fullest(sequence: &Sequence<'_>, rows: &[Vec<u32>]) -> Option<(usize, u64)> {
    let peaks = rows.iter().enumerate().map(|(stage, row)| (stage, sequence.peak(stage, row)));
    let over = |&(stage, peak): &(usize, u64)| peak.saturating_sub(sequence.problem.caps()[stage]);
    peaks.filter(|stage| over(stage) > 0).max_by_key(|stage| (over(stage), Reverse(stage.0)))
}

/// The step of one layer, from an item to another, with the least time by memory saved; of equal ones that which saves most.
fn cheapest(sequence: &Sequence<'_>, row: &[u32]) -> Option<(usize, usize)> {
    let present = (0..row.len()).filter(|&item| row[item] > 0);
    let steps = present.flat_map(|from| {
        let others = sequence.kinds(sequence.item(from).segment).iter().map(move |&to| (from, to));
        others.filter(|&(from, to)| sequence.item(to).activation < sequence.item(from).activation)
    });
    let price = |&(from, to): &(usize, usize)| Price::of(sequence.item(from), sequence.item(to));
    steps.min_by(|a, b| price(a).cmp(&price(b)).then(a.cmp(b)))
}

/// What a step takes and saves.
struct Price {
    time: u128,
    saved: u128,
}

impl Price {
    fn of(from: &Item, to: &Item) -> Price {
        let time = u128::from(to.extra.saturating_sub(from.extra));
        Price { time, saved: u128::from(from.activation - to.activation) }
    }

    /// By time for memory, then the larger step first.
    fn cmp(&self, other: &Price) -> Ordering {
        (self.time * other.saved).cmp(&(other.time * self.saved)).then(other.saved.cmp(&self.saved))
    }
}
