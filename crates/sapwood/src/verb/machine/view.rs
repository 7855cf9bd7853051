//! A machine as JSON (`sapwood.machine.show/1`, `.discover/1`) and as indented text.

use super::rates::{self, RatesView};
use sapwood_machine::{Compute, Device, Link, Measured, Memory, Tree, Values, units};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// The JSON object; numbers that are not known are null.
#[derive(Serialize)]
pub(super) struct View<'t> {
    schema: &'static str,
    name: &'t str,
    source: Option<&'t str>,
    noisy: bool,
    depth: usize,
    leaves: usize,
    levels: Vec<LevelView<'t>>,
    overrides: Vec<OverrideView>,
    /// What was measured kernel by kernel, if the file has it.
    rates: Option<RatesView>,
    /// The file written.
    path: Option<&'t Path>,
}

#[derive(Serialize)]
struct LevelView<'t> {
    name: &'t str,
    count: u32,
    nodes: usize,
    #[serde(flatten)]
    values: ValuesView,
}

#[derive(Serialize)]
struct OverrideView {
    at: String,
    children: Option<u32>,
    #[serde(flatten)]
    values: ValuesView,
}

#[derive(Serialize)]
struct ValuesView {
    flops: BTreeMap<&'static str, f64>,
    memory_bytes: Option<u64>,
    bandwidth_bytes_per_s: Option<f64>,
    latency_s: Option<f64>,
    down_s_per_byte: Option<f64>,
    up_s_per_byte: Option<f64>,
    side_s_per_byte: Option<f64>,
    side_latency_s: Option<f64>,
    port: Option<&'static str>,
    transport: Option<&'static str>,
    device: Option<DeviceView>,
    speed: Option<f64>,
    pin: Option<String>,
}

#[derive(Serialize)]
struct DeviceView {
    sms: Option<u32>,
    threads_per_sm: Option<u32>,
    blocks_per_sm: Option<u32>,
    warp: Option<u32>,
    registers_per_sm: Option<u32>,
    shared_per_block_bytes: Option<u64>,
    shared_per_sm_bytes: Option<u64>,
    l2_bytes: Option<u64>,
    sm_bandwidth_bytes_per_s: Option<f64>,
    latency_s: Option<f64>,
    launch_s: Option<f64>,
    next_launch_s: Option<f64>,
    ticket_s: Option<f64>,
    atomic_same_s: Option<f64>,
    atomic_rate_per_s: Option<f64>,
}

impl<'t> View<'t> {
    pub(super) fn new(schema: &'static str, tree: &'t Tree, path: Option<&'t Path>) -> Self {
        let header = tree.header();
        let levels = tree.levels().iter().enumerate().map(|(depth, level)| LevelView {
            name: &level.name,
            count: level.count,
            nodes: tree.nodes_at(depth).len(),
            values: ValuesView::new(&level.values),
        });
        let overrides = tree.overrides().iter().map(|exception| OverrideView {
            at: exception.at.to_string(),
            children: exception.children,
            values: ValuesView::new(&exception.values),
        });
        View {
            schema,
            name: &header.name,
            source: header.source.as_deref(),
            noisy: header.measured.as_ref().is_some_and(|measured| measured.noisy),
            depth: tree.depth(),
            leaves: tree.leaf_count(),
            levels: levels.collect(),
            overrides: overrides.collect(),
            rates: tree.rates().map(RatesView::new),
            path,
        }
    }
}

impl ValuesView {
    fn new(values: &Values) -> Self {
        let link = values.link.as_ref();
        let memory = values.memory.as_ref();
        let rates = values.compute.iter().flat_map(|compute| &compute.by_type);
        ValuesView {
            flops: rates.map(|(dtype, rate)| (dtype.name(), rate.value)).collect(),
            memory_bytes: memory.and_then(|memory| memory.size),
            bandwidth_bytes_per_s: memory.and_then(|memory| value(memory.bandwidth)),
            latency_s: link.map(|link| link.latency.value),
            down_s_per_byte: link.map(|link| link.down.value),
            up_s_per_byte: link.map(|link| link.up.value),
            side_s_per_byte: link.map(Link::side),
            side_latency_s: link.map(Link::side_latency),
            port: values.port.map(|port| port.name()),
            transport: values.transport.map(|transport| transport.name()),
            device: values.device.as_ref().map(DeviceView::new),
            speed: values.speed,
            pin: values.pin.as_ref().map(ToString::to_string),
        }
    }
}

impl DeviceView {
    fn new(device: &Device) -> Self {
        DeviceView {
            sms: device.sms,
            threads_per_sm: device.threads_per_sm,
            blocks_per_sm: device.blocks_per_sm,
            warp: device.warp,
            registers_per_sm: device.registers_per_sm,
            shared_per_block_bytes: device.shared_per_block,
            shared_per_sm_bytes: device.shared_per_sm,
            l2_bytes: device.l2,
            sm_bandwidth_bytes_per_s: value(device.sm_bandwidth),
            latency_s: value(device.latency),
            launch_s: value(device.launch),
            next_launch_s: value(device.next_launch),
            ticket_s: value(device.ticket),
            atomic_same_s: value(device.atomic_same),
            atomic_rate_per_s: value(device.atomic_rate),
        }
    }
}

