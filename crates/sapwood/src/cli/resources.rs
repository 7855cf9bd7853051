//! What this process takes and may take of the machine, as the system reports it.

use super::Failure;
use sapwood_graph::generator::Recipe;
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

/// Refuses the spec of a generated graph that this process could not hold; other names of data sets pass.
pub(crate) fn check_generated(spec: &str) -> Result<(), Failure> {
    Recipe::parse(spec)?.map_or(Ok(()), |recipe| check_recipe(&recipe))
}

/// Refuses a graph that this process could not hold.
pub(crate) fn check_recipe(recipe: &Recipe) -> Result<(), Failure> {
    let (name, needed) = (recipe.name(), recipe.bytes());
    match available_bytes() {
        Some(available) if available < needed => {
            let what = format!("{name} needs about {} MB of memory, {} MB are free", needed >> 20, available >> 20);
            Err(Failure::usage(what).hint("make a smaller graph"))
        }
        _ => Ok(()),
    }
}

/// The line `key   N kB` of a file below /proc, in bytes.
fn kilobytes(file: &str, key: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
