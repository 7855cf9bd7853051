//! Programs made of dice, for tests: every kind of primitive, small and awkward shapes.

use super::{Axes, Program, ValueId};
use crate::dtype::Dtype;
use crate::elementwise::{self, Takes};
use crate::monoids::{self, Params};
use crate::tensor::Tensor;

/// Numbers below a bound, one after the other, from bytes that a test draws; they go round.
pub(crate) struct Dice<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Dice<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Dice<'a> {
        Dice { bytes, at: 0 }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at % self.bytes.len().max(1)).copied().unwrap_or(0);
        self.at += 1;
        (usize::from(byte) + self.at / self.bytes.len().max(1)) % n.max(1)
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A program of about `ops` operations, whose last values are its outputs.
pub(crate) fn program(dice: &mut Dice<'_>, ops: usize, types: &[Dtype]) -> Program {
    let mut p = Program::new("random");
    let mut shape: Vec<usize> = (0..dice.below(5)).map(|_| dice.pick(&[1, 2, 3, 7, 0, 5])).collect();
    match dice.below(6) {
        0 | 1 => shape = vec![dice.pick(&[1, 2, 3]), dice.pick(&[31, 32, 33, 127, 128, 129])],
        2 => shape = vec![dice.pick(&[1, 2, 3]), dice.pick(&[1023, 1025, 4095, 4096, 4097]), dice.pick(&[1, 2])],
        _ => {}
    }
    for name in ["x", "y"] {
        let dtype = dice.pick(types);
        let strides: Vec<usize> =
            shape.iter().rev().scan(1, |s, &e| Some(std::mem::replace(s, *s * e.max(1)))).collect();
        if dice.below(2) == 0 {
            p.input(name, dtype, &shape).unwrap();
        } else {
            let strides: Vec<usize> = strides.iter().rev().map(|s| s * 2).collect();
            p.input_strided(name, dtype, &shape, &strides).unwrap();
        }
    }
    for _ in 0..ops {
        let v = ValueId(dice.below(p.values()) as u32);
        grow(&mut p, dice, v);
    }
    let last = p.values() as u32 - 1;
    p.output("last", ValueId(last)).unwrap();
    p.output("x", ValueId(dice.below(p.values()) as u32)).unwrap();
    p
}

/// Adds one operation on `v`; dice that do not fit add nothing.
fn grow(p: &mut Program, dice: &mut Dice<'_>, v: ValueId) {
    let (dtype, shape) = (p.dtype(v), p.shape(v).to_vec());
    let rank = shape.len();
    match dice.below(12) {
        0 => {
            let number = dice.pick(&[0.0, -0.0, 1.0, 0.1, -2.5e-9, f64::INFINITY, 300.0, 1e300]);
            p.number(number, dice.pick(&Dtype::ALL)).unwrap();
        }
        1 => {
            p.cast(v, dice.pick(&Dtype::ALL)).unwrap();
        }
        2 if rank > 0 => {
            let mut perm: Vec<usize> = (0..rank).collect();
            perm.rotate_left(dice.below(rank));
            p.transpose(v, &perm).unwrap();
        }
        3 if rank > 0 => {
            let starts: Vec<usize> = shape.iter().map(|&e| dice.below(e.min(2) + 1)).collect();
            let steps: Vec<usize> = shape.iter().map(|_| 1 + dice.below(2)).collect();
            p.slice(v, &starts, &shape, &steps).unwrap();
        }
        4 => {
            p.reshape(v, &[&shape[..], &[1]].concat()).unwrap();
            p.reshape(v, &[shape.iter().product()]).unwrap();
        }
        5 if rank < 5 => {
            p.broadcast(v, &[&[dice.pick(&[1, 2, 3])], &shape[..]].concat()).unwrap();
        }
        6 if rank > 0 => {
            p.iota(dice.pick(&Dtype::ALL[..12]), &shape, dice.below(rank) as i64).unwrap();
        }
        7 => {
            p.constant(Tensor::zeros(dtype, &shape).unwrap()).unwrap();
        }
        8 | 9 => reduce(p, dice, v),
        _ => map(p, dice, v),
    }
}

fn map(p: &mut Program, dice: &mut Dice<'_>, v: ValueId) {
    let fits =
        |op: &&elementwise::Elementwise| op.takes != Takes::Where && op.result(&vec![p.dtype(v); op.arity]).is_ok();
    let ops: Vec<_> = elementwise::ALL.iter().flat_map(|family| family.iter()).filter(fits).collect();
    let op = dice.pick(&ops);
    let others: Vec<ValueId> = (0..p.values() as u32)
        .map(ValueId)
        .filter(|&w| p.dtype(w) == p.dtype(v) && (p.shape(w) == p.shape(v) || p.shape(w).is_empty()))
        .collect();
    let operands: Vec<ValueId> = [v].into_iter().chain((1..op.arity).map(|_| dice.pick(&others))).collect();
    p.map(op, &operands).unwrap();
}

fn reduce(p: &mut Program, dice: &mut Dice<'_>, v: ValueId) {
    let ops: Vec<_> = monoids::ALL.iter().filter(|op| op.accepts(p.dtype(v))).collect();
    let op = *dice.pick(&ops);
    let rank = p.shape(v).len();
    let mut axes: Vec<i64> = (0..rank as i64).filter(|_| dice.below(2) == 0).collect();
    let mut params = Params { last: op.name().starts_with("arg") && dice.below(2) == 0, ..Params::default() };
    if op.name() == "topk" {
        axes = vec![dice.below(rank) as i64];
        params.k = 1 + dice.below(3);
        params.smallest = dice.below(2) == 0;
    }
    // An empty axis, or one that is shorter than k, is refused.
    let _ = p.reduce(op, params, v, &Axes::These(axes), dice.below(2) == 0);
}
