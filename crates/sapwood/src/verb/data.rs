//! `sapwood data`: what data sets there are, what is in one, and writing one as a TSV folder.

use crate::cli::{Context, Exit, Failure, Run};
use clap::{Args, Subcommand};
use sapwood_graph::dataset::{self, Listed, Weights};
use sapwood_graph::{Facts, GraphData, LoadOptions};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// List, show and convert data sets.
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
    /// Generate a graph (not built yet)
    #[command(hide = true)]
    Make {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct Source {
    /// `debian`, a folder, an edge list, a Matrix Market file, or a name below $SAPWOOD_DATA or ./data
    #[arg(default_value = "debian")]
    data: String,
    /// Keep the direction of arcs; reads arcs.tsv where there is one
    #[arg(long)]
    directed: bool,
    /// Read edges_weighted.tsv where there is one
    #[arg(long)]
    weighted: bool,
    /// Ignore edge weights
    #[arg(long, conflicts_with = "weighted")]
    unweighted: bool,
}

#[derive(Debug, Args)]
struct Convert {
    #[command(flatten)]
    source: Source,
    /// Folder to write: missing, empty, or the unchanged output of an earlier conversion
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
}

impl Run for Data {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        match self.command {
            Command::List => list(cx)?,
            Command::Show(source) => show(cx, &source)?,
            Command::Convert(convert) => self::convert(cx, &convert)?,
            Command::Make { rest } => {
                let what = rest.first().map_or(String::new(), |generator| format!(" {generator}"));
                let hint = "write the graph as an edge list, or use the embedded data set debian";
                return Err(Failure::usage(format!("data make{what}: generators are not built yet")).hint(hint));
            }
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
        writeln!(out, "looked in: {} (SAPWOOD_DATA names more folders)", places.join(", "))
    })
}

/// The facts of a data set under the name of a schema.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    #[serde(flatten)]
    facts: Facts,
}

impl Source {
    fn load(&self, cx: &Context) -> Result<GraphData, Failure> {
        let weights = match (self.weighted, self.unweighted) {
            (true, _) => Weights::Asked,
            (_, true) => Weights::Ignored,
            _ => Weights::Stored,
        };
        let data = sapwood_graph::load(&self.data, &LoadOptions { directed: self.directed, weights })?;
        data.warnings.iter().for_each(|warning| cx.warn(warning));
        Ok(data)
    }
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
    let data = convert.source.load(cx)?;
    let written = dataset::convert(&data, &convert.out)?;
    written.warnings.iter().for_each(|warning| cx.warn(warning));
    let facts = Facts { files: written.files, ..Facts::of(&data) };
    let report = Report { schema: "sapwood.data.convert/1", facts };
    cx.emit(&report, |out| {
        writeln!(out, "{}: written to {}", report.facts.name, convert.out.display())?;
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
