//! What is printed: the plan, and what a run of it gave.

use super::Ran;
use super::source::{Made, name_of};
use sapwood_reduce::tree::{Geometry, sum_f32};
use sapwood_reduce::{Accum, Determinism, Dtype, KernelPlan, Options, Program, ReducePlan, Tensor};
use serde::Serialize;
use std::io::{self, Write};

/// The JSON of a plan and a run.
#[derive(Serialize)]
pub(super) struct Report {
    schema: &'static str,
    source: String,
    target: &'static str,
    device: Device,
    options: Chosen,
    inputs: Vec<Shaped>,
    outputs: Vec<Shaped>,
    /// Of the first reduction.
    form: String,
    kernels: Vec<Kernel>,
    launches: usize,
    /// Nodes of a model that the kernels go around.
    unsupported: Vec<String>,
    bytes_moved: u64,
    bytes_bound: u64,
    /// Of devices, a later step.
    predicted_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Checked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<Output>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

#[derive(Serialize)]
struct Device {
    name: &'static str,
    kind: &'static str,
    sms: usize,
    bandwidth_bytes_per_s: Option<f64>,
    latency_s: Option<f64>,
    launch_s: Option<f64>,
}

#[derive(Serialize)]
struct Chosen {
    determinism: &'static str,
    nan: &'static str,
    accum: &'static str,
    fuse: bool,
}

#[derive(Serialize)]
struct Shaped {
    name: String,
    dtype: &'static str,
    shape: Vec<usize>,
}

#[derive(Serialize)]
struct Group {
    kind: char,
    extent: u64,
}

#[derive(Serialize)]
struct Kernel {
    id: usize,
    ops: Vec<String>,
    form: String,
    groups: Vec<Group>,
    monoids: Vec<String>,
    sweeps: usize,
    resident: bool,
    tile: Option<String>,
    threads: Option<usize>,
    blocks: Option<usize>,
    vector: Option<usize>,
    unroll: Option<usize>,
    split: Option<usize>,
    combine: Option<String>,
    shared_bytes: Option<usize>,
    index_bits: u32,
    bytes_moved: u64,
    bytes_bound: u64,
    flops: u64,
    predicted_s: Option<f64>,
    predicted_terms: Option<f64>,
    lower_bound_s: Option<f64>,
    error_depth: u64,
    not_fused: Vec<NotFused>,
}

#[derive(Serialize)]
struct NotFused {
    op: String,
    reason: String,
}

#[derive(Serialize)]
struct Checked {
    max_abs: f64,
    max_rel: f64,
    bound: f64,
    ok: bool,
}

#[derive(Serialize)]
struct Output {
    name: String,
    dtype: &'static str,
    shape: Vec<usize>,
    /// Null where it is no finite number.
    sum: Option<f64>,
    first_bits: String,
    last_bits: String,
    tree_bits: String,
}

/// Times of repeated runs.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    runs: usize,
    median_s: f64,
    min_s: f64,
    /// The bytes that have to be moved, by the median.
    bytes_per_s: f64,
    /// Of a roof that is measured, a later step.
    efficiency: Option<f64>,
}

impl Measured {
    pub(super) fn new(mut seconds: Vec<f64>, bytes: u64) -> Measured {
        seconds.sort_by(f64::total_cmp);
        let median_s = seconds[seconds.len() / 2];
        let bytes_per_s = bytes as f64 / median_s;
        Measured { runs: seconds.len(), median_s, min_s: seconds[0], bytes_per_s, efficiency: None }
    }
}

fn shaped(name: &str, p: &Program, v: sapwood_reduce::program::ValueId) -> Shaped {
    Shaped { name: name.into(), dtype: p.dtype(v).name(), shape: p.shape(v).to_vec() }
}

fn kernel(p: &Program, id: usize, k: &KernelPlan) -> Kernel {
    let largest = (0..p.inputs().len()).map(|i| p.shape(p.inputs()[i]).iter().product::<usize>()).max().unwrap_or(0);
    Kernel {
        id,
        ops: k.ops.clone(),
        form: if k.form.groups.is_empty() { String::new() } else { k.form.to_string() },
        groups: k.form.groups.iter().map(|g| Group { kind: g.kind.letter(), extent: g.extent }).collect(),
        monoids: k.monoids.clone(),
        sweeps: k.sweeps,
        resident: k.resident,
        tile: None,
        threads: None,
        blocks: None,
        vector: None,
        unroll: None,
        split: None,
        combine: None,
        shared_bytes: None,
        index_bits: if largest < 1 << 31 { 32 } else { 64 },
        bytes_moved: k.bytes_moved,
        bytes_bound: k.bytes_bound,
        flops: k.flops,
        predicted_s: None,
        predicted_terms: None,
        lower_bound_s: None,
        error_depth: k.error_depth,
        not_fused: k.not_fused.iter().map(|n| NotFused { op: n.op.clone(), reason: n.reason.clone() }).collect(),
    }
}

