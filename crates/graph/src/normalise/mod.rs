//! Normalised operators: every Â = diag(s) + diag(l)·A₀·diag(r), with A₀ the adjacency matrix without self-loops.
//!
//! One file per form, one line in [`ALL`]; a form is a function from the degrees of a node to its (s, l, r), in f64.
//! The matrix is never built. Degrees come from the arcs that survive a draw (`--after renorm`), so nothing here is ever
//! cached from one draw to the next. 1/0 and 1/√0 are 0: a node without an edge has an empty row, never a NaN.

mod aug;
mod aug_rw;
mod bingge;
mod first_order;
mod identity_plus;
mod lap;
mod none;
mod rw;
mod rw_lap;
mod sym;
mod sym_lap;

use crate::{Error, Result};

/// Every form, the default first.
pub static ALL: &[Entry] = &[
    aug::ENTRY,
    aug_rw::ENTRY,
    first_order::ENTRY,
    bingge::ENTRY,
    sym::ENTRY,
    rw::ENTRY,
    lap::ENTRY,
    sym_lap::ENTRY,
    rw_lap::ENTRY,
    identity_plus::ENTRY,
    none::ENTRY,
];

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--normalise` takes it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Whether Â of an undirected graph is symmetric (l and r are proportional).
    pub symmetric: bool,
    /// (s, l, r) of a node.
    pub triple: fn(&Degree) -> Triple,
}

/// A form and what it does with self-loops.
#[derive(Debug, Clone, Copy)]
pub struct Normalisation {
    /// The form.
    pub form: &'static Entry,
    /// What stands on the diagonal of A + I.
    pub self_loops: SelfLoops,
}

impl Normalisation {
    /// The form `name`.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the valid names and the nearest one.
    pub fn new(name: &str, self_loops: SelfLoops) -> Result<Normalisation> {
        let found = ALL.iter().find(|e| e.name == name);
        let form = found.ok_or_else(|| Error::unknown("normalisation", name, ALL.iter().map(|e| e.name)))?;
        Ok(Normalisation { form, self_loops })
    }

    /// (s, l, r) of a node whose other arcs sum to `others` and whose self-loop has weight `own` (0: none).
    pub fn triple(&self, others: f64, own: f64) -> Triple {
        let tilde = match self.self_loops {
            SelfLoops::Remaining => 1.0,
            SelfLoops::Add => 1.0 + own,
        };
        (self.form.triple)(&Degree { others, own, tilde })
    }
}

impl Default for Normalisation {
    fn default() -> Self {
        Normalisation { form: &ALL[0], self_loops: SelfLoops::Remaining }
    }
}

/// What `A + I` does where A already has a self-loop of value a (`--self-loops`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SelfLoops {
    /// The diagonal is 1.
    #[default]
    Remaining,
    /// The diagonal is 1 + a, as the DropEdge program has it.
    Add,
}

impl std::str::FromStr for SelfLoops {
    type Err = Error;

    fn from_str(name: &str) -> Result<SelfLoops> {
        match name {
            "remaining" => Ok(SelfLoops::Remaining),
            "add" => Ok(SelfLoops::Add),
            _ => Err(Error::unknown("rule for self-loops", name, ["remaining", "add"])),
        }
    }
}

/// Row sums of one node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degree {
    /// Sum over the arcs to other nodes: d − a.
    pub others: f64,
    /// Value of the node's own self-loop, a; 0 if it has none.
    pub own: f64,
    /// Diagonal of A + I, ã.
    pub tilde: f64,
}

impl Degree {
    /// d, the row sum of A.
    pub fn sum(&self) -> f64 {
        self.others + self.own
    }

    /// d̃ = d − a + ã, the row sum of A + I.
    pub fn augmented(&self) -> f64 {
        self.others + self.tilde
    }
}

/// What one node adds to Â: its diagonal, its row factor, its column factor.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the letters of the formula")]
pub struct Triple {
    pub s: f64,
    pub l: f64,
    pub r: f64,
}

fn inverse(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 1.0 / x }
}

fn inverse_sqrt(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 1.0 / x.sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_edges_is_never_nan() {
        for form in ALL {
            for self_loops in [SelfLoops::Remaining, SelfLoops::Add] {
                let t = Normalisation { form, self_loops }.triple(0.0, 0.0);
                assert!([t.s, t.l, t.r].iter().all(|x| x.is_finite()), "{}", form.name);
                let expected = match form.name {
                    "aug" | "aug-rw" | "first-order" | "sym-lap" | "rw-lap" | "identity-plus" => 1.0,
                    "bingge" => 2.0,
                    _ => 0.0,
                };
                assert_eq!(t.s, expected, "{}", form.name);
            }
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        let e = Normalisation::new("aug_rw", SelfLoops::Add).unwrap_err();
        assert!(e.to_string().contains("did you mean 'aug-rw'"), "{e}");
        assert!("adds".parse::<SelfLoops>().is_err());
    }
}
