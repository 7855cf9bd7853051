//! Planetoid's files: the same data set as its TSV form, the conventions of numbering and splits, and pickles that must be
//! refused.

use crate::archives::gzip;
use crate::pickles::{Style, Writer, write_set};
use crate::support::{message, read};
use sapwood_graph::dataset::{Weights, convert};
use sapwood_graph::features::Features;
use sapwood_graph::{FeatureMatrix, GraphData, LoadOptions, NodeId, load};
use sapwood_testkit::data::{public, skipped};
use sapwood_testkit::scratch::{self, TempDir};
use std::path::{Path, PathBuf};

fn planetoid(folder: &Path, set: &str) -> sapwood_graph::Result<GraphData> {
    load(&format!("planetoid:{}", folder.join(set).display()), &LoadOptions::default())
}

fn ends(data: &GraphData) -> Vec<(u32, u32)> {
    data.graph.pair_ends().map(|(u, v)| (u.0, v.0)).collect()
}

fn ids(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|n| n.0).collect()
}

fn sparse(data: &GraphData) -> &sapwood_sparse::Csr<f32> {
    match &data.features {
        Features::Stored(FeatureMatrix::Sparse(m)) => m,
        other => panic!("{other:?}"),
    }
}

/// The same graph, features and labels; splits are compared apart.
fn same(a: &GraphData, b: &GraphData) {
    assert_eq!(a.graph.rows().pattern(), b.graph.rows().pattern());
    assert_eq!(a.graph.self_loops(), b.graph.self_loops());
    assert_eq!((sparse(a), &a.labels, a.classes), (sparse(b), &b.labels, b.classes));
}

fn split(data: &GraphData, name: &str) -> [Vec<u32>; 3] {
    let split = data.split(Some(name)).unwrap();
    [ids(&split.train), ids(&split.val), ids(&split.test)]
}

/// The set of `tests/data/planetoid` in pickle protocol `p`, written by Python 3, NumPy 2 and SciPy 1.17.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/planetoid")
}

#[test]
fn pickles_of_python_3_are_read_in_all_three_protocols() {
    for p in ["p0", "p1", "p2"] {
        let data = planetoid(&fixtures(), p).unwrap();
        assert_eq!((data.name.as_str(), data.kind, data.graph.nodes(), data.classes), (p, "planetoid", 9, 2));
        assert_eq!(ends(&data), [(0, 1), (0, 8), (2, 3), (3, 5), (4, 7)]);
        assert_eq!(ids(&data.graph.self_loops().iter().map(|l| l.0).collect::<Vec<_>>()), [2]);
        // line i of test.index (8, 5, 7) is the node of row i of tx; node 6 is in no file
        assert_eq!(data.labels, [0, 1, 0, 1, 1, 0, -1, 1, 1]);
        let features = sparse(&data);
        let row = |i: usize| (features.row(i).to_vec(), features.row_values(i).to_vec());
        assert_eq!(row(0), (vec![0, 3], vec![1.0, 2.0]));
        assert_eq!((row(8), row(5), row(7)), ((vec![3], vec![8.0]), (vec![1], vec![5.0]), (vec![0], vec![7.0])));
        assert_eq!((row(6).0.len(), row(1).0.len(), features.shape()), (0, 0, (9, 4)));
        assert_eq!(split(&data, "public"), [vec![0, 1], vec![2, 3, 4], vec![5, 7, 8]]);
        assert_eq!(data.splits.len(), 1);
        let said = |what: &str| assert!(data.warnings.iter().any(|w| w.contains(what)), "{what}: {:?}", data.warnings);
        said("ind.p"); // the name of the file
        said("repeated edges merged");
        said("1 nodes are in no row of allx or tx");
        said("split 'public': 3 nodes validate");
        said("no split 'full': ally has 5 rows");
        assert_eq!(data.files.len(), 8);
        assert!(data.files.iter().all(|f| f.path.starts_with(&format!("ind.{p}."))));
    }
    let all = message(load(fixtures().to_str().unwrap(), &LoadOptions::default()));
    assert!(all.contains("holds p0, p1, p2; choose one, as in planetoid:"), "{all}");
}

