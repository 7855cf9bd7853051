//! What was measured kernel by kernel: the table `[rates]` of a machine file.
//!
//! A rate holds for all workers at once or for one of them alone. Rates of arithmetic are FLOP/s, rates of memory byte/s
//! as [`Kernel::summary`] counts them, and the time of a call is in seconds. Start with [`Rates::at`].

use std::collections::BTreeMap;
use std::fmt;

use crate::fit::is_noisy;
use crate::level::{Compute, Dtype, Level, Measured, Memory, Override, Values};
use crate::tree::{Header, Tree};
use crate::units;
use crate::{Error, Result};

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// FLOP/s.
    Flops,
    /// Byte/s.
    Bytes,
    /// Seconds per call.
    Seconds,
}

impl Quantity {
    /// The unit of the plain number: `FLOP/s`, `B/s` or `s`.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Flops => "FLOP/s",
            Self::Bytes => "B/s",
            Self::Seconds => "s",
        }
    }

    /// Reads a value with its unit.
    ///
    /// # Errors
    /// When the text is no such quantity.
    pub fn parse(self, text: &str) -> Result<f64, units::Error> {
        match self {
            Self::Flops => units::flop_rate(text),
            Self::Bytes => units::byte_rate(text),
            Self::Seconds => units::seconds(text),
        }
    }

    /// The value with its unit; reading gives the same bits.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Flops => units::print_flop_rate(value),
            Self::Bytes => units::print_byte_rate(value),
            Self::Seconds => units::print_seconds(value),
        }
    }
}

/// Bytes of the operands of a worker for `spmm` and `elementwise`: the second cache of most processors holds them.
pub const CACHED_BYTES: u64 = 1 << 20;

/// Bytes of the operands of a worker for `spmm_large` and `elementwise_large`: beyond the second cache, in the last one if it
/// is large.
pub const LARGE_BYTES: u64 = 16 << 20;

/// A kernel whose rate a machine file may state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// Dense products.
    Gemm,
    /// Sparse times dense.
    Spmm,
    /// The same with a large dense operand.
    SpmmLarge,
    /// Passes over arrays that stay in the cache.
    Elementwise,
    /// The same over large arrays.
    ElementwiseLarge,
    /// The triad.
    Stream,
    /// Reading alone.
    Read,
    /// Rows of 64 numbers at random places.
    Gather64,
    /// Rows of 256 numbers at random places.
    Gather256,
    /// Multiply-adds of f32 in registers.
    FmaF32,
    /// Multiply-adds of f64 in registers.
    FmaF64,
    /// Starting and ending one parallel step.
    Dispatch,
}

impl Kernel {
    /// All kernels, in the order they are written.
    pub const ALL: [Self; 12] = [
        Self::Gemm,
        Self::Spmm,
        Self::SpmmLarge,
        Self::Elementwise,
        Self::ElementwiseLarge,
        Self::Stream,
        Self::Read,
        Self::Gather64,
        Self::Gather256,
        Self::FmaF32,
        Self::FmaF64,
        Self::Dispatch,
    ];

    /// The key in machine files: `gather_64`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Spmm => "spmm",
            Self::SpmmLarge => "spmm_large",
            Self::Elementwise => "elementwise",
            Self::ElementwiseLarge => "elementwise_large",
            Self::Stream => "stream",
            Self::Read => "read",
            Self::Gather64 => "gather_64",
            Self::Gather256 => "gather_256",
            Self::FmaF32 => "fma_f32",
            Self::FmaF64 => "fma_f64",
            Self::Dispatch => "dispatch",
        }
    }

    /// What the rate counts.
    pub const fn quantity(self) -> Quantity {
        match self {
            Self::Gemm | Self::FmaF32 | Self::FmaF64 => Quantity::Flops,
            Self::Dispatch => Quantity::Seconds,
            _ => Quantity::Bytes,
        }
    }

    /// What is done and what is counted.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Gemm => {
                "dense f32 products, blocks of 256 x 128 x 128, of 16 MiB for each worker; 2 FLOP per multiply-add"
            }
            Self::Spmm => "sparse times dense f32, rows of 64 in the cache; gathered bytes only",
            Self::SpmmLarge => "the same with an operand of 16 MiB for each worker",
            Self::Elementwise => "y = max(0, a x + b y) in the cache; bytes read and written",
            Self::ElementwiseLarge => "the same on arrays of 16 MiB for each worker",
            Self::Stream => "a = b + s c beyond the cache; bytes read and written",
            Self::Read => "sum beyond the cache; bytes read",
            Self::Gather64 => "rows of 64 f32 at random places beyond the cache; bytes read",
            Self::Gather256 => "rows of 256 f32 at random places beyond the cache; bytes read",
            Self::FmaF32 => "f32 multiply-adds in registers; 2 FLOP each",
            Self::FmaF64 => "f64 multiply-adds in registers; 2 FLOP each",
            Self::Dispatch => "starting and ending one parallel step that does nothing",
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Measured rates by kernel, in the plain unit of [`Kernel::quantity`].
pub type ByKernel = BTreeMap<Kernel, Measured<f64>>;

