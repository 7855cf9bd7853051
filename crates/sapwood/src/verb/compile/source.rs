//! Where the program comes from: a text, a model, or the flags of one reduction.

use super::tensors::Held;
use crate::cli::Failure;
use clap::Args;
use sapwood_reduce::onnx::{Bindings, Imported, Unsupported, inputs_to_know};
use sapwood_reduce::{Dtype, Program};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What is compiled.
#[derive(Debug, Args)]
#[command(next_help_heading = "Program")]
pub(super) struct Source {
    /// A tensor program (PROGRAM.tp), a model (MODEL.onnx), or - for program text on stdin
    #[arg(value_name = "SOURCE", required_unless_present = "reduce", conflicts_with = "reduce")]
    source: Option<PathBuf>,
    /// Value of a symbolic dimension
    #[arg(long, value_name = "NAME=INT", conflicts_with = "reduce")]
    bind: Vec<String>,
    /// Compile only what these values of a model need
    #[arg(long, value_name = "VALUE,..", value_delimiter = ',', conflicts_with = "reduce")]
    only: Vec<String>,
    #[command(flatten)]
    one: One,
}

/// One reduction by flags.
#[derive(Debug, Args)]
#[command(next_help_heading = "One reduction")]
struct One {
    /// Reduce by: sum, prod, max, min, and, or, argmax, argmin, moments, mean, var, sumsq, l1, l2, logsum, logsumexp, topk:K
    #[arg(long, value_name = "OP", requires = "shape")]
    reduce: Option<String>,
    /// Extents of the tensor's axes
    #[arg(long, value_name = "64x128x1024", requires = "reduce")]
    shape: Option<String>,
    /// Axes to reduce; negative ones count from the end [default: all]
    #[arg(long, value_name = "0,1", requires = "reduce", allow_hyphen_values = true)]
    axes: Option<String>,
    /// Distance of neighbours along each axis, in elements [default: last axis fastest, without gaps]
    #[arg(long, value_name = "1,64,8192", requires = "reduce")]
    strides: Option<String>,
    /// Type of the elements
    #[arg(long, value_name = "TYPE", default_value = "f32", value_parser = dtype)]
    dtype: Dtype,
    /// Type of the result [default: the operator's own]
    #[arg(long, value_name = "TYPE", requires = "reduce", value_parser = dtype)]
    out_dtype: Option<Dtype>,
    /// Keep the reduced axes with extent 1
    #[arg(long, requires = "reduce")]
    keepdims: bool,
}

fn dtype(word: &str) -> Result<Dtype, String> {
    let names: Vec<&str> = Dtype::ALL.iter().map(|d| d.name()).collect();
    Dtype::from_name(word).ok_or_else(|| format!("no such type; use {}", names.join(", ")))
}

/// A program, what it is called, and the nodes of a model that it goes around.
pub(super) struct Made {
    pub(super) name: String,
    pub(super) program: Program,
    pub(super) unsupported: Vec<Unsupported>,
    /// Graph inputs that were known when a model was imported.
    pub(super) known: Vec<String>,
}

impl Made {
    fn of(name: String, program: Program) -> Made {
        Made { name, program, unsupported: Vec::new(), known: Vec::new() }
    }

    /// Refuses to run what has gaps.
    pub(super) fn refuse_gaps(&self) -> Result<(), Failure> {
        let Some(first) = self.unsupported.first() else { return Ok(()) };
        let list: Vec<String> = self.unsupported.iter().map(name_of).collect();
        let hint = format!("compile what does not need it: --only VALUE (it makes {})", first.values.join(", "));
        Err(Failure::usage(format!("{}: cannot run around {}", self.name, list.join("; "))).hint(hint))
    }
}

/// A node that is not supported, in words.
pub(super) fn name_of(u: &Unsupported) -> String {
    format!("node {} ({}, opset {}), which makes {}", u.node, u.op, u.opset, u.values.join(", "))
}

impl Source {
    /// The program; a model may need to know some of the inputs.
    pub(super) fn program(&self, held: &[Held]) -> Result<Made, Failure> {
        let Some(path) = &self.source else { return self.one.program() };
        let name = if path == Path::new("-") { "stdin".to_string() } else { path.display().to_string() };
        if path.extension().is_some_and(|e| e == "onnx") {
            return self.model(path, name, held);
        }
        if !self.only.is_empty() {
            return Err(Failure::usage("--only: a program in text has no other values than its outputs"));
        }
        let bytes = if name == "stdin" { stdin()? } else { sapwood_files::read(path)? };
        let text = String::from_utf8(bytes)
            .map_err(|e| Failure::usage(format!("{name}: byte {} is not UTF-8 text", e.utf8_error().valid_up_to())))?;
        let program = Program::parse_bound(&text, &name, &self.bindings()?)?;
        Ok(Made::of(name, program))
    }

