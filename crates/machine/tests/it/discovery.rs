//! Machines made of files: every odd one is a folder that stands for `/`.

use std::fs;
use std::path::Path;

use sapwood_machine::{Discover, Facts, Transport, Tree, Workers, facts};
use tempfile::TempDir;

/// A folder with the files of a machine.
struct Host(TempDir);

impl Host {
    /// So many logical CPUs, each core having `smt` of them next to each other, one package, one NUMA node.
    fn new(cpus: u32, smt: u32) -> Self {
        let host = Self(tempfile::tempdir().unwrap());
        host.file("sys/devices/system/cpu/online", &format!("0-{}", cpus - 1));
        host.file("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
        host.file("proc/sys/kernel/hostname", "fixture\n");
        for cpu in 0..cpus {
            let first = cpu / smt * smt;
            host.cpu(cpu, "topology/physical_package_id", "0");
            host.cpu(cpu, "topology/core_cpus_list", &format!("{first}-{}", first + smt - 1));
            host.cache(cpu, 0, 1, &format!("{first}-{}", first + smt - 1));
            host.cache(cpu, 3, 3, &format!("0-{}", cpus - 1));
        }
        host.affinity(&format!("0-{}", cpus - 1));
        host
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn cpu(&self, cpu: u32, file: &str, text: &str) {
        self.file(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"), text);
    }

    fn cache(&self, cpu: u32, index: u32, level: u32, shared: &str) {
        self.cpu(cpu, &format!("cache/index{index}/level"), &level.to_string());
        self.cpu(cpu, &format!("cache/index{index}/shared_cpu_list"), shared);
    }

    fn cache_size(&self, cpu: u32, index: u32, kind: &str, size: &str) {
        self.cpu(cpu, &format!("cache/index{index}/type"), kind);
        self.cpu(cpu, &format!("cache/index{index}/size"), size);
    }

    fn affinity(&self, list: &str) {
        self.file(
            "proc/self/status",
            &format!("Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t{list}\nMems_allowed:\t1\n"),
        );
    }

    fn numa(&self, node: u32, cpus: &str, kib: u64) {
        self.file(&format!("sys/devices/system/node/node{node}/cpulist"), cpus);
        let meminfo = format!("Node {node} MemTotal:       {kib} kB\nNode {node} MemFree: 5 kB\n");
        self.file(&format!("sys/devices/system/node/node{node}/meminfo"), &meminfo);
    }

    /// Control groups of version 2, mounted where they usually are.
    fn v2(&self, group: &str) {
        self.file("proc/self/cgroup", &format!("0::{group}\n"));
        self.file("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
    }

    fn ask(&self, workers: Workers) -> Discover {
        Discover { sysroot: self.0.path().to_owned(), workers }
    }

    fn tree(&self) -> Tree {
        let tree = Tree::discover(&self.ask(Workers::Physical)).unwrap();
        assert_eq!(Tree::parse(&tree.write(), "written").unwrap(), tree, "what is discovered can be written");
        assert_eq!(self.facts().used, tree.leaf_count());
        tree
    }

    fn facts(&self) -> Facts {
        facts(&self.ask(Workers::Physical)).unwrap()
    }
}

fn names(tree: &Tree) -> Vec<&str> {
    tree.levels().iter().map(|level| level.name.as_str()).collect()
}

fn pins(tree: &Tree) -> Vec<u32> {
    tree.leaf_nodes().iter().filter_map(|leaf| tree.pin(*leaf)).collect()
}

#[test]
fn a_plain_machine() {
    let tree = Host::new(4, 1).tree();
    assert_eq!((names(&tree), tree.to_shape().as_str()), (vec!["machine", "core"], "4"));
    assert_eq!(pins(&tree), [0, 1, 2, 3]);
    assert_eq!(tree.name(), "fixture");
    let root = tree.node(tree.root());
    assert_eq!(root.memory.as_ref().unwrap().size, Some(16 << 30));
    let core = tree.node(tree.leaf_nodes()[0]);
    assert_eq!((core.transport, core.speed), (Some(Transport::Memory), 1.0));
    assert!(core.compute.by_type.is_empty(), "nothing is measured");
}

#[test]
fn eight_logical_are_four_physical() {
    let host = Host::new(8, 2);
    let tree = host.tree();
    assert_eq!((tree.leaf_count(), pins(&tree)), (4, vec![0, 2, 4, 6]));
    let logical = Tree::discover(&host.ask(Workers::Logical)).unwrap();
    assert_eq!((names(&logical), logical.to_shape().as_str()), (vec!["machine", "core", "thread"], "4x2"));
    assert_eq!(pins(&logical), [0, 1, 2, 3, 4, 5, 6, 7]);
    let counted = Tree::discover(&host.ask(Workers::Count(64))).unwrap();
    assert_eq!((counted.leaf_count(), pins(&counted).len()), (64, 0));
    let facts = host.facts();
    assert_eq!((facts.physical, facts.logical, facts.affinity, facts.cgroup_quota), (4, 8, 8, None));
}

#[test]
fn siblings_may_be_numbered_apart() {
    // as most servers do: CPU n and n+4 share a core
    let host = Host::new(8, 1);
    for cpu in 0..8 {
        let first = cpu % 4;
        fs::remove_file(host.0.path().join(format!("sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list")))
            .unwrap();
        host.cpu(cpu, "topology/thread_siblings_list", &format!("{first},{}", first + 4)); // before Linux 5.3
    }
    assert_eq!(pins(&host.tree()), [0, 1, 2, 3]);
    host.affinity("5-6");
    assert_eq!(pins(&host.tree()), [5, 6], "the second threads of two cores");
}

#[test]
fn a_quota_of_one_and_a_half_is_one_worker() {
    let host = Host::new(8, 2);
    host.v2("/user.slice/job");
    host.file("sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
    let tree = host.tree();
    assert_eq!((tree.leaf_count(), tree.depth(), pins(&tree).len()), (1, 0, 0));
    assert_eq!(host.facts().cgroup_quota, Some(1.5));
}

#[test]
fn a_quota_below_one_is_one_worker() {
    let host = Host::new(4, 1);
    host.v2("/job");
    host.file("sys/fs/cgroup/job/cpu.max", "20000 100000\n");
    assert_eq!(host.tree().leaf_count(), 1);
}

#[test]
fn a_quota_below_the_cores_gives_a_flat_tree_without_pins() {
    let host = Host::new(8, 1);
    for cpu in 0..8 {
        host.cpu(cpu, "topology/physical_package_id", &(cpu / 4).to_string());
    }
    assert_eq!(host.tree().to_shape(), "2x4");
    host.v2("/job");
    host.file("sys/fs/cgroup/job/cpu.max", "350000 100000\n");
    let tree = host.tree();
    assert_eq!((tree.to_shape().as_str(), pins(&tree).len()), ("3", 0));
    host.file("sys/fs/cgroup/job/cpu.max", "800000 100000\n");
    assert_eq!(host.tree().to_shape(), "2x4", "a quota that allows all changes nothing");
}

#[test]
fn the_tightest_group_counts() {
    let host = Host::new(8, 1);
    host.v2("/a/b/c");
    host.file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    host.file("sys/fs/cgroup/a/b/c/memory.max", "8589934592\n");
    host.file("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    host.file("sys/fs/cgroup/a/b/memory.max", "max\n");
    host.file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
    host.file("sys/fs/cgroup/a/memory.max", "4294967296\n");
    let (tree, facts) = (host.tree(), host.facts());
    assert_eq!((tree.leaf_count(), facts.cgroup_quota, facts.cgroup_bytes), (2, Some(2.0), Some(4 << 30)));
    assert_eq!(tree.node(tree.root()).memory.as_ref().unwrap().size, Some(4 << 30));
    assert_eq!(facts.total_bytes, Some(16 << 30));
}

#[test]
fn version_one_groups() {
    let host = Host::new(8, 1);
    host.file("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job/inner\n1:name=systemd:/x\n");
    host.file(
        "proc/self/mountinfo",
        "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n\
         32 25 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
    );
    host.file("sys/fs/cgroup/cpu,cpuacct/job/inner/cpu.cfs_quota_us", "-1");
    host.file("sys/fs/cgroup/cpu,cpuacct/job/inner/cpu.cfs_period_us", "100000");
    host.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000");
    host.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    host.file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824");
    host.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    let facts = host.facts();
    assert_eq!((facts.used, facts.cgroup_quota, facts.cgroup_bytes), (2, Some(2.5), Some(1 << 30)));
}

#[test]
fn a_container_sees_its_own_group_as_the_root() {
    // without a name space of its own: the path of the host, of which only the container's group is mounted
    let host = Host::new(8, 1);
    host.file("proc/self/cgroup", "0::/docker/abc\n");
    host.file("proc/self/mountinfo", "30 24 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    host.file("sys/fs/cgroup/cpu.max", "300000 100000\n");
    assert_eq!(host.tree().leaf_count(), 3);
    // with one: the root, or a place outside of it
    for group in ["/", "/../other"] {
        host.v2(group);
        assert_eq!(host.tree().leaf_count(), 3, "{group}");
    }
    // nothing said about mounts
    host.file("proc/self/mountinfo", "");
    assert_eq!(host.tree().leaf_count(), 3);
}

#[test]
fn both_versions_at_once() {
    let host = Host::new(8, 1);
    host.file("proc/self/cgroup", "4:cpu,cpuacct:/job\n0::/job\n");
    host.file(
        "proc/self/mountinfo",
        "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
         32 25 0:28 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup rw\n",
    );
    host.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "500000");
    host.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    host.file("sys/fs/cgroup/uni fied/job/memory.max", "1024");
    let facts = host.facts();
    assert_eq!((facts.used, facts.cgroup_bytes), (5, Some(1024)));
}

#[test]
fn a_mask_of_one_is_one_worker() {
    let host = Host::new(8, 2);
    host.affinity("5");
    let tree = host.tree();
    assert_eq!((tree.leaf_count(), tree.depth()), (1, 0));
    assert_eq!(tree.pin(tree.root()), Some(5));
    assert_eq!(host.facts().affinity, 1);
    host.affinity("4-5");
    assert_eq!(host.tree().leaf_count(), 1, "two threads of one core");
    host.affinity("1,2");
    assert_eq!(host.tree().leaf_count(), 2, "one thread each of two cores");
}

#[test]
fn offline_processors_do_not_count() {
    let host = Host::new(8, 1);
    host.file("sys/devices/system/cpu/online", "0,2-3");
    assert_eq!(pins(&host.tree()), [0, 2, 3]);
    host.affinity("6-7");
    assert_eq!(host.tree().leaf_count(), 3, "a mask without online processors is stale");
}

#[test]
fn sockets_and_their_memory() {
    let host = Host::new(8, 1);
    for cpu in 0..8 {
        host.cpu(cpu, "topology/physical_package_id", &(cpu / 4).to_string());
        host.cache(cpu, 3, 3, if cpu < 4 { "0-3" } else { "4-7" });
    }
    host.numa(0, "0-3", 8 << 20);
    host.numa(1, "4-7", 6 << 20);
    let tree = host.tree();
    assert_eq!((names(&tree), tree.to_shape().as_str()), (vec!["machine", "socket", "core"], "2x4"));
    let size = |path| tree.node(tree.at(path).unwrap()).memory.as_ref().unwrap().size;
    assert_eq!((size("/socket[0]"), size("/socket[1]")), (Some(8 << 30), Some(6 << 30)));
    assert_eq!(size("/"), Some(16 << 30));
}

#[test]
fn sockets_numa_nodes_and_caches() {
    // 2 sockets of 2 NUMA nodes of 2 L3 groups of 2 cores; NUMA nodes numbered across the sockets
    let host = Host::new(16, 1);
    for cpu in 0..16 {
        host.cpu(cpu, "topology/physical_package_id", &(cpu / 8).to_string());
        host.cache(cpu, 3, 3, &format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1));
    }
    for node in 0..4 {
        host.numa(node, &format!("{}-{}", node * 4, node * 4 + 3), 4 << 20);
    }
    let tree = host.tree();
    assert_eq!((names(&tree), tree.to_shape().as_str()), (vec!["machine", "socket", "numa", "l3", "core"], "2x2x2x2"));
    assert_eq!(tree.node(tree.at("/socket[1]/numa[1]").unwrap()).memory.as_ref().unwrap().size, Some(4 << 30));
    assert!(tree.node(tree.at("/socket[1]").unwrap()).memory.is_none());
    // pins of different NUMA nodes are disjoint
    let of = |node: &str| {
        tree.leaves(tree.at(node).unwrap()).map(|i| tree.pin(tree.leaf_nodes()[i]).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((of("/socket[0]/numa[1]"), of("/socket[1]/numa[0]")), (vec![4, 5, 6, 7], vec![8, 9, 10, 11]));
}

#[test]
fn a_mask_makes_irregular_trees() {
    let host = Host::new(8, 1);
    for cpu in 0..8 {
        host.cpu(cpu, "topology/physical_package_id", &(cpu / 4).to_string());
    }
    host.affinity("0,4-6");
    let tree = host.tree();
    assert_eq!((tree.to_shape().as_str(), pins(&tree)), ("[1,3]", vec![0, 4, 5, 6]));
    host.affinity("1,5");
    assert_eq!(host.tree().to_shape(), "2", "levels with one child are left out");
    assert_eq!(names(&host.tree()), ["machine", "core"]);
}

#[test]
fn processors_interleaved_over_sockets() {
    let host = Host::new(6, 1);
    for cpu in 0..6 {
        host.cpu(cpu, "topology/physical_package_id", &(cpu % 2).to_string());
    }
    let tree = host.tree();
    assert_eq!((tree.to_shape().as_str(), pins(&tree)), ("2x3", vec![0, 2, 4, 1, 3, 5]));
}

#[test]
fn one_numa_node_over_two_sockets_is_no_level() {
    let host = Host::new(4, 1);
    for cpu in 0..4 {
        host.cpu(cpu, "topology/physical_package_id", &(cpu / 2).to_string());
    }
    host.numa(0, "0-3", 16 << 20);
    let tree = host.tree();
    assert_eq!(tree.to_shape(), "2x2");
    assert!(tree.level("socket").unwrap().values.memory.is_none(), "the memory is not that of one socket");
}

#[test]
fn unequal_cores() {
    // 2 fast cores of two threads, 4 slow ones of one, as in hybrid laptops
    let host = Host::new(8, 1);
    for cpu in 0..4 {
        let first = cpu / 2 * 2;
        host.cpu(cpu, "topology/core_cpus_list", &format!("{first}-{}", first + 1));
        host.cpu(cpu, "cpufreq/cpuinfo_max_freq", "5000000");
    }
    for cpu in 4..8 {
        host.cpu(cpu, "cpufreq/cpuinfo_max_freq", "3500000");
    }
    let tree = host.tree();
    let speeds: Vec<_> = tree.leaf_nodes().iter().map(|leaf| tree.node(*leaf).speed).collect();
    assert_eq!(speeds, [1.0, 1.0, 0.7, 0.7, 0.7, 0.7]);
    assert_eq!(tree.overrides().iter().map(|o| o.at.to_string()).collect::<Vec<_>>(), ["/core[2-5]"]);
    // cpu_capacity, where there is one, says more than a frequency
    for cpu in 0..8 {
        host.cpu(cpu, "cpu_capacity", if cpu < 4 { "1024" } else { "512" });
    }
    assert_eq!(host.tree().node(host.tree().leaf_nodes()[5]).speed, 0.5);
}

#[test]
fn favoured_cores_are_not_unequal() {
    let host = Host::new(4, 1);
    for cpu in 0..4 {
        host.cpu(cpu, "cpufreq/cpuinfo_max_freq", if cpu == 0 { "5300000" } else { "5000000" });
    }
    assert!(host.tree().overrides().is_empty());
}

#[test]
fn little_is_enough() {
    let host = Host(tempfile::tempdir().unwrap());
    host.affinity("0-2");
    assert_eq!(host.tree().to_shape(), "3");
    let host = Host(tempfile::tempdir().unwrap());
    host.file("sys/devices/system/cpu/present", "0-1");
    assert_eq!(host.tree().to_shape(), "2");
}

#[test]
fn nothing_is_an_error_that_names_the_files() {
    let host = Host(tempfile::tempdir().unwrap());
    let message = Tree::discover(&host.ask(Workers::Physical)).unwrap_err().to_string();
    assert!(message.contains("sys/devices/system/cpu/online"), "{message}");
}

#[test]
fn garbage_in_the_files_is_survived() {
    let host = Host::new(4, 2);
    host.v2("/job");
    for text in ["", "max", "x y", "-1 -1", "1 0", "nan nan", "9999999999999999999999 1", "\u{0}\u{1}"] {
        host.file("sys/fs/cgroup/job/cpu.max", text);
        host.file("sys/fs/cgroup/job/memory.max", text);
        host.file("proc/meminfo", text);
        host.cpu(0, "topology/core_cpus_list", text);
        host.cpu(1, "topology/physical_package_id", text);
        host.cpu(2, "cpu_capacity", text);
        host.numa(0, text, 7);
        assert!((1..=4).contains(&host.tree().leaf_count()), "{text}");
    }
}

#[test]
fn this_machine() {
    let tree = Tree::discover(&Discover::default()).unwrap();
    let facts = facts(&Discover::default()).unwrap();
    assert_eq!(tree.leaf_count(), facts.used);
    assert!(facts.used >= 1 && facts.used <= facts.logical && facts.physical <= facts.logical);
    if Path::new("/proc/meminfo").exists() {
        assert!(facts.total_bytes.is_some_and(|bytes| bytes > 1 << 20));
    }
}

#[test]
fn numbers_of_workers() {
    assert_eq!("physical".parse(), Ok(Workers::Physical));
    assert_eq!("logical".parse(), Ok(Workers::Logical));
    assert_eq!("12".parse(), Ok(Workers::Count(12)));
    for text in ["0", "", "-1", "two", "1048577"] {
        assert!(text.parse::<Workers>().is_err(), "{text}");
    }
}

#[test]
fn shared_last_caches_count_once() {
    let host = Host::new(4, 1);
    assert_eq!(host.facts().last_cache_bytes, None, "no sizes are told");
    for cpu in 0..4 {
        host.cache_size(cpu, 0, "Data", "48K");
        host.cache(cpu, 1, 9, &cpu.to_string());
        host.cache_size(cpu, 1, "Instruction", "1G");
        host.cache(cpu, 3, 3, if cpu < 2 { "0-1" } else { "2-3" });
        host.cache_size(cpu, 3, "Unified", "32768K");
    }
    assert_eq!(host.facts().last_cache_bytes, Some(64 << 20));
    host.affinity("0-1");
    assert_eq!(host.facts().last_cache_bytes, Some(32 << 20), "that of other CPUs is not ours");
    host.cache_size(0, 3, "Unified", "0K");
    host.cache_size(1, 3, "Unified", "much");
    assert_eq!(host.facts().last_cache_bytes, Some(48 << 10), "a size that is not told leaves the cache before it");
}
