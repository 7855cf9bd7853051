//! What a kernel compiler needs to know of an accelerator. Bandwidth and size stand in the node's memory, FLOP/s in
//! its compute; this holds the rest, and nothing of any one vendor.

use crate::level::Measured;

/// Facts about an accelerator; every one may be unknown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    /// Streaming multiprocessors (compute units).
    pub sms: Option<u32>,
    /// Threads that fit one of them at a time.
    pub threads_per_sm: Option<u32>,
    /// Blocks that fit one of them at a time.
    pub blocks_per_sm: Option<u32>,
    /// Threads that run in step.
    pub warp: Option<u32>,
    /// 32-bit registers of one of them.
    pub registers_per_sm: Option<u32>,
    /// Bytes of shared memory that one block can have.
    pub shared_per_block: Option<u64>,
    /// Bytes of shared memory of one multiprocessor.
    pub shared_per_sm: Option<u64>,
    /// Bytes of the last-level cache.
    pub l2: Option<u64>,
    /// Byte/s that one multiprocessor can pull.
    pub sm_bandwidth: Option<Measured<f64>>,
    /// Seconds from a load to its value.
    pub latency: Option<Measured<f64>>,
    /// Seconds to launch a kernel on an idle device.
    pub launch: Option<Measured<f64>>,
    /// Seconds from the end of one kernel to the start of the next in the queue.
    pub next_launch: Option<Measured<f64>>,
    /// Seconds to take a ticket and see the others' results (last block done).
    pub ticket: Option<Measured<f64>>,
    /// Seconds per atomic operation on one address.
    pub atomic_same: Option<Measured<f64>>,
    /// Atomic operations per second on different addresses.
    pub atomic_rate: Option<Measured<f64>>,
}
