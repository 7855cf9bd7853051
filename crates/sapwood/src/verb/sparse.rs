//! `sapwood sparse`: what a matrix file holds, and products with it.
//!
//! The matrix and its flags are in `input`, the dense operand and the digests in `operand`; each command is one file.

mod info;
mod input;
mod multiply;
mod operand;

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, Subcommand};

/// Look at sparse matrices and multiply with them.
#[derive(Debug, Args)]
pub(crate) struct Sparse {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read a matrix and print its shape, degrees, structure and bytes
    Info(info::Info),
    /// Multiply a matrix with a dense one and print sums and a digest of the result
    Multiply(multiply::Multiply),
    #[command(external_subcommand)]
    Other(Vec<String>),
}

/// Commands of later steps.
const LATER: [&str; 14] = [
    "convert",
    "sddmm",
    "attention",
    "square",
    "spgemm",
    "triangles",
    "eigen",
    "solve",
    "order",
    "explain",
    "volume",
    "tune",
    "formats",
    "reuse",
];

impl Run for Sparse {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::Info(info) => info.run(cx),
            Command::Multiply(multiply) => multiply.run(cx),
            Command::Other(words) => Err(refusal(words.first().map_or("", String::as_str))),
        }
    }
}

fn refusal(name: &str) -> Failure {
    if LATER.contains(&name) {
        return Failure::usage(format!("sparse {name}: not built yet")).hint("use info or multiply");
    }
    Failure::usage(format!("sparse {name}: no such command")).hint("use info or multiply")
}

/// One of `now`, by its name; a name in `later` is refused as such.
fn choice<T: Copy>(word: &str, now: &[(&str, T)], later: &[&str]) -> Result<T, String> {
    if let Some((_, chosen)) = now.iter().find(|(name, _)| *name == word) {
        return Ok(*chosen);
    }
    let known = now.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let why = if later.contains(&word) { "not built yet" } else { "no such value" };
    Err(format!("{why}; use {known}"))
}
