//! Products: golden values, the order law, edge cases, the bug reports of other libraries, and laws over random matrices.

mod edges;
mod golden;
mod laws;
mod reports;
mod storage;
