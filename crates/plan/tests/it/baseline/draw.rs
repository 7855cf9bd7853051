//! Random small problems: ends with kinds of their own, a body of several segments, pins in its midst, constants, links.

use proptest::prelude::*;
use sapwood_plan::model::{KindCost, MemoryUnit, Model, Role, Segment};
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{Dims, Grouping};

/// Numbers that a problem is made of.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    pub(crate) stages: usize,
    chunks: usize,
    micro_batches: usize,
    /// Layers of head, body, pinned segment, body, further tokens, tail.
    layers: [u32; 6],
    pinned: usize,
    empty: bool,
    recompute: bool,
    transients: bool,
    costs: Vec<u32>,
    caps: Vec<f64>,
    link: u32,
}

/// Problems with 1 to `chunks` chunks.
pub(crate) fn draws(chunks: usize) -> impl Strategy<Value = Draw> {
    let sizes = (1usize..=3, 1..=chunks, 1usize..=6, 0usize..6, 0u32..40);
    let layers = (0u32..=1, 1u32..=5, prop_oneof![3 => Just(0u32), 1 => Just(1)], 0u32..=3, 0u32..=1, 0u32..=1);
    let flags = (any::<bool>(), prop::bool::weighted(0.2), any::<bool>());
    (sizes, layers, flags, prop::collection::vec(1u32..40, 48), prop::collection::vec(0.25f64..1.1, 3)).prop_map(
        |(
            (stages, chunks, micro_batches, pinned, link),
            (a, b, c, d, e, f),
            (empty, recompute, transients),
            costs,
            caps,
        )| {
            let pinned = pinned % (stages * chunks);
            let layers = [a, b, c, d, e, f];
            Draw { stages, chunks, micro_batches, layers, pinned, empty, recompute, transients, costs, caps, link }
        },
    )
}

impl Draw {
    pub(crate) fn dims(&self) -> Dims {
        let Draw { stages, chunks, micro_batches, .. } = *self;
        Dims { stages, chunks, micro_batches, group: Grouping::First }
    }

    pub(crate) fn problem(&self) -> Problem {
        let roles = [Role::Head, Role::Body, Role::At(self.pinned), Role::Body, Role::Mtp, Role::Tail];
        let mut costs = self.costs.iter().map(|&cost| f64::from(cost));
        let mut segments = Vec::new();
        for (role, &count) in roles.into_iter().zip(&self.layers) {
            let mut next = || costs.next().unwrap();
            let (forward, backward, activation) = (next(), next(), next());
            let transient = |share: f64| if self.transients { (activation * share).floor() } else { 0.0 };
            let kind = |name: &str, share: f64, extra: f64| KindCost {
                name: name.to_owned(),
                activation: (activation * share).floor(),
                extra,
                transient: if extra == 0.0 { 0.0 } else { transient(1.0 - share) },
            };
            let mut kinds =
                vec![kind("none", 1.0, 0.0), kind("selective", 0.6, (next() / 4.0).ceil()), kind("full", 0.1, next())];
            // Some have less to choose from.
            if next() < 10.0 {
                kinds.remove(1);
            }
            segments.push(Segment {
                name: format!("{role:?}"),
                role,
                count,
                forward,
                backward,
                weight: 0.0,
                parameters: (next() / 4.0).floor(),
                kinds,
            });
        }
        let constant = (0..self.stages).map(|_| costs.next().unwrap()).collect();
        let model = Model {
            name: "m".into(),
            segments,
            constant,
            tails: vec![],
            link: f64::from(self.link),
            time_unit: None,
            memory_unit: MemoryUnit::Raw,
            warnings: vec![],
        };
        let allowed = if self.recompute { vec!["selective".to_owned(), "full".to_owned()] } else { vec![] };
        let problem = Problem::new(model, &self.caps(), &allowed).unwrap();
        if self.empty { problem.allow_empty() } else { problem }
    }

    /// Caps as shares of what an even cut needs without recomputation, about.
    fn caps(&self) -> Vec<f64> {
        let layers: u32 = self.layers.iter().sum();
        let each = f64::from(layers) / self.stages as f64;
        let cap = |(stage, share): (usize, &f64)| {
            let flight = self.micro_batches.min(self.stages * self.chunks - stage) as f64;
            (20.0 + each * (5.0 + 20.0 * flight)) * share * 1.5
        };
        self.caps[..self.stages].iter().enumerate().map(cap).map(f64::floor).collect()
    }
}
