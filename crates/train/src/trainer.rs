//! Training one run: draw, forward, loss, backward, step; and evaluation on the whole graph.
//!
//! [`Trainer`] owns the memory that runs share; [`Run`] owns the network. Everything random is keyed by the run's seed and
//! the epoch, counted from 1: initial weights, dropout and the draw are the same for every method with that seed. Â of a
//! draw is made anew in every epoch and never kept. Evaluation uses the whole graph and no dropout.

use crate::arena::{Arena, Bytes};
use crate::checkpoint::{Saving, State};
use crate::energy;
use crate::evaluate::{self, Evaluation, Scratch};
use crate::features::Features;
use crate::layer::loss::{cross_entropy, softmax_cross_entropy};
use crate::layer::{Cx, Drawn, Mode};
use crate::network::{Network, Pass};
use crate::number::Number;
use crate::optimiser::{self, Optimiser, Step};
use crate::problem::Problem;
use crate::rows::Partials;
use crate::settings::{AfterDraw, Settings};
use crate::{Result, init, model};
use sapwood_files::digest;
use sapwood_graph::{After, DrawBuffers, DrawKey, Graph, Operator, Prepared, Sampled, SamplerFacts};
use sapwood_skeleton::Exec;
use sapwood_sparse::Block;
use serde::Serialize;

/// A sampler that knows the graph.
pub struct Method {
    /// Its name.
    pub name: String,
    /// It.
    pub prepared: Box<dyn Prepared>,
}

impl Method {
    /// What is known of it before the first draw.
    pub fn facts(&self) -> SamplerFacts {
        self.prepared.facts()
    }
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Method({})", self.name)
    }
}

/// A value that is no number, and who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NonFinite {
    /// Epoch, from 1.
    pub epoch: u32,
    /// Name of the layer whose output holds it first, or `loss`.
    pub layer: String,
}

/// What the weights of a run do, at the epoch chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// The class given to each node; [`evaluate::BROKEN`] where there is none.
    pub predicted: Vec<u32>,
    /// Test nodes by the class they have (rows) and are given (columns).
    pub confusion: Vec<u64>,
    /// Dirichlet energy of each hidden activation, by the name of its layer; NaN where the activation is zero.
    pub energies: Vec<(String, f64)>,
}

/// The parts of a run that a checkpoint holds.
pub(crate) struct Parts<'r, T: Number> {
    pub(crate) network: &'r mut Network<T>,
    pub(crate) optimiser: &'r mut dyn Optimiser<T>,
    /// The weights of the epoch chosen; empty before the first.
    pub(crate) best: &'r mut Vec<Block<T>>,
    pub(crate) epoch: &'r mut u32,
}

/// What one training step did.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// Mean loss on the training nodes, dropout on, before the step.
    pub loss: f64,
    /// Learning rate of the step.
    pub lr: f64,
    /// Mean loss on the validation nodes of the same pass, dropout on; NaN unless the selection rule reads it.
    pub val_loss: f64,
    /// Nodes without an edge in this epoch's draw; where layers have draws of their own, in that of the first.
    pub isolated: u64,
    /// The loss was no number: nothing was learnt and the run must end.
    pub broken: Option<NonFinite>,
}

/// The memory that runs share, and what they run on.
#[derive(Debug)]
pub struct Trainer<'p, T: Number> {
    exec: Exec<'p>,
    problem: &'p Problem<T>,
    settings: &'p Settings,
    arena: Arena<T>,
    pass: Pass<T>,
    partials: Partials,
    chosen: Vec<u32>,
    losses: Vec<f64>,
    scratch: Scratch,
    draws: DrawBuffers,
    /// X with rows dropped, if a sampler drops them.
    dropped: Option<Features<T>>,
}

