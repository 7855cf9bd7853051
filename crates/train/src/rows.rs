//! Element-wise passes over the rows of a block, and sums over its columns.
//!
//! Every pass runs in chunks of 256 rows whatever the number of threads, and inside a chunk in tiles that fit the first
//! cache, so that several steps on a tile cost one pass over memory. Column sums are taken row by row inside a chunk and
//! over chunks in the fixed aligned tree, in double precision. Nothing here knows what the rows mean.

use crate::Result;
use sapwood_skeleton::{ChunkPlan, Exec, isa, per_chunk, rows};
use sapwood_sparse::{Block, Real};
use std::ops::Range;

/// Rows of a chunk, a multiple of 4 so that dropout's units of four words never cross chunks.
pub(crate) const CHUNK: usize = 256;
/// Elements of a tile, unless four rows have more.
const TILE: usize = 2048;

/// Some consecutive rows of a block.
pub(crate) struct Tile<'a, T> {
    /// Number of the first element in the block, row · width: a multiple of 4.
    pub(crate) first: usize,
    /// The elements.
    pub(crate) values: &'a mut [T],
    /// Room for one random word per element, if it was asked for.
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

/// Calls `f` once for each tile of `block`; `words` asks for room for random words.
pub(crate) fn for_tiles<T: Real>(
    exec: Exec<'_>,
    block: &mut Block<T>,
    words: bool,
    f: impl Fn(&mut Tile<'_, T>) -> sapwood_skeleton::Result<()> + Sync,
) -> Result<()> {
    let (n, width) = (block.rows(), block.cols());
    exec.for_chunks_mut(&ChunkPlan::of(n, CHUNK), rows(block.as_mut_slice(), width), |worker, range, values| {
        let room = worker.arena().take(if words { units(width) } else { 0 })?;
        each_tile(range.start, width, values, room, &f)
    })?;
    Ok(())
}

/// As [`for_tiles`]; then `sums` gets the column sums of what `f` left in `block`.
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
    let parts = (rows(block.as_mut_slice(), width), per_chunk(&mut *partial));
    exec.for_chunks_mut(&plan, parts, |worker, range, (values, partial)| {
        let room = worker.arena().take(if words { units(width) } else { 0 })?;
        each_tile(range.start, width, values, room, |tile| {
            f(tile)?;
            partial.iter_mut().for_each(|sums| add_rows(sums, tile.values));
            Ok(())
        })
    })?;
    finish(partial, sums);
    Ok(())
}

/// Column sums of `block` into `sums`, one per column.
pub(crate) fn column_sums<T: Real>(
    exec: Exec<'_>,
    block: &Block<T>,
    partials: &mut Partials,
    sums: &mut [T],
) -> Result<()> {
    let (values, width) = (block.as_slice(), block.cols());
    let plan = ChunkPlan::of(block.rows(), CHUNK);
    let partial = partials.zeroed(plan.chunks(), width);
    exec.for_chunks_mut(&plan, per_chunk(&mut *partial), |_, range, partial| {
        partial.iter_mut().for_each(|sums| add_rows(sums, &values[range.start * width..range.end * width]));
        Ok(())
    })?;
    finish(partial, sums);
    Ok(())
}

/// Sums over the rows 0..n: `f` adds what a range of rows gives to its `width` sums, which are zero before. The sums of
/// the chunks meet in the fixed tree.
pub(crate) fn sums<'p>(
    exec: Exec<'_>,
    n: usize,
    width: usize,
    partials: &'p mut Partials,
    f: impl Fn(Range<usize>, &mut [f64]) + Sync,
) -> Result<&'p [f64]> {
    sums_by(exec, n, width, partials, f, |_, _, left, right| left.iter_mut().zip(right).for_each(|(a, b)| *a += b))
}

/// As [`sums`], where two parts meet by `merge(rows on the left, rows on the right, left, right)`.
pub(crate) fn sums_by<'p>(
    exec: Exec<'_>,
    n: usize,
    width: usize,
    partials: &'p mut Partials,
    f: impl Fn(Range<usize>, &mut [f64]) + Sync,
    mut merge: impl FnMut(usize, usize, &mut [f64], &[f64]),
) -> Result<&'p [f64]> {
    let plan = ChunkPlan::of(n, CHUNK);
    // One chunk of zeros where there is no row.
    let partial = partials.zeroed(plan.chunks().max(1), width);
    exec.for_chunks_mut(&plan, per_chunk(&mut partial[..plan.chunks()]), |_, range, partial| {
        partial.iter_mut().for_each(|sums| f(range.clone(), sums));
        Ok(())
    })?;
    tree(partial, |first, step, left, right| {
        let border = (first + step) * CHUNK;
        merge(step * CHUNK, n.min(border + step * CHUNK) - border, left, right);
    });
    Ok(&partial[0])
}

