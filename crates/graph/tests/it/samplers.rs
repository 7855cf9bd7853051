//! The registered samplers, and one that is not.

use crate::conformance::{mask, suite};
use crate::support::{graph, random_ends, runtime, small_ends};
use sapwood_graph::draw::{Quotas, Scratch, systematic};
use sapwood_graph::sampler::{self, Entry};
use sapwood_graph::{
    BitMask, DrawBuffers, DrawKey, Graph, Prepared, Result, Sampled, Sampler, SamplerFacts, SamplerOptions, TrainLabels,
};
use sapwood_skeleton::Exec;
use std::sync::Arc;

#[test]
fn registered_samplers_conform() {
    suite(sampler::ALL);
}

/// A whole new sampler: drops the units of one residue class, which one by the epoch.
struct EveryThird;

impl Sampler for EveryThird {
    fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
        // as many units as there are in the class, the same in every epoch but for the class's start
        Ok(Box::new(Thirds { units: graph.pairs(), k: graph.pairs() / 3 }))
    }
}

struct Thirds {
    units: u64,
    k: u64,
}

impl Prepared for Thirds {
    fn kept<'a>(&self, _: Exec<'_>, key: DrawKey, buffers: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
        key.b()?;
        buffers.mask.reset(self.units as usize, true);
        for i in 0..self.k {
            buffers.mask.set((3 * i + u64::from(key.epoch) % 3) as usize, false);
        }
        Ok(Sampled::Pairs(&buffers.mask))
    }

    fn facts(&self) -> SamplerFacts {
        let achieved_p = if self.units == 0 { 0.0 } else { self.k as f64 / self.units as f64 };
        SamplerFacts::plain(TOY.name, achieved_p, self.units, self.k, 0.0)
    }
}

const TOY: Entry = Entry { name: "every-third", summary: "for this test", new: |_| Ok(Box::new(EveryThird)) };

#[test]
fn a_new_sampler_is_one_file_and_one_line() {
    let all = [sampler::ALL, &[TOY]].concat();
    suite(&all);
    assert_eq!(sampler::find(&all, "every-third").unwrap().name, TOY.name);
    assert!(sampler::find(sampler::ALL, "every-third").is_err());
}

#[test]
#[should_panic(expected = "exactly k units go")]
fn the_suite_notices_a_wrong_count() {
    struct Liar;
    impl Sampler for Liar {
        fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> Result<Box<dyn Prepared>> {
            Ok(Box::new(Lie(graph.pairs())))
        }
    }
    struct Lie(u64);
    impl Prepared for Lie {
        fn kept<'a>(&self, _: Exec<'_>, _: DrawKey, _: &'a mut DrawBuffers) -> Result<Sampled<'a>> {
            Ok(Sampled::All)
        }
        fn facts(&self) -> SamplerFacts {
            let k = self.0.min(1);
            SamplerFacts::plain("liar", 0.5, self.0, k, 0.0)
        }
    }
    suite(&[Entry { name: "liar", summary: "", new: |_| Ok(Box::new(Liar)) }]);
}

#[test]
fn unknown_names_are_refused() {
    let e = sampler::find(sampler::ALL, "dropedges").unwrap_err().to_string();
    assert!(e.starts_with("unknown sampler 'dropedges', did you mean 'dropedge'?; known: none, dropedge"), "{e}");
}

fn dropedge(graph: &Graph, p: f64) -> Box<dyn Prepared> {
    let new = sampler::find(sampler::ALL, "dropedge").unwrap().new;
    let sampler = new(&SamplerOptions::with_p(p)).unwrap();
    sampler.prepare(runtime(1).exec(), &Arc::new(graph.clone()), &TrainLabels::none(graph.nodes())).unwrap()
}

#[test]
fn p_0_keeps_all_and_p_1_none() {
    let (g, runtime) = (graph(12, &small_ends()), runtime(1));
    let mut buffers = DrawBuffers::default();
    // layer 4096 would be refused if a random number were drawn
    let key = DrawKey { seed: 1, epoch: 0, layer: 5000, micro: 0 };
    assert!(matches!(dropedge(&g, 0.0).kept(runtime.exec(), key, &mut buffers).unwrap(), Sampled::All));
    let key = DrawKey::of_epoch(1, 0);
    assert_eq!(dropedge(&g, 1.0).kept(runtime.exec(), key, &mut buffers).unwrap().kept(g.pairs()), 0);
}

