//! From a TOML document to a tree, noting everything that is wrong.

use ::toml::de::DeTable;

use super::Report;
use super::keys::{
    DEVICE_INTEGERS, DEVICE_MEASURED, DEVICE_SIZES, DOCUMENT, FORMAT, LEVEL, LINK, MEASURED, MEMORY, OVERRIDE, RATES,
    kernels,
};
use super::section::{Notes, Section};
use crate::cpu_list::CpuList;
use crate::device::Device;
use crate::expand::{Culprit, Fault, MAX_LEAVES, name_faults};
use crate::level::{Compute, Dtype, Level, Link, Measured, Memory, Override, Port, Transport, Values};
use crate::nearest::nearest;
use crate::rates::{ByKernel, Kernel, Rates};
use crate::tree::{Header, Measurement, Tree};
use crate::units;

const MOST: u32 = MAX_LEAVES as u32;

/// Reads the text of a machine file.
pub(super) fn read(text: &str) -> Report {
    let notes = Notes::new(text);
    let (document, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        let mut last = 0; // what follows a syntax error in its line follows from it
        for error in syntax {
            let line = notes.line(error.span().map_or(text.len(), |span| span.start));
            if line != last {
                notes.add(line, "syntax", format!("no TOML: {}", error.message()));
            }
            last = line;
        }
        return Report { tree: None, errors: notes.into_problems(), warnings: Vec::new() };
    }
    let top = Section::document(&notes, &document);
    let header = header(&top);
    let level_sections = top.sections("level");
    let override_sections = top.sections("override");
    if level_sections.is_empty() {
        top.wrong(top.line_of("level"), "level", "no level, write [[level]] with name = \"..\" for the root");
    }
    let blame = |Fault { culprit, key, message }: Fault| {
        let section = match culprit {
            Culprit::Level(i) => level_sections.get(i),
            Culprit::Override(i) => override_sections.get(i),
        };
        let section = section.unwrap_or(&top);
        section.wrong(section.line_of(key), key, message);
    };
    let levels = levels(&level_sections);
    let names: Vec<_> = levels.iter().map(|level| level.as_ref().map(|level| level.name.as_str())).collect();
    name_faults(&names).into_iter().for_each(blame);
    let overrides: Vec<Option<Override>> = override_sections.iter().map(exception).collect();
    let levels = levels.into_iter().collect::<Option<Vec<_>>>().filter(|levels| !levels.is_empty());
    let overrides = overrides.into_iter().collect();
    // a tree is worth building only if every part could be read
    let tree = levels.zip::<Vec<_>>(overrides).and_then(|(levels, overrides)| {
        let faults = match Tree::build(header, levels, overrides) {
            Ok(tree) => return Some(tree),
            Err(faults) => faults,
        };
        faults.into_iter().for_each(blame);
        None
    });
    let tree = tree.filter(|_| notes.is_empty());
    let warnings = tree.as_ref().map(|tree| warnings(text, tree, &level_sections)).unwrap_or_default();
    Report { tree, errors: notes.into_problems(), warnings }
}

fn header(top: &Section<'_>) -> Header {
    top.only(DOCUMENT);
    let format = format!("format = \"{FORMAT}\"");
    match top.string("format", &format!("a string, write {format}")) {
        Some(FORMAT) => {}
        Some(other) => {
            top.wrong(top.line_of("format"), "format", format!("unknown format \"{other}\", write {format}"))
        }
        None if top.has("format") => {}
        None => top.wrong(1, "format", format!("missing, write {format}")),
    }
    if !top.has("name") {
        top.wrong(1, "name", "missing, write name = \"..\" for the machine");
    }
    Header {
        name: top.string("name", "a string").unwrap_or_default().to_owned(),
        aliases: top.strings("aliases").unwrap_or_default(),
        source: top.string("source", "a string").map(str::to_owned),
        measured: top.section("measured").map(|section| measurement(&section)),
        rates: top.section("rates").map(|section| rates(&section)),
    }
}

fn measurement(section: &Section<'_>) -> Measurement {
    section.only(MEASURED);
    let string = |key| section.string(key, "a string").map(str::to_owned);
    Measurement {
        date: string("date"),
        host: string("host"),
        cpu: string("cpu"),
        versions: section.named_strings("versions").unwrap_or_default().into_iter().collect(),
        noisy: section.boolean("noisy").unwrap_or(false),
    }
}

fn rates(section: &Section<'_>) -> Rates {
    section.only(&[RATES, &kernels()].concat());
    let one = section.section("one");
    if let Some(one) = &one {
        one.only(&kernels());
    }
    Rates {
        threads: section.integer("threads", 1, MOST),
        all: by_kernel(section),
        one: one.as_ref().map(by_kernel).unwrap_or_default(),
    }
}

fn by_kernel(section: &Section<'_>) -> ByKernel {
    let rate = |kernel: Kernel| {
        let rate = section.measured(kernel.name(), |text| kernel.quantity().parse(text))?;
        if rate.value > 0.0 {
            return Some((kernel, rate));
        }
        section.wrong(section.line_of(kernel.name()), kernel.name(), "must be above 0, remove it if it is not known");
        None
    };
    Kernel::ALL.into_iter().filter_map(rate).collect()
}

