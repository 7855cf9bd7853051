//! Â of one draw: the surviving arcs, compacted, and the triple (s, l, r) of their degrees; applied, never built.
//!
//! A draw is two passes over the arcs: the first counts what survives in each row and makes the triple, the second moves
//! the surviving columns (and weights) together. No sort, and no allocation once the first draw has sized the storage.
//! The full graph keeps no cached normalisation: each draw computes its own degrees (`--after renorm`).

mod kept;
mod largest;
mod messages;

use crate::draw::Quotas;
use crate::normalise::{Normalisation, Triple};
use crate::{DrawKey, Error, Graph, Result, Sampled};
use kept::Kept;
use sapwood_skeleton::Exec;
use sapwood_sparse::{Affine, Block, Real, Scale};

/// What normalises the entries that survive a draw.
#[derive(Debug, Clone, Copy, Default)]
pub enum After<'a> {
    /// The degrees that survive.
    #[default]
    Renorm,
    /// The degrees of the whole graph: surviving entries keep their value.
    Fixed,
    /// The degrees of the whole graph, each entry divided by its probability to stay, so that E[Â′] = Â wherever that
    /// probability is not 0 (Zeng et al., GraphSAINT, ICLR 2020).
    Unbiased(&'a Quotas),
}

/// Â = diag(s) + diag(l)·A·diag(r) of a graph, or of what a draw leaves of it.
///
/// An undirected graph keeps one matrix for Â and Âᵀ, which only swap l and r; a directed graph keeps the transpose too.
#[derive(Debug)]
pub struct Operator<T> {
    normalisation: Normalisation,
    rows: Kept,
    reverse: Option<Kept>,
    /// Value of each node's self-loop; empty if the graph has none.
    own: Vec<f32>,
    s: Vec<T>,
    l: Vec<T>,
    r: Vec<T>,
    /// Whether (s, l, r) are those of the whole graph.
    whole: bool,
}

impl<T: Real> Operator<T> {
    /// The operator of the whole graph. O(nodes + arcs).
    ///
    /// # Errors
    /// When the executor or the sparse layer fails.
    pub fn full(exec: Exec<'_>, graph: &Graph, normalisation: Normalisation) -> Result<Operator<T>> {
        let n = graph.nodes();
        let mut operator = Operator {
            normalisation,
            rows: Kept::new(graph.rows())?,
            reverse: if graph.directed() { Some(Kept::new(graph.reverse())?) } else { None },
            own: vec![0.0; if graph.self_loops().is_empty() { 0 } else { n }],
            s: vec![T::ZERO; n],
            l: vec![T::ZERO; n],
            r: vec![T::ZERO; n],
            whole: false,
        };
        operator.redraw(exec, graph, &Sampled::All, After::Renorm)?;
        Ok(operator)
    }

    /// Makes this the operator of what `sampled` leaves of `graph`, the graph it was made for, in the storage it has.
    /// O(nodes + arcs); the result has the same bits for any number of threads.
    ///
    /// # Errors
    /// [`Error::Size`] for another graph, a mask or quotas of another length.
    pub fn redraw(&mut self, exec: Exec<'_>, graph: &Graph, sampled: &Sampled<'_>, after: After<'_>) -> Result<()> {
        self.check(graph, sampled, after)?;
        let quotas = match after {
            After::Renorm => {
                self.normalise(exec, graph, sampled)?;
                None
            }
            After::Fixed | After::Unbiased(_) => {
                if !self.whole {
                    self.normalise(exec, graph, &Sampled::All)?;
                }
                self.rows.count::<T>(exec, graph.rows(), sampled, None)?;
                if let After::Unbiased(quotas) = after { Some(quotas) } else { None }
            }
        };
        self.rows.compact(exec, graph.rows(), sampled, quotas)?;
        if let Some(reverse) = &mut self.reverse {
            reverse.count::<T>(exec, graph.reverse(), sampled, None)?;
            reverse.compact(exec, graph.reverse(), sampled, quotas)?;
        }
        Ok(())
    }

    /// Counts what survives and makes (s, l, r) of it.
    fn normalise(&mut self, exec: Exec<'_>, graph: &Graph, sampled: &Sampled<'_>) -> Result<()> {
        for (at, &(node, weight)) in graph.self_loops().iter().enumerate() {
            self.own[node.index()] = match sampled {
                Sampled::Arcs(mask) if !mask.get(graph.pairs() as usize + at) => 0.0,
                _ => weight,
            };
        }
        let (normalisation, own) = (self.normalisation, &self.own);
        let outputs = (&mut self.s[..], &mut self.l[..], &mut self.r[..]);
        let triple = |node: usize, others: f64| {
            let Triple { s, l, r } = normalisation.triple(others, own.get(node).copied().map_or(0.0, f64::from));
            (T::from_f64(s), T::from_f64(l), T::from_f64(r))
        };
        self.rows.count(exec, graph.rows(), sampled, Some((outputs, &triple)))?;
        self.whole = matches!(sampled, Sampled::All);
        Ok(())
    }

