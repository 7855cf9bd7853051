//! `sapwood sparse multiply`: Y = A·X, timed, as sums and a digest.

use super::choice;
use super::input::{Dtype, Input};
use super::operand::{self, Digest, Operand};
use crate::cli::{Context, Exit, Failure, Run, resources};
use clap::Args;
use sapwood_files::npy::{self, Array, Data};
use sapwood_machine::units;
use sapwood_skeleton::{Exec, isa};
use sapwood_sparse::any::AnyMatrix;
use sapwood_sparse::planned::Apply;
use sapwood_sparse::{Affine, Block, Index, Multiply as Matrix, Real, Scale, with_matrix};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Multiply a matrix with a dense one.
#[derive(Debug, Args)]
pub(super) struct Multiply {
    #[command(flatten)]
    input: Input,
    /// Columns of X [default: 1, or those of the file]
    #[arg(long, value_name = "K")]
    k: Option<usize>,
    /// The dense operand: X[i][q] = ((31 i + 17 q) mod 101) - 50, ones, or an .npy file
    #[arg(long, value_name = "ramp|ones|FILE.npy", default_value = "ramp", value_parser = operand::operand)]
    x: Operand,
    /// How the products of a row are combined
    #[arg(long, value_name = "sum", default_value = "sum", value_parser = op)]
    op: Op,
    /// Multiply with the transpose
    #[arg(long)]
    transpose: bool,
    /// gcn: D^-1/2 (A + I) D^-1/2; row, col: divided by the entries of the row, of the column. Degrees count entries
    #[arg(long, value_name = "none|gcn|row|col", default_value = "none", value_parser = scaling)]
    scale: Scaling,
    /// A(Ax+x)+x, a later step
    #[arg(long, hide = true)]
    chain: bool,
    /// Hash the bytes of Y, or its numbers, which must be whole, as integers
    #[arg(long, value_name = "bits|integer", default_value = "bits", value_parser = digest)]
    digest: Digest,
    /// Repetitions; the best and the median time are printed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,
    /// Write Y to this .npy file
    #[arg(short, long, value_name = "FILE.npy")]
    out: Option<PathBuf>,
}

/// How the products of a row are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Sum,
}

/// What is done to A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scaling {
    None,
    Gcn,
    Row,
    Col,
}

fn op(word: &str) -> Result<Op, String> {
    choice(word, &[("sum", Op::Sum)], &["mean", "max", "min"])
}

fn scaling(word: &str) -> Result<Scaling, String> {
    let all = [("none", Scaling::None), ("gcn", Scaling::Gcn), ("row", Scaling::Row), ("col", Scaling::Col)];
    choice(word, &all, &[])
}

fn digest(word: &str) -> Result<Digest, String> {
    choice(word, &[("bits", Digest::Bits), ("integer", Digest::Integer)], &[])
}

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    op: &'static str,
    k: usize,
    dtype: &'static str,
    transpose: bool,
    format: &'static str,
    threads: usize,
    isa: &'static str,
    sum: f64,
    sum_of_squares: f64,
    digest: String,
    /// Of max and min, a later step.
    arg_digest: Option<String>,
    model_bytes: u64,
    /// Of the selector, a later step.
    predicted_s: Option<f64>,
    measured: Measured,
}

#[derive(Serialize)]
struct Measured {
    /// The best.
    wall_s: f64,
    median_s: f64,
    peak_rss_bytes: Option<u64>,
    gflops: f64,
    /// Of `tune`, a later step.
    roof_fraction: Option<f64>,
}

impl Run for Multiply {
    fn run(self, cx: &Context) -> Result<Exit, Failure> {
        if self.chain {
            return Err(Failure::usage("--chain: not built yet"));
        }
        isa::check()?;
        let loaded = self.input.load(cx)?;
        match self.input.dtype {
            Dtype::F32 => self.product::<f32>(cx, loaded.matrix, |m| m, Data::F32),
            Dtype::F64 => self.product::<f64>(cx, loaded.matrix, |m| m, Data::F64),
        }
    }
}

