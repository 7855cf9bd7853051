//! The moments that Adam and AdamW follow (Kingma & Ba, ICLR 2015, algorithm 1), and the step they lead to.
//!
//! The two differ in one thing: where the L2 penalty enters, see [`Penalty`].

use crate::Result;
use crate::network::Network;
use crate::number::Number;
use crate::optimiser::{CHUNK, Step};
use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};
use sapwood_sparse::{Block, Real};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// Where the L2 penalty enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Penalty {
    /// l2 · w is part of the gradient, so that the moments scale it too.
    Coupled,
    /// lr · l2 · w is taken off the parameter; the moments never see it.
    Decoupled,
}

/// The two moments of each parameter.
pub(super) struct Moments<T: Real> {
    penalty: Penalty,
    first: Vec<Block<T>>,
    second: Vec<Block<T>>,
}

impl<T: Number> Moments<T> {
    /// Zeros for the parameters of `network`.
    pub(super) fn new(network: &Network<T>, penalty: Penalty) -> Result<Moments<T>> {
        Ok(Moments { penalty, first: network.like_parameters()?, second: network.like_parameters()? })
    }
}

impl<T: Number> super::Optimiser<T> for Moments<T> {
    fn update(
        &mut self,
        exec: Exec<'_>,
        step: Step,
        number: usize,
        value: &mut Block<T>,
        gradient: &Block<T>,
    ) -> Result<()> {
        let rule = Rule::new(step, self.penalty);
        let (m, v) = (self.first[number].as_mut_slice(), self.second[number].as_mut_slice());
        let plan = ChunkPlan::of(gradient.as_slice().len(), CHUNK);
        let parts = (rows(value.as_mut_slice(), 1), rows(m, 1), rows(v, 1));
        exec.for_chunks_mut(&plan, parts, |_, range, (w, m, v)| {
            rule.apply(w, &gradient.as_slice()[range], m, v);
            Ok(())
        })?;
        Ok(())
    }

    fn state(&self) -> Vec<(&'static str, &[Block<T>])> {
        vec![("exp_avg", &self.first), ("exp_avg_sq", &self.second)]
    }

    fn state_mut(&mut self) -> Vec<(&'static str, &mut [Block<T>])> {
        vec![("exp_avg", &mut self.first), ("exp_avg_sq", &mut self.second)]
    }
}

/// The constants of one step for one parameter.
#[derive(Clone, Copy)]
struct Rule<T> {
    /// Penalty inside the gradient.
    coupled: T,
    /// Share of the parameter that goes.
    decoupled: T,
    beta1: T,
    one_minus_beta1: T,
    beta2: T,
    one_minus_beta2: T,
    /// lr / (1 − β1^t).
    rate: T,
    /// √(1 − β2^t).
    root: T,
    epsilon: T,
}

impl<T: Real> Rule<T> {
    fn new(step: Step, penalty: Penalty) -> Rule<T> {
        // A running product would need state; t is exact up to 2^53. Beyond 2^31 both powers are 0.
        let t = i32::try_from(step.number).unwrap_or(i32::MAX);
        // lr · l2 is far below the spacing of f32 at 1, so w · (1 − lr · l2) would round the penalty away.
        let (coupled, decoupled) = match penalty {
            Penalty::Coupled => (step.l2, 0.0),
            Penalty::Decoupled => (0.0, step.lr * step.l2),
        };
        Rule {
            coupled: T::from_f64(coupled),
            decoupled: T::from_f64(decoupled),
            beta1: T::from_f64(BETA1),
            one_minus_beta1: T::from_f64(1.0 - BETA1),
            beta2: T::from_f64(BETA2),
            one_minus_beta2: T::from_f64(1.0 - BETA2),
            rate: T::from_f64(step.lr / (1.0 - BETA1.powi(t))),
            root: T::from_f64((1.0 - BETA2.powi(t)).sqrt()),
            epsilon: T::from_f64(EPSILON),
        }
    }

    fn apply(self, w: &mut [T], g: &[T], m: &mut [T], v: &mut [T]) {
        isa::vectorized(
            #[inline(always)]
            || {
                for (((w, &g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
                    let g = g + self.coupled * *w;
                    *m = self.beta1 * *m + self.one_minus_beta1 * g;
                    *v = self.beta2 * *v + self.one_minus_beta2 * (g * g);
                    *w -= self.decoupled * *w + self.rate * *m / (v.sqrt() / self.root + self.epsilon);
                }
            },
        );
    }
}