/// The table `[rates]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rates {
    /// Workers that [`Rates::all`] holds for; all of the machine if it is not said.
    pub threads: Option<u32>,
    /// With all workers at once: what they do together.
    pub all: ByKernel,
    /// With one worker while the others rest.
    pub one: ByKernel,
}

impl Rates {
    /// The rate of `kernel` on `threads` workers together (FLOP/s, byte/s, or seconds per call, see
    /// [`Kernel::quantity`]); none if the file does not tell.
    ///
    /// Between one worker and all of them the rate is interpolated; more workers than were measured do no more.
    pub fn at(&self, kernel: Kernel, threads: usize) -> Option<f64> {
        let value = |table: &ByKernel| table.get(&kernel).map(|rate| rate.value);
        let (one, all) = (value(&self.one), value(&self.all));
        let Some(most) = self.threads else { return if threads <= 1 { one.or(all) } else { all } };
        let most = most as usize;
        if threads >= most {
            return all.or_else(|| one.filter(|_| most == 1));
        }
        if threads <= 1 {
            return one;
        }
        let (one, all) = (one?, all?);
        Some(one + (all - one) * ((threads - 1) as f64 / (most - 1) as f64))
    }

    /// Whether the samples of any rate scattered by more than 20 %.
    pub fn noisy(&self) -> bool {
        self.all.values().chain(self.one.values()).any(|rate| is_noisy(*rate))
    }
}

impl Tree {
    /// The rates of kernels on this machine, if its file states any.
    pub fn rates(&self) -> Option<&Rates> {
        self.header().rates.as_ref()
    }

    /// This machine with measured rates, and with what follows from them for its levels: `compute` of a worker from the
    /// multiply-adds of all workers divided by their speeds, `memory.bandwidth` of the root from reading with all
    /// workers, that of a worker from reading with one.
    ///
    /// # Errors
    /// [`Error::Parts`] if the rates hold for another number of workers, or a worker is a device.
    pub fn with_rates(&self, header: Header, rates: Rates) -> Result<Tree> {
        let fail = |message| Error::Parts { part: "rates".to_owned(), key: "threads", message };
        let leaves = self.leaf_nodes();
        if let Some(threads) = rates.threads.filter(|threads| *threads as usize != leaves.len()) {
            return Err(fail(format!("measured on {threads} workers, but the machine has {}", leaves.len())));
        }
        if leaves.iter().any(|leaf| self.node(*leaf).device.is_some()) {
            return Err(fail("the workers are devices, only processors are measured".to_owned()));
        }
        let speeds: f64 = leaves.iter().map(|leaf| self.node(*leaf).speed).sum();
        let per_worker = |speed: f64| compute(&rates, speed / speeds);
        let mut levels = self.levels().to_vec();
        let mut overrides = self.overrides().to_vec();
        let depths: Vec<usize> = leaves.iter().map(|leaf| self.level_of(*leaf)).collect();
        for (depth, level) in levels.iter_mut().enumerate() {
            if depths.contains(&depth) {
                level.values.compute = per_worker(level.values.speed.unwrap_or(1.0));
            }
        }
        for Override { values, .. } in &mut overrides {
            // what was stated before must not hide what is measured now
            values.compute = values.speed.and_then(per_worker);
        }
        self.put_bandwidths(&rates, &depths, &mut levels);
        Tree::new(Header { rates: Some(rates), ..header }, levels, overrides)
    }

    fn put_bandwidths(&self, rates: &Rates, depths: &[usize], levels: &mut [Level]) {
        let read = |table: &ByKernel| table.get(&Kernel::Read).copied();
        for (depth, Level { values, .. }) in levels.iter_mut().enumerate() {
            if depth == 0 {
                put_bandwidth(values, read(&rates.all));
            } else if depths.contains(&depth) {
                put_bandwidth(values, read(&rates.one));
            }
        }
    }
}

fn put_bandwidth(values: &mut Values, bandwidth: Option<Measured<f64>>) {
    if bandwidth.is_some() {
        values.memory = Some(Memory { bandwidth, ..values.memory.clone().unwrap_or_default() });
    }
}

/// The share `part` of what all workers do.
fn compute(rates: &Rates, part: f64) -> Option<Compute> {
    let of = |value: f64| units::rounded(value * part);
    let share = |rate: &Measured<f64>| Measured { value: of(rate.value), mad: rate.mad.map(of), ..*rate };
    let types = [(Dtype::F64, Kernel::FmaF64), (Dtype::F32, Kernel::FmaF32)];
    let by_type = types.into_iter().filter_map(|(dtype, kernel)| Some((dtype, share(rates.all.get(&kernel)?))));
    Some(Compute { by_type: by_type.collect() }).filter(|compute| !compute.by_type.is_empty())
}