impl Multiply {
    fn product<T: Real>(
        self,
        cx: &Context,
        matrix: AnyMatrix,
        operations: fn(&dyn Matrix) -> &dyn Apply<T>,
        wrap: fn(Vec<T>) -> Data,
    ) -> Result<Exit, Failure> {
        let runtime = cx.runtime()?;
        let exec = runtime.exec();
        let (rows, cols) = matrix.shape();
        let (inner, outer) = if self.transpose { (rows, cols) } else { (cols, rows) };
        self.fits::<T>((inner, outer), self.k.unwrap_or(1))?;
        let x = operand::make::<T>(&self.x, inner, self.k)?;
        self.fits::<T>((inner, outer), x.cols())?;
        let factors = Factors::new(self.scale, &matrix)?;
        let mut y = Block::<T>::zeros(outer, x.cols())?;
        let matrix = matrix.planned();
        let mut times = Vec::new();
        for _ in 0..self.reps {
            times.push(self.once(exec, operations(&*matrix), factors.as_ref(), &x, &mut y)?);
        }
        times.sort_by(f64::total_cmp);
        let (sum, sum_of_squares) = operand::sums(exec, &y)?;
        let report = Report {
            schema: "sapwood.sparse.multiply/1",
            op: match self.op {
                Op::Sum => "sum",
            },
            k: x.cols(),
            dtype: <T as Real>::NAME,
            transpose: self.transpose,
            format: self.input.format(),
            threads: exec.threads(),
            isa: isa::level().name(),
            sum,
            sum_of_squares,
            digest: operand::digest(self.digest, &y)?,
            arg_digest: None,
            model_bytes: model_bytes::<T>(&*matrix, x.cols()),
            predicted_s: None,
            measured: Measured::new(&times, 2.0 * matrix.entries() as f64 * x.cols() as f64),
        };
        if let Some(path) = &self.out {
            let shape = vec![y.rows(), y.cols()];
            npy::write(path, &Array { shape, data: wrap(y.as_slice().to_vec()) })?;
        }
        cx.emit(&report, |out| print(&report, (outer, inner), out))?;
        Ok(Exit::Done)
    }

    /// One product; returns its seconds.
    fn once<T: Real>(
        &self,
        exec: Exec<'_>,
        matrix: &dyn Apply<T>,
        factors: Option<&Factors<T>>,
        x: &Block<T>,
        y: &mut Block<T>,
    ) -> Result<f64, Failure> {
        let (level, scale) = (isa::level(), factors.map(Factors::scale));
        let start = Instant::now();
        if self.transpose {
            matrix.apply_transposed(level, exec, scale, x, y, Affine::SET)?;
        } else {
            matrix.apply(level, exec, scale, x, y, Affine::SET)?;
        }
        Ok(start.elapsed().as_secs_f64())
    }

    /// Refuses operands that this machine has no memory for: X, Y, the scaling's degrees and factors, and what a product
    /// with the transpose takes beside Y (k + 2 numbers a row, 8 lanes where k = 1).
    fn fits<T>(&self, (inner, outer): (usize, usize), k: usize) -> Result<(), Failure> {
        let (inner, outer, k, number) = (inner as u128, outer as u128, k as u128, size_of::<T>() as u128);
        let scaling = if matches!(self.scale, Scaling::None) { 0 } else { (inner + outer) * (8 + 2 * number) };
        let transposing = if self.transpose { outer * (k.max(8) + 2) * number } else { 0 };
        let bytes = (inner + outer) * k * number + scaling + transposing;
        match resources::available_bytes() {
            Some(limit) if bytes > u128::from(limit) => {
                let message = format!("X and Y of {k} columns would take {bytes} bytes; this machine has {limit}");
                Err(Failure::usage(message).hint("multiply fewer columns at a time (--k)"))
            }
            _ => Ok(()),
        }
    }
}

