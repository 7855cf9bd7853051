//! `sapwood doctor`: what this machine and this build offer, with one hint for each thing that is missing.
//!
//! It looks and never changes anything. Libraries are looked for by file name in the usual folders, not loaded.

use crate::cli::{Context, Exit, Failure, Run};
use clap::Args;
use sapwood_machine::{Discover, facts};
use sapwood_skeleton::isa;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Say what this machine and this build offer.
#[derive(Debug, Args)]
pub(crate) struct Doctor {}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    version: &'static str,
    features: Vec<&'static str>,
    threads: Threads,
    memory: Memory,
    isa: Isa,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Threads {
    physical: usize,
    logical: usize,
    affinity: usize,
    cgroup_quota: Option<f64>,
    used: usize,
}

#[derive(Serialize)]
struct Memory {
    total_bytes: Option<u64>,
    cgroup_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Isa {
    detected: &'static str,
    chosen: &'static str,
}

/// One thing that may be there or not.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    found: bool,
    version: Option<String>,
    path: Option<PathBuf>,
    hint: Option<&'static str>,
}

impl Run for Doctor {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let host = facts(&Discover::default())?;
        let report = Report {
            schema: "sapwood.doctor/1",
            version: env!("CARGO_PKG_VERSION"),
            features: env!("SAPWOOD_FEATURES").split(' ').filter(|f| *f != "none").collect(),
            threads: Threads {
                physical: host.physical,
                logical: host.logical,
                affinity: host.affinity,
                cgroup_quota: host.cgroup_quota,
                used: cx.threads().unwrap_or(host.used),
            },
            memory: Memory { total_bytes: host.total_bytes, cgroup_bytes: host.cgroup_bytes },
            isa: Isa { detected: isa::detected().name(), chosen: isa::level().name() },
            checks: checks(),
        };
        settings(cx).iter().for_each(|wrong| cx.warn(wrong));
        cx.emit(&report, |out| print(&report, out))?;
        Ok(Exit::Done)
    }
}

/// Settings that make every other verb refuse to start.
fn settings(cx: &Context) -> Vec<String> {
    let machine =
        cx.threads().err().map(|failure| format!("the machine: {failure}; see --machine and SAPWOOD_MACHINE"));
    let ranks = sapwood_skeleton::launch::refuse_ranks().err().map(|e| e.to_string());
    let isa = isa::check().err().map(|e| e.to_string());
    [machine, ranks, isa].into_iter().flatten().collect()
}

fn print(report: &Report, out: &mut dyn Write) -> std::io::Result<()> {
    let or_none = |n: Option<String>| n.unwrap_or_else(|| "none".to_owned());
    let t = &report.threads;
    writeln!(out, "sapwood {}  features: {}", report.version, env!("SAPWOOD_FEATURES"))?;
    writeln!(
        out,
        "threads  {} used; {} cores, {} hardware threads, {} in the affinity mask, cgroup quota {}",
        t.used,
        t.physical,
        t.logical,
        t.affinity,
        or_none(t.cgroup_quota.map(|q| q.to_string()))
    )?;
    let gib = |bytes: Option<u64>| or_none(bytes.map(|b| format!("{:.1} GiB", b as f64 / f64::from(1 << 30))));
    writeln!(out, "memory   {}, cgroup limit {}", gib(report.memory.total_bytes), gib(report.memory.cgroup_bytes))?;
    writeln!(out, "isa      {} (detected {})", report.isa.chosen, report.isa.detected)?;
    for check in &report.checks {
        let place = check.path.as_ref().map(|p| format!("  {}", p.display())).unwrap_or_default();
        let version = check.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        writeln!(out, "{:<8} {}{version}{place}", check.name, if check.found { "found" } else { "not found" })?;
        if let Some(hint) = check.hint {
            writeln!(out, "         hint: {hint}")?;
        }
    }
    Ok(())
}

fn checks() -> Vec<Check> {
    vec![
        entry(
            "mpi",
            library("libmpi.so").or_else(|| library("libmpich.so")),
            "this build runs on threads only; MPI is not built yet",
        ),
        entry(
            "launcher",
            program("srun").or_else(|| program("mpirun")),
            "only needed once MPI is built; Debian: openmpi-bin",
        ),
        entry("cuda", library("libcuda.so"), "no NVIDIA driver; everything runs on the CPU"),
        entry("nvrtc", library("libnvrtc.so"), "no CUDA run-time compiler; everything runs on the CPU"),
        entry("opencl", library("libOpenCL.so"), "no OpenCL loader; everything runs on the CPU"),
        solver(),
        entry("data", data_folder(), "set SAPWOOD_DATA to a folder of data sets; `debian` needs none"),
    ]
}

/// HiGHS, which is built in or not.
fn solver() -> Check {
    let version = sapwood_plan::bound::mip::HIGHS.map(str::to_owned);
    let hint = match version {
        Some(_) => "for `plan --bound mip` where stages can hold too many things to list",
        None => "only `plan --bound mip` uses it, on large models: build with --features highs",
    };
    Check { name: "highs", found: version.is_some(), version, path: None, hint: Some(hint) }
}

fn entry(name: &'static str, path: Option<PathBuf>, hint: &'static str) -> Check {
    let found = path.is_some();
    let version = path.as_deref().and_then(soname_version);
    Check { name, found, version, path, hint: (!found).then_some(hint) }
}

/// The version in a library's file name: `libcuda.so.550.54` → `550.54`.
fn soname_version(path: &Path) -> Option<String> {
    let name = path.canonicalize().ok()?.file_name()?.to_string_lossy().into_owned();
    name.split_once(".so.").map(|(_, version)| version.to_owned())
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| p.is_file())
}

/// A library whose file name starts with `stem`, in the loader's usual folders.
fn library(stem: &str) -> Option<PathBuf> {
    let own = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
        "/usr/local/cuda/lib64",
    ];
    std::env::split_paths(&own).chain(usual.iter().map(PathBuf::from)).find_map(|dir| {
        let mut names: Vec<_> = std::fs::read_dir(dir).ok()?.flatten().map(|e| e.path()).collect();
        names.sort();
        names.into_iter().find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(stem)))
    })
}

fn data_folder() -> Option<PathBuf> {
    sapwood_graph::dataset::folders().into_iter().find(|folder| folder.is_dir())
}
