//! One parallel step that does nothing: what it costs to hand out chunks and to wait for the last one.

use super::Source;
use crate::{ChunkPlan, Exec, Result, rows};
use sapwood_machine::Kernel;

/// An empty step.
pub(super) struct Step;

impl Source for Step {
    fn kernels(&self) -> &'static [Kernel] {
        &[Kernel::Dispatch]
    }

    fn run(&mut self, _: Kernel, exec: Exec<'_>, units: usize) -> Result<f64> {
        let plan = ChunkPlan::of(exec.threads(), 1);
        let mut out = vec![0u8; exec.threads()];
        for _ in 0..units {
            exec.for_chunks_mut(&plan, rows(&mut out[..], 1), |_, _, _| Ok(()))?;
        }
        Ok(units as f64)
    }
}
