//! Sapwood: scaling the training of neural networks on one hierarchical machine model.
//!
//! This crate is the library façade, one module per part; the program `sapwood` is built on the same parts. Start with
//! [`train`] to train a network, [`graph`] to load one's data, [`sparse`] for products, [`skeleton`] for the executor
//! that everything runs on, [`machine`] for the description of the machine.

pub use sapwood_files as files;
pub use sapwood_graph as graph;
pub use sapwood_machine as machine;
pub use sapwood_plan as plan;
pub use sapwood_reduce as reduce;
pub use sapwood_skeleton as skeleton;
pub use sapwood_sparse as sparse;
pub use sapwood_train as train;

/// The Rust code of the pages, as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../ARCHITECTURE.md")]
    struct Architecture;
    #[doc = include_str!("../../../docs/data.md")]
    struct Data;
    #[doc = include_str!("../../../docs/machine.md")]
    struct Machine;
    #[doc = include_str!("../../../docs/plan.md")]
    struct Plan;
    #[doc = include_str!("../../../docs/reduce.md")]
    struct Reduce;
    #[doc = include_str!("../../../docs/skeletons.md")]
    struct Skeletons;
    #[doc = include_str!("../../../docs/sparse.md")]
    struct Sparse;
    #[doc = include_str!("../../../docs/train.md")]
    struct Train;
}
