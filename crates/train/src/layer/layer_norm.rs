//! y = γ·x̂ + β (Ba, Kiros & Hinton 2016), where x̂ = (x − m)/√(v + ε) with mean m and biased variance v of a node's own
//! columns. With H = γ ∘ G: dx = (H − mean H − x̂·mean(H ∘ x̂))/√(v + ε), dγ = Σ G ∘ x̂, dβ = Σ G over the nodes.

use super::{Backward, Cx, Layer, Needs, only, only_width, wrong};
use crate::Result;
use crate::cost::{Cost, SUM, Size};
use crate::parameter::{Parameter, Role};
use crate::rows;
use sapwood_skeleton::isa;
use sapwood_sparse::{Block, Real};

/// Added to a variance before its root is taken.
const EPSILON: f64 = 1e-5;
const KIND: &str = "layer norm";
/// Partial sums of a row: column c goes to number c mod 8.
const LANES: usize = 8;

/// Layer norm over the columns of each node, with gain and shift.
#[derive(Debug)]
pub struct LayerNorm<T: Real> {
    parameters: [Parameter<T>; 2],
}

impl<T: Real> LayerNorm<T> {
    /// The layer called `name` for `width` columns. Its parameters are `weight` and `bias`.
    pub fn new(name: &str, width: usize) -> LayerNorm<T> {
        let row = |last: &str, role| Parameter::new(format!("{name}.{last}"), role, 1, width);
        LayerNorm { parameters: [row("weight", Role::Gain), row("bias", Role::Shift)] }
    }
}

/// Σ_c f(c) in a fixed order that vector code can follow.
#[inline(always)]
fn sum(width: usize, f: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let whole = width / LANES * LANES;
    for from in (0..whole).step_by(LANES) {
        lanes.iter_mut().enumerate().for_each(|(lane, s)| *s += f(from + lane));
    }
    (whole..width).for_each(|c| lanes[c - whole] += f(c));
    let half = |i: usize| (lanes[i] + lanes[i + 4]) + (lanes[i + 2] + lanes[i + 6]);
    half(0) + half(1)
}

/// Mean of a row and 1/√(v + ε).
#[inline(always)]
fn statistics<T: Real>(x: &[T]) -> (f64, f64) {
    let share = 1.0 / x.len().max(1) as f64;
    let mean = sum(x.len(), |c| x[c].to_f64()) * share;
    let squares = sum(x.len(), |c| {
        let d = x[c].to_f64() - mean;
        d * d
    });
    (mean, 1.0 / (squares * share + EPSILON).sqrt())
}

impl<T: Real> Layer<T> for LayerNorm<T> {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        let (width, own) = (only_width(KIND, inputs)?, self.parameters[0].shape.1);
        if width == own { Ok(own) } else { Err(wrong(KIND, format!("is for {own} columns, the input has {width}"))) }
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    /// Forward: one pass. Backward: one for the gradients of gain and shift, one for dx; each finds mean and variance of its
    /// rows again.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let width = size.input();
        // Two sums find mean and variance; then the numbers are centred and scaled.
        let statistics = 2.0 * SUM;
        let sums = size.pass(width, 2.0, statistics + 3.0 * SUM);
        let dx = size.pass(width, 3.0 + size.read_first(0), statistics + 5.0 * SUM);
        let backward = std::iter::once(sums).chain(size.wanted(0).then_some(dx));
        Cost::new([size.pass(width, 2.0, statistics + 2.0 * SUM)], backward)
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let x = only(KIND, inputs)?;
        let (values, width) = (x.as_slice(), x.cols().max(1));
        let [gain, shift] = self.parameters.each_ref().map(|p| p.value.as_slice());
        rows::for_tiles(cx.exec, out, false, |tile| {
            let x = &values[tile.first..tile.first + tile.values.len()];
            isa::vectorized(
                #[inline(always)]
                || {
                    for (out, x) in tile.values.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
                        let (mean, inverse) = statistics(x);
                        for (((o, x), gain), shift) in out.iter_mut().zip(x).zip(gain).zip(shift) {
                            let unit = (x.to_f64() - mean) * inverse;
                            *o = T::from_f64(gain.to_f64().mul_add(unit, shift.to_f64()));
                        }
                    }
                },
            );
            Ok(())
        })
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let x = only(KIND, step.inputs)?;
        let (values, grads, width) = (x.as_slice(), step.grad.as_slice(), x.cols());
        let gain = self.parameters[0].value.as_slice();
        let sums = rows::sums(cx.exec, x.rows(), 2 * width, cx.partials, |range, sums| {
            let range = range.start * width..range.end * width;
            let (shift, gain) = sums.split_at_mut(width);
            isa::vectorized(
                #[inline(always)]
                || {
                    let width = width.max(1);
                    for (x, g) in values[range.clone()].chunks_exact(width).zip(grads[range].chunks_exact(width)) {
                        let (mean, inverse) = statistics(x);
                        for (((s, p), x), g) in shift.iter_mut().zip(&mut *gain).zip(x).zip(g) {
                            *s += g.to_f64();
                            *p = g.to_f64().mul_add((x.to_f64() - mean) * inverse, *p);
                        }
                    }
                },
            );
        })?;
        if let [gain, shift] = step.weights {
            let set = |row: &mut Block<T>, sums: &[f64]| {
                row.as_mut_slice().iter_mut().zip(sums).for_each(|(w, &s)| *w = T::from_f64(s));
            };
            set(shift, &sums[..width]);
            set(gain, &sums[width..]);
        }
        let [Some((dx, how))] = step.into else { return Ok(()) };
        let (how, share) = (*how, 1.0 / width.max(1) as f64);
        rows::for_tiles(cx.exec, dx, false, |tile| {
            let range = tile.first..tile.first + tile.values.len();
            let width = width.max(1);
            let sources = values[range.clone()].chunks_exact(width).zip(grads[range].chunks_exact(width));
            isa::vectorized(
                #[inline(always)]
                || {
                    for (out, (x, g)) in tile.values.chunks_exact_mut(width).zip(sources) {
                        let (mean, inverse) = statistics(x);
                        let unit = |c: usize| (x[c].to_f64() - mean) * inverse;
                        let h = |c: usize| gain[c].to_f64() * g[c].to_f64();
                        let level = sum(width, h) * share;
                        let pull = sum(width, |c| h(c) * unit(c)) * share;
                        for (c, o) in out.iter_mut().enumerate() {
                            how.write(T::from_f64((h(c) - level - unit(c) * pull) * inverse), o);
                        }
                    }
                },
            );
            Ok(())
        })
    }

    fn parameters(&self) -> &[Parameter<T>] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<T>] {
        &mut self.parameters
    }
}
