//! Element-wise passes over the rows of a block, and sums over its columns.
//!
//! Every pass runs in chunks of 256 rows whatever the number of threads, and inside a chunk in tiles that fit the first
//! cache, so that several steps on a tile cost one pass over memory. Column sums are taken row by row inside a chunk and
//! over chunks in the fixed aligned tree, in double precision. Nothing here knows what the rows mean.

use crate::Result;
use sapwood_skeleton::{ChunkPlan, Exec, isa, per_chunk, rows};
use sapwood_sparse::{Block, Real};

/// Rows of a chunk, a multiple of 4 so that dropout's units of four words never cross chunks.
pub(crate) const CHUNK: usize = 256;
/// Elements a tile has at most, if its four rows allow.
const TILE: usize = 2048;

/// Some consecutive rows of a block, and room for one random word per element.
pub(crate) struct Tile<'a, T> {
    /// Number of the first element in the block: row · width, a multiple of 4.
    pub(crate) first: usize,
    /// Elements of a row.
    pub(crate) width: usize,
    /// The elements.
    pub(crate) values: &'a mut [T],
    /// At least one word per element, of no particular value.
    pub(crate) words: &'a mut [[u32; 4]],
}

/// Storage of column sums, reused from pass to pass: one row of sums per chunk.
#[derive(Debug, Default)]
pub struct Partials {
    chunks: Vec<Vec<f64>>,
}

impl Partials {
    /// Zeros for `chunks` chunks of `width` columns.
    fn zeroed(&mut self, chunks: usize, width: usize) -> &mut [Vec<f64>] {
        if self.chunks.len() < chunks {
            self.chunks.resize_with(chunks, Vec::new);
        }
        for sums in &mut self.chunks[..chunks] {
            sums.clear();
            sums.resize(width, 0.0);
        }
        &mut self.chunks[..chunks]
    }

    /// Bytes held for `rows` rows of at most `width` columns.
    pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
        rows.div_ceil(CHUNK) as u64 * (width as u64 * 8 + size_of::<Vec<f64>>() as u64)
    }
}

/// Calls `f` once for each tile of `block`; `words` says whether it wants random words.
pub(crate) fn for_tiles<T: Real>(
    exec: Exec<'_>,
    block: &mut Block<T>,
    words: bool,
    f: impl Fn(&mut Tile<'_, T>) -> sapwood_skeleton::Result<()> + Sync,
) -> Result<()> {
    let (n, width) = (block.rows(), block.cols());
    exec.for_chunks_mut(&ChunkPlan::of(n, CHUNK), rows(block.as_mut_slice(), width), |worker, range, values| {
        let words = worker.arena().take(word_units(words, width, values.len()))?;
        tiles(range.start * width, width, values, words, &f)
    })?;
    Ok(())
}

/// As [`for_tiles`]; then `sums` gets the column sums of what `f` left in the block.
pub(crate) fn for_tiles_summed<T: Real>(
    exec: Exec<'_>,
    block: &mut Block<T>,
    words: bool,
    partials: &mut Partials,
    sums: &mut [T],
    f: impl Fn(&mut Tile<'_, T>) -> sapwood_skeleton::Result<()> + Sync,
) -> Result<()> {
    let (n, width) = (block.rows(), block.cols());
    let plan = ChunkPlan::of(n, CHUNK);
    let partial = partials.zeroed(plan.chunks(), width);
    let parts = (rows(block.as_mut_slice(), width), per_chunk(partial));
    exec.for_chunks_mut(&plan, parts, |worker, range, (values, partial)| {
        let words = worker.arena().take(word_units(words, width, values.len()))?;
        tiles(range.start * width, width, values, words, &|tile: &mut Tile<'_, T>| {
            f(tile)?;
            add_rows(&mut partial_of(partial)?.as_mut_slice(), tile.values);
            Ok(())
        })
    })?;
    finish(partials.chunks.get_mut(..plan.chunks()).unwrap_or_default(), sums);
    Ok(())
}

/// Column sums of `block` into `sums`, one per column.
pub(crate) fn column_sums<T: Real>(exec: Exec<'_>, block: &Block<T>, partials: &mut Partials, sums: &mut [T]) -> Result<()> {
    let width = block.cols();
    let plan = ChunkPlan::of(block.rows(), CHUNK);
    let partial = partials.zeroed(plan.chunks(), width);
    exec.for_chunks_mut(&plan, per_chunk(partial), |_, range, partial| {
        for sums in partial {
            add_rows(sums, &block.as_slice()[range.start * width..range.end * width]);
        }
        Ok(())
    })?;
    finish(partial, sums);
    Ok(())
}
