//! From steps to seconds, by the rates of a machine.
//!
//! A step takes D + i·(O/A + max(F/G, B/S) + Σ gathered): D the dispatch, i ≥ 1 how much longer the worker with the most
//! chunks works than all do on average, O operations at half the multiply-adds A of the registers (a rate counts two a
//! multiply-add), F FLOP at the dense rate G, B bytes at S. A gathered row counts as whole cache lines.
//!
//! What does not fit the last cache is streamed at `stream`; a row gathered from it takes a time that is a straight line
//! through those of `gather_64` and `gather_256` for their rows of 256 and 1024 bytes. What fits goes at `elementwise` and
//! `spmm`; where the file also tells `elementwise_large` and `spmm_large`, the time of a byte grows from those to these with
//! the logarithm of the size, between the sizes that they were measured on.

use super::work::{Gathered, Step, Work};
use sapwood_machine::{CACHED_BYTES, Kernel, LARGE_BYTES, Rates};

/// Bytes that come from memory together.
const LINE: f64 = 64.0;

/// Bytes of the rows that `gather_64` and `gather_256` read.
const NARROW: f64 = 256.0;
const WIDE: f64 = 1024.0;

/// The rates that a prediction needs.
const KERNELS: [Kernel; 8] = [
    Kernel::Gemm,
    Kernel::FmaF32,
    Kernel::Elementwise,
    Kernel::Stream,
    Kernel::Spmm,
    Kernel::Gather64,
    Kernel::Gather256,
    Kernel::Dispatch,
];

/// A rate that a machine file does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the machine file has no rate {kernel} for {threads} workers; sapwood machine probe -o FILE measures all rates"
)]
pub struct MissingRate {
    /// What it is of.
    pub kernel: Kernel,
    /// For so many workers.
    pub threads: usize,
}

/// What work costs on some workers of a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// For 1 worker, 2 workers, … all.
    by_workers: Vec<[f64; KERNELS.len()]>,
    /// `elementwise_large` and `spmm_large` likewise, where the file tells both.
    large: Option<Vec<[f64; 2]>>,
    cache_bytes: f64,
    /// Bytes that pass by before what is streamed is met again.
    between_uses: f64,
    /// Numbers of 8 bytes: half as many fit a register.
    double: bool,
}

impl Prices {
    /// The prices on `threads` workers with a last cache of `cache_bytes`, for numbers of `element` bytes.
    ///
    /// A number of workers below `threads` whose rate the file does not tell is taken to have its share.
    ///
    /// # Errors
    /// [`MissingRate`] for the first rate that the file does not tell for all workers.
    pub fn new(rates: &Rates, threads: usize, cache_bytes: u64, element: usize) -> Result<Prices, MissingRate> {
        let threads = threads.max(1);
        let price = |kernel: Kernel, workers: usize| {
            let whole = rates.at(kernel, threads).ok_or(MissingRate { kernel, threads })?;
            let share = if kernel == Kernel::Dispatch { 1.0 } else { workers as f64 / threads as f64 };
            Ok(rates.at(kernel, workers).unwrap_or(whole * share))
        };
        let all = |workers: usize| {
            let mut all = [0.0; KERNELS.len()];
            for (slot, kernel) in all.iter_mut().zip(KERNELS) {
                *slot = price(kernel, workers)?;
            }
            Ok(all)
        };
        let large = |workers: usize| {
            Some([price(Kernel::ElementwiseLarge, workers).ok()?, price(Kernel::SpmmLarge, workers).ok()?])
        };
        Ok(Prices {
            large: (1..=threads).map(large).collect(),
            by_workers: (1..=threads).map(all).collect::<Result<_, _>>()?,
            cache_bytes: cache_bytes as f64,
            between_uses: 0.0,
            double: element == 8,
        })
    }

    /// The same where `bytes` pass by from one use of what is streamed to the next, as the activations of a network do: it is
    /// found where so much is kept.
    #[must_use]
    pub fn between_uses(&self, bytes: u64) -> Prices {
        Prices { between_uses: bytes as f64, ..self.clone() }
    }

