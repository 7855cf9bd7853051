//! Folders of the Open Graph Benchmark.

use crate::archives::gzip;
use crate::support::message;
use sapwood_graph::dataset::convert;
use sapwood_graph::features::Features;
use sapwood_graph::{FeatureMatrix, GraphData, LoadOptions, NodeId, load};
use sapwood_testkit::scratch::{TempDir, folder};

pub(crate) const FILES: [(&str, &str); 9] = [
    ("raw/num-node-list.csv", "5\n"),
    ("raw/num-edge-list.csv", "5\n"),
    ("raw/edge.csv", "0,1\n1,2\n2,1\n3,3\n3,0\n"),
    ("raw/node-feat.csv", "0.5,-1,2e-3\n0,0,0\n1,2,3\n4,5,6\n7,8,9\n"),
    ("raw/node-label.csv", "1\nnan\n0.0\n2\n1\n"),
    ("raw/node_year.csv", "not read\n"),
    ("split/time/train.csv", "4\n0\n"),
    ("split/time/valid.csv", "2\n"),
    ("split/time/test.csv", "3\n1\n"),
];

/// The folder with some files replaced, compressed or not; files without text are left out.
fn with(changes: &[(&str, &str)], compressed: bool) -> TempDir {
    let root = folder().unwrap();
    let unchanged = FILES.iter().filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    for (name, text) in unchanged.chain(changes).filter(|(name, text)| !text.is_empty() || name.ends_with("test.csv")) {
        let path = root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if compressed {
            std::fs::write(path.with_extension("csv.gz"), gzip(text.as_bytes())).unwrap();
        } else {
            std::fs::write(path, text).unwrap();
        }
    }
    root
}

fn read(root: &TempDir, options: &LoadOptions) -> sapwood_graph::Result<GraphData> {
    load(&format!("ogb:{}", root.path().display()), options)
}

fn ids(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|n| n.0).collect()
}

#[test]
fn a_folder_is_a_data_set() {
    for compressed in [true, false] {
        let root = with(&[], compressed);
        let data = read(&root, &LoadOptions::default()).unwrap();
        assert_eq!((data.kind, data.graph.nodes(), data.graph.pairs()), ("ogb", 5, 3));
        assert_eq!(data.name, root.path().file_name().unwrap().to_str().unwrap());
        assert_eq!(data.graph.self_loops(), [(NodeId(3), 1.0)]);
        assert_eq!((&data.labels, data.classes), (&vec![1, -1, 0, 2, 1], 3));
        let Features::Stored(FeatureMatrix::Dense(m)) = &data.features else { panic!("{:?}", data.features) };
        assert_eq!((m.row(0), m.row(4)), (&[0.5, -1.0, 2e-3][..], &[7.0, 8.0, 9.0][..]));
        let split = data.split(None).unwrap();
        assert_eq!((split.name.as_str(), data.splits.len()), ("time", 1));
        assert_eq!((ids(&split.train), ids(&split.val), ids(&split.test)), (vec![0, 4], vec![2], vec![1, 3]));
        assert_eq!(data.files.len(), 8);
        assert!(data.files[0].path.starts_with("raw/edge.csv"), "{:?}", data.files);
        assert!(data.warnings[0].contains("other direction of 2 edges was added"), "{:?}", data.warnings);
        // the folder alone is known too, and survives a conversion
        let plain = load(root.path().to_str().unwrap(), &LoadOptions::default()).unwrap();
        assert_eq!(plain.digest(), data.digest());
        let out = folder().unwrap();
        convert(&data, out.path()).unwrap();
        let back = load(out.path().to_str().unwrap(), &LoadOptions::default()).unwrap();
        assert_eq!((&back.labels, &back.splits[0].train), (&data.labels, &data.splits[0].train));
        assert_eq!(back.graph.rows().pattern(), data.graph.rows().pattern());
    }
    let directed = LoadOptions { directed: true, ..LoadOptions::default() };
    assert_eq!(read(&with(&[], true), &directed).unwrap().graph.pairs(), 4);
    let bare = with(&[("raw/node-feat.csv", ""), ("raw/node-label.csv", ""), ("raw/num-edge-list.csv", "")], true);
    let data = read(&bare, &LoadOptions::default()).unwrap();
    assert!(matches!(data.features, Features::Absent) && data.classes == 0);
}