/// Adds `row` to every row of `block`.
pub(crate) fn add_row<T: Real>(exec: Exec<'_>, block: &mut Block<T>, row: &[T]) -> Result<()> {
    for_tiles(exec, block, false, |tile| {
        add_to_rows(tile.values, row);
        Ok(())
    })
}

/// block += other, both of one shape.
pub(crate) fn add<T: Real>(exec: Exec<'_>, block: &mut Block<T>, other: &Block<T>) -> Result<()> {
    let other = other.as_slice();
    for_tiles(exec, block, false, |tile| {
        let (first, end) = (tile.first, tile.first + tile.values.len());
        zip(tile.values, &other[first..end], |a, &b| *a += b);
        Ok(())
    })
}

/// Copies `from` into `to`, both of one shape.
pub(crate) fn copy<T: Real>(exec: Exec<'_>, to: &mut Block<T>, from: &Block<T>) -> Result<()> {
    let from = from.as_slice();
    for_tiles(exec, to, false, |tile| {
        tile.values.copy_from_slice(&from[tile.first..tile.first + tile.values.len()]);
        Ok(())
    })
}

/// Calls `f` on each pair of elements, as vector code.
#[inline(always)]
pub(crate) fn zip<A, B>(a: &mut [A], b: &[B], f: impl Fn(&mut A, &B)) {
    isa::vectorized(
        #[inline(always)]
        || a.iter_mut().zip(b).for_each(|(x, y)| f(x, y)),
    );
}

/// Calls `f` on each element, as vector code.
#[inline(always)]
pub(crate) fn each<A>(a: &mut [A], f: impl Fn(&mut A)) {
    isa::vectorized(
        #[inline(always)]
        || a.iter_mut().for_each(f),
    );
}

/// As [`zip`], of three.
#[inline(always)]
pub(crate) fn zip3<A, B, C>(a: &mut [A], b: &[B], c: &[C], f: impl Fn(&mut A, &B, &C)) {
    isa::vectorized(
        #[inline(always)]
        || a.iter_mut().zip(b).zip(c).for_each(|((x, y), z)| f(x, y, z)),
    );
}

/// As [`zip`], of four.
#[inline(always)]
pub(crate) fn zip4<A, B, C, D>(a: &mut [A], b: &[B], c: &[C], d: &[D], f: impl Fn(&mut A, &B, &C, &D)) {
    isa::vectorized(
        #[inline(always)]
        || a.iter_mut().zip(b).zip(c).zip(d).for_each(|(((x, y), z), w)| f(x, y, z, w)),
    );
}

/// Adds `row` to each row of `values`.
pub(crate) fn add_to_rows<T: Real>(values: &mut [T], row: &[T]) {
    isa::vectorized(
        #[inline(always)]
        || {
            for part in values.chunks_exact_mut(row.len().max(1)) {
                part.iter_mut().zip(row).for_each(|(v, &b)| *v += b);
            }
        },
    );
}

/// Adds each row of `values` to `sums`.
fn add_rows<T: Real>(sums: &mut [f64], values: &[T]) {
    isa::vectorized(
        #[inline(always)]
        || {
            for row in values.chunks_exact(sums.len().max(1)) {
                sums.iter_mut().zip(row).for_each(|(s, v)| *s += v.to_f64());
            }
        },
    );
}

/// Rows of a tile of `width` columns, a multiple of 4.
fn tile_rows(width: usize) -> usize {
    (TILE / width.max(1) / 4 * 4).clamp(4, CHUNK)
}

/// Units of four words for the elements of a tile.
fn units(width: usize) -> usize {
    tile_rows(width) * width / 4
}

