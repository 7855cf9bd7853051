//! Groups of micro-batches, as interleaved schedules take them.

/// The rule by which micro-batches are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// The first group has S + (M mod S), the others S; one group of M if M < S.
    First,
    /// Groups of so many, the last one what remains (Megatron-LM's `--microbatch-group-size-per-virtual-pipeline-stage`).
    Uniform(usize),
}

impl Grouping {
    /// The sizes of the groups of `micro_batches` on `stages` stages; none is 0.
    pub fn sizes(self, stages: usize, micro_batches: usize) -> Vec<usize> {
        let (first, size) = match self {
            Grouping::First if micro_batches < stages => (micro_batches, stages),
            Grouping::First => (stages + micro_batches % stages, stages),
            Grouping::Uniform(size) => (size.max(1).min(micro_batches), size.max(1)),
        };
        let mut sizes = vec![first];
        let mut left = micro_batches - first;
        while left > 0 {
            sizes.push(size.min(left));
            left -= size.min(left);
        }
        sizes.retain(|&size| size > 0);
        sizes
    }

    /// Whether Megatron-LM takes it: groups of at least S and at most M, and a remainder of none or at least S.
    pub fn megatron_accepts(self, stages: usize, micro_batches: usize) -> bool {
        crate::megatron::rules::groups(self, stages, micro_batches).is_ok()
    }
}

impl std::fmt::Display for Grouping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Grouping::First => f.write_str("first"),
            Grouping::Uniform(size) => write!(f, "uniform:{size}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_by_hand() {
        assert_eq!(Grouping::First.sizes(4, 8), [4, 4]);
        assert_eq!(Grouping::First.sizes(4, 9), [5, 4]);
        assert_eq!(Grouping::First.sizes(4, 3), [3]);
        assert_eq!(Grouping::First.sizes(4, 4), [4]);
        assert_eq!(Grouping::Uniform(5).sizes(4, 9), [5, 4]);
        assert_eq!(Grouping::Uniform(4).sizes(4, 9), [4, 4, 1]);
        assert_eq!(Grouping::Uniform(50).sizes(4, 9), [9]);
    }

    #[test]
    fn megatron_wants_no_short_rest() {
        let takes = |group, micro_batches| Grouping::Uniform(group).megatron_accepts(4, micro_batches);
        assert!(takes(4, 8) && takes(5, 9) && takes(6, 11) && takes(9, 9));
        assert!(!takes(4, 9) && !takes(3, 9) && !takes(10, 9) && !takes(0, 9));
        assert!(Grouping::First.megatron_accepts(4, 8) && !Grouping::First.megatron_accepts(4, 9));
    }
}
