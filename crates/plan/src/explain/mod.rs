//! Why a plan takes as long as it does.

mod decompose;
mod formulas;

pub use decompose::{Bubble, bubble};
pub use formulas::{Formula, formulas};
