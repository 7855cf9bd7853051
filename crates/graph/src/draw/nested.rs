//! The nested draw of `--per layer-nested`: a layer that drops more units drops all that a layer with fewer drops.

use super::Scratch;
use super::quotas::check_units;
use super::smallest::{drop_smallest, inner_uniforms};
use crate::{BitMask, DrawKey, Error, Result};
use sapwood_skeleton::Exec;
use sapwood_skeleton::math::ln_f64;
use sapwood_skeleton::random::{Purpose, Stream};

/// Drops the `k` units with the smallest (logit(u_e) + `tilt[e]`, e); afterwards `mask` has one bit per unit, 1 where the
/// unit stays.
///
/// u_e is a uniform number keyed by (seed, epoch, micro-batch, e), the layer left out: with one tilt, a larger `k` drops
/// a superset. The marginals are those of Pareto sampling (Rosén, "On sampling with probability proportional to size",
/// 1997): near σ(a − tilt), a such that they sum to `k`. A tilt of −∞ goes first, a tilt of +∞ never.
///
/// # Errors
/// A tilt that is no number, more than 2^31 − 1 units, a key out of range, or `k` above the number of tilts below +∞.
pub fn nested(
    exec: Exec<'_>,
    tilt: &[f64],
    k: u64,
    key: DrawKey,
    scratch: &mut Scratch,
    mask: &mut BitMask,
) -> Result<()> {
    check_units(tilt.len() as u64)?;
    if let Some(unit) = tilt.iter().position(|t| t.is_nan()) {
        let range = "a number or an infinity";
        return Err(Error::Range { flag: "the tilt of a unit", range, value: format!("NaN (unit {unit})") });
    }
    let limit = tilt.iter().filter(|&&t| t < f64::INFINITY).count() as u64;
    if k > limit {
        return Err(Error::TooLarge { what: "units to drop of those that may go", count: k, limit });
    }
    mask.reset(tilt.len(), true);
    if k == 0 {
        return Ok(());
    }
    key.b()?; // the layer must be in range although it is left out
    let at = (key.epoch, DrawKey { layer: 0, ..key }.b()?);
    let stream = Stream::new(key.seed, Purpose::Draw);
    drop_smallest(exec, k, &mut scratch.chances, mask, |first, values| {
        inner_uniforms(stream, at, first, values)?;
        for (value, tilt) in values.iter_mut().zip(&tilt[first as usize..]) {
            *value = ln_f64(*value) - ln_f64(1.0 - *value) + tilt;
        }
        Ok(())
    })
}
