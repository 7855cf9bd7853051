//! Probing measures every kernel with a positive, finite rate; how fast they are is no matter of a test.

use sapwood_machine::{Discover, Kernel, facts};
use sapwood_skeleton::probe::{Outcome, Probe, Sizes};
use sapwood_skeleton::{Exec, Runtime};
use std::time::Duration;

fn probe(exec: Exec<'_>, stop: &dyn Fn() -> bool) -> Option<Outcome> {
    let sizes = Sizes { memory_bytes: 4 << 20, cached_bytes: 1 << 18, large_bytes: 1 << 20, beyond_caches: false };
    Probe::of_this_machine(exec, Duration::from_millis(50), &sizes).unwrap().run(exec, stop).unwrap()
}

#[test]
fn every_kernel_gets_a_rate() {
    let kernels = [
        Kernel::FmaF32,
        Kernel::FmaF64,
        Kernel::Elementwise,
        Kernel::ElementwiseLarge,
        Kernel::Read,
        Kernel::Stream,
        Kernel::Gather64,
        Kernel::Gather256,
        Kernel::Dispatch,
    ];
    for threads in 1..=3 {
        let runtime = Runtime::threads(threads).unwrap();
        let Outcome { rates, spent_s } = probe(runtime.exec(), &|| false).unwrap();
        assert_eq!(rates.threads, Some(threads as u32));
        assert!(spent_s > 0.0);
        assert_eq!((rates.all.len(), rates.one.len()), (9, if threads > 1 { 9 } else { 0 }));
        for kernel in kernels {
            for workers in [1, threads] {
                let rate = rates.at(kernel, workers).unwrap();
                assert!(rate.is_finite() && rate > 0.0, "{kernel} on {workers}: {rate}");
            }
            let rate = rates.all[&kernel];
            assert!(rate.samples as usize >= Outcome::LEAST_SAMPLES && rate.mad.unwrap() >= 0.0, "{kernel}: {rate:?}");
        }
    }
}

#[test]
fn a_stopped_probe_has_no_outcome() {
    let runtime = Runtime::threads(2).unwrap();
    assert!(probe(runtime.exec(), &|| true).is_none());
}

#[test]
fn this_machine_has_sizes() {
    let facts = facts(&Discover::default()).unwrap();
    let sizes = Sizes::new(&facts, 2, Duration::from_secs(1));
    assert!(sizes.memory_bytes > 0 && sizes.memory_bytes <= 1 << 30);
    assert!(sizes.cached_bytes > 0 && sizes.cached_bytes < sizes.memory_bytes);
    assert!(sizes.large_bytes >= sizes.cached_bytes);
}
