//! The dense operand of a product, and what is printed of its result.

use crate::cli::Failure;
use sapwood_files::digest;
use sapwood_files::npy::{self, Array, Data};
use sapwood_skeleton::Exec;
use sapwood_skeleton::monoid::Sum;
use sapwood_sparse::{Block, Real};
use std::path::{Path, PathBuf};

/// Where X comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    /// X\[i\]\[q\] = ((31·i + 17·q) mod 101) − 50: sums of it stay exact in f32.
    Ramp,
    /// All ones.
    Ones,
    /// An array of one or two axes.
    File(PathBuf),
}

/// `ramp`, `ones` or the name of an .npy file.
pub(super) fn operand(word: &str) -> Result<Operand, String> {
    match word {
        "ramp" => Ok(Operand::Ramp),
        "ones" => Ok(Operand::Ones),
        file if file.to_ascii_lowercase().ends_with(".npy") => Ok(Operand::File(file.into())),
        _ => Err("not `ramp`, `ones` or an .npy file".to_owned()),
    }
}

/// X of `rows` rows and, unless a file says otherwise, `k` columns (1 if nothing is said).
pub(super) fn make<T: Real>(operand: &Operand, rows: usize, k: Option<usize>) -> Result<Block<T>, Failure> {
    let columns = k.unwrap_or(1);
    match operand {
        Operand::Ramp => Ok(Block::from_fn(rows, columns, |i, q| T::from_f64(ramp(i, q)))?),
        Operand::Ones => Ok(Block::from_fn(rows, columns, |_, _| T::ONE)?),
        Operand::File(path) => from_file(path, rows, k),
    }
}

fn ramp(i: usize, q: usize) -> f64 {
    ((31 * (i % 101) + 17 * (q % 101)) % 101) as f64 - 50.0
}

fn from_file<T: Real>(path: &Path, rows: usize, k: Option<usize>) -> Result<Block<T>, Failure> {
    let Array { shape, data } = npy::read(path)?;
    let columns = match shape[..] {
        [found] if found == rows => 1,
        [found, columns] if found == rows => columns,
        _ => {
            let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            let found = format!("{}: the array is {shape}, X must have {rows} rows", path.display());
            return Err(
                Failure::usage(found).hint("X has a row for each column of the matrix, for each row with --transpose")
            );
        }
    };
    if k.is_some_and(|k| k != columns) {
        return Err(Failure::usage(format!("--k disagrees with {}, which has {columns} columns", path.display())));
    }
    let block = match data {
        Data::F64(items) => taken(rows, columns, &items, |x| x),
        Data::F32(items) => taken(rows, columns, &items, f64::from),
        Data::I64(items) => taken(rows, columns, &items, |x| x as f64),
        Data::U64(items) => taken(rows, columns, &items, |x| x as f64),
        Data::I32(items) => taken(rows, columns, &items, f64::from),
        Data::U32(items) => taken(rows, columns, &items, f64::from),
        Data::Bool(items) => taken(rows, columns, &items, |x| f64::from(u8::from(x))),
    };
    Ok(block?)
}

fn taken<S: Copy, T: Real>(
    rows: usize,
    columns: usize,
    items: &[S],
    number: impl Fn(S) -> f64,
) -> sapwood_sparse::Result<Block<T>> {
    Block::from_fn(rows, columns, |i, q| T::from_f64(number(items[i * columns + q])))
}

/// How a result is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digest {
    /// Its own bytes.
    Bits,
    /// Its numbers, which must be whole, as 64-bit integers.
    Integer,
}

/// The first 16 hex digits of SHA-256 over the little-endian bytes of `y`, row by row.
pub(super) fn digest<T: Real>(how: Digest, y: &Block<T>) -> Result<String, Failure> {
    match how {
        Digest::Bits => Ok(digest::short_of(y.as_slice())),
        Digest::Integer => Ok(digest::short_of(&integers(y)?)),
    }
}

fn integers<T: Real>(y: &Block<T>) -> Result<Vec<i64>, Failure> {
    let whole = |v: f64| (v.fract() == 0.0 && v.abs() < 2f64.powi(63)).then_some(v as i64);
    let numbers = y.as_slice().iter().enumerate().map(|(at, v)| {
        whole(v.to_f64()).ok_or_else(|| {
            let (row, column) = (at / y.cols().max(1), at % y.cols().max(1));
            let message = format!("--digest integer: Y[{row}, {column}] = {v} is not a whole number below 2^63");
            Failure::usage(message).hint("--digest bits takes any number")
        })
    });
    numbers.collect()
}

/// Sum and sum of squares of `y`, in f64, in the fixed order of all reductions.
pub(super) fn sums<T: Real>(exec: Exec<'_>, y: &Block<T>) -> Result<(f64, f64), Failure> {
    let items = y.as_slice();
    let square = |i: usize| items[i].to_f64() * items[i].to_f64();
    Ok((
        exec.reduce(items.len(), &Sum::<T>::new(), |i| items[i])?,
        exec.reduce(items.len(), &Sum::<f64>::new(), square)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_and_ones() {
        let x = make::<f32>(&Operand::Ramp, 3, Some(2)).unwrap();
        assert_eq!(x.as_slice(), [-50.0, -33.0, -19.0, -2.0, 12.0, 29.0]);
        assert_eq!(make::<f64>(&Operand::Ones, 2, None).unwrap().as_slice(), [1.0, 1.0]);
        assert_eq!(make::<f64>(&Operand::Ramp, 2, Some(0)).unwrap().shape(), (2, 0));
        assert!(operand("twos").is_err());
    }

    #[test]
    fn whole_numbers_only() {
        let y = Block::from_slice(2, 2, &[1.0, -2.0, 0.0, 0.5]).unwrap();
        let Err(Failure::Error { error, .. }) = digest::<f64>(Digest::Integer, &y) else { panic!("accepted") };
        assert_eq!(error.to_string(), "--digest integer: Y[1, 1] = 0.5 is not a whole number below 2^63");
        assert!(digest::<f64>(Digest::Bits, &y).is_ok());
        let whole = Block::from_slice(1, 2, &[1.0f32, -2.0]).unwrap();
        assert_eq!(digest(Digest::Integer, &whole).unwrap(), digest::short_of(&[1i64, -2]));
    }
}
