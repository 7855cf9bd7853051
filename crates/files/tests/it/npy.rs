//! NumPy arrays: what NumPy writes is read, what is written follows its format, the rest is refused.

use std::path::Path;

use proptest::prelude::*;
use sapwood_files::npy::{Array, Data, parse, read, write};

/// A file as NumPy lays it out: magic, version, header padded with blanks to a multiple of 64.
fn file(version: u8, header: &str, items: &[u8]) -> Vec<u8> {
    let fixed = if version == 1 { 10 } else { 12 };
    let length = (fixed + header.len() + 1).next_multiple_of(64) - fixed;
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    match version {
        1 => out.extend(u16::try_from(length).unwrap().to_le_bytes()),
        _ => out.extend(u32::try_from(length).unwrap().to_le_bytes()),
    }
    out.extend(header.bytes());
    out.resize(fixed + length - 1, b' ');
    out.push(b'\n');
    out.extend(items);
    out
}

fn header(descr: &str, fortran: bool, shape: &str) -> String {
    let order = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}")
}

fn refused(bytes: &[u8]) -> String {
    parse(bytes, Path::new("x.npy")).expect_err("must be refused").to_string()
}

fn items<const N: usize, T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&v| bytes(v)).collect()
}

#[test]
fn every_type_in_both_byte_orders() {
    macro_rules! case {
        ($variant:ident, $t:ty, $code:literal, $values:expr) => {
            let values: Vec<$t> = $values;
            let shape = format!("({},)", values.len());
            for (mark, bytes) in [("<", items(&values, <$t>::to_le_bytes)), (">", items(&values, <$t>::to_be_bytes))] {
                for version in 1..=3 {
                    let file = file(version, &header(&format!("{mark}{}", $code), false, &shape), &bytes);
                    let array = parse(&file, Path::new("x")).unwrap();
                    assert_eq!(array.shape, [values.len()]);
                    assert_eq!(array.data, Data::$variant(values.clone()), "{mark}{}", $code);
                }
            }
        };
    }
    case!(F64, f64, "f8", vec![0.5, -1e300, f64::INFINITY]);
    case!(F32, f32, "f4", vec![0.5, -1e30, f32::MIN_POSITIVE]);
    case!(I64, i64, "i8", vec![i64::MIN, -1, i64::MAX]);
    case!(U64, u64, "u8", vec![0, 1, u64::MAX]);
    case!(I32, i32, "i4", vec![i32::MIN, 258]);
    case!(U32, u32, "u4", vec![0x0102_0304]);
}

#[test]
fn fortran_order_becomes_c_order() {
    // numpy: np.arange(24).reshape(2,3,4) saved after np.asfortranarray
    let shape = [2, 3, 4];
    let c: Vec<i32> = (0..24).collect();
    let mut stored = Vec::new();
    for k in 0..4 {
        for j in 0..3 {
            for i in 0..2 {
                stored.push(c[(i * 3 + j) * 4 + k]);
            }
        }
    }
    let file = file(1, &header("<i4", true, "(2, 3, 4)"), &items(&stored, i32::to_le_bytes));
    let array = parse(&file, Path::new("x")).unwrap();
    assert_eq!(array, Array { shape: shape.to_vec(), data: Data::I32(c) });
}

#[test]
fn odd_shapes() {
    for (text, shape, count) in
        [("()", vec![], 1), ("(0,)", vec![0], 0), ("(3, 0, 2)", vec![3, 0, 2], 0), ("(1, 1)", vec![1, 1], 1)]
    {
        for fortran in [false, true] {
            let file = file(1, &header("<f4", fortran, text), &vec![0; 4 * count]);
            let array = parse(&file, Path::new("x")).unwrap();
            assert_eq!((array.shape, array.data.len()), (shape.clone(), count));
        }
    }
}

