//! The built-in kinds, from the one that keeps all to the one that keeps least.

/// A kind of recomputation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// Name, as `--recompute` and layouts have it.
    pub name: &'static str,
    /// What is run again.
    pub summary: &'static str,
}

/// Every kind that is built in.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    BUILT_IN.iter().chain(PARTS)
}

/// Every built-in kind that measured costs may state.
pub static BUILT_IN: &[Kind] = &[
    Kind { name: "none", summary: "keeps all activations" },
    Kind { name: "selective", summary: "runs element-wise operations again" },
    Kind { name: "communication", summary: "gathers again what was sent" },
    Kind { name: "both", summary: "selective and communication" },
    Kind { name: "full", summary: "keeps the input of the layer and runs all of it again" },
];

/// Kinds that run one named part of a layer again.
pub static PARTS: &[Kind] = &[
    Kind { name: "core_attn", summary: "runs the core of the attention again" },
    Kind { name: "mla_up_proj", summary: "runs the up-projections of multi-head latent attention again" },
    Kind { name: "moe_act", summary: "runs the activation function of the experts again" },
    Kind { name: "mlp", summary: "runs the feed-forward part again" },
];