#[test]
fn directed_graphs_keep_the_lists_as_arcs_and_weights_are_missed() {
    let options = LoadOptions { directed: true, weights: Weights::Asked };
    let data = load(&format!("planetoid:{}/p2", fixtures().display()), &options).unwrap();
    assert!(data.graph.directed());
    assert_eq!(data.graph.pairs(), 10);
    assert!(data.warnings.iter().any(|w| w.contains("has no weights")), "{:?}", data.warnings);
}

/// A random graph with features and labels, as TSV; nodes 32 and 35 are not in `test`.
fn small() -> (GraphData, Vec<u32>) {
    let edges: String =
        (0..40u32).flat_map(|i| [(i, (i * 7 + 3) % 40), (i, i * i % 40)]).map(|(u, v)| format!("{u} {v}\n")).collect();
    let words: String = (0..40u32)
        .map(|i| if i == 32 || i == 35 { "\n".into() } else { format!("{} {}\n", i % 5, 5 + i % 7) })
        .collect();
    let labels: String = (0..40u32).filter(|i| ![9, 32, 35].contains(i)).map(|i| format!("{i} {}\n", i % 3)).collect();
    let data = read(&[("edges.tsv", &edges), ("words.tsv", &words), ("labels.tsv", &labels)]).unwrap();
    let mut test: Vec<u32> = (30..40).filter(|i| ![32, 35].contains(i)).collect();
    test.reverse();
    test.swap(1, 5);
    (data, test)
}

fn written(style: Style) -> (TempDir, GraphData) {
    let (data, test) = small();
    let folder = scratch::folder().unwrap();
    write_set(folder.path(), "tiny", style, &data, 6, 30, &test);
    (folder, data)
}

#[test]
fn every_way_of_writing_gives_the_same_data_set() {
    for style in [Style::Old, Style::New, Style::Text] {
        let (folder, expected) = written(style);
        let data = planetoid(folder.path(), "tiny").unwrap();
        same(&data, &expected);
        assert_eq!(split(&data, "public"), [(0..6).collect(), (6..30).collect(), vec![30, 31, 33, 34, 36, 37, 38, 39]]);
        // by the folder alone, compressed, and through a conversion
        let path = folder.path().join("ind.tiny.allx");
        let plain = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(folder.path().join("ind.tiny.allx.gz"), gzip(&plain)).unwrap();
        let again = load(folder.path().to_str().unwrap(), &LoadOptions::default()).unwrap();
        same(&again, &expected);
        let out = scratch::folder().unwrap();
        convert(&data, out.path()).unwrap();
        let back = load(out.path().to_str().unwrap(), &LoadOptions::default()).unwrap();
        same(&back, &expected);
        assert_eq!(back.splits, data.splits);
    }
}

/// Files made from the TSV form of the public graphs give the TSV form back, splits included.
#[test]
fn the_public_graphs_survive_the_format() {
    for (name, small, first) in [("cora", 140, 1708), ("citeseer", 120, 2312)] {
        let Some(path) = public(name) else { return };
        let expected = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        let test = ids(&expected.split(Some("public")).unwrap().test);
        for style in [Style::Old, Style::New] {
            let folder = scratch::folder().unwrap();
            write_set(folder.path(), name, style, &expected, small, first, &test);
            let data = planetoid(folder.path(), name).unwrap();
            same(&data, &expected);
            assert_eq!(split(&data, "public"), split(&expected, "public"), "{name}");
            assert_eq!(split(&data, "full"), split(&expected, "full"), "{name}");
        }
    }
}

/// The real files, where a folder `planetoid` with them is among the public data.
#[test]
fn the_real_files_are_the_public_graphs() {
    let Some(folder) = public("planetoid") else { return };
    for name in ["cora", "citeseer"] {
        let Some(path) = public(name) else { return };
        if !folder.join(format!("ind.{name}.graph")).is_file() {
            return skipped(&format!("no ind.{name}.graph in {}", folder.display()));
        }
        let expected = load(path.to_str().unwrap(), &LoadOptions::default()).unwrap();
        let data = planetoid(&folder, name).unwrap();
        same(&data, &expected);
        assert_eq!(
            (split(&data, "public"), split(&data, "full")),
            (split(&expected, "public"), split(&expected, "full"))
        );
    }
}

