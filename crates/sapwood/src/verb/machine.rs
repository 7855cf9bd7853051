//! `sapwood machine`: the presets, a machine with all its values, the machine at hand as a file, its rates (in
//! `machine/probe.rs`), and what is wrong with a file. How a machine is drawn as text and as JSON is in `machine/view.rs`.

mod probe;
mod products;
mod rates;
mod view;

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, Subcommand};
use sapwood_machine::{Discover, Error, Problem, Report, Tree, presets};
use serde::Serialize;
use std::path::{Path, PathBuf};
use view::View;

/// List, show, discover, measure and check machines.
#[derive(Debug, Args)]
pub(crate) struct Machine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the machines that ship with Sapwood
    List,
    /// Print a machine with all its values
    Show {
        /// A file, `preset:NAME`, a preset's bare name, or `-` [default: --machine, $SAPWOOD_MACHINE, else discovered]
        #[arg(value_name = "MACHINE")]
        which: Option<String>,
    },
    /// Describe the machine at hand as a machine file; nothing is measured
    Discover {
        /// File to write [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Folder that stands for / (reads DIR/sys and DIR/proc)
        #[arg(long, value_name = "DIR", default_value = "/")]
        sysroot: PathBuf,
    },
    /// Measure what the machine at hand does: rates of arithmetic, memory and our kernels
    ///
    /// Rates are medians of short samples taken in turns, with all workers and with one. With -o they are written into
    /// a machine file, which --machine reads. Links between the levels are not measured yet.
    Probe(probe::Flags),
    /// Say everything that is wrong with a machine file, by line and key; exit code 2 if anything is
    Check {
        /// The file, or `-`
        file: PathBuf,
    },
}

impl Run for Machine {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::List => list(cx),
            Command::Show { which } => show(cx, which.as_deref()),
            Command::Discover { out, sysroot } => discover(cx, out.as_deref(), sysroot),
            Command::Probe(flags) => probe::probe(cx, &flags),
            Command::Check { file } => check(cx, &file),
        }
    }
}

#[derive(Serialize)]
struct List {
    schema: &'static str,
    presets: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    source: Option<String>,
    depth: usize,
    leaves: usize,
}

fn list(cx: &Context) -> Result<Exit, Failure> {
    let listed = |preset: &presets::Preset| -> Result<Listed, Error> {
        let tree = Tree::preset(preset.name)?;
        Ok(Listed {
            name: preset.name,
            aliases: preset.aliases,
            summary: preset.summary,
            source: tree.header().source.clone(),
            depth: tree.depth(),
            leaves: tree.leaf_count(),
        })
    };
    let presets = presets::ALL.iter().map(listed).collect::<Result<_, _>>()?;
    let list = List { schema: "sapwood.machine.list/1", presets };
    cx.emit(&list, |out| {
        for Listed { name, aliases, summary, leaves, .. } in &list.presets {
            let aliases = if aliases.is_empty() { String::new() } else { format!(" ({})", aliases.join(", ")) };
            let workers = if *leaves == 1 { "worker " } else { "workers" };
            writeln!(out, "{name:<17} {leaves:>4} {workers}  {summary}{aliases}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn show(cx: &Context, which: Option<&str>) -> Result<Exit, Failure> {
    let tree = match which {
        Some(argument) => Tree::resolve(argument)?,
        None => cx.machine()?,
    };
    let view = View::new("sapwood.machine.show/1", &tree, None);
    cx.emit(&view, |out| view::print(&tree, out))?;
    Ok(Exit::Done)
}

fn discover(cx: &Context, out: Option<&Path>, sysroot: PathBuf) -> Result<Exit, Failure> {
    let workers = match cx.flags.threads.as_deref() {
        Some(threads) => threads.parse().map_err(|why| Failure::usage(format!("--threads: {why}")))?,
        None => Discover::default().workers,
    };
    let tree = Tree::discover(&Discover { sysroot, workers })?;
    // `-` is where the text goes anyway
    let file = out.filter(|file| *file != Path::new("-"));
    if let Some(file) = file {
        sapwood_files::write_atomic(file, |out| out.write_all(tree.write().as_bytes()))?;
        cx.note(&format!("{}: written, {} workers", file.display(), tree.leaf_count()));
    }
    let view = View::new("sapwood.machine.discover/1", &tree, file);
    cx.emit(&view, |out| match file {
        Some(_) => Ok(()),
        None => out.write_all(tree.write().as_bytes()),
    })?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Checked {
    schema: &'static str,
    ok: bool,
    errors: Vec<Note>,
    warnings: Vec<Note>,
}

#[derive(Serialize)]
struct Note {
    line: usize,
    key: String,
    message: String,
}

fn check(cx: &Context, file: &Path) -> Result<Exit, Failure> {
    let Report { tree, errors, warnings } = match sapwood_machine::text_of(file) {
        Ok(text) => sapwood_machine::check(&text),
        Err(Error::Invalid { problems, .. }) => Report { tree: None, errors: problems, warnings: Vec::new() },
        Err(error) => return Err(error.into()),
    };
    let notes = |problems: &[Problem]| -> Vec<Note> {
        let note = |p: &Problem| Note { line: p.line, key: p.key.clone(), message: p.message.clone() };
        problems.iter().map(note).collect()
    };
    let checked = Checked {
        schema: "sapwood.machine.check/1",
        ok: errors.is_empty(),
        errors: notes(&errors),
        warnings: notes(&warnings),
    };
    let name = file.display();
    cx.emit(&checked, |out| {
        errors.iter().try_for_each(|problem| writeln!(out, "{name}: {problem}"))?;
        warnings.iter().try_for_each(|problem| writeln!(out, "{name}: warning: {problem}"))?;
        match &tree {
            Some(tree) => writeln!(out, "{name}: ok, {} levels, {} workers", tree.levels().len(), tree.leaf_count()),
            None => Ok(()),
        }
    })?;
    match errors.len() {
        0 => Ok(Exit::Done),
        1 => Err(Failure::usage(format!("{name}: one problem"))),
        n => Err(Failure::usage(format!("{name}: {n} problems"))),
    }
}
