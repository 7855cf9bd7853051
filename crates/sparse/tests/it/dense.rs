//! Dense products against the definition, in f64; the same bits for any number of threads; the fixed tree.

use crate::make::{assert_same_bits, block, exec};
use sapwood_skeleton::Exec;
use sapwood_sparse::dense::{ROWS, gemm, gemm_at, gemm_bt};
use sapwood_sparse::{Affine, Block, Error, Real, Result};

type Product<T> = fn(Exec<'_>, Affine<T>, &Block<T>, &Block<T>, &mut Block<T>) -> Result<()>;

/// One of the three products: its operands for C m × n with inner size p, and how to read them as A m × p and B p × n.
struct Kind<T> {
    name: &'static str,
    run: Product<T>,
    a_turned: bool,
    b_turned: bool,
}

fn kinds<T: Real>() -> [Kind<T>; 3] {
    [
        Kind { name: "gemm", run: gemm, a_turned: false, b_turned: false },
        Kind { name: "gemm_bt", run: gemm_bt, a_turned: false, b_turned: true },
        Kind { name: "gemm_at", run: gemm_at, a_turned: true, b_turned: false },
    ]
}

fn operand<T: Real>(seed: u64, rows: usize, cols: usize, turned: bool) -> Block<T> {
    if turned { block(seed, cols, rows) } else { block(seed, rows, cols) }
}

fn at<T: Real>(x: &Block<T>, i: usize, j: usize, turned: bool) -> f64 {
    if turned { x.row(j)[i].to_f64() } else { x.row(i)[j].to_f64() }
}

fn check<T: Real>(m: usize, n: usize, p: usize, how: Affine<T>, epsilon: f64) {
    for kind in kinds::<T>() {
        let a = operand::<T>(1, m, p, kind.a_turned);
        let b = operand::<T>(2, p, n, kind.b_turned);
        let old = if how.beta == T::ZERO {
            Block::from_fn(m, n, |_, _| T::from_f64(f64::NAN)).unwrap()
        } else {
            block::<T>(3, m, n)
        };
        let run = |threads| {
            let mut c = old.clone();
            (kind.run)(exec(threads), how, &a, &b, &mut c).unwrap();
            c
        };
        let c = run(1);
        let what = format!("{} {} {m} x {n} over {p}, {how:?}", kind.name, T::NAME);
        let bound = 2.0 * epsilon * (p as f64 + 4.0);
        for i in 0..m {
            for j in 0..n {
                let terms = (0..p).map(|l| at(&a, i, l, kind.a_turned) * at(&b, l, j, kind.b_turned));
                let (sum, size) = terms.fold((0.0, 0.0), |(s, z), t| (s + t, z + t.abs()));
                let kept = if how.beta == T::ZERO { 0.0 } else { how.beta.to_f64() * old.row(i)[j].to_f64() };
                let expected = how.alpha.to_f64() * sum + kept;
                let error = (c.row(i)[j].to_f64() - expected).abs();
                assert!(error <= bound * (size + kept.abs()), "{what}: ({i}, {j}) is off by {error}");
            }
        }
        for threads in [2, 3, 5, 8] {
            assert_same_bits(&run(threads), &c, &format!("{what}, {threads} threads"));
        }
    }
}

#[test]
fn products_equal_their_definition_for_any_number_of_threads() {
    let hows = [(1.0, 0.0), (1.0, 1.0), (-0.5, 0.25)];
    for (m, n, p) in [
        (0, 0, 0),
        (0, 3, 2),
        (3, 0, 2),
        (3, 2, 0),
        (1, 1, 1),
        (7, 5, 3),
        (64, 7, 2),
        (ROWS, 16, 22),
        (ROWS + 1, 22, 64),
        (3 * ROWS - 1, 33, 17),
        (64, 22, 5 * ROWS + 9),
        (22, 7, 40 * ROWS + 1),
        (7, 1, ROWS),
    ] {
        for (alpha, beta) in hows {
            check::<f64>(m, n, p, Affine { alpha, beta }, f64::EPSILON);
            check::<f32>(m, n, p, Affine { alpha: alpha as f32, beta: beta as f32 }, f64::from(f32::EPSILON));
        }
    }
}

/// The sum over the rows is the aligned tree over blocks of 256 of them.
#[test]
fn gemm_at_adds_blocks_in_the_aligned_tree() {
    fn tree(parts: &[Block<f32>]) -> Block<f32> {
        if let [one] = parts {
            return one.clone();
        }
        let half = parts.len().next_power_of_two() / 2;
        let (left, right) = (tree(&parts[..half]), tree(&parts[half..]));
        Block::from_fn(left.rows(), left.cols(), |i, j| left.row(i)[j] + right.row(i)[j]).unwrap()
    }
    for blocks in [1, 2, 3, 7, 33, 70] {
        let rows = blocks * ROWS - 5;
        let (a, b) = (block::<f32>(1, rows, 6), block::<f32>(2, rows, 9));
        let parts: Vec<_> = (0..blocks)
            .map(|p| {
                let cut = |x: &Block<f32>| {
                    let range = p * ROWS..rows.min((p + 1) * ROWS);
                    Block::from_fn(range.len(), x.cols(), |i, j| x.row(p * ROWS + i)[j]).unwrap()
                };
                let mut c = Block::zeros(6, 9).unwrap();
                gemm_at(exec(1), Affine::SET, &cut(&a), &cut(&b), &mut c).unwrap();
                c
            })
            .collect();
        for threads in [1, 2, 7] {
            let mut c = Block::zeros(6, 9).unwrap();
            gemm_at(exec(threads), Affine::SET, &a, &b, &mut c).unwrap();
            assert_same_bits(&c, &tree(&parts), &format!("{blocks} blocks, {threads} threads"));
        }
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let (a, b) = (block::<f32>(1, 4, 3), block::<f32>(2, 5, 2));
    let mut c = Block::zeros(4, 2).unwrap();
    let message = |r: Result<()>| r.unwrap_err().to_string();
    let one = exec(1);
    assert_eq!(message(gemm(one, Affine::SET, &a, &b, &mut c)), "the rows of B (the columns of A) must be 3, found 5");
    assert_eq!(message(gemm_bt(one, Affine::SET, &a, &b, &mut c)), "the columns of B (those of A) must be 3, found 2");
    assert_eq!(message(gemm_at(one, Affine::SET, &a, &b, &mut c)), "the rows of B (those of A) must be 4, found 5");
    let narrow = gemm(one, Affine::SET, &a, &block(2, 3, 1), &mut c);
    assert!(matches!(narrow, Err(Error::Shape { expected: 1, found: 2, .. })));
}
