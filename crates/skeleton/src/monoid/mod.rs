//! Operators that reductions combine with. A monoid is one file here and one line in [`ALL`].
//!
//! Associativity is enough: the tree keeps the order of the items, so an operator need not commute.

mod affine;
mod extreme;
mod sum;

pub use affine::{Affine, Map};
pub use extreme::{Max, Min};
pub use sum::Sum;

/// An operator with a unit, its items, and the accumulator it works in.
pub trait Monoid: Sync {
    /// What is reduced.
    type Item;
    /// What a partial result is held in.
    type Acc: Clone + Send;
    /// The value of no items.
    fn unit(&self) -> Self::Acc;
    /// The value of one item.
    fn lift(&self, x: Self::Item) -> Self::Acc;
    /// Folds the next item into `acc`.
    fn push(&self, acc: &mut Self::Acc, x: Self::Item);
    /// The value of two neighbouring blocks, `a` the left one.
    fn combine(&self, a: Self::Acc, b: Self::Acc) -> Self::Acc;
}

/// Name and meaning of a monoid.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
}

/// Every monoid of this folder.
pub static ALL: &[Entry] = &[affine::ENTRY, extreme::ENTRY, sum::ENTRY];
