//! Numbers of a text: they have no type until they meet a value that has one.

use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::{Program, ValueId};
use crate::tensor::{Tensor, set_element};

/// A number as written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Literal {
    pub(super) float: f64,
    /// Exactly, where it is written as a whole number.
    pub(super) int: Option<i128>,
}

impl Literal {
    /// The number that `word` writes: digits, a decimal number, `inf` or `nan`.
    pub(super) fn of(word: &str) -> Option<Literal> {
        let float = match word {
            "inf" => f64::INFINITY,
            "nan" => f64::NAN,
            _ => word.parse().ok()?,
        };
        Some(Literal { float, int: word.parse().ok() })
    }

    /// The number with the other sign.
    pub(super) fn negated(self) -> Literal {
        Literal { float: -self.float, int: self.int.map(|i| -i) }
    }

    /// A whole number that fits `T`.
    pub(super) fn whole<T: TryFrom<i128>>(self) -> Option<T> {
        self.int.and_then(|i| T::try_from(i).ok())
    }

    /// Adds the number to a program as a constant of type `dtype`.
    pub(super) fn constant(self, program: &mut Program, dtype: Dtype) -> Result<ValueId> {
        let (low, high) = dtype.int_range();
        let int = self.int.filter(|i| (low..=high).contains(i));
        if int.is_none() && !dtype.is_float() {
            return Err(Error::value("a number", format!("{} is no {dtype}", self.float)));
        }
        let mut tensor = Tensor::zeros(dtype, &[])?;
        set_element(dtype, tensor.bytes_mut(), 0, self.float, int.unwrap_or(0));
        program.constant(tensor)
    }
}
