//! The fixed tree of reductions: the one order in which values are combined, whatever the number of workers.
//!
//! Items are cut into chunks by their number alone ([`crate::ChunkPlan::even`]). Inside a chunk of m items, eight
//! contiguous runs of ⌈m/8⌉ items are folded left to right, each from its first item: eight independent chains hide the
//! latency of the operator, and order is kept, so associativity alone is enough. Run values, and then chunk values, are
//! combined in the *aligned tree*: node (h, j) covers the indices [j·2^h, (j+1)·2^h), its value is left ⊕ right, or left
//! alone when right is empty. A worker owns a contiguous range of chunks and hands up the dyadic blocks that tile it;
//! the tree goes on from there ([`AlignedTree`]), so the shape of the machine leaves no trace.

use crate::Monoid;
use std::ops::Range;

/// Number of runs in a chunk.
pub const RUNS: usize = 8;

/// The chunk length for `n` items: clamp(2^⌊log2(n / 256)⌋, 1, 4096), 1 below 512.
pub fn chunk_length(n: usize) -> usize {
    if n < 512 { 1 } else { (1usize << (n / 256).ilog2()).min(4096) }
}

/// Values of consecutive blocks, combined as far as the aligned tree allows. O(log K) memory for K pushes.
#[derive(Debug, Clone)]
pub struct AlignedTree<A> {
    blocks: Vec<Block<A>>,
}

/// The value of the indices [start, start + len); len is a power of two that divides start.
#[derive(Debug, Clone, PartialEq)]
pub struct Block<A> {
    /// First index.
    pub start: usize,
    /// Number of indices, a power of two.
    pub len: usize,
    /// Their value.
    pub value: A,
}

impl<A> Default for AlignedTree<A> {
    fn default() -> Self {
        AlignedTree { blocks: Vec::new() }
    }
}

impl<A> AlignedTree<A> {
    /// An empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the block that follows the last one, and combines what is complete.
    pub fn push(&mut self, block: Block<A>, mut combine: impl FnMut(A, A) -> A) {
        let mut right = block;
        while let Some(left) = self.blocks.pop_if(|l| l.len == right.len && l.start % (2 * l.len) == 0) {
            right = Block { start: left.start, len: 2 * left.len, value: combine(left.value, right.value) };
        }
        self.blocks.push(right);
    }

    /// Adds the value of one index.
    pub fn push_one(&mut self, index: usize, value: A, combine: impl FnMut(A, A) -> A) {
        self.push(Block { start: index, len: 1, value }, combine);
    }

    /// The blocks that tile what was pushed, left to right.
    pub fn into_blocks(self) -> Vec<Block<A>> {
        self.blocks
    }

    /// The value of everything pushed, from index 0; `None` if nothing was.
    pub fn finish(mut self, mut combine: impl FnMut(A, A) -> A) -> Option<A> {
        let mut value = self.blocks.pop()?.value;
        while let Some(left) = self.blocks.pop() {
            value = combine(left.value, value);
        }
        Some(value)
    }
}

/// The value of the items `range`, one chunk: eight runs, then the aligned tree over them. `None` if empty.
#[inline(always)]
pub fn fold_chunk<M: Monoid>(monoid: &M, range: Range<usize>, at: impl Fn(usize) -> M::Item) -> Option<M::Acc> {
    let m = range.len();
    if m == 0 {
        return None;
    }
    let h = m.div_ceil(RUNS);
    let runs = m.div_ceil(h);
    if runs == RUNS && m == RUNS * h {
        let mut acc: [M::Acc; RUNS] = std::array::from_fn(|r| monoid.lift(at(range.start + r * h)));
        for j in 1..h {
            for (r, a) in acc.iter_mut().enumerate() {
                monoid.push(a, at(range.start + r * h + j));
            }
        }
        let [a, b, c, d, e, f, g, h] = acc;
        let left = monoid.combine(monoid.combine(a, b), monoid.combine(c, d));
        let right = monoid.combine(monoid.combine(e, f), monoid.combine(g, h));
        return Some(monoid.combine(left, right));
    }
    let mut tree = AlignedTree::new();
    for r in 0..runs {
        let run = range.start + r * h..range.end.min(range.start + (r + 1) * h);
        let mut acc = monoid.lift(at(run.start));
        for i in run.start + 1..run.end {
            monoid.push(&mut acc, at(i));
        }
        tree.push_one(r, acc, |a, b| monoid.combine(a, b));
    }
    tree.finish(|a, b| monoid.combine(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_lengths() {
        let table = [
            (0, 1),
            (511, 1),
            (512, 2),
            (1023, 2),
            (1024, 4),
            (4096, 16),
            (100_003, 256),
            (1 << 20, 4096),
            (10_000_000, 4096),
        ];
        for (n, c) in table {
            assert_eq!(chunk_length(n), c, "{n}");
        }
    }

    fn tiling(range: Range<usize>) -> Vec<(usize, usize)> {
        let mut tree = AlignedTree::new();
        for i in range {
            tree.push_one(i, (), |(), ()| ());
        }
        tree.into_blocks().into_iter().map(|b| (b.start, b.len)).collect()
    }

    #[test]
    fn dyadic_tilings() {
        assert_eq!(tiling(3..11), [(3, 1), (4, 4), (8, 2), (10, 1)]);
        assert_eq!(tiling(0..5), [(0, 4), (4, 1)]);
    }

    /// The definition, read off the page: the value of node (h, j).
    fn node(values: &[String], h: u32, j: usize) -> String {
        if h == 0 {
            return values[j].clone();
        }
        let left = node(values, h - 1, 2 * j);
        if ((2 * j + 1) << (h - 1)) < values.len() {
            format!("({left}{})", node(values, h - 1, 2 * j + 1))
        } else {
            left
        }
    }

    #[test]
    fn any_cut_into_workers_gives_the_tree_of_the_definition() {
        let combine = |a: String, b: String| format!("({a}{b})");
        for k in 1usize..=21 {
            let values: Vec<String> = (0..k).map(|i| format!("{i},")).collect();
            let want = node(&values, k.next_power_of_two().ilog2(), 0);
            for cut in 0..=k {
                let mut tree = AlignedTree::new();
                for range in [0..cut, cut..k] {
                    let mut part = AlignedTree::new();
                    range.for_each(|i| part.push_one(i, values[i].clone(), combine));
                    part.into_blocks().into_iter().for_each(|b| tree.push(b, combine));
                }
                assert_eq!(tree.finish(combine).unwrap(), want, "k={k} cut={cut}");
            }
        }
    }
}
