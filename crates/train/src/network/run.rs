//! Running a network forward and backward.

use super::schedule::{Backward as Step, Forward, Place, Source};
use super::{Network, Node};
use crate::arena::Arena;
use crate::layer::{Backward, Cx, InPlace, Target};
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
        self.forward_watched(pass, arena, cx, keep, &mut |_, _| Ok(()))
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
        let logits = self.forward_watched(pass, arena, cx, false, &mut |name, out| {
            if found.is_none() && !out.as_slice().iter().all(|v| v.is_finite()) {
                found = Some(name.to_owned());
            }
            Ok(())
        })?;
        arena.give(logits);
        Ok(found)
    }

    /// As [`Network::forward`]; `watch` sees the output of each layer as it is made, by the name of the layer.
    pub(crate) fn forward_watched(
        &self,
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
        keep: bool,
        watch: &mut dyn FnMut(&str, &Block<T>) -> Result<()>,
    ) -> Result<Block<T>> {
        pass.outputs.resize_with(self.nodes.len(), || None);
        let steps = if keep { &self.schedule.train.forward } else { &self.schedule.evaluate };
        self.run_all(steps, pass, arena, cx, watch)?;
        pass.outputs.last_mut().and_then(Option::take).ok_or_else(|| self.broken("logits"))
    }

    /// Runs some layers forward.
    fn run_all(
        &self,
        steps: &[Forward],
        pass: &mut Pass<T>,
        arena: &mut Arena<T>,
        cx: &mut Cx<'_, T>,
        watch: &mut dyn FnMut(&str, &Block<T>) -> Result<()>,
    ) -> Result<()> {
        for step in steps {
            let out = self.run(step, &mut pass.outputs, arena, cx)?;
            watch(&self.nodes[step.node].name, &out)?;
            pass.outputs[step.node] = Some(out);
            for &done in &step.release {
                pass.outputs[done].take().into_iter().for_each(|block| arena.give(block));
            }
        }
        Ok(())
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
        for step in &self.schedule.train.backward {
            self.run_all(&step.again, pass, arena, cx, &mut |_, _| Ok(()))?;
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
        let needs = node.layer.needs();
        let mut grad = pass.gradients[step.node].take().ok_or_else(|| self.broken(&node.name))?;
        let mut into = self.targets(step, pass, arena, cx)?;
        let overwritten = usize::from(node.layer.in_place() != InPlace::No);
        let sources = if needs.input { &node.sources[overwritten..] } else { &[] };
        let inputs = self.inputs(sources, &pass.outputs, cx)?;
        let output = if needs.output { Some(self.value(Source::Node(step.node), &pass.outputs, cx)?) } else { None };
        node.layer.backward(Backward { inputs: &inputs, output, grad: &mut grad, into: &mut into, weights }, cx)?;
        for (target, block) in step.into.iter().zip(into) {
            if let (Some(j), Some((block, _))) = (target, block) {
                pass.gradients[*j] = Some(block);
            }
        }
        hand_down(grad, &step.heirs, &mut pass.gradients, arena, cx)
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

/// Gives what a layer left of G to those whose gradient it is, the block itself to one of them.
fn hand_down<T: Number>(
    grad: Block<T>,
    heirs: &[usize],
    gradients: &mut [Option<Block<T>>],
    arena: &mut Arena<T>,
    cx: &Cx<'_, T>,
) -> Result<()> {
    let mut heir = None;
    for &j in heirs {
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
