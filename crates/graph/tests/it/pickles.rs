//! Writes the pickles of Planetoid's files as Python 2 and Python 3 do, and whole sets of such files.

use sapwood_graph::features::Features;
use sapwood_graph::{FeatureMatrix, GraphData, NodeId};
use std::path::Path;

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Python 2, protocol 2: what is passed around.
    Old,
    /// Python 3, protocol 2: the same, pickled again.
    New,
    /// Python 2, protocol 0: text.
    Text,
}

/// A pickle being written.
pub(crate) struct Writer {
    style: Style,
    pub(crate) out: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(style: Style) -> Writer {
        let out = if style == Style::Text { Vec::new() } else { vec![0x80, 2] };
        Writer { style, out }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'.');
        self.out
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    pub(crate) fn int(&mut self, n: i64) {
        match (self.style, n) {
            (Style::Text, _) => self.raw(format!("I{n}\n").as_bytes()),
            (_, 0..=255) => self.raw(&[b'K', n as u8]),
            (_, 256..=65535) => self.raw(&[&b"M"[..], &(n as u16).to_le_bytes()].concat()),
            _ => self.raw(&[&b"J"[..], &(n as i32).to_le_bytes()].concat()),
        }
    }

    /// A word: bytes for Python 2, text for Python 3.
    pub(crate) fn word(&mut self, word: &str) {
        match self.style {
            Style::Text => self.raw(format!("S'{word}'\n").as_bytes()),
            Style::Old => self.raw(&[&[b'U', word.len() as u8], word.as_bytes()].concat()),
            Style::New => self.unicode(word),
        }
    }

    fn unicode(&mut self, text: &str) {
        self.raw(&[&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat());
    }

    pub(crate) fn global(&mut self, module: &str, name: &str) {
        self.raw(format!("c{module}\n{name}\n").as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match self.style {
            Style::Text => {
                self.raw(b"S'");
                bytes.iter().for_each(|b| self.raw(format!("\\x{b:02x}").as_bytes()));
                self.raw(b"'\n");
            }
            Style::Old => self.raw(&[&b"T"[..], &(bytes.len() as u32).to_le_bytes(), bytes].concat()),
            Style::New => {
                self.global("_codecs", "encode");
                self.unicode(&bytes.iter().map(|&b| char::from(b)).collect::<String>());
                self.unicode("latin1");
                self.raw(b"\x86R");
            }
        }
    }

    fn tuple(&mut self, numbers: &[usize]) {
        self.raw(b"(");
        numbers.iter().for_each(|&n| self.int(n as i64));
        self.raw(b"t");
    }

    fn numpy(&self) -> &'static str {
        if self.style == Style::New { "numpy._core.multiarray" } else { "numpy.core.multiarray" }
    }

    /// An array of `code` items, little-endian.
    pub(crate) fn array(&mut self, shape: &[usize], code: &str, items: &[u8]) {
        self.global(self.numpy(), "_reconstruct");
        self.raw(b"(");
        self.global("numpy", "ndarray");
        self.tuple(&[0]);
        self.word("b");
        self.raw(b"tR(");
        self.int(1);
        self.tuple(shape);
        self.global("numpy", "dtype");
        self.raw(b"(");
        self.word(code);
        self.int(0);
        self.int(1);
        self.raw(b"tR(");
        self.int(3);
        self.word("<");
        self.raw(b"NNN");
        [-1, -1, 0].iter().for_each(|&n| self.int(n));
        self.raw(b"tb");
        self.raw(if self.style == Style::Text { b"I00\n" } else { b"\x89" });
        self.bytes(items);
        self.raw(b"tb");
    }

    pub(crate) fn whole(&mut self, numbers: &[i32]) {
        let items: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.array(&[numbers.len()], "i4", &items);
    }

    /// Rows of (column, value).
    pub(crate) fn csr(&mut self, columns: usize, rows: &[Vec<(u32, f32)>]) {
        let class = if self.style == Style::New { "scipy.sparse._csr" } else { "scipy.sparse.csr" };
        if self.style == Style::Text {
            self.global("copy_reg", "_reconstructor");
            self.raw(b"(");
            self.global(class, "csr_matrix");
            self.global("__builtin__", "object");
            self.raw(b"NtR(d");
        } else {
            self.global(class, "csr_matrix");
            self.raw(b")\x81}");
        }
        let mut offsets = vec![0];
        rows.iter().for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len() as i32));
        let entries: Vec<(u32, f32)> = rows.iter().flatten().copied().collect();
        self.raw(b"(");
        self.word("_shape");
        self.tuple(&[rows.len(), columns]);
        self.word("maxprint");
        self.int(50);
        self.word("indptr");
        self.whole(&offsets);
        self.word("indices");
        self.whole(&entries.iter().map(|e| e.0 as i32).collect::<Vec<_>>());
        self.word("data");
        let values: Vec<u8> = entries.iter().flat_map(|e| e.1.to_le_bytes()).collect();
        self.array(&[entries.len()], "f4", &values);
        self.raw(b"ub");
    }

    /// One-hot rows; a row of zeros for −1.
    pub(crate) fn classes(&mut self, classes: usize, labels: &[i32]) {
        let row = |&label: &i32| (0..classes as i32).flat_map(move |c| i32::from(c == label).to_le_bytes());
        let items: Vec<u8> = labels.iter().flat_map(row).collect();
        self.array(&[labels.len(), classes], "i4", &items);
    }

    pub(crate) fn graph(&mut self, lists: &[Vec<u32>]) {
        self.global("collections", "defaultdict");
        self.raw(b"(");
        self.global("__builtin__", "list");
        self.raw(b"tR(");
        for (node, list) in lists.iter().enumerate() {
            self.int(node as i64);
            self.raw(b"(l(");
            list.iter().for_each(|&n| self.int(i64::from(n)));
            self.raw(b"e");
        }
        self.raw(b"u");
    }
}

