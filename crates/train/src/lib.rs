//! Deep graph networks: layers, models, optimisers, trainer

pub mod compare;