#[test]
fn malformed_headers_are_refused() {
    let ok = header("<f8", false, "(2,)");
    let items = [0; 16];
    let two = |h: &str| refused(&file(1, h, &items));
    assert!(two("{'descr': '<f8', 'shape': (2,), }").contains("fortran_order"));
    assert!(two("{'descr': '<f8', 'fortran_order': 0, 'shape': (2,), }").contains("bool"));
    assert!(two(&ok.replace("(2,)", "(-2,)")).contains("unexpected byte"));
    assert!(two(&ok.replace("(2,)", "(3,)")).contains("does not fit the 16 bytes"));
    assert!(two(&ok.replace("(2,)", "(1,)")).contains("does not fit"));
    assert!(two(&ok.replace("(2,)", "'2'")).contains("shape"));
    assert!(two(&ok.replace("(2,)", "(4294967296, 4294967296)")).contains("64 bits"));
    assert!(two(&ok.replace("(2,)", "(18446744073709551616,)")).contains("64 bits"));
    assert!(two(&ok.replace("(2,)", "(0, 4294967296, 4294967296)")).contains("64 bits"));
    assert!(two(&ok.replace("<f8", "<f2")).contains("'<f2'"));
    assert!(two(&ok.replace("<f8", "|O")).contains("not supported"));
    assert!(two(&ok.replace("<f8", "<c16")).contains("not supported"));
    assert!(two(&ok.replace("<f8", "nonsense")).contains("type string"));
    assert!(two(&ok.replace("'<f8'", "[('a', '<f8')]")).contains("not supported"));
    assert!(two("").contains("parse"));
    assert!(two(&"(".repeat(50_000)).contains("nested"));
    assert!(two(&format!("'''x'y'''{}", "(".repeat(50_000))).contains("empty string"));
    assert!(two(&ok.replace("<f8", "\\x3cf8")).contains("escape"));

    assert!(refused(b"").contains("NUMPY"));
    assert!(refused(b"\x93NUMPY").contains("ends inside"));
    assert!(refused(b"\x93NUMPY\x09\0\0\0\0\0\0\0").contains("version 9"));
    assert!(refused(b"\x93NUMPY\x01\0\xff\xff").contains("the file ends before"));
    assert!(refused(b"\x93NUMPY\x02\0\xff\xff\xff\xff").contains("claims 4294967295 bytes"));
    assert!(refused(b"PK\x03\x04").starts_with("x.npy: not a readable .npy file: "));
}

#[test]
fn truncation_at_every_byte_is_refused() {
    let whole = file(1, &header("<f8", false, "(2,)"), &[1; 16]);
    for length in 0..whole.len() {
        assert!(parse(&whole[..length], Path::new("x")).is_err(), "cut to {length}");
    }
    assert!(parse(&[&whole[..], &[0]].concat(), Path::new("x")).is_err(), "one byte too many");
}

#[test]
fn written_bytes_follow_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    let array = Array { shape: vec![2, 3], data: Data::I64(vec![1, 2, 3, 4, 5, -6]) };
    write(&path, &array).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let items = items(&[1i64, 2, 3, 4, 5, -6], i64::to_le_bytes);
    assert_eq!(bytes, file(1, &header("<i8", false, "(2, 3, )"), &items));
    assert_eq!(read(&path).unwrap(), array);

    let wrong = Array { shape: vec![2, 2], data: Data::F32(vec![0.0; 3]) };
    let message = write(&folder.path().join("b.npy"), &wrong).unwrap_err().to_string();
    assert!(message.ends_with("an array of shape [2, 2] has 4 items, 3 were given"), "{message}");
    let huge = Array { shape: vec![usize::MAX, 2], data: Data::F32(vec![]) };
    assert!(write(&folder.path().join("b.npy"), &huge).is_err());
    assert!(!folder.path().join("b.npy").exists());
}

#[test]
fn compressed_arrays_are_read() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy.gz");
    let out = std::fs::File::create(&path).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::fast());
    gzip.write_all(&file(1, &header(">u4", false, "(1,)"), &[0, 0, 1, 0])).unwrap();
    gzip.finish().unwrap();
    assert_eq!(read(&path).unwrap().data, Data::U32(vec![256]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn round_trip(shape in prop::collection::vec(0usize..6, 0..4), seed in any::<u64>(), kind in 0..6) {
        let n: usize = shape.iter().product();
        let word = |i: usize| seed.wrapping_mul(i as u64 + 1).rotate_left(17);
        let data = match kind {
            0 => Data::F64((0..n).map(|i| word(i) as f64 / 3.0).collect()),
            1 => Data::F32((0..n).map(|i| word(i) as f32).collect()),
            2 => Data::I64((0..n).map(|i| word(i) as i64).collect()),
            3 => Data::U64((0..n).map(word).collect()),
            4 => Data::I32((0..n).map(|i| word(i) as i32).collect()),
            _ => Data::U32((0..n).map(|i| word(i) as u32).collect()),
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let array = Array { shape, data };
        write(&path, &array).unwrap();
        prop_assert_eq!(read(&path).unwrap(), array);
    }

    #[test]
    fn mutations_never_panic(
        fortran in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = file(1, &header("<f8", fortran, "(2, 3)"), &[9; 48]);
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(array) = parse(&bytes, Path::new("x")) {
            prop_assert_eq!(array.shape.iter().product::<usize>(), array.data.len());
        }
    }

    /// Damage that stays text reaches deeper than random bytes.
    #[test]
    fn mutated_headers_never_panic(
        edits in prop::collection::vec((0usize..60, "[ -~]"), 1..6),
        version in 1u8..=3,
    ) {
        let mut text = header("<f8", false, "(2, 3)");
        for (at, with) in edits {
            if at < text.len() {
                text.replace_range(at..=at, &with);
            }
        }
        let _ = parse(&file(version, &text, &[9; 48]), Path::new("x"));
    }
}
