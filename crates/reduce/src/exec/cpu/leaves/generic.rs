//! Any operator, by interpreting its expressions: the slow twin of the leaves by hand, and the leaf of all others.

use super::super::vector::{Arg, VectorCode};
use super::{Acc, Leaf, Tile};
use crate::dtype::Scalar;
use crate::monoids::{Params, ReduceOp, TwoPass};
use crate::scalar::{ScalarBuilder, ScalarExpr};
use crate::tree::LANES;

#[derive(Debug)]
struct Generic {
    x: Scalar,
    parts: Vec<Scalar>,
    /// (x, index) to an accumulator.
    lift: VectorCode,
    /// (accumulator, x, index) to an accumulator.
    push: VectorCode,
    /// (accumulator, accumulator) to an accumulator.
    combine: VectorCode,
    two_pass: Option<Passes>,
}

/// The pieces of a lane in two passes.
#[derive(Debug)]
struct Passes {
    /// (running, x) to running.
    first: VectorCode,
    /// (running, n) to the centre.
    centre: VectorCode,
    /// (centre, x) to the first deviation.
    start: VectorCode,
    /// (running, centre, x) to running.
    second: VectorCode,
    /// (centre, running, n) to an accumulator.
    done: VectorCode,
}

/// The leaf of any operator.
pub(super) fn leaf(op: &dyn ReduceOp, p: &Params, x: Scalar) -> Box<dyn Leaf> {
    let parts = op.parts(x, p);
    let args = |b: &mut ScalarBuilder, from: usize| -> Vec<ScalarExpr> {
        parts.iter().enumerate().map(|(i, &k)| b.arg(from + i, k)).collect()
    };
    let code = |f: &dyn Fn(&mut ScalarBuilder) -> Vec<ScalarExpr>| {
        let mut b = ScalarBuilder::new();
        let results = f(&mut b);
        VectorCode::new(b.code(), &results)
    };
    let lifted = |b: &mut ScalarBuilder, from: usize| {
        let (x, index) = (b.arg(from, x), b.arg(from + 1, Scalar::I64));
        op.lift(b, p, x, index)
    };
    Box::new(Generic {
        x,
        lift: code(&|b| lifted(b, 0)),
        push: code(&|b| {
            let l = args(b, 0);
            let r = lifted(b, parts.len());
            op.combine(b, p, &l, &r)
        }),
        combine: code(&|b| {
            let (l, r) = (args(b, 0), args(b, parts.len()));
            op.combine(b, p, &l, &r)
        }),
        two_pass: op.two_pass().map(|t| passes(t, x)),
        parts: parts.clone(),
    })
}

fn passes(t: &dyn TwoPass, x: Scalar) -> Passes {
    let code = |f: &dyn Fn(&mut ScalarBuilder, [ScalarExpr; 3]) -> Vec<ScalarExpr>| {
        let mut b = ScalarBuilder::new();
        let args = std::array::from_fn(|i| b.arg(i, x));
        let results = f(&mut b, args);
        VectorCode::new(b.code(), &results)
    };
    Passes {
        first: code(&|b, [s, x, _]| vec![t.first(b, s, x)]),
        centre: code(&|b, [s, n, _]| vec![t.centre(b, s, n)]),
        start: code(&|b, [c, x, _]| vec![t.deviation(b, c, x)]),
        second: code(&|b, [s, c, x]| {
            let d = t.deviation(b, c, x);
            vec![t.second(b, s, d)]
        }),
        done: code(&|b, [c, s, n]| t.done(b, c, s, n)),
    }
}

/// Vectors of scratch memory: code's temporaries, a second accumulator, lanes, counts and centres.
struct Room {
    temporaries: *mut u64,
    spare: Acc,
    lanes: Acc,
    /// Running value, centre, count, and a place for the next running value.
    pass: [*mut u8; 4],
}

