//! What a sampler does to the graph, and what becomes of neighbours from layer to layer.

use super::{Sources, banded, spread};
use crate::cli::Failure;
use sapwood_graph::DrawKey;
use sapwood_report::{Axis, Cell, Column, Figure, Histogram, Lines, Section, Table, Unit};
use sapwood_skeleton::Exec;
use sapwood_train::Settings;
use sapwood_train::trainer::Method;
use std::collections::BTreeMap;

/// Bins of the histograms.
const BINS: usize = 40;

/// How a sampler spreads its drops, counted.
#[derive(Debug, Default)]
pub(in crate::verb::train) struct Probabilities {
    /// Name of the method.
    name: String,
    /// Units by their probability to go, in bins of equal width from 0 to 1.
    by_probability: Vec<u64>,
    /// Units by the decimal logarithm of their score, between the edges; empty without scores.
    by_score: Option<(Vec<f64>, Vec<u64>)>,
    /// Mean probability by rank: the units in twenty groups from the lowest score to the highest.
    by_rank: Vec<(f64, f64)>,
}

/// Counts the probabilities of each method in the draw of the first epoch; methods whose units have none are left out.
pub(in crate::verb::train) fn probabilities(
    exec: Exec<'_>,
    settings: &Settings,
    methods: &[Method],
) -> Result<Vec<Probabilities>, Failure> {
    let mut found = Vec::new();
    for method in methods.iter().filter(|method| !method.prepared.never_drops()) {
        let layer = u16::from(method.prepared.per_layer());
        let key = DrawKey { layer, ..DrawKey::of_epoch(settings.seed, 1) };
        let Some(quotas) = method.prepared.quotas(exec, key)? else { continue };
        let q: Vec<f64> = (0..quotas.units()).map(|unit| quotas.probability(unit as u32)).collect();
        let mut counted = Probabilities { name: method.name.clone(), ..Probabilities::default() };
        counted.by_probability = vec![0; BINS];
        for q in &q {
            counted.by_probability[((q * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        if let Some(ranking) = method.prepared.ranking() {
            counted.by_score = by_score(&ranking.scores);
            counted.by_rank = by_rank(&ranking.z, &q);
        }
        found.push(counted);
    }
    Ok(found)
}

/// Counts the scores in bins of equal ratio; `None` unless all are positive and they differ.
fn by_score(scores: &[f64]) -> Option<(Vec<f64>, Vec<u64>)> {
    let (low, high) = scores.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &s| (low.min(s), high.max(s)));
    if !(low > 0.0 && high > low && high.is_finite()) {
        return None;
    }
    let (from, width) = (low.ln(), (high.ln() - low.ln()) / BINS as f64);
    let mut counts = vec![0; BINS];
    scores.iter().for_each(|s| counts[(((s.ln() - from) / width) as usize).min(BINS - 1)] += 1);
    let edges = (0..=BINS).map(|i| (from + width * i as f64).exp()).collect();
    Some((edges, counts))
}

/// Mean probability in twenty groups of rank; the rank goes from 0 to 1.
fn by_rank(z: &[f64], q: &[f64]) -> Vec<(f64, f64)> {
    const GROUPS: usize = 20;
    let mut sums = [(0.0, 0u64); GROUPS];
    for (z, q) in z.iter().zip(q) {
        let group = &mut sums[(((z + 1.0) / 2.0 * GROUPS as f64) as usize).min(GROUPS - 1)];
        *group = (group.0 + q, group.1 + 1);
    }
    let middle = |i: usize| (i as f64 + 0.5) / GROUPS as f64;
    sums.iter().enumerate().filter(|(_, s)| s.1 > 0).map(|(i, s)| (middle(i), s.0 / s.1 as f64)).collect()
}

/// The sampled graphs, and which units are dropped how often.
pub(super) fn section(from: &Sources<'_>) -> Option<Section> {
    if from.structure.is_empty() {
        return None;
    }
    let columns = ["method", "drop rate", "isolated nodes", "expected", "components", "degree noise"];
    let mut table = Table::new("The sampled graphs").columns(columns.map(Column::new));
    for (method, seen) in from.outcome.methods.iter().zip(from.structure) {
        let facts = &method.facts;
        let pair = |mean: f64, sd: Option<f64>| {
            Cell::figure(sd.map_or_else(|| format!("{mean:.1}"), |sd| format!("{mean:.1} ± {sd:.1}")))
        };
        table = table.row([
            Cell::text(&method.name),
            Cell::fixed(facts.achieved_p, 3),
            method.isolated.mean().map_or_else(Cell::missing, |mean| pair(mean, method.isolated.sd())),
            Cell::fixed(facts.isolated_expected, 1),
            pair(seen.components.mean, seen.components.sd),
            seen.degree_sd.map_or_else(Cell::missing, |sd| Cell::fixed(sd, 3)),
        ]);
    }
    let described = from.settings.options.rates.described();
    let described = described.map_or_else(String::new, |at| format!("Drop rate and expected nodes are those {at}. "));
    table = table.note(format!(
        "{described}Isolated nodes over all draws of all runs; components and degree noise (standard deviation of a node's sampled \
         degree, nodes of degree 5 and more) over draws of the first seed. Expected are \
         as many isolated nodes as independent drops would leave; systematic draws in the order of nodes can leave fewer.",
    ));
    let mut section = Section::new("What sampling does to the graph").table(table);
    if from.probabilities.is_empty() {
        return Some(section);
    }
    let unit = from.facts.unit;
    let mut chances =
        Histogram::new("Drop probabilities", Axis::new("probability to be dropped in an epoch").range(0.0, 1.0));
    let mut ranks = Lines::new(
        "Drop probability by rank",
        Axis::new("rank of the score, lowest to highest"),
        Axis::new("probability").from_zero(),
    );
    // The colours that the methods have in the charts of all of them.
    let look = |name: &str| from.outcome.methods.iter().position(|m| m.name == name).unwrap_or(0);
    for method in from.probabilities {
        let edges = (0..=BINS).map(|i| i as f64 / BINS as f64);
        chances = chances.counts(&method.name, edges, method.by_probability.iter().copied());
        if !method.by_rank.is_empty() {
            ranks = ranks.series(sapwood_report::Series::new(&method.name, method.by_rank.iter().copied()));
        }
    }
    chances = chances.looks(from.probabilities.iter().map(|m| look(&m.name)));
    let ranked = from.probabilities.iter().filter(|m| !m.by_rank.is_empty());
    ranks = ranks.looks(ranked.map(|m| look(&m.name)));
    section = section.figure(Figure::new(chances).caption(format!("How many {unit} have which probability.")));
    if from.probabilities.iter().any(|m| !m.by_rank.is_empty()) {
        section = section.figure(Figure::new(ranks).caption("Only the order of the scores decides."));
    }
    for method in from.probabilities {
        if let Some((edges, counts)) = &method.by_score {
            let title = format!("Scores of {}", method.name);
            let chart = Histogram::new(title, Axis::new("score").log())
                .counts(&method.name, edges.clone(), counts.clone())
                .looks([look(&method.name)]);
            section = section.figure(Figure::new(chart).caption(format!("How many {unit} have which score.")));
        }
    }
    Some(section)
}

/// The Dirichlet energy of each hidden activation.
pub(super) fn smoothing(from: &Sources<'_>) -> Option<Section> {
    let position = Axis::new("hidden activation, in running order").unit(Unit::Count);
    let mut lines = Lines::new("Dirichlet energy", position, Axis::new("energy").log());
    let mut table = Table::new("Dirichlet energy of the hidden activation").columns(["method", "mean", "min", "max"]);
    let mut most = 0;
    for method in &from.outcome.methods {
        let mut columns: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for seen in method.counted().iter().filter_map(|run| run.inspection.as_ref()) {
            for (at, (_, energy)) in seen.energies.iter().enumerate().filter(|(_, (_, e))| *e > 0.0) {
                columns.entry(at + 1).or_default().push(*energy);
            }
        }
        most = most.max(columns.len());
        if let Some(values) = columns.get(&1) {
            let (mean, (min, max)) = spread(values);
            table = table.row([Cell::text(&method.name), Cell::number(mean), Cell::number(min), Cell::number(max)]);
        }
        lines = lines.series(banded(&method.name, columns.into_iter().map(|(at, values)| (at as f64, values))));
    }
    let text = "Where neighbours become alike, their difference vanishes and with it what deeper layers can tell apart \
                (over-smoothing). The energy is the squared difference of neighbours, each divided by the root of its \
                degree plus one, summed over the edges of the whole graph and divided by the squared length of the \
                activation.";
    let section = Section::new("Over-smoothing").paragraph(text);
    match most {
        0 => None,
        1 => Some(section.table(table.note("At the weights of the epoch chosen, over the seeds."))),
        _ => Some(section.figure(Figure::new(lines).caption(
            "At the weights of the epoch chosen; means over the seeds, bands from the lowest to the highest.",
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_counted_once() {
        let (edges, counts) = by_score(&[1.0, 10.0, 100.0, 100.0]).unwrap();
        assert_eq!((edges.len(), counts.iter().sum::<u64>(), counts[0], counts[BINS - 1]), (BINS + 1, 4, 1, 2));
        assert!((edges[0] - 1.0).abs() < 1e-12 && (edges[BINS] - 100.0).abs() < 1e-9);
        assert!(by_score(&[0.0, 1.0]).is_none() && by_score(&[2.0, 2.0]).is_none() && by_score(&[]).is_none());
        let ranks = by_rank(&[-1.0, 1.0, 1.0, 0.0], &[0.9, 0.1, 0.3, 0.5]);
        assert_eq!(ranks, [(0.025, 0.9), (0.525, 0.5), (0.975, 0.2)]);
    }
}
