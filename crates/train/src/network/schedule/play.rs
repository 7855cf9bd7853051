//! Playing the passes of a network with sizes alone: an arena that counts and holds nothing.

use super::{Facts, Forward, Place, Training};
use crate::arena::Bytes;

/// Blocks by their width; all have the same number of rows.
#[derive(Debug)]
pub(super) struct Play<'a> {
    facts: &'a [Facts],
    rows: u64,
    size: u64,
    /// Free blocks of each width.
    free: std::collections::BTreeMap<usize, u64>,
    /// Layers whose output is there.
    outputs: Vec<bool>,
    bytes: Bytes,
}

impl<'a> Play<'a> {
    /// An empty arena for `rows` nodes and elements of `size` bytes.
    pub(super) fn new(facts: &'a [Facts], rows: usize, size: usize) -> Play<'a> {
        Play {
            facts,
            rows: rows as u64,
            size: size as u64,
            free: std::collections::BTreeMap::new(),
            outputs: vec![false; facts.len()],
            bytes: Bytes::default(),
        }
    }

    /// What was held and taken.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Plays a training step.
    pub(super) fn train(&mut self, passes: &Training) {
        self.forward(&passes.forward);
        self.backward(passes);
        self.give_outputs();
    }

    /// Plays an evaluation.
    pub(super) fn evaluate(&mut self, steps: &[Forward]) {
        self.forward(steps);
        self.give_outputs();
    }

    fn forward(&mut self, steps: &[Forward]) {
        for step in steps {
            match step.place {
                Place::Over(j) => self.outputs[j] = false,
                Place::Fresh | Place::Copy(_) => self.take(step.node),
            }
            self.outputs[step.node] = true;
            step.release.iter().for_each(|&done| self.drop_output(done));
        }
    }

    /// The gradient of the loss takes over the block of the logits.
    fn backward(&mut self, passes: &Training) {
        let mut gradients = vec![false; self.facts.len()];
        if let (Some(logits), Some(first)) = (self.outputs.last_mut(), gradients.last_mut()) {
            (*logits, *first) = (false, true);
        }
        for step in &passes.backward {
            self.forward(&step.again);
            for &j in step.into.iter().flatten() {
                if !std::mem::replace(&mut gradients[j], true) {
                    self.take(j);
                }
            }
            let mut own = true;
            for &j in &step.heirs {
                if !std::mem::replace(&mut gradients[j], true) && !std::mem::replace(&mut own, false) {
                    self.take(j);
                }
            }
            if own {
                self.give(step.node);
            }
            self.drop_output(step.node);
        }
    }

    fn give_outputs(&mut self) {
        (0..self.outputs.len()).for_each(|j| self.drop_output(j));
    }

    fn drop_output(&mut self, node: usize) {
        if std::mem::take(&mut self.outputs[node]) {
            self.give(node);
        }
    }

    /// Takes a block as wide as the output of `node`.
    fn take(&mut self, node: usize) {
        let width = self.facts[node].width;
        let free = self.free.entry(width).or_default();
        let new = *free == 0;
        *free = free.saturating_sub(1);
        self.bytes.take(self.block(width), new);
    }

    fn give(&mut self, node: usize) {
        let width = self.facts[node].width;
        *self.free.entry(width).or_default() += 1;
        self.bytes.give(self.block(width));
    }

    fn block(&self, width: usize) -> u64 {
        self.rows.saturating_mul(width as u64).saturating_mul(self.size)
    }
}
