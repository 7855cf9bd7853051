//! One draw of surviving pairs at p = 0.3 and the operator of what is left: `aug` in f32, compacted, ready to multiply.
//!
//! Each system has random numbers of its own, so what is compared is how many arcs are left; that tells apart a wrong
//! rate, or arcs dropped one by one, and nothing finer. Each repetition is a new draw.

use std::sync::Arc;

use sapwood_graph::{
    After, DrawBuffers, DrawKey, Graph, Normalisation, Operator, Prepared, SamplerOptions, TrainLabels, sampler,
};
use sapwood_skeleton::Exec;

use super::{Bout, Work};
use crate::verb::bench::contest::{Agreement, BoxError, Contender, Job, Ours};
use crate::verb::bench::peer::Peer;
use crate::verb::bench::table::Row;

pub(super) static WORK: Work = Work { name: "draw", systems: &["sapwood"], peers: &["pyg"], measure };

/// Our samplers with their defaults: `ranked` is systematic in the order of nodes, `dropedge` in random order.
static SAMPLERS: &[&str] = &["ranked", "dropedge"];

/// Drop rate, as in `bench/peers/draw_pyg.py`.
const P: f64 = 0.3;
/// Standard deviations by which a count may be off.
const SIGMAS: f64 = 5.0;

fn measure(bout: &Bout<'_>, graph: Graph, peers: &mut [Peer]) -> Result<Vec<Row>, BoxError> {
    let (exec, graph) = (bout.exec, Arc::new(graph));
    let mut rows = Vec::new();
    for name in SAMPLERS {
        let mut ours = Ours { name: "sapwood", threads: exec.threads(), job: Draws::new(bout, &graph, name)? };
        let field = vec![&mut ours as &mut dyn Contender];
        rows.extend(bout.contest(&format!("draw-{name}"), graph.nodes(), field, peers, &agreement(graph.pairs())));
    }
    for row in &mut rows {
        row.ns_per_pair = Some(row.min_wall_s * 1e9 / graph.pairs() as f64);
    }
    Ok(rows)
}

/// Arcs left of `pairs` pairs that each stay with probability 1 − p: two for each pair, give or take.
fn agreement(pairs: u64) -> Agreement {
    let pairs = pairs as f64;
    let sigma = 2.0 * (pairs * P * (1.0 - P)).sqrt();
    Agreement::Near { expected: vec![2.0 * pairs * (1.0 - P)], within: SIGMAS * sigma }
}

/// Draws of one sampler on one graph, epoch after epoch.
struct Draws<'a> {
    exec: Exec<'a>,
    graph: Arc<Graph>,
    prepared: Box<dyn Prepared>,
    operator: Operator<f32>,
    buffers: DrawBuffers,
    seed: u64,
    epoch: u32,
}

impl<'a> Draws<'a> {
    fn new(bout: &Bout<'a>, graph: &Arc<Graph>, name: &str) -> Result<Draws<'a>, BoxError> {
        let sampler = (sampler::find(sampler::ALL, name)?.new)(&SamplerOptions::with_p(P))?;
        Ok(Draws {
            exec: bout.exec,
            graph: graph.clone(),
            prepared: sampler.prepare(bout.exec, graph, &TrainLabels::none(graph.nodes()))?,
            operator: Operator::full(bout.exec, graph, Normalisation::default())?,
            buffers: DrawBuffers::default(),
            seed: bout.cx.flags.seed,
            epoch: 0,
        })
    }

    fn draw(&mut self, epoch: u32) -> Result<(), BoxError> {
        let key = DrawKey::of_epoch(self.seed, epoch);
        let sampled = self.prepared.kept(self.exec, key, &mut self.buffers)?;
        Ok(self.operator.redraw(self.exec, &self.graph, &sampled, After::default())?)
    }
}

impl Job for Draws<'_> {
    fn iterate(&mut self, _: &str) -> Result<(), BoxError> {
        self.epoch += 1;
        self.draw(self.epoch)
    }

    fn check(&mut self, _: &str) -> Result<Vec<f64>, BoxError> {
        self.draw(1)?;
        Ok(vec![self.operator.arcs() as f64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_five_standard_deviations_off() {
        // 2100 pairs: 2940 arcs stay, sigma = 2 sqrt(441) = 42
        let agreement = agreement(2100);
        let same = |arcs: f64| agreement.holds(&[arcs], &[]);
        assert!(same(2940.0) && same(2940.0 - 209.0) && same(2940.0 + 209.0));
        assert!(!same(2940.0 - 211.0) && !same(2940.0 + 211.0));
        assert!(!same(4200.0 * 0.49), "arcs that went one by one");
    }
}
