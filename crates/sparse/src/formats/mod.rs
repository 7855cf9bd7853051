//! Storage formats, one per file, and their registry.
//!
//! A format implements [`Structure`](crate::Structure) and adds one line to [`ALL`]; by that line it is in the
//! conformance tests. Formats know no kernel and no executor.

pub mod csr;

use crate::planned::{Multiply, Planned};
use crate::{Csr, Fact, Index, One, Result, Scalar};
use half::{bf16, f16};

/// Makes a format from CSR, by names of the value and the index type; `None` for types that are not built in here.
pub type Build = fn(&Csr<f64, u64, u64>, value: &str, index: &str) -> Option<Result<Box<dyn Multiply>>>;

/// A registered format.
pub struct Entry {
    /// Name, summary, abilities.
    pub fact: Fact,
    /// The format made from CSR.
    pub build: Build,
}

/// The formats.
pub static ALL: &[Entry] = &[Entry {
    fact: Fact {
        name: "csr",
        summary: "compressed sparse rows: offsets, columns, values",
        can: &["f64 f32 bf16 f16 pattern", "u8 u16 u32 u64 columns and offsets, independently", "duplicates"],
    },
    build: csr_of,
}];

fn csr_of(a: &Csr<f64, u64, u64>, value: &str, index: &str) -> Option<Result<Box<dyn Multiply>>> {
    Some(match (value, index) {
        ("f64", "u32") => planned(convert::<f64, u32, u64>(a)),
        ("f64", "u64") => planned(convert::<f64, u64, u64>(a)),
        ("f32", "u32") => planned(convert::<f32, u32, u64>(a)),
        ("f32", "u64") => planned(convert::<f32, u64, u64>(a)),
        ("bf16", "u32") => planned(convert::<bf16, u32, u64>(a)),
        ("f16", "u32") => planned(convert::<f16, u32, u64>(a)),
        ("pattern", "u32") => planned(convert::<One, u32, u64>(a)),
        ("pattern", "u64") => planned(convert::<One, u64, u64>(a)),
        _ => return None,
    })
}

/// The matrix with its plan, behind a pointer.
fn planned<V: Scalar, I: Index, P: Index>(a: Result<Csr<V, I, P>>) -> Result<Box<dyn Multiply>> {
    Ok(Box::new(Planned::new(a?)))
}

/// CSR with other value, index and offset types; values are rounded to the nearest.
///
/// # Errors
/// [`crate::Error::TooLarge`] if a column or the number of entries does not fit.
pub fn convert<V: Scalar, I: Index, P: Index>(a: &Csr<f64, u64, u64>) -> Result<Csr<V, I, P>> {
    use crate::Real;
    a.map_values(|&v| V::narrow(V::Acc::from_f64(v))).retype()
}
