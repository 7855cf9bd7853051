//! What REDUCE, NEWOBJ and BUILD mean for the few names that a data set may use: making plain data. No other call exists.

use super::cursor::Wrong;
use super::pickle::Machine;
use super::value::{Dtype, Filled, Global, Kind, Span, Value};

impl Machine<'_> {
    /// The object that calling `callable` with a tuple of arguments makes.
    pub(super) fn call(&mut self, callable: Value, arguments: Value) -> Result<Value, Wrong> {
        let Value::Global(global) = callable else {
            return Err("what it calls is no name".into());
        };
        let Some(Kind::Tuple(arguments)) = self.kind(arguments) else {
            return Err("its arguments are no tuple".into());
        };
        let arguments: [Option<Value>; 4] = std::array::from_fn(|i| arguments.get(i).copied());
        let made = match (global, arguments) {
            (Global::Reconstruct, [Some(Value::Global(Global::Ndarray)), Some(_), Some(_), None]) => Kind::Array(None),
            (Global::Dtype, [Some(code), _, _, None]) => Kind::Dtype(self.dtype(code)?),
            (Global::CsrMatrix, [None, ..]) => Kind::Csr(None),
            (
                Global::Reconstructor,
                [Some(Value::Global(Global::CsrMatrix)), Some(Value::Global(Global::Object)), Some(_), None],
            ) => Kind::Csr(None),
            (Global::DefaultDict, [None | Some(Value::Global(Global::List)), None, ..]) => Kind::Dict(Vec::new()),
            (Global::List, [None, ..]) => Kind::List(Vec::new()),
            (Global::Bytes, [None, ..]) => Kind::Bytes(Span::Owned(Vec::new())),
            (Global::Encode, [Some(text), Some(coding), None, ..]) => self.encoded(text, coding)?,
            (Global::Scalar, [Some(dtype), Some(item), None, ..]) => match self.kind(dtype) {
                Some(&Kind::Dtype(dtype)) => Kind::Scalar(dtype, item),
                _ => return Err("a number of NumPy without a dtype".into()),
            },
            _ => return Err(format!("{global:?} is called in a way that no data set needs")),
        };
        self.object(made)
    }

    /// Gives `object` its state.
    pub(super) fn build(&mut self, object: Value, state: Value) -> Result<(), Wrong> {
        let filled = match (self.kind(object), self.kind(state)) {
            (Some(Kind::Array(None)), Some(Kind::Tuple(state))) => Kind::Array(Some(self.filled(state)?)),
            (Some(Kind::Array(Some(_))), _) => return Err("the array is filled already".into()),
            (Some(&Kind::Dtype(dtype)), Some(Kind::Tuple(state))) => Kind::Dtype(self.ordered(dtype, state)?),
            (Some(Kind::Csr(None)), Some(Kind::Dict(_))) => Kind::Csr(Some(state)),
            (Some(Kind::Csr(Some(_))), _) => return Err("the csr_matrix is filled already".into()),
            (Some(other), _) => return Err(format!("this is no state of {}", other.name())),
            (None, _) => return Err("there is nothing to fill".into()),
        };
        *self.kind_mut(object)? = filled;
        Ok(())
    }

    fn kind(&self, value: Value) -> Option<&Kind> {
        match value {
            Value::Object(number) => self.objects.get(number as usize).map(|o| &o.kind),
            _ => None,
        }
    }

    /// The bytes of a short string.
    fn word(&self, value: Value) -> Option<&[u8]> {
        match self.kind(value)? {
            Kind::Bytes(Span::File(range)) | Kind::Text(Span::File(range)) => self.cursor.bytes.get(range.clone()),
            Kind::Bytes(Span::Owned(bytes)) | Kind::Text(Span::Owned(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// Bytes as Python 3 writes them: a text of characters below 256.
    fn encoded(&self, text: Value, coding: Value) -> Result<Kind, Wrong> {
        match (self.kind(text), self.word(coding)) {
            (Some(Kind::Text(_)), Some(b"latin1" | b"latin-1")) => Ok(Kind::Latin1(text)),
            _ => Err("only text in latin1 becomes bytes".into()),
        }
    }

    /// A type such as `i4`; its byte order comes later.
    fn dtype(&self, code: Value) -> Result<Dtype, Wrong> {
        let code = self.word(code).ok_or("a dtype without a code")?;
        let (kind, size) = match code {
            [kind @ (b'i' | b'u'), size @ (b'1' | b'2' | b'4' | b'8')] => (*kind, *size),
            [b'f', size @ (b'4' | b'8')] => (b'f', *size),
            [b'b', b'1'] => (b'b', b'1'),
            _ => {
                let code = super::cursor::shown(code);
                return Err(format!("items of type {code} are not read, only whole numbers, f4, f8 and b1"));
            }
        };
        Ok(Dtype { kind, size: usize::from(size - b'0'), big: false })
    }

    /// State of a dtype: version, byte order, and what plain numbers do not have.
    fn ordered(&self, dtype: Dtype, state: &[Value]) -> Result<Dtype, Wrong> {
        let plain = |v: &Value| matches!(v, Value::None | Value::Int(_));
        match state {
            [Value::Int(_), order, rest @ ..] if rest.iter().all(plain) => match self.word(*order) {
                Some(b"<" | b"|" | b"=") => Ok(Dtype { big: false, ..dtype }),
                Some(b">") => Ok(Dtype { big: true, ..dtype }),
                _ => Err("a dtype of unknown byte order".into()),
            },
            _ => Err("a dtype with fields or metadata".into()),
        }
    }

    /// State of an array: version, shape, dtype, whether in Fortran order, items.
    fn filled(&self, state: &[Value]) -> Result<Filled, Wrong> {
        let &[Value::Int(_), shape, dtype, fortran, data] = state else {
            return Err("the state of an array has five parts".into());
        };
        let Some(&Kind::Dtype(dtype)) = self.kind(dtype) else {
            return Err("an array without a dtype".into());
        };
        let fortran = match fortran {
            Value::Bool(flag) => flag,
            Value::Int(flag) => flag != 0,
            _ => return Err("an array without an order".into()),
        };
        if !matches!(self.kind(data), Some(Kind::Bytes(_) | Kind::Latin1(_))) {
            return Err("the items of an array must be bytes".into());
        }
        Ok(Filled { shape, dtype, fortran, data })
    }
}