#[test]
fn every_pair_goes_equally_often() {
    let g = graph(12, &small_ends());
    let prepared = dropedge(&g, 0.3);
    let (m, k) = (g.pairs() as usize, prepared.facts().k as f64);
    assert_eq!((m, k), (14, 4.0));
    let epochs = 10_000;
    let (mut gone, runtime, mut buffers) = (vec![0u32; m], runtime(1), DrawBuffers::default());
    for epoch in 0..epochs {
        let key = DrawKey::of_epoch(11, epoch);
        let sampled = prepared.kept(runtime.exec(), key, &mut buffers).unwrap();
        (0..m).for_each(|e| gone[e] += u32::from(!sampled.keeps(e as u32)));
    }
    let q = k / m as f64;
    let sd = (f64::from(epochs) * q * (1.0 - q)).sqrt();
    for (e, &count) in gone.iter().enumerate() {
        let z = (f64::from(count) - f64::from(epochs) * q) / sd;
        assert!(z.abs() < 4.5, "pair {e} went {count} times, z = {z}");
    }
}

#[test]
fn each_part_of_the_key_changes_the_draw() {
    let g = graph(300, &random_ends(300, 3000));
    let (prepared, runtime) = (dropedge(&g, 0.5), runtime(1));
    let base = DrawKey::of_epoch(1, 1);
    let keys = [
        base,
        DrawKey { seed: 2, ..base },
        DrawKey { epoch: 2, ..base },
        DrawKey { layer: 1, ..base },
        DrawKey { micro: 1, ..base },
    ];
    let masks: Vec<BitMask> = keys.iter().map(|&key| mask(&runtime, &g, prepared.as_ref(), key)).collect();
    for i in 0..masks.len() {
        assert!((0..i).all(|j| masks[i] != masks[j]), "{:?}", keys[i]);
    }
}

#[test]
fn a_second_draw_allocates_nothing() {
    let runtime = runtime(1); // with more, a worker's arena grows when it first gets a chunk
    let quotas = Quotas::uniform(100_000, 30_000).unwrap();
    let (mut scratch, mut mask) = (Scratch::default(), BitMask::default());
    let mut held = Vec::new();
    for epoch in 0..5 {
        systematic(runtime.exec(), &quotas, DrawKey::of_epoch(1, epoch), &mut scratch, &mut mask).unwrap();
        held.push((scratch.bytes(), runtime.arena_bytes()));
    }
    assert!(held[1..].iter().all(|h| *h == held[0]), "{held:?}");
}

/// Computed by a program of its own (Philox, quotas, order and draw from their definitions): the bits of a draw are fixed.
#[test]
fn golden_draws() {
    let draw = |units, k, key| {
        let (mut scratch, mut mask) = (Scratch::default(), BitMask::default());
        let quotas = Quotas::uniform(units, k).unwrap();
        systematic(runtime(2).exec(), &quotas, key, &mut scratch, &mut mask).unwrap();
        (0..units as usize).filter(|&e| !mask.get(e)).collect::<Vec<usize>>()
    };
    let karate = draw(78, 23, DrawKey::of_epoch(1, 2));
    let expected = [2, 4, 7, 14, 15, 17, 19, 22, 26, 34, 37, 46, 50, 54, 55, 56, 57, 60, 65, 67, 69, 74, 76];
    assert_eq!(karate, expected);
    let cora = draw(5278, 1583, DrawKey { seed: (1 << 40) + 7, epoch: 399, layer: 3, micro: 5 });
    let squares = cora.iter().map(|e| e * e).sum::<usize>();
    assert_eq!((cora.len(), cora.iter().sum::<usize>(), &cora[..5]), (1583, 4_041_132, &[2, 4, 10, 12, 13][..]));
    assert_eq!(squares % 1_000_003, 700_585);
}
