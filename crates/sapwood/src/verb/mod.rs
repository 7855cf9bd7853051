//! The verbs, one file each: parse, call the library, print. To add one: a file, a module line, a variant.

mod bench;
mod compile;
mod data;
mod doctor;
mod drop;
mod machine;
mod page;
mod plan;
mod rank;
mod sampling;
mod shell;
mod source;
mod sparse;
mod table;
mod train;

use crate::cli::{Context, Exit, Failure, Run};
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Train a graph network, compare samplers by paired seeds, print an honest table
    Train(Box<train::Train>),
    /// Rank the nodes or the edges of a graph
    Rank(rank::Rank),
    /// Sample a graph: draw which edges go, say what that does to it, write what stays
    Drop(Box<drop::Drop>),
    /// Plan pipelines: simulate schedules of forwards and backwards exactly
    Plan(Box<plan::Plan>),
    /// Compile reductions and what surrounds them: explain, run, check, time
    Compile(Box<compile::Compile>),
    /// List, show and convert data sets
    Data(data::Data),
    /// Look at sparse matrices and multiply them
    Sparse(sparse::Sparse),
    /// Measure a tool beside its peers, in turns, in one run
    Bench(bench::Bench),
    /// List, show, discover and check machines
    Machine(machine::Machine),
    /// Say what this machine and this build offer, with one hint for each thing that is missing
    Doctor(doctor::Doctor),
    /// Print shell completions
    Completions(shell::Completions),
    /// Write the man pages
    Man(shell::Man),
}

impl Run for Verb {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self {
            Verb::Train(verb) => verb.run(cx),
            Verb::Rank(verb) => verb.run(cx),
            Verb::Drop(verb) => verb.run(cx),
            Verb::Plan(verb) => verb.run(cx),
            Verb::Compile(verb) => verb.run(cx),
            Verb::Data(verb) => verb.run(cx),
            Verb::Sparse(verb) => verb.run(cx),
            Verb::Bench(verb) => verb.run(cx),
            Verb::Machine(verb) => verb.run(cx),
            Verb::Doctor(verb) => verb.run(cx),
            Verb::Completions(verb) => verb.run(cx),
            Verb::Man(verb) => verb.run(cx),
        }
    }
}