/// Python's own pickler, where there is one with NumPy and SciPy, in every protocol and for several types.
#[test]
fn what_python_writes_now_is_read() {
    let script = fixtures().join("make.py");
    let folder = scratch::folder().unwrap();
    let ran = std::process::Command::new("python3").arg(&script).arg(folder.path()).output();
    match ran {
        Ok(ran) if ran.status.success() => {}
        _ => return skipped("there is no python3 with NumPy and SciPy"),
    }
    for p in ["p0", "p1", "p2"] {
        let (now, then) = (planetoid(folder.path(), p).unwrap(), planetoid(&fixtures(), p).unwrap());
        same(&now, &then);
    }
}

/// The message for a set whose file `part` has these bytes.
fn with(part: &str, bytes: &[u8]) -> String {
    let (folder, _) = written(Style::Old);
    std::fs::write(folder.path().join(format!("ind.tiny.{part}")), bytes).unwrap();
    let text = message(planetoid(folder.path(), "tiny"));
    assert!(text.contains(&format!("ind.tiny.{part}")), "{text}");
    text
}

fn pickled(fill: impl Fn(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::new(Style::Old);
    fill(&mut writer);
    writer.finish()
}

/// The classic attack, in every form that pickles have for it: refused by name, and nothing runs.
#[test]
fn nothing_is_ever_executed() {
    let folder = scratch::folder().unwrap();
    let proof = folder.path().join("proof");
    let command = format!("touch {}", proof.display());
    let calls: [&[u8]; 4] = [b"cos\nsystem\n", b"cposix\nsystem\n", b"c__builtin__\neval\n", b"cbuiltins\nexec\n"];
    for call in calls {
        let attack = [call, b"(S'", command.as_bytes(), b"'\ntR."].concat();
        let text = with("graph", &attack);
        assert!(text.contains("GLOBAL at byte 0") && text.contains("nothing was executed"), "{text}");
    }
    let inst = [b"(S'", command.as_bytes(), b"'\nios\nsystem\n."].concat();
    assert!(with("graph", &inst).contains(&format!("INST at byte {}", command.len() + 5)));
    for (attack, expected) in [
        (&b"(cos\nsystem\nS'x'\no."[..], "GLOBAL at byte 1: os.system is nothing that a data set may name"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93", "PROTO at byte 0: protocol 4 is not read"),
        (b"\x8c\x02os\x8c\x06system\x93.", "an operation of protocol 3 or later at byte 0"),
        (b"P1\n.", "PERSID at byte 0"),
        (b"\x82\x01.", "EXT1 at byte 0"),
        // allowed names in forms that they are not meant for
        (b"cnumpy\nndarray\n(I5\ntR.", "REDUCE at byte 20"),
        (b"c__builtin__\nlist\n(I5\ntR.", "REDUCE"),
        (b"ccollections\ndefaultdict\n(c_codecs\nencode\ntR.", "REDUCE"),
        (b"c_codecs\nencode\n(V.\nVrot13\ntR.", "only text in latin1 becomes bytes"),
        (b"ccopy_reg\n_reconstructor\n(cnumpy\nndarray\nc__builtin__\nobject\nNtR.", "REDUCE"),
        (b"(lS'append'\nR.", "REDUCE at byte 12: what it calls is no name"),
        (b"}}b.", "BUILD at byte 2: this is no state of a dictionary"),
    ] {
        let text = with("graph", attack);
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!proof.exists());
}

#[test]
fn broken_pickles_name_operation_and_byte() {
    for (bytes, expected) in [
        (&b""[..], "the file ends at byte 0 without STOP"),
        (b"}", "ends at byte 1 without STOP"),
        (b"}..", "STOP at byte 1: 1 bytes follow the end"),
        (b"}}.", "values left over"),
        (b".", "STOP at byte 0: the stack is empty"),
        (b"T\xff\xff\xff\xff.", "BINSTRING at byte 0: has the negative length -1"),
        (b"T\xff\xff\xff\x7f.", "BINSTRING at byte 0: asks for 2147483647 bytes where 1 are left"),
        (b"X\xff\xff\xff\xff.", "BINUNICODE at byte 0: asks for 4294967295 bytes"),
        (b"X\x01\0\0\0\xff.", "its text is not UTF-8"),
        (b"\x8b\xff\xff\xff\x7f.", "LONG4 at byte 0"),
        (b"K", "BININT1 at byte 0: asks for 1 bytes where 0 are left"),
        (b"h\x05.", "BINGET at byte 0: asks for number 5 of the memo"),
        (b"p-1\n.", "PUT at byte 0"),
        (b"t.", "TUPLE at byte 0: there is no mark"),
        (b"}(K\x01u.", "SETITEMS at byte 4: a key has no value"),
        (b"}K\x01a.", "APPEND at byte 3: appends to a dictionary"),
        (b"]K\x01K\x01s.", "SETITEM at byte 5: sets items of a list"),
        (b"K\x01K\x01a.", "APPEND at byte 4"),
        (b"}(0b.", "BUILD at byte 3: the stack is empty"),
        (b"\xfe.", "byte 0xfe at byte 0: no operation of a pickle"),
        (b"I12", "INT at byte 0: the file ends inside it"),
        (b"F1.x\n.", "FLOAT at byte 0"),
        (b"L99999999999999999999L\n.", "LONG at byte 0"),
        (b"cos", "GLOBAL at byte 0: the file ends inside it"),
        (b"K\x05.", "a whole number where a dictionary is needed"),
        (b"].", "the object at byte 0: a list where a dictionary is needed"),
    ] {
        let text = with("graph", bytes);
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let deep = [&b"("[..]; 100_000].concat();
    assert!(with("graph", &deep).contains("MARK at byte 64: nested deeper than 64"));
    // a tower of tuples nests without marks; nothing walks down it
    let tower = [&b")"[..], &vec![0x85; 2_000_000], b"."].concat();
    assert!(with("graph", &tower).contains("a tuple where a dictionary is needed"));
}

#[test]
fn graphs_must_be_lists_of_node_ids() {
    for (fill, expected) in [
        (&b"}J\xff\xff\xff\xff]s"[..], "a key of the dictionary is -1, node ids count from 0"),
        (b"}K\x01](J\xfe\xff\xff\xffes", "a neighbour of node 1 is -2"),
        (b"}K\x01]U\x01xas", "a neighbour of node 1 is a string of bytes, no node id"),
        (b"}K\x01K\x01s", "node 1 has a whole number in the place of its list"),
        (b"}K\x01]sK\x01]s", "node 1 has two lists of neighbours"),
        (b"}K\x01]\x8a\x05\xff\xff\xff\xff\x00as", "node ids must be below 4294967295"),
        (b"}K\x01]\x8a\x05\xfe\xff\xff\xff\x00as", "4294967295 nodes for 1 edges; is a node id wrong?"),
    ] {
        let bytes = [b"\x80\x02", fill, b"."].concat();
        let text = with("graph", &bytes);
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // one list under many keys would grow with the square of the file
    let mut bomb = b"\x80\x02}](".to_vec();
    (0..3000).for_each(|_| bomb.extend(b"K\x01"));
    bomb.extend(b"eq\x010(");
    (0..3000u16).for_each(|key| bomb.extend([&b"M"[..], &key.to_le_bytes(), b"h\x01"].concat()));
    bomb.extend(b"u.");
    assert!(with("graph", &bomb).contains("this list of neighbours is that of many nodes"));
    // and so would one number of a million bytes that is many nodes' neighbour
    let mut bomb =
        b"\x80\x02cnumpy.core.multiarray\nscalar\n(cnumpy\ndtype\n(U\x02i8K\x00K\x01tRc_codecs\nencode\n(X".to_vec();
    bomb.extend(1_000_000u32.to_le_bytes());
    bomb.extend(vec![0; 1_000_000]);
    bomb.extend(b"U\x06latin1tRtRq\x010}K\x01](");
    (0..500_000).for_each(|_| bomb.extend(b"h\x01"));
    bomb.extend(b"es.");
    assert!(with("graph", &bomb).contains("a neighbour of node 1 is a number of NumPy, no node id"));
}

#[test]
fn arrays_and_matrices_must_fit() {
    let text = with("y", &pickled(|w| w.array(&[2, 3], "i4", &[0; 20])));
    assert!(text.contains("shape [2, 3] of 4-byte items does not fit its 20 bytes"), "{text}");
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("y", pickled(|w| w.array(&[1 << 30, 1 << 30], "i4", &[])), "does not fit"),
        ("y", pickled(|w| w.array(&[6], "i4", &[0; 24])), "labels need an array of two axes"),
        ("y", pickled(|w| w.array(&[2, 0], "i4", &[])), "0 classes"),
        ("y", pickled(|w| w.array(&[1, 1, 1], "i4", &[0; 4])), "an array of 3 axes"),
        (
            "y",
            pickled(|w| w.array(&[1, 2], "i4", &[1, 0, 0, 0, 1, 0, 0, 0])),
            "row 0 (from 0) has two classes, 0 and 1",
        ),
        ("y", pickled(|w| w.array(&[1, 2], "i1", &[0, 2])), "row 0 (from 0) holds 2; classes are a 1 among zeros"),
        ("y", pickled(|w| w.array(&[1, 1], "O8", &[0; 8])), "items of type O8 are not read"),
        ("y", pickled(|w| w.csr(2, &[vec![(0, 1.0)]])), "a csr_matrix where an array is needed"),
        ("x", pickled(|w| w.csr(1, &[vec![(1, 1.0)]])), "column 1 is outside of 0 to 0"),
        ("x", pickled(|w| w.graph(&[])), "a dictionary where a csr_matrix or an array is needed"),
        ("x", pickled(|w| w.raw(b"cscipy.sparse.csr\ncsr_matrix\n)\x81}b")), "the csr_matrix has no _shape"),
        ("x", pickled(|w| w.raw(b"cscipy.sparse.csr\ncsr_matrix\n)\x81")), "a csr_matrix where a csr_matrix or"),
    ];
    for (part, bytes, expected) in cases {
        let text = with(part, &bytes);
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let text = with("allx", &pickled(|w| w.csr(12, &[vec![(1, 1.0)], vec![], vec![(0, 1.0), (7, f32::NAN)]])));
    assert!(text.contains("the feature at row 2, column 7 (from 0) is no finite 32-bit number"), "{text}");
}

#[test]
fn features_may_be_dense_but_not_both() {
    let (folder, expected) = written(Style::Old);
    let columns = sparse(&expected).cols();
    let put = |part: &str, nodes: &[usize]| {
        let mut items = vec![0f64; nodes.len() * columns];
        for (row, &node) in nodes.iter().enumerate() {
            sparse(&expected).row(node).iter().for_each(|&column| items[row * columns + column as usize] = 1.0);
        }
        let bytes: Vec<u8> = items.iter().flat_map(|x| x.to_le_bytes()).collect();
        let bytes = pickled(|w| w.array(&[nodes.len(), columns], "f8", &bytes));
        std::fs::write(folder.path().join(format!("ind.tiny.{part}")), bytes).unwrap();
    };
    let (_, test) = small();
    put("x", &(0..6).collect::<Vec<_>>());
    put("allx", &(0..30).collect::<Vec<_>>());
    let mixed = message(planetoid(folder.path(), "tiny"));
    assert!(mixed.contains("one is a csr_matrix and one an array"), "{mixed}");
    put("tx", &test.iter().map(|&t| t as usize).collect::<Vec<_>>());
    let data = planetoid(folder.path(), "tiny").unwrap();
    let Features::Stored(FeatureMatrix::Dense(dense)) = &data.features else { panic!("{:?}", data.features) };
    assert_eq!((dense.rows(), dense.cols()), (40, columns));
    for node in 0..40 {
        let there: Vec<u32> = (0u32..).zip(dense.row(node)).filter(|(_, x)| **x == 1.0).map(|(c, _)| c).collect();
        assert_eq!(there, sparse(&expected).row(node), "{node}");
    }
    assert_eq!(data.labels, expected.labels);
}

#[test]
fn files_must_fit_each_other() {
    let (data, _) = small();
    let refused = |change: &dyn Fn(&Path), expected: &str| {
        let (folder, _) = written(Style::New);
        change(folder.path());
        let text = message(planetoid(folder.path(), "tiny"));
        assert!(text.contains(expected), "{expected}: {text}");
    };
    let put = |folder: &Path, part: &str, bytes: &[u8]| {
        std::fs::write(folder.join(format!("ind.tiny.{part}")), bytes).unwrap()
    };
    let classes = |count: usize, of: usize| pickled(|w| w.classes(of, &vec![0; count]));
    refused(&|f| std::fs::remove_file(f.join("ind.tiny.tx")).unwrap(), "there is no ind.tiny.tx; x, y, tx,");
    refused(&|f| put(f, "ty", &classes(7, 3)), "ind.tiny.ty (rows) has 7, but ind.tiny.tx has 8");
    refused(&|f| put(f, "y", &classes(6, 2)), "ind.tiny.y (classes) has 2, but ind.tiny.ally has 3");
    refused(&|f| put(f, "x", &pickled(|w| w.csr(1, &vec![vec![]; 6]))), "ind.tiny.x (columns) has 1");
    refused(&|f| put(f, "test.index", b"30\n31\n"), "2 nodes, but ind.tiny.tx has 8 rows");
    refused(&|f| put(f, "test.index", b"30\n31\n\n5\n"), "test.index:4: node 5 is a row of allx, which has 30");
    refused(&|f| put(f, "test.index", b"30\n-1\n"), "test.index:2: node id -1 is negative");
    refused(
        &|f| put(f, "test.index", b"30\n31\n32\n33\n34\n35\n36\n31\n"),
        "test.index:8: node 31 stands here a second time",
    );
    refused(&|f| put(f, "test.index", b"30\n31\n32\n33\n34\n35\n36\n4000000000\n"), "4000000001 nodes for");
    assert_eq!(data.classes, 3);
    let missing = message(planetoid(Path::new("nowhere"), "cora"));
    assert!(missing.contains("no data set 'planetoid:nowhere/cora': looked at nowhere/ind.cora.graph"), "{missing}");
}

#[test]
fn a_full_split_needs_more_than_500_rows() {
    let edges: String = (0..700u32).map(|i| format!("{i} {}\n", (i + 1) % 700)).collect();
    let words: String = (0..700u32).map(|i| format!("{}\n", i % 9)).collect();
    let labels: String = (0..700u32).map(|i| format!("{i} {}\n", i % 2)).collect();
    let data = read(&[("edges.tsv", &edges), ("words.tsv", &words), ("labels.tsv", &labels)]).unwrap();
    let folder = scratch::folder().unwrap();
    let test: Vec<u32> = (600..700).rev().collect();
    write_set(folder.path(), "cora", Style::Old, &data, 20, 600, &test);
    let found = planetoid(folder.path(), "cora").unwrap();
    same(&found, &data);
    assert_eq!(split(&found, "public"), [(0..20).collect(), (20..520).collect(), (600..700).collect::<Vec<u32>>()]);
    assert_eq!(split(&found, "full"), [(0..100).collect(), (100..600).collect(), (600..700).collect::<Vec<u32>>()]);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    // the layouts of other programs: a folder of the name, and raw below it
    let nested = scratch::folder().unwrap();
    let raw = nested.path().join("cora/raw");
    std::fs::create_dir_all(&raw).unwrap();
    for entry in std::fs::read_dir(folder.path()).unwrap().flatten() {
        std::fs::copy(entry.path(), raw.join(entry.file_name())).unwrap();
    }
    same(&planetoid(nested.path(), "cora").unwrap(), &data);
}
