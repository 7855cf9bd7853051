//! The L1 or L2 norm over all axes behind the channels.

use super::lp_norm::norm;
use super::{Composite, floats, spatial, wide};

pub(super) static OPS: &[Composite] = &[Composite {
    name: "global_lp_pool",
    summary: "the norm of order p= (1 or 2, default 2) over all axes behind batch and channels, which stay with extent 1",
    operands: (1, 1),
    lower: |p, x, o| {
        let order = o.int("global_lp_pool", "p", 2)?;
        floats(p, "global_lp_pool", x[0])?;
        let axes = spatial(p, "global_lp_pool", x[0])?;
        let (dtype, x) = (p.dtype(x[0]), wide(p, x[0])?);
        let y = norm(p, "global_lp_pool", x, order, &axes)?;
        Ok(vec![p.cast(y, dtype)?])
    },
}];
