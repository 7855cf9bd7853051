//! Discovery of the machine at hand, from files alone: processors and NUMA nodes in `/sys`, the affinity mask and
//! memory in `/proc`, the tightest control-group limit. Nothing is timed here, so no speed is known afterwards.
//!
//! Workers are the physical cores in the mask, capped at the whole CPUs of the quota, at least one. With a quota below
//! that, the kernel moves the threads about, so that neither levels nor pins would mean anything: the tree is flat.
//! Every path is taken below `sysroot`, so that any machine can be a test fixture. Start with [`facts`] and [`Tree::discover`].

mod cache;
mod cgroup;
mod layout;
mod processors;

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use crate::cpu_list::CpuList;
use crate::level::{Level, Memory, Override, Transport, Values};
use crate::tree::{Header, Tree};
use crate::{Error, Result};
use processors::Processor;

/// How many workers to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workers {
    /// One for each physical core.
    #[default]
    Physical,
    /// One for each logical CPU.
    Logical,
    /// So many, whatever there is.
    Count(u32),
}

impl FromStr for Workers {
    type Err = String;

    /// `physical`, `logical` or a number from 1, as `--threads` takes it.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "physical" => Ok(Self::Physical),
            "logical" => Ok(Self::Logical),
            _ => match text.parse() {
                Ok(count) if (1..=1 << 20).contains(&count) => Ok(Self::Count(count)),
                _ => Err(format!("\"{text}\" is no number of threads, write 1 or more, physical or logical")),
            },
        }
    }
}

/// What to discover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discover {
    /// The folder that stands for `/`.
    pub sysroot: PathBuf,
    /// How many workers to make.
    pub workers: Workers,
}

impl Default for Discover {
    fn default() -> Self {
        Self { sysroot: PathBuf::from("/"), workers: Workers::default() }
    }
}

/// What the system says of its processors and memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Physical cores that are online.
    pub physical: usize,
    /// Logical CPUs that are online.
    pub logical: usize,
    /// Logical CPUs that this process may use.
    pub affinity: usize,
    /// Whole and partial CPUs that the control groups allow, if they limit it.
    pub cgroup_quota: Option<f64>,
    /// Workers that follow from all that.
    pub used: usize,
    /// Bytes of memory.
    pub total_bytes: Option<u64>,
    /// Bytes of memory that the control groups allow, if they limit it.
    pub cgroup_bytes: Option<u64>,
    /// Bytes of the last caches of the CPUs that this process may use, each counted once.
    pub last_cache_bytes: Option<u64>,
}

impl Facts {
    /// Bytes of the last caches: [`Facts::last_cache_bytes`], or 32 MiB where the system does not tell.
    pub fn last_cache(&self) -> u64 {
        self.last_cache_bytes.unwrap_or(32 << 20)
    }
}

/// Files below the folder that stands for `/`.
struct Sysroot(PathBuf);

impl Sysroot {
    /// The text of a file without the white space around it; none if it cannot be read.
    fn text(&self, path: &str) -> Option<String> {
        let bytes = fs::read(self.0.join(path.trim_start_matches('/'))).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.text(path)?.parse().ok()
    }

    fn list(&self, path: &str) -> Option<CpuList> {
        self.text(path)?.parse().ok()
    }

