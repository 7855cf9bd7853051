//! Z = max(A, B), element by element; NaN where one is NaN. The gradient goes to the larger one, of equal ones to the first:
//! a chain of these goes to the earliest of the largest.

use super::{Backward, Cx, Layer, Needs, wrong};
use crate::Result;
use crate::cost::{Cost, Size};
use crate::rows;
use sapwood_sparse::{Block, Real};

const KIND: &str = "maximum";

/// The larger of two inputs in each element. Backward compares the inputs again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Maximum;

/// Whether the second input has it: it is larger, or the only NaN.
#[expect(clippy::eq_op, reason = "NaN alone differs from itself")]
#[inline(always)]
fn second<T: Real>(a: T, b: T) -> bool {
    let not_larger = b <= a;
    let number = a == a;
    !not_larger & number
}

fn two<'a, T: Real>(inputs: &[&'a Block<T>]) -> Result<(&'a [T], &'a [T])> {
    match inputs {
        [a, b] => Ok((a.as_slice(), b.as_slice())),
        _ => Err(wrong(KIND, format!("needs two inputs, got {}", inputs.len()))),
    }
}

impl<T: Real> Layer<T> for Maximum {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn width(&self, inputs: &[usize]) -> Result<usize> {
        match inputs {
            [a, b] if a == b => Ok(*a),
            _ => Err(wrong(KIND, format!("needs two inputs of one width, got widths {inputs:?}"))),
        }
    }

    fn needs(&self) -> Needs {
        Needs { input: true, output: false }
    }

    /// Forward reads two blocks and writes one. Backward reads them and G again for each gradient that is wanted.
    fn cost(&self, size: &Size<'_>) -> Cost {
        let width = size.input();
        let wanted = (0..2).filter(|&number| size.wanted(number));
        let backward = wanted.map(|number| size.pass(width, 4.0 + size.read_first(number), 0.0));
        Cost::new([size.pass(width, 3.0, 0.0)], backward)
    }

    fn forward(&self, inputs: &[&Block<T>], out: &mut Block<T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let (a, b) = two(inputs)?;
        rows::for_tiles(cx.exec, out, false, |tile| {
            let range = tile.first..tile.first + tile.values.len();
            rows::zip3(tile.values, &a[range.clone()], &b[range], |z, &a, &b| *z = if second(a, b) { b } else { a });
            Ok(())
        })
    }

    fn backward(&self, step: Backward<'_, T>, cx: &mut Cx<'_, T>) -> Result<()> {
        let ((a, b), grad) = (two(step.inputs)?, step.grad.as_slice());
        for (number, target) in step.into.iter_mut().enumerate() {
            let Some((dx, how)) = target else { continue };
            let (how, wanted) = (*how, number == 1);
            rows::for_tiles(cx.exec, dx, false, |tile| {
                let range = tile.first..tile.first + tile.values.len();
                let (a, b, grad) = (&a[range.clone()], &b[range.clone()], &grad[range]);
                rows::zip4(tile.values, a, b, grad, |x, &a, &b, &g| {
                    how.write(if second(a, b) == wanted { g } else { T::ZERO }, x)
                });
                Ok(())
            })?;
        }
        Ok(())
    }
}
