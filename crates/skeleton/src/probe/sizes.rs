//! How large the operands of a probe are: from what the system says of caches and memory, never from the clock.

use sapwood_machine::{CACHED_BYTES, Facts, LARGE_BYTES};
use std::time::Duration;

/// Bytes of the operands beyond the caches at least.
const LEAST: u64 = 32 << 20;

/// At most: more gives no other rate, and the system takes long to hand it out.
const MOST: u64 = 1 << 30;

/// Bytes that a second of the budget may be spent on first touching.
const PER_SECOND: f64 = (512 << 20) as f64;

/// Sizes of the operands of the kernels of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Of the operands that must not fit the caches: four times the last caches, at most an eighth of the memory, a GiB,
    /// and 512 MiB for each second of the budget.
    pub memory_bytes: u64,
    /// Of the operands that stay in the cache, over all workers: a MiB for each, at most an eighth of the last caches.
    pub cached_bytes: u64,
    /// Of the operands that are larger, over all workers: [`LARGE_BYTES`] for each, at most an eighth of the memory, and not
    /// less than the smaller ones.
    pub large_bytes: u64,
    /// Whether [`Sizes::memory_bytes`] is twice the last caches, so that what is read there comes from memory.
    pub beyond_caches: bool,
}

impl Sizes {
    /// The sizes for a machine, a number of workers and a budget.
    pub fn new(facts: &Facts, workers: usize, budget: Duration) -> Sizes {
        let cache = facts.last_cache();
        let memory = [facts.total_bytes, facts.cgroup_bytes].into_iter().flatten().min().unwrap_or(u64::MAX);
        let touched = (budget.as_secs_f64() * PER_SECOND) as u64;
        let memory_bytes = cache.saturating_mul(4).clamp(LEAST, MOST).min(touched).min(memory / 8);
        let workers = workers as u64;
        let cached_bytes = workers.saturating_mul(CACHED_BYTES).min(cache / 8);
        let large_bytes = workers.saturating_mul(LARGE_BYTES).min(touched).min(memory / 8).max(cached_bytes);
        Sizes { memory_bytes, cached_bytes, large_bytes, beyond_caches: memory_bytes >= cache.saturating_mul(2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn facts(cache: Option<u64>, memory: u64) -> Facts {
        Facts {
            physical: 4,
            logical: 4,
            affinity: 4,
            cgroup_quota: None,
            used: 4,
            total_bytes: Some(memory),
            cgroup_bytes: None,
            last_cache_bytes: cache,
        }
    }

    fn mib(cache: Option<u64>, memory: u64, budget: Duration) -> (u64, u64, bool) {
        let sizes = Sizes::new(&facts(cache.map(|c| c << 20), memory << 20), 4, budget);
        (sizes.memory_bytes >> 20, sizes.cached_bytes >> 20, sizes.beyond_caches)
    }

    #[test]
    fn operands_are_sized_from_facts() {
        assert_eq!(mib(Some(64), 1 << 20, SECOND), (256, 4, true));
        assert_eq!(mib(None, 1 << 20, SECOND), (128, 4, true), "a usual cache");
        assert_eq!(mib(Some(1), 1 << 20, SECOND), (32, 0, true), "not too small");
        assert_eq!(mib(Some(512), 1 << 20, 9 * SECOND), (1024, 4, true), "not too large");
        assert_eq!(mib(Some(512), 1 << 20, SECOND), (512, 4, false), "a short budget says so");
        assert_eq!(mib(Some(64), 1024, SECOND), (128, 4, true), "an eighth of the memory");
        assert_eq!(mib(Some(64), 256, SECOND), (32, 4, false));
    }

    #[test]
    fn the_limit_of_a_control_group_counts() {
        let limited = Facts { cgroup_bytes: Some(800 << 20), ..facts(Some(64 << 20), 1 << 40) };
        assert_eq!(Sizes::new(&limited, 1, SECOND).memory_bytes, 100 << 20);
        let unknown = Facts { total_bytes: None, last_cache_bytes: Some(u64::MAX), ..limited };
        let sizes = Sizes::new(&Facts { cgroup_bytes: None, ..unknown }, usize::MAX, Duration::MAX);
        assert_eq!(Sizes::new(&limited, 4, SECOND).large_bytes, 64 << 20);
        assert_eq!(Sizes::new(&limited, 64, SECOND).large_bytes, 100 << 20);
        assert_eq!((sizes.memory_bytes, sizes.beyond_caches), (1 << 30, false), "nothing overflows");
    }
}