#[expect(unsafe_code, reason = "vectors in untyped memory")]
impl Generic {
    fn codes(&self) -> impl Iterator<Item = &VectorCode> {
        let passes = self.two_pass.iter().flat_map(|p| [&p.first, &p.centre, &p.start, &p.second, &p.done]);
        [&self.lift, &self.push, &self.combine].into_iter().chain(passes)
    }

    fn temporaries(&self) -> usize {
        self.codes().map(VectorCode::scratch).max().unwrap_or(0)
    }

    /// # Safety
    /// `scratch` has the words of [`Leaf::scratch`] for `cols` columns.
    unsafe fn room(&self, scratch: *mut u64, cols: usize) -> Room {
        let capacity = cols.max(LANES);
        let acc = self.parts.len() * capacity;
        // SAFETY: the pieces add up to what `scratch` says.
        unsafe {
            let spare = scratch.add(self.temporaries());
            let lanes = spare.add(acc);
            let pass = lanes.add(acc);
            Room {
                temporaries: scratch,
                spare: Acc { data: spare, capacity },
                lanes: Acc { data: lanes, capacity },
                pass: std::array::from_fn(|i| pass.add(i * capacity).cast()),
            }
        }
    }

    /// Parts of an accumulator from element `from` on, as operands.
    unsafe fn operands(&self, acc: Acc, from: usize) -> Vec<Arg> {
        // SAFETY: the caller's.
        let part = |(p, k): (usize, &Scalar)| unsafe { acc.part(p).add(from * k.dtype().bytes()) };
        self.parts.iter().enumerate().map(|x| Arg { data: part(x), splat: false, step: 0 }).collect()
    }

    /// Runs `code` into the spare accumulator and copies the `n` results to `acc`: results never overlap operands.
    unsafe fn into(&self, code: &VectorCode, n: usize, args: &[Arg], acc: Acc, room: &Room) {
        // SAFETY: the caller's; the spare accumulator overlaps nothing.
        unsafe {
            let outs: Vec<*mut u8> = (0..self.parts.len()).map(|p| room.spare.part(p)).collect();
            code.run(n, args, &outs, room.temporaries);
            for (p, kind) in self.parts.iter().enumerate() {
                std::ptr::copy_nonoverlapping(room.spare.part(p), acc.part(p), n * kind.dtype().bytes());
            }
        }
    }

    /// Elements from `at` on of a row, as operands.
    unsafe fn elements(&self, x: &Tile, row: usize, at: usize) -> [Arg; 2] {
        // SAFETY: the caller's; without indices nothing reads them.
        unsafe {
            let data = x.data.add((row * x.stride + at) * self.x.dtype().bytes());
            let index = if x.index.is_null() { x.data } else { x.index.add(row * x.cols + at).cast() };
            [Arg { data, splat: false, step: 0 }, Arg { data: index, splat: x.index.is_null(), step: 0 }]
        }
    }

    /// Folds pieces (row, first element, length; the first is the longest) into `acc`, element by element.
    unsafe fn fold(
        &self,
        x: &Tile,
        pieces: impl Iterator<Item = (usize, usize, usize)>,
        acc: Acc,
        fresh: bool,
        room: &Room,
    ) {
        // SAFETY: the caller's.
        unsafe {
            for (i, (row, at, len)) in pieces.enumerate() {
                let element = self.elements(x, row, at);
                if i == 0 && fresh {
                    self.into(&self.lift, len, &element, acc, room);
                } else {
                    let args = [self.operands(acc, 0), element.to_vec()].concat();
                    self.into(&self.push, len, &args, acc, room);
                }
            }
        }
    }

