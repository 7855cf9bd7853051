//! A peer program as a child process that answers one line of JSON per command (the protocol: `bench/peers/peer.py`).
//!
//! Must never be inside a timed region of ours: a peer measures itself and only sends the result.
//! Start reading at [`Peer::start`].

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;

/// Why a peer cannot take part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum PeerError {
    /// There is no Python to run it with.
    #[error(
        "no Python at {path}; run `bench/run.sh`, or set SAPWOOD_PYTHON to one that has bench/peers/requirements.txt"
    )]
    NoPython {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The peer's script is not there.
    #[error("no {path}; run from the root of the repository, or name the folder of the peers with --peers-dir")]
    NoScript {
        /// The script.
        path: PathBuf,
    },
    /// A program in C cannot be compiled.
    #[error("cannot compile {path}: {why}")]
    NotCompiled {
        /// Its source.
        path: PathBuf,
        /// The compiler's last line.
        why: String,
    },
    /// Talking to the child failed.
    #[error("peer {name}: {source}")]
    Io {
        /// The peer's name.
        name: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The child ended; the last line it left on stderr says why.
    #[error("peer {name} ended: {last_words}")]
    Ended {
        /// The peer's name.
        name: String,
        /// Last line of its stderr.
        last_words: String,
    },
    /// An answer that is no line of the protocol.
    #[error("peer {name} answered `{line}`, which is not in the protocol of bench/peers/peer.py: {source}")]
    Answer {
        /// The peer's name.
        name: String,
        /// The answer.
        line: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The peer could not carry out a command.
    #[error("peer {name}: {message}")]
    Refused {
        /// The peer's name.
        name: String,
        /// The peer's words.
        message: String,
    },
}

/// What a peer says of itself when it is ready.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Hello {
    /// Name of the system, as in tables.
    pub(crate) system: String,
    /// Its version.
    pub(crate) version: String,
    /// Threads it really uses.
    pub(crate) threads: usize,
}

/// Time of one iteration.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Times {
    /// Wall time in seconds.
    pub(crate) wall_s: f64,
    /// CPU time of the whole process in seconds.
    pub(crate) cpu_s: f64,
}

#[derive(Deserialize)]
struct Values {
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct Complaint {
    error: String,
}

/// A running peer.
#[derive(Debug)]
pub(crate) struct Peer {
    /// What it said of itself.
    pub(crate) hello: Hello,
    name: String,
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    complaints: File,
}

/// How to start peers.
#[derive(Debug, Clone)]
pub(crate) struct Launcher {
    python: PathBuf,
    scripts: PathBuf,
    threads: usize,
    sleep: bool,
}

impl Launcher {
    /// Python from `$SAPWOOD_PYTHON`, else `.venv/bin/python`; `scripts` is the folder of the peer programs. On a busy
    /// machine the threads of a peer sleep when they wait: spinning there, they would keep each other from the core and
    /// take a hundred times as long as on an idle one.
    pub(crate) fn new(scripts: &Path, threads: usize, busy: bool) -> Launcher {
        let python =
            std::env::var_os("SAPWOOD_PYTHON").map_or_else(|| PathBuf::from(".venv/bin/python"), PathBuf::from);
        Launcher { python, scripts: scripts.to_owned(), threads, sleep: busy }
    }

    /// What starts a peer; a program in C is compiled into `folder` first.
    fn command(&self, script: &str, folder: &Path) -> Result<Command, PeerError> {
        let path = self.scripts.join(script);
        let compiled = path.extension().is_some_and(|extension| extension == "c");
        if !compiled && self.python.components().count() > 1 && !self.python.exists() {
            return Err(PeerError::NoPython { path: self.python.clone() });
        }
        if !path.exists() {
            return Err(PeerError::NoScript { path });
        }
        if compiled {
            return Ok(Command::new(compile(path, folder)?));
        }
        let mut command = Command::new(&self.python);
        command.arg(path);
        for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
            command.env(variable, self.threads.to_string());
        }
        if self.sleep {
            command.env("OMP_WAIT_POLICY", "PASSIVE");
        }
        // The peer chooses its kernels by itself, as it does for its users.
        command.env_remove("OPENBLAS_CORETYPE").env_remove("OPENBLAS_L2_SIZE");
        Ok(command)
    }
}

/// Compiles a program in C for this processor, with `$CC`, else `cc`.
fn compile(path: PathBuf, folder: &Path) -> Result<PathBuf, PeerError> {
    let program = folder.join("peer");
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let ran = Command::new(&compiler).args(["-O3", "-march=native", "-o"]).arg(&program).arg(&path).output();
    let why = match ran {
        Ok(ran) if ran.status.success() => return Ok(program),
        Ok(ran) => String::from_utf8_lossy(&ran.stderr).lines().next_back().unwrap_or("without a word").to_owned(),
        Err(error) => format!("{}: {error}", compiler.display()),
    };
    Err(PeerError::NotCompiled { path, why })
}

impl Peer {
    /// Starts `script` with `arguments` and waits until it has loaded its data.
    ///
    /// # Errors
    /// No Python, no script, or the peer ended before it was ready (a missing package, say).
    pub(crate) fn start(
        launcher: &Launcher,
        name: &str,
        script: &str,
        arguments: &[String],
    ) -> Result<Peer, PeerError> {
        let io = |source| PeerError::Io { name: name.to_owned(), source };
        let complaints = tempfile::tempfile().map_err(io)?;
        // A program that runs needs its file no longer.
        let folder = tempfile::tempdir().map_err(io)?;
        let mut child = launcher
            .command(script, folder.path())?
            .args(arguments)
            .arg("--threads")
            .arg(launcher.threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(complaints.try_clone().map_err(io)?)
            .spawn()
            .map_err(io)?;
        let (Some(commands), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io(std::io::ErrorKind::BrokenPipe.into()));
        };
        let hello = Hello { system: name.to_owned(), version: String::new(), threads: launcher.threads };
        let answers = BufReader::new(answers);
        let mut peer = Peer { hello, name: name.to_owned(), child, commands, answers, complaints };
        peer.hello = peer.answer()?;
        Ok(peer)
    }