impl<'p, T: Number> Trainer<'p, T> {
    /// A trainer without memory yet.
    pub fn new(exec: Exec<'p>, problem: &'p Problem<T>, settings: &'p Settings) -> Trainer<'p, T> {
        Trainer {
            exec,
            problem,
            settings,
            arena: Arena::new(),
            pass: Pass::default(),
            partials: Partials::default(),
            chosen: Vec::new(),
            losses: Vec::new(),
            scratch: Scratch::default(),
            draws: DrawBuffers::default(),
            dropped: None,
        }
    }

    /// Starts the run of `seed` with `method`.
    ///
    /// # Errors
    /// When there is no memory for the network.
    pub fn start<'t>(&'t mut self, method: &'t Method, seed: u64) -> Result<Run<'t, 'p, T>>
    where
        'p: 't,
    {
        let settings = self.settings;
        let shape = settings.shape(self.problem.features.input(), self.problem.classes);
        let mut network = model::build(&settings.model, &shape)?;
        network.recompute(settings.recomputed);
        init::fill(&mut network, &settings.init, seed)?;
        let optimiser = T::optimiser(&settings.optimiser)(&network, settings.optimiser_options)?;
        let gradients = network.like_parameters()?;
        let graph = method.prepared.graph().unwrap_or(&self.problem.graph);
        let full = match method.prepared.graph() {
            Some(graph) => Some(Operator::full(self.exec, graph, settings.normalise)?),
            None => None,
        };
        let isolated_in_full = full.as_ref().unwrap_or(&self.problem.full).isolated() as u64;
        let drawn = Vec::new();
        Ok(Run {
            trainer: self,
            method,
            seed,
            network,
            optimiser,
            gradients,
            best: Vec::new(),
            graph,
            full,
            drawn,
            isolated_in_full,
            epoch: 0,
        })
    }

    /// What activations and gradients take.
    pub fn arena_bytes(&self) -> Bytes {
        self.arena.bytes()
    }
}

/// What a draw changes of a pass.
#[derive(Debug, Clone, Copy)]
enum Sampling {
    /// Nothing.
    Whole,
    /// Â, for all layers or for each.
    Operators,
    /// X.
    Rows,
    /// Every message, at this drop rate.
    Messages(f64),
}

/// One run in progress.
pub struct Run<'t, 'p, T: Number> {
    trainer: &'t mut Trainer<'p, T>,
    method: &'t Method,
    seed: u64,
    network: Network<T>,
    optimiser: Box<dyn Optimiser<T>>,
    gradients: Vec<Block<T>>,
    /// The weights of the epoch chosen so far; empty before the first.
    best: Vec<Block<T>>,
    /// The graph that is sampled and evaluated.
    graph: &'t Graph,
    /// Â of the whole graph, where it is not the problem's.
    full: Option<Operator<T>>,
    /// Â of the latest draw that dropped something: one, or one for each layer.
    drawn: Vec<Operator<T>>,
    isolated_in_full: u64,
    epoch: u32,
}

impl<'t, 'p: 't, T: Number> Run<'t, 'p, T> {
    /// Trains one epoch, which is one step on the whole graph.
    ///
    /// # Errors
    /// When the sampler or a layer fails. A loss that is no number is no error: see [`Trained::broken`].
    pub fn train_epoch(&mut self) -> Result<Trained> {
        self.epoch += 1;
        let key = DrawKey::of_epoch(self.seed, self.epoch);
        let sampled = self.draw(key)?;
        let isolated = match sampled {
            Sampling::Operators => self.drawn[0].isolated() as u64,
            _ => self.isolated_in_full,
        };
        let lr = self.trainer.settings.lr_at(self.epoch);
        let Trainer { exec, problem, settings, arena, pass, partials, chosen, losses, dropped, .. } =
            &mut *self.trainer;
        let exec = *exec;
        let full = std::slice::from_ref(self.full.as_ref().unwrap_or(&problem.full));
        let (features, drawn) = match sampled {
            Sampling::Whole => (&problem.features, Drawn { operators: full, messages: None }),
            Sampling::Operators => (&problem.features, Drawn { operators: &self.drawn, messages: None }),
            Sampling::Rows => {
                (dropped.as_ref().unwrap_or(&problem.features), Drawn { operators: full, messages: None })
            }
            Sampling::Messages(p) => (&problem.features, Drawn { operators: full, messages: Some((self.graph, p)) }),
        };
        let mut cx = Cx { exec, features, drawn, mode: Mode::Train, key, partials, chosen };
        let mut grad = self.network.forward(pass, arena, &mut cx, true)?;
        let val_loss = match settings.select.train_mode {
            true => cross_entropy(exec, &grad, &problem.judges.val, losses)?,
            false => f64::NAN,
        };
        let loss = softmax_cross_entropy(exec, &mut grad, &problem.judges.train, losses)?;
        if !loss.is_finite() {
            arena.give(grad);
            pass.release(arena);
            let layer = self.network.first_non_finite(pass, arena, &mut cx)?;
            let broken = NonFinite { epoch: self.epoch, layer: layer.unwrap_or_else(|| "loss".into()) };
            return Ok(Trained { loss, lr, val_loss, isolated, broken: Some(broken) });
        }
        self.network.backward(grad, pass, arena, &mut cx, &mut self.gradients)?;
        if let Some(longest) = settings.clip {
            optimiser::clip(exec, &self.network, &mut self.gradients, longest)?;
        }
        let step = Step { number: u64::from(self.epoch), lr, l2: settings.l2 };
        let (optimiser, gradients) = (self.optimiser.as_mut(), &self.gradients);
        optimiser::step(exec, optimiser, step, settings.l2_on, &mut self.network, gradients)?;
        Ok(Trained { loss, lr, val_loss, isolated, broken: None })
    }

