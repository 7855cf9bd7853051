//! X, the features of all nodes, as the layers read them.
//!
//! Sparse features stay sparse: X is kept by rows for XW and by columns for XᵀG, both made once per data set and shared
//! by all runs. Dense ones are a block. Nothing here changes after it is made.

use crate::Result;
use crate::number::Number;
use sapwood_graph::{BitMask, FeatureMatrix};
use sapwood_skeleton::Exec;
use sapwood_sparse::{Affine, Block, Csr, Multiply, Planned, Real, Scale, spmm, transpose};
use std::sync::Arc;

/// X in the number type of a network.
#[derive(Debug)]
pub enum Features<T: Real> {
    /// Stored entries only.
    Sparse(SparseFeatures<T>),
    /// All elements.
    Dense(Block<T>),
}

/// A sparse X, by rows and by columns, its rows perhaps multiplied by factors.
#[derive(Debug)]
pub struct SparseFeatures<T> {
    by_row: Arc<Planned<Csr<f32>>>,
    by_column: Arc<Planned<Csr<f32>>>,
    /// A factor of each row; empty if there are none.
    factors: Vec<T>,
    /// As many ones as X has columns, while there are factors.
    ones: Vec<T>,
}

impl<T: Real> Features<T> {
    /// Takes the features that a data set made.
    ///
    /// # Errors
    /// When there is no memory for the transpose, or for dense features in another number type.
    pub fn new(exec: Exec<'_>, features: FeatureMatrix) -> Result<Features<T>>
    where
        T: Number,
    {
        Ok(match features {
            FeatureMatrix::Sparse(matrix) => Features::Sparse(SparseFeatures::new(exec, matrix)?),
            FeatureMatrix::Dense(block) => Features::Dense(T::from_features(block)?),
        })
    }

    /// Nodes.
    pub fn rows(&self) -> usize {
        match self {
            Features::Sparse(x) => x.by_row.matrix().rows(),
            Features::Dense(x) => x.rows(),
        }
    }

    /// Features of a node.
    pub fn cols(&self) -> usize {
        match self {
            Features::Sparse(x) => x.by_row.matrix().cols(),
            Features::Dense(x) => x.cols(),
        }
    }

    /// X if it is sparse.
    pub fn sparse(&self) -> Option<&SparseFeatures<T>> {
        match self {
            Features::Sparse(x) => Some(x),
            Features::Dense(_) => None,
        }
    }

    /// X if it is dense.
    pub fn dense(&self) -> Option<&Block<T>> {
        match self {
            Features::Sparse(_) => None,
            Features::Dense(x) => Some(x),
        }
    }

    /// What a network needs to know to be built on X.
    pub fn input(&self) -> crate::network::Input {
        crate::network::Input { width: self.cols(), sparse: self.sparse().is_some() }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        match self {
            Features::Sparse(x) => Multiply::bytes(&*x.by_row).total() + Multiply::bytes(&*x.by_column).total(),
            Features::Dense(x) => crate::arena::bytes_of::<T>(x.rows(), x.cols()),
        }
    }
}

impl<T: Number> Features<T> {
    /// Makes `out` the features of which only the rows whose bit in `mask` is 1 stay, multiplied by `scale`: as if
    /// rows of X were zero. A sparse X is shared with `out`, a dense one is copied; the storage of `out` is reused.
    ///
    /// # Errors
    /// When there is no memory for a copy.
    pub fn drop_rows(&self, mask: &BitMask, scale: f64, out: &mut Option<Features<T>>) -> Result<()> {
        let factor = |row| if mask.get(row) { T::from_f64(scale) } else { T::ZERO };
        match (self, &mut *out) {
            (Features::Sparse(x), Some(Features::Sparse(y))) if Arc::ptr_eq(&x.by_row, &y.by_row) => {
                y.factors.iter_mut().enumerate().for_each(|(row, f)| *f = factor(row));
            }
            (Features::Sparse(x), _) => {
                *out = Some(Features::Sparse(SparseFeatures {
                    by_row: x.by_row.clone(),
                    by_column: x.by_column.clone(),
                    factors: (0..self.rows()).map(factor).collect(),
                    ones: vec![T::ONE; self.cols()],
                }));
            }
            (Features::Dense(x), _) => {
                let copy = match out.take() {
                    Some(Features::Dense(y)) if (y.rows(), y.cols()) == (x.rows(), x.cols()) => y,
                    _ => Block::zeros(x.rows(), x.cols())?,
                };
                let mut copy = copy;
                for row in 0..x.rows() {
                    let f = factor(row);
                    for (y, &x) in copy.row_mut(row).iter_mut().zip(x.row(row)) {
                        *y = if f == T::ZERO { T::ZERO } else { f * x };
                    }
                }
                *out = Some(Features::Dense(copy));
            }
        }
        Ok(())
    }
}

impl<T: Real> SparseFeatures<T> {
    fn new(exec: Exec<'_>, matrix: Csr<f32>) -> Result<SparseFeatures<T>> {
        let (transposed, _) = transpose(exec, &matrix)?;
        let (by_row, by_column) = (Arc::new(Planned::new(matrix)), Arc::new(Planned::new(transposed)));
        Ok(SparseFeatures { by_row, by_column, factors: Vec::new(), ones: Vec::new() })
    }

    /// The factors as a scale of X, if there are any.
    fn scale(&self) -> Option<Scale<'_, T>> {
        (!self.factors.is_empty()).then(|| Scale { own: &[], left: &self.factors, right: &self.ones })
    }

    /// out = XW.
    ///
    /// # Errors
    /// When the shapes do not fit, or the executor fails.
    pub fn times(&self, exec: Exec<'_>, w: &Block<T>, out: &mut Block<T>) -> Result<()> {
        Ok(spmm(exec, self.by_row.matrix(), self.by_row.plan(), self.scale(), w, out, Affine::SET)?)
    }

    /// out = XᵀG.
    ///
    /// # Errors
    /// When the shapes do not fit, or the executor fails.
    pub fn transposed_times(&self, exec: Exec<'_>, g: &Block<T>, out: &mut Block<T>) -> Result<()> {
        Ok(spmm(
            exec,
            self.by_column.matrix(),
            self.by_column.plan(),
            self.scale().map(Scale::transposed),
            g,
            out,
            Affine::SET,
        )?)
    }
}
