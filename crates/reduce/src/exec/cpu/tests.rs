//! Random programs: the executor, fused and not, on any number of workers, against the slow twin.

use super::Executable;
use crate::dtype::Dtype;
use crate::fill;
use crate::plan::{Options, compile};
use crate::program::random::{Dice, program};
use crate::program::{Op, Program};
use crate::tensor::{Tensor, TensorView, extent};
use proptest::prelude::*;
use sapwood_skeleton::Runtime;
use std::sync::LazyLock;

static RUNTIMES: LazyLock<Vec<Runtime>> =
    LazyLock::new(|| [1, 2, 3, 7].map(|n| Runtime::threads(n).unwrap()).into_iter().collect());

/// Memory for each input as it is declared.
fn memory(p: &Program) -> Vec<Tensor> {
    let each = p.inputs().iter().map(|&v| match &p.maker(v).op {
        Op::Input { strides, .. } => fill::hash(p.dtype(v), &[extent(p.shape(v), strides).unwrap()]).unwrap(),
        _ => unreachable!(),
    });
    each.collect()
}

fn views<'a>(p: &Program, memory: &'a [Tensor]) -> Vec<TensorView<'a>> {
    let each = p.inputs().iter().zip(memory).map(|(&v, m)| match &p.maker(v).op {
        Op::Input { strides, .. } => TensorView::new(p.dtype(v), p.shape(v), strides, m.bytes()).unwrap(),
        _ => unreachable!(),
    });
    each.collect()
}

/// Outputs on every runtime, fused and not; all have the same bits.
fn run(p: &Program, inputs: &[TensorView<'_>]) -> Vec<Tensor> {
    let mut first: Option<Vec<Tensor>> = None;
    for fuse in [true, false] {
        let mut executable = Executable::new(&compile(p, &Options { fuse, ..Options::default() }).unwrap()).unwrap();
        for runtime in RUNTIMES.iter() {
            let now = executable.run(runtime.exec(), inputs).unwrap();
            let want = first.get_or_insert_with(|| now.clone());
            for (i, (a, b)) in want.iter().zip(&now).enumerate() {
                assert!(
                    same(a, b),
                    "output {i}, fused: {fuse}, {} workers: {:?} and {:?}\n{p}",
                    runtime.exec().threads(),
                    show(a),
                    show(b)
                );
            }
        }
    }
    first.unwrap()
}

fn show(t: &Tensor) -> Vec<f64> {
    (0..t.len().min(40)).map(|i| crate::tensor::element(t.dtype(), t.bytes(), i).0).collect()
}

/// Equal bits; one NaN is as good as another.
fn same(a: &Tensor, b: &Tensor) -> bool {
    let nan = |t: &Tensor, i: usize| t.dtype().is_float() && crate::tensor::element(t.dtype(), t.bytes(), i).0.is_nan();
    let size = a.dtype().bytes();
    let bits = |t: &Tensor, i: usize| t.bytes()[i * size..(i + 1) * size].to_vec();
    a.bytes() == b.bytes() || (0..a.len()).all(|i| bits(a, i) == bits(b, i) || nan(a, i) && nan(b, i))
}

proptest! {
    #[test]
    fn random_programs_are_right(bytes in prop::collection::vec(any::<u8>(), 60..200), all in any::<bool>()) {
        let types: &[Dtype] = if all { &Dtype::ALL } else { &[Dtype::F32, Dtype::F64] };
        let p = program(&mut Dice::new(&bytes), 12, types);
        let memory = memory(&p);
        let inputs = views(&p, &memory);
        let outputs = run(&p, &inputs);
        for (check, (name, _)) in p.compare(&inputs, &outputs).unwrap().iter().zip(p.outputs()) {
            prop_assert!(check.ok, "output {}: {:?}\n{}", name, check, p);
        }
    }
}