    /// Folds pieces in two passes; a lane has as many elements as there are pieces that reach it.
    unsafe fn fold_twice(
        &self,
        passes: &Passes,
        x: &Tile,
        pieces: impl Iterator<Item = (usize, usize, usize)> + Clone,
        acc: Acc,
        room: &Room,
    ) {
        let size = self.x.dtype().bytes();
        let [sum, centre, count, next] = room.pass;
        let vector = |data: *mut u8| Arg { data, splat: false, step: 0 };
        let n = pieces.clone().next().map_or(0, |p| p.2);
        // SAFETY: the caller's; the vectors of the room are apart.
        unsafe {
            let advance = |code: &VectorCode, len: usize, args: &[Arg]| {
                code.run(len, args, &[next], room.temporaries);
                std::ptr::copy_nonoverlapping(next, sum, len * size);
            };
            for l in 0..n {
                let c = pieces.clone().filter(|p| p.2 > l).count() as f64;
                match self.x {
                    Scalar::F32 => count.cast::<f32>().add(l).write(c as f32),
                    _ => count.cast::<f64>().add(l).write(c),
                }
            }
            for (i, (row, at, len)) in pieces.clone().enumerate() {
                let element = self.elements(x, row, at)[0];
                if i == 0 {
                    std::ptr::copy_nonoverlapping(element.data, sum, len * size);
                } else {
                    advance(&passes.first, len, &[vector(sum), element]);
                }
            }
            passes.centre.run(n, &[vector(sum), vector(count)], &[centre], room.temporaries);
            for (i, (row, at, len)) in pieces.enumerate() {
                let element = self.elements(x, row, at)[0];
                if i == 0 {
                    advance(&passes.start, len, &[vector(centre), element]);
                } else {
                    advance(&passes.second, len, &[vector(sum), vector(centre), element]);
                }
            }
            self.into(&passes.done, n, &[vector(centre), vector(sum), vector(count)], acc, room);
        }
    }
}

#[expect(unsafe_code, reason = "untyped memory")]
impl Leaf for Generic {
    fn parts(&self) -> &[Scalar] {
        &self.parts
    }

    fn whole_lanes(&self) -> bool {
        self.two_pass.is_some()
    }

    fn scratch(&self, cols: usize) -> usize {
        self.temporaries() + (2 * self.parts.len() + 4) * cols.max(LANES)
    }

    unsafe fn rows(&self, x: &Tile, out: Acc, scratch: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe {
            let room = self.room(scratch, x.cols);
            for r in 0..x.rows {
                let pieces = (0..x.cols).step_by(LANES).map(|at| (r, at, LANES.min(x.cols - at)));
                match &self.two_pass {
                    Some(passes) => self.fold_twice(passes, x, pieces, room.lanes, &room),
                    None => self.fold(x, pieces, room.lanes, true, &room),
                }
                let mut live = x.cols.min(LANES);
                while live > 1 {
                    let half = live.next_power_of_two() / 2;
                    let args = [self.operands(room.lanes, 0), self.operands(room.lanes, half)].concat();
                    self.into(&self.combine, live - half, &args, room.lanes, &room);
                    live = half;
                }
                for (p, kind) in self.parts.iter().enumerate() {
                    let size = kind.dtype().bytes();
                    std::ptr::copy_nonoverlapping(room.lanes.part(p), out.part(p).add(r * size), size);
                }
            }
        }
    }

    unsafe fn columns(&self, x: &Tile, acc: Acc, fresh: bool, scratch: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe {
            let room = self.room(scratch, x.cols);
            let pieces = (0..x.rows).map(|r| (r, 0, x.cols));
            match &self.two_pass {
                Some(passes) => self.fold_twice(passes, x, pieces, acc, &room),
                None => self.fold(x, pieces, acc, fresh, &room),
            }
        }
    }

    unsafe fn combine(&self, n: usize, acc: Acc, other: Acc, scratch: *mut u64) {
        // SAFETY: the contract of the trait.
        unsafe {
            let room = self.room(scratch, acc.capacity);
            let args = [self.operands(acc, 0), self.operands(other, 0)].concat();
            self.into(&self.combine, n, &args, acc, &room);
        }
    }
}
