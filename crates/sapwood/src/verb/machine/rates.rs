//! Rates of kernels as JSON and as a table; a value names the key of the machine file where it stands.

use crate::verb::table::aligned;
use sapwood_machine::{ByKernel, Kernel, Measured, Rates, Tree, fit, units};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// `rates` of `sapwood.machine.show/1`.
#[derive(Serialize)]
pub(super) struct RatesView {
    threads: Option<u32>,
    all: BTreeMap<&'static str, RateView>,
    one: BTreeMap<&'static str, RateView>,
}

/// A rate in the plain unit.
#[derive(Serialize)]
struct RateView {
    value: f64,
    unit: &'static str,
    mad: Option<f64>,
    samples: u32,
}

impl RatesView {
    pub(super) fn new(rates: &Rates) -> RatesView {
        let table = |rates: &ByKernel| -> BTreeMap<&'static str, RateView> {
            let view = |(kernel, rate): (&Kernel, &Measured<f64>)| {
                let Measured { value, mad, samples } = *rate;
                (kernel.name(), RateView { value, unit: kernel.quantity().unit(), mad, samples })
            };
            rates.iter().map(view).collect()
        };
        RatesView { threads: rates.threads, all: table(&rates.all), one: table(&rates.one) }
    }
}

/// One of `measured.values` of `sapwood.machine.probe/1`.
#[derive(Serialize)]
pub(super) struct ValueView {
    /// The level it belongs to; null for what holds for the whole machine.
    level: Option<String>,
    /// `compute.f32` of a level, or `rates.gemm`.
    key: String,
    value: f64,
    unit: &'static str,
    mad: Option<f64>,
    samples: u32,
}

/// Everything that was measured: what stands in the levels, then the rates.
pub(super) fn values(tree: &Tree) -> Vec<ValueView> {
    let view = |level: Option<&str>, key: String, unit, rate: &Measured<f64>| {
        let Measured { value, mad, samples } = *rate;
        ValueView { level: level.map(str::to_owned), key, value, unit, mad, samples }
    };
    let mut all = Vec::new();
    for level in tree.levels() {
        let name = Some(level.name.as_str());
        let compute = level.values.compute.iter().flat_map(|compute| &compute.by_type);
        all.extend(compute.map(|(dtype, rate)| view(name, format!("compute.{dtype}"), "FLOP/s", rate)));
        let bandwidth = level.values.memory.as_ref().and_then(|memory| memory.bandwidth.as_ref());
        all.extend(bandwidth.map(|rate| view(name, "memory.bandwidth".to_owned(), "B/s", rate)));
    }
    for (prefix, table) in tree.rates().into_iter().flat_map(|r| [("rates", &r.all), ("rates.one", &r.one)]) {
        let rates = table.iter();
        all.extend(rates.map(|(kernel, r)| view(None, format!("{prefix}.{kernel}"), kernel.quantity().unit(), r)));
    }
    all
}

/// A line for each kernel: the rate of all workers and that of one, each with its spread.
pub(super) fn print(rates: &Rates, out: &mut dyn Write) -> io::Result<()> {
    let heading = match rates.threads {
        None => "all workers".to_owned(),
        Some(1) => "1 worker".to_owned(),
        Some(threads) => format!("{threads} workers"),
    };
    let mut rows = vec![["rate".to_owned(), heading, String::new()]];
    if !rates.one.is_empty() {
        rows[0][2] = "1 worker".to_owned();
    }
    for kernel in Kernel::ALL {
        let cell = |table: &ByKernel| table.get(&kernel).map_or(String::new(), |rate| text(kernel, *rate));
        let (all, one) = (cell(&rates.all), cell(&rates.one));
        if !(all.is_empty() && one.is_empty()) {
            rows.push([kernel.name().to_owned(), all, one]);
        }
    }
    aligned(&rows, out)
}

/// `45 GFLOP/s ± 3 %`, marked where the samples scattered.
fn text(kernel: Kernel, rate: Measured<f64>) -> String {
    let value = kernel.quantity().print(units::rounded(rate.value));
    let mark = if fit::is_noisy(rate) { " noisy" } else { "" };
    match rate.mad {
        Some(mad) => format!("{value} ± {:.0} %{mark}", 100.0 * mad / rate.value),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_each_kernel() {
        let rate = |value, mad| Measured { value, mad, samples: 9 };
        let all = [(Kernel::Gemm, rate(4.5e10, Some(1e9))), (Kernel::Dispatch, rate(2e-6, Some(1e-6)))];
        let one = [(Kernel::Gemm, rate(1e10, None)), (Kernel::Read, rate(5e9, None))];
        let rates = Rates { threads: Some(2), all: all.into(), one: one.into() };
        let mut out = Vec::new();
        print(&rates, &mut out).unwrap();
        let lines: Vec<Vec<String>> = String::from_utf8(out)
            .unwrap()
            .lines()
            .map(|l| l.split("  ").map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect())
            .collect();
        assert_eq!(lines[0], ["rate", "2 workers", "1 worker"]);
        assert_eq!(lines[1], ["gemm", "45 GFLOP/s ± 2 %", "10 GFLOP/s"]);
        assert_eq!(lines[2], ["read", "5 GB/s"]);
        assert_eq!(lines[3], ["dispatch", "2 us ± 50 % noisy"]);
    }
}
