//! Archives of arrays: what NumPy wrote, what this crate wrote, and every way in which one can be damaged.

use proptest::prelude::*;
use sapwood_files::npy::{Array, Data};
use sapwood_files::npz::{Archive, Words, write};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// All arrays of an archive, or the first error with its cause.
fn all(path: &Path) -> Result<Vec<(String, Array)>, String> {
    let told = |e: sapwood_files::Error| {
        let cause = std::error::Error::source(&e).map(ToString::to_string).unwrap_or_default();
        format!("{e} {cause}")
    };
    let mut archive = Archive::open(path).map_err(told)?;
    let names: Vec<String> = archive.names().map(String::from).collect();
    let array = |name: String| Ok((name.clone(), archive.array(&name).map_err(told)?.unwrap()));
    names.into_iter().map(array).collect()
}

fn from_bytes(bytes: &[u8]) -> Result<Vec<(String, Array)>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    std::fs::write(&path, bytes).unwrap();
    let found = all(&path);
    if let Err(message) = &found {
        assert!(message.contains("x.npz"), "{message}");
    }
    found
}

fn refused(bytes: &[u8], expected: &str) {
    let message = from_bytes(bytes).expect_err(expected);
    assert!(message.contains(expected), "{expected}: {message}");
}

/// An archive of two small arrays by this crate.
fn ours() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    let a = Array { shape: vec![3], data: Data::I64(vec![1, -2, 3]) };
    let b = Array { shape: vec![2, 1], data: Data::F32(vec![0.5, 2.0]) };
    write(&path, &[("aa", &a), ("bb", &b)]).unwrap();
    std::fs::read(path).unwrap()
}

/// Where `needle` stands for the `n`-th time.
fn find(bytes: &[u8], needle: &[u8], n: usize) -> usize {
    (0..bytes.len()).filter(|&at| bytes[at..].starts_with(needle)).nth(n).unwrap()
}

const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END: &[u8] = b"PK\x05\x06";

