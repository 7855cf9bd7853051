//! What a caller may ask of a reader or a writer.

use super::mtx::Banner;

pub use crate::check::Duplicates;

/// Which values a matrix gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Values {
    /// Those of the file as `f32`; none (a pattern) when the file has none.
    #[default]
    StoredF32,
    /// Those of the file as `f64`; none (a pattern) when the file has none.
    StoredF64,
    /// None, whatever the file has.
    Pattern,
    /// `f32`; ones when the file has none.
    F32,
    /// `f64`; ones when the file has none.
    F64,
}

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// Which values the matrix gets.
    pub values: Values,
    /// What happens to repeated entries.
    pub duplicates: Duplicates,
    /// Edge lists: every edge stands for both directions; a self loop stays one entry. A list that names both directions
    /// of an edge has it twice then, see [`ReadOptions::duplicates`].
    pub undirected: bool,
    /// Edge lists: number of nodes, whatever the file says. Everywhere: so many rows are meant, however short the file is.
    pub nodes: Option<u64>,
    /// Edge lists: ids count from 1.
    pub one_based: bool,
    /// Edge lists: ids are any numbers below 2^63 and are replaced by 0, 1, .. in the order of their first appearance.
    pub relabel: bool,
    /// Matrix Market: what a file without a banner holds.
    pub assume: Option<Banner>,
    /// Bytes that the matrix may take; `None` leaves it to the system.
    pub memory: Option<u64>,
}

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Store each pair of entries once (Matrix Market: the lower triangle, edge lists: the upper one); the matrix must be
    /// symmetric, values included.
    pub symmetric: bool,
}
