//! Graph networks: layers written by hand, models made of them, optimisers, and the trainer that runs them.
//!
//! A [`Problem`] is a data set made ready; [`Settings`] are the choices of a run; [`experiment::run`] trains every seed
//! with every sampler and compares them in pairs. Below that: a [`Trainer`] runs one [`trainer::Run`], a [`Network`] is a
//! flat list of [`layer`]s made by a [`model`], and all activations come from one [`Arena`]. A new model, optimiser,
//! initialisation or selection rule is one file in its folder and one line in that folder's `ALL`.
//!
//! The same seed gives the same bits on any number of threads. Nothing here sees a test label before the results are
//! printed, keeps a normalisation from one draw to the next, densifies a sparse X, or changes the loaded graph.

mod arena;
pub mod checkpoint;
pub mod compare;
pub mod cost;
mod energy;
mod error;
pub mod estimate;
pub mod evaluate;
pub mod experiment;
mod features;
mod history;
pub mod init;
pub mod layer;
mod log;
pub mod model;
mod moments;
pub mod network;
mod number;
pub mod optimiser;
mod parameter;
pub mod predict;
pub mod preset;
mod problem;
mod rows;
pub mod schedule;
pub mod select;
pub mod settings;
pub mod trainer;

pub use arena::{Arena, Bytes};
pub use energy::dirichlet;
pub use error::{Error, Result};
pub use estimate::Estimate;
pub use features::{Features, SparseFeatures};
pub use history::History;
pub use log::Log;
pub use network::Network;
pub use number::Number;
pub use parameter::{Parameter, Role};
pub use preset::Preset;
pub use problem::Problem;
pub use rows::Partials;
pub use schedule::LrSchedule;
pub use settings::{Registries, Request, Settings};
pub use trainer::Trainer;