fn each_tile<T>(
    first_row: usize,
    width: usize,
    values: &mut [T],
    words: &mut [[u32; 4]],
    mut f: impl FnMut(&mut Tile<'_, T>) -> sapwood_skeleton::Result<()>,
) -> sapwood_skeleton::Result<()> {
    let step = tile_rows(width) * width;
    let mut first = first_row * width;
    for values in values.chunks_mut(step.max(1)) {
        let len = values.len();
        let words = if words.is_empty() { &mut [] } else { &mut words[..len.div_ceil(4)] };
        f(&mut Tile { first, values, words })?;
        first += len;
    }
    Ok(())
}

/// The aligned tree over the chunks' values, in place: `merge(first chunk on the left, chunks there, left, right)`.
fn tree(partial: &mut [Vec<f64>], mut merge: impl FnMut(usize, usize, &mut [f64], &[f64])) {
    let mut step = 1;
    while step < partial.len() {
        for (at, pair) in partial.chunks_mut(2 * step).enumerate() {
            if pair.len() > step {
                let (left, right) = pair.split_at_mut(step);
                merge(2 * step * at, step, &mut left[0], &right[0]);
            }
        }
        step *= 2;
    }
}

/// The aligned tree over the chunks' sums, in place; the result, rounded once, into `sums`.
fn finish<T: Real>(partial: &mut [Vec<f64>], sums: &mut [T]) {
    tree(partial, |_, _, left, right| left.iter_mut().zip(right).for_each(|(a, b)| *a += b));
    match partial.first() {
        Some(total) => sums.iter_mut().zip(total).for_each(|(s, &v)| *s = T::from_f64(v)),
        None => sums.fill(T::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::Runtime;
    use sapwood_skeleton::fixed_tree::AlignedTree;

    fn block(rows: usize, cols: usize) -> Block<f32> {
        Block::from_fn(rows, cols, |i, j| ((i * 31 + j * 17) % 101) as f32 * 0.37 - 15.0).unwrap()
    }

    #[test]
    fn column_sums_follow_the_fixed_tree_on_any_number_of_threads() {
        for (n, width) in [(0, 3), (1, 1), (255, 7), (256, 22), (2708, 5), (1025, 130)] {
            let x = block(n, width);
            let want: Vec<f32> = (0..width)
                .map(|c| {
                    let mut tree = AlignedTree::new();
                    for chunk in 0..n.div_ceil(CHUNK) {
                        let rows = chunk * CHUNK..n.min((chunk + 1) * CHUNK);
                        tree.push_one(chunk, rows.map(|i| f64::from(x.row(i)[c])).sum::<f64>(), |a, b| a + b);
                    }
                    tree.finish(|a, b| a + b).unwrap_or(0.0) as f32
                })
                .collect();
            for threads in [1, 2, 3] {
                let runtime = Runtime::threads(threads).unwrap();
                let mut partials = Partials::default();
                let mut sums = vec![9.0; width];
                column_sums(runtime.exec(), &x, &mut partials, &mut sums).unwrap();
                assert_eq!(sums, want, "{n} x {width}, {threads} threads");
                let mut y = block(n, width);
                for_tiles_summed(runtime.exec(), &mut y, true, &mut partials, &mut sums, |_| Ok(())).unwrap();
                assert_eq!(sums, want);
            }
        }
    }

    #[test]
    fn tiles_cover_each_element_once_with_room_for_its_word() {
        let runtime = Runtime::threads(2).unwrap();
        for (n, width) in [(5, 0), (3, 1), (1000, 22), (600, 700), (9, 5000)] {
            let mut x = Block::<f64>::zeros(n, width).unwrap();
            for_tiles(runtime.exec(), &mut x, true, |tile| {
                assert_eq!(tile.first % 4, 0);
                assert!(tile.words.len() * 4 >= tile.values.len());
                for (i, v) in tile.values.iter_mut().enumerate() {
                    *v += (tile.first + i) as f64;
                }
                Ok(())
            })
            .unwrap();
            assert!(x.as_slice().iter().enumerate().all(|(i, &v)| v == i as f64));
        }
    }

    #[test]
    fn sums_of_blocks_and_rows() {
        let runtime = Runtime::sequential().unwrap();
        let mut x = block(300, 3);
        add_row(runtime.exec(), &mut x, &[1.0, 2.0, 3.0]).unwrap();
        let y = block(300, 3);
        assert_eq!(x.row(299)[1], y.row(299)[1] + 2.0);
        add(runtime.exec(), &mut x, &y).unwrap();
        assert_eq!(x.row(7)[2], y.row(7)[2] + 3.0 + y.row(7)[2]);
        copy(runtime.exec(), &mut x, &y).unwrap();
        assert_eq!(x.as_slice(), y.as_slice());
    }
}
