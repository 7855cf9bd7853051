//! Running a network forward and backward.

use super::schedule::{Backward as Step, Forward, Place, Source};
use super::{Network, Node};
use crate::arena::Arena;
use crate::layer::{Backward, Cx, Target};
use crate::number::Number;
use crate::rows;
use crate::{Error, Result};
use sapwood_sparse::{Affine, Block};

/// The activations and gradients of one pass, by layer. Empty between passes.
#[derive(Debug)]
pub struct Pass<T: Number> {
    outputs: Vec<Option<Block<T>>>,
    gradients: Vec<Option<Block<T>>>,
}

impl<T: Number> Default for Pass<T> {
    fn default() -> Self {
        Pass { outputs: Vec::new(), gradients: Vec::new() }
    }
}

impl<T: Number> Pass<T> {
    /// Gives back what a pass that did not reach its end still holds.
    pub fn release(&mut self, arena: &mut Arena<T>) {
        self.outputs.iter_mut().chain(&mut self.gradients).filter_map(Option::take).for_each(|block| arena.give(block));
    }
}

impl<T: Number> Network<T> {
    /// Computes the logits, n × classes. With `keep`, what backward needs stays in `pass`; otherwise `pass` is empty
    /// afterwards.
    ///
    /// # Errors
    /// When a layer fails.
    pub fn forward(
        &self,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
        keep: bool,
    ) -> Result<Block<T>> {
        self.forward_watched(pass, arena, cx, keep, |_, _| ())
    }

    /// Runs forward once more and names the first layer whose output is not finite.
    ///
    /// # Errors
    /// When a layer fails.
    pub fn first_non_finite(
        &self,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
    ) -> Result<Option<String>> {
        let mut found = None;
        let logits = self.forward_watched(pass, arena, cx, false, |name, out| {
            if found.is_none() && !out.as_slice().iter().all(|v| v.is_finite()) {
                found = Some(name.to_owned());
            }
        })?;
        arena.give(logits);
        Ok(found)
    }

    fn forward_watched(
        &self,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
        keep: bool,
        mut watch: impl FnMut(&str, &Block<T>),
    ) -> Result<Block<T>> {
        pass.outputs.resize_with(self.nodes.len(), || None);
        for step in self.schedule.forward(keep) {
            let out = self.run(step, &mut pass.outputs, arena, cx)?;
            watch(&self.nodes[step.node].name, &out);
            pass.outputs[step.node] = Some(out);
            for &done in &step.release {
                pass.outputs[done].take().into_iter().for_each(|block| arena.give(block));
            }
        }
        pass.outputs.last_mut().and_then(Option::take).ok_or_else(|| self.broken("logits"))
    }

    /// The output of one layer.
    fn run(
        &self,
        step: &Forward,
        outputs: &mut [Option<Block<T>>],
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
    ) -> Result<Block<T>> {
        let node = &self.nodes[step.node];
        let mut out = match step.place {
            Place::Over(j) => outputs[j].take().ok_or_else(|| self.broken(&node.name))?,
            Place::Fresh => arena.take(cx.features.rows(), node.width)?,
            Place::Copy(source) => {
                let mut copy = arena.take(cx.features.rows(), node.width)?;
                rows::copy(cx.exec, &mut copy, self.value(source, outputs, cx)?)?;
                copy
            }
        };
        let already_in_out = usize::from(step.place != Place::Fresh);
        let inputs = self.inputs(&node.sources[already_in_out..], outputs, cx)?;
        node.layer.forward(&inputs, &mut out, cx)?;
        Ok(out)
    }

