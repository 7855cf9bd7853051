//! Iterative methods: golden values, slow twins, laws, faults.

mod cg;
mod dense;
mod lanczos;
mod pagerank;
