//! The pickles of Planetoid's files, protocols 0 to 2, as values. Start with [`Pickle::read`].
//!
//! Nothing is executed and nothing is looked up: the only names that exist are those of [`Global`], and what "calling"
//! them means is in `calls.rs`, all of it the making of plain data. Every operation makes at most one small object, lengths
//! must lie inside the file, and arrays stay bytes of the file until somebody asks for their numbers, so that memory is
//! bounded by the file's size.

use super::cursor::{Cursor, Wrong, shown};
use super::opcode as op;
use super::value::{Global, Kind, Object, Span, Value};
use crate::{Error, Result};
use std::collections::HashMap;

/// Deeper than any data set nests.
const DEEPEST: usize = 64;

/// A file read as a pickle.
#[derive(Debug)]
pub(super) struct Pickle<'a> {
    /// What messages call the file.
    pub(super) file: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) objects: Vec<Object>,
    pub(super) root: Value,
}

impl<'a> Pickle<'a> {
    /// Reads `bytes`.
    ///
    /// # Errors
    /// [`Error::File`] with the operation and its byte for whatever is not the plain data of a data set.
    pub(super) fn read(file: &'a str, bytes: &'a [u8]) -> Result<Pickle<'a>> {
        let cursor = Cursor { bytes, at: 0 };
        let mut machine = Machine {
            cursor,
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            objects: Vec::new(),
            start: 0,
        };
        loop {
            let start = machine.cursor.at;
            machine.start = start;
            let Some(&byte) = bytes.get(start) else {
                let what = format!("the file ends at byte {start} without STOP, it is truncated or no pickle");
                return Err(Error::file(file, what));
            };
            machine.cursor.at += 1;
            match machine.step(byte) {
                Ok(None) => {}
                Ok(Some(root)) => return Ok(Pickle { file, bytes, objects: machine.objects, root }),
                Err(wrong) => {
                    let name = op::name(byte).or(op::refused(byte)).map_or(format!("byte {byte:#04x}"), String::from);
                    return Err(Error::file(file, format!("{name} at byte {start}: {wrong}; nothing was executed")));
                }
            }
        }
    }
}

/// The state of a pickle being read.
pub(super) struct Machine<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) objects: Vec<Object>,
    stack: Vec<Value>,
    /// Lengths of the stack at its marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
    /// Where the operation at hand begins.
    start: usize,
}

