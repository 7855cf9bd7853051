//! The `sapwood` program: parses the command line, runs one verb, prints, and turns the outcome into an exit code.
//!
//! `cli` is the frame (flags common to all, output, errors); each verb is one file in `verb`. No algorithm lives here.

mod cli;
mod verb;

fn main() -> std::process::ExitCode {
    cli::main()
}
