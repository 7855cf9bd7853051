//! `sapwood bench TOOL`: our time beside a peer's, in turns within one run.
//!
//! A tool is one file in `bench/` (its cases, our side, the peers that know it) and one line in [`Tool`]. The turns are
//! in `contest`, the peers' protocol in `peer`, what is printed in `table`. Never part of a test run: a clock is no judge
//! on a shared machine.

mod bound;
mod contest;
mod graph;
pub(super) mod host;
mod peer;
mod plan;
mod sparse;
mod table;
mod train;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::{Context, Exit, Failure, Run};
use contest::BoxError;
use peer::{Launcher, Peer};
use table::System;

/// Measure a tool of ours beside its peers, in turns, in one run.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    tool: Tool,
}

#[derive(Debug, Subcommand)]
enum Tool {
    /// Sparse matrix times dense matrix on real graphs
    Sparse(sparse::Sparse),
    /// Training epochs of graph networks
    Train(train::Train),
    /// PageRank, and draws of surviving edges with their operator
    Graph(graph::GraphWork),
    /// The pipeline planner: exact sweep, search, bound
    Plan(plan::Plan),
}

impl Run for Bench {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        if cfg!(debug_assertions) {
            cx.warn("this is no release build: its times say nothing (cargo build --release)");
        }
        match self.tool {
            Tool::Sparse(tool) => tool.run(cx),
            Tool::Train(tool) => tool.run(cx),
            Tool::Graph(tool) => tool.run(cx),
            Tool::Plan(tool) => tool.run(cx),
        }
    }
}

/// What all benchmarks may be told.
#[derive(Debug, Args)]
struct Common {
    /// Rounds; in each one every system runs once
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..))]
    reps: u16,
    /// Folder of the peer programs
    #[arg(long, value_name = "DIR", default_value = "bench/peers")]
    peers_dir: PathBuf,
}

/// A peer program of one tool: a script for Python, or a program in C that is compiled first.
struct PeerEntry {
    /// Name on the command line and in tables.
    name: &'static str,
    /// Its file in the folder of the peers.
    script: &'static str,
    /// Arguments that make this peer of a script that can be several.
    arguments: &'static [&'static str],
}

/// The entries that `names` name, in order; `none` is nobody.
fn chosen(names: &[String], all: &'static [PeerEntry]) -> Result<Vec<&'static PeerEntry>, Failure> {
    let known = || all.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let entry = all.iter().find(|entry| entry.name == name);
        entry.ok_or_else(|| {
            Failure::usage(format!("--peers {name}: no such peer")).hint(format!("one of {}, or none", known()))
        })
    };
    names.iter().filter(|name| *name != "none").map(find).collect()
}

/// Starts a peer; one that cannot start is left out, and the user sees why.
fn start(cx: &Context, launcher: &Launcher, entry: &PeerEntry, arguments: Vec<String>, label: &str) -> Option<Peer> {
    let fixed = entry.arguments.iter().map(|&a| a.to_owned());
    match Peer::start(launcher, entry.name, entry.script, &arguments.into_iter().chain(fixed).collect::<Vec<_>>()) {
        Ok(peer) => Some(peer),
        Err(error) => {
            cx.warn(&format!("{label}: peer {} skipped: {error}", entry.name));
            None
        }
    }
}

/// Adds the system of a peer to the list, once.
fn record(systems: &mut Vec<System>, peer: &Peer) {
    if systems.iter().all(|known| known.name != peer.hello.system) {
        systems.push(System { name: peer.hello.system.clone(), version: peer.hello.version.clone() });
    }
}

/// A failure of our own side.
fn failure(error: BoxError) -> Failure {
    Failure::Error { error, hint: None }
}

/// The file or folder at `place` in a data folder (`$SAPWOOD_DATA`, then `./data`), compressed or not; a note when there is none.
fn data(cx: &Context, label: &str, place: &str) -> Option<PathBuf> {
    let folders = sapwood_graph::dataset::folders();
    let found = folders.iter().find_map(|folder| {
        let path = folder.join(place);
        if path.is_dir() { Some(path) } else { sapwood_files::find(folder, place) }
    });
    if found.is_none() {
        let looked = folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(" and ");
        cx.note(&format!("{label}: skipped, no {place} in {looked}"));
    }
    found
}