    fn check(&self, graph: &Graph, sampled: &Sampled<'_>, after: After<'_>) -> Result<()> {
        let same = |what, got: usize, expected: u64| match got as u64 {
            got if got == expected => Ok(()),
            got => Err(Error::Size { what, got, expected }),
        };
        same("the operator has nodes", self.s.len(), graph.nodes() as u64)?;
        same("the operator has arcs", self.rows.arcs(), graph.arcs())?;
        if let After::Unbiased(quotas) = after {
            same("the probabilities have pairs", quotas.units() as usize, graph.pairs())?;
        }
        match sampled {
            Sampled::All | Sampled::Rows { .. } | Sampled::Messages { .. } => Ok(()),
            Sampled::Arcs(mask) => {
                let bits = graph.pairs() + graph.self_loops().len() as u64;
                same("the mask has arcs and self-loops", mask.len(), bits)
            }
            Sampled::Pairs(mask) => same("the mask has pairs", mask.len(), graph.pairs()),
        }
    }

    /// Y = Â X. X and Y are nodes × k.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn apply(&self, exec: Exec<'_>, x: &Block<T>, y: &mut Block<T>) -> Result<()> {
        self.rows.multiply(exec, self.scale(), x, y, Affine::SET)
    }

    /// Y = Âᵀ G. G and Y are nodes × k.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn apply_transposed(&self, exec: Exec<'_>, g: &Block<T>, y: &mut Block<T>) -> Result<()> {
        self.apply_transposed_onto(exec, g, y, Affine::SET)
    }

    /// Y = α·Âᵀ G + β·Y, for gradients that several readers of one activation add up. G and Y are nodes × k.
    ///
    /// # Errors
    /// When the shapes do not fit.
    pub fn apply_transposed_onto(&self, exec: Exec<'_>, g: &Block<T>, y: &mut Block<T>, how: Affine<T>) -> Result<()> {
        let matrix = self.reverse.as_ref().unwrap_or(&self.rows);
        matrix.multiply(exec, self.scale().transposed(), g, y, how)
    }

    /// Y = Â X where each coordinate of each message, the one of a node to itself included, is lost with probability `p`
    /// and else divided by 1 − p. Of the whole graph by its arcs ([`Graph::by_arc`]). Coordinate k of arc e (self: arcs +
    /// node) is unit e·columns + k of the draw's stream, four units to a block of words.
    ///
    /// # Errors
    /// When the shapes do not fit, or the key is out of range.
    pub fn apply_messages(
        &self,
        exec: Exec<'_>,
        graph: &Graph,
        (key, p): (DrawKey, f64),
        x: &Block<T>,
        y: &mut Block<T>,
    ) -> Result<()> {
        messages::apply(exec, graph.rows(), messages::Loss::new(key, p, graph)?, self.scale(), x, y, Affine::SET)
    }

    /// Y = α·Â′ᵀ G + β·Y with the same losses as [`Operator::apply_messages`].
    ///
    /// # Errors
    /// As there.
    pub fn apply_messages_transposed_onto(
        &self,
        exec: Exec<'_>,
        graph: &Graph,
        (key, p): (DrawKey, f64),
        g: &Block<T>,
        y: &mut Block<T>,
        how: Affine<T>,
    ) -> Result<()> {
        let loss = messages::Loss::new(key, p, graph)?;
        messages::apply(exec, graph.reverse(), loss, self.scale().transposed(), g, y, how)
    }

    fn scale(&self) -> Scale<'_, T> {
        Scale { own: &self.s, left: &self.l, right: &self.r }
    }

    /// Number of rows and of columns.
    pub fn nodes(&self) -> usize {
        self.s.len()
    }

    /// Arcs that survived, the diagonal not counted.
    pub fn arcs(&self) -> usize {
        self.rows.kept()
    }

    /// The form and its rule for self-loops.
    pub fn normalisation(&self) -> Normalisation {
        self.normalisation
    }

    /// Diagonal of Â: s.
    pub fn diagonal(&self) -> &[T] {
        &self.s
    }

    /// Row factors l and column factors r.
    pub fn factors(&self) -> (&[T], &[T]) {
        (&self.l, &self.r)
    }

    /// The surviving off-diagonal entries of row `i` of Â, columns ascending: a·(l_i·r_j), in this order of products, so
    /// that mirrored entries of a symmetric form have the same bits.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, T)> + '_ {
        let (columns, values) = self.rows.row(i);
        columns.iter().enumerate().map(move |(e, &j)| {
            let scale = self.l[i] * self.r[j as usize];
            (j, values.map_or(scale, |values| T::from_f64(f64::from(values[e])) * scale))
        })
    }

    /// Nodes without a surviving arc to another node, in either direction.
    pub fn isolated(&self) -> usize {
        let alone = |kept: &Kept, i| kept.row(i).0.is_empty();
        let isolated = |&i: &usize| alone(&self.rows, i) && self.reverse.as_ref().is_none_or(|kept| alone(kept, i));
        (0..self.nodes()).filter(isolated).count()
    }

    /// Bytes held for matrices and factors.
    pub fn bytes(&self) -> usize {
        let kept = self.rows.bytes() + self.reverse.as_ref().map_or(0, Kept::bytes);
        kept + 3 * self.s.capacity() * size_of::<T>() + self.own.capacity() * size_of::<f32>()
    }
}
