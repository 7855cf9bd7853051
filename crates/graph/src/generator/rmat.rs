//! R-MAT (Chakrabarti, Zhan, Faloutsos, SIAM Data Mining 2004): 2^scale nodes, edge · 2^scale draws. A draw descends
//! `scale` times into a quadrant of the adjacency matrix, with probabilities a (both ends in the lower half), b, c and
//! d = 1 − a − b − c (both in the upper half); its cell is an arc.
//!
//! The defaults a = 0.57, b = c = 0.19 are those of Graph500. The graph is what is left of the draws as undirected pairs:
//! self-loops are dropped, repeats and the two directions of a pair merged, so it has fewer pairs than draws. The
//! probabilities are rounded to 2^−32 and the same on all levels (no noise), and nodes are not renumbered: low numbers
//! have high degrees. No labels.

use super::spec::{Kind, Parameter, SEED, Values};
use super::{Entry, Generator, Listed, Size};
use crate::Result;
use crate::graph::Edge;
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, Exec, isa, rows};

pub(super) const ENTRY: Entry = Entry {
    name: "rmat",
    summary: "R-MAT: edge * 2^scale arcs thrown into the quadrants of the matrix, as undirected pairs",
    example: "rmat:scale=16,edge=16",
    parameters: &[
        Parameter {
            name: "scale",
            meaning: "log2 of the number of nodes",
            kind: Kind::Whole { least: 0, most: 31 },
            default: None,
        },
        Parameter {
            name: "edge",
            meaning: "draws per node",
            kind: Kind::Whole { least: 0, most: u32::MAX as u64 },
            default: None,
        },
        Parameter { name: "a", meaning: "low - low", kind: Kind::Probability, default: Some("0.57") },
        Parameter { name: "b", meaning: "low - high", kind: Kind::Probability, default: Some("0.19") },
        Parameter { name: "c", meaning: "high - low", kind: Kind::Probability, default: Some("0.19") },
        SEED,
    ],
    new: |values| Ok(Box::new(Rmat::new(values)?)),
};

/// Second keys of the stream: this and the number of the group of levels.
const LEVELS: u32 = 2 << 8;

/// Draws of one chunk, and of one pass over all levels inside it.
const DRAWS: usize = 1 << 14;
const TILE: usize = 1 << 9;

#[derive(Debug)]
struct Rmat {
    scale: u32,
    draws: u64,
    /// a, a + b and a + b + c, times 2^32.
    borders: [u64; 3],
    seed: u64,
}

impl Rmat {
    fn new(values: &Values) -> Result<Rmat> {
        let [a, b, c] = ["a", "b", "c"].map(|name| values.real(name));
        // rounding may lift 0.6 + 0.3 + 0.1 above 1
        if a + b + c > 1.0 + 1e-9 {
            return Err(values.wrong(format!("a + b + c must be at most 1, not {}", a + b + c)));
        }
        let border = |p: f64| ((p * 4_294_967_296.0).round() as u64).min(1 << 32);
        let borders = [border(a), border(a + b), border(a + b + c)];
        let scale = values.whole("scale") as u32;
        let draws = values.whole("edge") << scale; // below 2^63
        Ok(Rmat { scale, draws, borders, seed: values.whole("seed") })
    }

    /// The draws `first ..` into `tile`. `words` has an entry for each of them.
    fn fill(
        &self,
        stream: &Stream,
        first: u64,
        words: &mut [[u32; 4]],
        tile: &mut [Edge],
    ) -> sapwood_skeleton::Result<()> {
        for group in 0..self.scale.div_ceil(4) {
            stream.fill(0, LEVELS + group, first, words)?;
            let levels = (self.scale - 4 * group).min(4) as usize;
            isa::vectorized(
                #[inline(always)]
                || descend(self.borders, levels, words, tile),
            );
        }
        Ok(())
    }
}

/// Takes every edge of `tile` down by `levels` levels.
#[inline(always)]
fn descend([ab, bc, cd]: [u64; 3], levels: usize, words: &[[u32; 4]], tile: &mut [Edge]) {
    for (edge, words) in tile.iter_mut().zip(words) {
        let (mut from, mut to) = (edge.from, edge.to);
        for &word in &words[..levels] {
            let w = u64::from(word);
            let (b, c, d) = (w >= ab, w >= bc, w >= cd);
            from = from << 1 | u32::from(c);
            to = to << 1 | u32::from(b != c) | u32::from(d);
        }
        (edge.from, edge.to) = (from, to);
    }
}

impl Generator for Rmat {
    fn size(&self) -> Size {
        Size { nodes: 1 << self.scale, edges: self.draws as f64 }
    }

    fn list(&self, exec: Exec<'_>) -> Result<Listed> {
        let stream = Stream::new(self.seed, Purpose::Generate);
        let mut edges = vec![Edge { from: 0, to: 0, weight: 1.0 }; self.draws as usize];
        let plan = ChunkPlan::of(edges.len(), DRAWS).dynamic();
        exec.for_chunks_mut(&plan, rows(&mut edges, 1), |_, range, part| {
            let mut words = [[0; 4]; TILE];
            for (tile, first) in part.chunks_mut(TILE).zip((range.start as u64..).step_by(TILE)) {
                let words = &mut words[..tile.len()];
                self.fill(&stream, first, words, tile)?;
            }
            Ok(())
        })?;
        Ok(Listed { edges, ..Listed::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_quadrants_by_their_borders() {
        let borders = [1 << 30, 1 << 31, 3 << 30];
        let mut tile = [Edge { from: 0, to: 0, weight: 1.0 }; 2];
        let words = [[0, 1 << 30, 1 << 31, 3 << 30], [(1 << 30) - 1, (1 << 31) - 1, (3 << 30) - 1, u32::MAX]];
        descend(borders, 4, &words, &mut tile);
        // quadrants a, b, c, d from the highest bit down
        assert!(tile.iter().all(|e| (e.from, e.to) == (0b0011, 0b0101)), "{tile:?}");
        descend(borders, 1, &[[u32::MAX; 4]; 2], &mut tile);
        assert_eq!((tile[0].from, tile[0].to), (0b00111, 0b01011));
    }

    #[test]
    fn a_quadrant_of_probability_one_takes_every_word() {
        let mut tile = [Edge { from: 0, to: 0, weight: 1.0 }];
        descend([1 << 32; 3], 2, &[[0, u32::MAX, 0, 0]], &mut tile);
        assert_eq!((tile[0].from, tile[0].to), (0, 0));
    }
}
