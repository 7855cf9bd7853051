//! The kernels of `sapwood-sparse` as a source of the probe: a dense product as the trainer's layers take it, and a
//! sparse matrix times a dense one.

use sapwood_machine::{CACHED_BYTES, Kernel};
use sapwood_skeleton::probe::{Sizes, Source};
use sapwood_skeleton::random::{Purpose, Stream, below};
use sapwood_skeleton::{Error, Exec, Result};
use sapwood_sparse::{Affine, Block, Csr, WorkPlan, dense, spmm};

/// Rows and columns of the weight of a layer.
const WIDTH: usize = 128;

/// Rows of a block, as dense products are cut.
const BLOCK: usize = 256;

/// Blocks of rows for each worker.
const BLOCKS: usize = 4;

/// Columns of the dense operand of the sparse product.
const COLUMNS: usize = 64;

/// Entries of a row of the sparse matrix.
const DEGREE: usize = 16;

/// Bytes of a row of the dense operand.
const ROW_BYTES: usize = COLUMNS * size_of::<f32>();

/// Rows of the sparse matrix for one worker.
const ROWS: usize = CACHED_BYTES as usize / ROW_BYTES;

/// The operands, made once.
pub(super) struct Products {
    layer: Layer,
    /// For all workers, and for one.
    graphs: [Graph; 2],
    /// The same with a large operand.
    large: [Graph; 2],
}

/// Inputs and outputs of several layers, one after the other, as a network meets them.
struct Layer {
    passes: Vec<[Block<f32>; 2]>,
    weight: Block<f32>,
    next: usize,
}

/// A matrix without structure, and its operands.
struct Graph {
    matrix: Csr<f32>,
    plan: WorkPlan,
    x: Block<f32>,
    y: Block<f32>,
}

impl Products {
    /// Operands for the workers of `exec`, those of the sparse products of `sizes`.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub(super) fn new(exec: Exec<'_>, sizes: &Sizes) -> sapwood_sparse::Result<Products> {
        let within = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX) / ROW_BYTES;
        let rows = |workers: usize| workers.saturating_mul(ROWS).min(within(sizes.cached_bytes)).max(DEGREE);
        let large =
            |workers: usize| within(sizes.large_bytes / exec.threads() as u64 * workers as u64).max(rows(workers));
        let graph = |workers: usize| Graph::new(rows(workers), rows(workers));
        let large_graph = |workers: usize| Graph::new(rows(workers), large(workers));
        let tall = |x: f32| Block::from_fn(layer_rows(exec), WIDTH, |i, j| x * ((i + 3 * j) % 11) as f32);
        let pass = 2 * layer_rows(exec) * WIDTH * size_of::<f32>();
        let passes = (0..(sizes.large_bytes as usize / pass).max(1)).map(|_| Ok([tall(0.1)?, tall(0.0)?]));
        let layer = Layer {
            passes: passes.collect::<sapwood_sparse::Result<_>>()?,
            weight: Block::from_fn(WIDTH, WIDTH, |i, j| ((7 * i + j) % 13) as f32 - 6.0)?,
            next: 0,
        };
        let threads = exec.threads();
        let graphs = [graph(threads)?, graph(1)?];
        Ok(Products { layer, graphs, large: [large_graph(threads)?, large_graph(1)?] })
    }
}

/// Rows of a layer's input for these workers.
fn layer_rows(exec: Exec<'_>) -> usize {
    BLOCK * BLOCKS * exec.threads()
}

impl Source for Products {
    fn kernels(&self) -> &[Kernel] {
        &[Kernel::Gemm, Kernel::Spmm, Kernel::SpmmLarge]
    }

    fn run(&mut self, kernel: Kernel, exec: Exec<'_>, units: usize) -> Result<f64> {
        let done = match kernel {
            Kernel::Gemm => self.layer.run(exec, units),
            Kernel::SpmmLarge => self.large[usize::from(exec.threads() == 1)].run(exec, units),
            _ => self.graphs[usize::from(exec.threads() == 1)].run(exec, units),
        };
        done.map_err(Error::other)
    }
}

