//! The tables that levels, overrides and devices share: which key is read by which unit, in one place for reading and
//! writing.

use crate::device::Device;
use crate::level::Measured;
use crate::rates::Kernel;
use crate::units;

/// Keys of a level beside those of every node.
pub(super) const LEVEL: &[&str] =
    &["name", "count", "link", "compute", "memory", "port", "transport", "device", "speed", "pin"];
/// Keys of an override.
pub(super) const OVERRIDE: &[&str] =
    &["at", "children", "link", "compute", "memory", "port", "transport", "device", "speed", "pin"];
/// Keys of the document.
pub(super) const DOCUMENT: &[&str] = &["format", "name", "aliases", "source", "measured", "rates", "level", "override"];
/// Keys of `measured` at the top.
pub(super) const MEASURED: &[&str] = &["date", "host", "cpu", "versions", "noisy"];
/// Keys of a link.
pub(super) const LINK: &[&str] = &["latency", "down", "up", "side", "side_latency"];
/// Keys of a memory.
pub(super) const MEMORY: &[&str] = &["size", "bandwidth"];

/// Keys of the rates.
pub(super) fn kernels() -> Vec<&'static str> {
    Kernel::ALL.iter().map(|kernel| kernel.name()).collect()
}
/// Keys of `rates` beside those of the kernels.
pub(super) const RATES: &[&str] = &["threads", "one"];

/// The value of the key `format`.
pub(super) const FORMAT: &str = "sapwood-machine/1";

/// A key of a device: its name and the field it fills.
pub(super) struct Key<F: 'static> {
    pub(super) name: &'static str,
    pub(super) get: fn(&Device) -> F,
    pub(super) set: fn(&mut Device, F),
}

macro_rules! keys {
    ($($field:ident),*) => {
        &[$(Key { name: stringify!($field), get: |d| d.$field, set: |d, v| d.$field = v }),*]
    };
}

/// Bare integers.
pub(super) const DEVICE_INTEGERS: &[Key<Option<u32>>] =
    keys![sms, threads_per_sm, blocks_per_sm, warp, registers_per_sm];
/// Sizes.
pub(super) const DEVICE_SIZES: &[Key<Option<u64>>] = keys![shared_per_block, shared_per_sm, l2];

/// Reads one kind of quantity.
pub(super) type Parse = fn(&str) -> Result<f64, units::Error>;
/// Writes it.
pub(super) type Print = fn(f64) -> String;

/// Keys of one kind of quantity, which may be measured.
pub(super) type MeasuredKeys = (&'static [Key<Option<Measured<f64>>>], Parse, Print);

/// All of them.
pub(super) const DEVICE_MEASURED: &[MeasuredKeys] = &[
    (keys![sm_bandwidth], units::byte_rate, units::print_byte_rate),
    (keys![latency, launch, next_launch, ticket, atomic_same], units::seconds, units::print_seconds),
    (keys![atomic_rate], units::event_rate, units::print_event_rate),
];
