//! Writing and reading files gives equal trees.

use sapwood_machine::{Tree, presets};

use crate::t2;

fn again(tree: &Tree) -> Tree {
    Tree::parse(&tree.write(), "written").unwrap_or_else(|e| panic!("{e}\n{}", tree.write()))
}

#[test]
fn every_key_survives() {
    let tree = t2::with(
        "port = \"parallel\"\ntransport = \"mpi\"\npin = \"7,0-6\"\n\
         device = { sms = 3, l2 = \"50 MB\", latency = { value = \"1.5 us\", mad = \"2 ns\", samples = 9 } }\n\
         [[override]]\nat = \"/node[1]\"\nchildren = 4\nmemory = {}\nlink = {}\ncompute = {}\ndevice = {}\n\
         [[override]]\nat = \"/node[0]/core[*]\"\nspeed = 0.333\n\
         link = { down = { value = \"3 GB/s\", mad = \"0.1 GB/s\", samples = 5 }, up = { value = \"7 GB/s\", samples = 2 } }\n\
         [measured]\ndate = \"2026-12-01\"\nhost = \"a \\\"b\\\"\\n\\\\c\"\ncpu = \"x\"\nversions = { rustc = \"1.89\", \"a b\" = \"1\" }\nnoisy = true\n",
    );
    let link = &tree.node(tree.at("/node[0]/core[0]").unwrap()).link;
    assert_eq!((link.down.value, link.down.samples, link.up.samples), (1.0 / 3e9, 5, 2));
    let spread = link.down.mad.unwrap() / link.down.value;
    assert!((spread - 1.0 / 30.0).abs() < 1e-12, "the spread of a rate is that of its gap: {spread}");
    assert_eq!(again(&tree), tree);
}

#[test]
fn presets_read_back_equal() {
    for preset in presets::ALL {
        let tree = Tree::preset(preset.name).unwrap();
        assert_eq!(again(&tree), tree, "{}", preset.name);
    }
}

#[test]
fn measured_quantities() {
    let tree = t2::with(
        "[[override]]\nat = \"/node[0]\"\ncompute = { f64 = { value = \"2 GFLOP/s\", mad = \"1 MFLOP/s\", samples = 1000 } }\n",
    );
    let rate = tree.overrides()[0].values.compute.as_ref().unwrap().by_type[&sapwood_machine::Dtype::F64];
    assert_eq!((rate.value, rate.mad, rate.samples), (2e9, Some(1e6), 1000));
}
