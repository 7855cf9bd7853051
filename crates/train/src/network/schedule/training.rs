//! One training step: what forward keeps, what backward runs again, and where gradients go.
//!
//! Without recomputation forward keeps every output that some backward pass reads. A recomputed segment keeps only what
//! layers *outside* of it need: its last activation, and those that later layers jump back to. Before its backward pass
//! those of its layers run again whose outputs are missing, and nothing else (Chen et al. 2016, "Training deep nets with
//! sublinear memory cost"). They run on the same inputs with the same random keys, so every bit is the same.

use super::{Facts, Forward, Source, forward};
use crate::layer::InPlace;
use std::ops::Range;

/// One step of a backward pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backward {
    pub(crate) node: usize,
    /// What runs forward again before it.
    pub(crate) again: Vec<Forward>,
    /// The layers whose outputs' gradient is what is left of G.
    pub(crate) heirs: Vec<usize>,
    /// For each other input the layer whose output's gradient is wanted.
    pub(crate) into: Vec<Option<usize>>,
}

/// The passes of one training step.
#[derive(Debug)]
pub(crate) struct Training {
    pub(crate) forward: Vec<Forward>,
    pub(crate) backward: Vec<Backward>,
}

impl Training {
    /// The passes over `facts` that recompute `segments`, ranges of layers in running order.
    pub(super) fn new(facts: &[Facts], segments: &[Range<usize>]) -> Training {
        let learns = learns(facts);
        let read = read_by_backward(facts, &learns);
        let (stay, again) = split(facts, &learns, &read, segments);
        let all: Vec<usize> = (0..facts.len()).collect();
        let mut backward: Vec<Backward> =
            (0..facts.len()).rev().filter(|&i| learns[i]).map(|node| gradients(facts, &learns, node)).collect();
        for (segment, list) in segments.iter().zip(again) {
            // What nobody recomputes is there already: it must neither be released nor written over.
            let keep: Vec<bool> = (0..facts.len()).map(|j| read[j] || list.binary_search(&j).is_err()).collect();
            if let Some(step) = backward.iter_mut().find(|step| segment.contains(&step.node)) {
                step.again = forward(facts, &list, &keep);
            }
        }
        Training { forward: forward(facts, &all, &stay), backward }
    }
}

/// Which layers have a parameter at or below them.
fn learns(facts: &[Facts]) -> Vec<bool> {
    let mut learns = Vec::with_capacity(facts.len());
    for fact in facts {
        let below = fact.nodes().any(|j| learns[j]);
        learns.push(fact.has_parameters || below);
    }
    learns
}

/// Which outputs a backward pass reads.
fn read_by_backward(facts: &[Facts], learns: &[bool]) -> Vec<bool> {
    let mut read = vec![false; facts.len()];
    for (i, fact) in facts.iter().enumerate().filter(|(i, _)| learns[*i]) {
        read[i] |= fact.needs.output;
        fact.read_back().for_each(|j| read[j] = true);
    }
    read
}

/// Which outputs stay from forward to backward, and which layers of each segment run again.
fn split(facts: &[Facts], learns: &[bool], read: &[bool], segments: &[Range<usize>]) -> (Vec<bool>, Vec<Vec<usize>>) {
    let mut segment_of = vec![usize::MAX; facts.len()];
    for (s, segment) in segments.iter().enumerate() {
        segment_of[segment.clone()].fill(s);
    }
    let mut readers = vec![Vec::new(); facts.len()];
    for (i, fact) in facts.iter().enumerate() {
        fact.nodes().for_each(|j| readers[j].push(i));
    }
    let reads_back = |i: usize, j: usize| learns[i] && facts[i].read_back().any(|k| k == j);
    let (mut stay, mut runs) = (vec![false; facts.len()], vec![false; facts.len()]);
    // Readers come later in the list, so that backwards all is known of them.
    for j in (0..facts.len()).rev() {
        let own = segment_of[j];
        let outside = |&i: &usize| own == usize::MAX || segment_of[i] != own;
        let wanted = |&i: &usize| runs[i] || reads_back(i, j);
        stay[j] = (own == usize::MAX && read[j]) || readers[j].iter().any(|i| outside(i) && wanted(i));
        runs[j] = own != usize::MAX && !stay[j] && (read[j] || readers[j].iter().any(|&i| runs[i]));
    }
    let again = segments.iter().map(|segment| segment.clone().filter(|&j| runs[j]).collect()).collect();
    (stay, again)
}

fn gradients(facts: &[Facts], learns: &[bool], node: usize) -> Backward {
    let fact = &facts[node];
    let wanted = |source: &Source| match source {
        Source::Node(j) if learns[*j] => Some(*j),
        _ => None,
    };
    let own = match fact.in_place {
        InPlace::No => 0,
        InPlace::First => 1.min(fact.sources.len()),
        InPlace::Each => fact.sources.len(),
    };
    let (heirs, rest) = fact.sources.split_at(own);
    let heirs = heirs.iter().filter_map(wanted).collect();
    Backward { node, again: Vec::new(), heirs, into: rest.iter().map(wanted).collect() }
}
