//! The logical CPUs that are online and where each of them sits.

use std::collections::BTreeMap;

use super::Sysroot;
use crate::{Error, Result};

/// A logical CPU. Groups are named by any number that their members share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Processor {
    pub(super) cpu: u32,
    pub(super) package: u32,
    pub(super) numa: u32,
    /// Bytes of its NUMA node.
    pub(super) numa_bytes: Option<u64>,
    pub(super) l3: u32,
    pub(super) core: u32,
    /// Relative or absolute speed, in whatever unit the system uses for all of them.
    pub(super) capacity: Option<f64>,
}

/// All that are online, by number.
pub(super) fn online(sys: &Sysroot) -> Result<Vec<Processor>> {
    let listed = sys.list("sys/devices/system/cpu/online").map(|list| list.as_slice().to_vec());
    let cpus = listed.or_else(|| sys.list("sys/devices/system/cpu/present").map(|list| list.as_slice().to_vec()));
    let cpus = cpus.or_else(|| super::status_list(sys, "Cpus_allowed_list:").map(|list| list.as_slice().to_vec()));
    let mut cpus = cpus.filter(|cpus| !cpus.is_empty()).or_else(|| reported(sys)).ok_or_else(|| {
        let root = sys.0.display();
        Error::Discover(format!(
            "{root} has neither sys/devices/system/cpu/online nor Cpus_allowed_list in proc/self/status"
        ))
    })?;
    cpus.sort_unstable();
    let numa = numa_nodes(sys);
    Ok(cpus.into_iter().map(|cpu| processor(sys, cpu, &numa)).collect())
}

/// Where there is neither `/sys` nor `/proc`, as many as the system reports to any program.
fn reported(sys: &Sysroot) -> Option<Vec<u32>> {
    use std::{path::Path, thread::available_parallelism};
    let here = sys.0 == Path::new("/");
    let count = here.then(available_parallelism)?.ok()?;
    Some((0..u32::try_from(count.get()).ok()?).collect())
}

/// One entry for each physical core: the first of its logical CPUs, with the highest capacity among them.
pub(super) fn cores(processors: &[Processor]) -> Vec<Processor> {
    let mut cores: BTreeMap<u32, Processor> = BTreeMap::new();
    for processor in processors {
        let core = cores.entry(processor.core).or_insert_with(|| processor.clone());
        core.capacity = core.capacity.into_iter().chain(processor.capacity).reduce(f64::max);
    }
    let mut cores: Vec<_> = cores.into_values().collect();
    cores.sort_by_key(|core| core.cpu);
    cores
}

/// The NUMA node of each CPU, and its bytes.
fn numa_nodes(sys: &Sysroot) -> BTreeMap<u32, (u32, Option<u64>)> {
    let mut nodes = BTreeMap::new();
    for node in sys.numbered("sys/devices/system/node", "node") {
        let folder = format!("sys/devices/system/node/node{node}");
        let Some(cpus) = sys.list(&format!("{folder}/cpulist")) else { continue };
        let meminfo = sys.text(&format!("{folder}/meminfo"));
        let bytes = meminfo.and_then(|text| super::kibibytes(&text, "MemTotal:"));
        nodes.extend(cpus.as_slice().iter().map(|cpu| (*cpu, (node, bytes))));
    }
    nodes
}

fn processor(sys: &Sysroot, cpu: u32, numa: &BTreeMap<u32, (u32, Option<u64>)>) -> Processor {
    let folder = format!("sys/devices/system/cpu/cpu{cpu}");
    let first = |path: String| sys.list(&path)?.as_slice().iter().min().copied();
    // physical_package_id is -1 where the firmware does not say
    let package = sys.number(&format!("{folder}/topology/physical_package_id")).unwrap_or(0);
    let core = first(format!("{folder}/topology/core_cpus_list"))
        .or_else(|| first(format!("{folder}/topology/thread_siblings_list")));
    let l3 = sys.numbered(&format!("{folder}/cache"), "index").into_iter().find_map(|index| {
        let cache = format!("{folder}/cache/index{index}");
        let level: u32 = sys.number(&format!("{cache}/level"))?;
        first(format!("{cache}/shared_cpu_list")).filter(|_| level == 3)
    });
    let (numa, numa_bytes) = numa.get(&cpu).copied().unwrap_or((0, None));
    Processor {
        cpu,
        package,
        numa,
        numa_bytes,
        l3: l3.unwrap_or(u32::MAX),
        core: core.unwrap_or(cpu),
        capacity: sys
            .number(&format!("{folder}/cpu_capacity"))
            .or_else(|| sys.number(&format!("{folder}/cpufreq/cpuinfo_max_freq")))
            .filter(|capacity: &f64| capacity.is_finite() && *capacity > 0.0),
    }
}
