//! Scalar code over vectors: each instruction is one loop over a block of elements, compiled for the best instruction set.
//!
//! [`VectorCode`] is made from the instructions of a [`ScalarBuilder`](crate::scalar::ScalarBuilder); temporaries live in
//! blocks of [`BLOCK`] elements, so that they stay in the nearest cache. Every loop has the bits of [`crate::scalar::eval`].

use super::typed::{self, In};
use crate::dtype::Scalar;
use crate::scalar::{Compare, Const, Instr, ScalarExpr};

/// Elements of a temporary.
pub(super) const BLOCK: usize = 1024;

/// Where an operand or a result lies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Arg(u32),
    Const(Const),
    Temp(u32),
    Out(u32),
}

#[derive(Debug, Clone, Copy)]
struct Step {
    instr: Instr,
    /// A comparison whose only reader is this selection, and its operands: made in the same loop.
    test: Option<(Compare, [Place; 2])>,
    kind: Scalar,
    operands: [Place; 3],
    /// Type of the first operand (conversions and comparisons).
    from: Scalar,
    to: Place,
}

/// Compiled scalar code: operands and results are vectors of one length.
#[derive(Debug, Clone, Default)]
pub(super) struct VectorCode {
    steps: Vec<Step>,
    /// Results that are operands or constants: copied.
    copies: Vec<(Place, Scalar, u32)>,
    temps: usize,
}

/// An operand: a vector, or one value for all elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arg {
    pub(super) data: *const u8,
    pub(super) splat: bool,
    /// Bytes to the next row, for code that is run row by row.
    pub(super) step: usize,
}

impl VectorCode {
    /// Code for the values `results`, in that order; instructions they do not need are left out.
    pub(super) fn new(code: &[(Instr, Scalar)], results: &[ScalarExpr]) -> VectorCode {
        let needed = needed(code, results);
        let mut last_use: Vec<usize> = vec![0; code.len()];
        for (i, (instr, _)) in code.iter().enumerate().filter(|(i, _)| needed[*i]) {
            instr.operands().for_each(|o| last_use[o.0 as usize] = i);
        }
        // The operands of a test live until the selection that makes it.
        let tests = tests(code, &needed, results);
        for (test, _) in tests.iter().enumerate().filter(|t| *t.1) {
            let reader = last_use[test];
            code[test].0.operands().for_each(|o| last_use[o.0 as usize] = last_use[o.0 as usize].max(reader));
        }
        let mut place: Vec<Option<Place>> = vec![None; code.len()];
        let mut out = VectorCode::default();
        let mut free: Vec<u32> = Vec::new();
        for (i, &(instr, kind)) in code.iter().enumerate().filter(|(i, _)| needed[*i]) {
            place[i] = Some(match instr {
                Instr::Arg(a) => Place::Arg(a),
                Instr::Const(c) => Place::Const(c),
                _ if tests[i] => continue,
                _ => {
                    let at = |e: ScalarExpr| place[e.0 as usize].unwrap_or(Place::Arg(0));
                    let mut operands = [Place::Arg(0); 3];
                    instr.operands().enumerate().for_each(|(n, e)| operands[n] = at(e));
                    let test = match instr {
                        Instr::Select(c, ..) if tests[c.0 as usize] => match code[c.0 as usize].0 {
                            Instr::Compare(op, a, b) => Some((op, [at(a), at(b)])),
                            _ => None,
                        },
                        _ => None,
                    };
                    let from = instr.operands().last().map_or(kind, |e| code[e.0 as usize].1);
                    let result = results.iter().position(|r| r.0 as usize == i);
                    let to = match result {
                        Some(r) => Place::Out(r as u32),
                        None => Place::Temp(free.pop().unwrap_or_else(|| {
                            out.temps += 1;
                            out.temps as u32 - 1
                        })),
                    };
                    out.steps.push(Step { instr, test, kind, operands, from, to });
                    // A temporary is free again only after the step that read it last: results never overwrite operands.
                    let tested = match instr {
                        Instr::Select(c, ..) if tests[c.0 as usize] => Some(code[c.0 as usize].0),
                        _ => None,
                    };
                    for e in instr.operands().chain(tested.iter().flat_map(Instr::operands)) {
                        if last_use[e.0 as usize] == i
                            && let Some(Place::Temp(t)) = place[e.0 as usize]
                            && !free.contains(&t)
                        {
                            free.push(t);
                        }
                    }
                    to
                }
            });
        }
        for (r, e) in results.iter().enumerate() {
            let from = place[e.0 as usize].unwrap_or(Place::Arg(0));
            if from != Place::Out(r as u32) {
                out.copies.push((from, code[e.0 as usize].1, r as u32));
            }
        }
        out
    }

    /// Words of scratch memory that [`VectorCode::run`] wants.
    pub(super) fn scratch(&self) -> usize {
        self.temps * BLOCK
    }

