//! The mean over all axes behind the channels.

use super::mean::mean;
use super::{Composite, floats, spatial};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "global_average_pool",
    summary: "the mean over all axes behind batch and channels, which stay with extent 1",
    operands: (1, 1),
    lower: |p, x, _| {
        floats(p, "global_average_pool", x[0])?;
        let axes = spatial(p, "global_average_pool", x[0])?;
        Ok(vec![mean(p, x[0], &axes, true)?])
    },
}];
