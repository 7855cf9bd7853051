//! The last cache before memory.

use std::collections::BTreeMap;

use super::Sysroot;
use super::processors::Processor;
use crate::units;

/// Bytes of the last caches of `cpus`, each counted once however many of them share it.
pub(super) fn last_bytes(sys: &Sysroot, cpus: &[Processor]) -> Option<u64> {
    let last: BTreeMap<(u32, u32), u64> = cpus.iter().filter_map(|p| last_of(sys, p.cpu)).collect();
    last.values().try_fold(0u64, |sum, bytes| sum.checked_add(*bytes)).filter(|bytes| *bytes > 0)
}

/// The last cache of a CPU: its level and the first CPU that shares it, and its bytes.
fn last_of(sys: &Sysroot, cpu: u32) -> Option<((u32, u32), u64)> {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache");
    let caches = sys.numbered(&folder, "index").into_iter().filter_map(|index| {
        let cache = format!("{folder}/index{index}");
        if sys.text(&format!("{cache}/type"))? == "Instruction" {
            return None;
        }
        let level: u32 = sys.number(&format!("{cache}/level"))?;
        // `1024K`, as the command line writes sizes
        let bytes = units::size(&sys.text(&format!("{cache}/size"))?).ok()?;
        let shared = sys.list(&format!("{cache}/shared_cpu_list"));
        let first = shared.and_then(|list| list.as_slice().iter().min().copied()).unwrap_or(cpu);
        Some(((level, first), bytes))
    });
    caches.max_by_key(|((level, _), _)| *level)
}