/// Writes `data` as `ind.NAME.*`: `small` rows in y, `first` in ally, the nodes of `test` behind them.
pub(crate) fn write_set(
    folder: &Path,
    name: &str,
    style: Style,
    data: &GraphData,
    small: usize,
    first: usize,
    test: &[u32],
) {
    let Features::Stored(FeatureMatrix::Sparse(features)) = &data.features else {
        panic!("sparse features are needed")
    };
    let row =
        |i: usize| features.row(i).iter().copied().zip(features.row_values(i).iter().copied()).collect::<Vec<_>>();
    let put = |part: &str, fill: &dyn Fn(&mut Writer)| {
        let mut writer = Writer::new(style);
        fill(&mut writer);
        std::fs::write(folder.join(format!("ind.{name}.{part}")), writer.finish()).unwrap();
    };
    let nodes = |range: std::ops::Range<usize>| range.collect::<Vec<_>>();
    let test_nodes: Vec<usize> = test.iter().map(|&t| t as usize).collect();
    for (matrix, labels, nodes) in
        [("x", "y", nodes(0..small)), ("allx", "ally", nodes(0..first)), ("tx", "ty", test_nodes)]
    {
        put(matrix, &|w| w.csr(features.cols(), &nodes.iter().map(|&i| row(i)).collect::<Vec<_>>()));
        put(labels, &|w| w.classes(data.classes, &nodes.iter().map(|&i| data.labels[i]).collect::<Vec<_>>()));
    }
    let graph = &data.graph;
    let mut lists: Vec<Vec<u32>> = (0..graph.nodes() as u32).map(|i| graph.neighbours(NodeId(i)).to_vec()).collect();
    graph.self_loops().iter().for_each(|(node, _)| lists[node.index()].push(node.0));
    put("graph", &|w| w.graph(&lists));
    let lines: String = test.iter().map(|t| format!("{t}\n")).collect();
    std::fs::write(folder.join(format!("ind.{name}.test.index")), lines).unwrap();
}
