//! The bubble and its parts.
//!
//! With S stages, makespan T and useful work Tm = M·Σ(F + B + W without recomputation) the bubble is real = (S·T − Tm)/Tm:
//! stage time that is no useful work, by the useful work. It is the sum of
//!
//! - ideal: (S − 1)/(V·M) for 1F1B and the interleaved schedules; for others what the same schedule has where all virtual
//!   stages take the mean, nothing is recomputed and links take no time;
//! - recompute: M·Σ recomputation / Tm;
//! - comm: S·(T − T without links)/Tm;
//! - imbalance: the rest.

use crate::Result;
use crate::schedule::Ideal;
use crate::simulate::{Durations, Order, Sweep, blocking};

/// The bubble and its parts, each by the useful work.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Bubble {
    /// All of it.
    pub real: f64,
    /// What the schedule has at best.
    pub ideal: f64,
    /// The rest.
    pub imbalance: f64,
    /// What is run again.
    pub recompute: f64,
    /// What transfers cost.
    pub comm: f64,
}

/// The bubble of `durations` of which `extra` ticks are recomputation (one micro-batch through all virtual stages), with
/// transfers as rendezvous or not.
///
/// # Errors
/// [`crate::Error::Deadlock`] with rendezvous.
pub fn bubble(order: &Order, durations: &Durations<u64>, extra: u64, rendezvous: bool) -> Result<Bubble> {
    let dims = order.dims();
    let time = |durations: &Durations<u64>| -> Result<u64> {
        if rendezvous { blocking::makespan(order, durations) } else { Ok(Sweep::new().run(order, durations)) }
    };
    let all: u64 = durations.operations.iter().sum();
    let (stages, micro_batches) = (dims.stages as f64, dims.micro_batches as f64);
    let useful = micro_batches * all.saturating_sub(extra) as f64;
    if useful == 0.0 {
        return Ok(Bubble { real: 0.0, ideal: 0.0, imbalance: 0.0, recompute: 0.0, comm: 0.0 });
    }
    let makespan = time(durations)?;
    let without = Durations { links: vec![0; durations.links.len()], ..durations.clone() };
    let unlinked = Sweep::new().run(order, &without);
    let real = (stages * makespan as f64 - useful) / useful;
    let recompute = micro_batches * extra as f64 / useful;
    let comm = stages * (makespan as f64 - unlinked as f64) / useful;
    let ideal = match order.shape().ideal {
        Ideal::Pipeline => (stages - 1.0) / (dims.chunks as f64 * micro_batches),
        Ideal::Simulated => {
            let k = dims.virtual_stages();
            let mean = |kind: &[u64]| vec![kind.iter().sum::<u64>() as f64 / k as f64; k];
            let mut operations: Vec<f64> = durations.operations.chunks(k).flat_map(mean).collect();
            // Recomputation is part of the backwards.
            operations[k..2 * k].iter_mut().for_each(|t| *t -= extra as f64 / k as f64);
            let even = Sweep::new().run(order, &Durations::new(operations, k, dims.stages));
            (stages * even - useful) / useful
        }
    };
    Ok(Bubble { real, ideal, imbalance: real - ideal - recompute - comm, recompute, comm })
}
