//! From a tree to the text of a machine file; reading it gives an equal tree.

use std::fmt::{self, Write};

use super::keys::{DEVICE_INTEGERS, DEVICE_MEASURED, DEVICE_SIZES, FORMAT};
use crate::device::Device;
use crate::level::{Compute, Link, Measured, Memory, Values};
use crate::rates::{ByKernel, Rates};
use crate::tree::{Measurement, Tree};
use crate::units;

/// The text of `tree`.
pub(super) fn write(tree: &Tree) -> String {
    let mut out = String::new();
    // writing to a string cannot fail
    let _ = document(&mut out, tree);
    out
}

fn document(out: &mut String, tree: &Tree) -> fmt::Result {
    let header = tree.header();
    writeln!(out, "format = {}", quoted(FORMAT))?;
    writeln!(out, "name = {}", quoted(&header.name))?;
    if !header.aliases.is_empty() {
        let aliases: Vec<_> = header.aliases.iter().map(|alias| quoted(alias)).collect();
        writeln!(out, "aliases = [{}]", aliases.join(", "))?;
    }
    if let Some(source) = &header.source {
        writeln!(out, "source = {}", quoted(source))?;
    }
    if let Some(measured) = &header.measured {
        measurement(out, measured)?;
    }
    if let Some(stated) = &header.rates {
        rates(out, stated)?;
    }
    for (depth, level) in tree.levels().iter().enumerate() {
        writeln!(out, "\n[[level]]\nname = {}", quoted(&level.name))?;
        if depth > 0 {
            writeln!(out, "count = {}", level.count)?;
        }
        values(out, &level.values)?;
    }
    for exception in tree.overrides() {
        writeln!(out, "\n[[override]]\nat = {}", quoted(&exception.at.to_string()))?;
        if let Some(children) = exception.children {
            writeln!(out, "children = {children}")?;
        }
        values(out, &exception.values)?;
    }
    Ok(())
}

fn measurement(out: &mut String, measured: &Measurement) -> fmt::Result {
    writeln!(out, "\n[measured]")?;
    for (key, value) in [("date", &measured.date), ("host", &measured.host), ("cpu", &measured.cpu)] {
        if let Some(value) = value {
            writeln!(out, "{key} = {}", quoted(value))?;
        }
    }
    if !measured.versions.is_empty() {
        let versions = measured.versions.iter().map(|(name, version)| (quoted(name), quoted(version)));
        writeln!(out, "versions = {}", table(versions.collect()))?;
    }
    writeln!(out, "noisy = {}", measured.noisy)
}

fn rates(out: &mut String, Rates { threads, all, one }: &Rates) -> fmt::Result {
    writeln!(out, "\n[rates]")?;
    if let Some(threads) = threads {
        writeln!(out, "threads = {threads}")?;
    }
    by_kernel(out, all)?;
    if !one.is_empty() {
        writeln!(out, "\n[rates.one]")?;
        by_kernel(out, one)?;
    }
    Ok(())
}

fn by_kernel(out: &mut String, rates: &ByKernel) -> fmt::Result {
    for (kernel, rate) in rates {
        let print = |value| kernel.quantity().print(value);
        writeln!(out, "{kernel} = {}", measured(*rate, print))?;
    }
    Ok(())
}

fn values(out: &mut String, values: &Values) -> fmt::Result {
    let Values { compute, memory, link, port, transport, device, speed, pin } = values;
    let tables = [
        ("link", link.as_ref().map(link_table)),
        ("compute", compute.as_ref().map(compute_table)),
        ("memory", memory.as_ref().map(memory_table)),
        ("port", port.map(|port| quoted(port.name()))),
        ("transport", transport.map(|transport| quoted(transport.name()))),
        ("device", device.as_ref().map(device_table)),
        ("speed", speed.map(|speed| format!("{speed:?}"))),
        ("pin", pin.as_ref().map(|cpus| quoted(&cpus.to_string()))),
    ];
    for (key, value) in tables {
        if let Some(value) = value {
            writeln!(out, "{key} = {value}")?;
        }
    }
    Ok(())
}

fn link_table(link: &Link) -> String {
    let free = Measured::stated(0.0);
    let stated = |value: Measured<f64>| Some(value).filter(|value| *value != free);
    let seconds = |value| measured(value, units::print_seconds);
    let entries = [
        ("latency", stated(link.latency).map(seconds)),
        ("down", stated(link.down).map(gap)),
        ("up", stated(link.up).map(gap)),
        ("side", link.side.map(gap)),
        ("side_latency", link.side_latency.map(seconds)),
    ];
    table(entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
}

/// A spread keeps its bits only beside a gap written as such.
fn gap(value: Measured<f64>) -> String {
    measured(value, if value.mad.is_some() { units::print_plain_gap } else { units::print_gap })
}

fn compute_table(compute: &Compute) -> String {
    let rates =
        compute.by_type.iter().map(|(dtype, rate)| (dtype.to_string(), measured(*rate, units::print_flop_rate)));
    table(rates.collect())
}

fn memory_table(memory: &Memory) -> String {
    let size = memory.size.map(|size| ("size".to_owned(), quoted(&units::print_bytes(size))));
    let bandwidth = memory.bandwidth.map(|rate| ("bandwidth".to_owned(), measured(rate, units::print_byte_rate)));
    table(size.into_iter().chain(bandwidth).collect())
}

fn device_table(device: &Device) -> String {
    let mut entries = Vec::new();
    for key in DEVICE_INTEGERS {
        entries.extend((key.get)(device).map(|value| (key.name.to_owned(), value.to_string())));
    }
    for key in DEVICE_SIZES {
        entries.extend((key.get)(device).map(|value| (key.name.to_owned(), quoted(&units::print_bytes(value)))));
    }
    for (keys, _, print) in DEVICE_MEASURED {
        for key in *keys {
            entries.extend((key.get)(device).map(|value| (key.name.to_owned(), measured(value, *print))));
        }
    }
    table(entries)
}

fn measured(value: Measured<f64>, print: impl Fn(f64) -> String) -> String {
    if value == Measured::stated(value.value) {
        return quoted(&print(value.value));
    }
    let mut entries = vec![("value".to_owned(), quoted(&print(value.value)))];
    entries.extend(value.mad.map(|mad| ("mad".to_owned(), quoted(&print(mad)))));
    entries.push(("samples".to_owned(), value.samples.to_string()));
    table(entries)
}

fn table(entries: Vec<(String, String)>) -> String {
    if entries.is_empty() {
        return "{}".to_owned();
    }
    let entries: Vec<_> = entries.into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// A TOML string; the library knows what to escape.
fn quoted(text: &str) -> String {
    ::toml::Value::String(text.to_owned()).to_string()
}
