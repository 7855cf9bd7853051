//! Shapes: the grammar, its limits, and back again.

use proptest::prelude::*;
use sapwood_machine::Tree;

#[test]
fn shapes_and_their_trees() {
    for (text, leaves, depth, nodes) in [
        ("seq", 1, 0, 1),
        ("1", 1, 1, 2),
        ("3", 3, 1, 4),
        ("2x3", 6, 2, 9),
        ("2x2x2", 8, 3, 15),
        ("[2,[1,4]]", 7, 3, 12),
        ("[3,[1,4]]", 8, 3, 13),
        ("[seq,seq]", 2, 1, 3),
        ("[[seq]]", 1, 2, 3),
        (" [ 2x2 , 1 ] ", 5, 3, 10),
        ("1048576", 1 << 20, 1, (1 << 20) + 1),
        ("1024x1024", 1 << 20, 2, (1 << 20) + 1025),
        ("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", 1, 16, 17),
    ] {
        let tree = Tree::shape(text).unwrap();
        assert_eq!((tree.leaf_count(), tree.depth(), tree.node_count()), (leaves, depth, nodes), "{text}");
        assert_eq!(tree.leaves(tree.root()), 0..leaves);
    }
}

#[test]
fn back_to_the_shortest_text() {
    for (text, short) in [
        ("seq", "seq"),
        ("[seq,seq]", "2"),
        ("[2,2]", "2x2"),
        ("[2,3]", "[2,3]"),
        ("[[1,2],[1,2]]", "[[1,2],[1,2]]"),
        ("2x2x2", "2x2x2"),
    ] {
        assert_eq!(Tree::shape(text).unwrap().to_shape(), short);
    }
}

#[test]
fn irregular_trees_number_leaves_from_left_to_right() {
    let tree = Tree::shape("[2,[1,4],seq]").unwrap();
    let paths: Vec<_> = tree.leaf_nodes().iter().map(|leaf| tree.path(*leaf)).collect();
    assert_eq!(
        paths,
        [
            "/l1[0]/l2[0]",
            "/l1[0]/l2[1]",
            "/l1[1]/l2[0]/l3[0]",
            "/l1[1]/l2[1]/l3[0]",
            "/l1[1]/l2[1]/l3[1]",
            "/l1[1]/l2[1]/l3[2]",
            "/l1[1]/l2[1]/l3[3]",
            "/l1[2]"
        ]
    );
    for (i, leaf) in tree.leaf_nodes().iter().enumerate() {
        assert_eq!(tree.leaves(*leaf), i..i + 1);
    }
    assert_eq!(tree.leaves(tree.at("/l1[1]").unwrap()), 2..7);
}

#[test]
fn what_is_no_shape_says_so() {
    let message = |text: &str| Tree::shape(text).unwrap_err().to_string();
    for (text, words) in [
        ("", "ends where a number, \"seq\" or \"[\" was expected"),
        ("0", "at least one child"),
        ("2x", "ends where"),
        ("2x0", "at least one child"),
        ("[2,", "ends where"),
        ("[2", "\",\" or \"]\" was expected"),
        ("[]", "']' where"),
        ("2y", "\"y\" follows the shape"),
        ("seqx2", "\"x2\" follows"),
        ("-1", "'-' where"),
        ("1048577", "more than 1048576 workers"),
        ("99999999999999999999", "more than 1048576 workers"),
        ("1024x1025", "more than 1048576 workers"),
        ("[1048576,1]", "more than 1048576 workers"),
        ("1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", "deeper than 16 levels"),
    ] {
        assert!(message(text).contains(words), "{text}: {}", message(text));
    }
    assert!(message(&"[".repeat(1_000_000)).contains("deeper than 16 levels"));
    assert!(message(&"[".repeat(1_000_000)).len() < 200, "long texts are shortened");
}

fn shape() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("seq".to_owned()),
        (1u32..4).prop_map(|n| n.to_string()),
        (1u32..3, 1u32..3).prop_map(|(a, b)| format!("{a}x{b}"))
    ];
    leaf.prop_recursive(4, 30, 4, |inner| {
        prop::collection::vec(inner, 1..4).prop_map(|parts| format!("[{}]", parts.join(",")))
    })
}

proptest! {
    /// The shape of a shape's tree has the same tree, and so has what is written of it.
    #[test]
    fn there_and_back(text in shape()) {
        let tree = Tree::shape(&text).unwrap();
        let again = Tree::shape(&tree.to_shape()).unwrap();
        prop_assert_eq!(again.to_shape(), tree.to_shape());
        prop_assert_eq!(again.node_count(), tree.node_count());
        let read = Tree::parse(&tree.write(), "written").unwrap();
        prop_assert_eq!(read.to_shape(), tree.to_shape());
        prop_assert_eq!(&read, &tree);
        // leaves of children are those of the parent, in order
        for level in 0..=tree.depth() {
            for node in tree.nodes_at(level) {
                let mut next = tree.leaves(*node).start;
                for child in tree.children(*node) {
                    prop_assert_eq!(tree.leaves(*child).start, next);
                    prop_assert_eq!(tree.parent(*child), Some(*node));
                    next = tree.leaves(*child).end;
                }
                prop_assert!(tree.children(*node).is_empty() || next == tree.leaves(*node).end);
                prop_assert_eq!(tree.at(&tree.path(*node)).unwrap(), *node);
            }
        }
    }

    #[test]
    fn any_text_never_panics(text in "[0-9x,\\[\\]seq ]{0,40}") {
        let _ = Tree::shape(&text);
    }
}