fn value(measured: Option<Measured<f64>>) -> Option<f64> {
    measured.map(|measured| measured.value)
}

/// The machine as text, a level further to the right for each level down.
pub(super) fn print(tree: &Tree, out: &mut dyn Write) -> io::Result<()> {
    let header = tree.header();
    let workers = if tree.leaf_count() == 1 { "worker" } else { "workers" };
    writeln!(out, "{}: {} {workers}, depth {}", header.name, tree.leaf_count(), tree.depth())?;
    if let Some(source) = &header.source {
        writeln!(out, "source: {source}")?;
    }
    if header.measured.as_ref().is_some_and(|measured| measured.noisy) {
        writeln!(out, "noisy: the measurements scattered by more than 20 %")?;
    }
    for (depth, level) in tree.levels().iter().enumerate() {
        let indent = "  ".repeat(depth);
        match depth {
            0 => writeln!(out, "\n{}", level.name)?,
            _ => writeln!(out, "{indent}{} x {}  ({} in all)", level.name, level.count, tree.nodes_at(depth).len())?,
        }
        for (label, text) in lines(&level.values) {
            writeln!(out, "{indent}  {label:<10} {text}")?;
        }
    }
    for exception in tree.overrides() {
        writeln!(out, "\n{}", exception.at)?;
        if let Some(children) = exception.children {
            writeln!(out, "  {:<10} {children}", "children")?;
        }
        for (label, text) in lines(&exception.values) {
            writeln!(out, "  {label:<10} {text}")?;
        }
    }
    if let Some(stated) = tree.rates() {
        writeln!(out)?;
        rates::print(stated, out)?;
    }
    Ok(())
}

/// What is stated, a line each.
fn lines(values: &Values) -> Vec<(&'static str, String)> {
    let all = [
        ("link", values.link.as_ref().map(link)),
        ("compute", values.compute.as_ref().map(compute)),
        ("memory", values.memory.as_ref().map(memory)),
        ("device", values.device.as_ref().map(device)),
        ("port", values.port.map(|port| port.name().to_owned())),
        ("transport", values.transport.map(|transport| transport.name().to_owned())),
        ("speed", values.speed.map(|speed| units::rounded(speed).to_string())),
        ("pin", values.pin.as_ref().map(ToString::to_string)),
    ];
    all.into_iter().filter_map(|(label, text)| Some((label, text?))).collect()
}

fn link(link: &Link) -> String {
    // a gap is easier to read as the rate it is the inverse of
    let rate = |gap: f64| match gap {
        0.0 => "free".to_owned(),
        _ => units::print_byte_rate(units::rounded(1.0 / gap)),
    };
    let seconds = |time: f64| units::print_seconds(units::rounded(time));
    format!(
        "{}, down {}, up {}; siblings {}, {}",
        seconds(link.latency.value),
        rate(link.down.value),
        rate(link.up.value),
        seconds(link.side_latency()),
        rate(link.side()),
    )
}

fn compute(compute: &Compute) -> String {
    let rate = |value: f64| units::print_flop_rate(units::rounded(value));
    let rates = compute.by_type.iter().map(|(dtype, value)| format!("{dtype} {}", rate(value.value)));
    or_unknown(rates.collect())
}

fn memory(memory: &Memory) -> String {
    let size = memory.size.map(units::print_bytes);
    let bandwidth = memory.bandwidth.map(|rate| units::print_byte_rate(units::rounded(rate.value)));
    or_unknown(size.into_iter().chain(bandwidth).collect())
}

fn device(device: &Device) -> String {
    let integers = [
        ("SMs", device.sms),
        ("threads/SM", device.threads_per_sm),
        ("blocks/SM", device.blocks_per_sm),
        ("threads/warp", device.warp),
        ("registers/SM", device.registers_per_sm),
    ];
    let sizes = [("shared/block", device.shared_per_block), ("shared/SM", device.shared_per_sm), ("L2", device.l2)];
    let times = [
        ("latency", device.latency),
        ("launch", device.launch),
        ("next launch", device.next_launch),
        ("ticket", device.ticket),
        ("atomic on one address", device.atomic_same),
    ];
    let mut parts: Vec<String> = Vec::new();
    parts.extend(integers.iter().filter_map(|(name, value)| Some(format!("{} {name}", (*value)?))));
    parts.extend(sizes.iter().filter_map(|(name, value)| Some(format!("{name} {}", units::print_bytes((*value)?)))));
    parts.extend(device.sm_bandwidth.map(|rate| format!("{}/SM", units::print_byte_rate(units::rounded(rate.value)))));
    let seconds = |time: &Measured<f64>| units::print_seconds(units::rounded(time.value));
    parts.extend(times.iter().filter_map(|(name, value)| Some(format!("{name} {}", seconds(value.as_ref()?)))));
    parts.extend(
        device.atomic_rate.map(|rate| format!("atomics {}", units::print_event_rate(units::rounded(rate.value)))),
    );
    or_unknown(parts)
}

fn or_unknown(parts: Vec<String>) -> String {
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}
