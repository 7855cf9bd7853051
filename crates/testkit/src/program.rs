//! Running the built `sapwood` program and keeping what it said.
//!
//! The environment is cleared of every `SAPWOOD_*` variable, so that a user's settings never change a test.
//! Start with [`Program::new`], given `env!("CARGO_BIN_EXE_sapwood")`.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A call of the program that is being put together.
#[derive(Debug)]
pub struct Program {
    command: Command,
    stdin: Vec<u8>,
}

/// What a finished call left.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output, invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error, invalid UTF-8 replaced.
    pub stderr: String,
}

impl Program {
    /// The program at `path`, without arguments and without `SAPWOOD_*` variables.
    pub fn new(path: impl AsRef<OsStr>) -> Program {
        let mut command = Command::new(path);
        for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("SAPWOOD_")) {
            command.env_remove(name);
        }
        Program { command, stdin: Vec::new() }
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Program {
        self.command.args(args);
        self
    }

    /// Adds the arguments of one line, cut at spaces.
    pub fn line(self, line: &str) -> Program {
        self.args(line.split_whitespace())
    }

    /// Sets a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Program {
        self.command.env(name, value);
        self
    }

    /// Runs in `folder`.
    pub fn within(mut self, folder: &Path) -> Program {
        self.command.current_dir(folder);
        self
    }

    /// Gives `bytes` as standard input (otherwise it is empty).
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Program {
        self.stdin = bytes.into();
        self
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When the program cannot be started or its output cannot be read. A non-zero exit code is no error.
    pub fn run(self) -> io::Result<Ran> {
        self.run_with(|_| Ok(()))
    }

    /// Runs it and interrupts it (Ctrl-C) after a time, if it still runs.
    ///
    /// # Errors
    /// As [`Program::run`]; when the signal cannot be sent.
    pub fn interrupt_after(self, time: Duration) -> io::Result<Ran> {
        self.run_with(|child| {
            std::thread::sleep(time);
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().map(|_| ())
        })
    }

    fn run_with(mut self, started: impl FnOnce(&Child) -> io::Result<()>) -> io::Result<Ran> {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn()?;
        let (pipe, bytes) = (child.stdin.take(), self.stdin);
        let writer = std::thread::spawn(move || pipe.map(|mut p| p.write_all(&bytes)));
        started(&child)?;
        let output = child.wait_with_output()?;
        // A program may end without reading its input: a broken pipe here is its business.
        let _ = writer.join();
        Ok(Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

impl Ran {
    /// Standard output as one JSON value.
    ///
    /// # Errors
    /// When it is not exactly one.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&self.stdout)
    }

    /// Standard output as one JSON object without its member `measured`: two runs that did the same are equal in it.
    ///
    /// # Errors
    /// As [`Ran::json`].
    pub fn json_unmeasured(&self) -> serde_json::Result<serde_json::Value> {
        let mut value = self.json()?;
        if let Some(object) = value.as_object_mut() {
            object.shift_remove("measured");
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_output_code_and_input() {
        let ran = Program::new("sh").args(["-c", "cat; echo no >&2; exit 3"]).stdin("yes").run().unwrap();
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(3), "yes", "no\n"));
    }

    #[test]
    fn measured_is_left_out() {
        let text = r#"{"schema":"x/1","a":1,"measured":{"t_s":2}}"#;
        let ran = Ran { code: Some(0), stdout: text.into(), stderr: String::new() };
        assert_eq!(ran.json_unmeasured().unwrap().to_string(), r#"{"schema":"x/1","a":1}"#);
    }
}
