//! What a layer is asked to work on, and the steps that layers are made of, counted as the code runs them.

use super::SUM;
use super::work::{Gathered, Step};
use crate::layer::Mode;
use crate::rows::CHUNK;
use sapwood_sparse::dense;

/// What a pass works with, the same for all layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operands {
    /// Nodes.
    pub rows: usize,
    /// Entries of Â, the diagonal included; a mean where it changes from draw to draw.
    pub entries: f64,
    /// Columns of X.
    pub feature_columns: usize,
    /// Stored entries of X if it is sparse.
    pub feature_entries: Option<u64>,
    /// Every coordinate of every message is drawn for.
    pub messages: bool,
    /// Bytes of a number.
    pub element: usize,
}

/// What becomes of the gradient of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gradient {
    /// Nobody wants it.
    Unwanted,
    /// It is the first to be written.
    Set,
    /// It is added to what other readers of the input left.
    Add,
}

/// The size of one layer's work.
#[derive(Debug, Clone, Copy)]
pub struct Size<'a> {
    /// What the pass works with.
    pub on: Operands,
    /// Training or evaluation; evaluation has no backward pass.
    pub mode: Mode,
    /// Columns of the inputs, as [`crate::layer::Layer::width`] takes them.
    pub inputs: &'a [usize],
    /// For each input whose gradient has a block of its own, as [`crate::layer::Backward::into`]: what becomes of it.
    pub gradients: &'a [Gradient],
}

/// Numbers of Y that the product of a sparse matrix is handed out in, as `sapwood-sparse` cuts it: rows + entries of an item.
const LIGHTEST: f64 = 1024.0;
const HEAVIEST: f64 = 8192.0;
const ITEMS: f64 = 64.0;

/// Groups of partial products that HᵀG keeps, and numbers of a chunk that adds them up, as `sapwood-sparse` has them.
const GROUPS: usize = 32;
const COMBINED: usize = 4096;

impl Size<'_> {
    /// Columns of the first input.
    pub fn input(&self) -> usize {
        self.inputs.first().copied().unwrap_or(0)
    }

    /// Whether the gradient of an input with a block of its own is wanted.
    pub fn wanted(&self, number: usize) -> bool {
        self.gradients.get(number).is_some_and(|g| *g != Gradient::Unwanted)
    }

    /// 1 where the gradient is added to what is there, which is read once more.
    pub fn read_first(&self, number: usize) -> f64 {
        if self.gradients.get(number) == Some(&Gradient::Add) { 1.0 } else { 0.0 }
    }

    /// Bytes of one activation of `width` columns.
    pub fn block_bytes(&self, width: usize) -> u64 {
        (self.on.rows as u64).saturating_mul(width as u64).saturating_mul(self.on.element as u64)
    }

    /// A pass over `width` columns that reads or writes `blocks` blocks, with `operations` a number beside what one pass of
    /// a machine's `elementwise` does.
    pub fn pass(&self, width: usize, blocks: f64, operations: f64) -> Step {
        self.on.pass(width, blocks, operations)
    }

    /// Column sums, in double precision: the block is read once.
    pub fn column_sums(&self, width: usize) -> Step {
        self.pass(width, 1.0, SUM)
    }

    /// H·W or G·Wᵀ: every row of `from` columns becomes one of `to`; with `blocks` of the result read before.
    pub fn product(&self, from: usize, to: usize, read_first: f64) -> Step {
        let (n, size) = (self.on.rows as f64, self.on.element as f64);
        Step {
            chunks: self.on.rows.div_ceil(dense::ROWS),
            flops: 2.0 * n * from as f64 * to as f64,
            streamed: n * size * (from as f64 + (1.0 + read_first) * to as f64),
            ..Step::default()
        }
    }

    /// HᵀG, `rows` × `cols`: products of blocks of 256 nodes, added in a tree within groups of blocks, then over groups.
    pub fn weight_gradient(&self, rows: usize, cols: usize) -> [Step; 2] {
        let (n, size, weight) = (self.on.rows as f64, self.on.element as f64, (rows * cols) as f64);
        let blocks = self.on.rows.div_ceil(dense::ROWS);
        let group = blocks.div_ceil(GROUPS).next_power_of_two();
        let groups = blocks.div_ceil(group);
        let products = Step {
            chunks: groups,
            flops: 2.0 * n * weight,
            // A block's product is written, read and added to another.
            streamed: size * (n * (rows + cols) as f64 + 3.0 * blocks as f64 * weight),
            ..Step::default()
        };
        let sum = Step {
            chunks: (rows * cols).div_ceil(COMBINED),
            streamed: size * (groups + 1) as f64 * weight,
            ..Step::default()
        };
        [products, sum]
    }

    /// Â or Âᵀ times a block of `width` columns; `read_first` as in [`Size::product`].
    pub fn propagation(&self, width: usize, read_first: f64) -> Step {
        let (n, size) = (self.on.rows, self.on.element as f64);
        // An entry has a column, and its neighbour's factor; a row has two factors.
        let step = self.sparse_product(self.on.entries, 4.0 + size, (n, n), width);
        step.with_streamed(n as f64 * size * (2.0 + read_first * width as f64))
    }

    /// XW, or XᵀG, for a sparse X with `entries` entries of a column and an f32.
    pub fn feature_product(&self, entries: u64, (rows, cols): (usize, usize), width: usize) -> Step {
        self.sparse_product(entries as f64, 8.0, (rows, cols), width)
    }

    /// A sparse matrix of this shape, with entries of `entry_bytes`, times a block of `width` columns: a row of the block is
    /// gathered for each entry.
    fn sparse_product(&self, entries: f64, entry_bytes: f64, (rows, cols): (usize, usize), width: usize) -> Step {
        let (row_bytes, all) = ((width * self.on.element) as f64, rows as f64 + entries);
        let chunks = (all / (all / ITEMS).clamp(LIGHTEST, HEAVIEST)).ceil();
        Step {
            chunks: chunks as usize,
            streamed: entries * entry_bytes + rows as f64 * (8.0 + row_bytes),
            gathered: Gathered { rows: entries, row_bytes, operand_bytes: cols as f64 * row_bytes },
            ..Step::default()
        }
    }
}

impl Operands {
    /// As [`Size::pass`].
    pub fn pass(&self, width: usize, blocks: f64, operations: f64) -> Step {
        let numbers = self.rows as f64 * width as f64;
        Step {
            chunks: self.rows.div_ceil(CHUNK),
            operations: numbers * operations,
            streamed: numbers * self.element as f64 * blocks,
            ..Step::default()
        }
    }

    /// A plain loop over the nodes of `instructions` each, one after the other.
    pub fn plain(&self, instructions: f64) -> Step {
        Step { operations: self.rows as f64 * instructions * super::SCALAR, ..Step::default() }
    }
}
