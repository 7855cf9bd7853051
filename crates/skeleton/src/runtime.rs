//! The workers of this process, owned.

use crate::isa;
use crate::pool::Pool;
use crate::{Error, Exec, Result};

/// Largest number of threads a runtime starts.
pub const MAX_THREADS: usize = 4096;

/// The threads and the scratch memory that work runs on. Make one, keep it, pass [`Runtime::exec`] around.
pub struct Runtime {
    pool: Pool,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("threads", &self.pool.threads()).finish()
    }
}

impl Runtime {
    /// A runtime of `threads` workers, the calling thread being one of them.
    ///
    /// # Errors
    /// [`Error::Threads`] for 0 or more than [`MAX_THREADS`], [`Error::Spawn`] if the system refuses, [`Error::Isa`] if
    /// `SAPWOOD_ISA` names a level that does not exist here.
    pub fn threads(threads: usize) -> Result<Runtime> {
        isa::check()?;
        if threads == 0 || threads > MAX_THREADS {
            return Err(Error::Threads { asked: threads, limit: MAX_THREADS });
        }
        Ok(Runtime { pool: Pool::start(threads)? })
    }

    /// A runtime without threads: everything runs in the caller's.
    ///
    /// # Errors
    /// [`Error::Isa`] if `SAPWOOD_ISA` names a level that does not exist here.
    pub fn sequential() -> Result<Runtime> {
        Runtime::threads(1)
    }

    /// The handle through which work is run.
    pub fn exec(&self) -> Exec<'_> {
        Exec::new(&self.pool)
    }

    /// Bytes of scratch memory held for the workers. It stops growing once every kind of chunk has run.
    pub fn arena_bytes(&self) -> usize {
        self.pool.arena_bytes()
    }
}