    /// Computes the gradients of all parameters into `weights` (the order of [`Network::parameters`]) from `grad`, the
    /// gradient of the loss by the logits. `pass` holds what forward kept and is empty afterwards.
    ///
    /// # Errors
    /// When a layer fails.
    pub fn backward(
        &self,
        grad: Block<T>,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
        weights: &mut [Block<T>],
    ) -> Result<()> {
        pass.gradients.resize_with(self.nodes.len(), || None);
        pass.gradients[self.nodes.len() - 1] = Some(grad);
        let mut rest = weights;
        for step in &self.schedule.backward {
            let node = &self.nodes[step.node];
            let at = rest.len().checked_sub(node.layer.parameters().len()).ok_or_else(|| self.broken(&node.name))?;
            let (before, own) = rest.split_at_mut(at);
            rest = before;
            self.run_back(step, node, pass, arena, cx, own)?;
            pass.outputs[step.node].take().into_iter().for_each(|block| arena.give(block));
        }
        pass.release(arena);
        Ok(())
    }

    /// The gradients of one layer's inputs and parameters.
    fn run_back(
        &self,
        step: &Step,
        node: &Node<T>,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
        weights: &mut [Block<T>],
    ) -> Result<()> {
        let (needs, in_place) = (node.layer.needs(), node.layer.in_place());
        let mut grad = pass.gradients[step.node].take().ok_or_else(|| self.broken(&node.name))?;
        let mut into = if in_place { Vec::new() } else { self.targets(step, pass, arena, cx)? };
        let inputs = if needs.input { self.inputs(&node.sources, &pass.outputs, cx)? } else { Vec::new() };
        let output = if needs.output { Some(self.value(Source::Node(step.node), &pass.outputs, cx)?) } else { None };
        node.layer.backward(Backward { inputs: &inputs, output, grad: &mut grad, into: &mut into, weights }, cx)?;
        if in_place {
            return hand_down(grad, &step.into, &mut pass.gradients, arena, cx);
        }
        arena.give(grad);
        for (target, block) in step.into.iter().zip(into) {
            if let (Some(j), Some((block, _))) = (target, block) {
                pass.gradients[*j] = Some(block);
            }
        }
        Ok(())
    }

    /// The blocks that the gradients of a layer's inputs go to: a new one for the first reader of an output (in backward
    /// order), added to for the others.
    fn targets(
        &self,
        step: &Step,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &Cx<'_, T>,
    ) -> Result<Vec<Option<Target<T>>>> {
        let mut target = |j: usize| match pass.gradients[j].take() {
            Some(block) => Ok((block, Affine::ADD)),
            None => Ok((arena.take(cx.features.rows(), self.nodes[j].width)?, Affine::SET)),
        };
        step.into.iter().map(|wanted| wanted.map(&mut target).transpose()).collect()
    }

    fn inputs<'a>(
        &self,
        sources: &[Source],
        outputs: &'a [Option<Block<T>>],
        cx: &Cx<'a, T>,
    ) -> Result<Vec<&'a Block<T>>> {
        sources.iter().map(|&source| self.value(source, outputs, cx)).collect()
    }

    fn value<'a>(&self, source: Source, outputs: &'a [Option<Block<T>>], cx: &Cx<'a, T>) -> Result<&'a Block<T>> {
        let (value, name) = match source {
            Source::Features => (cx.features.dense(), super::FEATURES),
            Source::Node(j) => (outputs[j].as_ref(), self.nodes[j].name.as_str()),
        };
        value.ok_or_else(|| self.broken(name))
    }

    fn broken(&self, name: &str) -> Error {
        Error::Model { model: self.model.into(), what: format!("the value of {name} is gone") }
    }
}

/// Gives the gradient that an in-place layer left to each of its inputs: the block itself to one of them.
fn hand_down<T: Number>(
    grad: Block<T>,
    into: &[Option<usize>],
    gradients: &mut [Option<Block<T>>],
    arena: &mut Arena<T>,
    cx: &Cx<'_, T>,
) -> Result<()> {
    let mut heir = None;
    for &j in into.iter().flatten() {
        match &mut gradients[j] {
            Some(block) => rows::add(cx.exec, block, &grad)?,
            None if heir.is_none() => heir = Some(j),
            None => {
                let mut copy = arena.take(grad.rows(), grad.cols())?;
                rows::copy(cx.exec, &mut copy, &grad)?;
                gradients[j] = Some(copy);
            }
        }
    }
    match heir {
        Some(j) => gradients[j] = Some(grad),
        None => arena.give(grad),
    }
    Ok(())
}
