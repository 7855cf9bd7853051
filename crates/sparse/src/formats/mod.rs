//! Storage formats, one per file, and their registry.

pub mod csr;
