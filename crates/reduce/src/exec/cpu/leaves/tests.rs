//! Every leaf has the bits of the canonical tree, evaluated one element at a time.

use super::*;
use crate::dtype::Dtype;
use crate::monoids::{self, NanPolicy};
use crate::scalar::{Const, ScalarBuilder, ScalarExpr, eval};
use crate::tree::{Geometry, tree};

type Value = Vec<Const>;

/// The operator, one element at a time.
struct Twin {
    op: &'static dyn ReduceOp,
    p: Params,
    x: Scalar,
}

impl Twin {
    fn run(&self, f: impl Fn(&mut ScalarBuilder) -> Vec<ScalarExpr>, args: &[Const]) -> Value {
        let mut b = ScalarBuilder::new();
        let results = f(&mut b);
        let values = eval(b.code(), args);
        results.iter().map(|r| values[r.0 as usize]).collect()
    }

    fn lift(&self, x: Const, index: usize) -> Value {
        let f = |b: &mut ScalarBuilder| {
            let (x, i) = (b.arg(0, self.x), b.arg(1, Scalar::I64));
            self.op.lift(b, &self.p, x, i)
        };
        self.run(f, &[x, Const::from(index as i64)])
    }

    fn combine(&self, l: &Value, r: &Value) -> Value {
        let parts = self.op.parts(self.x, &self.p);
        let f = |b: &mut ScalarBuilder| {
            let l: Vec<_> = parts.iter().enumerate().map(|(i, &k)| b.arg(i, k)).collect();
            let r: Vec<_> = parts.iter().enumerate().map(|(i, &k)| b.arg(parts.len() + i, k)).collect();
            self.op.combine(b, &self.p, &l, &r)
        };
        self.run(f, &[&l[..], r].concat())
    }

    fn lane(&self, xs: &[(Const, usize)]) -> Value {
        let Some(t) = self.op.two_pass() else {
            let first = self.lift(xs[0].0, xs[0].1);
            return xs[1..].iter().fold(first, |a, &(x, i)| self.combine(&a, &self.lift(x, i)));
        };
        let two = |f: &dyn Fn(&mut ScalarBuilder, ScalarExpr, ScalarExpr) -> ScalarExpr, a, c| {
            self.run(
                |b| {
                    let (l, r) = (b.arg(0, self.x), b.arg(1, self.x));
                    vec![f(b, l, r)]
                },
                &[a, c],
            )[0]
        };
        let n = Const::from_f64(xs.len() as f64, self.x);
        let sum = xs[1..].iter().fold(xs[0].0, |s, x| two(&|b, l, r| t.first(b, l, r), s, x.0));
        let centre = two(&|b, l, r| t.centre(b, l, r), sum, n);
        let far = |x: Const| two(&|b, l, r| t.deviation(b, l, r), centre, x);
        let squares = xs[1..].iter().fold(far(xs[0].0), |s, x| two(&|b, l, r| t.second(b, l, r), s, far(x.0)));
        let f = |b: &mut ScalarBuilder| {
            let [c, s, n] = std::array::from_fn(|i| b.arg(i, self.x));
            t.done(b, c, s, n)
        };
        self.run(f, &[centre, squares, n])
    }
}

fn elements(kind: Scalar, n: usize, seed: usize) -> Vec<Const> {
    let special = [f64::NAN, f64::INFINITY, -0.0, 0.0];
    (0..n)
        .map(|i| (i * 2_654_435_761 + seed * 97) % 4_294_967_296)
        .map(|h| match kind {
            Scalar::Bool => Const::from(h >> 8 & 1 == 1),
            k if k.is_float() && seed > 0 && h % 97 < 4 => Const::from_f64(special[h % 4], k),
            k if k.is_float() => Const::from_f64((h >> 8) as f64 / 16_777_216.0 - 0.5, k),
            k => Const::from_int((h >> 8) as i128 % 251 - 125, k),
        })
        .collect()
}

fn write(words: &mut [u64], values: &[Const]) {
    let size = values.first().map_or(1, |v| v.kind().dtype().bytes());
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
    values
        .iter()
        .enumerate()
        .for_each(|(i, v)| bytes[i * size..][..size].copy_from_slice(&v.bits().to_le_bytes()[..size]));
}

fn read(words: &[u64], capacity: usize, parts: &[Scalar], i: usize) -> Value {
    let one = |(p, k): (usize, &Scalar)| {
        let size = k.dtype().bytes();
        let bytes: &[u8] = bytemuck::cast_slice(&words[p * capacity..]);
        let bits = bytes[i * size..][..size].iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
        Const::from_bits(bits, *k)
    };
    parts.iter().enumerate().map(one).collect()
}

fn same(a: &Value, b: &Value) -> bool {
    let nan = |c: &Const| c.kind().is_float() && c.to_f64().is_nan();
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || nan(a) && nan(b))
}

