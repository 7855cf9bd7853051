//! Inputs and outputs of a run: filled, read from files, written to files.

use crate::cli::Failure;
use clap::ValueEnum;
use sapwood_files::npy::raw::{self, Kind, Raw};
use sapwood_reduce::{Dtype, Program, Tensor, TensorView, fill};
use sapwood_skeleton::random::{Purpose, Stream, uniform_f64};
use std::path::PathBuf;

/// How inputs without a file are filled.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Fill {
    Hash,
    Ones,
    Zeros,
    Uniform,
}

/// An input and its memory.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) name: String,
    tensor: Tensor,
    shape: Vec<usize>,
    strides: Vec<usize>,
}

impl Held {
    /// The tensor in C order.
    pub(super) fn tensor(&self) -> Result<Tensor, Failure> {
        if self.strides != sapwood_reduce::c_strides(&self.shape) {
            return Err(Failure::usage(format!("--input {}: store it with its last axis fastest", self.name)));
        }
        Ok(self.tensor.clone().reshaped(&self.shape)?)
    }

    pub(super) fn view(&self) -> Result<TensorView<'_>, Failure> {
        Ok(TensorView::new(self.tensor.dtype(), &self.shape, &self.strides, self.tensor.bytes())?)
    }
}

/// The files of `--input NAME=FILE`: arrays (.npy) or tensors of ONNX (.pb).
pub(super) fn read_inputs(words: &[String]) -> Result<Vec<Held>, Failure> {
    words.iter().map(|word| read_input(word)).collect()
}

fn named<'a>(flag: &str, word: &'a str) -> Result<(&'a str, PathBuf), Failure> {
    let pair = word.split_once('=').filter(|(name, file)| !name.is_empty() && !file.is_empty());
    let (name, file) = pair.ok_or_else(|| Failure::usage(format!("{flag} {word}: not NAME=FILE.npy")))?;
    Ok((name, PathBuf::from(file)))
}

