//! X, the features of all nodes, as the layers read them.
//!
//! Sparse features stay sparse: X is kept by rows for XW and by columns for XᵀG, both made once per data set and shared
//! by all runs. Dense ones are a block. Nothing here changes after it is made.

use crate::Result;
use crate::number::Number;
use sapwood_graph::FeatureMatrix;
use sapwood_skeleton::Exec;
use sapwood_sparse::{Affine, Block, Csr, Multiply, Planned, Real, spmm, transpose};

/// X in the number type of a network.
#[derive(Debug)]
pub enum Features<T: Real> {
    /// Stored entries only.
    Sparse(Box<SparseFeatures>),
    /// All elements.
    Dense(Block<T>),
}

/// A sparse X, by rows and by columns.
#[derive(Debug)]
pub struct SparseFeatures {
    by_row: Planned<Csr<f32>>,
    by_column: Planned<Csr<f32>>,
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
            FeatureMatrix::Sparse(matrix) => Features::Sparse(Box::new(SparseFeatures::new(exec, matrix)?)),
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
    pub fn sparse(&self) -> Option<&SparseFeatures> {
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
            Features::Sparse(x) => Multiply::bytes(&x.by_row).total() + Multiply::bytes(&x.by_column).total(),
            Features::Dense(x) => crate::arena::bytes_of::<T>(x.rows(), x.cols()),
        }
    }
}

impl SparseFeatures {
    fn new(exec: Exec<'_>, matrix: Csr<f32>) -> Result<SparseFeatures> {
        let (transposed, _) = transpose(exec, &matrix)?;
        Ok(SparseFeatures { by_row: Planned::new(matrix), by_column: Planned::new(transposed) })
    }

    /// out = XW.
    ///
    /// # Errors
    /// When the shapes do not fit, or the executor fails.
    pub fn times<T: Real>(&self, exec: Exec<'_>, w: &Block<T>, out: &mut Block<T>) -> Result<()> {
        Ok(spmm(exec, self.by_row.matrix(), self.by_row.plan(), None, w, out, Affine::SET)?)
    }

    /// out = XᵀG.
    ///
    /// # Errors
    /// When the shapes do not fit, or the executor fails.
    pub fn transposed_times<T: Real>(&self, exec: Exec<'_>, g: &Block<T>, out: &mut Block<T>) -> Result<()> {
        Ok(spmm(exec, self.by_column.matrix(), self.by_column.plan(), None, g, out, Affine::SET)?)
    }
}
