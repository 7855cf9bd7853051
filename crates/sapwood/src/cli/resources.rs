//! What this process takes and may take of the machine, as the system reports it.

use sapwood_machine::{Discover, facts};

/// The largest resident size of this process so far, if the system tells.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Bytes that this process may still take: what the system calls available, or the control group's limit if lower.
pub(crate) fn available_bytes() -> Option<u64> {
    let system = kilobytes("/proc/meminfo", "MemAvailable:");
    let limit = facts(&Discover::default()).ok().and_then(|host| host.cgroup_bytes);
    [system, limit].into_iter().flatten().min()
}

/// The line `key   N kB` of a file below /proc, in bytes.
fn kilobytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
