//! What a prepared sampler does to its graph, measured over draws: what it leaves isolated, in how many components, how
//! much degrees vary, whether units go as often as they should.
//!
//! Draws are made one after the other; nothing is allocated from draw to draw. Samplers that drop no units (features of
//! nodes, messages) leave the whole graph.

use super::{DegreeNoise, Sets, Summary};
use crate::draw::Quotas;
use crate::{DrawBuffers, DrawKey, Error, Graph, Prepared, Result, Sampled};
use sapwood_skeleton::Exec;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Draws from which on [`Statistics::frequency_max_z`] is worked out; with fewer it says nothing.
pub const LEAST_FOR_FREQUENCIES: u32 = 1000;

/// What one draw leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct DrawFacts {
    /// Number of the draw, from 0.
    pub draw: u32,
    /// Epoch of its key.
    pub epoch: u32,
    /// Units that went (of `dropnode`: nodes); none where nobody counts them, as with messages.
    pub dropped: Option<u64>,
    /// Nodes without an edge.
    pub isolated: u64,
    /// Connected components, isolated nodes among them.
    pub components: u64,
    /// Nodes of the largest component.
    pub largest: u64,
}

/// Mean and standard deviation (n − 1) over draws.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct MeanSd {
    /// Mean.
    pub mean: f64,
    /// Standard deviation; none for a single draw.
    pub sd: Option<f64>,
}

impl MeanSd {
    fn of(values: impl Iterator<Item = u64> + Clone) -> MeanSd {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<u64>() as f64 / n;
        let squares: f64 = values.map(|v| (v as f64 - mean) * (v as f64 - mean)).sum();
        MeanSd { mean, sd: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()) }
    }
}

/// What a sampler does over several draws.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Statistics {
    /// Each draw, in order.
    pub draws: Vec<DrawFacts>,
    /// Nodes without an edge.
    pub isolated: MeanSd,
    /// Components.
    pub components: MeanSd,
    /// See [`DegreeNoise::mean_sd`]; none for a single draw.
    pub degree_sd: Option<f64>,
    /// Largest |z| of the number of times that a unit went, over the units with 0 < q < 1: about 4 or 5 for a draw that
    /// has the marginals it promises. None for fewer than [`LEAST_FOR_FREQUENCIES`] draws and for samplers whose units
    /// have no probabilities.
    pub frequency_max_z: Option<f64>,
}

/// Draws `draws` times, in the epochs `key.epoch`, `key.epoch` + `step`, … with the rest of `key`, and counts on the
/// sampler's own graph where it has one. Time O(draws · (nodes + units)).
///
/// # Errors
/// [`Error::Range`] for no draw or an epoch beyond 2³² − 1; what [`Prepared::kept`] says.
pub fn statistics(
    exec: Exec<'_>,
    graph: &Graph,
    prepared: &dyn Prepared,
    key: DrawKey,
    (draws, step): (u32, u32),
) -> Result<Statistics> {
    statistics_with(exec, graph, prepared, key, (draws, step), |_, _| Ok(ControlFlow::Continue(())))
}

