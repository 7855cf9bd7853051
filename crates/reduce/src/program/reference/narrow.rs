//! Programs executed one element at a time in their own types, on the canonical tree of each whole group: what the bounds
//! of the reference are tested with.

use crate::dtype::Dtype;
use crate::monoids::{Empty, Params, ReduceOp, TwoPass};
use crate::program::{Node, Op, Program, ValueId};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr, eval};
use crate::tensor::{Tensor, TensorView, c_strides, element, set_element};
use crate::tree::{Geometry, tree};

/// A function of registers, as code.
fn run(args: &[Const], f: impl Fn(&mut ScalarBuilder, &[ScalarExpr]) -> Vec<ScalarExpr>) -> Vec<Const> {
    let mut b = ScalarBuilder::new();
    let operands: Vec<_> = args.iter().enumerate().map(|(i, a)| b.arg(i, a.kind())).collect();
    let out = f(&mut b, &operands);
    let values = eval(b.code(), args);
    out.iter().map(|e| values[e.0 as usize]).collect()
}

/// One register as an element of type `dtype` holds it.
fn rounded(args: &[Const], dtype: Dtype, f: impl Fn(&mut ScalarBuilder, &[ScalarExpr]) -> ScalarExpr) -> Const {
    run(args, |b, e| {
        let z = f(b, e);
        vec![b.narrow(z, dtype)]
    })[0]
}

fn loaded(view: &TensorView<'_>) -> Vec<Const> {
    let mut values = Vec::new();
    let (dtype, kind) = (view.dtype(), view.dtype().scalar());
    view.for_each_place(|place| {
        let (float, int) = element(dtype, view.bytes(), place);
        values.push(if dtype.is_float() { Const::from_f64(float, kind) } else { Const::from_int(int, kind) });
    });
    values
}

