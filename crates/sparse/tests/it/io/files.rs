//! Files on disk: recognising formats, compression, truncation, sizes that no file is worth.

use super::{places, read, refused};
use flate2::Compression;
use flate2::write::GzEncoder;
use sapwood_sparse::io::{self, Duplicates, ReadOptions, Source, WriteOptions};
use std::error::Error;
use std::io::Write;
use std::path::Path;

const MTX: &str = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

#[test]
fn formats_by_content_then_by_ending() {
    let format = |name: &str, text: &str| read(name, text, &ReadOptions::default()).unwrap().facts.format;
    assert_eq!(format("a.txt", MTX), "mtx");
    assert_eq!(format("a.mtx", "# sapwood gaps 1\n# rows 0 cols 0 entries 0\n"), "gaps");
    assert_eq!(format("a", "0 1\n"), "snap");
    assert_eq!(format("a.unknown", "0 1\n"), "snap");
    assert_eq!(format("a.tsv", &format!("\u{feff}{MTX}")), "mtx");
    for name in ["a.mtx", "a.MTX", "b/a.mtx.gz", "a.mtx.zst"] {
        assert!(refused(name, "0 1\n", &ReadOptions::default()).contains("no `%%MatrixMarket` banner"), "{name}");
    }
}

#[test]
fn compressed_files_are_read_transparently() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.bin");
    std::fs::write(&path, gzip(MTX.as_bytes())).unwrap();
    let loaded = io::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((places(&loaded.matrix), loaded.facts.format), (vec![(0, 1)], "mtx"));
}

#[test]
fn truncated_and_corrupt_gzip_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.txt.gz");
    let text: String = (0..5000).map(|i| format!("{i} {}\n", (i * 31) % 5000)).collect();
    let whole = gzip(text.as_bytes());
    for kept in [whole.len() / 2, whole.len() - 4, 12] {
        std::fs::write(&path, &whole[..kept]).unwrap();
        let error = io::read(&path, &ReadOptions::default()).unwrap_err();
        assert!(chain(&error).contains("cut.txt.gz") && chain(&error).contains("truncated"), "{}", chain(&error));
    }
    let mut wrong = whole.clone();
    let last = wrong.len() - 6; // the checksum
    wrong[last] ^= 1;
    std::fs::write(&path, &wrong).unwrap();
    let error = io::read(&path, &ReadOptions::default()).unwrap_err();
    assert!(chain(&error).contains("corrupt"), "{}", chain(&error));
}

#[test]
fn a_missing_file_is_named() {
    let error = io::read(Path::new("no/such/file.mtx"), &ReadOptions::default()).unwrap_err();
    assert!(chain(&error).contains("no/such/file.mtx"));
}

#[test]
fn rows_that_no_text_is_worth() {
    let plain = ReadOptions::default();
    let advice = "--relabel compacts sparse ids, --nodes N accepts N nodes";
    let id = refused("e.txt", "0 1\n3 1099511627776\n5 6\n", &plain);
    assert_eq!(
        id,
        format!(
            "e.txt:2: 1099511627777 rows are too many for 24 bytes of text (their offsets alone take 8796093022224 bytes); {advice}"
        )
    );
    let nodes = refused("e.txt", "# Nodes: 1000000000000000000\n0 1\n", &plain);
    assert!(nodes.starts_with("e.txt: 1000000000000000000 rows are too many for 33 bytes of text"), "{nodes}");
    let last = refused("e.txt", "0 9223372036854775807\n", &plain);
    assert!(last.starts_with("e.txt:1: 9223372036854775808 rows are too many"), "{last}");
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    let mtx = refused("m.mtx", &format!("{banner}1000000000000 5 1\n1 1 1\n"), &plain);
    assert!(mtx.starts_with("m.mtx: 1000000000000 rows are too many for 70 bytes of text"), "{mtx}");
    assert!(mtx.ends_with("--nodes N with N not below the rows accepts them"), "{mtx}");
}

