//! Calls: which operation a name means, and what its operands and options become.

use super::MOMENTS;
use super::lex::{Place, Token};
use super::literal::Literal;
use super::parse::{Parser, Term};
use crate::composites::{self, Given, Options};
use crate::dtype::Dtype;
use crate::elementwise;
use crate::error::{Error, Result};
use crate::monoids::{self, Params, ReduceOp};
use crate::program::{Axes, Program, ValueId};

/// Calls that only arrange elements, or make them.
const SHAPES: [&str; 8] = ["cast", "reshape", "broadcast", "transpose", "slice", "gather_label", "iota", "constant"];

/// Value of an option as written.
enum Written {
    Number(Literal),
    Other(Given),
}

/// Name and value of each option, as written.
type Named<'a> = Vec<(&'a str, Written)>;

impl<'a> Parser<'a> {
    /// `NAME ( operands , options )`.
    pub(super) fn call(&mut self) -> Result<Term> {
        let place = self.place;
        let name = self.name("an operation")?;
        self.expect("(")?;
        let (mut operands, mut options) = (Vec::new(), Vec::new());
        while self.token != Token::Sign(")") {
            if !(operands.is_empty() && options.is_empty()) {
                self.expect(",")?;
            }
            let at = self.place;
            match (self.token, self.after()) {
                (Token::Name(option), Some(Token::Sign("="))) => {
                    self.step()?;
                    self.step()?;
                    options.push((option, self.option()?));
                }
                _ if !options.is_empty() => return self.fault(at, "operands stand before options"),
                _ => operands.push(self.expression()?),
            }
        }
        self.step()?;
        self.applied(place, name, &operands, options)
    }

    fn option(&mut self) -> Result<Written> {
        let given = match self.token {
            Token::Sign("[") => return Ok(Written::Other(Given::List(self.list("[", Parser::whole_number)?))),
            Token::Name("true") => Given::Flag(true),
            Token::Name("false") => Given::Flag(false),
            Token::Name(word) if Dtype::from_name(word).is_some() => {
                Given::Type(Dtype::from_name(word).unwrap_or(Dtype::F32))
            }
            _ => return Ok(Written::Number(self.signed()?)),
        };
        self.step()?;
        Ok(Written::Other(given))
    }

    /// A number, perhaps with a sign.
    fn signed(&mut self) -> Result<Literal> {
        let minus = self.accept("-")?;
        let (Token::Number(word) | Token::Name(word)) = self.token else { return self.expected("a value") };
        let Some(number) = Literal::of(word) else { return self.expected("a number, a list, true, false or a type") };
        self.step()?;
        Ok(if minus { number.negated() } else { number })
    }

    fn whole_number(&mut self) -> Result<i64> {
        let place = self.place;
        match self.signed()?.whole() {
            Some(number) => Ok(number),
            None => self.fault(place, "a whole number below 2^63 is expected"),
        }
    }

    fn applied(&mut self, place: Place, name: &str, operands: &[Term], options: Named<'a>) -> Result<Term> {
        let reduces = options.iter().any(|(option, _)| *option == "axes");
        let monoid = if name == MOMENTS { monoids::find("moments") } else { monoids::find(name) };
        let values = match (elementwise::find(name), monoid) {
            (Some(_), None) => return self.mapped(place, name, operands, &options),
            (Some(_), Some(_)) if !reduces => return self.mapped(place, name, operands, &options),
            _ if name == "constant" => self.constant(place, operands, &options)?,
            (_, monoid) => {
                let operands = self.values(place, operands, None)?;
                let options = given(options);
                let made = self.built(name, monoid, &operands, options);
                self.located(place, made)?
            }
        };
        Ok(Term::Values(values))
    }

    fn mapped(&mut self, place: Place, name: &str, operands: &[Term], options: &Named<'a>) -> Result<Term> {
        match options.first() {
            Some((option, _)) => self.fault(place, format!("{name}: has no option '{option}'")),
            None => Ok(Term::Values(vec![self.elementwise(place, name, operands)?])),
        }
    }

    /// An elementwise operation; numbers take the type of the other operands.
    pub(super) fn elementwise(&mut self, place: Place, name: &str, operands: &[Term]) -> Result<ValueId> {
        let condition = (name == "where").then_some(Dtype::Bool);
        let operands = self.values(place, operands, condition)?;
        let made = self.program.call(name, &operands);
        self.located(place, made)
    }

    /// One value for each term. A number takes the type of the first value, or is f32 beside numbers alone; where the first
    /// operand has a type of its own, it neither gives nor takes one.
    fn values(&mut self, place: Place, terms: &[Term], first: Option<Dtype>) -> Result<Vec<ValueId>> {
        let own = usize::from(first.is_some());
        let typed = terms.iter().skip(own).find_map(|t| if let Term::Values(v) = t { v.first() } else { None });
        let dtype = typed.map_or(Dtype::F32, |&v| self.program.dtype(v));
        let mut values = Vec::with_capacity(terms.len());
        for (i, term) in terms.iter().enumerate() {
            values.push(match term {
                Term::Number(number) => {
                    let dtype = first.filter(|_| i == 0).unwrap_or(dtype);
                    let made = number.constant(&mut self.program, dtype);
                    self.located(place, made)?
                }
                Term::Values(values) => match values[..] {
                    [v] => v,
                    _ => return self.fault(place, format!("an operand has {} results: name them first", values.len())),
                },
            });
        }
        Ok(values)
    }

