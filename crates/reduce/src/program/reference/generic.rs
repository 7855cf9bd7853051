//! A reduction operator that the reference does not know by name: its own arithmetic in double precision, along the
//! canonical tree of the whole group, with the running error of each combination (Wilkinson's analysis: Higham 2002, 3.3).
//!
//! An execution may fold the axes in groups of their own, in other orders: the error that the tree makes is taken twice, and
//! once more for each time that the form is deeper.

use super::bounded::{Element, narrowed, times};
use super::map;
use crate::dtype::{Dtype, Scalar};
use crate::elementwise;
use crate::monoids::{Params, ReduceOp};
use crate::scalar::{Binary, Compare, Const, Instr, ScalarBuilder, ScalarExpr, Unary};
use crate::tree::{Geometry, depth, tree};

/// Code with the types of its operands and the places of its results.
struct Code {
    code: Vec<(Instr, Scalar)>,
    results: Vec<ScalarExpr>,
}

impl Code {
    fn of(kinds: &[Scalar], f: impl FnOnce(&mut ScalarBuilder, &[ScalarExpr]) -> Vec<ScalarExpr>) -> Code {
        let mut b = ScalarBuilder::new();
        let operands: Vec<_> = kinds.iter().enumerate().map(|(i, &k)| b.arg(i, k)).collect();
        let results = f(&mut b, &operands);
        Code { code: b.code().to_vec(), results }
    }

    /// The results: what rounding inside does to exact operands, and what moving each operand by its error does to the
    /// whole. (Instruction by instruction, errors of one operand would be counted as often as it is read.)
    fn run(&self, args: &[Element]) -> Vec<Element> {
        let exact: Vec<Element> = args.iter().map(|e| Element { error: 0.0, ..*e }).collect();
        let mut results = self.local(&exact);
        for (i, arg) in args.iter().enumerate().filter(|(_, e)| e.error > 0.0) {
            let moved = |by: f64| {
                let mut moved = exact.clone();
                moved[i].float += by;
                self.local(&moved)
            };
            let ends = [moved(arg.error), moved(-arg.error)];
            for (at, result) in results.iter_mut().enumerate() {
                let apart = |end: &Vec<Element>| match (arg.error.is_finite(), end[at].int == result.int) {
                    (true, true) => map::distance(end[at].float, result.float),
                    _ => f64::INFINITY,
                };
                result.error += apart(&ends[0]).max(apart(&ends[1]));
            }
        }
        results
    }

    /// The results with the running error of each instruction.
    fn local(&self, args: &[Element]) -> Vec<Element> {
        let mut values: Vec<Element> = Vec::with_capacity(self.code.len());
        for &(instr, kind) in &self.code {
            let x: Vec<Element> = instr.operands().map(|e| values[e.0 as usize]).collect();
            let from = instr.operands().next().map_or(kind, |e| self.code[e.0 as usize].1);
            values.push(value(instr, kind.dtype(), from.dtype(), &x, args));
        }
        self.results.iter().map(|e| values[e.0 as usize]).collect()
    }
}

/// The value of one instruction on operands of type `from`.
fn value(instr: Instr, dtype: Dtype, from: Dtype, x: &[Element], args: &[Element]) -> Element {
    let call = |name: &str, x: &[Element]| match elementwise::find(name) {
        Some(op) => map::applied(op, x, from, dtype),
        None => Element::of_float(f64::NAN, f64::INFINITY),
    };
    match instr {
        Instr::Arg(i) => args[i as usize],
        Instr::Const(c) => exact(c),
        Instr::Unary(op, _) => call(unary(op), x),
        Instr::Binary(op, ..) => call(binary(op), x),
        Instr::Compare(op, ..) => call(compare(op), x),
        Instr::Select(..) => call("where", x),
        Instr::Fma(..) => {
            let product = call("mul", &x[..2]);
            call("add", &[product, x[2]])
        }
        Instr::Convert(_) => map::cast(x[0], from, dtype),
        Instr::Narrow(to, _) if to.is_float() => narrowed(x[0], to),
        Instr::Narrow(to, _) => Element::of_int(to.wrap(x[0].int), x[0].error == 0.0),
    }
}

fn exact(c: Const) -> Element {
    Element { float: c.to_f64(), int: c.to_int(), error: 0.0 }
}

fn unary(op: Unary) -> &'static str {
    match op {
        Unary::Neg => "neg",
        Unary::Abs => "abs",
        Unary::Sqrt => "sqrt",
        Unary::Exp => "exp",
        Unary::Ln => "log",
        Unary::Floor => "floor",
        Unary::Ceil => "ceil",
        Unary::Round => "round",
        Unary::Trunc => "trunc",
        Unary::Not => "not",
    }
}

fn binary(op: Binary) -> &'static str {
    match op {
        Binary::Add => "add",
        Binary::Sub => "sub",
        Binary::Mul => "mul",
        Binary::Div => "div",
        Binary::Rem => "rem",
        Binary::Max => "max",
        Binary::Min => "min",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
    }
}

fn compare(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Lt => "lt",
        Compare::Le => "le",
        Compare::Gt => "gt",
        Compare::Ge => "ge",
    }
}

/// The outputs over the elements x (at least one), held as `wide`; `form` is the depth of the reduction's form.
pub(super) fn folded(op: &dyn ReduceOp, p: &Params, x: &[Element], wide: Dtype, form: u64) -> Vec<Element> {
    let kind = wide.scalar();
    let parts = op.parts(kind, p);
    let lift = Code::of(&[kind, Scalar::I64], |b, e| op.lift(b, p, e[0], e[1]));
    let both = [&parts[..], &parts[..]].concat();
    let combine = Code::of(&both, |b, e| op.combine(b, p, &e[..parts.len()], &e[parts.len()..]));
    let all = [&parts[..], &parts[..1]].concat();
    let finish = Code::of(&all, |b, e| op.finish(b, p, &e[..parts.len()], e[parts.len()]));
    let numbered: Vec<(Element, usize)> = x.iter().copied().zip(0..).collect();
    let lifted = |(e, i): &(Element, usize)| lift.run(&[*e, Element::of_int(*i as i128, true)]);
    let join = |l: &Vec<Element>, r: &Vec<Element>| combine.run(&[&l[..], r].concat());
    let lane = |lane: &[(Element, usize)]| lane[1..].iter().fold(lifted(&lane[0]), |a, e| join(&a, &lifted(e)));
    let Some(whole) = tree(&numbered, Geometry::Strided, lane, join) else { return Vec::new() };
    let n = map::cast_int(x.len() as i128, parts[0].dtype());
    let times_deeper = 2.0 * form as f64 / depth(x.len() as u64) as f64;
    let widened = |e: Element| Element { error: times(times_deeper.max(1.0), e.error), ..e };
    finish.run(&[&whole[..], &[n]].concat()).into_iter().map(widened).collect()
}

#[cfg(test)]
mod tests;
