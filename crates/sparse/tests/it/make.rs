//! Matrices, operands and executors that the tests share.

use sapwood_skeleton::isa::{Level, detected};
use sapwood_skeleton::random::{Purpose, Stream, uniform_f64};
use sapwood_skeleton::{ChunkPlan, Exec, Runtime};
use sapwood_sparse::{Block, Csr, Real, Scale};
use std::sync::LazyLock;

/// The widest matrix type, which every other one is made from.
pub(crate) type Wide = Csr<f64, u64, u64>;

/// An executor of `threads` ≤ 8 workers.
pub(crate) fn exec(threads: usize) -> Exec<'static> {
    static RUNTIMES: LazyLock<Vec<Runtime>> = LazyLock::new(|| (1..=8).map(started).collect());
    RUNTIMES[threads - 1].exec()
}

/// A runtime whose workers have all begun: one that begins late allocates in the middle of what a test counts.
fn started(threads: usize) -> Runtime {
    let runtime = Runtime::threads(threads).unwrap();
    runtime.exec().for_chunks(&ChunkPlan::of(threads, 1), |_, _, _| Ok(())).unwrap();
    runtime
}

/// The instruction-set levels that this processor has.
pub(crate) fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|&l| l <= detected())
}

/// Numbers in (−1, 1), the same for the same seed.
pub(crate) struct Numbers {
    stream: Stream,
    unit: u64,
}

impl Numbers {
    pub(crate) fn new(seed: u64) -> Numbers {
        Numbers { stream: Stream::new(seed, Purpose::Test), unit: 0 }
    }

    pub(crate) fn next(&mut self) -> f64 {
        self.unit += 1;
        let [a, b, ..] = self.stream.at(0, 0, self.unit).unwrap();
        2.0 * uniform_f64(a, b) - 1.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * n as f64) as usize
    }
}

/// What a random matrix looks like.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shape {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// Entries per row on average.
    pub(crate) degree: usize,
    /// One row with an entry in every column.
    pub(crate) full_row: bool,
    /// One column with an entry in every row.
    pub(crate) full_column: bool,
    /// Some entries stand twice.
    pub(crate) duplicates: bool,
}

impl Shape {
    /// rows × cols with three entries per row.
    pub(crate) fn of(rows: usize, cols: usize) -> Shape {
        Shape { rows, cols, degree: 3, ..Shape::default() }
    }
}

/// A matrix of that shape with values in (−1, 1). Every fifth row and every seventh column stay empty but for a full one.
pub(crate) fn matrix(seed: u64, shape: Shape) -> Wide {
    let mut numbers = Numbers::new(seed);
    let (m, n) = (shape.rows, shape.cols);
    let (full_row, full_column) = (m / 2, n / 3);
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for i in 0..m {
        let mut row: Vec<u64> = Vec::new();
        if n > 0 && i % 5 != 4 {
            let len = numbers.below(2 * shape.degree + 1);
            row.extend((0..len).map(|_| numbers.below(n) as u64).filter(|j| j % 7 != 6));
        }
        if n > 0 && shape.full_row && i == full_row {
            row.extend(0..n as u64);
        }
        if n > 0 && shape.full_column {
            row.push(full_column as u64);
        }
        row.sort_unstable();
        if !shape.duplicates {
            row.dedup();
        }
        values.extend(row.iter().map(|_| numbers.next()));
        columns.extend(row);
        offsets.push(columns.len() as u64);
    }
    Csr::try_new(m, n, offsets, columns, values).unwrap()
}

/// A dense block of numbers in (−1, 1).
pub(crate) fn block<T: Real>(seed: u64, rows: usize, cols: usize) -> Block<T> {
    let mut numbers = Numbers::new(seed ^ 0x5eed);
    Block::from_fn(rows, cols, |_, _| T::from_f64(numbers.next())).unwrap()
}

/// The ramp of the command line: ((31·i + 17·q) mod 101) − 50.
pub(crate) fn ramp<T: Real>(rows: usize, cols: usize) -> Block<T> {
    Block::from_fn(rows, cols, |i, q| T::from_f64(((31 * i + 17 * q) % 101) as f64 - 50.0)).unwrap()
}

/// Owned factors of a scaled matrix.
pub(crate) struct Factors<T> {
    pub(crate) own: Vec<T>,
    pub(crate) left: Vec<T>,
    pub(crate) right: Vec<T>,
}

impl<T: Real> Factors<T> {
    /// Random factors; rows keep something of themselves if the matrix is square.
    pub(crate) fn random(seed: u64, rows: usize, cols: usize) -> Factors<T> {
        let mut numbers = Numbers::new(seed ^ 0xfac7);
        let mut vector = |n: usize| (0..n).map(|_| T::from_f64(numbers.next())).collect();
        let own = if rows == cols { rows } else { 0 };
        Factors { own: vector(own), left: vector(rows), right: vector(cols) }
    }

    pub(crate) fn scale(&self) -> Scale<'_, T> {
        Scale { own: &self.own, left: &self.left, right: &self.right }
    }
}

/// The bits of a block, comparable and printable.
pub(crate) fn bits<T: Real>(block: &Block<T>) -> Vec<u64> {
    block.as_slice().iter().map(|x| x.to_f64().to_bits()).collect()
}

/// Fails with the first difference, not with two whole blocks.
#[track_caller]
pub(crate) fn assert_same_bits<T: Real>(found: &Block<T>, expected: &Block<T>, what: &str) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let differs = bits(found).iter().zip(bits(expected)).position(|(a, b)| *a != b);
    if let Some(at) = differs {
        let (row, column) = (at / found.cols(), at % found.cols());
        panic!("{what}: ({row}, {column}) is {}, not {}", found.as_slice()[at], expected.as_slice()[at]);
    }
}

/// Runs the ignored test `name` alone in a new process, for what is counted per process.
pub(crate) fn in_own_process(name: &str) {
    let program = std::env::current_exe().unwrap();
    let ran = std::process::Command::new(program).args(["--exact", name, "--ignored"]).output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && text.contains("1 passed"), "{text}");
}
