//! Every kernel over every format, number type, instruction set and executor against its slow twin, bit by bit.
//!
//! [`suite`] takes the list of formats as an argument, so a format gets all kernels by being in the list: those of the
//! registry below, and one that only this test knows.

use crate::make::{Factors, Shape, Wide, assert_same_bits, block, exec, levels, matrix};
use half::{bf16, f16};
use sapwood_skeleton::isa::Level;
use sapwood_skeleton::{Arena, Exec};
use sapwood_sparse::formats::{self, convert};
use sapwood_sparse::kernels::{self, reference};
use sapwood_sparse::order::PIECE;
use sapwood_sparse::planned::Apply;
use sapwood_sparse::structure::{Bytes, Segment};
use sapwood_sparse::{
    Affine, Block, Csr, Index, Multiply, One, Planned, Real, Result, Scalar, Scale, Structure, WorkRange,
};

type Build = dyn Fn(&Wide) -> Result<Box<dyn Multiply>>;

/// A format with its number types: how it is made, and what it does to values.
struct Case {
    name: String,
    round: fn(f64) -> f64,
    build: Box<Build>,
}

/// The value that is left of a number stored as `V`.
fn round<V: Scalar>(x: f64) -> f64 {
    V::narrow(V::Acc::from_f64(x)).widen().to_f64()
}

/// What all kernels of one direction need.
struct Call<'a, T> {
    level: Level,
    exec: Exec<'a>,
    scale: Option<Scale<'a, T>>,
    x: &'a Block<T>,
    how: Affine<T>,
}

type Fast<T> = fn(&dyn Apply<T>, &Call<'_, T>, &mut Block<T>) -> Result<()>;
type Twin<T> = fn(&Wide, &Call<'_, T>, &Block<T>) -> Result<Block<T>>;

/// A kernel, its slow twin, and whether it works on the transpose.
struct Kernel<T> {
    name: &'static str,
    transposed: bool,
    fast: Fast<T>,
    twin: Twin<T>,
}

fn kernels<T: Real>() -> [Kernel<T>; 2] {
    [
        Kernel {
            name: "spmm",
            transposed: false,
            fast: |a, c, y| a.apply(c.level, c.exec, c.scale, c.x, y, c.how),
            twin: |a, c, y| reference::spmm(a, c.scale, c.x, y, c.how),
        },
        Kernel {
            name: "spmm_t",
            transposed: true,
            fast: |a, c, y| a.apply_transposed(c.level, c.exec, c.scale, c.x, y, c.how),
            twin: |a, c, y| reference::spmm_transposed(a, c.scale, c.x, y, c.how),
        },
    ]
}

/// Every kernel on every case.
fn suite(cases: &[Case]) {
    for case in cases {
        for (i, shape) in shapes().into_iter().enumerate() {
            let wide = matrix(i as u64, shape);
            let rounded = wide.map_values(|&v| (case.round)(v));
            let built = (case.build)(&wide).unwrap();
            assert_eq!((built.shape(), built.entries()), (wide.shape(), wide.entries()), "{}", case.name);
            compare::<f32>(case, &*built, &rounded, i);
            compare::<f64>(case, &*built, &rounded, i);
        }
    }
}

fn compare<T: Real>(case: &Case, built: &dyn Apply<T>, rounded: &Wide, turn: usize) {
    let (m, n) = rounded.shape();
    let factors = Factors::<T>::random(7, m, n);
    let half = T::from_f64(0.5);
    let hows =
        [Affine::SET, Affine { alpha: half, beta: -T::ONE }, Affine::ADD, Affine { alpha: -half, beta: T::ZERO }];
    let large = rounded.entries() > 5000;
    let widths: &[usize] = if large { &[1, 7, 64] } else { &[0, 1, 2, 7, 8, 16, 17, 33, 64, 131] };
    for kernel in kernels::<T>() {
        let (rows, cols) = if kernel.transposed { (n, m) } else { (m, n) };
        for (j, &k) in widths.iter().enumerate() {
            let (x, y) = (block::<T>(1, cols, k), block::<T>(2, rows, k));
            for scale in [None, Some(factors.scale())] {
                let how = hows[(turn + j + usize::from(scale.is_some())) % hows.len()];
                let call = Call { level: Level::Portable, exec: exec(1), scale, x: &x, how };
                let expected = (kernel.twin)(rounded, &call, &y).unwrap();
                for level in levels() {
                    for threads in [1, 2, 3, 7] {
                        let mut out = y.clone();
                        let call = Call { level, exec: exec(threads), ..call };
                        (kernel.fast)(built, &call, &mut out).unwrap();
                        let what = format!(
                            "{} {} {} {m} x {n}, k = {k}, {level:?}, {threads} threads, scaled {}, {how:?}",
                            case.name,
                            kernel.name,
                            T::NAME,
                            scale.is_some()
                        );
                        assert_same_bits(&out, &expected, &what);
                    }
                }
            }
        }
    }
}

/// Awkward sizes around the largest thread count, and shapes that make heavy rows and columns.
fn shapes() -> Vec<Shape> {
    let square = |n| Shape::of(n, n);
    vec![
        square(0),
        Shape::of(0, 5),
        Shape::of(5, 0),
        square(1),
        square(6),
        square(7),
        square(8),
        square(97),
        Shape { duplicates: true, ..Shape::of(31, 12) },
        Shape { degree: 20, full_row: true, full_column: true, ..square(211) },
        Shape { full_row: true, duplicates: true, ..Shape::of(13, 2 * PIECE + 1000) },
        Shape { full_column: true, full_row: true, ..Shape::of(PIECE + 500, 11) },
    ]
}

fn registered() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in formats::ALL {
        for (value, round) in [
            (<f64 as Scalar>::NAME, round::<f64> as fn(f64) -> f64),
            (<f32 as Scalar>::NAME, round::<f32>),
            (bf16::NAME, round::<bf16>),
            (f16::NAME, round::<f16>),
            (One::NAME, round::<One>),
        ] {
            for index in [u32::NAME, u64::NAME] {
                // A type that the format does not take is not a case.
                let empty = Csr::empty(0, 0).unwrap();
                if (entry.build)(&empty, value, index).is_some() {
                    cases.push(Case {
                        name: format!("{} {value} {index}", entry.fact.name),
                        round,
                        build: Box::new(move |a| (entry.build)(a, value, index).unwrap()),
                    });
                }
            }
        }
    }
    cases
}

#[test]
fn registered_formats_equal_the_slow_twins() {
    let cases = registered();
    assert_eq!(cases.len(), 8, "csr in five value types, three of them with two index types");
    suite(&cases);
}

#[test]
fn every_registered_kernel_has_a_twin_here() {
    let here: Vec<_> = kernels::<f32>().iter().map(|k| k.name).collect();
    let registered: Vec<_> = kernels::ALL.iter().map(|k| k.name).collect();
    assert_eq!(here, registered);
}

/// A format that is not in the registry: a list of (column, value) pairs per row.
struct Lists {
    cols: usize,
    rows: Vec<(Vec<u16>, Vec<f32>)>,
}

impl Structure for Lists {
    type Value = f32;
    type Column = u16;

    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols)
    }

    fn entries(&self) -> usize {
        self.rows.iter().map(|r| r.0.len()).sum()
    }

    fn row_len(&self, row: usize) -> usize {
        self.rows[row].0.len()
    }

    fn bytes(&self) -> Bytes {
        Bytes { indices: 2 * self.entries() as u64, values: 4 * self.entries() as u64, ..Bytes::default() }
    }

    fn segments(&self, work: WorkRange, _: &Arena, mut f: impl FnMut(Segment<'_, u16, f32>)) {
        for row in work.start.0..=work.end.0 {
            let Some((columns, values)) = self.rows.get(row) else { return };
            let from = if row == work.start.0 { work.start.1 } else { 0 };
            let to = if row == work.end.0 { work.end.1 } else { columns.len().max(1) };
            for position in (from..to).step_by(PIECE) {
                let part = position..columns.len().min(position + PIECE);
                f(Segment {
                    row,
                    position,
                    entry: self.rows[..row].iter().map(|r| r.0.len()).sum::<usize>() + position,
                    columns: &columns[part.clone()],
                    values: &values[part.clone()],
                    ahead: &[],
                    ends_row: part.end == columns.len(),
                });
            }
        }
    }
}

