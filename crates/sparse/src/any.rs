//! A matrix whose number types are known at run time only: the boundary to files and command lines.
//!
//! One `match` per operation, never per row: [`with_matrix!`](crate::with_matrix) opens the enum and compiles its body
//! for every combination of value, index and offset type. Kernels know nothing of this module.

use crate::check;
use crate::formats::csr::Csr;
use crate::io::Values;
use crate::planned::{Multiply, Planned};
use crate::scalar::{Index, One, Real, Scalar};

/// A CSR matrix of any value type.
#[derive(Debug, Clone)]
pub enum AnyMatrix {
    /// `f32` values.
    F32(AnyWidth<f32>),
    /// `f64` values.
    F64(AnyWidth<f64>),
    /// No values: a pattern.
    Pattern(AnyWidth<One>),
}

/// A CSR matrix of any index and offset type: the arms are named index, then offset.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub enum AnyWidth<V> {
    U32U32(Csr<V, u32, u32>),
    U32U64(Csr<V, u32, u64>),
    U64U32(Csr<V, u64, u32>),
    U64U64(Csr<V, u64, u64>),
}

/// Runs `$body` with `$m` bound to the [`Csr`] inside an [`AnyMatrix`] (or a reference to one), whatever its types.
#[macro_export]
macro_rules! with_matrix {
    ($any:expr, $m:ident => $body:expr) => {
        match $any {
            $crate::any::AnyMatrix::F32(any) => $crate::with_width!(any, $m => $body),
            $crate::any::AnyMatrix::F64(any) => $crate::with_width!(any, $m => $body),
            $crate::any::AnyMatrix::Pattern(any) => $crate::with_width!(any, $m => $body),
        }
    };
}

/// Runs `$body` with `$m` bound to the [`Csr`] inside an [`AnyWidth`] (or a reference to one), whatever its types.
#[macro_export]
macro_rules! with_width {
    ($any:expr, $m:ident => $body:expr) => {
        match $any {
            $crate::any::AnyWidth::U32U32($m) => $body,
            $crate::any::AnyWidth::U32U64($m) => $body,
            $crate::any::AnyWidth::U64U32($m) => $body,
            $crate::any::AnyWidth::U64U64($m) => $body,
        }
    };
}

impl AnyMatrix {
    /// (rows, columns)
    pub fn shape(&self) -> (usize, usize) {
        with_matrix!(self, m => m.shape())
    }

    /// Stored entries.
    pub fn entries(&self) -> usize {
        with_matrix!(self, m => m.entries())
    }

    /// Names of the value, index and offset types.
    pub fn types(&self) -> [&'static str; 3] {
        with_matrix!(self, m => names(m))
    }

    /// The matrix with the plan of its work, for products.
    pub fn planned(self) -> Box<dyn Multiply> {
        with_matrix!(self, m => Box::new(Planned::new(m)))
    }
}

impl<V: Stored> AnyWidth<V> {
    /// The matrix with 32-bit columns and 64-bit offsets; columns and values are moved, not copied.
    ///
    /// # Errors
    /// When the columns are 64-bit numbers.
    pub fn into_csr(self) -> check::Result<Csr<V>> {
        let wrong = |found: &str| check::Error::Types { found: found.to_owned(), wanted: "u32 columns".to_owned() };
        match self {
            Self::U32U64(matrix) => Ok(matrix),
            Self::U32U32(matrix) => {
                let (rows, cols) = matrix.shape();
                let (offsets, columns, values) = matrix.into_parts();
                let offsets = offsets.into_iter().map(u64::from).collect();
                Ok(Csr::try_new(rows, cols, offsets, columns, values)?)
            }
            Self::U64U32(_) | Self::U64U64(_) => Err(wrong("u64 columns")),
        }
    }
}

fn names<V: Scalar, I: Index, P: Index>(_: &Csr<V, I, P>) -> [&'static str; 3] {
    [V::NAME, I::NAME, P::NAME]
}

/// A value type that [`AnyMatrix`] has an arm for.
pub trait Stored: Scalar {
    /// What a reader is asked for to get this type.
    const ASKED: Values;
    /// The arm.
    fn wrap(matrix: AnyWidth<Self>) -> AnyMatrix;
    /// The arm's content, if it is that arm.
    fn open(matrix: AnyMatrix) -> Option<AnyWidth<Self>>;

    /// The nearest value to `x`.
    fn from_f64(x: f64) -> Self {
        Self::narrow(Self::Acc::from_f64(x))
    }

    /// 1.
    fn one() -> Self {
        Self::narrow(Self::Acc::ONE)
    }

    /// The opposite.
    fn negated(self) -> Self {
        Self::narrow(-self.widen())
    }

    /// The sum, taken in [`Scalar::Acc`] and rounded once.
    fn plus(self, other: Self) -> Self {
        Self::narrow(self.widen() + other.widen())
    }
}

macro_rules! stored {
    ($type:ty, $arm:ident, $asked:ident) => {
        impl Stored for $type {
            const ASKED: Values = Values::$asked;
            fn wrap(matrix: AnyWidth<Self>) -> AnyMatrix {
                AnyMatrix::$arm(matrix)
            }
            fn open(matrix: AnyMatrix) -> Option<AnyWidth<Self>> {
                match matrix {
                    AnyMatrix::$arm(inner) => Some(inner),
                    _ => None,
                }
            }
        }
    };
}

stored!(f32, F32, F32);
stored!(f64, F64, F64);
stored!(One, Pattern, Pattern);
