//! Recognising, reading and refusing compressed data.

use std::error::Error as _;
use std::io::{BufRead, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sapwood_files::{decode, find, open, read};

const TEXT: &str = "hello zstd frame, hello zstd frame, hello zstd frame\n";

/// `TEXT` by the reference implementation: `zstd -19 --check`.
const REFERENCE: [u8; 38] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x35, 0xcd, 0x00, 0x00, 0x98, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x7a, 0x73, 0x74,
    0x64, 0x20, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x2c, 0x20, 0x0a, 0x01, 0x00, 0xca, 0x99, 0x61, 0x34, 0x28, 0x02, 0xf8,
];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn skippable(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&[0x5a, 0x2a, 0x4d, 0x18], &length[..], content].concat()
}

/// Text whose compressed form has literals, matches and more than one block.
fn sample() -> Vec<u8> {
    (0..40_000u32).flat_map(|i| format!("{} ", i * i % 1009).into_bytes()).collect()
}

/// Both ways of reading must agree; the stream is read in odd small steps.
fn through(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let whole = decode(bytes, "memory").map_err(|e| chain(&e));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, bytes).unwrap();
    let mut out = Vec::new();
    let mut step = [0; 997];
    let mut stream = open(&path).unwrap();
    let streamed = loop {
        match stream.read(&mut step) {
            Ok(0) => break Ok(out),
            Ok(n) => out.extend_from_slice(&step[..n]),
            Err(e) => break Err(e.to_string()),
        }
    };
    assert_eq!(whole.is_ok(), streamed.is_ok(), "{whole:?} {streamed:?}");
    if let Err(message) = &streamed {
        assert!(message.contains(&path.display().to_string()), "{message}");
    }
    streamed.and(whole)
}

fn chain(e: &sapwood_files::Error) -> String {
    format!("{e}: {}", e.source().map(ToString::to_string).unwrap_or_default())
}

#[test]
fn every_container_gives_the_content_back() {
    let sample = sample();
    let (half, rest) = sample.split_at(sample.len() / 3);
    let empty: &[u8] = b"";
    for (what, bytes, want) in [
        ("plain", sample.clone(), &sample[..]),
        ("gzip", gzip(&sample), &sample),
        ("two gzip members", [gzip(half), gzip(rest)].concat(), &sample),
        ("an empty gzip member", [gzip(half), gzip(b""), gzip(rest)].concat(), &sample),
        ("zstandard", zstandard(&sample), &sample),
        ("two frames", [zstandard(half), zstandard(rest)].concat(), &sample),
        ("skippable frames", [skippable(b"xy"), zstandard(&sample), skippable(b"")].concat(), &sample),
        ("only a skippable frame", skippable(b"abc"), empty),
        ("the reference encoder", REFERENCE.to_vec(), TEXT.as_bytes()),
        ("empty", Vec::new(), empty),
        ("one byte", vec![0x1f], &[0x1f]),
        ("three bytes", vec![0x28, 0xb5, 0x2f], &[0x28, 0xb5, 0x2f]),
        ("empty gzip", gzip(b""), empty),
        ("empty zstandard", zstandard(b""), empty),
    ] {
        assert_eq!(through(&bytes).as_deref(), Ok(want), "{what}");
    }
}

#[test]
fn truncation_at_every_byte_is_an_error() {
    let content = &sample()[..800];
    for (what, whole, recognised) in
        [("gzip", gzip(content), 2), ("zstandard", zstandard(content), 4), ("checked", REFERENCE.to_vec(), 4)]
    {
        for length in recognised..whole.len() {
            let message = through(&whole[..length]).expect_err(what);
            assert!(message.contains("truncated"), "{what} cut to {length}: {message}");
        }
    }
}

#[test]
fn truncation_inside_the_second_member_is_an_error() {
    let (first, second) = (gzip(b"first"), gzip(b"second"));
    for length in 1..second.len() {
        let bytes = [&first[..], &second[..length]].concat();
        assert!(through(&bytes).is_err(), "cut to {length} bytes of the second member");
    }
    let (first, second) = (zstandard(b"first"), zstandard(b"second"));
    for length in 1..second.len() {
        let bytes = [&first[..], &second[..length]].concat();
        assert!(through(&bytes).is_err(), "cut to {length} bytes of the second frame");
    }
}

