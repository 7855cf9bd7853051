//! Independent hits of one probability among many places, found by the gaps between them: ⌊ln(1 − u) / ln(1 − p)⌋ places
//! are skipped (Batagelj, Brandes, Physical Review E 71, 036113, 2005), so that the time goes with the hits.

use crate::graph::Edge;
use sapwood_skeleton::math::ln_f64;
use sapwood_skeleton::random::{Stream, uniform_f64};
use std::ops::Range;

/// Independent hits of probability `p`, found by the gaps between them.
#[derive(Debug)]
pub(super) struct Gaps {
    pub(super) p: f64,
    /// ln(1 − p).
    ln_miss: f64,
}

impl Gaps {
    pub(super) fn new(p: f64) -> Gaps {
        // ln(1 − p) keeps its digits for small p (Kahan)
        let miss = 1.0 - p;
        let ln_miss = if miss == 1.0 { -p } else { ln_f64(miss) * (p / (1.0 - miss)) };
        Gaps { p, ln_miss }
    }

    /// Appends the pairs (`row`, j) for the hits j of `columns`.
    pub(super) fn hits(
        &self,
        stream: &Stream,
        row: u32,
        part: u32,
        columns: Range<u64>,
        edges: &mut Vec<Edge>,
    ) -> sapwood_skeleton::Result<()> {
        if self.p == 0.0 {
            return Ok(());
        }
        let mut next = columns.start;
        for unit in 0.. {
            let words = stream.at(row, part, unit)?;
            for (low, high) in [(words[0], words[1]), (words[2], words[3])] {
                if next >= columns.end {
                    return Ok(());
                }
                // a gap beyond 2^64 saturates
                let gap = (ln_f64(1.0 - uniform_f64(low, high)) / self.ln_miss) as u64;
                next = next.saturating_add(gap);
                if next >= columns.end {
                    return Ok(());
                }
                edges.push(Edge { from: row, to: next as u32, weight: 1.0 });
                next += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_of_a_miss_keeps_its_digits() {
        for p in [1e-300f64, 1e-17, 1e-12, 1e-9, 1e-3, 0.3, 0.999] {
            let got = Gaps::new(p).ln_miss;
            assert!((got / (-p).ln_1p() - 1.0).abs() < 1e-14, "{p}: {got}");
        }
        assert_eq!(Gaps::new(1.0).ln_miss, f64::NEG_INFINITY);
    }
}
