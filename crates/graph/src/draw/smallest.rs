//! Choosing the k units with the smallest values, ties to the lower unit: what draws by keyed chance have in common.

use crate::{BitMask, Result};
use sapwood_skeleton::random::Stream;
use sapwood_skeleton::{ChunkPlan, Exec, rows};

/// Units of a chunk; its random words take 64 KiB.
const CHUNK: usize = 4096;

/// A number whose order as an integer is that of `x` as [`f64::total_cmp`] has it.
fn ordered(x: f64) -> u64 {
    let bits = x.to_bits();
    bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
}

/// Clears the bits of the `k` units with the smallest (value, unit), k ≤ units. `fill(first, values)` gives the values
/// of the units `first ..`.
///
/// O(units) on average; the result is the same for any number of threads, because no two units are equal.
pub(super) fn drop_smallest(
    exec: Exec<'_>,
    k: u64,
    chances: &mut Vec<(u64, u32)>,
    mask: &mut BitMask,
    fill: impl Fn(u32, &mut [f64]) -> sapwood_skeleton::Result<()> + Sync,
) -> Result<()> {
    chances.resize(mask.len(), (0, 0));
    exec.for_chunks_mut(&ChunkPlan::of(mask.len(), CHUNK), rows(chances, 1), |worker, range, chances| {
        let values = worker.arena().take::<f64>(chances.len())?;
        fill(range.start as u32, values)?;
        for ((chance, &value), unit) in chances.iter_mut().zip(values.iter()).zip(range) {
            *chance = (ordered(value), unit as u32);
        }
        Ok(())
    })?;
    let k = k as usize;
    if k > 0 && k < chances.len() {
        chances.select_nth_unstable(k);
    }
    for &(_, unit) in &chances[..k] {
        mask.set(unit as usize, false);
    }
    Ok(())
}

/// A uniform number of (0, 1), neither 0 nor 1: an odd multiple of 2^−53. 1 − u is one too, and exact.
#[inline(always)]
fn inner_uniform(words: [u32; 4]) -> f64 {
    let bits = (u64::from(words[1]) << 32 | u64::from(words[0])) >> 12;
    (bits as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// A uniform number of (0, 1) for each of the units `first ..`.
pub(super) fn inner_uniforms(
    stream: Stream,
    (a, b): (u32, u32),
    first: u32,
    values: &mut [f64],
) -> sapwood_skeleton::Result<()> {
    let mut words = [[0u32; 4]; 256];
    for (block, values) in values.chunks_mut(256).enumerate() {
        let words = &mut words[..values.len()];
        stream.fill(a, b, u64::from(first) + 256 * block as u64, words)?;
        for (value, &w) in values.iter_mut().zip(words.iter()) {
            *value = inner_uniform(w);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_the_order_of_numbers() {
        let x = [f64::NEG_INFINITY, -2.5, -1e-300, -0.0, 0.0, 1e-300, 1.0, 2.0, f64::INFINITY];
        assert!(x.map(ordered).is_sorted());
        assert!(x.windows(2).all(|w| ordered(w[0]) != ordered(w[1])));
    }

    #[test]
    fn uniforms_never_reach_the_ends() {
        let (low, high) = (inner_uniform([0; 4]), inner_uniform([u32::MAX; 4]));
        assert!(low > 0.0 && high < 1.0 && low == 1.0 - high);
    }
}
