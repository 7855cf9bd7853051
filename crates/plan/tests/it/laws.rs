//! Laws of the simulator, on random cases.

use proptest::prelude::*;
use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::memory::Activations;
use sapwood_plan::simulate::path::Path;
use sapwood_plan::simulate::{Durations, Order, Sweep, Vectors, twin};

/// An order with durations and activations of any size.
fn cases() -> impl Strategy<Value = (Order, Durations<u64>, Activations)> {
    let sizes = (0..schedule::ALL.len(), 1usize..=6, 1usize..=3, 1usize..=13, 0usize..=4);
    sizes.prop_flat_map(|(at, stages, chunks, micro_batches, group)| {
        let entry = &schedule::ALL[at];
        let chunks = if entry.shape.chunks { chunks } else { 1 };
        let group = if group == 0 { Grouping::First } else { Grouping::Uniform(stages + group - 1) };
        // A short group at the end may deadlock; Megatron refuses those.
        let group = if group.megatron_accepts(stages, micro_batches) { group } else { Grouping::First };
        let dims = Dims { stages, chunks, micro_batches, group };
        let order = Order::new(entry, &dims).unwrap();
        let k = dims.virtual_stages();
        let kinds = if entry.shape.splits_backward { 3 } else { 2 };
        let operations = prop::collection::vec(0u64..40, kinds * k);
        let links = prop::collection::vec(0u64..9, 1 + 2 * k);
        let tails = prop::collection::vec(0u64..9, stages);
        let memory = prop::collection::vec(0u64..100, 2 * k + stages);
        (operations, links, tails, memory).prop_map(move |(operations, mut links, tails, memory)| {
            links[0] = 0;
            let memory = Activations {
                kept: memory[..k].to_vec(),
                transient: memory[k..2 * k].to_vec(),
                constant: memory[2 * k..].to_vec(),
            };
            (order.clone(), Durations { operations, links, tails }, memory)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_sweep_is_the_twin((order, durations, memory) in cases()) {
        let mut sweep = Sweep::new();
        prop_assert_eq!(sweep.run(&order, &durations), twin::time(&order, &durations).1);
        let vectors = Vectors::new(&order);
        let peaks: Vec<u64> =
            (0..order.dims().stages).map(|s| vectors.peak(&order, s, &memory).unwrap()).collect();
        prop_assert_eq!(peaks, twin::peaks(&order, &memory));
    }

    #[test]
    fn the_critical_path_is_as_long_as_the_makespan((order, durations, _) in cases(), at in 0usize..100, by in 1u64..50) {
        let mut sweep = Sweep::new();
        let makespan = sweep.run(&order, &durations);
        let path = Path::of(&order, &durations, |at| sweep.end(at));
        let sum = |counts: &[u32], lengths: &[u64]| -> u64 {
            counts.iter().zip(lengths).map(|(&n, &length)| u64::from(n) * length).sum()
        };
        let length = sum(&path.operations, &durations.operations) + sum(&path.links, &durations.links);
        prop_assert_eq!(length + durations.tails[path.stage], makespan);
        // Longer durations never shorten it; along the path each unit counts as often as it is there.
        let at = at % durations.operations.len();
        let mut longer = durations.clone();
        longer.operations[at] += by;
        let grown = sweep.run(&order, &longer);
        prop_assert!(grown >= makespan + by * u64::from(path.operations[at]));
        let scaled = Durations {
            operations: durations.operations.iter().map(|t| 3 * t).collect(),
            links: durations.links.iter().map(|t| 3 * t).collect(),
            tails: durations.tails.iter().map(|t| 3 * t).collect(),
        };
        prop_assert_eq!(sweep.run(&order, &scaled), 3 * makespan);
    }
}
