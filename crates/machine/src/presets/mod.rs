//! The machines that ship with Sapwood, the only list of them: one file in `presets/` and one line in [`ALL`] each.
//!
//! Every file says in `source` which vendor's page its numbers follow and which of them are indicative. Network figures
//! of a node are the sum over its adapters; rates of arithmetic are dense ones.

/// A machine that ships with Sapwood.
#[derive(Debug)]
pub struct Preset {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// Other names it goes by.
    pub aliases: &'static [&'static str],
    /// What it is, in a line.
    pub summary: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

macro_rules! preset {
    ($name:literal, $aliases:expr, $summary:literal) => {
        Preset {
            name: $name,
            aliases: &$aliases,
            summary: $summary,
            text: include_str!(concat!("../../presets/", $name, ".toml")),
        }
    };
}

/// All presets.
pub static ALL: &[Preset] = &[
    preset!("laptop-8", [], "a laptop with 8 cores"),
    preset!("epyc-2s", [], "a server with 2 sockets of 64 cores"),
    preset!("gpu-v100", [], "one V100 SXM2, 32 GB"),
    preset!("gpu-a100-80", [], "one A100 SXM4, 80 GB"),
    preset!("gpu-h100", [], "one H100 SXM5, 80 GB"),
    preset!("gpu-h200", [], "one H200 SXM5, 141 GB"),
    preset!("v100-node", ["dgx-v100"], "a node of 8 V100, 4 InfiniBand adapters of 100 Gb/s"),
    preset!("a100-node", ["dgx-a100"], "a node of 8 A100, 8 InfiniBand adapters of 200 Gb/s"),
    preset!("h100-node", ["dgx-h100"], "a node of 8 H100, 8 InfiniBand adapters of 400 Gb/s"),
    preset!("h200-node", ["hgx-h200"], "a node of 8 H200, 8 InfiniBand adapters of 400 Gb/s"),
    preset!("ascend-910b-node", [], "a node of 8 Ascend 910B, 8 Ethernet adapters of 200 Gb/s"),
    preset!("cluster-a100-ib", [], "32 nodes of 8 A100"),
    preset!("cluster-h100-ib", [], "32 nodes of 8 H100"),
    preset!("cluster-ethernet", [], "16 nodes of 32 cores, Ethernet of 25 Gb/s"),
];

/// The preset called `name`, or with that alias.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|preset| preset.name == name || preset.aliases.contains(&name))
}
