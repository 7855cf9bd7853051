//! The largest element over all axes behind the channels.

use super::{Composite, spatial};
use crate::monoids::{MAX, Params};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "global_max_pool",
    summary: "the largest element over all axes behind batch and channels, which stay with extent 1",
    operands: (1, 1),
    lower: |p, x, _| {
        let axes = spatial(p, "global_max_pool", x[0])?;
        p.reduce(&MAX, Params::default(), x[0], &axes, true)
    },
}];
