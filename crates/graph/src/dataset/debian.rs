//! The packages of a Debian release, inside the program: the folder `data/debian-packages` of the project, read by the
//! parser of any other TSV folder. Origin, rules and counts are in its README.

use super::files::{Files, Home};
use super::{Entry, tsv};

pub(super) const ENTRY: Entry = Entry {
    name: "embedded",
    summary: "the package graph of a Debian release, inside the program",
    embedded: &["debian"],
    prefix: None,
    claims: |_| false,
    load: |_, options| tsv::read("debian", ENTRY.name, Files::new(Home::Embedded(FILES)), options),
};

/// Names and contents of the files.
macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../../data/debian-packages/", $name)))),*]
    };
}

static FILES: &[(&str, &[u8])] =
    embed!["classes.tsv", "edges.tsv.zst", "labels.tsv.zst", "split.tsv.zst", "words.tsv.zst", "words.txt.zst"];
