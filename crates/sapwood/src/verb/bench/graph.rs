//! `sapwood bench graph`: PageRank (`rank`), and a draw with the operator of what it leaves (`draw`).
//!
//! Every system gets the same pairs: a graph is loaded or generated here and written once, for the peers, to a temporary
//! `.npy` file. Neither that nor a peer's loading of it is ever timed. The two kinds of work are in `graph/`.

mod draw;
mod rank;

use std::path::Path;

use clap::Args;
use sapwood_files::npy;
use sapwood_graph::dataset::Weights;
use sapwood_graph::{Graph, LoadOptions};
use sapwood_skeleton::Exec;

use super::contest::{Agreement, BoxError, Contender, contest};
use super::host::host;
use super::peer::{Launcher, Peer};
use super::table::Row;
use super::{Common, PeerEntry, chosen, data, failure, record, start, table};
use crate::cli::{Context, Exit, Failure, Run};

/// Programs that rank nodes or draw pairs.
static PEERS: &[PeerEntry] = &[
    PeerEntry { name: "networkx", script: "rank_networkx.py", arguments: &[] },
    PeerEntry { name: "igraph", script: "rank_igraph.py", arguments: &[] },
    PeerEntry { name: "scipy", script: "rank_scipy.py", arguments: &[] },
    PeerEntry { name: "pyg", script: "draw_pyg.py", arguments: &[] },
];

/// What is measured where no graph is named. NetworkX needs about 300 B an arc, too much for the largest graph.
static USUAL: &[Usual] = &[
    Usual { work: &rank::WORK, label: "debian", source: Source::Place("debian-packages"), left_out: &[] },
    Usual { work: &rank::WORK, label: "rmat-16", source: Source::Spec("rmat:scale=16,edge=16"), left_out: &[] },
    Usual {
        work: &rank::WORK,
        label: "rmat-20",
        source: Source::Spec("rmat:scale=20,edge=16"),
        left_out: &["networkx"],
    },
    Usual { work: &draw::WORK, label: "debian", source: Source::Place("debian-packages"), left_out: &[] },
    Usual { work: &draw::WORK, label: "cora", source: Source::Place("cora"), left_out: &[] },
];

/// A kind of work.
#[derive(Debug)]
struct Work {
    /// Name on the command line.
    name: &'static str,
    /// Our systems that do it.
    systems: &'static [&'static str],
    /// The peers that do it.
    peers: &'static [&'static str],
    measure: Measure,
}

type Measure = fn(&Bout<'_>, Graph, &mut [Peer]) -> Result<Vec<Row>, BoxError>;

static WORK: &[&Work] = &[&rank::WORK, &draw::WORK];

/// A graph that is measured unless another is named.
struct Usual {
    work: &'static Work,
    label: &'static str,
    source: Source,
    /// Peers that do this work, but not here.
    left_out: &'static [&'static str],
}

/// Where a graph comes from.
enum Source {
    /// A place in a data folder.
    Place(&'static str),
    /// A generator.
    Spec(&'static str),
}

/// PageRank, and draws of surviving edges with their operator.
#[derive(Debug, Args)]
pub(super) struct GraphWork {
    /// Work: rank, draw [default: both]
    work: Vec<String>,
    /// Graph to work on instead of the usual ones: data set, folder, file or spec of a generator; may be repeated
    #[arg(long = "graph", value_name = "DATA")]
    graphs: Vec<String>,
    /// Peers: networkx, igraph, scipy (rank), pyg (draw), none
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "networkx,igraph,scipy,pyg")]
    peers: Vec<String>,
    #[command(flatten)]
    common: Common,
}

/// One kind of work on one graph.
struct Case {
    work: &'static Work,
    label: String,
    /// What [`sapwood_graph::load`] takes.
    source: String,
    left_out: &'static [&'static str],
}