    /// Seconds of all steps.
    pub fn work(&self, work: &Work) -> f64 {
        work.steps().iter().map(|step| self.step(step)).sum()
    }

    /// Seconds of one step.
    pub fn step(&self, step: &Step) -> f64 {
        let workers = self.by_workers.len().min(step.chunks).max(1);
        let [gemm, fma, elementwise, stream, spmm, gather_64, gather_256, dispatch] = self.by_workers[workers - 1];
        let chunks = step.chunks.max(1);
        let longest = (workers * chunks.div_ceil(workers)) as f64 / chunks as f64;
        let lanes = if self.double { 0.5 } else { 1.0 };
        let [elementwise_large, spmm_large] = match &self.large {
            Some(large) => large[workers - 1],
            None => [elementwise, spmm],
        };
        let sizes = (step.streamed.max(self.between_uses), step.gathered.operand_bytes);
        let fits = |bytes: f64| bytes <= self.cache_bytes;
        let ordered = if fits(sizes.0) { between(sizes.0, workers, elementwise, elementwise_large) } else { stream };
        let spmm = fits(sizes.1).then(|| between(sizes.1, workers, spmm, spmm_large));
        let time = step.operations / (0.5 * fma * lanes)
            + (step.flops / (gemm * lanes)).max(step.streamed / ordered)
            + self.gather(&step.gathered, spmm, (gather_64, gather_256));
        longest * time + if step.chunks == 0 { 0.0 } else { dispatch }
    }

    /// Rows at the rate `cached`, or from memory.
    fn gather(&self, gathered: &Gathered, cached: Option<f64>, (gather_64, gather_256): (f64, f64)) -> f64 {
        let bytes = (gathered.row_bytes / LINE).ceil() * LINE;
        if let Some(rate) = cached {
            return gathered.rows * bytes / rate;
        }
        let (narrow, wide) = (NARROW / gather_64, WIDE / gather_256);
        let slope = ((wide - narrow) / (WIDE - NARROW)).max(0.0);
        // No row takes less than no time, and none below 256 bytes more than one of 256.
        let start = (narrow - NARROW * slope).max(0.0);
        let row =
            if bytes < NARROW { start + (narrow - start) * bytes / NARROW } else { narrow + slope * (bytes - NARROW) };
        gathered.rows * row
    }
}

