//! Fills of inputs that depend on the place alone.

use crate::dtype::Dtype;
use crate::error::Result;
use crate::tensor::{Tensor, set_element};

/// The `hash` fill: with h = i·2654435761 mod 2³² for the flat index i, floats are (h >> 8)·2⁻²⁴ − ½ (exact in f32; narrower
/// types are rounded from it), whole numbers (h >> 8) mod 251 − 125 (unsigned: without the − 125), bool is bit 8 of h.
///
/// # Errors
/// As [`Tensor::zeros`].
pub fn hash(dtype: Dtype, shape: &[usize]) -> Result<Tensor> {
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let bytes = tensor.bytes_mut();
    for i in 0..bytes.len() / dtype.bytes() {
        let h = (i as u64).wrapping_mul(2_654_435_761) as u32;
        let float = f64::from(h >> 8) / 16_777_216.0 - 0.5;
        let int = match dtype {
            Dtype::Bool => i128::from(h >> 8 & 1),
            d if d.is_signed() => i128::from(h >> 8) % 251 - 125,
            _ => i128::from(h >> 8) % 251,
        };
        set_element(dtype, bytes, i, float, int);
    }
    Ok(tensor)
}

/// Element i is `value(i)`, rounded to the type.
///
/// # Errors
/// As [`Tensor::zeros`].
pub fn by<E: From<crate::Error>>(
    dtype: Dtype,
    shape: &[usize],
    value: impl Fn(usize) -> std::result::Result<f64, E>,
) -> std::result::Result<Tensor, E> {
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let bytes = tensor.bytes_mut();
    for i in 0..bytes.len() / dtype.bytes() {
        let value = value(i)?;
        set_element(dtype, bytes, i, value, value as i128);
    }
    Ok(tensor)
}

/// Labels below `classes` from the same hash, as i64 or i32.
///
/// # Errors
/// As [`Tensor::zeros`].
pub fn labels(dtype: Dtype, shape: &[usize], classes: usize) -> Result<Tensor> {
    let mut tensor = Tensor::zeros(dtype, shape)?;
    let bytes = tensor.bytes_mut();
    for i in 0..bytes.len() / dtype.bytes() {
        let h = (i as u64).wrapping_mul(2_654_435_761) as u32;
        set_element(dtype, bytes, i, 0.0, i128::from(h >> 8) % classes.max(1) as i128);
    }
    Ok(tensor)
}
