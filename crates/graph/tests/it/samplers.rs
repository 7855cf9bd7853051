//! The registered samplers, and one that is not.

use crate::conformance::{mask, suite};
use crate::support::{graph, random_ends, runtime, small_ends};
use sapwood_graph::draw::{Quotas, Scratch, systematic};
use sapwood_graph::sampler::{self, Entry};
use sapwood_graph::{
    After, BitMask, DrawBuffers, DrawKey, Graph, Normalisation, Operator, Prepared, Result, Sampled, Sampler,
    SamplerFacts, SamplerOptions, TrainLabels,
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

const TOY: Entry =
    Entry { name: "every-third", summary: "for this test", reads: &[], new: |_| Ok(Box::new(EveryThird)) };

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
    suite(&[Entry { name: "liar", summary: "", reads: &[], new: |_| Ok(Box::new(Liar)) }]);
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

/// What a key leaves, as the operator of the default form.
fn drawn(entry: &str, options: &SamplerOptions, graph: &Arc<Graph>, key: DrawKey) -> Vec<(u32, u32, u32)> {
    let runtime = runtime(2);
    let sampler = (sampler::find(sampler::ALL, entry).unwrap().new)(options).unwrap();
    let prepared = sampler.prepare(runtime.exec(), graph, &TrainLabels::none(graph.nodes())).unwrap();
    let graph = prepared.graph().unwrap_or(graph);
    let mut operator = Operator::<f32>::full(runtime.exec(), graph, Normalisation::default()).unwrap();
    let mut buffers = DrawBuffers::default();
    let sampled = prepared.kept(runtime.exec(), key, &mut buffers).unwrap();
    operator.redraw(runtime.exec(), graph, &sampled, After::Renorm).unwrap();
    (0..graph.nodes()).flat_map(|i| operator.row(i).map(move |(j, x)| (i as u32, j, x.to_bits()))).collect()
}

/// DropEdge #11: the published sampler leaves an asymmetric graph.
#[test]
fn arcs_alone_leave_an_asymmetric_graph_and_nobody_else_does() {
    let graph = Arc::new(graph(60, &random_ends(60, 400)));
    let options = SamplerOptions::with_p(0.5);
    for entry in sampler::ALL {
        for seed in 0..20 {
            let entries = drawn(entry.name, &options, &graph, DrawKey::of_epoch(seed, 1));
            let mut mirrored: Vec<_> = entries.iter().map(|&(i, j, x)| (j, i, x)).collect();
            mirrored.sort_unstable();
            assert_eq!(entries != mirrored, entry.name == "dropedge-arcs", "{} seed {seed}", entry.name);
        }
    }
}

#[test]
fn dropedge_is_ranked_without_beta_and_strata() {
    let graph = Arc::new(graph(300, &random_ends(300, 3000)));
    let plain = SamplerOptions::with_p(0.3);
    let twin = SamplerOptions { beta: 0.0, stratify: sampler::Stratify::None, ..plain.clone() };
    for epoch in 1..6 {
        let key = DrawKey::of_epoch(9, epoch);
        assert_eq!(drawn("dropedge", &plain, &graph, key), drawn("ranked", &twin, &graph, key));
    }
}

/// Old normalisations are never used again: another key, another operator; the same key, the same one.
#[test]
fn operators_belong_to_their_draw() {
    let graph = Arc::new(graph(60, &random_ends(60, 400)));
    let options = SamplerOptions::with_p(0.5);
    let of = |epoch| drawn("ranked", &options, &graph, DrawKey::of_epoch(1, epoch));
    assert_ne!(of(1), of(2));
    assert_eq!(of(1), of(1));
}

fn kept(entry: &str, options: &SamplerOptions, graph: &Arc<Graph>, key: DrawKey) -> BitMask {
    let sampler = (sampler::find(sampler::ALL, entry).unwrap().new)(options).unwrap();
    let prepared = sampler.prepare(runtime(2).exec(), graph, &TrainLabels::none(graph.nodes())).unwrap();
    mask(&runtime(2), graph, prepared.as_ref(), key)
}

#[test]
fn layers_draw_apart_or_nest() {
    let graph = Arc::new(graph(300, &random_ends(300, 3000)));
    let layer = |layer| DrawKey { seed: 4, epoch: 3, layer, micro: 0 };
    let options =
        |per, rates: &str| SamplerOptions { per, layers: 3, rates: rates.parse().unwrap(), ..Default::default() };
    for entry in ["ranked", "dropedge", "dropsens", "gca-pagerank"] {
        let apart = options(sampler::Per::Layer, "0.5,0.4,0.3");
        let nested = options(sampler::Per::LayerNested, "0.5,0.4,0.3");
        let count = |mask: &BitMask| (mask.len() - mask.count_ones()) as u64;
        let rates = [0.5, 0.4, 0.3];
        for l in 1..=3 {
            let k = sapwood_graph::draw::exact_count(rates[l - 1], graph.pairs());
            assert_eq!(count(&kept(entry, &apart, &graph, layer(l as u16))), k, "{entry}");
            assert_eq!(count(&kept(entry, &nested, &graph, layer(l as u16))), k, "{entry}");
        }
        let (one, two) = (kept(entry, &nested, &graph, layer(1)), kept(entry, &nested, &graph, layer(2)));
        assert!((0..one.len()).all(|e| !one.get(e) || two.get(e)), "{entry}: layer 2 keeps all that layer 1 keeps");
        let (one, two) = (kept(entry, &apart, &graph, layer(1)), kept(entry, &apart, &graph, layer(2)));
        assert!((0..one.len()).any(|e| one.get(e) && !two.get(e)), "{entry}: layers draw apart");
    }
}

#[test]
fn rates_that_do_not_go_with_the_layers_are_refused() {
    let graph = Arc::new(graph(12, &small_ends()));
    let prepare = |per, rates: &str| {
        let options = SamplerOptions { per, layers: 3, rates: rates.parse().unwrap(), ..Default::default() };
        let sampler = (sampler::find(sampler::ALL, "ranked").unwrap().new)(&options).unwrap();
        sampler.prepare(runtime(1).exec(), &graph, &TrainLabels::none(12)).err().map(|e| e.to_string())
    };
    let rising = prepare(sampler::Per::LayerNested, "0.5,0.3,0.4").unwrap();
    assert!(rising.contains("0.4 follows 0.3"), "{rising}");
    let short = prepare(sampler::Per::Layer, "0.5,0.3").unwrap();
    assert!(short.contains("2 rates for 3 layers"), "{short}");
    let shared = prepare(sampler::Per::Epoch, "0.5,0.3,0.3").unwrap();
    assert!(shared.contains("all layers share a draw"), "{shared}");
    assert_eq!(prepare(sampler::Per::Layer, "0.5,0.3,0.4"), None);
}

#[test]
fn a_linear_schedule_drops_by_the_epoch() {
    let graph = Arc::new(graph(300, &random_ends(300, 3000)));
    let options = SamplerOptions { rates: "linear:0:0.8".parse().unwrap(), epochs: 5, ..Default::default() };
    for (epoch, p) in [(1, 0.0), (2, 0.2), (3, 0.4), (5, 0.8)] {
        let mask = kept("ranked", &options, &graph, DrawKey::of_epoch(2, epoch));
        let k = sapwood_graph::draw::exact_count(p, graph.pairs()) as usize;
        assert_eq!(mask.len() - mask.count_ones(), k, "epoch {epoch}");
    }
}

#[test]
fn faithful_gca_draws_arcs_and_lowers_the_rate() {
    let graph = Arc::new(graph(300, &random_ends(300, 3000)));
    let options = SamplerOptions { faithful: true, ..SamplerOptions::with_p(0.5) };
    let sampler = (sampler::find(sampler::ALL, "gca-pagerank").unwrap().new)(&options).unwrap();
    let prepared = sampler.prepare(runtime(1).exec(), &graph, &TrainLabels::none(300)).unwrap();
    assert_eq!(prepared.facts().units, 2 * graph.pairs());
    let q = prepared.facts().q.unwrap();
    assert!(q.max <= 0.7 && q.mean < 0.5, "{q:?}");
    assert!(prepared.graph().unwrap().directed());
    assert_eq!(prepared.facts().notes.len(), 1);
}

#[test]
fn nodes_drop_at_their_rate_and_are_scaled() {
    let graph = Arc::new(graph(5000, &random_ends(5000, 100)));
    let sampler = (sampler::find(sampler::ALL, "dropnode").unwrap().new)(&SamplerOptions::with_p(0.3)).unwrap();
    let prepared = sampler.prepare(runtime(1).exec(), &graph, &TrainLabels::none(5000)).unwrap();
    let mut buffers = DrawBuffers::default();
    let Sampled::Rows { mask, scale } =
        prepared.kept(runtime(1).exec(), DrawKey::of_epoch(1, 1), &mut buffers).unwrap()
    else {
        panic!("rows")
    };
    let z = (mask.count_ones() as f64 - 3500.0) / (5000.0f64 * 0.3 * 0.7).sqrt();
    assert!(z.abs() < 4.0 && (scale - 1.0 / 0.7).abs() < 1e-15, "{z} {scale}");
}
