//! Tensors of every type, and what is wrong with them.

use super::super::proto::{StringStringEntryProto, TensorProto};
use super::super::tensors::tensor;
use super::*;

#[test]
fn every_type_comes_back() {
    for dtype in Dtype::ALL {
        let want = numbers(dtype, &[2, 2], &[0.0, 1.0, 1.0, 0.0]);
        let (name, got) = read_tensor(&message("t", &want).encode_to_vec()).unwrap();
        assert_eq!((&name[..], got.dtype(), got.shape(), got.bytes()), ("t", dtype, &[2, 2][..], want.bytes()));
    }
}

#[test]
fn typed_fields_come_back() {
    let bits = |v: f32| i32::from(half::f16::from_f32(v).to_bits());
    let brain = |v: f32| i32::from(half::bf16::from_f32(v).to_bits());
    for dtype in Dtype::ALL {
        let mut proto = TensorProto { dims: vec![2], data_type: code(dtype), ..TensorProto::default() };
        match dtype {
            Dtype::F32 => proto.float_data = vec![1.0, 0.0],
            Dtype::F64 => proto.double_data = vec![1.0, 0.0],
            Dtype::I64 => proto.int64_data = vec![1, 0],
            Dtype::U32 | Dtype::U64 => proto.uint64_data = vec![1, 0],
            Dtype::F16 => proto.int32_data = vec![bits(1.0), 0],
            Dtype::Bf16 => proto.int32_data = vec![brain(1.0), 0],
            _ => proto.int32_data = vec![1, 0],
        }
        let got = tensor(&TensorProto::decode(&proto.encode_to_vec()[..]).unwrap(), None).unwrap();
        assert_eq!((got.dtype(), values(&got)), (dtype, vec![1.0, 0.0]));
    }
    let proto =
        TensorProto { dims: vec![1], data_type: code(Dtype::I8), int32_data: vec![-3], ..TensorProto::default() };
    assert_eq!(values(&tensor(&proto, None).unwrap()), [-3.0]);
}

#[test]
fn sizes_are_checked_before_memory_is_made() {
    let refused = |change: fn(&mut TensorProto)| {
        let mut proto = message("t", &numbers(Dtype::F32, &[2], &[1.0, 2.0]));
        change(&mut proto);
        chain(&tensor(&proto, None).unwrap_err())
    };
    assert!(refused(|p| p.dims = vec![1 << 40]).contains("8 bytes are there"));
    assert!(refused(|p| p.dims = vec![1 << 40, 1 << 40]).contains("passes 2^63"));
    assert!(refused(|p| p.dims = vec![1 << 62]).contains("passes 2^63"));
    assert!(refused(|p| p.dims = vec![-1]).contains("a dimension of -1"));
    assert!(refused(|p| p.raw_data = vec![]).contains("0 elements are there"));
    assert!(refused(|p| p.data_type = 8).contains("element type 8"));
    let mut bytes = message("t", &numbers(Dtype::F32, &[2], &[1.0, 2.0])).encode_to_vec();
    bytes.pop();
    assert!(chain(&read_tensor(&bytes).unwrap_err()).contains("at byte"));
}

#[test]
fn external_data_stays_in_the_folder() {
    let folder =
        sapwood_testkit::scratch::folder_with(&[("model/w.bin", "0123456789ab"), ("w.bin", "outside!")]).unwrap();
    let model = folder.path().join("model");
    let read = |location: &str, offset: &str, length: &str, folder: Option<&std::path::Path>| {
        let entry = |key: &str, value: &str| StringStringEntryProto { key: key.into(), value: value.into() };
        let external_data = vec![entry("location", location), entry("offset", offset), entry("length", length)];
        let proto =
            TensorProto { dims: vec![2], data_type: 6, data_location: 1, external_data, ..TensorProto::default() };
        tensor(&proto, folder).map_err(|e| chain(&e))
    };
    assert_eq!(read("w.bin", "4", "8", Some(&model)).unwrap().bytes(), b"456789ab");
    assert!(read("w.bin", "8", "8", Some(&model)).unwrap_err().contains("has 12 bytes"));
    assert!(read("w.bin", "18446744073709551615", "8", Some(&model)).unwrap_err().contains("has 12 bytes"));
    assert!(read("w.bin", "0", "4", Some(&model)).unwrap_err().contains("8 bytes are declared"));
    assert!(read("w.bin", "x", "8", Some(&model)).unwrap_err().contains("no size"));
    assert!(read("../w.bin", "0", "8", Some(&model)).unwrap_err().contains("outside"));
    assert!(read("/etc/hostname", "0", "8", Some(&model)).unwrap_err().contains("outside"));
    assert!(read("no.bin", "0", "8", Some(&model)).unwrap_err().contains("no.bin"));
    assert!(read("w.bin", "0", "8", None).unwrap_err().contains("folder"));
    std::os::unix::fs::symlink(folder.path().join("w.bin"), model.join("link.bin")).unwrap();
    assert!(read("link.bin", "0", "8", Some(&model)).unwrap_err().contains("leads out"));
}