/// [`statistics`], handing each draw to `each` as it is made, which can end it there.
///
/// # Errors
/// As [`statistics`], and what `each` says.
pub fn statistics_with(
    exec: Exec<'_>,
    graph: &Graph,
    prepared: &dyn Prepared,
    key: DrawKey,
    (draws, step): (u32, u32),
    mut each: impl FnMut(&DrawFacts, &Sampled<'_>) -> Result<ControlFlow<()>>,
) -> Result<Statistics> {
    check(key, draws, step)?;
    let graph = prepared.graph().map_or(graph, |own| own);
    let mut counter = Counter::new(graph);
    let mut frequencies = (draws >= LEAST_FOR_FREQUENCIES).then(|| Frequencies::new(graph));
    let mut buffers = DrawBuffers::default();
    let mut all = Vec::with_capacity(draws.min(4096) as usize);
    for draw in 0..draws {
        let key = DrawKey { epoch: key.epoch + draw * step, ..key };
        let sampled = prepared.kept(exec, key, &mut buffers)?;
        let Summary { isolated, components, largest, .. } = counter.count(&sampled);
        let facts = DrawFacts { draw, epoch: key.epoch, dropped: dropped(&sampled), isolated, components, largest };
        let flow = each(&facts, &sampled)?;
        if let Some(frequencies) = &mut frequencies {
            frequencies.add(&sampled, prepared.quotas(exec, key)?);
        }
        all.push(facts);
        if flow.is_break() {
            break;
        }
    }
    Ok(Statistics {
        isolated: MeanSd::of(all.iter().map(|d| d.isolated)),
        components: MeanSd::of(all.iter().map(|d| d.components)),
        degree_sd: if all.len() > 1 { counter.noise.mean_sd() } else { None },
        frequency_max_z: frequencies.and_then(Frequencies::max_z),
        draws: all,
    })
}

fn check(key: DrawKey, draws: u32, step: u32) -> Result<()> {
    if draws == 0 {
        return Err(Error::Range { flag: "--draws", range: "1 or more", value: "0".into() });
    }
    if (draws - 1).checked_mul(step).and_then(|last| key.epoch.checked_add(last)).is_none() {
        let value = format!("{} with {draws} draws", key.epoch);
        return Err(Error::Range { flag: "--epoch", range: "such that the last draw's is below 2^32", value });
    }
    Ok(())
}

/// Units (nodes) that a draw drops.
fn dropped(sampled: &Sampled<'_>) -> Option<u64> {
    match sampled {
        Sampled::All => Some(0),
        Sampled::Pairs(mask) | Sampled::Arcs(mask) | Sampled::Rows { mask, .. } => {
            Some((mask.len() - mask.count_ones()) as u64)
        }
        Sampled::Messages { .. } => None,
    }
}

/// Counts what draws leave of one graph, in storage that it keeps.
struct Counter {
    /// Ends of every unit; (head, tail) of an arc.
    ends: Vec<(u32, u32)>,
    sets: Sets,
    /// Units at a node; of a directed graph the arcs into it.
    degree: Vec<u32>,
    /// Arcs out of a node of a directed graph.
    out: Option<Vec<u32>>,
    noise: DegreeNoise,
}

impl Counter {
    fn new(graph: &Graph) -> Counter {
        let n = graph.nodes();
        Counter {
            ends: graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect(),
            sets: Sets::new(n),
            degree: vec![0; n],
            out: graph.directed().then(|| vec![0; n]),
            noise: DegreeNoise::new(graph),
        }
    }

    fn count(&mut self, sampled: &Sampled<'_>) -> Summary {
        let Counter { ends, sets, degree, out, noise } = self;
        sets.reset();
        degree.fill(0);
        if let Some(out) = out {
            out.fill(0);
        }
        for (unit, &(u, v)) in (0..).zip(ends.iter()) {
            if sampled.keeps(unit) {
                degree[u as usize] += 1;
                match out {
                    Some(out) => out[v as usize] += 1,
                    None => degree[v as usize] += 1,
                }
                sets.join(u, v);
            }
        }
        noise.add_degrees(degree);
        let leaves = |i: usize| out.as_ref().is_some_and(|out| out[i] > 0);
        Summary {
            isolated: (0..degree.len()).filter(|&i| degree[i] == 0 && !leaves(i)).count() as u64,
            components: sets.count(),
            largest: u64::from(sets.largest()),
            max_degree: u64::from(degree.iter().copied().max().unwrap_or(0)),
        }
    }
}

/// How often each unit went, against how often it should have.
struct Frequencies {
    gone: Vec<u32>,
    expected: Vec<f64>,
    variance: Vec<f64>,
    /// Probabilities of the latest draws, and how many draws had them: they change with a schedule only.
    latest: Option<(Arc<Quotas>, u32)>,
}

impl Frequencies {
    fn new(graph: &Graph) -> Frequencies {
        let units = graph.pairs() as usize;
        let (expected, variance) = (vec![0.0; units], vec![0.0; units]);
        Frequencies { gone: vec![0; units], expected, variance, latest: None }
    }

    fn add(&mut self, sampled: &Sampled<'_>, quotas: Option<Arc<Quotas>>) {
        let Some(quotas) = quotas else { return };
        for (unit, gone) in (0..).zip(&mut self.gone) {
            *gone += u32::from(!sampled.keeps(unit));
        }
        match &mut self.latest {
            Some((known, draws)) if Arc::ptr_eq(known, &quotas) => *draws += 1,
            _ => {
                self.settle();
                self.latest = Some((quotas, 1));
            }
        }
    }

    /// Adds the expectation of the latest draws.
    fn settle(&mut self) {
        let Some((quotas, draws)) = self.latest.take() else { return };
        let draws = f64::from(draws);
        for (unit, (expected, variance)) in (0..).zip(self.expected.iter_mut().zip(&mut self.variance)) {
            let q = quotas.probability(unit);
            *expected += draws * q;
            *variance += draws * q * (1.0 - q);
        }
    }

    fn max_z(mut self) -> Option<f64> {
        self.settle();
        let z = |e: usize| (f64::from(self.gone[e]) - self.expected[e]).abs() / self.variance[e].sqrt();
        (0..self.gone.len()).filter(|&e| self.variance[e] > 0.0).map(z).reduce(f64::max)
    }
}
