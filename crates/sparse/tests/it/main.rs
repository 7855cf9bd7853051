//! The integration tests of `sapwood-sparse`: one binary, one module per subject.
#![cfg(test)]

mod algorithms;
mod conformance;
mod dense;
mod golden;
mod io;
mod kernels;
mod make;

/// Counts allocations, for the tests that say there are none.
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;