    /// Runs the code on `n` elements.
    ///
    /// # Safety
    /// Every operand has `n` elements (one if it is splat) of the type of its `Arg` instruction, every result room for `n`;
    /// `scratch` has [`VectorCode::scratch`] words; results overlap neither operands nor each other nor the scratch.
    #[expect(unsafe_code, reason = "vectors of several types in untyped memory")]
    pub(super) unsafe fn run(&self, n: usize, args: &[Arg], outs: &[*mut u8], scratch: *mut u64) {
        let mut start = 0;
        while start < n {
            let len = BLOCK.min(n - start);
            for step in &self.steps {
                let memory = Memory { args, outs, scratch, start };
                // SAFETY: the caller's contract; `start + len` is at most n.
                unsafe { step.run(len, &memory) };
            }
            for &(from, kind, to) in &self.copies {
                let memory = Memory { args, outs, scratch, start };
                // SAFETY: as above.
                unsafe { typed::copy(kind, len, memory.read(from, kind), memory.write(Place::Out(to), kind)) };
            }
            start += len;
        }
    }
}

/// Comparisons of floats whose only reader is a selection between values of their type.
fn tests(code: &[(Instr, Scalar)], needed: &[bool], results: &[ScalarExpr]) -> Vec<bool> {
    let mut readers = vec![0; code.len()];
    let mut tests = vec![false; code.len()];
    results.iter().for_each(|r| readers[r.0 as usize] += 1);
    for (_, (instr, kind)) in code.iter().enumerate().filter(|(i, _)| needed[*i]) {
        instr.operands().for_each(|o| readers[o.0 as usize] += 1);
        if let Instr::Select(c, ..) = instr
            && let Instr::Compare(_, a, _) = code[c.0 as usize].0
        {
            tests[c.0 as usize] = kind.is_float() && code[a.0 as usize].1 == *kind;
        }
    }
    tests.iter().zip(readers).map(|(&test, readers)| test && readers == 1).collect()
}

/// Which instructions the results need.
fn needed(code: &[(Instr, Scalar)], results: &[ScalarExpr]) -> Vec<bool> {
    let mut needed = vec![false; code.len()];
    results.iter().for_each(|r| needed[r.0 as usize] = true);
    for i in (0..code.len()).rev() {
        if needed[i] {
            code[i].0.operands().for_each(|o| needed[o.0 as usize] = true);
        }
    }
    needed
}

/// Operands, results and temporaries of one block.
struct Memory<'a> {
    args: &'a [Arg],
    outs: &'a [*mut u8],
    scratch: *mut u64,
    start: usize,
}

impl Memory<'_> {
    /// # Safety
    /// The contract of [`VectorCode::run`].
    #[expect(unsafe_code, reason = "places in untyped memory")]
    unsafe fn read(&self, place: Place, kind: Scalar) -> In {
        let size = kind.dtype().bytes();
        // SAFETY: the block begins inside each vector; a temporary has BLOCK words.
        unsafe {
            match place {
                Place::Const(c) => In::Splat(c),
                Place::Arg(a) => {
                    let arg = self.args[a as usize];
                    if arg.splat {
                        In::Splat(typed::load(kind, arg.data))
                    } else {
                        In::Vector(arg.data.add(self.start * size))
                    }
                }
                Place::Temp(t) => In::Vector(self.scratch.add(t as usize * BLOCK).cast_const().cast()),
                Place::Out(r) => In::Vector(self.outs[r as usize].add(self.start * size).cast_const()),
            }
        }
    }

    /// # Safety
    /// The contract of [`VectorCode::run`].
    #[expect(unsafe_code, reason = "places in untyped memory")]
    unsafe fn write(&self, place: Place, kind: Scalar) -> *mut u8 {
        // SAFETY: as `read`.
        unsafe {
            match place {
                Place::Temp(t) => self.scratch.add(t as usize * BLOCK).cast(),
                Place::Out(r) => self.outs[r as usize].add(self.start * kind.dtype().bytes()),
                Place::Arg(_) | Place::Const(_) => std::ptr::null_mut(),
            }
        }
    }
}

impl Step {
    /// # Safety
    /// The contract of [`VectorCode::run`].
    #[expect(unsafe_code, reason = "vectors in untyped memory")]
    unsafe fn run(&self, n: usize, memory: &Memory<'_>) {
        // SAFETY: places are made by `VectorCode::new`: a step never writes where it reads, and types are the instructions'.
        unsafe {
            let at = |i: usize, kind: Scalar| memory.read(self.operands[i], kind);
            let out = memory.write(self.to, self.kind);
            match self.instr {
                Instr::Unary(op, _) => typed::unary(op, self.kind, n, at(0, self.kind), out),
                Instr::Binary(op, _, _) => typed::binary(op, self.kind, n, [at(0, self.kind), at(1, self.kind)], out),
                Instr::Compare(op, _, _) => typed::compare(op, self.from, n, [at(0, self.from), at(1, self.from)], out),
                Instr::Select(..) if self.test.is_some() => {
                    let Some((op, [a, b])) = self.test else { return };
                    let test = [memory.read(a, self.kind), memory.read(b, self.kind)];
                    typed::choose(op, self.kind, n, test, [at(1, self.kind), at(2, self.kind)], out);
                }
                Instr::Select(..) => {
                    let (yes, no) = (at(1, self.kind), at(2, self.kind));
                    typed::select(self.kind, n, at(0, Scalar::Bool), [yes, no], out);
                }
                Instr::Fma(..) => {
                    typed::fma(self.kind, n, [at(0, self.kind), at(1, self.kind), at(2, self.kind)], out);
                }
                Instr::Convert(_) => typed::convert(self.from, self.kind, n, at(0, self.from), out),
                Instr::Narrow(d, _) => typed::narrow(d, self.kind, n, at(0, self.kind), out),
                Instr::Arg(_) | Instr::Const(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