/// The outputs of `p`.
pub(crate) fn execute(p: &Program, inputs: &[TensorView<'_>]) -> Vec<Tensor> {
    let mut values: Vec<Vec<Const>> = vec![Vec::new(); p.values()];
    for node in p.nodes() {
        if let Op::Reduce { op, params, axes } = &node.op {
            for (v, made) in node.outputs.iter().zip(reduced(p, node, *op, params, axes, &values)) {
                values[v.0 as usize] = made;
            }
        } else {
            values[node.outputs[0].0 as usize] = plain(p, node, inputs, &values);
        }
    }
    p.outputs().iter().map(|(_, v)| stored(p, *v, &values[v.0 as usize])).collect()
}

fn stored(p: &Program, v: ValueId, values: &[Const]) -> Tensor {
    let mut tensor = Tensor::zeros(p.dtype(v), p.shape(v)).unwrap();
    for (i, value) in values.iter().enumerate() {
        set_element(p.dtype(v), tensor.bytes_mut(), i, value.to_f64(), value.to_int());
    }
    tensor
}

fn plain(p: &Program, node: &Node, inputs: &[TensorView<'_>], values: &[Vec<Const>]) -> Vec<Const> {
    let out = node.outputs[0];
    let (dtype, shape) = (p.dtype(out), p.shape(out));
    let steps = c_strides(shape);
    let count: usize = shape.iter().product();
    let along = |i: usize, a: usize| i / steps[a] % shape[a];
    let x = |k: usize| &values[node.inputs[k].0 as usize];
    let own = || c_strides(p.shape(node.inputs[0]));
    let pick = |place: &dyn Fn(usize) -> usize| (0..count).map(|i| x(0)[place(i)]).collect();
    match &node.op {
        Op::Input { .. } => loaded(&inputs[p.inputs().iter().position(|v| *v == out).unwrap()]),
        Op::Constant(tensor) => loaded(&tensor.view()),
        Op::Map(op) => {
            let args = |i: usize| (0..node.inputs.len()).map(|k| x(k)[i]).collect::<Vec<_>>();
            (0..count).map(|i| rounded(&args(i), dtype, op.expr)).collect()
        }
        Op::Cast => (0..count).map(|i| rounded(&[x(0)[i]], dtype, |_, e| e[0])).collect(),
        Op::Broadcast => {
            let from = p.shape(node.inputs[0]);
            pick(&|i| (0..shape.len()).map(|a| if from[a] == 1 { 0 } else { along(i, a) * own()[a] }).sum())
        }
        Op::Transpose { perm } => pick(&|i| (0..shape.len()).map(|a| along(i, a) * own()[perm[a]]).sum()),
        Op::Slice { starts, steps } => {
            pick(&|i| (0..shape.len()).map(|a| (starts[a] + along(i, a) * steps[a]) * own()[a]).sum())
        }
        Op::Iota { axis } => {
            let index = |i| rounded(&[Const::from(along(i, *axis) as i64)], dtype, |_, e| e[0]);
            (0..count).map(index).collect()
        }
        Op::GatherLabel { axis } => {
            let (extent, inner) = (p.shape(node.inputs[0])[*axis], own()[*axis]);
            pick(&|i| (i / inner * extent + x(1)[i].to_int() as usize) * inner + i % inner)
        }
        _ => x(0).clone(),
    }
}

/// The results of each output of a reduction.
fn reduced(
    p: &Program,
    node: &Node,
    op: &dyn ReduceOp,
    params: &Params,
    axes: &[usize],
    values: &[Vec<Const>],
) -> Vec<Vec<Const>> {
    let (x, shape) = (&values[node.inputs[0].0 as usize], p.shape(node.inputs[0]));
    let strides = c_strides(shape);
    let places = |mine: bool| {
        let mut places = vec![0];
        for a in (0..shape.len()).filter(|a| axes.contains(a) == mine) {
            places = places
                .iter()
                .flat_map(|p| (0..shape[a]).map(move |i| (p, i)))
                .map(|(p, i)| p + i * strides[a])
                .collect();
        }
        places
    };
    let groups: Vec<Vec<Const>> = places(false)
        .iter()
        .map(|g| {
            let elements: Vec<Const> = places(true).iter().map(|m| x[g + m]).collect();
            group(p.dtype(node.inputs[0]), op, params, &elements)
        })
        .collect();
    let k = params.k.max(1);
    let inner: usize = if params.k > 0 { shape[axes[0] + 1..].iter().product() } else { 1 };
    let port = |(port, v): (usize, &ValueId)| {
        let count: usize = p.shape(*v).iter().product();
        let at = |i: usize| groups[i / inner / k * inner + i % inner][port * k + i / inner % k];
        (0..count).map(|i| rounded(&[at(i)], p.dtype(*v), |_, e| e[0])).collect()
    };
    node.outputs.iter().enumerate().map(port).collect()
}

fn group(dtype: Dtype, op: &dyn ReduceOp, params: &Params, x: &[Const]) -> Vec<Const> {
    let indexed: Vec<(Const, Const)> = x.iter().enumerate().map(|(i, x)| (*x, Const::from(i as i64))).collect();
    let combine = |l: &Vec<Const>, r: &Vec<Const>| {
        run(&[&l[..], r].concat(), |b, e| op.combine(b, params, &e[..l.len()], &e[l.len()..]))
    };
    let lift = |(x, i): &(Const, Const)| run(&[*x, *i], |b, e| op.lift(b, params, e[0], e[1]));
    let lane = |lane: &[(Const, Const)]| match op.two_pass() {
        Some(two) => two_pass(two, lane),
        None => lane[1..].iter().fold(lift(&lane[0]), |a, e| combine(&a, &lift(e))),
    };
    let Some(all) = tree(&indexed, Geometry::Strided, lane, combine) else {
        let Empty::Values(values) = op.empty(dtype, params) else { panic!("{} of nothing", op.name()) };
        let (low, high) = dtype.int_range();
        let fits = |v: &Const| if dtype.is_int() { Const::from_int(v.to_int().clamp(low, high), v.kind()) } else { *v };
        return values.iter().map(fits).collect();
    };
    let n = Const::from_f64(x.len() as f64, all[0].kind());
    run(&[&all[..], &[n]].concat(), |b, e| op.finish(b, params, &e[..all.len()], e[all.len()]))
}

fn two_pass(two: &dyn TwoPass, lane: &[(Const, Const)]) -> Vec<Const> {
    let x: Vec<Const> = lane.iter().map(|(x, _)| *x).collect();
    let n = Const::from_f64(x.len() as f64, x[0].kind());
    run(&[&x[..], &[n]].concat(), |b, e| {
        let (x, n) = (&e[..x.len()], e[x.len()]);
        let s = x[1..].iter().fold(x[0], |s, x| two.first(b, s, *x));
        let centre = two.centre(b, s, n);
        let first = two.deviation(b, centre, x[0]);
        let s = x[1..].iter().fold(first, |s, x| {
            let d = two.deviation(b, centre, *x);
            two.second(b, s, d)
        });
        two.done(b, centre, s, n)
    })
}
