//! Where nothing fits: how far the nearest fractional counts are beyond the caps, and which stage is in the way.
//!
//! The largest excess, as a part of the cap, is made as small as it can be. That it is above 0 is proven like a lower bound of
//! the makespan. Layers go wherever that helps, so many stages may exceed alike; the one that is named is the one whose memory
//! would help most.

use super::certify;
use super::lp::{LpBackend, Row, Sense};
use super::rows::{MemoryRow, Relaxation};
use crate::simulate::Vectors;
use crate::{Error, Result};

/// The least excess that is told from rounding, as a part of the cap.
const LEAST: f64 = 1e-9;

/// Why no fractional partition fits.
///
/// # Errors
/// [`Error::Problem`] if that is not so, and the solver was wrong.
pub(super) fn failure(relaxation: &Relaxation<'_>, vectors: &Vectors, backend: &mut dyn LpBackend) -> Result<Error> {
    let wrong = || Error::Problem { what: "the solver found no partition although one may fit the caps".to_owned() };
    let caps = relaxation.problem.caps();
    let memory: Vec<MemoryRow> = (0..caps.len()).flat_map(|stage| relaxation.memory(vectors, stage)).collect();
    let mut program = relaxation.places();
    program.rows.extend(memory.iter().map(|memory| excess(memory, relaxation.makespan())));
    let x = backend.start(&program)?.ok_or_else(wrong)?;
    let (least, weights) = certify::best(&program, &x, backend);
    if least <= LEAST {
        return Err(wrong());
    }
    let first = program.rows.len() - memory.len();
    let mut by_stage = vec![0.0; caps.len()];
    memory.iter().zip(&weights[first..]).for_each(|(memory, weight)| by_stage[memory.stage] += weight * memory.cap);
    let stage = (0..caps.len()).max_by(|&a, &b| by_stage[a].total_cmp(&by_stage[b]).then(b.cmp(&a))).unwrap_or(0);
    let cap = relaxation.problem.memory().show(caps[stage]);
    Ok(Error::Infeasible { stage, need: cap * (1.0 + x[relaxation.makespan()]), cap })
}

/// The row where the stage may take the part `column` of its cap on top.
fn excess(memory: &MemoryRow, column: usize) -> Row {
    let mut terms = memory.row.terms.clone();
    terms.push((column, -memory.cap.max(f64::MIN_POSITIVE)));
    Row { terms, sense: Sense::Le, right: memory.row.right }
}
