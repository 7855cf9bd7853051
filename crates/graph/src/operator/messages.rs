//! Products in which coordinates of messages get lost (DropMessage, Fang et al., AAAI 2023): Y = Â′X, where the mask of
//! Â′ is drawn anew for each arc and column and never stored.

use crate::graph::Arcs;
use crate::{DrawKey, Graph, Result};
use sapwood_skeleton::random::{Purpose, Stream};
use sapwood_skeleton::{ChunkPlan, Exec, rows};
use sapwood_sparse::{Affine, Block, Real, Scale};

/// Arcs times columns of one chunk of rows; enough that a chunk is worth handing out.
const CHUNK_WORK: u64 = 1 << 15;

/// Which coordinates get lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loss {
    stream: Stream,
    a: u32,
    b: u32,
    /// A word below this loses its coordinate.
    threshold: u64,
    /// Factor of what stays.
    scale: f64,
    arcs: u64,
}

impl Loss {
    pub(super) fn new(key: DrawKey, p: f64, graph: &Graph) -> Result<Loss> {
        let p = crate::draw::drop_rate(p)?;
        Ok(Loss {
            stream: Stream::new(key.seed, Purpose::Draw),
            a: key.epoch,
            b: key.b()?,
            threshold: (p * 4_294_967_296.0).round() as u64,
            scale: if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 },
            arcs: graph.arcs(),
        })
    }

    /// sums += factor·(what stays of x), coordinate k being unit `message`·columns + k.
    fn add<T: Real>(
        &self,
        message: u64,
        factor: T,
        x: &[T],
        sums: &mut [T],
        words: &mut [[u32; 4]],
    ) -> Result<(), sapwood_skeleton::Error> {
        let first = message * x.len() as u64;
        let (block, skip) = (first / 4, (first % 4) as usize);
        let words = &mut words[..(skip + x.len()).div_ceil(4)];
        self.stream.fill(self.a, self.b, block, words)?;
        for ((sum, &x), &word) in sums.iter_mut().zip(x).zip(&words.as_flattened()[skip..]) {
            let stays = if u64::from(word) < self.threshold { T::ZERO } else { factor };
            *sum = stays.mul_add(x, *sum);
        }
        Ok(())
    }
}

/// Y = α·Â′X + β·Y; `arcs` has one unit per arc, the number under which its coordinates are drawn.
pub(super) fn apply<T: Real>(
    exec: Exec<'_>,
    arcs: &Arcs,
    loss: Loss,
    scale: Scale<'_, T>,
    x: &Block<T>,
    y: &mut Block<T>,
    how: Affine<T>,
) -> Result<()> {
    let (n, k) = (arcs.pattern().rows(), x.cols());
    let same = |what, got: usize, expected: usize| match got == expected {
        true => Ok(()),
        false => Err(crate::Error::Size { what, got: got as u64, expected: expected as u64 }),
    };
    same("the operand has rows", x.rows(), n)?;
    same("the result has rows", y.rows(), n)?;
    same("the result has columns", y.cols(), k)?;
    let plan = ChunkPlan::by_weight(arcs.pattern().offsets(), (CHUNK_WORK / k.max(1) as u64).max(1))?;
    let constant = T::from_f64(loss.scale);
    exec.for_chunks_mut(&plan, rows(y.as_mut_slice(), k), |worker, range, y| {
        let words = worker.arena().take::<[u32; 4]>((k + 3).div_ceil(4) + 1)?;
        let sums = worker.arena().take::<T>(k)?;
        for (i, y) in range.zip(y.chunks_exact_mut(k.max(1))) {
            sums.fill(T::ZERO);
            for e in arcs.pattern().row_range(i) {
                let (j, unit) = (arcs.pattern().columns()[e] as usize, arcs.unit()[e]);
                let weight = arcs.weights().map_or(T::ONE, |w| T::from_f64(f64::from(w[e])));
                loss.add(u64::from(unit), weight * scale.right[j], x.row(j), sums, words)?;
            }
            sums.iter_mut().for_each(|sum| *sum = scale.left[i] * *sum);
            loss.add(loss.arcs + i as u64, scale.own[i], x.row(i), sums, words)?;
            for (y, &sum) in y.iter_mut().zip(&*sums) {
                how.write(constant * sum, y);
            }
        }
        Ok(())
    })?;
    Ok(())
}