#[test]
fn rows_that_the_user_means_are_bounded_by_memory() {
    let meant = |nodes: u64, memory| ReadOptions { nodes: Some(nodes), memory, ..Default::default() };
    let small = read("e.txt", "0 5000000\n", &meant(6_000_000, None)).unwrap();
    assert_eq!(small.matrix.shape(), (6_000_000, 6_000_000));
    let error = refused("e.txt", "0 1\n", &meant(1 << 40, Some(1 << 30)));
    assert_eq!(error, "e.txt: the matrix would take 4398046511116 bytes; 1073741824 are available");
    let error = refused("e.txt", "0 1\n", &meant(u64::MAX, None));
    assert!(error.starts_with("e.txt: the matrix would take 73786976294838206472 bytes"), "{error}");
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    let mtx = format!("{banner}5000000 1 1\n5000000 1\n");
    assert!(read("m.mtx", &mtx, &ReadOptions::default()).is_err());
    assert_eq!(read("m.mtx", &mtx, &meant(5_000_000, None)).unwrap().matrix.shape(), (5_000_000, 1));
}

#[test]
fn entries_are_bounded_by_memory_while_they_are_read() {
    let options = ReadOptions { memory: Some(1 << 20), ..Default::default() };
    let much =
        |name: &str, start: &str, line: &str| refused(name, &format!("{start}{}", line.repeat(200_000)), &options);
    let edges = much("e.txt", "", "1 2\n");
    assert!(edges.starts_with("e.txt: the edges would take ") && edges.ends_with("; 1048576 are available"), "{edges}");
    let mtx = much("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n9 9 200000\n", "1 2\n");
    assert!(mtx.starts_with("m.mtx: the entries would take "), "{mtx}");
    let gaps = much("g.gaps", "# sapwood gaps 1\n# rows 200000 cols 200009 entries 800000\n", "0 0 1 2\n");
    assert!(gaps.starts_with("g.gaps: the entries would take "), "{gaps}");
}

#[test]
fn a_line_without_end_is_refused() {
    let error = refused("e.txt", &"1".repeat(3 << 20), &ReadOptions::default());
    assert_eq!(error, "e.txt:1: the line is longer than 1048576 bytes");
}

#[test]
fn typed_reading_makes_ones() {
    let options = ReadOptions { undirected: true, duplicates: Duplicates::Sum, ..Default::default() };
    let (matrix, facts) = io::read_as::<f32>(Source::bytes(b"0 1\n0 1\n", "e"), &options).unwrap();
    assert_eq!(
        (matrix.offsets(), matrix.columns(), matrix.values()),
        (&[0u64, 1, 2][..], &[1u32, 0][..], &[2.0, 2.0][..])
    );
    assert_eq!(facts.duplicates, 2);
    let wide = "%%MatrixMarket matrix coordinate real general\n1 5000000000 0\n";
    let error = io::read_as::<f64>(Source::bytes(wide.as_bytes(), "w"), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "w: the matrix has u64 columns, but u32 columns were asked for");
}

#[test]
fn writing_needs_a_known_ending_and_a_storable_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let matrix = read("e.txt", "0 1 2\n", &ReadOptions::default()).unwrap().matrix;
    let write = |name: &str, options: &WriteOptions| io::write(&folder.path().join(name), &matrix, options);
    let plain = WriteOptions::default();
    let unknown = write("a.png", &plain).unwrap_err().to_string();
    assert!(
        unknown
            .ends_with("a.png: no format has this ending; use one of .mtx, .mm, .gaps, .txt, .tsv, .csv, .el, .edges"),
        "{unknown}"
    );
    assert_eq!(
        write("a.gaps", &plain).unwrap_err().to_string(),
        "gaps files cannot store values (--pattern drops them)"
    );
    let triangle = write("a.mtx", &WriteOptions { symmetric: true }).unwrap_err().to_string();
    assert_eq!(triangle, "mtx files cannot store one triangle only: the matrix is not symmetric");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing half-written stays");
    assert!(write("no/such/folder/a.mtx", &plain).is_err());
    write("a.mtx", &plain).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path().join("a.mtx")).unwrap(),
        "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 2\n"
    );
}
