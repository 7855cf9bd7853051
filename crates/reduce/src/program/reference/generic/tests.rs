//! An operator from outside, and the ones inside, through their own arithmetic.

use super::super::narrow::execute;
use super::*;
use crate::monoids::{self, Empty};
use crate::program::{Axes, Program};
use crate::tensor::Tensor;

/// log Σ e^x, two at a time.
struct LogAddExp;

static LOG_ADD_EXP: LogAddExp = LogAddExp;

impl ReduceOp for LogAddExp {
    fn name(&self) -> &'static str {
        "log_add_exp"
    }
    fn summary(&self) -> &'static str {
        "the logarithm of the sum of exponentials"
    }
    fn accepts(&self, d: Dtype) -> bool {
        d.is_float()
    }
    fn identity(&self, x: Scalar, _: &Params) -> Vec<Const> {
        vec![Const::from_f64(f64::NEG_INFINITY, x)]
    }
    fn combine(&self, b: &mut ScalarBuilder, _: &Params, l: &[ScalarExpr], r: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let m = b.max(l[0], r[0]);
        let (el, er) = (monoids::exp_below(b, l[0], m), monoids::exp_below(b, r[0], m));
        let s = b.add(el, er);
        let log = b.unary(Unary::Ln, s);
        vec![b.add(m, log)]
    }
    fn empty(&self, d: Dtype, p: &Params) -> Empty {
        Empty::Values(self.identity(d.scalar(), p))
    }
}

fn values(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / 4_194_304.0 - 2.0).collect()
}

#[test]
fn an_operator_from_outside_is_evaluated_and_bounded() {
    for (shape, axes) in [(&[5000][..], &[0i64][..]), (&[40, 3, 30], &[0, 2]), (&[7, 1], &[1])] {
        let mut p = Program::new("t");
        let v = p.input("x", Dtype::F32, shape).unwrap();
        let y = p.reduce(&LOG_ADD_EXP, Params::default(), v, &Axes::These(axes.to_vec()), false).unwrap()[0];
        p.output("y", y).unwrap();
        let x = Tensor::from_slice(Dtype::F32, shape, &values(shape.iter().product())).unwrap();
        let bounded = p.reference_bounded(&[x.view()]).unwrap().remove(0);
        let all: f64 = values(5000).iter().map(|v| f64::from(*v).exp()).sum();
        assert!(shape.len() > 1 || (bounded.element(0).float - all.ln()).abs() < 1e-12);
        assert!(bounded.errors.iter().all(|e| *e < 1e-4 && (*e > 0.0 || axes == [1])), "{:?}", bounded.errors);
        let mut got = execute(&p, &[x.view()]);
        assert!(p.compare(&[x.view()], &got).unwrap()[0].ok);
        got[0].as_mut_slice::<f32>()[0] += 1e-3;
        assert!(!p.compare(&[x.view()], &got).unwrap()[0].ok);
    }
}

#[test]
fn known_operators_come_out_the_same() {
    let x: Vec<Element> = values(3000).iter().map(|&v| Element::of_float(f64::from(v), 0.0)).collect();
    let p = Params { k: 3, ..Params::default() };
    for op in monoids::ALL.iter().filter(|op| op.accepts(Dtype::F32)) {
        let mut program = Program::new("t");
        let v = program.input("x", Dtype::F32, &[3000]).unwrap();
        let params = if op.name() == "topk" { p } else { Params::default() };
        let made = program.reduce(*op, params, v, &Axes::All, false).unwrap();
        made.iter().enumerate().for_each(|(i, v)| program.output(&i.to_string(), *v).unwrap());
        let x_tensor = Tensor::from_slice(Dtype::F32, &[3000], &values(3000)).unwrap();
        let known = program.reference_bounded(&[x_tensor.view()]).unwrap();
        let known: Vec<Element> = known.iter().flat_map(|b| (0..b.len()).map(|i| b.element(i))).collect();
        let own = folded(*op, &params, &x, Dtype::F32, depth(3000));
        assert_eq!(known.len(), own.len());
        for (a, b) in known.iter().zip(&own) {
            assert!(
                (a.float - b.float).abs() <= 1e-9 * (1.0 + a.float.abs()) || a.int != 0 && a.int == b.int,
                "{op:?} {a:?} {b:?}"
            );
            assert!(b.error >= 0.0 && !b.error.is_nan());
        }
    }
}