#[test]
fn a_toy_format_gets_every_kernel() {
    suite(&[Case {
        name: "toy".into(),
        round: round::<f32>,
        build: Box::new(|a| {
            let a: Csr<f32, u16, u32> = convert(a)?;
            let rows = (0..a.rows()).map(|i| (a.row(i).to_vec(), a.row_values(i).to_vec())).collect();
            Ok(Box::new(Planned::new(Lists { cols: a.cols(), rows })))
        }),
    }]);
}

#[test]
fn a_faulty_format_cannot_read_outside_the_operand() {
    let faulty = Planned::new(Lists { cols: 3, rows: vec![(vec![0, 2, 500], vec![1.0; 3])] });
    for level in levels() {
        for k in [1, 2, 64] {
            let x = block::<f32>(1, 3, k);
            let mut y = Block::zeros(1, k).unwrap();
            let error = faulty.apply(level, exec(1), None, &x, &mut y, Affine::SET).unwrap_err();
            assert!(error.to_string().starts_with("panic in items 0..1"), "{error}");
        }
    }
}

/// CSR with small index types, which only tests use.
fn small<V: Scalar, I: Index, P: Index>(name: &str) -> Case {
    Case {
        name: format!("csr {name}"),
        round: round::<V>,
        build: Box::new(|a| Ok(Box::new(Planned::new(convert::<V, I, P>(a)?)))),
    }
}

#[test]
fn small_index_and_offset_types_equal_the_slow_twins() {
    // The shapes have up to 9192 columns, so u8 has its own test with fewer.
    suite(&[small::<One, u16, u16>("pattern u16 u16"), small::<f64, u16, u64>("f64 u16 u64")]);
    for (i, shape) in shapes().into_iter().filter(|s| s.cols <= 256).enumerate() {
        let wide = matrix(i as u64, shape);
        let case = small::<f32, u8, u32>("f32 u8 u32");
        let rounded = wide.map_values(|&v| (case.round)(v));
        compare::<f32>(&case, &*(case.build)(&wide).unwrap(), &rounded, i);
    }
}
