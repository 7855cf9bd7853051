//! Composition of affine maps on wrapping 64-bit numbers: associative, exact, not commutative.
//!
//! Linear recurrences t ← a·t + b become reductions and scans with it, and tests use it because a wrong order shows.

use super::{Entry, Monoid};

pub(super) const ENTRY: Entry =
    Entry { name: "affine", summary: "composition of t -> a t + b on wrapping u64, lower index first" };

/// The map t → a·t + b, modulo 2^64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    /// Factor.
    pub a: u64,
    /// Summand.
    pub b: u64,
}

/// Composition; of two neighbours the left one is applied first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Affine;

impl Monoid for Affine {
    type Item = Map;
    type Acc = Map;

    fn unit(&self) -> Map {
        Map { a: 1, b: 0 }
    }

    #[inline(always)]
    fn lift(&self, x: Map) -> Map {
        x
    }

    #[inline(always)]
    fn push(&self, acc: &mut Map, x: Map) {
        *acc = self.combine(*acc, x);
    }

    #[inline(always)]
    fn combine(&self, first: Map, then: Map) -> Map {
        Map { a: then.a.wrapping_mul(first.a), b: then.a.wrapping_mul(first.b).wrapping_add(then.b) }
    }
}
