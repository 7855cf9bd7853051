//! Tensors of ONNX files: typed fields, raw bytes, or bytes of another file in the model's folder.
//!
//! A tensor's memory is made only after the bytes that fill it have been found.

use super::proto::{TensorProto, decode};
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::tensor::{Tensor, elements};
use bytemuck::Pod;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;

/// The tensor in the bytes of a `.pb` file, with its name.
///
/// # Errors
/// [`Error::Onnx`] if the bytes are no tensor or its sizes do not fit them.
pub fn read_tensor(bytes: &[u8]) -> Result<(String, Tensor)> {
    let proto = decode::<TensorProto>(bytes, "a tensor")?;
    let tensor = tensor(&proto, None)?;
    Ok((proto.name, tensor))
}

/// The type with the number `code` in `TensorProto.DataType`.
pub(super) fn dtype(what: &str, code: i32) -> Result<Dtype> {
    Ok(match code {
        1 => Dtype::F32,
        2 => Dtype::U8,
        3 => Dtype::I8,
        4 => Dtype::U16,
        5 => Dtype::I16,
        6 => Dtype::I32,
        7 => Dtype::I64,
        9 => Dtype::Bool,
        10 => Dtype::F16,
        11 => Dtype::F64,
        12 => Dtype::U32,
        13 => Dtype::U64,
        16 => Dtype::Bf16,
        _ => return Err(Error::onnx(what, format!("element type {code} of ONNX is none of those supported"))),
    })
}

/// A message's tensor; external data lies in `folder`.
pub(super) fn tensor(proto: &TensorProto, folder: Option<&Path>) -> Result<Tensor> {
    let what = format!("tensor {}", if proto.name.is_empty() { "without a name" } else { &proto.name });
    let dtype = dtype(&what, proto.data_type)?;
    let negative = |d: &i64| Error::onnx(&what, format!("a dimension of {d}"));
    let shape: Vec<usize> =
        proto.dims.iter().map(|d| usize::try_from(*d).map_err(|_| negative(d))).collect::<Result<_>>()?;
    let count = elements(&what, &shape)?;
    let bytes = count.checked_mul(dtype.bytes());
    let bytes = bytes.ok_or_else(|| Error::Size { what: what.clone(), shape: shape.clone() })?;
    if proto.data_location == EXTERNAL {
        let raw = external(proto, &what, folder, bytes)?;
        return of_raw(&what, dtype, &shape, &raw);
    }
    if proto.raw_data.is_empty() {
        return of_fields(proto, &what, dtype, &shape, count);
    }
    of_raw(&what, dtype, &shape, &proto.raw_data)
}

fn of_raw(what: &str, dtype: Dtype, shape: &[usize], raw: &[u8]) -> Result<Tensor> {
    let count = elements(what, shape)?;
    if count.checked_mul(dtype.bytes()) != Some(raw.len()) {
        return Err(Error::onnx(what, format!("{dtype}{shape:?} is declared, {} bytes are there", raw.len())));
    }
    let mut tensor = Tensor::zeros(dtype, shape)?;
    tensor.bytes_mut().copy_from_slice(raw);
    Ok(tensor)
}

/// The elements as they lie in the typed fields: short ones, and the bits of half precision, in 32 bits.
fn of_fields(proto: &TensorProto, what: &str, dtype: Dtype, shape: &[usize], count: usize) -> Result<Tensor> {
    let found = match dtype {
        Dtype::F32 => proto.float_data.len(),
        Dtype::F64 => proto.double_data.len(),
        Dtype::I64 => proto.int64_data.len(),
        Dtype::U32 | Dtype::U64 => proto.uint64_data.len(),
        _ => proto.int32_data.len(),
    };
    if found != count {
        return Err(Error::onnx(what, format!("{dtype}{shape:?} is declared, {found} elements are there")));
    }
    match dtype {
        Dtype::F32 => Tensor::from_slice(dtype, shape, &proto.float_data),
        Dtype::F64 => Tensor::from_slice(dtype, shape, &proto.double_data),
        Dtype::I64 => Tensor::from_slice(dtype, shape, &proto.int64_data),
        Dtype::U64 => Tensor::from_slice(dtype, shape, &proto.uint64_data),
        Dtype::I32 => Tensor::from_slice(dtype, shape, &proto.int32_data),
        Dtype::U32 => narrow(dtype, shape, &proto.uint64_data, |&v| v as u32),
        Dtype::Bool => narrow(dtype, shape, &proto.int32_data, |&v| u8::from(v != 0)),
        Dtype::I8 | Dtype::U8 => narrow(dtype, shape, &proto.int32_data, |&v| v as u8),
        Dtype::I16 | Dtype::U16 | Dtype::F16 | Dtype::Bf16 => narrow(dtype, shape, &proto.int32_data, |&v| v as u16),
    }
}

fn narrow<T, N: Pod>(dtype: Dtype, shape: &[usize], values: &[T], f: fn(&T) -> N) -> Result<Tensor> {
    Tensor::from_slice(dtype, shape, &values.iter().map(f).collect::<Vec<N>>())
}

/// `bytes` bytes of the file that a tensor names.
fn external(proto: &TensorProto, what: &str, folder: Option<&Path>, bytes: usize) -> Result<Vec<u8>> {
    let given = |key: &str| proto.external_data.iter().find(|e| e.key == key).map(|e| e.value.as_str());
    let number = |key: &str| match given(key) {
        None => Ok(None),
        Some(text) => text
            .parse::<u64>()
            .map(Some)
            .map_err(|_| Error::onnx(what, format!("external data: {key} '{text}' is no size"))),
    };
    let location = given("location").ok_or_else(|| Error::onnx(what, "external data without a location"))?;
    let inside = Path::new(location).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if !inside {
        return Err(Error::onnx(what, format!("external data '{location}' lies outside the model's folder")));
    }
    let folder = folder.ok_or_else(|| Error::onnx(what, "external data, but the model's folder is not known"))?;
    if number("length")?.is_some_and(|length| length != bytes as u64) {
        return Err(Error::onnx(what, format!("{bytes} bytes are declared, external data has {:?}", given("length"))));
    }
    let path = folder.join(location);
    let offset = number("offset")?.unwrap_or(0);
    let fault = |source| Error::File { path: path.display().to_string(), source };
    let real = path.canonicalize().map_err(fault)?;
    if !real.starts_with(folder.canonicalize().map_err(fault)?) {
        return Err(Error::onnx(what, format!("external data '{location}' leads out of the model's folder")));
    }
    let mut file = File::open(&real).map_err(fault)?;
    let size = file.metadata().map_err(fault)?.len();
    if offset.checked_add(bytes as u64).is_none_or(|end| end > size) {
        let message = format!("external data '{location}' has {size} bytes, {bytes} from byte {offset} on are needed");
        return Err(Error::onnx(what, message));
    }
    file.seek(SeekFrom::Start(offset)).map_err(fault)?;
    let mut raw = vec![0; bytes];
    file.read_exact(&mut raw).map_err(fault)?;
    Ok(raw)
}