impl Run for GraphWork {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let (peers, work) = (chosen(&self.peers, PEERS)?, self.work()?);
        let (host, runtime) = (host(), cx.runtime()?);
        let launcher = Launcher::new(&self.common.peers_dir, runtime.exec().threads(), host.busy());
        let ours = work.iter().flat_map(|work| work.systems).fold(Vec::new(), |mut known: Vec<&str>, &name| {
            if !known.contains(&name) {
                known.push(name);
            }
            known
        });
        let (mut systems, mut rows) = (ours.into_iter().map(table::ours).collect(), Vec::new());
        for case in self.cases(cx, &work) {
            let graph = load(&case.source).map_err(failure)?;
            let folder = tempfile::tempdir()?;
            let arguments = write_pairs(&graph, &folder.path().join("pairs.npy")).map_err(failure)?;
            let plays =
                |entry: &&&PeerEntry| case.work.peers.contains(&entry.name) && !case.left_out.contains(&entry.name);
            let started = peers.iter().filter(plays);
            let started = started.filter_map(|entry| start(cx, &launcher, entry, arguments.clone(), &case.label));
            let mut started: Vec<Peer> = started.collect();
            started.iter().for_each(|peer| record(&mut systems, peer));
            let reps = usize::from(self.common.reps);
            let bout = Bout { cx, exec: runtime.exec(), label: &case.label, reps };
            rows.extend((case.work.measure)(&bout, graph, &mut started).map_err(failure)?);
        }
        table::emit(cx, "graph", systems, host, rows)
    }
}

impl GraphWork {
    fn work(&self) -> Result<Vec<&'static Work>, Failure> {
        if self.work.is_empty() {
            return Ok(WORK.to_vec());
        }
        let known = || WORK.iter().map(|work| work.name).collect::<Vec<_>>().join(", ");
        let find = |name: &String| {
            let work = WORK.iter().copied().find(|work| work.name == name);
            work.ok_or_else(|| Failure::usage(format!("{name}: no such benchmark")).hint(format!("one of {}", known())))
        };
        self.work.iter().map(find).collect()
    }

    fn cases(&self, cx: &Context, work: &[&'static Work]) -> Vec<Case> {
        let named = |&work: &&'static Work| {
            let case =
                move |source: &String| Case { work, label: source.clone(), source: source.clone(), left_out: &[] };
            self.graphs.iter().map(case).collect::<Vec<_>>()
        };
        let usual = |&work: &&'static Work| {
            let known = USUAL.iter().filter(move |usual| usual.work.name == work.name);
            known.filter_map(|usual| usual.case(cx)).collect::<Vec<_>>()
        };
        if self.graphs.is_empty() {
            work.iter().flat_map(usual).collect()
        } else {
            work.iter().flat_map(named).collect()
        }
    }
}

impl Usual {
    fn case(&self, cx: &Context) -> Option<Case> {
        let source = match self.source {
            Source::Place(place) => data(cx, self.label, place)?.display().to_string(),
            Source::Spec(spec) => spec.to_owned(),
        };
        Some(Case { work: self.work, label: self.label.to_owned(), source, left_out: self.left_out })
    }
}

fn load(source: &str) -> Result<Graph, BoxError> {
    let options = LoadOptions { weights: Weights::Ignored, ..LoadOptions::default() };
    Ok(sapwood_graph::load(source, &options)?.graph)
}

/// Writes the pairs, each once, and the self-loops as a 2 × m array; returns what a peer is told.
fn write_pairs(graph: &Graph, path: &Path) -> Result<Vec<String>, BoxError> {
    let loops = graph.self_loops().iter().map(|&(node, _)| (node, node));
    let (mut ends, mut others) = (Vec::new(), Vec::new());
    for (u, v) in graph.pair_ends().chain(loops) {
        ends.push(i32::try_from(u.0)?);
        others.push(i32::try_from(v.0)?);
    }
    let shape = vec![2, ends.len()];
    ends.append(&mut others);
    npy::write(path, &npy::Array { shape, data: npy::Data::I32(ends) })?;
    Ok(vec![path.display().to_string(), "--nodes".to_owned(), graph.nodes().to_string()])
}

/// What a kind of work is told about the case at hand.
struct Bout<'a> {
    cx: &'a Context,
    exec: Exec<'a>,
    label: &'a str,
    reps: usize,
}

impl Bout<'_> {
    /// Ours against the peers; who fails is named on stderr.
    fn contest<'a>(
        &self,
        what: &str,
        nodes: usize,
        ours: Vec<&'a mut (dyn Contender + 'a)>,
        peers: &'a mut [Peer],
        agreement: &Agreement,
    ) -> Vec<Row> {
        let mut field = ours;
        field.extend(peers.iter_mut().map(|peer| peer as &mut dyn Contender));
        let label = format!("{} {what}", self.label);
        let (rows, lost) = contest(what, &label, nodes as u64, &mut field, self.reps, agreement);
        lost.iter().for_each(|line| self.cx.warn(line));
        rows
    }
}
