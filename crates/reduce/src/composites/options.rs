//! The named options of a call: `axes=[0,1], keep=true`.

use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::program::Axes;

/// Value of a named option.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A whole number.
    Int(i64),
    /// A number.
    Number(f64),
    /// A list of whole numbers.
    List(Vec<i64>),
    /// true or false.
    Flag(bool),
    /// A type.
    Type(Dtype),
}

/// Named options; each is taken once, and what is left in the end is an error.
#[derive(Debug, Clone, Default)]
pub struct Options(Vec<(String, Given)>);

impl Options {
    /// No options.
    pub fn none() -> Options {
        Options::default()
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, name: &str, value: Given) -> Options {
        self.0.push((name.into(), value));
        self
    }

    /// Whether an option of that name is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    fn take(&mut self, name: &str) -> Option<Given> {
        let at = self.0.iter().position(|(n, _)| n == name)?;
        Some(self.0.remove(at).1)
    }

    fn wrong(op: &str, name: &str, needs: &str) -> Error {
        Error::value(op, format!("{name} has to be {needs}"))
    }

    /// `axes=`: a list, or one number; without it, or empty, all axes, but with `noop=true` none.
    ///
    /// # Errors
    /// [`Error::Value`] if it is neither.
    pub fn axes(&mut self, op: &str) -> Result<Axes> {
        let noop = self.flag(op, "noop", false)?;
        match self.take("axes") {
            None if noop => Ok(Axes::These(vec![])),
            None => Ok(Axes::All),
            Some(Given::List(list)) if list.is_empty() && noop => Ok(Axes::These(list)),
            Some(Given::List(list)) if list.is_empty() => Ok(Axes::All),
            Some(Given::List(list)) => Ok(Axes::These(list)),
            Some(Given::Int(axis)) => Ok(Axes::These(vec![axis])),
            Some(_) => Err(Options::wrong(op, "axes", "a list of axes")),
        }
    }

    /// A whole number, or `default`.
    ///
    /// # Errors
    /// [`Error::Value`] if it is another kind of value.
    pub fn int(&mut self, op: &str, name: &str, default: i64) -> Result<i64> {
        match self.take(name) {
            None => Ok(default),
            Some(Given::Int(value)) => Ok(value),
            Some(_) => Err(Options::wrong(op, name, "a whole number")),
        }
    }

    /// A number, or `default`.
    ///
    /// # Errors
    /// [`Error::Value`] if it is another kind of value.
    pub fn number(&mut self, op: &str, name: &str, default: f64) -> Result<f64> {
        match self.take(name) {
            None => Ok(default),
            Some(Given::Int(value)) => Ok(value as f64),
            Some(Given::Number(value)) => Ok(value),
            Some(_) => Err(Options::wrong(op, name, "a number")),
        }
    }

    /// true or false, or `default`.
    ///
    /// # Errors
    /// [`Error::Value`] if it is another kind of value.
    pub fn flag(&mut self, op: &str, name: &str, default: bool) -> Result<bool> {
        match self.take(name) {
            None => Ok(default),
            Some(Given::Flag(value)) => Ok(value),
            Some(_) => Err(Options::wrong(op, name, "true or false")),
        }
    }

    /// A list of whole numbers, if it is there.
    ///
    /// # Errors
    /// [`Error::Value`] if it is another kind of value.
    pub fn list(&mut self, op: &str, name: &str) -> Result<Option<Vec<i64>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Given::List(list)) => Ok(Some(list)),
            Some(_) => Err(Options::wrong(op, name, "a list of whole numbers")),
        }
    }

    /// A type, if it is there.
    ///
    /// # Errors
    /// [`Error::Value`] if it is another kind of value.
    pub fn dtype(&mut self, op: &str, name: &str) -> Result<Option<Dtype>> {
        match self.take(name) {
            None => Ok(None),
            Some(Given::Type(dtype)) => Ok(Some(dtype)),
            Some(_) => Err(Options::wrong(op, name, "a type")),
        }
    }

    /// Refuses what nobody took.
    ///
    /// # Errors
    /// [`Error::Value`] naming the first option that is left.
    pub fn finish(self, op: &str) -> Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::value(op, format!("has no option '{name}', or it is given twice"))),
        }
    }
}
