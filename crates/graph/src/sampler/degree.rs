//! `ranked` with the score `degree`: what plain degree does, to compare with.

use super::ranked::Ranked;
use super::{Entry, SamplerOptions};

pub(super) const ENTRY: Entry = Entry {
    name: "degree",
    summary: "drops by the rank of the degrees of the two ends (ranked with --score degree)",
    reads: &[
        "beta",
        "direction",
        "draw",
        "stratify",
        "min-degree",
        "keep-forest",
        "always-keep",
        "q-min",
        "q-max",
        "curve",
        "prob",
    ],
    new: |options| {
        let options = SamplerOptions { score: "degree".into(), ..options.clone() };
        Ok(Box::new(Ranked::new(ENTRY.name, &options)?))
    },
};