    /// Draws for epoch and seed of `key`, and makes the operators or features of what is left.
    fn draw(&mut self, key: DrawKey) -> Result<Sampling> {
        let Trainer { exec, problem, settings, draws, dropped, .. } = &mut *self.trainer;
        let (exec, prepared) = (*exec, &self.method.prepared);
        let layers = if prepared.per_layer() { self.network.draws() } else { 0 };
        for layer in 0..=layers.saturating_sub(1) {
            let key = DrawKey { layer: if layers == 0 { 0 } else { layer + 1 }, ..key };
            let sampled = prepared.kept(exec, key, draws)?;
            match sampled {
                Sampled::All if layers == 0 => return Ok(Sampling::Whole),
                Sampled::Messages { p } => return Ok(Sampling::Messages(p)),
                Sampled::Rows { mask, scale } => {
                    problem.features.drop_rows(mask, scale, dropped)?;
                    return Ok(Sampling::Rows);
                }
                _ => {}
            }
            let at = usize::from(layer);
            if self.drawn.len() == at {
                self.drawn.push(Operator::full(exec, self.graph, settings.normalise)?);
            }
            let quotas = match settings.after {
                AfterDraw::Unbiased => prepared.quotas(exec, key)?,
                AfterDraw::Renorm | AfterDraw::Fixed => None,
            };
            let after = match (settings.after, &quotas) {
                (AfterDraw::Renorm, _) => After::Renorm,
                (_, Some(quotas)) => After::Unbiased(quotas),
                _ => After::Fixed,
            };
            self.drawn[at].redraw(exec, self.graph, &sampled, after)?;
        }
        Ok(Sampling::Operators)
    }

    /// Judges the present weights on the whole graph, without dropout.
    ///
    /// # Errors
    /// When a layer fails.
    pub fn evaluate(&mut self) -> Result<Evaluation> {
        let logits = self.logits(&mut |_, _| Ok(()))?;
        let Trainer { exec, problem, arena, scratch, .. } = &mut *self.trainer;
        let evaluation = evaluate::evaluate(*exec, &logits, &problem.judges, scratch)?;
        arena.give(logits);
        Ok(evaluation)
    }

    /// The logits of the present weights on the whole graph, without dropout; `watch` sees every activation by name.
    fn logits(&mut self, watch: &mut dyn FnMut(&str, &Block<T>) -> Result<()>) -> Result<Block<T>> {
        let key = DrawKey::of_epoch(self.seed, self.epoch);
        let Trainer { exec, problem, arena, pass, partials, chosen, .. } = &mut *self.trainer;
        let mut cx = Cx {
            exec: *exec,
            features: &problem.features,
            drawn: Drawn::shared(self.full.as_ref().unwrap_or(&problem.full)),
            mode: Mode::Evaluate,
            key,
            partials,
            chosen,
        };
        self.network.forward_watched(pass, arena, &mut cx, false, watch)
    }

