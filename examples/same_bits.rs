//! Ten million numbers summed on 1, 2, 3 and 8 threads, in two ways.
//!
//! The usual way gives each thread an equal share and adds the shares: the last digits change with the number of threads.
//! The fixed tree cuts by the data alone: one answer, to the last bit.
//!
//! `cargo run --release --example same_bits`

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use sapwood::skeleton::monoid::Sum;
use sapwood::skeleton::random::{Purpose, Stream, uniform_f64};
use sapwood::skeleton::{ChunkPlan, Exec, Result, Runtime, rows};

const N: usize = 10_000_000;

fn main() -> Result<()> {
    let runtime = Runtime::threads(8)?;
    let numbers = numbers(runtime.exec())?;
    println!("threads  equal shares              fixed tree");
    for threads in [1, 2, 3, 8] {
        let exec = runtime.exec().limit(threads);
        println!("{threads:<8} {:<25} {}", equal_shares(exec, &numbers)?, fixed_tree(exec, &numbers)?);
    }
    Ok(())
}

/// Random numbers of [−1, 1): number i is unit i of one stream, whichever thread makes it.
fn numbers(exec: Exec<'_>) -> Result<Vec<f64>> {
    let stream = Stream::new(2026, Purpose::Features);
    let mut numbers = vec![0.0; N];
    exec.for_chunks_mut(&ChunkPlan::even(N), rows(&mut numbers, 1), |_, items, part| {
        for (x, i) in part.iter_mut().zip(items) {
            let words = stream.at(0, 0, i as u64)?;
            *x = 2.0 * uniform_f64(words[0], words[1]) - 1.0;
        }
        Ok(())
    })?;
    Ok(numbers)
}

/// One share a thread, shares added from left to right.
fn equal_shares(exec: Exec<'_>, numbers: &[f64]) -> Result<f64> {
    let plan = ChunkPlan::of(numbers.len(), numbers.len().div_ceil(exec.threads()));
    let shares = exec.map_chunks(&plan, |_, _, items| Ok(numbers[items].iter().sum::<f64>()))?;
    Ok(shares.iter().sum())
}

fn fixed_tree(exec: Exec<'_>, numbers: &[f64]) -> Result<f64> {
    exec.reduce(numbers.len(), &Sum::<f64>::new(), |i| numbers[i])
}
