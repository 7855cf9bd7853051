//! Why a plan takes as long as it does.

mod decompose;

pub use decompose::{Bubble, bubble};
