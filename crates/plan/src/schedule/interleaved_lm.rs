//! Interleaved 1F1B with less memory (MindSpore): as `interleaved`, but stage s warms up with
//! min(V·M, (V − 1)·g₀ + S − 1 − s) forwards only.

use super::{Entry, interleaved};

pub(super) const ENTRY: Entry = Entry {
    name: "interleaved-lm",
    summary: "interleaved with a shorter warm-up, for less memory (MindSpore)",
    shape: interleaved::SHAPE,
    accepts: |_| Ok(()),
    orders: |dims| interleaved::orders(dims, 1),
};
