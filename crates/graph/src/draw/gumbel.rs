//! The draw by Gumbel keys: exactly k units go, the k with the largest log q_e + G_e, G_e a keyed Gumbel number each
//! (Efraimidis & Spirakis, "Weighted random sampling with a reservoir", 2006).
//!
//! With G = −log E, E exponential, these are the k smallest E_e / q_e, which is what is computed. The units go one after
//! another, each with probability proportional to q among those left, so the marginals are **not** q: unlikely units go
//! too often where k is a large part of the units. Units with q = 1 go first, units with q = 0 never.

use super::quotas::ONE;
use super::smallest::{drop_smallest, inner_uniforms};
use super::{Entry, Job, Scratch};
use crate::{BitMask, Result};
use sapwood_skeleton::math::ln_slice;
use sapwood_skeleton::random::{Purpose, Stream};

pub(super) const ENTRY: Entry = Entry {
    name: "gumbel",
    summary: "exactly k units by Gumbel keys; the marginals are not the probabilities when k is a large share",
    exact: true,
    draw,
};

fn draw(job: &Job<'_>, scratch: &mut Scratch, mask: &mut BitMask) -> Result<()> {
    let k = job.start_exact(mask)?;
    if k == 0 {
        return Ok(());
    }
    let (stream, a, b) = (Stream::new(job.key.seed, Purpose::Draw), job.key.epoch, job.key.b()?);
    drop_smallest(job.exec, k, &mut scratch.chances, mask, |first, values| {
        inner_uniforms(stream, (a, b), first, values)?;
        ln_slice(values);
        for (value, unit) in values.iter_mut().zip(first..) {
            *value = match job.quotas.get(unit) {
                0 => f64::INFINITY,
                ONE => -1.0,
                quota => -*value / quota as f64,
            };
        }
        Ok(())
    })
}
