//! Values of the slow twin with their bounds.

use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::tensor::{Tensor, TensorView, element, elements, set_element};

/// Elements in C order: floats in double precision, whole numbers and truth values exactly.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Of a floating-point type.
    Floats(Vec<f64>),
    /// Of any other type.
    Ints(Vec<i128>),
}

/// A tensor with a bound for each element: an execution is at most that far from it.
#[derive(Debug, Clone)]
pub struct Bounded {
    /// Type of the elements when executed.
    pub dtype: Dtype,
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The elements.
    pub values: Values,
    /// The bound of each element; infinite where any value is right.
    pub errors: Vec<f64>,
}

/// One element: a float, or a whole number (whose `float` is the nearest double), and its bound.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) float: f64,
    pub(super) int: i128,
    pub(super) error: f64,
}

impl Element {
    pub(super) fn of_float(float: f64, error: f64) -> Element {
        Element { float, int: 0, error }
    }

    /// Exact, or unknown.
    pub(super) fn of_int(int: i128, certain: bool) -> Element {
        Element { float: int as f64, int, error: if certain { 0.0 } else { f64::INFINITY } }
    }
}

/// Room for `count` elements.
fn room<T>(count: usize, shape: &[usize]) -> Result<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| Error::Run {
        what: format!("the reference of a tensor of shape {shape:?}"),
        source: sapwood_skeleton::Error::Memory { needed: count.saturating_mul(size_of::<T>()) },
    })?;
    Ok(room)
}

impl Bounded {
    /// The tensor whose element number i is `f(i)`.
    pub(super) fn build(dtype: Dtype, shape: &[usize], mut f: impl FnMut(usize) -> Result<Element>) -> Result<Bounded> {
        let count = elements("the reference", shape)?;
        let mut errors = room(count, shape)?;
        let (mut floats, mut ints) = (Vec::new(), Vec::new());
        if dtype.is_float() {
            floats = room(count, shape)?
        } else {
            ints = room(count, shape)?
        }
        for i in 0..count {
            let element = if dtype.is_float() { settled(f(i)?, dtype) } else { f(i)? };
            errors.push(element.error);
            if dtype.is_float() { floats.push(element.float) } else { ints.push(element.int) }
        }
        let values = if dtype.is_float() { Values::Floats(floats) } else { Values::Ints(ints) };
        Ok(Bounded { dtype, shape: shape.to_vec(), values, errors })
    }

    /// The exact elements of a tensor.
    pub(super) fn of_view(view: &TensorView<'_>) -> Result<Bounded> {
        let mut places = room(view.len(), view.shape())?;
        view.for_each_place(|place| places.push(place));
        Bounded::build(view.dtype(), view.shape(), |i| {
            let (float, int) = element(view.dtype(), view.bytes(), places[i]);
            Ok(Element { float, int, error: 0.0 })
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn element(&self, i: usize) -> Element {
        match &self.values {
            Values::Floats(floats) => Element::of_float(floats[i], self.errors[i]),
            Values::Ints(ints) => Element { float: ints[i] as f64, int: ints[i], error: self.errors[i] },
        }
    }

    /// The elements rounded to their type.
    ///
    /// # Errors
    /// As [`Tensor::zeros`].
    pub fn rounded(&self) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(self.dtype, &self.shape)?;
        for i in 0..self.len() {
            let e = self.element(i);
            set_element(self.dtype, tensor.bytes_mut(), i, e.float, e.int);
        }
        Ok(tensor)
    }
}

/// What overflows its type for certain is infinite; what may overflow is unknown.
fn settled(e: Element, dtype: Dtype) -> Element {
    if !e.float.is_finite() {
        // An infinite or undefined value is that, or unknown.
        return Element { error: if e.error == 0.0 { 0.0 } else { f64::INFINITY }, ..e };
    }
    let ends = [e.float - e.error, e.float + e.error].map(|end| dtype.round(end));
    match ends.map(f64::is_infinite) {
        [false, false] => e,
        [true, true] if ends[0] == ends[1] => Element::of_float(ends[0], 0.0),
        _ => Element { error: f64::INFINITY, ..e },
    }
}

/// The smallest positive number of a floating-point type.
pub(super) fn smallest(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::F16 => 2f64.powi(-24),
        Dtype::Bf16 => 2f64.powi(-133),
        Dtype::F32 => 2f64.powi(-149),
        Dtype::F64 => f64::from_bits(1),
        _ => 0.0,
    }
}

/// a · b, where 0 · ∞ is 0: no error is passed on, whatever the slope; and no slope passes none.
pub(super) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

/// The value of an accumulator as an element of type `dtype`: half precision rounds once more.
pub(super) fn narrowed(e: Element, dtype: Dtype) -> Element {
    let exact = e.error == 0.0 && (dtype.round(e.float) == e.float || e.float.is_nan());
    if !dtype.is_float() || !dtype.is_narrow() || exact || !e.float.is_finite() {
        return e;
    }
    let rounding = dtype.unit_roundoff() * (e.float.abs() + e.error) + smallest(dtype);
    Element { error: e.error + rounding, ..e }
}