/// The rate on `bytes` between two that were measured: the time of a byte is straight over the logarithm of the size.
fn between(bytes: f64, workers: usize, small: f64, large: f64) -> f64 {
    let (from, to) = (CACHED_BYTES as f64, LARGE_BYTES as f64);
    let at = (bytes / (from * workers as f64)).max(1.0).ln() / (to / from).ln();
    1.0 / (1.0 / small + (1.0 / large - 1.0 / small) * at.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_machine::{ByKernel, Measured};

    fn table(scale: f64) -> ByKernel {
        let values = [100e9, 80e9, 40e9, 20e9, 10e9, 4e9, 8e9, 1e-6];
        let of = |(kernel, value): (Kernel, f64)| {
            let value = if kernel == Kernel::Dispatch { value } else { value * scale };
            (kernel, Measured { value, mad: None, samples: 0 })
        };
        KERNELS.into_iter().zip(values).map(of).collect()
    }

    fn prices(element: usize) -> Prices {
        let rates = Rates { threads: Some(2), all: table(1.0), one: table(0.5) };
        Prices::new(&rates, 2, 1 << 20, element).unwrap()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}");
    }

    #[test]
    fn a_step_by_hand() {
        let step = Step { chunks: 4, flops: 1e9, operations: 4e9, streamed: 2e9, ..Step::default() };
        // Operations at 40e9 a second; 2e9 bytes are beyond the cache and take longer than the product.
        close(prices(4).step(&step), 1e-6 + 0.1 + 0.1);
        // Three chunks on two workers: one of them has two.
        close(prices(4).step(&Step { chunks: 3, ..step }), 1e-6 + 0.2 * 4.0 / 3.0);
        // One chunk is done by one worker, at half the rate.
        close(prices(4).step(&Step { chunks: 1, ..step }), 1e-6 + 0.4);
        // A plain loop is not handed out.
        close(prices(4).step(&Step { chunks: 0, ..step }), 0.4);
        // In double precision the product takes 0.02 s, the operations twice as long.
        close(prices(8).step(&step), 1e-6 + 0.2 + 0.1);
        close(prices(4).step(&Step { streamed: 1e6, flops: 0.0, operations: 0.0, ..step }), 1e-6 + 1e6 / 40e9);
    }

    #[test]
    fn gathered_rows_come_from_the_cache_or_on_a_line_through_both_widths() {
        let of = |row_bytes: f64, operand_bytes: f64| {
            let gathered = Gathered { rows: 1e6, row_bytes, operand_bytes };
            prices(4).step(&Step { chunks: 2, gathered, ..Step::default() }) - 1e-6
        };
        close(of(256.0, 1e3), 256e6 / 10e9);
        // 28 bytes are a line of 64.
        close(of(28.0, 1e3), 64e6 / 10e9);
        close(of(256.0, 1e9), 256e6 / 4e9);
        close(of(1024.0, 1e9), 1024e6 / 8e9);
        // Half way between 64 ns and 128 ns.
        close(of(640.0, 1e9), 96e-3);
        // 64 ns at 256 bytes, 1/12 ns more for each byte: 42.67 ns for none.
        close(of(128.0, 1e9), (128.0 / 3.0 + 64.0 / 3.0 * 0.5) * 1e-3);
    }

    #[test]
    fn between_two_sizes_the_time_of_a_byte_grows_with_the_logarithm() {
        let mut rates = Rates { threads: Some(2), all: table(1.0), one: table(0.5) };
        rates.all.extend(
            [(Kernel::ElementwiseLarge, 4e9), (Kernel::SpmmLarge, 1e9)]
                .map(|(kernel, value)| (kernel, Measured { value, mad: None, samples: 0 })),
        );
        let prices = Prices::new(&rates, 2, 1 << 30, 4).unwrap();
        let streamed = |mib: f64, chunks| {
            let bytes = mib * 1_048_576.0;
            (prices.step(&Step { chunks, streamed: bytes, ..Step::default() }) - 1e-6) / bytes
        };
        close(streamed(2.0, 2), 1.0 / 40e9);
        close(streamed(1.0, 2), 1.0 / 40e9);
        close(streamed(8.0, 2), 0.5 / 40e9 + 0.5 / 4e9);
        close(streamed(500.0, 2), 1.0 / 4e9);
        // One worker has half the rates, and half the caches.
        close(streamed(4.0, 1), 0.5 / 20e9 + 0.5 / 2e9);
        let gathered = Gathered { rows: 1e6, row_bytes: 256.0, operand_bytes: 8.0 * 1_048_576.0 };
        close(prices.step(&Step { chunks: 2, gathered, ..Step::default() }) - 1e-6, 256e6 * (0.5 / 10e9 + 0.5 / 1e9));
    }

    #[test]
    fn a_rate_that_is_not_told_is_named_and_fewer_workers_have_their_share() {
        let rates = Rates { threads: Some(4), all: table(1.0), one: ByKernel::new() };
        let prices = Prices::new(&rates, 4, 0, 4).unwrap();
        assert_eq!(prices.by_workers[0][0], 25e9);
        assert_eq!(prices.by_workers[0][7], 1e-6);
        let mut all = table(1.0);
        all.remove(&Kernel::Gather256);
        let missing = Prices::new(&Rates { threads: Some(2), all, one: table(0.5) }, 2, 0, 4).unwrap_err();
        assert_eq!(missing, MissingRate { kernel: Kernel::Gather256, threads: 2 });
        assert!(missing.to_string().contains("gather_256"));
    }
}
