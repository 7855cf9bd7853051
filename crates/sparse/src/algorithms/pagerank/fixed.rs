//! Sums of a row in fixed point: whole numbers of a unit that is a power of two, added in 64 bits.
//!
//! Addition of whole numbers is associative, so a sum has one value however its terms stand or are cut up. Each term is
//! rounded to the unit once. With the unit at most 2⁻⁶⁰ of the largest sum, that is finer than the rounding of f64 to a
//! sum of that size, and one chain of additions with a latency of one cycle replaces eight.

use crate::algorithms::Walk;
use crate::error::{Error, Result};
use crate::plan::{HEAVIEST, WorkPlan};
use crate::scalar::{Index, Scalar};
use crate::structure::{Segment, Stretch, Structure, WorkRange};
use sapwood_skeleton::{Arena, ChunkPlan, Exec};

/// log2 of the number of units in the bound of all sums. Bounds may be overrun by rounding; three bits are spare.
const BITS: i32 = 60;

/// 2^s with bound·2^s in (2^(BITS−1), 2^BITS], for a positive bound that is not tiny.
#[inline(always)]
pub(super) fn units_for(bound: f64) -> f64 {
    // The exponent field: bound ≤ 2^(e + 1).
    let e = ((bound.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    f64::from_bits(((BITS - 1 - e.max(-800) + 1023) as u64) << 52)
}

/// What is gathered for a node: `x` units, for a pattern already rounded to a whole number; a sum of whole numbers below
/// zero is one of their bits.
#[inline(always)]
pub(super) fn encode<V: Scalar>(x: f64) -> u64 {
    if V::PATTERN { whole(x) as u64 } else { x.to_bits() }
}

/// `x` as the nearest whole number.
#[inline(always)]
pub(super) fn whole(x: f64) -> i64 {
    (x + 0.5f64.copysign(x)) as i64
}

/// One term of a row's sum.
#[inline(always)]
pub(super) fn term<V: Scalar>(value: V, z: u64) -> i64 {
    if V::PATTERN { z as i64 } else { whole(value.to::<f64>() * f64::from_bits(z)) }
}

/// Rows whose sums are taken from one list of running sums.
const BATCH: usize = 64;

/// Calls `each(row, sum)` for every row in `work`, or for its one piece of a heavy row.
///
/// Whole numbers allow a short cut: the sum of a row is the difference of two running sums over all entries, so no branch
/// depends on the lengths of rows.
#[inline(always)]
pub(super) fn sums<S: Structure>(
    a: &S,
    work: WorkRange,
    arena: &Arena,
    z: &[u64],
    mut each: impl FnMut(usize, i64),
) -> sapwood_skeleton::Result<()> {
    let gathered = |_: &(), j: usize| z[j];
    if WorkPlan::is_piece(work) {
        walk(a, work, arena, &mut (), gathered, |(), row, sum| each(row, sum));
        return Ok(());
    }
    let running = arena.take::<i64>(HEAVIEST)?;
    let mut ends = [0; BATCH];
    for row in (work.start.0..work.end.0).step_by(BATCH) {
        let rows = row..work.end.0.min(row + BATCH);
        let ends = &mut ends[..rows.len()];
        match a.stretch(rows.clone(), ends) {
            Some(Stretch { columns, values, .. }) if columns.len() < HEAVIEST => {
                running[0] = 0;
                let mut sum = 0i64;
                for ((c, &v), slot) in columns.iter().zip(values).zip(&mut running[1..]) {
                    sum = sum.wrapping_add(term(v, z[c.to_usize()]));
                    *slot = sum;
                }
                let mut before = 0;
                for (row, &end) in rows.zip(&*ends) {
                    let after = running[end as usize];
                    each(row, after.wrapping_sub(before));
                    before = after;
                }
            }
            _ => walk(a, WorkRange::rows(rows), arena, &mut (), gathered, |(), row, sum| each(row, sum)),
        }
    }
    Ok(())
}

/// Calls `each(state, row, sum)` for every row in `work`, or for its one piece of a heavy row. `at(state, j)` is what is
/// gathered for node j.
#[inline(always)]
pub(super) fn walk<S: Structure, C>(
    a: &S,
    work: WorkRange,
    arena: &Arena,
    state: &mut C,
    at: impl Fn(&C, usize) -> u64,
    mut each: impl FnMut(&mut C, usize, i64),
) {
    let piece = WorkPlan::is_piece(work);
    let mut sum = 0i64;
    a.segments(
        work,
        arena,
        #[inline(always)]
        |Segment { row, columns, values, ends_row, .. }| {
            for (c, &v) in columns.iter().zip(values) {
                sum = sum.wrapping_add(term(v, at(state, c.to_usize())));
            }
            if ends_row || piece {
                each(state, row, std::mem::take(&mut sum));
            }
        },
    );
}

/// Checks that stored weights are finite and not negative.
pub(super) fn check_values<A: Walk>(exec: Exec<'_>, a: &A) -> Result<()> {
    if <A::Matrix as Structure>::Value::PATTERN {
        return Ok(());
    }
    let plan = a.plan();
    exec.for_chunks(&ChunkPlan::of(plan.items(), 1).dynamic(), |worker, item, _| {
        let mut bad = None;
        a.matrix().segments(plan.range(item), worker.arena(), |segment| {
            let faulty = |v: &<A::Matrix as Structure>::Value| !(v.to::<f64>() >= 0.0 && v.to::<f64>().is_finite());
            if let (None, Some(p)) = (bad, segment.values.iter().position(faulty)) {
                bad = Some((segment.entry + p, segment.values[p].to::<f64>()));
            }
        });
        match bad {
            Some((index, value)) => Err(sapwood_skeleton::Error::other(Error::Element {
                array: "values",
                index,
                value,
                range: "finite and not negative",
            })),
            None => Ok(()),
        }
    })?;
    Ok(())
}