    fn model(&self, path: &Path, name: String, held: &[Held]) -> Result<Made, Failure> {
        let bytes = sapwood_files::read(path)?;
        let needed = inputs_to_know(&bytes, &self.only)?;
        let given = held.iter().filter(|h| needed.contains(&h.name));
        let bind = Bindings {
            dims: self.bindings()?,
            values: given.map(|h| Ok((h.name.clone(), h.tensor()?))).collect::<Result<_, Failure>>()?,
            folder: path.parent().map(Path::to_path_buf),
            only: self.only.clone(),
        };
        let Imported { program, unsupported } = Program::from_onnx(&bytes, &bind)?;
        Ok(Made { name, program, unsupported, known: needed })
    }

    fn bindings(&self) -> Result<BTreeMap<String, usize>, Failure> {
        let one = |word: &String| {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let wrong = |_| Failure::usage(format!("--bind {word}: not NAME=INT"));
            Ok((name.to_string(), value.parse::<usize>().map_err(wrong)?))
        };
        self.bind.iter().map(one).collect()
    }
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes)?;
    Ok(bytes)
}

impl One {
    /// The reduction as program text: what the flags mean is what the text means.
    fn program(&self) -> Result<Made, Failure> {
        let (Some(op), Some(shape)) = (&self.reduce, &self.shape) else {
            return Err(Failure::usage("nothing to compile").hint("give a SOURCE, or --reduce and --shape"));
        };
        let text = self.text(op, shape)?;
        Ok(Made::of(format!("--reduce {op}"), Program::parse(&text, "--reduce")?))
    }

    fn text(&self, op: &str, shape: &str) -> Result<String, Failure> {
        let shape = numbers("--shape", shape, 'x')?;
        let axes = match &self.axes {
            Some(list) => numbers("--axes", list, ',')?,
            None => (0..shape.len() as i64).collect(),
        };
        let (name, k) = op.split_once(':').map_or((op, None), |(name, k)| (name, Some(k)));
        let results = match name {
            "moments" => &["mean", "variance"][..],
            "topk" => &["values", "indices"],
            _ => &["y"],
        };
        let mut text = format!("program reduce\ninput x: {}{shape:?}", self.dtype);
        if let Some(list) = &self.strides {
            write!(text, " strides {:?}", numbers("--strides", list, ',')?)?;
        }
        // A wider result is accumulated in its own type.
        let wide = self.out_dtype.filter(|d| d.bytes() > self.dtype.bytes() && d.is_float() && name != "topk");
        let operand = if let Some(d) = wide {
            write!(text, "\nw = cast(x, to={d})")?;
            "w"
        } else {
            "x"
        };
        let options = match (name, k) {
            ("topk", Some(k)) => format!("k={k}, axis={}", axes.first().copied().unwrap_or(0)),
            ("topk", None) => return Err(Failure::usage("--reduce topk: how many? write topk:K")),
            (_, Some(_)) => return Err(Failure::usage(format!("--reduce {op}: only topk takes a number"))),
            _ => format!("axes={axes:?}{}", if self.keepdims { ", keep=true" } else { "" }),
        };
        write!(text, "\n{} = {name}({operand}, {options})", results.join(", "))?;
        match self.out_dtype {
            Some(d) if results.len() == 1 => write!(text, "\nz = cast(y, to={d})\noutput z\n")?,
            Some(_) => return Err(Failure::usage(format!("--out-dtype: {name} has several results"))),
            None => write!(text, "\noutput {}\n", results.join(", "))?,
        }
        Ok(text)
    }
}

/// Whole numbers of a list.
fn numbers(flag: &str, list: &str, separator: char) -> Result<Vec<i64>, Failure> {
    let one = |word: &str| {
        word.trim().parse::<i64>().map_err(|_| Failure::usage(format!("{flag} {list}: '{word}' is no whole number")))
    };
    list.split(separator).filter(|w| !w.is_empty() || list.len() > 1).map(one).collect()
}
