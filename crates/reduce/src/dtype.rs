//! Types of elements: as they lie in memory ([`Dtype`]), and as arithmetic holds them ([`Scalar`]).

use half::{bf16, f16};

/// Type of the elements of a tensor in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dtype {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
}

/// Type of a value in a register: narrow types are widened when they are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Scalar {
    F32,
    F64,
    I32,
    I64,
    U32,
    U64,
    Bool,
}

impl Dtype {
    /// Every type, as listed in the grammar of programs.
    pub const ALL: [Dtype; 13] = [
        Dtype::F16,
        Dtype::Bf16,
        Dtype::F32,
        Dtype::F64,
        Dtype::I8,
        Dtype::I16,
        Dtype::I32,
        Dtype::I64,
        Dtype::U8,
        Dtype::U16,
        Dtype::U32,
        Dtype::U64,
        Dtype::Bool,
    ];

    /// The name that programs and flags use.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
            Dtype::I8 => "i8",
            Dtype::I16 => "i16",
            Dtype::I32 => "i32",
            Dtype::I64 => "i64",
            Dtype::U8 => "u8",
            Dtype::U16 => "u16",
            Dtype::U32 => "u32",
            Dtype::U64 => "u64",
            Dtype::Bool => "bool",
        }
    }

    /// The type called `name`.
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|d| d.name() == name)
    }

    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Dtype::I8 | Dtype::U8 | Dtype::Bool => 1,
            Dtype::F16 | Dtype::Bf16 | Dtype::I16 | Dtype::U16 => 2,
            Dtype::F32 | Dtype::I32 | Dtype::U32 => 4,
            Dtype::F64 | Dtype::I64 | Dtype::U64 => 8,
        }
    }

    /// Whether elements are floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64)
    }

    /// Whether elements are whole numbers; truth values are not.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Dtype::Bool
    }

    /// Whether elements are whole numbers that can be negative.
    pub fn is_signed(self) -> bool {
        matches!(self, Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64)
    }

    /// The type that arithmetic uses: f32 for half precision, 32 bits for short whole numbers.
    pub fn scalar(self) -> Scalar {
        match self {
            Dtype::F16 | Dtype::Bf16 | Dtype::F32 => Scalar::F32,
            Dtype::F64 => Scalar::F64,
            Dtype::I8 | Dtype::I16 | Dtype::I32 => Scalar::I32,
            Dtype::I64 => Scalar::I64,
            Dtype::U8 | Dtype::U16 | Dtype::U32 => Scalar::U32,
            Dtype::U64 => Scalar::U64,
            Dtype::Bool => Scalar::Bool,
        }
    }

    /// Whether a register of [`Dtype::scalar`] can hold what this type cannot, so that results have to be rounded or cut.
    pub fn is_narrow(self) -> bool {
        self != self.scalar().dtype()
    }

    /// Distance from 1 to the next larger number, halved: the largest relative error of one rounding. 0 for whole numbers.
    pub fn unit_roundoff(self) -> f64 {
        match self {
            Dtype::F16 => 2f64.powi(-11),
            Dtype::Bf16 => 2f64.powi(-8),
            Dtype::F32 => 2f64.powi(-24),
            Dtype::F64 => 2f64.powi(-53),
            _ => 0.0,
        }
    }

    /// Least and greatest value of a whole-number type, (0, 1) for bool; floats have none.
    pub fn int_range(self) -> (i128, i128) {
        match self {
            Dtype::Bool => (0, 1),
            d if d.is_signed() => (-1 << (d.bytes() * 8 - 1), (1 << (d.bytes() * 8 - 1)) - 1),
            d if d.is_int() => (0, (1 << (d.bytes() * 8)) - 1),
            _ => (0, 0),
        }
    }

    /// `value` modulo 2^bits, in the range of this whole-number type; bool is 1 for anything but 0.
    pub fn wrap(self, value: i128) -> i128 {
        let (low, high) = self.int_range();
        if self == Dtype::Bool { i128::from(value != 0) } else { (value - low).rem_euclid(high - low + 1) + low }
    }

    /// The nearest number of this floating-point type, ties to even. Whole-number types give the value back.
    pub fn round(self, value: f64) -> f64 {
        match self {
            Dtype::F16 => f16::from_f64(value).to_f64(),
            Dtype::Bf16 => bf16::from_f64(value).to_f64(),
            Dtype::F32 => f64::from(value as f32),
            _ => value,
        }
    }
}

impl Scalar {
    /// The type as it lies in memory.
    pub fn dtype(self) -> Dtype {
        match self {
            Scalar::F32 => Dtype::F32,
            Scalar::F64 => Dtype::F64,
            Scalar::I32 => Dtype::I32,
            Scalar::I64 => Dtype::I64,
            Scalar::U32 => Dtype::U32,
            Scalar::U64 => Dtype::U64,
            Scalar::Bool => Dtype::Bool,
        }
    }

    /// Whether it holds floating-point numbers.
    pub fn is_float(self) -> bool {
        self.dtype().is_float()
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for d in Dtype::ALL {
            assert_eq!(Dtype::from_name(d.name()), Some(d));
            assert_eq!(d.scalar().dtype().scalar(), d.scalar());
        }
        assert_eq!(Dtype::from_name("f8"), None);
    }

    #[test]
    fn whole_numbers_wrap() {
        assert_eq!(Dtype::I8.wrap(128), -128);
        assert_eq!(Dtype::U8.wrap(-1), 255);
        assert_eq!(Dtype::I64.wrap(i128::from(i64::MAX) + 1), i128::from(i64::MIN));
        assert_eq!(Dtype::U64.wrap(-1), i128::from(u64::MAX));
        assert_eq!(Dtype::Bool.wrap(7), 1);
    }

    #[test]
    fn halves_round_once() {
        // 2049 lies between the f16 neighbours 2048 and 2050: ties to even.
        assert_eq!(Dtype::F16.round(2049.0), 2048.0);
        assert_eq!(Dtype::F16.round(70000.0), f64::INFINITY);
        assert_eq!(Dtype::Bf16.round(257.0), 256.0);
    }
}