#[test]
fn text_variants_are_accepted() {
    for edges in ["0,1\r\n1,2\r\n2,1\r\n3,3\r\n3,0", "\u{feff}0, 1\n1,2\n2,1\n3,3\n3,0\n\n\n"] {
        let data = read(&with(&[("raw/edge.csv", edges)], false), &LoadOptions::default()).unwrap();
        assert_eq!(data.graph.pairs(), 3);
    }
    let data = read(&with(&[("raw/node-label.csv", "1\n\"\"\n0\n2\n1\n")], true), &LoadOptions::default()).unwrap();
    assert_eq!(data.labels, [1, -1, 0, 2, 1]);
}

#[test]
fn bad_files_are_named_with_their_line() {
    for (file, text, expected) in [
        ("raw/num-node-list.csv", "5\n6\n", "num-node-list.csv:2: a second graph"),
        ("raw/num-node-list.csv", "many\n", "num-node-list.csv:1: write the number of nodes"),
        ("raw/num-node-list.csv", "\n", "num-node-list.csv: empty"),
        ("raw/num-node-list.csv", "4\n", "node-feat.csv:5: more lines than the 4 nodes"),
        ("raw/num-node-list.csv", "6\n", "node-feat.csv: 5 lines, but num-node-list.csv says there are 6 nodes"),
        ("raw/num-node-list.csv", "4000000000\n", "4000000000 nodes for 5 edges; is num-node-list.csv right?"),
        ("raw/num-node-list.csv", "", "there is no raw/num-node-list.csv.gz"),
        ("raw/num-edge-list.csv", "7\n", "edge.csv: 5 edges, but"),
        ("raw/num-edge-list.csv", "x\n", "num-edge-list.csv:1: write the number of edges"),
        ("raw/edge.csv", "0,1\n1,5\n", "edge.csv:2: node 5 does not exist, num-node-list.csv says there are 5"),
        ("raw/edge.csv", "0,1\n1\n", "edge.csv:2: two node ids are needed"),
        ("raw/edge.csv", "0,1,2\n", "edge.csv:1: two node ids"),
        ("raw/edge.csv", "0,-1\n", "edge.csv:1: '-1' is no node id"),
        ("raw/edge.csv", "0,1\n\n1,2\n", "edge.csv:2: an empty line"),
        ("raw/node-feat.csv", "1,2\n1\n", "node-feat.csv:2: 1 features, but the lines before have 2"),
        ("raw/node-feat.csv", "1,nan\n", "node-feat.csv:1: column 1 (from 0): 'nan' is no finite number"),
        ("raw/node-label.csv", "1\n0,1\n", "node-label.csv:2: 2 columns, several labels for a node; one class"),
        ("raw/node-label.csv", "1\n0.5\n", "node-label.csv:2: '0.5' is no class"),
        ("raw/node-label.csv", "1\n", "node-label.csv: 1 lines, but num-node-list.csv says there are 5 nodes"),
        ("split/time/train.csv", "", "there is no split/time/train.csv.gz"),
        ("split/time/valid.csv", "1\n0\n", "valid.csv:2: node 0 is in valid and in train"),
        ("split/time/valid.csv", "9\n", "valid.csv:1: node 9 does not exist"),
    ] {
        let text = message(read(&with(&[(file, text)], false), &LoadOptions::default()));
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let missing = message(load("ogb:nowhere", &LoadOptions::default()));
    assert!(missing.contains("no data set 'ogb:nowhere': looked at"), "{missing}");
    let cut = with(&[], true);
    let path = cut.path().join("raw/edge.csv.gz");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 4]).unwrap();
    let text = message(read(&cut, &LoadOptions::default()));
    assert!(text.contains("raw/edge.csv.gz") && text.contains("truncated"), "{text}");
}