fn read_input(word: &str) -> Result<Held, Failure> {
    let (name, path) = named("--input", word)?;
    if path.extension().is_some_and(|e| e == "pb") {
        let (_, tensor) = sapwood_reduce::onnx::read_tensor(&sapwood_files::read(&path)?)?;
        let (shape, strides) = (tensor.shape().to_vec(), sapwood_reduce::c_strides(tensor.shape()));
        return Ok(Held { name: name.into(), tensor, shape, strides });
    }
    let raw = raw::read(&path)?;
    let dtype = dtype_of(&raw);
    let count = raw.bytes.len() / dtype.bytes();
    let mut tensor = Tensor::zeros(dtype, &[count])?;
    tensor.bytes_mut().copy_from_slice(&raw.bytes);
    if dtype == Dtype::Bool {
        tensor.bytes_mut().iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
    let mut strides = sapwood_reduce::c_strides(&raw.shape);
    if raw.column_major {
        let turned: Vec<usize> = raw.shape.iter().rev().copied().collect();
        strides = sapwood_reduce::c_strides(&turned).into_iter().rev().collect();
    }
    Ok(Held { name: name.into(), tensor, shape: raw.shape, strides })
}

fn dtype_of(raw: &Raw) -> Dtype {
    let fits = |d: &Dtype| match raw.kind {
        Kind::Float => d.is_float() && *d != Dtype::Bf16,
        Kind::Int => d.is_int() && d.is_signed(),
        Kind::Uint => d.is_int() && !d.is_signed(),
        Kind::Bool => *d == Dtype::Bool,
    };
    Dtype::ALL.into_iter().find(|d| fits(d) && d.bytes() == raw.size).unwrap_or(Dtype::U8)
}

/// Lets a program read its inputs as their files have them: first axis fastest, where they are stored so.
pub(super) fn follow(p: &mut Program, held: &[Held]) -> Result<(), Failure> {
    for h in held {
        let same = p.inputs().iter().any(|&v| p.input_name(v) == h.name && p.shape(v) == h.shape);
        if same {
            p.restride(&h.name, &h.strides)?;
        }
    }
    Ok(())
}

/// Every input of the program: from its file, or filled.
pub(super) fn inputs(
    p: &Program,
    held: Vec<Held>,
    known: &[String],
    how: Fill,
    seed: u64,
) -> Result<Vec<Held>, Failure> {
    let names: Vec<&str> = p.inputs().iter().map(|&v| p.input_name(v)).collect();
    // What was known when a model was imported is no input any more.
    if let Some(stranger) = held.iter().find(|h| !names.contains(&h.name.as_str()) && !known.contains(&h.name)) {
        return Err(Failure::usage(format!("--input {}: the program has no such input", stranger.name))
            .hint(format!("its inputs are {}", names.join(", "))));
    }
    let mut held: Vec<Option<Held>> = held.into_iter().map(Some).collect();
    let mut given =
        |name: &str| held.iter_mut().find(|h| h.as_ref().is_some_and(|h| h.name == name)).and_then(Option::take);
    let each = p.inputs().iter().enumerate().map(|(i, &v)| match given(p.input_name(v)) {
        Some(held) if p.dtype(v) == Dtype::Bf16 && held.tensor.dtype() == Dtype::F32 => to_bf16(held),
        Some(held) => Ok(held),
        None => filled(p, v, how, seed, i as u64),
    });
    each.collect()
}

/// NumPy has no bf16: it comes as f32, whose every value has to be one.
fn to_bf16(held: Held) -> Result<Held, Failure> {
    let from = held.tensor.as_slice::<u32>();
    if let Some(i) = from.iter().position(|bits| bits & 0xffff != 0) {
        return Err(Failure::usage(format!("--input {}: element {i} is no bf16 number", held.name)));
    }
    let halves: Vec<u16> = from.iter().map(|bits| (bits >> 16) as u16).collect();
    Ok(Held { tensor: Tensor::from_slice(Dtype::Bf16, &[halves.len()], &halves)?, ..held })
}

fn filled(
    p: &Program,
    v: sapwood_reduce::program::ValueId,
    how: Fill,
    seed: u64,
    number: u64,
) -> Result<Held, Failure> {
    let (dtype, shape, strides) = (p.dtype(v), p.shape(v).to_vec(), p.strides(v).to_vec());
    let last: usize = shape.iter().zip(&strides).map(|(&e, &s)| e.saturating_sub(1) * s).sum();
    let count = if shape.contains(&0) { 0 } else { last + 1 };
    let tensor = match how {
        Fill::Hash => match p.label_range(v) {
            Some(classes) if dtype.is_int() => fill::labels(dtype, &[count], classes)?,
            _ => fill::hash(dtype, &[count])?,
        },
        Fill::Ones => fill::by(dtype, &[count], |_| Ok::<f64, Failure>(1.0))?,
        Fill::Zeros => Tensor::zeros(dtype, &[count])?,
        Fill::Uniform => {
            let stream = Stream::new(seed, Purpose::Fill);
            fill::by(dtype, &[count], |i| {
                let words = stream.at(number as u32, 0, i as u64)?;
                Ok::<f64, Failure>(uniform_f64(words[0], words[1]))
            })?
        }
    };
    Ok(Held { name: p.input_name(v).into(), tensor, shape, strides })
}

/// Outputs that go to files: their number and the file.
pub(super) fn named_outputs(p: &Program, words: &[String]) -> Result<Vec<(usize, PathBuf)>, Failure> {
    let names: Vec<&str> = p.outputs().iter().map(|(name, _)| name.as_str()).collect();
    let one = |word: &String| {
        let (name, path) = named("--out", word)?;
        let at = names.iter().position(|n| *n == name).ok_or_else(|| {
            Failure::usage(format!("--out {name}: the program has no such output"))
                .hint(format!("its outputs are {}", names.join(", ")))
        })?;
        Ok((at, path))
    };
    words.iter().map(one).collect()
}

/// Writes outputs; bf16 as the f32 numbers that it is.
pub(super) fn write(names: &[(usize, PathBuf)], outputs: &[Tensor]) -> Result<(), Failure> {
    for (at, path) in names {
        let tensor = &outputs[*at];
        let wide = tensor.as_slice::<u16>().iter().map(|&h| u32::from(h) << 16);
        let (kind, size, bytes) = match tensor.dtype() {
            Dtype::Bf16 => (Kind::Float, 4, wide.flat_map(u32::to_le_bytes).collect()),
            d if d.is_float() => (Kind::Float, d.bytes(), tensor.bytes().to_vec()),
            Dtype::Bool => (Kind::Bool, 1, tensor.bytes().to_vec()),
            d if d.is_signed() => (Kind::Int, d.bytes(), tensor.bytes().to_vec()),
            d => (Kind::Uint, d.bytes(), tensor.bytes().to_vec()),
        };
        raw::write(path, &Raw { kind, size, shape: tensor.shape().to_vec(), column_major: false, bytes })?;
    }
    Ok(())
}
