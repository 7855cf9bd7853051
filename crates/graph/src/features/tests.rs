//! Features by their formulas, on a graph small enough to do by hand.

use super::*;
use crate::graph::{Edge, Graph, GraphOptions};

fn star() -> GraphData {
    let edges = (1..4).map(|to| Edge { from: 0, to, weight: 1.0 }).collect();
    let (graph, _) = Graph::build(5, edges, GraphOptions::default()).unwrap();
    GraphData::of_graph("star", "tsv", graph)
}

/// Words 0 1 | 1 | (none) | 0 1 2 | 2, some of them stored with a value of their own.
fn with_words() -> GraphData {
    let mut data = star();
    let values = vec![1.0, 1.0, 5.0, 1.0, -2.0, 1.0, 1.0];
    let matrix = Csr::try_new(5, 3, vec![0, 2, 3, 3, 6, 7], vec![0, 1, 1, 0, 1, 2, 2], values).unwrap();
    data.features = Features::Stored(FeatureMatrix::Sparse(matrix));
    data
}

fn sparse(made: Made) -> Csr<f32> {
    match made.matrix {
        FeatureMatrix::Sparse(m) => m,
        FeatureMatrix::Dense(_) => panic!("dense"),
    }
}

#[test]
fn tfidf_by_the_formula() {
    let made = make(&with_words(), Some(FeatureKind::TfIdf), 0).unwrap();
    assert!(made.note.as_ref().is_some_and(|n| n.contains("takes every value but 0 as 1")), "{:?}", made.note);
    let m = sparse(made);
    // df: word 0 in 2 rows, word 1 in 3, word 2 in 2; n = 5
    let w = [(6f64 / 3.0).ln() + 1.0, (6f64 / 4.0).ln() + 1.0, (6f64 / 3.0).ln() + 1.0];
    let norm = |ids: &[usize]| ids.iter().map(|&i| w[i] * w[i]).sum::<f64>().sqrt();
    let expected = [w[0] / norm(&[0, 1]), w[1] / norm(&[0, 1]), 1.0];
    for (found, expected) in m.values().iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-7, "{found} {expected}");
    }
    let full: f64 = m.row_values(3).iter().map(|&x| f64::from(x).powi(2)).sum();
    assert!((full - 1.0).abs() < 1e-6);
    assert!(m.row(2).is_empty()); // an all-zero row stays zero
}

#[test]
fn sparse_values_that_are_more_than_presence_stay_by_default() {
    let mut data = with_words();
    let made = make(&data, None, 0).unwrap();
    assert!(made.kind == FeatureKind::Raw && made.note.is_none());
    let matrix = sparse(made);
    let ones = vec![1.0; matrix.values().len()];
    let pattern = Csr::try_new(5, 3, vec![0, 2, 3, 3, 6, 7], matrix.columns().to_vec(), ones).unwrap();
    data.features = Features::Stored(FeatureMatrix::Sparse(pattern));
    let made = make(&data, None, 0).unwrap();
    assert!(made.kind == FeatureKind::TfIdf && made.note.is_none());
}

#[test]
fn rows_sum_to_one_and_raw_is_untouched() {
    let data = with_words();
    let m = sparse(make(&data, Some(FeatureKind::Rows), 0).unwrap());
    assert_eq!(m.row_values(0), [0.5, 0.5]);
    assert_eq!(m.row_values(3), [1.0 / 3.0; 3]);
    let raw = sparse(make(&data, Some(FeatureKind::Raw), 0).unwrap());
    assert_eq!(raw.values(), [1.0, 1.0, 5.0, 1.0, -2.0, 1.0, 1.0]);
}

#[test]
fn dense_features_default_to_raw_and_zeros_are_absent() {
    let mut data = star();
    let block = Block::from_slice(5, 2, &[0.5, 0.0, 0.0, 0.0, 2.0, 3.0, 0.0, 1.0, 1.0, 0.0]).unwrap();
    data.features = Features::Stored(FeatureMatrix::Dense(block));
    let made = make(&data, None, 0).unwrap();
    assert!(matches!(made.matrix, FeatureMatrix::Dense(_)) && made.kind == FeatureKind::Raw);
    assert_eq!((made.matrix.entries(), made.matrix.empty_rows()), (5, 1));
    let m = sparse(make(&data, Some(FeatureKind::Rows), 0).unwrap());
    assert_eq!((m.columns(), m.values()), (&[0, 0, 1, 1, 0][..], &[1.0, 0.5, 0.5, 1.0, 1.0][..]));
}

#[test]
fn absent_features_become_the_degree_and_say_so() {
    let refused = make(&star(), Some(FeatureKind::TfIdf), 0).unwrap_err();
    assert!(refused.to_string().contains("none are stored"));
    let made = make(&star(), None, 0).unwrap();
    assert!(made.note.as_ref().is_some_and(|n| n.contains("one-hot degree")));
    assert_eq!(made.kind, FeatureKind::OneHot);
    let m = sparse(made);
    assert_eq!((m.shape(), m.columns()), ((5, 4), &[3, 1, 1, 1, 0][..]));
    // asked for, there is nothing to say
    assert_eq!(make(&star(), Some(FeatureKind::OneHot), 0).unwrap().note, None);
}

#[test]
fn the_degree_has_at_most_256_columns() {
    let edges = (1..400).map(|to| Edge { from: 0, to, weight: 1.0 }).collect();
    let (graph, _) = Graph::build(400, edges, GraphOptions::default()).unwrap();
    let m = sparse(make(&GraphData::of_graph("star", "tsv", graph), None, 0).unwrap());
    assert_eq!((m.cols(), m.columns()[0]), (256, 255));
}

#[test]
fn features_elsewhere_are_an_error_only_if_needed() {
    let mut data = star();
    data.features = Features::Elsewhere { file: "d/features_partial.mtx.gz".into() };
    let e = make(&data, Some(FeatureKind::TfIdf), 0).unwrap_err().to_string();
    assert!(e.contains("features_partial.mtx.gz"), "{e}");
    assert!(make(&data, Some(FeatureKind::OneHot), 0).is_ok());
}

#[test]
fn random_features_depend_on_the_seed_alone() {
    let data = star();
    let block = |seed| match make(&data, Some(FeatureKind::Random(7)), seed).unwrap().matrix {
        FeatureMatrix::Dense(m) => m,
        FeatureMatrix::Sparse(_) => panic!("sparse"),
    };
    assert_eq!(block(3), block(3));
    assert_ne!(block(3), block(4));
    let stream = Stream::new(3, Purpose::Features);
    let word = stream.at(0, 0, 9 / 4).unwrap()[9 % 4]; // entry (1, 2) is number 9
    assert_eq!(block(3).row(1)[2], (uniform_f32(word) - 0.5) * 2.0 * 3f32.sqrt());
    assert!(block(3).as_slice().iter().all(|x| x.abs() <= 3f32.sqrt()));
}

#[test]
fn kinds_parse_and_print() {
    for text in ["tfidf", "rows", "raw", "onehot", "random:64"] {
        assert_eq!(text.parse::<FeatureKind>().unwrap().to_string(), text);
    }
    for (text, part) in [
        ("tfid", "did you mean 'tfidf'"),
        ("random:0", "from 1 to 65536"),
        ("random:x", "from 1 to 65536"),
        ("embed:64", "not built yet"),
    ] {
        let e = text.parse::<FeatureKind>().unwrap_err().to_string();
        assert!(e.contains(part), "{e}");
    }
}
