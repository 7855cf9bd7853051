//! The machines that ship: complete, registered, and of one mind about one device.

use std::collections::BTreeMap;
use std::path::Path;

use sapwood_machine::{Dtype, Tree, check, presets};

#[test]
fn every_file_is_registered_and_every_name_is_unique() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("presets");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().strip_suffix(".toml").unwrap().to_owned())
        .collect();
    files.sort();
    let mut names: Vec<_> = presets::ALL.iter().map(|preset| preset.name.to_owned()).collect();
    names.sort();
    assert_eq!(files, names);
    let mut all: Vec<_> = presets::ALL.iter().flat_map(|p| p.aliases.iter().chain([&p.name])).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn the_list_of_the_specification_is_there() {
    for name in [
        "laptop-8",
        "epyc-2s",
        "h100-node",
        "dgx-h100",
        "h200-node",
        "hgx-h200",
        "a100-node",
        "dgx-a100",
        "v100-node",
        "dgx-v100",
        "ascend-910b-node",
        "gpu-h100",
        "gpu-a100-80",
        "gpu-h200",
        "gpu-v100",
        "cluster-h100-ib",
        "cluster-a100-ib",
        "cluster-ethernet",
    ] {
        assert!(presets::find(name).is_some(), "{name}");
    }
}

#[test]
fn every_file_is_a_machine_without_warnings() {
    for preset in presets::ALL {
        let report = check(preset.text);
        assert!(report.errors.is_empty(), "{}: {:?}", preset.name, report.errors);
        assert!(report.warnings.is_empty(), "{}: {:?}", preset.name, report.warnings);
        let tree = report.tree.unwrap();
        assert_eq!(tree.name(), preset.name);
        assert_eq!(tree.header().aliases, preset.aliases, "{}", preset.name);
        assert!(tree.header().source.as_ref().is_some_and(|source| source.contains("indicative")), "{}", preset.name);
        assert!(!preset.summary.is_empty());
    }
}

#[test]
fn counts() {
    let shape = |name| Tree::preset(name).unwrap().to_shape();
    assert_eq!(shape("laptop-8"), "8");
    assert_eq!(shape("epyc-2s"), "2x8x8");
    assert_eq!(shape("gpu-h100"), "seq");
    for node in ["h100-node", "h200-node", "a100-node", "v100-node", "ascend-910b-node"] {
        assert_eq!(shape(node), "1x8", "{node}");
    }
    assert_eq!((shape("cluster-h100-ib"), shape("cluster-a100-ib")), ("32x8".to_owned(), "32x8".to_owned()));
    assert_eq!(shape("cluster-ethernet"), "16x32");
}

#[test]
fn vendor_figures() {
    for (name, memory, bandwidth, bf16, side) in [
        ("h100-node", 80, 3.35e12, 9.89e14, 450e9),
        ("h200-node", 141, 4.8e12, 9.89e14, 450e9),
        ("a100-node", 80, 2.039e12, 3.12e14, 300e9),
    ] {
        let tree = Tree::preset(name).unwrap();
        let gpu = tree.node(tree.leaf_nodes()[0]);
        let own = gpu.memory.as_ref().unwrap();
        assert_eq!((own.size, own.bandwidth.unwrap().value), (Some(memory * 1_000_000_000), bandwidth), "{name}");
        assert_eq!(gpu.compute.rate(Dtype::Bf16), Some(bf16), "{name}");
        assert!((1.0 / gpu.link.side() / side - 1.0).abs() < 1e-12, "{name}");
    }
    let ascend = Tree::preset("ascend-910b-node").unwrap();
    assert_eq!(ascend.node(ascend.leaf_nodes()[0]).memory.as_ref().unwrap().size, Some(64_000_000_000));
}

/// Levels called `gpu` with the same memory are the same device, and say the same in every file.
#[test]
fn one_device_has_one_description() {
    let mut seen: BTreeMap<String, (String, String)> = BTreeMap::new();
    for preset in presets::ALL {
        let tree = Tree::preset(preset.name).unwrap();
        let Some(gpu) = tree.level("gpu") else { continue };
        let values = &gpu.values;
        let what = format!("{:?} {:?} {:?}", values.device, values.compute, values.memory);
        let key = format!("{:?} {:?}", values.memory, values.compute);
        let first = seen.entry(key).or_insert_with(|| (preset.name.to_owned(), what.clone()));
        assert_eq!(first.1, what, "{} and {} differ", first.0, preset.name);
    }
    assert_eq!(seen.len(), 5, "V100, A100, H100, H200, Ascend 910B");
}
