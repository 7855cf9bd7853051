//! `sapwood bench plan`: what the planner is to reach. The exact sweep beside its twin in C; the search, the reference
//! instance and the bound by their targets; the largest sizes as a process of its own, for its memory.
//!
//! Sizes, targets and what is measured are in `plan/measures`, what is printed in `plan/table`.

mod measures;
mod table;

use clap::Args;
use sapwood_skeleton::Runtime;

use super::host::host;
use super::peer::Launcher;
use super::table::ours;
use super::{Common, PeerEntry, chosen, failure, record, start};
use crate::cli::{Context, Exit, Failure, Run};
use measures::Bench;

/// Programs that sweep.
static PEERS: &[PeerEntry] = &[PeerEntry { name: "c-twin", script: "../peers-c/sweep.c", arguments: &[] }];

/// The planner by its targets, and its exact sweep beside the same loop in C.
#[derive(Debug, Args)]
pub(super) struct Plan {
    /// Peers: c-twin (compiled with $CC, else cc), none
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "c-twin")]
    peers: Vec<String>,
    #[command(flatten)]
    common: Common,
}

impl Run for Plan {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let (peers, host) = (chosen(&self.peers, PEERS)?, host());
        let (alone, all) = (Runtime::threads(1)?, cx.runtime()?);
        let bench = Bench::new(cx, alone.exec(), all.exec(), usize::from(self.common.reps)).map_err(failure)?;
        let launcher = Launcher::new(&self.common.peers_dir, 1, host.busy());
        let (mut systems, mut rows) = (vec![ours("sapwood")], Vec::new());
        for size in measures::SWEEPS {
            let folder = tempfile::tempdir()?;
            let case = bench.sweep(size, &folder.path().join("order")).map_err(failure)?;
            let arguments = vec![case.file.display().to_string()];
            let twins = peers.iter().filter_map(|entry| start(cx, &launcher, entry, arguments.clone(), &case.label));
            let mut twins: Vec<_> = twins.collect();
            twins.iter().for_each(|peer| record(&mut systems, peer));
            rows.extend(bench.beside(case, &mut twins).map_err(failure)?);
        }
        rows.extend(bench.targets().map_err(failure)?);
        table::emit(cx, systems, host, rows)
    }
}
