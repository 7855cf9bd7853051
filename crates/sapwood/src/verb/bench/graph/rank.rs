//! PageRank with α = 0.85 until a sweep changes the scores by at most 1e-10 in the 1-norm; the same rule and numbers as in
//! `bench/peers/rank_scipy.py`. A repetition is all of it: the sums of degrees, the sweeps, a new vector of scores.

use sapwood_graph::Graph;
use sapwood_graph::centrality::pagerank;
use sapwood_skeleton::Exec;
use sapwood_sparse::algorithms::{Method, PageRank, PageRankOptions};

use super::{Bout, Work};
use crate::verb::bench::bound::{self, Gathers};
use crate::verb::bench::contest::{Agreement, BoxError, Contender, Job, Ours};
use crate::verb::bench::peer::Peer;
use crate::verb::bench::table::Row;

pub(super) static WORK: Work = Work {
    name: "rank",
    systems: &["sapwood", "sapwood-chebyshev", bound::NAME],
    peers: &["networkx", "igraph", "scipy"],
    measure,
};

/// Our methods, each a system of its own.
static METHODS: &[(&str, Method)] = &[("sapwood", Method::Power), ("sapwood-chebyshev", Method::Chebyshev)];

/// The largest scores are compared, so many.
const COMPARED: usize = 5;
/// They agree when none differs by more than this times the largest.
const AGREEMENT: Agreement = Agreement::Relative(1e-8);

fn measure(bout: &Bout<'_>, graph: Graph, peers: &mut [Peer]) -> Result<Vec<Row>, BoxError> {
    let ours = |&(name, method): &(&'static str, Method)| {
        let options = PageRankOptions { alpha: 0.85, tol: 1e-10, method, ..PageRankOptions::default() };
        Ours { name, threads: bout.exec.threads(), job: Ranking { exec: bout.exec, graph: &graph, options } }
    };
    let mut ours: Vec<Ours<Ranking<'_>>> = METHODS.iter().map(ours).collect();
    // As many passes as power iteration takes sweeps, over numbers of its size.
    let sweeps = ours[0].job.walk()?.iterations as usize;
    let passes: Gathers<'_, u64> = Gathers::new(bout.exec, vec![(graph.rows().pattern(), 1); sweeps]);
    let mut gathers = Ours { name: bound::NAME, threads: bout.exec.threads(), job: passes };
    let mut field: Vec<&mut dyn Contender> = ours.iter_mut().map(|ours| ours as &mut dyn Contender).collect();
    field.push(&mut gathers);
    Ok(bout.contest(WORK.name, graph.nodes(), field, peers, &AGREEMENT))
}

/// One method on one graph.
struct Ranking<'a> {
    exec: Exec<'a>,
    graph: &'a Graph,
    options: PageRankOptions<'static>,
}

impl Ranking<'_> {
    fn walk(&self) -> Result<PageRank, BoxError> {
        let walk = pagerank::of(self.exec, self.graph, false, &self.options)?;
        if !walk.converged {
            return Err(format!("no convergence in {} sweeps", walk.iterations).into());
        }
        Ok(walk)
    }
}

impl Job for Ranking<'_> {
    fn iterate(&mut self, _: &str) -> Result<(), BoxError> {
        std::hint::black_box(self.walk()?);
        Ok(())
    }

    fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
        let mut scores = self.walk()?.scores;
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.truncate(COMPARED);
        Ok(scores)
    }
}
