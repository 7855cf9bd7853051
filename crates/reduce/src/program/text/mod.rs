//! Programs as text (`.tp`): `parse.rs` reads statements and expressions, `call.rs` what a call means, `print.rs` writes.
//!
//! ```text
//! program softmax
//! input x: f32[rows, 64]
//! m = max(x, axes=[1], keep=true)
//! e = exp(x - m)
//! y = e / sum(e, axes=[1], keep=true)
//! output y
//! ```
//!
//! The text holds no semantics of its own: every statement becomes calls of the builder, and what they refuse is reported
//! at its line and column. What is beside the elementwise operations and the composites:
//!
//! * `input x: f32[64, 128] strides [1, 64]`: an input that does not lie in C order;
//! * `cast(x, to=f16)`, `reshape(x, shape=[2, -1])`, `broadcast(x, shape=)`, `transpose(x, perm=)`, `slice(x, starts=, ends=,
//!   steps=)`, `gather_label(x, labels, axis=)`, `iota(shape=, axis=, dtype=)`;
//! * each reduction operator, with `axes=` (none or `[]`: all; with `noop=true` none) and `keep=true`; `argmax` and `argmin`
//!   with `last=true`; `v, i = topk(x, k=, axis=, largest=false)`;
//! * primitives that the surface names otherwise: `constant(value=1.5, dtype=f64)`, and `mean_m2(x, axes=[0])`, the `moments`
//!   operator, whose name is taken by the mean and the variance.

mod call;
mod lex;
mod literal;
mod parse;
mod print;

#[cfg(test)]
mod tests;

use super::Program;
use crate::error::Result;
use std::collections::BTreeMap;

/// Name of the `moments` operator (mean and sum of squared deviations) in texts.
const MOMENTS: &str = "mean_m2";

/// Words that name no value.
const RESERVED: [&str; 7] = ["program", "input", "output", "inf", "nan", "true", "false"];

/// Bytes of the longest text.
const MAX_TEXT: usize = 1 << 22;

/// Expressions inside each other.
const MAX_DEPTH: usize = 200;

/// Entries of a list or of a shape.
const MAX_LIST: usize = 64;

impl Program {
    /// The program in `text`; `origin` names the text in errors.
    ///
    /// # Errors
    /// [`crate::Error::Text`] with line and column; [`crate::Error::Unbound`] if a dimension is a name.
    pub fn parse(text: &str, origin: &str) -> Result<Program> {
        Program::parse_bound(text, origin, &BTreeMap::new())
    }

    /// The program in `text`, where `bindings` gives the extents of named dimensions.
    ///
    /// # Errors
    /// As [`Program::parse`]; [`crate::Error::Value`] if a binding names no dimension of the text.
    pub fn parse_bound(text: &str, origin: &str, bindings: &BTreeMap<String, usize>) -> Result<Program> {
        parse::parse(text, origin, bindings)
    }
}
