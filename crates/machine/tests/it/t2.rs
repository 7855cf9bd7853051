//! The example machine of the specification: two nodes of four cores.

use sapwood_machine::{Dtype, Port, Tree, check};

pub(crate) const TEXT: &str = include_str!("t2.toml");

pub(crate) fn t2() -> Tree {
    Tree::parse(TEXT, "t2.toml").unwrap()
}

/// T2 with something appended.
pub(crate) fn with(more: &str) -> Tree {
    Tree::parse(&format!("{TEXT}{more}"), "t2.toml").unwrap()
}

#[test]
fn is_accepted_without_a_word() {
    let report = check(TEXT);
    assert!(report.errors.is_empty() && report.warnings.is_empty(), "{report:?}");
}

#[test]
fn has_the_nodes_it_describes() {
    let tree = t2();
    assert_eq!((tree.name(), tree.depth(), tree.leaf_count(), tree.node_count()), ("t2", 2, 8, 11));
    assert_eq!(tree.levels().iter().map(|level| level.name.as_str()).collect::<Vec<_>>(), ["cluster", "node", "core"]);
    let root = tree.root();
    assert_eq!(tree.parent(root), None);
    assert_eq!(tree.children(root).len(), 2);
    let second = tree.children(root)[1];
    assert_eq!((tree.leaves(root), tree.leaves(second)), (0..8, 4..8));
    let core = tree.children(second)[2];
    assert_eq!(tree.path(core), "/node[1]/core[2]");
    assert_eq!(tree.at("/node[1]/core[2]").unwrap(), core);
    assert_eq!(tree.parent(core), Some(second));
    assert_eq!(tree.leaf_nodes()[tree.leaves(core).start], core);
    assert!(tree.children(core).is_empty());
    assert_eq!((tree.level_of(root), tree.level_of(second), tree.level_of(core)), (0, 1, 2));
    assert_eq!(tree.nodes_at(1), tree.children(root));
    assert_eq!((tree.nodes_at(2).len(), tree.nodes_at(3).len()), (8, 0));
    assert_eq!(tree.path(root), "/");
    assert_eq!(tree.at("/").unwrap(), root);
}

#[test]
fn has_the_values_it_states() {
    let tree = t2();
    let node = tree.node(tree.at("/node[0]").unwrap());
    assert_eq!(node.link.latency.value, 1e-5);
    assert_eq!((node.link.down.value, node.link.up.value), (1e-9, 1e-9));
    assert_eq!((node.link.side(), node.link.side_latency()), (5e-10, 4e-6));
    let memory = node.memory.as_ref().unwrap();
    assert_eq!((memory.size, memory.bandwidth.unwrap().value), (Some(64 << 30), 2e10));
    assert_eq!(node.compute.rate(Dtype::F64), None);
    let core = tree.node(tree.at("/node[0]/core[3]").unwrap());
    assert_eq!(core.compute.rate(Dtype::F64), Some(1e9), "any stands for every type");
    assert_eq!((core.port, core.speed, core.memory.as_ref()), (Port::Serial, 1.0, None));
    let root = tree.node(tree.root());
    assert_eq!((root.link.side(), root.link.latency.value), (0.0, 0.0), "no link is free");
}

#[test]
fn defaults_of_the_side_link() {
    let tree =
        with("[[override]]\nat = \"/node[0]\"\nlink = { latency = \"3 us\", down = \"1 GB/s\", up = \"2 ns/B\" }\n");
    let link = &tree.node(tree.at("/node[0]").unwrap()).link;
    assert_eq!((link.side(), link.side_latency()), (1e-9 + 2e-9, 2.0 * 3e-6), "up + down, latency twice");
    assert_eq!(tree.node(tree.at("/node[1]").unwrap()).link.side(), 5e-10);
}