    /// Time of one of `iterations` iterations of `case`, measured by the peer.
    ///
    /// # Errors
    /// The peer ended or refused the case.
    pub(crate) fn run(&mut self, case: &str, iterations: usize) -> Result<Times, PeerError> {
        self.ask(&format!("run {case} {iterations}"))
    }

    /// Numbers by which the peer's result of `case` is compared with ours.
    ///
    /// # Errors
    /// As [`Peer::run`].
    pub(crate) fn check(&mut self, case: &str) -> Result<Vec<f64>, PeerError> {
        Ok(self.ask::<Values>(&format!("check {case}"))?.values)
    }

    fn ask<T: for<'d> Deserialize<'d>>(&mut self, command: &str) -> Result<T, PeerError> {
        // A peer that has ended takes no command; then its answer is the end of its output, and its last words say more.
        let _ = writeln!(self.commands, "{command}").and_then(|()| self.commands.flush());
        self.answer()
    }

    fn answer<T: for<'d> Deserialize<'d>>(&mut self) -> Result<T, PeerError> {
        let mut line = String::new();
        let got = self.answers.read_line(&mut line);
        if got.map_err(|source| PeerError::Io { name: self.name.clone(), source })? == 0 {
            return Err(PeerError::Ended { name: self.name.clone(), last_words: self.last_words() });
        }
        if let Ok(Complaint { error }) = serde_json::from_str(&line) {
            return Err(PeerError::Refused { name: self.name.clone(), message: error });
        }
        serde_json::from_str(&line).map_err(|source| {
            let line = line.trim_end().to_owned();
            PeerError::Answer { name: self.name.clone(), line, source }
        })
    }

    fn last_words(&mut self) -> String {
        let mut text = String::new();
        let read = self.complaints.seek(SeekFrom::Start(0)).and_then(|_| self.complaints.read_to_string(&mut text));
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        match (read, last) {
            (Ok(_), Some(line)) => line.to_owned(),
            _ => "without a word on stderr".to_owned(),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Best effort: the harness is done with it, and a peer that has already ended is no news.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &str = r#"echo '{"ready": true, "system": "shell", "version": "1.2", "threads": 1}'"#;

    /// A peer whose script is `body`, run by the shell.
    fn shell(body: &str) -> Result<Peer, PeerError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("peer.sh"), body).unwrap();
        let launcher =
            Launcher { python: "/bin/sh".into(), scripts: folder.path().to_owned(), threads: 3, sleep: true };
        Peer::start(&launcher, "shell", "peer.sh", &["graph".to_owned()])
    }

    #[test]
    fn a_peer_says_who_it_is_and_answers_in_turn() {
        let answers = r#"
            while read command case times; do
                if [ $command = run ]; then echo "{\"wall_s\": $times, \"cpu_s\": $case}"; else echo "{\"values\": [$case, 0.5]}"; fi
            done"#;
        let mut peer = shell(&format!("{HELLO}{answers}")).unwrap();
        assert_eq!((peer.hello.system.as_str(), peer.hello.version.as_str(), peer.hello.threads), ("shell", "1.2", 1));
        let times = peer.run("16", 5).unwrap();
        assert_eq!((times.wall_s, times.cpu_s), (5.0, 16.0));
        assert_eq!(peer.check("64").unwrap(), [64.0, 0.5]);
    }

    #[test]
    fn a_peer_is_told_its_arguments_and_its_threads() {
        let mut peer = shell(&format!(
            "{HELLO}; read line; echo \"{{\\\"error\\\": \\\"$* $OMP_NUM_THREADS $OMP_WAIT_POLICY\\\"}}\""
        ))
        .unwrap();
        assert_eq!(peer.check("64").unwrap_err().to_string(), "peer shell: graph --threads 3 3 PASSIVE");
    }

    #[test]
    fn a_peer_that_cannot_start_says_why() {
        let error = shell("echo noise >&2; echo 'ModuleNotFoundError: no torch' >&2; exit 1").unwrap_err();
        assert_eq!(error.to_string(), "peer shell ended: ModuleNotFoundError: no torch");
        assert_eq!(shell("exit 0").unwrap_err().to_string(), "peer shell ended: without a word on stderr");
    }

    #[test]
    fn a_peer_that_dies_or_babbles_is_an_error() {
        let mut dies = shell(&format!("{HELLO}; read line; echo Killed >&2")).unwrap();
        assert!(matches!(dies.run("1", 1), Err(PeerError::Ended { last_words, .. }) if last_words == "Killed"));
        let mut babbles = shell(&format!("{HELLO}; read line; echo 42")).unwrap();
        assert!(matches!(babbles.run("1", 1), Err(PeerError::Answer { line, .. }) if line == "42"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let here = tempfile::tempdir().unwrap();
        let launcher = |python: &str| Launcher {
            python: python.into(),
            scripts: here.path().to_owned(),
            threads: 1,
            sleep: false,
        };
        let start = |python| Peer::start(&launcher(python), "p", "absent.py", &[]).unwrap_err();
        assert!(matches!(start("no/such/python"), PeerError::NoPython { .. }));
        assert!(matches!(start("/bin/sh"), PeerError::NoScript { path } if path.ends_with("absent.py")));
    }
}