    /// Which layer's output is not finite when the present weights are evaluated.
    ///
    /// # Errors
    /// When a layer fails.
    pub fn broken_in_evaluation(&mut self) -> Result<NonFinite> {
        let mut layer = None;
        let logits = self.logits(&mut |name, out| {
            if layer.is_none() && !out.as_slice().iter().all(|v| v.is_finite()) {
                layer = Some(name.to_owned());
            }
            Ok(())
        })?;
        self.trainer.arena.give(logits);
        Ok(NonFinite { epoch: self.epoch, layer: layer.unwrap_or_else(|| "loss".into()) })
    }

    /// Remembers the present weights as those of the epoch chosen.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn keep(&mut self) -> Result<()> {
        if self.best.is_empty() {
            self.best = self.network.like_parameters()?;
        }
        for (best, now) in self.best.iter_mut().zip(self.network.parameters()) {
            best.as_mut_slice().copy_from_slice(now.value.as_slice());
        }
        Ok(())
    }

    /// Looks closely at the weights of the epoch chosen, or at the present ones where none was: what they predict, and
    /// how alike neighbours have become in each layer.
    ///
    /// # Errors
    /// When a layer fails.
    pub fn inspect(&mut self) -> Result<Inspection> {
        self.exchange();
        let (exec, problem) = (self.trainer.exec, self.trainer.problem);
        let (graph, layers) = (self.graph, self.network.activations());
        let mut energies = Vec::new();
        let logits = self.logits(&mut |name, out| {
            if layers.binary_search_by(|layer| layer.as_str().cmp(name)).is_ok() {
                energies.push((name.to_owned(), energy::dirichlet(exec, graph, out)?));
            }
            Ok(())
        });
        self.exchange();
        let logits = logits?;
        let mut predicted = Vec::new();
        evaluate::predict(exec, &logits, &mut predicted)?;
        let confusion = evaluate::confusion(&predicted, &problem.judges.test, logits.cols());
        self.trainer.arena.give(logits);
        Ok(Inspection { predicted, confusion, energies })
    }

    /// Exchanges the present weights with those of the epoch chosen, if there is one.
    fn exchange(&mut self) {
        for (best, now) in self.best.iter_mut().zip(self.network.parameters_mut()) {
            std::mem::swap(best, &mut now.value);
        }
    }

    /// Name of the method.
    pub fn method(&self) -> &'t str {
        &self.method.name
    }

    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Epochs trained.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The network with its present weights.
    pub fn network(&self) -> &Network<T> {
        &self.network
    }

    /// What activations and gradients take.
    pub fn arena_bytes(&self) -> Bytes {
        self.trainer.arena.bytes()
    }

    /// The state at its start, or at its checkpoint if `saving` has one: then the run is what it was there.
    ///
    /// # Errors
    /// When the checkpoint is damaged or of another experiment.
    pub(crate) fn resume(&mut self, saving: Option<&Saving>) -> Result<State> {
        let (method, seed) = (self.method(), self.seed);
        let input = self.trainer.problem.features.input();
        let fresh = State::new(method, seed, (self.trainer.problem.classes, input.width, input.sparse));
        let saved = match saving {
            Some(saving) => saving.load(method, seed, &mut self.parts())?,
            None => None,
        };
        Ok(saved.unwrap_or(fresh))
    }

    /// Everything that later epochs depend on, to be written or restored; the random keys are seed and epoch.
    pub(crate) fn parts(&mut self) -> Parts<'_, T> {
        Parts {
            network: &mut self.network,
            optimiser: self.optimiser.as_mut(),
            best: &mut self.best,
            epoch: &mut self.epoch,
        }
    }

    /// Digest of the present weights: all parameters, in the order of the layers.
    pub fn fingerprint(&self) -> String {
        let all: Vec<T> = self.network.parameters().flat_map(|p| p.value.as_slice()).copied().collect();
        digest::short_of(&all)
    }
}