#[test]
fn overrides_change_some_nodes() {
    let tree = with("[[override]]\nat = \"/node[1]/core[2-3]\"\ncompute = { any = \"0.6 GFLOP/s\" }\n");
    let rates: Vec<_> =
        tree.leaf_nodes().iter().map(|leaf| tree.node(*leaf).compute.rate(Dtype::Any).unwrap()).collect();
    assert_eq!(rates, [1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 6e8, 6e8]);
}

#[test]
fn later_overrides_win_key_by_key() {
    let tree = with(
        "[[override]]\nat = \"/node[*]/core[*]\"\nspeed = 0.5\nport = \"parallel\"\n\
         [[override]]\nat = \"/node[0]/core[*]\"\nspeed = 0.25\n",
    );
    let speeds: Vec<_> = tree.leaf_nodes().iter().map(|leaf| tree.node(*leaf).speed).collect();
    assert_eq!(speeds, [0.25, 0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5]);
    assert!(tree.leaf_nodes().iter().all(|leaf| tree.node(*leaf).port == Port::Parallel));
}

#[test]
fn children_shape_the_tree() {
    let tree = with("[[override]]\nat = \"/node[0]\"\nchildren = 1\n[[override]]\nat = \"/node[1]\"\nchildren = 6\n");
    assert_eq!(tree.to_shape(), "[1,6]");
    let cut =
        with("[[override]]\nat = \"/node[0]\"\nchildren = 0\n[[override]]\nat = \"/node[1]/core[3]\"\nspeed = 2\n");
    assert_eq!(cut.to_shape(), "[seq,4]", "without children a node is a worker itself");
    assert_eq!(
        cut.leaf_nodes().iter().map(|n| cut.path(*n)).collect::<Vec<_>>()[..2],
        ["/node[0]", "/node[1]/core[0]"]
    );
    // paths see the children that overrides made, whatever their order
    let late =
        with("[[override]]\nat = \"/node[1]/core[5]\"\nspeed = 2\n[[override]]\nat = \"/node[1]\"\nchildren = 6\n");
    assert_eq!(late.node(late.at("/node[1]/core[5]").unwrap()).speed, 2.0);
}

#[test]
fn compute_is_inherited_from_above() {
    let text = TEXT
        .replace("compute = { any = \"1 GFLOP/s\" }\n", "")
        .replace("[[level]]\nname = \"core\"", "compute = { f32 = \"3 GFLOP/s\" }\n[[level]]\nname = \"core\"");
    let tree =
        Tree::parse(&format!("{text}[[override]]\nat = \"/node[1]\"\ncompute = {{ any = \"7 GFLOP/s\" }}\n"), "x");
    let tree = tree.unwrap();
    let rate = |path, dtype| tree.node(tree.at(path).unwrap()).compute.rate(dtype);
    assert_eq!(rate("/node[0]/core[0]", Dtype::F32), Some(3e9));
    assert_eq!(rate("/node[0]/core[0]", Dtype::F64), None);
    assert_eq!(rate("/node[1]/core[0]", Dtype::F64), Some(7e9), "an override replaces the whole key");
    assert_eq!(rate("/", Dtype::F32), None);
}

#[test]
fn pins_go_from_left_to_right() {
    let tree = with("pin = \"0-3,8-11\"\n[[override]]\nat = \"/node[0]/core[1-2]\"\npin = \"21,20\"\n");
    let pins: Vec<_> = tree.leaf_nodes().iter().map(|leaf| tree.pin(*leaf).unwrap()).collect();
    assert_eq!(pins, [0, 21, 20, 3, 8, 9, 10, 11]);
    assert_eq!(tree.pin(tree.root()), None);
}

#[test]
fn paths_that_name_no_single_node_are_refused() {
    let message = |path| t2().at(path).unwrap_err().to_string();
    assert_eq!(message("/node[*]"), "\"/node[*]\": names 2 nodes, write the path of one");
    assert_eq!(message("/node[5]"), "\"/node[5]\": no node[5] is there, write 0 to 1");
    assert!(message("node").contains("is no path"));
}
