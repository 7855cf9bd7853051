//! Why a plan takes as long as it does.

mod decompose;
mod diff;
mod formulas;
mod gradient;

pub use decompose::{Bubble, bubble};
pub use diff::{Difference, diff, items};
pub use formulas::{Formula, formulas};
pub use gradient::{Gradient, gradients};