impl Report {
    pub(super) fn new(made: &Made, plan: &ReducePlan, options: &Options, threads: usize) -> Report {
        let p = &plan.program;
        let form = plan.form();
        Report {
            schema: "sapwood.compile/1",
            source: made.name.clone(),
            unsupported: made.unsupported.iter().map(name_of).collect(),
            target: "cpu",
            device: Device {
                name: "cpu",
                kind: "cpu",
                sms: threads,
                bandwidth_bytes_per_s: None,
                latency_s: None,
                launch_s: None,
            },
            options: Chosen {
                determinism: match options.determinism {
                    Determinism::Fast => "fast",
                    Determinism::RunToRun => "run-to-run",
                    Determinism::Portable => "portable",
                },
                nan: options.nan.name(),
                accum: if options.accum == Accum::Native { "native" } else { "compensated" },
                fuse: options.fuse,
            },
            inputs: p.inputs().iter().map(|&v| shaped(p.input_name(v), p, v)).collect(),
            outputs: p.outputs().iter().map(|(name, v)| shaped(name, p, *v)).collect(),
            form: if form.groups.is_empty() { String::new() } else { form.to_string() },
            kernels: plan.kernels.iter().enumerate().map(|(id, k)| kernel(p, id, k)).collect(),
            launches: plan.kernels.len(),
            bytes_moved: plan.bytes_moved(),
            bytes_bound: plan.bytes_bound(),
            predicted_s: None,
            check: None,
            results: None,
            measured: None,
        }
    }

    /// Adds what a run gave.
    pub(super) fn add(&mut self, p: &Program, ran: Ran, results: bool) {
        self.check = ran.check.map(|list| Checked {
            max_abs: list.iter().map(|c| c.max_abs).fold(0.0, f64::max),
            max_rel: list.iter().map(|c| c.max_rel).fold(0.0, f64::max),
            bound: list.iter().map(|c| c.bound).fold(0.0, f64::max),
            ok: list.iter().all(|c| c.ok),
        });
        let outputs = p.outputs().iter().zip(&ran.outputs);
        self.results = results.then(|| outputs.map(|((name, _), tensor)| output(name, tensor)).collect());
        self.measured = ran.measured;
    }

    /// The plan, kernel by kernel.
    pub(super) fn explain(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.form.is_empty() {
            writeln!(out, "form {}", self.form)?;
        }
        for k in &self.kernels {
            let what = if k.monoids.is_empty() {
                "elementwise".to_string()
            } else {
                format!("reduces by {}", k.monoids.join(", "))
            };
            let sweeps = if k.sweeps == 1 { "one sweep".to_string() } else { format!("{} sweeps", k.sweeps) };
            let stay =
                if k.sweeps > 1 && k.resident { ", read once: what a sweep reads stays in the cache" } else { "" };
            writeln!(
                out,
                "k{}  {}  {what}; {sweeps}{stay}",
                k.id,
                if k.form.is_empty() { "one element" } else { &k.form }
            )?;
            writeln!(out, "    fused: {}", k.ops.join(", "))?;
            let ratio = k.bytes_moved as f64 / k.bytes_bound.max(1) as f64;
            write!(out, "    bytes {} (bound {}, {ratio:.2}x), {} operations", k.bytes_moved, k.bytes_bound, k.flops)?;
            if k.error_depth > 0 {
                write!(out, ", error <= {} u sum|x|", k.error_depth)?;
            }
            writeln!(out)?;
            for n in &k.not_fused {
                writeln!(out, "    apart: {} {}", n.op, n.reason)?;
            }
        }
        for around in &self.unsupported {
            writeln!(out, "around: {around}")?;
        }
        let kernels = if self.launches == 1 { "1 kernel".to_string() } else { format!("{} kernels", self.launches) };
        writeln!(out, "{kernels}, {} bytes moved, none can move less than {}", self.bytes_moved, self.bytes_bound)?;
        self.print(out)
    }

    /// What the run gave.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for o in self.results.iter().flatten() {
            let sum = o.sum.map_or("not finite".to_string(), |s| s.to_string());
            writeln!(
                out,
                "{}: {}{:?}, sum {sum}, first {}, last {}",
                o.name, o.dtype, o.shape, o.first_bits, o.last_bits
            )?;
        }
        if let Some(c) = &self.check {
            let verdict = if c.ok { "within the bound" } else { "MISMATCH" };
            writeln!(
                out,
                "check: {verdict}: largest difference {:e} (relative {:e}), bound {:e}",
                c.max_abs, c.max_rel, c.bound
            )?;
        }
        if let Some(m) = &self.measured {
            let speed = m.bytes_per_s / 1e9;
            writeln!(out, "{} runs: median {:e} s, best {:e} s, {speed:.3} GB/s", m.runs, m.median_s, m.min_s)?;
        }
        Ok(())
    }
}

fn output(name: &str, t: &Tensor) -> Output {
    let size = t.dtype().bytes();
    let bits = |i: usize| {
        let bytes = &t.bytes()[i * size..(i + 1) * size];
        let value = bytes.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b));
        format!("{value:#0width$x}", width = 2 + 2 * size)
    };
    let sum: f64 = (0..t.len()).map(|i| t.number(i)).sum();
    Output {
        name: name.into(),
        dtype: t.dtype().name(),
        shape: t.shape().to_vec(),
        sum: Some(sum).filter(|s| s.is_finite()),
        first_bits: if t.is_empty() { String::new() } else { bits(0) },
        last_bits: if t.is_empty() { String::new() } else { bits(t.len() - 1) },
        tree_bits: match t.dtype() {
            Dtype::F32 => format!("{:#010x}", sum_f32(t.as_slice::<f32>(), Geometry::Strided).to_bits()),
            _ => String::new(),
        },
    }
}