fn patched(at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = ours();
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

#[test]
fn what_numpy_writes_is_read() {
    for name in ["stored.npz", "deflated.npz"] {
        let mut archive = Archive::open(&fixture(name)).unwrap();
        let names: Vec<&str> = archive.names().collect();
        assert_eq!(names, ["a", "short", "big", "words", "objects", "empty", "many"]);
        let mut get = |name: &str| archive.array(name).unwrap().unwrap();
        let quarter = |i: i32| f64::from(i) / 4.0;
        assert_eq!(get("a"), Array { shape: vec![2, 3], data: Data::F64((0..6).map(quarter).collect()) });
        assert_eq!(get("short").data, Data::I32(vec![-1, 2, 127]));
        assert_eq!(get("big").data, Data::U32(vec![1, 65535]));
        assert_eq!(get("empty").shape, [0, 4]);
        assert_eq!(get("many").data, Data::I32(vec![0; 500]));
        assert_eq!(archive.array("none").unwrap(), None);
        assert!(archive.has("a") && !archive.has("a.npy"));
        let text = Words::Text(vec!["ab".into(), String::new(), "€uro".into()]);
        assert_eq!(archive.words("words").unwrap(), Some(text));
        let Some(Words::Other(what)) = archive.words("objects").unwrap() else { panic!("objects are never read") };
        assert!(what.contains("unpickled"), "{what}");
        assert!(matches!(archive.words("a").unwrap(), Some(Words::Other(_))));
        let message = archive.array("objects").unwrap_err().to_string();
        assert!(message.contains("npz/objects") && message.contains("not supported"), "{message}");
    }
}

#[test]
fn what_this_crate_writes_is_read() {
    let found = from_bytes(&ours()).unwrap();
    assert_eq!(found[0], ("aa".into(), Array { shape: vec![3], data: Data::I64(vec![1, -2, 3]) }));
    assert_eq!(found[1].1, Array { shape: vec![2, 1], data: Data::F32(vec![0.5, 2.0]) });
    let comment = [&ours()[..ours().len() - 2], &[5, 0], b"hello"].concat();
    assert_eq!(from_bytes(&comment).unwrap(), found);
}

/// The same archive in the 64-bit form.
#[test]
fn large_forms_are_read() {
    let small = ours();
    let (from, end) = (find(&small, ENTRY, 0), find(&small, END, 0));
    let second = find(&small, ENTRY, 1);
    let mut directory = Vec::new();
    for entry in [&small[from..second], &small[second..end]] {
        let mut large = entry.to_vec();
        let field = |at: usize| u64::from(u32::from_le_bytes(entry[at..at + 4].try_into().unwrap()));
        let words = [field(24), field(20), field(42)].map(u64::to_le_bytes).concat();
        for at in [20, 24, 42] {
            large[at..at + 4].fill(0xff);
        }
        large[30..32].copy_from_slice(&28u16.to_le_bytes());
        large.extend([&[1, 0, 24, 0], &words[..]].concat());
        directory.extend(large);
    }
    let mut bytes = [&small[..from], &directory].concat();
    let at = bytes.len() as u64;
    let words = [44, 0, 0, 2, 2, directory.len() as u64, from as u64];
    bytes.extend(b"PK\x06\x06");
    bytes.extend(words[0].to_le_bytes());
    bytes.extend([0; 12]);
    words[3..].iter().for_each(|w| bytes.extend(w.to_le_bytes()));
    bytes.extend([&b"PK\x06\x07\0\0\0\0"[..], &at.to_le_bytes(), &[1, 0, 0, 0]].concat());
    bytes.extend([END, &[0; 4], &[0xff; 12], &[0; 2]].concat());
    assert_eq!(from_bytes(&bytes).unwrap(), from_bytes(&small).unwrap());
    let mut wrong = bytes.clone();
    let locator = find(&bytes, b"PK\x06\x07", 0);
    wrong[locator + 8..locator + 16].fill(0xff);
    refused(&wrong, "64-bit end at byte 18446744073709551615 does not fit");
    let mut cut = bytes;
    let extra = find(&cut, &[1, 0, 24, 0], 0);
    cut[extra + 2] = 8; // the rest of the field is then another one
    assert!(from_bytes(&cut).is_err());
}

#[test]
fn damage_is_named_with_the_member() {
    let (entry, local, end) = (find(&ours(), ENTRY, 0), find(&ours(), LOCAL, 0), find(&ours(), END, 0));
    refused(b"", "no zip archive");
    refused(b"\x93NUMPY", "no zip archive");
    refused(&patched(entry + 8, &[1]), "member aa.npy: it is encrypted");
    refused(&patched(entry + 10, &[12]), "member aa.npy: it is compressed by method 12");
    refused(&patched(entry + 16, &[1, 2, 3, 4]), "member aa.npy: it is corrupt (checksum differs)");
    refused(&patched(local + 150, &[9]), "member aa.npy: it is corrupt (checksum differs)");
    refused(&patched(entry + 20, &[0xf0, 0xff, 0xff, 0x7f]), "do not end before the directory");
    refused(&patched(entry + 24, &[0, 0, 0, 0x7f]), "cannot become 2130706432");
    refused(&patched(entry + 42, &[200, 0, 0, 0]), "there is no header at byte 200");
    refused(&patched(entry + 42, &[0xff, 0xff, 0xff, 0x7f]), "the file ends before byte");
    refused(&patched(local + 30, b"zz"), "has another name");
    refused(&patched(entry, b"PX"), "entry 0 of its directory is corrupt");
    refused(&patched(entry + 28, &[0xff, 0xff]), "entry 0 of its directory is cut off");
    refused(&patched(entry + 46, &[0xff]), "is not UTF-8");
    refused(&patched(end + 10, &[3]), "its directory has 2 entries, 3 are stated");
    refused(&patched(end + 12, &[0xff, 0xff]), "does not fit the file");
    refused(&patched(end + 4, &[1]), "several files");
    let mut twice = ours();
    for at in [find(&twice, LOCAL, 1) + 30, find(&twice, ENTRY, 1) + 46] {
        twice[at..at + 2].copy_from_slice(b"aa");
    }
    refused(&twice, "two members are called aa");
}

#[test]
fn inflated_sizes_are_not_believed() {
    let whole = std::fs::read(fixture("deflated.npz")).unwrap();
    let entry = find(&whole, ENTRY, 6); // `many`: 2128 bytes of zeros and a header
    let size = u32::from_le_bytes(whole[entry + 24..entry + 28].try_into().unwrap());
    for (stated, expected) in
        [(size - 1, "more than the"), (size + 1, "fewer than the"), (u32::MAX - 1, "cannot become 4294967294")]
    {
        let mut bytes = whole.clone();
        bytes[entry + 24..entry + 28].copy_from_slice(&stated.to_le_bytes());
        refused_member(&bytes, expected);
    }
    let mut bytes = whole.clone();
    let packed = u32::from_le_bytes(whole[entry + 20..entry + 24].try_into().unwrap());
    bytes[entry + 20..entry + 24].copy_from_slice(&(packed - 4).to_le_bytes());
    refused_member(&bytes, "too early");
}

/// The message about `many`.
fn refused_member(bytes: &[u8], expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npz");
    std::fs::write(&path, bytes).unwrap();
    let message = Archive::open(&path).unwrap().array("many").unwrap_err().to_string();
    assert!(
        message.contains("x.npz") && message.contains("member many.npy") && message.contains(expected),
        "{message}"
    );
}

#[test]
fn truncation_at_every_byte_is_refused() {
    let whole = ours();
    for length in 0..whole.len() {
        assert!(from_bytes(&whole[..length]).is_err(), "cut to {length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any damage gives an error that names the file, or arrays whose shapes hold.
    #[test]
    fn mutations_never_panic(
        which in 0usize..3,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let read = |name: &str| std::fs::read(fixture(name)).unwrap();
        let mut bytes = [ours(), read("stored.npz"), read("deflated.npz")][which].clone();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut.index(4) == 1 {
            bytes.truncate(cut.index(bytes.len()));
        }
        for (_, array) in from_bytes(&bytes).unwrap_or_default() {
            prop_assert_eq!(array.shape.iter().product::<usize>(), array.data.len());
        }
    }
}