impl Machine<'_> {
    /// One operation; the value of the file at its end.
    fn step(&mut self, byte: u8) -> Result<Option<Value>, Wrong> {
        let value = match byte {
            op::STOP => return self.stop().map(Some),
            op::PROTO => return self.protocol(),
            op::MARK => return self.mark(),
            op::POP | op::POP_MARK | op::DUP => return self.shuffle(byte),
            op::APPEND | op::APPENDS | op::SETITEM | op::SETITEMS | op::BUILD => return self.fill(byte),
            op::PUT | op::BINPUT | op::LONG_BINPUT => return self.remember(byte),
            op::GET | op::BINGET | op::LONG_BINGET => self.recall(byte)?,
            op::EMPTY_TUPLE | op::TUPLE1 | op::TUPLE2 | op::TUPLE3 | op::TUPLE => self.tuple(byte)?,
            op::EMPTY_LIST => self.object(Kind::List(Vec::new()))?,
            op::LIST => {
                let items = self.marked()?;
                self.object(Kind::List(items))?
            }
            op::EMPTY_DICT => self.object(Kind::Dict(Vec::new()))?,
            op::DICT => {
                let pairs = pairs(&self.marked()?)?;
                self.object(Kind::Dict(pairs))?
            }
            op::STRING | op::BINSTRING | op::SHORT_BINSTRING | op::UNICODE | op::BINUNICODE => self.string(byte)?,
            op::GLOBAL => self.global()?,
            op::REDUCE | op::NEWOBJ => {
                let (arguments, callable) = (self.pop()?, self.pop()?);
                self.call(callable, arguments)?
            }
            _ => self.plain(byte)?,
        };
        self.stack.push(value);
        Ok(None)
    }

    fn stop(&mut self) -> Result<Value, Wrong> {
        let root = self.pop()?;
        let left = self.cursor.bytes.len() - self.cursor.at;
        if left > 0 {
            return Err(format!("{left} bytes follow the end of the pickle"));
        }
        if !self.stack.is_empty() || !self.marks.is_empty() {
            return Err("the pickle ends with values left over".into());
        }
        Ok(root)
    }

    fn protocol(&mut self) -> Result<Option<Value>, Wrong> {
        match self.cursor.u8()? {
            0..=2 => Ok(None),
            other => {
                Err(format!("protocol {other} is not read; write the file again with pickle.dump(.., protocol=2)"))
            }
        }
    }

    fn mark(&mut self) -> Result<Option<Value>, Wrong> {
        if self.marks.len() == DEEPEST {
            return Err(format!("nested deeper than {DEEPEST}, which no data set is"));
        }
        self.marks.push(self.stack.len());
        Ok(None)
    }

    fn shuffle(&mut self, byte: u8) -> Result<Option<Value>, Wrong> {
        match byte {
            op::POP if self.marks.last() == Some(&self.stack.len()) => {
                self.marks.pop();
            }
            op::POP => {
                self.pop()?;
            }
            op::POP_MARK => {
                self.marked()?;
            }
            _ => {
                let top = self.top()?;
                self.stack.push(top);
            }
        }
        Ok(None)
    }

    /// Numbers and the like, whose argument is all there is to them.
    fn plain(&mut self, byte: u8) -> Result<Value, Wrong> {
        let cursor = &mut self.cursor;
        Ok(match byte {
            op::NONE => Value::None,
            op::NEWTRUE => Value::Bool(true),
            op::NEWFALSE => Value::Bool(false),
            op::INT => integer_or_bool(cursor)?,
            op::LONG => Value::Int(cursor.decimal()?),
            op::BININT => Value::Int(i64::from(cursor.i32()?)),
            op::BININT1 => Value::Int(i64::from(cursor.u8()?)),
            op::BININT2 => Value::Int(i64::from(cursor.u16()?)),
            op::LONG1 => {
                let length = cursor.u8()?;
                Value::Int(cursor.long(usize::from(length))?)
            }
            op::LONG4 => {
                let range = cursor.signed_span()?;
                cursor.at = range.start;
                Value::Int(cursor.long(range.len())?)
            }
            op::FLOAT => Value::Real(cursor.float()?),
            op::BINFLOAT => Value::Real(cursor.f64()?),
            _ if op::refused(byte).is_some() => {
                return Err("a data set in protocols 0 to 2 has no use for this operation".into());
            }
            _ => return Err("no operation of a pickle; the file is corrupt or no pickle".into()),
        })
    }

    fn string(&mut self, byte: u8) -> Result<Value, Wrong> {
        let kind = match byte {
            op::STRING => Kind::Bytes(self.cursor.quoted()?),
            op::BINSTRING => Kind::Bytes(Span::File(self.cursor.signed_span()?)),
            op::SHORT_BINSTRING => {
                let length = self.cursor.u8()?;
                Kind::Bytes(Span::File(self.cursor.span(usize::from(length))?))
            }
            op::UNICODE => Kind::Text(self.cursor.raw_unicode()?),
            _ => {
                let length = self.cursor.u32()?;
                let range = self.cursor.span(length as usize)?;
                if std::str::from_utf8(&self.cursor.bytes[range.clone()]).is_err() {
                    return Err("its text is not UTF-8".into());
                }
                Kind::Text(Span::File(range))
            }
        };
        self.object(kind)
    }

    fn tuple(&mut self, byte: u8) -> Result<Value, Wrong> {
        let items = match byte {
            op::EMPTY_TUPLE => Vec::new(),
            op::TUPLE => self.marked()?,
            _ => {
                let count = 1 + usize::from(byte - op::TUPLE1);
                let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
                items.reverse();
                items
            }
        };
        self.object(Kind::Tuple(items))
    }

    fn global(&mut self) -> Result<Value, Wrong> {
        let (module, name) = (self.cursor.line()?, self.cursor.line()?);
        match Global::find(module, name) {
            Some(global) => Ok(Value::Global(global)),
            None => Err(format!("{}.{} is nothing that a data set may name", shown(module), shown(name))),
        }
    }

    /// Operations that put values from the stack into the object below them.
    fn fill(&mut self, byte: u8) -> Result<Option<Value>, Wrong> {
        if byte == op::BUILD {
            let state = self.pop()?;
            let object = self.top()?;
            self.build(object, state)?;
            return Ok(None);
        }
        let items = match byte {
            op::APPEND => vec![self.pop()?],
            op::SETITEM => {
                let (value, key) = (self.pop()?, self.pop()?);
                vec![key, value]
            }
            _ => self.marked()?,
        };
        let list = matches!(byte, op::APPEND | op::APPENDS);
        let object = self.top()?;
        match (list, self.kind_mut(object)?) {
            (true, Kind::List(all)) => all.extend(items),
            (false, Kind::Dict(all)) => all.extend(pairs(&items)?),
            (true, other) => return Err(format!("appends to {}", other.name())),
            (false, other) => return Err(format!("sets items of {}", other.name())),
        }
        Ok(None)
    }

    fn remember(&mut self, byte: u8) -> Result<Option<Value>, Wrong> {
        let number = self.memo_number(byte, [op::PUT, op::BINPUT])?;
        let top = self.top()?;
        self.memo.insert(number, top);
        Ok(None)
    }

    fn recall(&mut self, byte: u8) -> Result<Value, Wrong> {
        let number = self.memo_number(byte, [op::GET, op::BINGET])?;
        self.memo.get(&number).copied().ok_or_else(|| format!("asks for number {number} of the memo, which is empty"))
    }

    fn memo_number(&mut self, byte: u8, [decimal, short]: [u8; 2]) -> Result<u32, Wrong> {
        if byte == decimal {
            let number = self.cursor.decimal()?;
            return u32::try_from(number).map_err(|_| format!("{number} is no number of the memo"));
        }
        if byte == short { self.cursor.u8().map(u32::from) } else { self.cursor.u32() }
    }

    /// Takes what lies above the last mark.
    fn marked(&mut self) -> Result<Vec<Value>, Wrong> {
        let from = self.marks.pop().ok_or("there is no mark")?;
        Ok(self.stack.split_off(from))
    }

    /// Takes the last value; one below a mark cannot be taken.
    fn pop(&mut self) -> Result<Value, Wrong> {
        self.top()?;
        self.stack.pop().ok_or_else(|| "the stack is empty".into())
    }

    fn top(&self) -> Result<Value, Wrong> {
        let floor = self.marks.last().copied().unwrap_or(0);
        self.stack[floor.min(self.stack.len())..].last().copied().ok_or_else(|| "the stack is empty".into())
    }

    pub(super) fn object(&mut self, kind: Kind) -> Result<Value, Wrong> {
        let number = u32::try_from(self.objects.len()).map_err(|_| "more objects than 32 bits can number")?;
        self.objects.push(Object { at: self.start, kind });
        Ok(Value::Object(number))
    }

    pub(super) fn kind_mut(&mut self, value: Value) -> Result<&mut Kind, Wrong> {
        match value {
            Value::Object(number) => {
                self.objects.get_mut(number as usize).map(|o| &mut o.kind).ok_or_else(|| "no such object".into())
            }
            _ => Err("it needs a list, a dictionary or an object and found a plain value".into()),
        }
    }
}

/// Protocols 0 and 1 write booleans as 00 and 01.
fn integer_or_bool(cursor: &mut Cursor<'_>) -> Result<Value, Wrong> {
    let start = cursor.at;
    Ok(match cursor.line()? {
        b"00" => Value::Bool(false),
        b"01" => Value::Bool(true),
        _ => {
            cursor.at = start;
            Value::Int(cursor.decimal()?)
        }
    })
}

fn pairs(items: &[Value]) -> Result<Vec<(Value, Value)>, Wrong> {
    let (pairs, rest) = items.as_chunks::<2>();
    if rest.is_empty() {
        Ok(pairs.iter().map(|&[key, value]| (key, value)).collect())
    } else {
        Err("a key has no value".into())
    }
}