#[expect(unsafe_code, reason = "calls the code under test")]
fn check(leaf: &dyn Leaf, twin: &Twin, rows: usize, cols: usize, seed: usize) {
    let (stride, name) = (cols + 3, twin.op.name());
    let x = elements(twin.x, rows * stride, seed);
    let mut data = vec![0u64; rows * stride];
    write(&mut data, &x);
    let index: Vec<i64> = (0..rows * cols).map(|i| i as i64).collect();
    let tile = Tile { data: data.as_ptr().cast(), index: index.as_ptr(), stride, rows, cols };
    let capacity = rows.max(cols);
    let parts = leaf.parts().to_vec();
    let words = parts.len() * capacity;
    let (mut out, mut second) = (vec![0u64; words], vec![0u64; words]);
    let mut scratch = vec![0u64; leaf.scratch(capacity)];
    let acc = Acc { data: out.as_mut_ptr(), capacity };
    let element = |r: usize, c: usize| (x[r * stride + c], r * cols + c);
    let lane = |xs: &[(Const, usize)]| twin.lane(xs);
    let merge = |a: &Value, b: &Value| twin.combine(a, b);
    // SAFETY: the tile, the accumulators and the scratch have the sizes that the contract asks for.
    unsafe { leaf.rows(&tile, acc, scratch.as_mut_ptr()) };
    for r in 0..rows {
        let row: Vec<_> = (0..cols).map(|c| element(r, c)).collect();
        let want = tree(&row, Geometry::Strided, lane, merge).unwrap();
        let got = read(&out, capacity, &parts, r);
        assert!(same(&got, &want), "{name} row {r} of {rows}x{cols}: {got:?}, not {want:?}");
    }
    let rows_out = out.clone();
    let lane_rows = rows.min(32);
    let lanes = Tile { rows: lane_rows, ..tile };
    // SAFETY: as above.
    unsafe {
        if leaf.whole_lanes() || lane_rows < 3 {
            leaf.columns(&lanes, acc, true, scratch.as_mut_ptr());
        } else {
            leaf.columns(&Tile { rows: 2, ..lanes }, acc, true, scratch.as_mut_ptr());
            let size = twin.x.dtype().bytes();
            let (data, index) = (lanes.data.add(2 * stride * size), lanes.index.add(2 * cols));
            leaf.columns(&Tile { data, index, rows: lane_rows - 2, ..lanes }, acc, false, scratch.as_mut_ptr());
        }
    }
    let wants: Vec<Value> =
        (0..cols).map(|c| twin.lane(&(0..lane_rows).map(|r| element(r, c)).collect::<Vec<_>>())).collect();
    for (c, want) in wants.iter().enumerate() {
        let got = read(&out, capacity, &parts, c);
        assert!(same(&got, want), "{name} column {c} of {rows}x{cols}: {got:?}, not {want:?}");
    }
    second.copy_from_slice(&rows_out);
    let n = rows.min(cols);
    // SAFETY: as above.
    unsafe { leaf.combine(n, acc, Acc { data: second.as_mut_ptr(), capacity }, scratch.as_mut_ptr()) };
    for i in 0..n {
        let want = twin.combine(&wants[i], &read(&rows_out, capacity, &parts, i));
        assert!(same(&read(&out, capacity, &parts, i), &want), "{name} combine {i}");
    }
}

#[test]
fn every_leaf_has_the_bits_of_the_tree() {
    let shapes = [
        (1, 1),
        (3, 5),
        (17, 2),
        (33, 16),
        (16, 63),
        (2, 64),
        (40, 33),
        (1, 128),
        (2, 129),
        (3, 300),
        (1, 4095),
        (2, 4096),
    ];
    for &op in monoids::ALL {
        for kind in [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::I64, Scalar::U32, Scalar::U64, Scalar::Bool] {
            let params = [
                Params { k: if op.name() == "topk" { 3 } else { 0 }, ..Params::default() },
                Params { nan: NanPolicy::Ignore, last: true, k: 0, smallest: false },
            ];
            for p in params.into_iter().take(if op.name() == "topk" { 1 } else { 2 }) {
                if !op.accepts(kind.dtype()) || kind.dtype() == Dtype::Bool && op.name() == "sum" {
                    continue;
                }
                let twin = Twin { op, p, x: kind };
                for (i, &(rows, cols)) in shapes.iter().enumerate() {
                    if cols > 500 && !["sum", "moments", "argmax"].contains(&op.name()) {
                        continue;
                    }
                    for seed in [0, i] {
                        check(&*leaf(op, &p, kind), &twin, rows, cols, seed);
                        if cols < 200 {
                            check(&*generic::leaf(op, &p, kind), &twin, rows, cols, seed);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_operators_with_one_operation_are_recognised() {
    for name in ["sum", "prod", "max", "min"] {
        let op = monoids::find(name).unwrap();
        assert!(fold::is_recognised(op, Scalar::F32) && fold::is_recognised(op, Scalar::U64), "{name}");
    }
    for name in ["and", "or"] {
        assert!(fold::is_recognised(monoids::find(name).unwrap(), Scalar::Bool), "{name}");
    }
    for name in ["argmax", "moments", "online", "compensated"] {
        assert!(!fold::is_recognised(monoids::find(name).unwrap(), Scalar::F32), "{name}");
    }
}
