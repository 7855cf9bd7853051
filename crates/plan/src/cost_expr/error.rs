//! What can go wrong with an expression.

/// A failure of an expression.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// A symbol without a value.
    #[error("the symbol {symbol} has no value")]
    Unbound {
        /// Its name.
        symbol: String,
    },
    /// The largest of nothing.
    #[error("a maximum of nothing has no value")]
    EmptyMax,
    /// A constant that is no whole number from 0 to 2⁵³.
    #[error("{constant} is no whole number")]
    NotWhole {
        /// The constant.
        constant: f64,
    },
    /// A whole number beyond u64.
    #[error("the value is 2^64 or more")]
    TooLarge,
    /// A product of two factors that both depend on variables.
    #[error("{left} times {right} is not linear: both depend on variables")]
    NotLinear {
        /// What stands before.
        left: String,
        /// The factor.
        right: String,
    },
    /// A maximum that counts against the cost: no rows of a linear program say that.
    #[error("{factor} times {expression} is not convex: a maximum may not be taken off")]
    NotConvex {
        /// The factor below 0.
        factor: f64,
        /// What it multiplies.
        expression: String,
    },
    /// A coefficient that is infinite or no number.
    #[error("{expression} is {value}, and a linear form needs finite numbers")]
    NotFinite {
        /// What it is the value of.
        expression: String,
        /// The value.
        value: f64,
    },
    /// A text that is no expression.
    #[error("character {at}: {what}")]
    Syntax {
        /// Counted from 1.
        at: usize,
        /// What was expected.
        what: String,
    },
}
