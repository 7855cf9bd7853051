//! What draws do on average: how often each unit goes in 10^4 epochs, against its probability.

use crate::draws::{orders, random_quotas};
use crate::support::{graph, random_ends, runtime, small_ends};
use sapwood_graph::draw::{Entry, Job, Order, Quotas, Scratch, find};
use sapwood_graph::{BitMask, DrawKey, Graph};

const EPOCHS: u32 = 10_000;

/// How often each unit goes; an exact draw drops exactly k units each time.
fn counts(entry: &Entry, graph: &Graph, quotas: &Quotas, order: &Order) -> Vec<u32> {
    let mut counts = vec![0; graph.pairs() as usize];
    let (runtime, mut scratch, mut mask) = (runtime(1), Scratch::default(), BitMask::default());
    for epoch in 0..EPOCHS {
        let key = DrawKey::of_epoch(11, epoch);
        let job = Job { exec: runtime.exec(), graph, quotas, order, key };
        (entry.draw)(&job, &mut scratch, &mut mask).unwrap();
        counts.iter_mut().enumerate().for_each(|(e, count)| *count += u32::from(!mask.get(e)));
        assert!(!entry.exact || mask.len() - mask.count_ones() == quotas.k() as usize, "{} {epoch}", entry.name);
    }
    counts
}

fn agree(counts: &[u32], q: impl Fn(usize) -> f64, about: &str) {
    for (e, &count) in counts.iter().enumerate() {
        let n = f64::from(EPOCHS);
        let (off, sd) = (f64::from(count) - n * q(e), (n * q(e) * (1.0 - q(e))).sqrt());
        assert!(off.abs() <= 4.5 * sd, "{about}: unit {e} went {count} times, z = {}", off / sd);
    }
}

#[test]
fn every_unit_goes_with_its_probability() {
    // the second graph has two strata
    for g in [graph(12, &small_ends()), graph(30, &random_ends(30, 110))] {
        let quotas = random_quotas(2, g.pairs());
        let q = |e: usize| quotas.probability(e as u32);
        for (o, order) in orders(&g).iter().enumerate() {
            for name in ["systematic", "pivotal"] {
                let about = format!("{name}, order {o}, {} units", g.pairs());
                agree(&counts(find(name).unwrap(), &g, &quotas, order), q, &about);
            }
        }
        agree(&counts(find("bernoulli").unwrap(), &g, &quotas, &Order::Hash), q, "bernoulli");
    }
}

/// Two of three units, one after the other, each with probability proportional to q among those left: q = 0.9, 0.7, 0.4
/// sum to 2, so the third unit stays with 0.9/2 · 0.7/1.1 + 0.7/2 · 0.9/1.3 = 0.528671, and so on.
#[test]
fn gumbel_samples_one_after_another() {
    let (g, q) = (graph(4, &[(0, 1), (1, 2), (2, 3)]), [0.9, 0.7, 0.4]);
    let quotas = Quotas::from_probabilities(&q, 2).unwrap();
    let counts = counts(find("gumbel").unwrap(), &g, &quotas, &Order::Hash);
    agree(&counts, |e| [0.804_808, 0.723_864, 0.471_329][e], "gumbel");
    assert!(counts[2] > 4500, "the third unit goes more often than 0.4");
}
