//! What a verb may ask of the frame: the common flags, the machine, the workers, and the two output streams.

use super::{Common, Failure};
use sapwood_machine::{Discover, Tree, Workers, facts};
use sapwood_skeleton::Runtime;
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal, Write};

/// The frame as a verb sees it.
#[derive(Debug)]
pub(crate) struct Context {
    /// The flags common to all verbs.
    pub(crate) flags: Common,
}

impl Context {
    pub(crate) fn new(flags: Common) -> Context {
        Context { flags }
    }

    /// The machine: `--machine`, else `$SAPWOOD_MACHINE`, else the one at hand.
    pub(crate) fn machine(&self) -> Result<Tree, Failure> {
        Ok(Tree::here(self.flags.machine.as_deref(), &Discover::default())?)
    }

    /// The machine that is named: `--machine`, else `$SAPWOOD_MACHINE`.
    pub(crate) fn named_machine(&self) -> Result<Option<Tree>, Failure> {
        Ok(Tree::named(self.flags.machine.as_deref())?)
    }

    /// Number of worker threads: `--threads`, else the leaves of the machine, but never more than the cores at hand.
    pub(crate) fn threads(&self) -> Result<usize, Failure> {
        let here = facts(&Discover::default())?;
        let Some(asked) = self.flags.threads.as_deref() else {
            let leaves = self.machine()?.leaf_nodes().len();
            return Ok(leaves.min(here.used).max(1));
        };
        let workers: Workers = asked.parse().map_err(|why| Failure::usage(format!("--threads: {why}")))?;
        match workers {
            Workers::Count(threads) => {
                if threads as usize > here.affinity {
                    self.warn(&format!("--threads {threads}: this process may use {} processors", here.affinity));
                }
                Ok(threads as usize)
            }
            kind => Ok(facts(&Discover { workers: kind, ..Discover::default() })?.used),
        }
    }

    /// Starts the workers.
    pub(crate) fn runtime(&self) -> Result<Runtime, Failure> {
        Ok(Runtime::threads(self.threads()?)?)
    }

    /// Prints the result: `json` as one JSON object with `--json`, else what `text` writes.
    pub(crate) fn emit(
        &self,
        json: &impl Serialize,
        text: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        let written = if self.flags.json {
            let mut line = serde_json::to_vec(json)?;
            line.push(b'\n');
            out.write_all(&line)
        } else {
            text(&mut out)
        };
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::BrokenPipe),
            other => Ok(other?),
        }
    }

    /// A remark on stderr, silent with `-q`.
    pub(crate) fn note(&self, text: &str) {
        if !self.flags.quiet {
            self.to_stderr(text);
        }
    }

    /// A remark on stderr that only `-v` shows.
    pub(crate) fn detail(&self, text: &str) {
        if self.flags.verbose {
            self.to_stderr(text);
        }
    }

    /// A warning on stderr, silent with `-q`.
    pub(crate) fn warn(&self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    /// Whether progress bars make sense: stderr is a terminal, and nobody asked for quiet.
    pub(crate) fn progress(&self) -> bool {
        !self.flags.quiet && std::io::stderr().is_terminal()
    }

    fn to_stderr(&self, text: &str) {
        // A closed stderr is no reason to stop: the result still goes to stdout.
        let _ = writeln!(std::io::stderr().lock(), "{}", super::failure::visible(text));
    }
}
