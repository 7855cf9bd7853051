//! Dense tensors: owned in C order, or borrowed with strides.

use crate::dtype::Dtype;
use crate::error::{Error, Result};
use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};

/// Memory is kept in cache lines, so that it is aligned for every type.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A dense tensor in C order (last axis fastest), aligned to 64 bytes.
#[derive(Clone)]
pub struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    lines: Vec<Line>,
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.shape)
    }
}

/// Product of a shape.
///
/// # Errors
/// [`Error::Size`] if it does not fit a signed 64-bit number.
pub fn elements(what: &str, shape: &[usize]) -> Result<usize> {
    let product = shape.iter().try_fold(1usize, |n, &e| n.checked_mul(e)).filter(|&n| i64::try_from(n).is_ok());
    // A zero hides an overflow on its left only: multiply the others as well.
    let others = shape.iter().filter(|&&e| e != 0).try_fold(1i64, |n, &e| n.checked_mul(i64::try_from(e).ok()?));
    product.filter(|_| others.is_some()).ok_or_else(|| Error::Size { what: what.into(), shape: shape.to_vec() })
}

/// Strides of C order, in elements.
pub fn c_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

impl Tensor {
    /// Zeros.
    ///
    /// # Errors
    /// [`Error::Size`] if the shape is too large, [`Error::Run`] if there is not enough memory.
    pub fn zeros(dtype: Dtype, shape: &[usize]) -> Result<Tensor> {
        let count = elements("a tensor", shape)?;
        let too_large = || Error::Size { what: "a tensor".into(), shape: shape.to_vec() };
        let bytes = count.checked_mul(dtype.bytes()).ok_or_else(too_large)?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(bytes.div_ceil(64)).map_err(|_| Error::Run {
            what: format!("a tensor of shape {shape:?}"),
            source: sapwood_skeleton::Error::Memory { needed: bytes },
        })?;
        lines.resize(bytes.div_ceil(64), Line([0; 64]));
        Ok(Tensor { dtype, shape: shape.to_vec(), lines })
    }

    /// A tensor with the elements of `values`, which have the type's representation.
    ///
    /// # Errors
    /// As [`Tensor::zeros`]; [`Error::Shape`] if there are more or fewer elements than the shape says.
    pub fn from_slice<T: Pod>(dtype: Dtype, shape: &[usize], values: &[T]) -> Result<Tensor> {
        let mut tensor = Tensor::zeros(dtype, shape)?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        if bytes.len() != tensor.bytes().len() || size_of::<T>() != dtype.bytes() {
            let message = format!("{} elements of {} bytes do not make {dtype}{shape:?}", values.len(), size_of::<T>());
            return Err(Error::shape("a tensor", message));
        }
        tensor.bytes_mut().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// Type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len() * self.dtype.bytes()]
    }

    /// The memory.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let length = self.len() * self.dtype.bytes();
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..length]
    }

    /// Element `i` in C order as a double.
    pub fn number(&self, i: usize) -> f64 {
        element(self.dtype, self.bytes(), i).0
    }

    /// The elements as `T`, whose size is that of the type.
    pub fn as_slice<T: Pod>(&self) -> &[T] {
        bytemuck::try_cast_slice(self.bytes()).unwrap_or_default()
    }

    /// The elements as `T`, whose size is that of the type.
    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::try_cast_slice_mut(self.bytes_mut()).unwrap_or_default()
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers of elements differ.
    pub fn reshaped(mut self, shape: &[usize]) -> Result<Tensor> {
        if elements("a tensor", shape)? != self.len() {
            return Err(Error::shape("reshape", format!("{:?} does not become {shape:?}", self.shape)));
        }
        self.shape = shape.to_vec();
        Ok(self)
    }

    /// A view of all of it.
    pub fn view(&self) -> TensorView<'_> {
        TensorView {
            dtype: self.dtype,
            shape: self.shape.clone(),
            strides: c_strides(&self.shape),
            bytes: self.bytes(),
        }
    }
}

/// A borrowed tensor with strides.
#[derive(Clone)]
pub struct TensorView<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    strides: Vec<usize>,
    bytes: &'a [u8],
}

impl std::fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:?}", self.dtype, self.shape)
    }
}