    /// The numbers of the entries `prefix0`, `prefix1`, ... of a folder, in order.
    fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let entries = fs::read_dir(self.0.join(folder.trim_start_matches('/')));
        let names = entries.into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u32> = names.filter_map(|name| name.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// Everything read once.
struct Findings {
    online: Vec<Processor>,
    /// Those of `online` in the affinity mask.
    usable: Vec<Processor>,
    limits: cgroup::Limits,
    total_bytes: Option<u64>,
}

impl Findings {
    fn read(sys: &Sysroot) -> Result<Self> {
        let online = processors::online(sys)?;
        let mask = status_list(sys, "Cpus_allowed_list:");
        let allowed = |p: &&Processor| mask.as_ref().is_none_or(|mask| mask.as_slice().contains(&p.cpu));
        let usable: Vec<_> = online.iter().filter(allowed).cloned().collect();
        let usable = if usable.is_empty() { online.clone() } else { usable };
        let total_bytes = sys.text("proc/meminfo").and_then(|text| kibibytes(&text, "MemTotal:"));
        Ok(Self { online, usable, limits: cgroup::limits(sys), total_bytes })
    }

    /// Whole CPUs of the quota, if there is one.
    fn cap(&self) -> usize {
        self.limits.cpus.map_or(usize::MAX, |cpus| (cpus as usize).max(1))
    }

    fn memory(&self) -> Option<u64> {
        [self.total_bytes, self.limits.memory].into_iter().flatten().min()
    }
}

/// What the system says, and how many workers [`Tree::discover`] would make of it.
///
/// # Errors
/// When the system tells nothing about its processors.
pub fn facts(o: &Discover) -> Result<Facts> {
    let sys = Sysroot(o.sysroot.clone());
    let found = Findings::read(&sys)?;
    Ok(Facts {
        physical: processors::cores(&found.online).len(),
        logical: found.online.len(),
        affinity: found.usable.len(),
        cgroup_quota: found.limits.cpus,
        used: Tree::from_findings(&found, o.workers, String::new())?.leaf_nodes().len(),
        total_bytes: found.total_bytes,
        cgroup_bytes: found.limits.memory,
        last_cache_bytes: cache::last_bytes(&sys, &found.usable),
    })
}

impl Tree {
    /// The machine at hand, or that of another `sysroot`.
    ///
    /// # Errors
    /// When the system tells nothing about its processors.
    pub fn discover(o: &Discover) -> Result<Self> {
        let sys = Sysroot(o.sysroot.clone());
        let name = sys.text("proc/sys/kernel/hostname").filter(|name| !name.is_empty());
        Self::from_findings(&Findings::read(&sys)?, o.workers, name.unwrap_or_else(|| "discovered".to_owned()))
    }

    fn from_findings(found: &Findings, workers: Workers, name: String) -> Result<Self> {
        let leaves = match workers {
            Workers::Physical => processors::cores(&found.usable),
            Workers::Logical => found.usable.clone(),
            Workers::Count(_) => Vec::new(),
        };
        let (mut levels, overrides) = match workers {
            Workers::Count(count) => (flat(count as usize), Vec::new()),
            _ if leaves.len() > found.cap() => (flat(found.cap()), Vec::new()),
            Workers::Physical => layout::layout(&leaves, "core"),
            Workers::Logical => layout::layout(&leaves, "thread"),
        };
        if let (Some(root), Some(size)) = (levels.first_mut(), found.memory()) {
            root.values.memory = Some(Memory { size: Some(size), bandwidth: None });
        }
        let source = Some("discovered in /sys and /proc, nothing measured".to_owned());
        build(Header { name, source, ..Header::default() }, levels, overrides)
    }
}

fn build(header: Header, levels: Vec<Level>, overrides: Vec<Override>) -> Result<Tree> {
    Tree::build(header, levels, overrides).map_err(|faults| {
        let first = faults.into_iter().next();
        Error::Discover(first.map_or_else(String::new, |fault| fault.message))
    })
}

/// A root, and so many workers below it; one worker is the root itself.
fn flat(workers: usize) -> Vec<Level> {
    let mut levels = vec![root()];
    if workers > 1 {
        levels.push(Level { name: "core".to_owned(), count: workers as u32, values: in_memory() });
    }
    levels
}

fn root() -> Level {
    Level { name: "machine".to_owned(), count: 1, values: Values::default() }
}

fn in_memory() -> Values {
    Values { transport: Some(Transport::Memory), ..Values::default() }
}

/// A CPU list of this process's status.
fn status_list(sys: &Sysroot, key: &str) -> Option<CpuList> {
    let status = sys.text("proc/self/status")?;
    status.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
}

/// `Key: 123 kB` somewhere in a text, in bytes.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let rest = &text[text.find(key)? + key.len()..];
    rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
