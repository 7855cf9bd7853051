//! A constant of any register type, as bits, so that equal constants are equal whatever they are (NaN, −0).

use crate::dtype::Scalar;

/// A value and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Const {
    kind: Scalar,
    bits: u64,
}

impl Const {
    /// The nearest value of type `kind`: whole numbers towards zero and saturating, bool is "is not 0".
    pub fn from_f64(value: f64, kind: Scalar) -> Const {
        match kind {
            Scalar::F32 => Const::from(value as f32),
            Scalar::F64 => Const::from(value),
            Scalar::I32 => Const::from(value as i32),
            Scalar::I64 => Const::from(value as i64),
            Scalar::U32 => Const::from(value as u32),
            Scalar::U64 => Const::from(value as u64),
            Scalar::Bool => Const::from(value != 0.0),
        }
    }

    /// The value modulo 2^bits in a whole-number type; in a floating-point type the nearest number.
    pub fn from_int(value: i128, kind: Scalar) -> Const {
        match kind {
            Scalar::F32 => Const::from(value as f32),
            Scalar::F64 => Const::from(value as f64),
            Scalar::I32 => Const::from(value as i32),
            Scalar::I64 => Const::from(value as i64),
            Scalar::U32 => Const::from(value as u32),
            Scalar::U64 => Const::from(value as u64),
            Scalar::Bool => Const::from(value != 0),
        }
    }

    /// Type of the value.
    pub fn kind(self) -> Scalar {
        self.kind
    }

    /// The bits, in the low end.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// A value of type `kind` from its bits.
    pub fn from_bits(bits: u64, kind: Scalar) -> Const {
        Const { kind, bits }
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self.kind {
            Scalar::F32 => f64::from(f32::from_bits(self.bits as u32)),
            Scalar::F64 => f64::from_bits(self.bits),
            _ => self.to_int() as f64,
        }
    }

    /// The whole number; of a float the whole part.
    pub fn to_int(self) -> i128 {
        match self.kind {
            Scalar::F32 | Scalar::F64 => self.to_f64() as i128,
            Scalar::I32 => i128::from(self.bits as u32 as i32),
            Scalar::I64 => i128::from(self.bits as i64),
            Scalar::U32 | Scalar::U64 | Scalar::Bool => i128::from(self.bits),
        }
    }
}

macro_rules! from {
    ($($t:ty, $kind:ident, |$v:ident| $bits:expr);* $(;)?) => {
        $(impl From<$t> for Const {
            fn from($v: $t) -> Const {
                Const { kind: Scalar::$kind, bits: $bits }
            }
        })*
    };
}

from! {
    f32, F32, |v| u64::from(v.to_bits());
    f64, F64, |v| v.to_bits();
    i32, I32, |v| u64::from(v as u32);
    i64, I64, |v| v as u64;
    u32, U32, |v| u64::from(v);
    u64, U64, |v| v;
    bool, Bool, |v| u64::from(v);
}
