//! Why a plan takes as long as it does.

mod decompose;
mod diff;
mod gradient;

pub use decompose::{Bubble, bubble};
pub use diff::{Difference, diff, items};
pub use gradient::{Gradient, gradients};