    /// `constant(value=, dtype=)`.
    fn constant(&mut self, place: Place, operands: &[Term], options: &Named<'a>) -> Result<Vec<ValueId>> {
        match options[..] {
            [("value", Written::Number(number)), ("dtype", Written::Other(Given::Type(dtype)))]
                if operands.is_empty() =>
            {
                let made = number.constant(&mut self.program, dtype);
                Ok(vec![self.located(place, made)?])
            }
            _ => self.fault(place, "constant takes value= and dtype=, in this order"),
        }
    }

    /// Anything but an elementwise operation and a constant.
    fn built(
        &mut self,
        name: &str,
        monoid: Option<&'static dyn ReduceOp>,
        operands: &[ValueId],
        mut options: Options,
    ) -> Result<Vec<ValueId>> {
        if composites::find(name).is_some() {
            return self.program.composite(name, operands, options);
        }
        let values = match monoid {
            Some(op) => reduced(&mut self.program, name, op, operands, &mut options)?,
            None if SHAPES.contains(&name) => vec![arranged(&mut self.program, name, operands, &mut options)?],
            None => return Err(Error::value(name, "there is no such operation")),
        };
        options.finish(name)?;
        Ok(values)
    }
}

fn given(options: Named<'_>) -> Options {
    options.into_iter().fold(Options::none(), |all, (name, value)| {
        let value = match value {
            Written::Number(n) => n.whole().map_or(Given::Number(n.float), Given::Int),
            Written::Other(given) => given,
        };
        all.with(name, value)
    })
}

fn only(op: &str, operands: &[ValueId]) -> Result<ValueId> {
    match operands {
        &[v] => Ok(v),
        _ => Err(Error::value(op, format!("takes 1 operands, {} are given", operands.len()))),
    }
}

/// A reduction operator with its options.
fn reduced(
    p: &mut Program,
    name: &str,
    op: &'static dyn ReduceOp,
    operands: &[ValueId],
    o: &mut Options,
) -> Result<Vec<ValueId>> {
    let v = only(name, operands)?;
    let mut params = Params::default();
    if name == "topk" {
        let k = usize::try_from(o.int(name, "k", 1)?).ok().filter(|&k| k > 0);
        params.k = k.ok_or_else(|| Error::value(name, "k has to be at least 1"))?;
        params.smallest = !o.flag(name, "largest", true)?;
        let axis = o.int(name, "axis", -1)?;
        return p.reduce(op, params, v, &Axes::These(vec![axis]), false);
    }
    if matches!(name, "argmax" | "argmin") {
        params.last = o.flag(name, "last", false)?;
    }
    let (axes, keep) = (o.axes(name)?, o.flag(name, "keep", false)?);
    p.reduce(op, params, v, &axes, keep)
}

/// A list of sizes that has to be there.
fn sizes(o: &mut Options, op: &str, name: &str) -> Result<Vec<usize>> {
    let list = o.list(op, name)?.ok_or_else(|| Error::value(op, format!("needs {name}=[..]")))?;
    let size = |&n: &i64| usize::try_from(n).map_err(|_| Error::value(op, format!("{name} has a negative entry {n}")));
    list.iter().map(size).collect()
}

fn arranged(p: &mut Program, name: &str, operands: &[ValueId], o: &mut Options) -> Result<ValueId> {
    match (name, operands) {
        ("iota", []) => {
            let dtype = o.dtype(name, "dtype")?.unwrap_or(Dtype::I64);
            let (shape, axis) = (sizes(o, name, "shape")?, o.int(name, "axis", 0)?);
            p.iota(dtype, &shape, axis)
        }
        ("gather_label", &[x, labels]) => {
            let axis = o.int(name, "axis", -1)?;
            p.gather_label(x, labels, axis)
        }
        ("iota" | "gather_label", _) => {
            let takes = if name == "iota" { 0 } else { 2 };
            Err(Error::value(name, format!("takes {takes} operands, {} are given", operands.len())))
        }
        _ => rearranged(p, name, only(name, operands)?, o),
    }
}

fn rearranged(p: &mut Program, name: &str, v: ValueId, o: &mut Options) -> Result<ValueId> {
    match name {
        "cast" => {
            let to = o.dtype(name, "to")?.ok_or_else(|| Error::value(name, "needs to=, a type"))?;
            p.cast(v, to)
        }
        "reshape" => {
            let list = o.list(name, "shape")?.ok_or_else(|| Error::value(name, "needs shape=[..]"))?;
            let shape = inferred(p.shape(v), &list)?;
            p.reshape(v, &shape)
        }
        "broadcast" => p.broadcast(v, &sizes(o, name, "shape")?),
        "transpose" => p.transpose(v, &sizes(o, name, "perm")?),
        _ => {
            let (starts, ends) = (sizes(o, name, "starts")?, sizes(o, name, "ends")?);
            let steps = if o.has("steps") { sizes(o, name, "steps")? } else { vec![1; starts.len()] };
            p.slice(v, &starts, &ends, &steps)
        }
    }
}

/// A shape in which one −1 may stand for what is left.
fn inferred(own: &[usize], list: &[i64]) -> Result<Vec<usize>> {
    let op = "reshape";
    let shown = || format!("{own:?} does not become {list:?}");
    if list.iter().any(|&n| n < -1) || list.iter().filter(|&&n| n == -1).count() > 1 {
        return Err(Error::value(op, format!("{list:?} is no shape; one -1 is allowed")));
    }
    let given: Vec<usize> = list.iter().filter(|&&n| n >= 0).map(|&n| n as usize).collect();
    let known = crate::tensor::elements(op, &given)?;
    let all = crate::tensor::elements(op, own)?;
    if list.contains(&-1) && (known == 0 || all % known != 0) {
        return Err(Error::shape(op, shown()));
    }
    Ok(list.iter().map(|&n| if n == -1 { all / known } else { n as usize }).collect())
}