impl<'a> TensorView<'a> {
    /// A view of `bytes`: element (i₀, …) lies Σ iₐ·`strides`ₐ elements after the first.
    ///
    /// # Errors
    /// [`Error::Shape`] if an element lies outside the bytes or the ranks differ, [`Error::Value`] for a stride of 0.
    pub fn new(dtype: Dtype, shape: &[usize], strides: &[usize], bytes: &'a [u8]) -> Result<TensorView<'a>> {
        let op = "a tensor view";
        if shape.len() != strides.len() {
            return Err(Error::shape(op, format!("{} strides for {} axes", strides.len(), shape.len())));
        }
        if let Some(axis) = (0..shape.len()).find(|&a| strides[a] == 0 && shape[a] > 1) {
            return Err(Error::value(op, format!("the stride of axis {axis} is 0; strides are positive")));
        }
        let need = extent(shape, strides).and_then(|n| n.checked_mul(dtype.bytes()));
        if elements(op, shape)? > 0 && need.is_none_or(|n| n > bytes.len()) {
            let have = bytes.len();
            return Err(Error::shape(
                op,
                format!("shape {shape:?} with strides {strides:?} passes the {have} bytes given"),
            ));
        }
        Ok(TensorView { dtype, shape: shape.to_vec(), strides: strides.to_vec(), bytes })
    }

    /// Type of the elements.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Length of each axis.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Distance of neighbours along each axis, in elements.
    pub fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The memory.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with the place of each element, in C order.
    pub(crate) fn for_each_place(&self, mut f: impl FnMut(usize)) {
        let mut index = vec![0; self.shape.len()];
        let mut place = 0;
        for _ in 0..self.len() {
            f(place);
            for axis in (0..index.len()).rev() {
                index[axis] += 1;
                place += self.strides[axis];
                if index[axis] < self.shape[axis] {
                    break;
                }
                place -= self.strides[axis] * self.shape[axis];
                index[axis] = 0;
            }
        }
    }
}

/// One more than the place of the last element.
pub(crate) fn extent(shape: &[usize], strides: &[usize]) -> Option<usize> {
    let last = shape
        .iter()
        .zip(strides)
        .try_fold(0usize, |last, (&e, &s)| last.checked_add(e.saturating_sub(1).checked_mul(s)?))?;
    last.checked_add(1)
}

/// Element number `place` as a double and as a whole number (of floats the whole part).
pub(crate) fn element(dtype: Dtype, bytes: &[u8], place: usize) -> (f64, i128) {
    let at = &bytes[place * dtype.bytes()..(place + 1) * dtype.bytes()];
    let int = |v: i128| (v as f64, v);
    let float = |v: f64| (v, v as i128);
    match dtype {
        Dtype::F16 => float(bytemuck::pod_read_unaligned::<f16>(at).to_f64()),
        Dtype::Bf16 => float(bytemuck::pod_read_unaligned::<bf16>(at).to_f64()),
        Dtype::F32 => float(f64::from(bytemuck::pod_read_unaligned::<f32>(at))),
        Dtype::F64 => float(bytemuck::pod_read_unaligned(at)),
        Dtype::I8 => int(i128::from(at[0] as i8)),
        Dtype::I16 => int(i128::from(bytemuck::pod_read_unaligned::<i16>(at))),
        Dtype::I32 => int(i128::from(bytemuck::pod_read_unaligned::<i32>(at))),
        Dtype::I64 => int(i128::from(bytemuck::pod_read_unaligned::<i64>(at))),
        Dtype::U8 => int(i128::from(at[0])),
        Dtype::U16 => int(i128::from(bytemuck::pod_read_unaligned::<u16>(at))),
        Dtype::U32 => int(i128::from(bytemuck::pod_read_unaligned::<u32>(at))),
        Dtype::U64 => int(i128::from(bytemuck::pod_read_unaligned::<u64>(at))),
        Dtype::Bool => int(i128::from(at[0] != 0)),
    }
}

/// Writes element number `place`: of whole-number types `int` modulo 2^bits, else the nearest to `float`.
pub(crate) fn set_element(dtype: Dtype, bytes: &mut [u8], place: usize, float: f64, int: i128) {
    let at = &mut bytes[place * dtype.bytes()..(place + 1) * dtype.bytes()];
    match dtype {
        Dtype::F16 => at.copy_from_slice(&f16::from_f64(float).to_le_bytes()),
        Dtype::Bf16 => at.copy_from_slice(&bf16::from_f64(float).to_le_bytes()),
        Dtype::F32 => at.copy_from_slice(&(float as f32).to_le_bytes()),
        Dtype::F64 => at.copy_from_slice(&float.to_le_bytes()),
        Dtype::Bool => at[0] = u8::from(int != 0),
        _ => {
            let length = at.len();
            at.copy_from_slice(&int.to_le_bytes()[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_checked() {
        assert!(elements("x", &[1 << 40, 1 << 40]).is_err());
        assert!(elements("x", &[0, 1 << 40, 1 << 40]).is_err());
        assert_eq!(elements("x", &[0, 7]).unwrap(), 0);
        assert!(Tensor::zeros(Dtype::F32, &[1 << 50]).is_err());
        assert!(Tensor::from_slice(Dtype::F32, &[2], &[1f32]).is_err());
        assert!(Tensor::from_slice(Dtype::F64, &[1], &[1f32, 2.0]).is_err());
    }

    #[test]
    fn views_stay_inside() {
        let bytes = [0u8; 24];
        assert!(TensorView::new(Dtype::F32, &[2, 3], &[3, 1], &bytes).is_ok());
        assert!(TensorView::new(Dtype::F32, &[2, 3], &[4, 1], &bytes).is_err());
        assert!(TensorView::new(Dtype::F32, &[2, 3], &[0, 1], &bytes).is_err());
        assert!(TensorView::new(Dtype::F32, &[2, 3], &[usize::MAX, 1], &bytes).is_err());
        assert!(TensorView::new(Dtype::F32, &[0, 3], &[4, 1], &[]).is_ok());
    }

    #[test]
    fn elements_come_back() {
        for dtype in Dtype::ALL {
            let mut t = Tensor::zeros(dtype, &[3]).unwrap();
            set_element(dtype, t.bytes_mut(), 2, 1.0, 1);
            assert_eq!(element(dtype, t.bytes(), 2), (1.0, 1));
            assert_eq!(element(dtype, t.bytes(), 1), (0.0, 0));
        }
        let t = Tensor::from_slice(Dtype::F32, &[2, 3], &[0f32, 1., 2., 3., 4., 5.]).unwrap();
        let turned = TensorView::new(Dtype::F32, &[3, 2], &[1, 3], t.bytes()).unwrap();
        let mut seen = Vec::new();
        turned.for_each_place(|p| seen.push(p));
        assert_eq!(seen, [0, 3, 1, 4, 2, 5]);
    }
}