impl Layer {
    /// FLOP of `units` products.
    fn run(&mut self, exec: Exec<'_>, units: usize) -> sapwood_sparse::Result<f64> {
        let rows = layer_rows(exec);
        for _ in 0..units {
            let [input, output] = &mut self.passes[self.next];
            input.resize(rows, WIDTH)?;
            output.resize(rows, WIDTH)?;
            dense::gemm(exec, Affine::SET, input, &self.weight, output)?;
            self.next = (self.next + 1) % self.passes.len();
        }
        Ok(2.0 * (units * WIDTH * WIDTH) as f64 * rows as f64)
    }
}

impl Graph {
    /// A matrix of `rows` rows with [`DEGREE`] entries at random places of `cols` columns in each.
    fn new(rows: usize, cols: usize) -> sapwood_sparse::Result<Graph> {
        let stream = Stream::new(0, Purpose::Probe);
        let mut columns = Vec::with_capacity(rows * DEGREE);
        for row in 0..rows {
            let words = (0..DEGREE / 4).map(|i| stream.at(1, 0, (row * DEGREE / 4 + i) as u64));
            let words: Vec<[u32; 4]> = words.collect::<Result<_>>()?;
            let start = columns.len();
            columns.extend(words.iter().flatten().map(|&word| below(word, cols as u32)));
            columns[start..].sort_unstable();
        }
        let offsets = (0..=rows).map(|row| (row * DEGREE) as u64).collect();
        let values = vec![1.0 / DEGREE as f32; columns.len()];
        let matrix = Csr::try_new(rows, cols, offsets, columns, values)?;
        let plan = WorkPlan::new(&matrix);
        let x = Block::from_fn(cols, COLUMNS, |i, j| ((i + j) % 17) as f32)?;
        Ok(Graph { plan, matrix, x, y: Block::zeros(rows, COLUMNS)? })
    }

    /// Bytes gathered by `units` products.
    fn run(&mut self, exec: Exec<'_>, units: usize) -> sapwood_sparse::Result<f64> {
        let Graph { matrix, plan, x, y } = self;
        for _ in 0..units {
            spmm(exec, matrix, plan, None, x, y, Affine::SET)?;
        }
        Ok((units * DEGREE * COLUMNS * size_of::<f32>()) as f64 * y.rows() as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;

    fn sizes(cached_bytes: u64) -> Sizes {
        Sizes { memory_bytes: 0, cached_bytes, large_bytes: 3 * cached_bytes, beyond_caches: false }
    }

    #[test]
    fn products_are_computed_and_counted() {
        let runtime = Runtime::threads(3).unwrap();
        let mut products = Products::new(runtime.exec(), &sizes(1 << 20)).unwrap();
        assert_eq!((products.large[0].x.rows(), products.large[1].x.rows()), (3 * ROWS, ROWS));
        assert_eq!(products.graphs[0].x.rows(), ROWS, "no more than stays in the cache");
        for (exec, threads) in [(runtime.exec(), 3), (runtime.exec().limit(1), 1), (runtime.exec(), 3)] {
            let flops = products.run(Kernel::Gemm, exec, 2).unwrap();
            assert_eq!(flops, (2 * 2 * 1024 * threads * 128 * 128) as f64);
            for kernel in [Kernel::Spmm, Kernel::SpmmLarge] {
                assert_eq!(products.run(kernel, exec, 2).unwrap(), (2 * ROWS * 16 * 64 * 4) as f64);
            }
        }
        let [input, output] = products.layer.passes.last().unwrap();
        let last = (layer_rows(runtime.exec()) - 1, 5);
        let exact: f64 = (0..WIDTH).map(|k| f64::from(input.row(last.0)[k] * products.layer.weight.row(k)[5])).sum();
        assert!((f64::from(output.row(last.0)[5]) - exact).abs() < 1e-3);
        let mean: f32 = products.graphs[0].y.as_slice().iter().sum::<f32>() / (ROWS * COLUMNS) as f32;
        assert!((mean - 8.0).abs() < 0.5, "rows are means of 0 to 16: {mean}");
    }

    #[test]
    fn the_smallest_cache_still_has_a_matrix() {
        let runtime = Runtime::sequential().unwrap();
        let mut products = Products::new(runtime.exec(), &sizes(0)).unwrap();
        assert_eq!(products.run(Kernel::Spmm, runtime.exec(), 1).unwrap(), (16 * 16 * 64 * 4) as f64);
    }
}
