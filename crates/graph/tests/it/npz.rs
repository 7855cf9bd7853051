//! Graphs in NumPy archives: all that one can hold, and what is refused.

use crate::archives::{npy, real, whole, words, zip};
use crate::support::message;
use sapwood_graph::dataset::{Weights, convert};
use sapwood_graph::features::Features;
use sapwood_graph::{FeatureMatrix, GraphData, LoadOptions, NodeId, load};
use sapwood_testkit::scratch::folder;

type Members = Vec<(&'static str, Vec<u8>)>;

/// A path 0 - 1 - 2 with a self-loop at 3, sparse features, labels and names.
pub(crate) fn members() -> Members {
    vec![
        ("adj_data", real("(6,)", &[1.0; 6])),
        ("adj_indices", whole(&[1, 2, 0, 1, 3, 2])),
        ("adj_indptr", whole(&[0, 1, 3, 4, 6])),
        ("adj_shape", npy("<i8", "(2,)", &[4u64, 4].map(u64::to_le_bytes).concat())),
        ("attr_data", real("(3,)", &[0.5, 2.0, 4.0])),
        ("attr_indices", whole(&[2, 0, 1])),
        ("attr_indptr", whole(&[0, 1, 1, 3, 3])),
        ("attr_shape", whole(&[4, 3])),
        ("labels", npy("|i1", "(4,)", &[1, 0, 255, 1])),
        ("class_names", words(&["red", "blau", "grün"])),
        ("attr_names", words(&["x", "y", "z"])),
        ("node_names", words(&["a", "b", "c", "d"])),
    ]
}

fn loaded(members: &[(&'static str, Vec<u8>)], options: &LoadOptions) -> sapwood_graph::Result<GraphData> {
    let folder = folder().unwrap();
    let path = folder.path().join("small.npz");
    std::fs::write(&path, zip(members, members.len().is_multiple_of(2))).unwrap();
    load(path.to_str().unwrap(), options)
}

fn read(members: &[(&'static str, Vec<u8>)]) -> GraphData {
    loaded(members, &LoadOptions::default()).unwrap()
}

/// The members with some replaced or added, and those with no bytes left out.
fn with(changes: &[(&'static str, Vec<u8>)]) -> Members {
    let mut all = members();
    all.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    all.extend(changes.iter().filter(|(_, bytes)| !bytes.is_empty()).cloned());
    all
}

fn ends(data: &GraphData) -> Vec<(u32, u32)> {
    data.graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect()
}

#[test]
fn an_archive_is_a_data_set() {
    let data = read(&members());
    assert_eq!((data.name.as_str(), data.kind, data.graph.nodes()), ("small", "npz", 4));
    assert_eq!(ends(&data), [(0, 1), (1, 2), (2, 3)]);
    assert!(!data.graph.weighted() && data.splits.is_empty());
    assert_eq!((&data.labels, data.classes), (&vec![1, 0, -1, 1], 3));
    assert_eq!((data.class_names.join(" "), data.words.join(" ")), ("red blau grün".into(), "x y z".into()));
    let Features::Stored(FeatureMatrix::Sparse(m)) = &data.features else { panic!("{:?}", data.features) };
    assert_eq!((m.shape(), m.row(0), m.row(2), m.row_values(2)), ((4, 3), &[2][..], &[0, 1][..], &[2.0, 4.0][..]));
    assert_eq!(data.warnings.len(), 2, "{:?}", data.warnings); // one direction added, an empty class
    assert!(data.warnings[0].contains("other direction of 1 edges was added"));
    assert!(data.warnings[1].contains("no node has class 2"));
    let out = folder().unwrap();
    convert(&data, out.path()).unwrap();
    let back = load(out.path().to_str().unwrap(), &LoadOptions::default()).unwrap();
    assert_eq!((ends(&back), &back.labels, &back.class_names), (ends(&data), &data.labels, &data.class_names));
    let directed = loaded(&members(), &LoadOptions { directed: true, ..LoadOptions::default() }).unwrap();
    assert_eq!((directed.graph.pairs(), directed.graph.neighbours(NodeId(2))), (5, &[1, 3][..]));
}

#[test]
fn weights_zeros_and_dense_features() {
    let weighted = with(&[
        ("adj_data", real("(6,)", &[2.0, 0.0, 2.0, 0.0, 3.0, 3.0])),
        ("adj_indices", whole(&[1, 2, 0, 1, 3, 2])),
        ("attr_data", Vec::new()),
        ("attr_matrix", npy("<f8", "(4, 2)", &[0.5f64, 0., 0., 0., 1., 1., 0., 8.].map(f64::to_le_bytes).concat())),
        ("attr_names", Vec::new()),
    ]);
    let data = read(&weighted);
    assert_eq!((ends(&data), data.graph.unit_weights()), (vec![(0, 1), (2, 3)], Some(vec![2.0, 3.0])));
    assert!(data.warnings.iter().any(|w| w.contains("2 entries of adj are zero and no edges")), "{:?}", data.warnings);
    let Features::Stored(FeatureMatrix::Dense(m)) = &data.features else { panic!("{:?}", data.features) };
    assert_eq!((m.row(0), m.row(3)), (&[0.5, 0.0][..], &[0.0, 8.0][..]));
    let ignored = LoadOptions { weights: Weights::Ignored, ..LoadOptions::default() };
    assert!(!loaded(&weighted, &ignored).unwrap().graph.weighted());
    let asked = LoadOptions { weights: Weights::Asked, ..LoadOptions::default() };
    assert!(loaded(&members(), &asked).unwrap().warnings.iter().any(|w| w.contains("has no weights")));
    let bare = read(&with(&[("labels", Vec::new()), ("attr_data", Vec::new()), ("class_names", Vec::new())]));
    assert!(matches!(bare.features, Features::Absent) && bare.unlabelled() == 4);
}

#[test]
fn python_objects_are_never_unpickled() {
    let pickle = b"\x80\x02cos\nsystem\n(S'touch proof'\ntR.";
    let data = read(&with(&[("class_names", npy("|O", "(3,)", pickle)), ("extra", whole(&[1]))]));
    assert!(data.class_names.is_empty());
    let said = |what: &str| assert!(data.warnings.iter().any(|w| w.contains(what)), "{what}: {:?}", data.warnings);
    said("small.npz/class_names: not read: an array of Python objects, which would have to be unpickled");
    said("not read: extra");
    let text = message(loaded(&with(&[("labels", npy("|O", "(4,)", pickle))]), &LoadOptions::default()));
    assert!(text.contains("small.npz/labels") && text.contains("not supported"), "{text}");
    let lines = read(&with(&[("class_names", words(&["a\nb", "c", "d"])), ("attr_names", words(&["x"]))]));
    assert!(lines.class_names.is_empty() && lines.words.is_empty());
    assert!(lines.warnings.iter().any(|w| w.contains("1 names do not fit")), "{:?}", lines.warnings);
}

#[test]
fn arrays_must_fit_each_other() {
    for (changes, expected) in [
        (vec![("adj_data", Vec::new())], "there is no adj_data; it holds adj_indices, adj_indptr"),
        (vec![("adj_indptr", Vec::new())], "small.npz/adj_indptr: it is missing beside adj_data"),
        (vec![("adj_shape", whole(&[4, 5]))], "adj is a matrix of 4 x 5"),
        (vec![("adj_shape", whole(&[4]))], "[4] is no shape of a matrix"),
        (vec![("adj_shape", whole(&[-4, 4]))], "[-4, 4] is no shape"),
        (vec![("adj_shape", whole(&[5, 5]))], "5 offsets for 5 rows"),
        (vec![("adj_indptr", whole(&[0, 3, 1, 4, 6]))], "the offsets fall after row 1"),
        (vec![("adj_indices", whole(&[1, 2, 0, 1, 9, 2]))], "column 9 is outside of 0 to 3"),
        (
            vec![("adj_indices", real("(6,)", &[0.0; 6]))],
            "small.npz/adj_indices: float32 items, whole numbers are needed",
        ),
        (vec![("adj_data", real("(2, 3)", &[1.0; 6]))], "the array has 2 axes, one is needed"),
        (vec![("adj_data", real("(6,)", &[1.0, 1.0, -1.0, 1.0, 1.0, 1.0]))], "edge 1 - 0 has weight -1"),
        (vec![("adj_data", real("(6,)", &[f32::NAN; 6]))], "has weight NaN"),
        (vec![("adj_data", real("(6,)", &[1.0, 1.0, 2.0, 1.0, 1.0, 1.0]))], "weight 1 one way and 2 the other"),
        (
            vec![("attr_indptr", whole(&[0, 1, 3])), ("attr_shape", whole(&[2, 3]))],
            "2 rows of features, but adj has 4 nodes",
        ),
        (vec![("attr_data", real("(3,)", &[1.0, f32::INFINITY, 0.0]))], "the feature at row 2, column 0"),
        (vec![("labels", whole(&[0, 1]))], "2 rows of labels, but adj has 4 nodes"),
        (vec![("labels", whole(&[0, 1, -2, 0]))], "node 2 has class -2"),
        (vec![("labels", whole(&[0, 1, 1 << 20, 0]))], "node 2 has class 1048576"),
        (vec![("labels", whole(&[0])), ("labels_data", whole(&[0]))], "several classes for a node"),
        (vec![("labels", b"no array".to_vec())], "small.npz/labels: not a readable .npy file"),
    ] {
        let text = message(loaded(&with(&changes), &LoadOptions::default()));
        assert!(text.contains("small.npz") || text.contains("one way"), "{text}");
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let none = [("adj_data", real("(0,)", &[])), ("adj_indices", whole(&[])), ("adj_indptr", whole(&[0]))];
    let none = [&none[..], &[("adj_shape", whole(&[0, 0]))]].concat();
    assert_eq!(message(loaded(&none, &LoadOptions::default())), "graph has no nodes");
}
