//! Iterative methods: golden values, slow twins, laws, faults.

mod pagerank;