#[test]
fn damage_and_garbage_are_errors() {
    let mut crc = gzip(b"some content");
    let at = crc.len() - 6;
    crc[at] ^= 1;
    assert!(through(&crc).unwrap_err().contains("corrupt"));
    let mut checksum = REFERENCE;
    checksum[37] ^= 1;
    assert!(through(&checksum).unwrap_err().contains("checksum"));
    let mut size = REFERENCE;
    size[5] += 1; // the declared content size
    assert!(through(&size).is_err());
    for garbage in [&b"garbage after the end"[..], b"g", &[0; 3], b"\0"] {
        let text = through(&[&gzip(b"a")[..], garbage].concat()).unwrap_err();
        assert!(text.contains("trailing data after the gzip member"), "{text}");
    }
    assert!(through(&[&gzip(b"a")[..], b"\x1f not a member at all"].concat()).unwrap_err().contains("corrupt"));
    assert!(through(&[&zstandard(b"a")[..], b"garbage after the end"].concat()).is_err());
}

/// Opening a named pipe would wait for a writer that never comes.
#[cfg(unix)]
#[test]
fn pipes_sockets_and_devices_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let mut places = vec![socket, "/dev/zero".into()];
    let pipe = folder.path().join("pipe");
    match std::process::Command::new("mkfifo").arg(&pipe).status() {
        Ok(status) if status.success() => places.push(pipe),
        _ => eprintln!("skipped the named pipe: there is no mkfifo"),
    }
    for path in places {
        for error in [read(&path).unwrap_err(), sapwood_files::stored(&path).unwrap_err()] {
            let text = chain(&error);
            assert!(text.contains("a named pipe, a socket or a device"), "{text}");
            assert!(text.contains(&path.display().to_string()), "{text}");
        }
        assert!(sapwood_files::digest::file(&path).is_err());
    }
    assert_eq!(read(Path::new("/dev/null")).unwrap(), b"");
}

#[test]
fn errors_are_final() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.zst");
    let whole = zstandard(&sample());
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let mut stream = open(&path).unwrap();
    let mut sink = Vec::new();
    assert!(stream.read_to_end(&mut sink).is_err());
    assert!(stream.read_to_end(&mut sink).is_err(), "a broken stream must not look finished");
}

#[test]
fn a_missing_file_is_named() {
    let error = read(Path::new("/no/such/file")).unwrap_err();
    assert_eq!(error.to_string(), "cannot open /no/such/file");
    assert!(error.source().unwrap().to_string().contains("No such file"));
    assert!(read(Path::new("/")).is_err(), "a folder");
}

#[test]
fn lines_and_corruption_in_the_middle_of_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.gz");
    let whole = gzip(&b"a line\n".repeat(50_000));
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let failed = open(&path).unwrap().lines().find_map(Result::err).expect("an error at the end");
    assert!(failed.to_string().contains("lines.gz"), "{failed}");
}

#[test]
fn find_prefers_the_plain_file() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
    assert_eq!(find(folder.path(), "edges.tsv"), None);
    make("edges.tsv.zst");
    assert_eq!(find(folder.path(), "edges.tsv"), Some(folder.path().join("edges.tsv.zst")));
    make("edges.tsv.gz");
    assert_eq!(find(folder.path(), "edges.tsv"), Some(folder.path().join("edges.tsv.gz")));
    make("edges.tsv");
    assert_eq!(find(folder.path(), "edges.tsv"), Some(folder.path().join("edges.tsv")));
    // a folder of that name is found, so that reading it fails instead of something else being read
    std::fs::remove_file(folder.path().join("edges.tsv")).unwrap();
    std::fs::create_dir(folder.path().join("edges.tsv")).unwrap();
    assert_eq!(find(folder.path(), "edges.tsv"), Some(folder.path().join("edges.tsv")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any damage gives an error or bytes, never a panic.
    #[test]
    fn mutations_never_panic(
        which in 0usize..3,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let sample = &sample()[..2000];
        let mut bytes = [gzip(sample), zstandard(sample), REFERENCE.to_vec()][which].clone();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if cut.index(2) == 1 {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = through(&bytes);
    }

    #[test]
    fn round_trip(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        prop_assert_eq!(through(&gzip(&bytes)), Ok(bytes.clone()));
        prop_assert_eq!(through(&zstandard(&bytes)), Ok(bytes));
    }
}
