//! The cost of a network: what its layers do, along the schedule that they run in.
//!
//! The copies that the schedule needs are counted where they are made; a layer that runs again is counted again.

use super::Network;
use super::schedule::{Backward, Forward, Place, Source};
use crate::cost::{Cost, Gradient, Operands, Size, Work};
use crate::layer::Mode;
use crate::number::Number;

/// What one layer does in a training step.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerCost {
    /// Name of the layer.
    pub name: String,
    /// Its forward pass.
    pub forward: Work,
    /// What of its forward pass is run again before the backward pass.
    pub again: Work,
    /// Its backward pass.
    pub backward: Work,
    /// Bytes of its output, if that stays from forward to backward.
    pub saved_bytes: u64,
}

impl<T: Number> Network<T> {
    /// What a training step does, layer by layer, in running order.
    pub fn cost(&self, on: &Operands) -> Vec<LayerCost> {
        let mut layers: Vec<LayerCost> = self.nodes.iter().map(|node| empty(&node.name)).collect();
        let mut gradients = vec![false; self.nodes.len()];
        gradients.iter_mut().last().into_iter().for_each(|last| *last = true);
        let train = &self.schedule().train;
        self.add_forward(&train.forward, on, Mode::Train, &mut |at, work| layers[at].forward.add(work));
        for step in &train.backward {
            self.add_forward(&step.again, on, Mode::Train, &mut |at, work| layers[at].again.add(work));
            let targets = targets(step, &mut gradients);
            layers[step.node].backward.add(&self.layer_cost(step.node, on, Mode::Train, &targets).backward);
            let down = self.hand_down(step, on, &mut gradients);
            layers[step.node].backward.add(&down);
        }
        for (at, _) in self.kept().iter().enumerate().filter(|(_, kept)| **kept) {
            layers[at].saved_bytes = size(on, Mode::Train, &[], &[]).block_bytes(self.nodes[at].width);
        }
        layers
    }

    /// What an evaluation does.
    pub fn evaluation_cost(&self, on: &Operands) -> Work {
        let mut all = Work::default();
        self.add_forward(&self.schedule().evaluate, on, Mode::Evaluate, &mut |_, work| all.add(work));
        all
    }

    /// Columns of the hidden activations.
    pub(crate) fn hidden_widths(&self) -> impl Iterator<Item = usize> {
        self.nodes.iter().filter(|node| node.hidden).map(|node| node.width)
    }

    fn add_forward(&self, steps: &[Forward], on: &Operands, mode: Mode, add: &mut dyn FnMut(usize, &Work)) {
        for step in steps {
            if let Place::Copy(_) = step.place {
                let copy = on.pass(self.nodes[step.node].width, 2.0, 0.0);
                add(step.node, &std::iter::once(copy).collect());
            }
            add(step.node, &self.layer_cost(step.node, on, mode, &[]).forward);
        }
    }

    fn layer_cost(&self, at: usize, on: &Operands, mode: Mode, gradients: &[Gradient]) -> Cost {
        let node = &self.nodes[at];
        let width = |source: &Source| match source {
            Source::Features => on.feature_columns,
            Source::Node(j) => self.nodes[*j].width,
        };
        let inputs: Vec<usize> = node.sources.iter().map(width).collect();
        node.layer.cost(&size(on, mode, &inputs, gradients))
    }

    /// What is left of G goes to those whose gradient it is: added to theirs, or copied for all but one.
    fn hand_down(&self, step: &Backward, on: &Operands, gradients: &mut [bool]) -> Work {
        let (mut work, mut own, width) = (Work::default(), true, self.nodes[step.node].width);
        for &j in &step.heirs {
            if std::mem::replace(&mut gradients[j], true) {
                work.push(on.pass(width, 3.0, 0.0));
            } else if !std::mem::replace(&mut own, false) {
                work.push(on.pass(width, 2.0, 0.0));
            }
        }
        work
    }

    /// Which outputs are still there when forward ends, the logits left out.
    fn kept(&self) -> Vec<bool> {
        let mut kept = vec![false; self.nodes.len()];
        for step in &self.schedule().train.forward {
            if let Place::Over(j) = step.place {
                kept[j] = false;
            }
            kept[step.node] = true;
            step.release.iter().for_each(|&j| kept[j] = false);
        }
        kept.iter_mut().last().into_iter().for_each(|logits| *logits = false);
        kept
    }
}

fn empty(name: &str) -> LayerCost {
    LayerCost {
        name: name.to_owned(),
        forward: Work::default(),
        again: Work::default(),
        backward: Work::default(),
        saved_bytes: 0,
    }
}

fn size<'a>(on: &Operands, mode: Mode, inputs: &'a [usize], gradients: &'a [Gradient]) -> Size<'a> {
    Size { on: *on, mode, inputs, gradients }
}

/// What becomes of the gradients that a step writes; `gradients` says which are there already.
fn targets(step: &Backward, gradients: &mut [bool]) -> Vec<Gradient> {
    let of = |wanted: &Option<usize>| match wanted {
        None => Gradient::Unwanted,
        Some(j) if std::mem::replace(&mut gradients[*j], true) => Gradient::Add,
        Some(_) => Gradient::Set,
    };
    step.into.iter().map(of).collect()
}
