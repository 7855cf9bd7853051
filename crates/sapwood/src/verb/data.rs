//! `sapwood data`: what data sets there are, what is in one, and writing or generating one as a TSV folder.

use super::source::Source;
use crate::cli::{Context, Exit, Failure, Run, resources};
use clap::{Args, Subcommand};
use sapwood_graph::dataset::{self, Listed};
use sapwood_graph::generator::{self, Parameter, Recipe};
use sapwood_graph::{Facts, GraphData};
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// List, show, convert and generate data sets.
#[derive(Debug, Args)]
pub(crate) struct Data {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the data sets inside the program, in $SAPWOOD_DATA and in ./data
    List,
    /// Load a data set and print its counts, splits and files
    Show(Source),
    /// Write a data set as a folder of text files
    Convert(Convert),
    /// Generate a graph and write it as a folder of text files
    Make(Make),
}

#[derive(Debug, Args)]
struct Convert {
    #[command(flatten)]
    source: Source,
    /// Folder to write: missing, empty, or the unchanged output of an earlier conversion
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = generators())]
struct Make {
    /// Name of a generator, or a whole spec
    generator: String,
    /// Its parameters; `seed` is the seed of the graph, not the --seed of runs
    #[arg(value_name = "KEY=VALUE")]
    parameters: Vec<String>,
    /// Folder to write: missing, empty, or the unchanged output of an earlier call
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

/// One line for each generator and each of its parameters.
fn generators() -> String {
    let parameter = |p: &Parameter| {
        let default = p.default.filter(|d| *d != generator::UNSET);
        let default = default.map_or_else(String::new, |d| format!(" [default: {d}]"));
        format!("      {:<8} {}{default}\n", p.name, p.meaning)
    };
    let lines = generator::ALL.iter().map(|e| {
        let parameters: String = e.parameters.iter().map(parameter).collect();
        format!("  {}\n      {}\n{parameters}", e.example, e.summary)
    });
    format!("Generators:\n{}", lines.collect::<String>())
}

impl Run for Data {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::List => list(cx)?,
            Command::Show(source) => show(cx, &source)?,
            Command::Convert(convert) => self::convert(cx, &convert)?,
            Command::Make(make) => self::make(cx, &make)?,
        }
        Ok(Exit::Done)
    }
}

#[derive(Serialize)]
struct List {
    schema: &'static str,
    data: Vec<Listed>,
    looked_in: Vec<PathBuf>,
}

fn list(cx: &Context) -> Result<(), Failure> {
    let list = List { schema: "sapwood.data.list/1", data: dataset::list(), looked_in: dataset::folders() };
    cx.emit(&list, |out| {
        let width = list.data.iter().map(|d| d.name.chars().count()).max().unwrap_or(0);
        for Listed { name, kind, path } in &list.data {
            let path = path.as_ref().map_or_else(|| "(inside the program)".into(), |p| p.display().to_string());
            writeln!(out, "{name:<width$}  {kind:<8}  {path}")?;
        }
        let places: Vec<String> = list.looked_in.iter().map(|p| p.display().to_string()).collect();
        writeln!(out, "looked in: {} (SAPWOOD_DATA names more folders)", places.join(", "))?;
        let examples: Vec<&str> = generator::ALL.iter().map(|e| e.example).collect();
        writeln!(out, "generators, for example: {}", examples.join("  "))
    })
}

/// The facts of a data set under the name of a schema.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    #[serde(flatten)]
    facts: Facts,
}

fn show(cx: &Context, source: &Source) -> Result<(), Failure> {
    let data = source.load(cx)?;
    if let sapwood_graph::features::Features::Elsewhere { file } = &data.features {
        cx.warn(&format!("{file} is no features.mtx, features.npy or words.tsv: no features"));
    }
    let report = Report { schema: "sapwood.data.show/1", facts: Facts::of(&data) };
    cx.emit(&report, |out| print(&report.facts, out))
}

fn convert(cx: &Context, convert: &Convert) -> Result<(), Failure> {
    write(cx, &convert.source.load(cx)?, &convert.out, "sapwood.data.convert/1")
}

fn make(cx: &Context, make: &Make) -> Result<(), Failure> {
    let recipe = Recipe::of(&make.generator, &make.parameters)?;
    if cx.flags.seed != 0 {
        cx.warn("--seed is the seed of runs and does not change a graph; write seed=N among the parameters");
    }
    resources::check_recipe(&recipe)?;
    let data = recipe.make(cx.runtime()?.exec())?;
    write(cx, &data, &make.out, "sapwood.data.make/1")
}

fn write(cx: &Context, data: &GraphData, folder: &Path, schema: &'static str) -> Result<(), Failure> {
    let written = dataset::convert(data, folder)?;
    written.warnings.iter().for_each(|warning| cx.warn(warning));
    let report = Report { schema, facts: Facts { files: written.files, ..Facts::of(data) } };
    cx.emit(&report, |out| {
        writeln!(out, "{}: written to {}", report.facts.name, folder.display())?;
        files(&report.facts, out)
    })
}

fn print(facts: &Facts, out: &mut dyn Write) -> std::io::Result<()> {
    let Facts { nodes, pairs, isolated, components, largest, max_degree, self_loops, .. } = facts;
    let (unit, kind) = if facts.directed { ("arcs", "directed") } else { ("pairs", "undirected") };
    let weights = if facts.weighted { "weighted" } else { "no weights" };
    writeln!(out, "{}", facts.name)?;
    writeln!(out, "nodes     {nodes}: {isolated} isolated, {components} components, {largest} in the largest")?;
    writeln!(
        out,
        "{unit:<8}  {pairs}: {kind}, {weights}, largest degree {max_degree}, {self_loops} self-loops beside them"
    )?;
    let homophily = facts.homophily.map_or_else(|| "no labelled pair".into(), |h| format!("homophily {h:.4}"));
    writeln!(out, "classes   {}: {homophily}, {} nodes unlabelled", facts.classes, facts.unlabelled)?;
    if !facts.class_sizes.is_empty() {
        let sizes: Vec<String> = facts.class_sizes.iter().map(u64::to_string).collect();
        writeln!(out, "sizes     {}", sizes.join(" "))?;
    }
    let (entries, empty) = (facts.feature_entries, facts.empty_rows);
    writeln!(out, "features  {}: {entries} entries, {empty} empty rows", facts.features)?;
    for split in &facts.splits {
        writeln!(out, "split     {}: {} train, {} val, {} test", split.name, split.train, split.val, split.test)?;
    }
    files(facts, out)
}

fn files(facts: &Facts, out: &mut dyn Write) -> std::io::Result<()> {
    let width = facts.files.iter().map(|f| f.path.chars().count()).max().unwrap_or(0);
    for file in &facts.files {
        writeln!(out, "file      {:<width$}  {:>9} bytes  sha256 {}", file.path, file.size_bytes, file.sha256)?;
    }
    Ok(())
}