/// The triple (s, l, r) of a scaled matrix.
struct Factors<T> {
    own: Vec<T>,
    left: Vec<T>,
    right: Vec<T>,
}

impl<T: Real> Factors<T> {
    fn new(scaling: Scaling, matrix: &AnyMatrix) -> Result<Option<Factors<T>>, Failure> {
        let (rows, cols) = matrix.shape();
        let inverse = |degree: u64| T::from_f64(if degree == 0 { 0.0 } else { 1.0 / degree as f64 });
        let (own, left, right) = match scaling {
            Scaling::None => return Ok(None),
            Scaling::Row => (Vec::new(), of(&row_degrees(matrix), inverse), vec![T::ONE; cols]),
            Scaling::Col => (Vec::new(), vec![T::ONE; rows], of(&column_degrees(matrix), inverse)),
            Scaling::Gcn if rows != cols => {
                return Err(Failure::usage(format!("--scale gcn: the matrix is {rows} x {cols}, it must be square")));
            }
            Scaling::Gcn => {
                let degrees = row_degrees(matrix);
                let root = of(&degrees, |d| T::from_f64(1.0 / (d as f64 + 1.0).sqrt()));
                (of(&degrees, |d| T::from_f64(1.0 / (d as f64 + 1.0))), root.clone(), root)
            }
        };
        Ok(Some(Factors { own, left, right }))
    }

    fn scale(&self) -> Scale<'_, T> {
        Scale { own: &self.own, left: &self.left, right: &self.right }
    }
}

fn of<T>(degrees: &[u64], f: impl Fn(u64) -> T) -> Vec<T> {
    degrees.iter().map(|&degree| f(degree)).collect()
}

fn row_degrees(matrix: &AnyMatrix) -> Vec<u64> {
    with_matrix!(matrix, m => (0..m.rows()).map(|row| m.row_range(row).len() as u64).collect())
}

fn column_degrees(matrix: &AnyMatrix) -> Vec<u64> {
    let mut degrees = vec![0; matrix.shape().1];
    with_matrix!(matrix, m => m.columns().iter().for_each(|c| degrees[c.to_usize()] += 1));
    degrees
}

/// Bytes that must move at least: the matrix, every row of X once, Y once.
fn model_bytes<T>(matrix: &dyn Matrix, k: usize) -> u64 {
    let (rows, cols) = matrix.shape();
    let dense = (rows as u64).saturating_add(cols as u64).saturating_mul((k * size_of::<T>()) as u64);
    matrix.bytes().total().saturating_add(dense)
}

impl Measured {
    /// `times` ascend and are not empty.
    fn new(times: &[f64], flops: f64) -> Measured {
        let wall_s = times.first().copied().unwrap_or(0.0);
        let median_s = (times[(times.len() - 1) / 2] + times[times.len() / 2]) / 2.0;
        let gflops = if wall_s > 0.0 { flops / wall_s / 1e9 } else { 0.0 };
        Measured { wall_s, median_s, peak_rss_bytes: resources::peak_rss_bytes(), gflops, roof_fraction: None }
    }
}

fn print(r: &Report, (rows, inner): (usize, usize), out: &mut dyn Write) -> std::io::Result<()> {
    let transposed = if r.transpose { ", transposed" } else { "" };
    writeln!(out, "{} x {inner} times {inner} x {}, {} {}{transposed}", rows, r.k, r.format, r.dtype)?;
    writeln!(out, "sum        {}", r.sum)?;
    writeln!(out, "squares    {}", r.sum_of_squares)?;
    writeln!(out, "digest     {}", r.digest)?;
    let m = &r.measured;
    let (best, median) =
        (units::print_seconds(units::rounded(m.wall_s)), units::print_seconds(units::rounded(m.median_s)));
    writeln!(out, "time       {best} best, {median} median, {} threads, {}", r.threads, r.isa)?;
    writeln!(out, "rate       {:.3} GFlop/s; at least {} bytes must move", m.gflops, r.model_bytes)
}
