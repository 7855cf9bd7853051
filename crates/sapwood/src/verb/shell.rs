//! `sapwood completions` and `sapwood man`: made from the definition of the command line, so they cannot disagree with it.

use crate::cli::{self, Context, Exit, Failure, Run};
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print shell completions.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell to print them for
    shell: Shell,
}

impl Run for Completions {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut cli::command(), "sapwood", &mut script);
        let script = String::from_utf8_lossy(&script).into_owned();
        let json =
            serde_json::json!({"schema": "sapwood.completions/1", "shell": self.shell.to_string(), "script": script});
        cx.emit(&json, |out| out.write_all(script.as_bytes()))?;
        Ok(Exit::Done)
    }
}

/// Write the man pages.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Folder to write them to; made if it does not exist
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

impl Run for Man {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        std::fs::create_dir_all(&self.out).map_err(|e| Failure::usage(format!("{}: {e}", self.out.display())))?;
        let mut command = cli::command();
        command.build();
        let mut pages = Vec::new();
        collect(&command, "", &mut pages);
        for (name, page) in &pages {
            sapwood_files::write_atomic(&self.out.join(format!("{name}.1")), |w| w.write_all(page))?;
        }
        let names: Vec<&String> = pages.iter().map(|(name, _)| name).collect();
        let json = serde_json::json!({"schema": "sapwood.man/1", "out": self.out, "pages": names});
        cx.emit(&json, |out| writeln!(out, "{} pages in {}", names.len(), self.out.display()))?;
        Ok(Exit::Done)
    }
}

/// The page of a command and of all below it.
fn collect(command: &clap::Command, parent: &str, pages: &mut Vec<(String, Vec<u8>)>) {
    if command.get_name() == "help" {
        return;
    }
    let name =
        if parent.is_empty() { command.get_name().to_owned() } else { format!("{parent}-{}", command.get_name()) };
    let mut page = Vec::new();
    // Writing to memory does not fail.
    if clap_mangen::Man::new(command.clone().display_name(name.clone())).render(&mut page).is_ok() {
        pages.push((name.clone(), page));
    }
    for sub in command.get_subcommands() {
        collect(sub, &name, pages);
    }
}