fn levels(sections: &[Section<'_>]) -> Vec<Option<Level>> {
    let mut levels = Vec::with_capacity(sections.len());
    for (depth, section) in sections.iter().enumerate() {
        section.only(LEVEL);
        let values = values(section);
        let name = section.string("name", "a string");
        if !section.has("name") {
            section.wrong(section.line, "name", "missing, write name = \"..\"");
        }
        let most = if depth == 0 { 1 } else { MOST };
        // a wrong count makes no tree, so that no override below it is blamed
        let count = if section.has("count") { section.integer("count", 1, most) } else { Some(1) };
        levels.push(name.zip(count).map(|(name, count)| Level { name: name.to_owned(), count, values }));
    }
    levels
}

fn exception(section: &Section<'_>) -> Option<Override> {
    section.only(OVERRIDE);
    let values = values(section);
    let children = section.integer("children", 0, MOST);
    if !section.has("at") {
        section.wrong(section.line, "at", "missing, write at = \"/level[0]\" for the nodes that differ");
    }
    let at = section.word("at", str::parse)?;
    Some(Override { at, children, values })
}

fn values(section: &Section<'_>) -> Values {
    Values {
        compute: section.section("compute").map(|section| compute(&section)),
        memory: section.section("memory").map(|section| memory(&section)),
        link: section.section("link").map(|section| link(&section)),
        port: section.word("port", |text| one_of(text, &[Port::Serial, Port::Parallel], Port::name)),
        transport: section.word("transport", |text| {
            one_of(text, &[Transport::Memory, Transport::Mpi, Transport::None], Transport::name)
        }),
        device: section.section("device").map(|section| device(&section)),
        speed: section.positive("speed"),
        pin: section.word("pin", str::parse::<CpuList>),
    }
}

fn one_of<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|value| name(*value) == text);
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|value| name(*value)).collect();
        match nearest(text, names.iter().copied()) {
            Some(near) => format!("\"{text}\" is unknown, did you mean \"{near}\"?"),
            None => format!("\"{text}\" is unknown, write one of {}", names.join(", ")),
        }
    })
}

fn compute(section: &Section<'_>) -> Compute {
    section.only(&Dtype::ALL.map(Dtype::name));
    let rate = |dtype: Dtype| Some((dtype, section.measured(dtype.name(), units::flop_rate)?));
    Compute { by_type: Dtype::ALL.into_iter().filter_map(rate).collect() }
}

fn memory(section: &Section<'_>) -> Memory {
    section.only(MEMORY);
    Memory { size: section.quantity("size", units::bytes), bandwidth: section.measured("bandwidth", units::byte_rate) }
}

fn link(section: &Section<'_>) -> Link {
    section.only(LINK);
    Link {
        latency: section.measured("latency", units::seconds).unwrap_or_default(),
        down: gap(section, "down").unwrap_or_default(),
        up: gap(section, "up").unwrap_or_default(),
        side: gap(section, "side"),
        side_latency: section.measured("side_latency", units::seconds),
    }
}

/// A gap, or the rate it is the inverse of; the spread of a rate becomes that of the gap (to first order).
fn gap(section: &Section<'_>, key: &str) -> Option<Measured<f64>> {
    section.measured_by(key, units::gap_or_rate, |text, gap, is_rate| match is_rate {
        true => units::byte_rate(text).map(|spread| spread * gap * gap),
        false => units::plain_gap(text),
    })
}

fn device(section: &Section<'_>) -> Device {
    let measured = DEVICE_MEASURED.iter().flat_map(|(keys, ..)| keys.iter().map(|key| key.name));
    let integers = DEVICE_INTEGERS.iter().map(|key| key.name);
    let known: Vec<&str> = integers.chain(DEVICE_SIZES.iter().map(|key| key.name)).chain(measured).collect();
    section.only(&known);
    let mut device = Device::default();
    for key in DEVICE_INTEGERS {
        (key.set)(&mut device, section.integer(key.name, 1, u32::MAX));
    }
    for key in DEVICE_SIZES {
        (key.set)(&mut device, section.quantity(key.name, units::bytes));
    }
    for (keys, parse, _) in DEVICE_MEASURED {
        for key in *keys {
            (key.set)(&mut device, section.measured(key.name, parse));
        }
    }
    device
}

/// What is allowed but may not be meant.
fn warnings(text: &str, tree: &Tree, sections: &[Section<'_>]) -> Vec<crate::Problem> {
    let notes = Notes::new(text);
    if tree.header().measured.as_ref().is_some_and(|measured| measured.noisy) {
        notes.add(1, "measured.noisy", "the measurements scattered by more than 20 %, predictions are intervals");
    }
    let unknown = tree.leaf_nodes().iter().find(|leaf| tree.node(**leaf).compute.by_type.is_empty());
    if let Some(leaf) = unknown {
        let line = sections.get(tree.level_of(*leaf)).map_or(1, |section| section.line);
        let message = "workers without compute: nothing can be predicted and all count as equally fast";
        notes.add(line, "level.compute", message);
    }
    for (level, section) in tree.levels().iter().zip(sections).skip(1) {
        if level.values.link.is_none() {
            notes.add(section.line, "level.link", "no link: talking to the level above costs nothing");
        }
    }
    notes.into_problems()
}
