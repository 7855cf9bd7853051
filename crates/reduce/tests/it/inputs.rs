//! What the tests share: fills, runtimes of several sizes, running a program.

use sapwood_reduce::exec::cpu::Executable;
use sapwood_reduce::{Dtype, Options, Program, Tensor, TensorView, compile};
use sapwood_skeleton::Runtime;
use std::sync::LazyLock;

/// Runtimes of one, two and seven workers.
pub(crate) static RUNTIMES: LazyLock<Vec<Runtime>> =
    LazyLock::new(|| [1, 2, 7].map(|n| Runtime::threads(n).unwrap()).into_iter().collect());

/// The `hash` fill as single-precision numbers in [−0.5, 0.5).
pub(crate) fn hash_f32(n: usize) -> Vec<f32> {
    let h = |i: usize| (i as u64).wrapping_mul(2_654_435_761) as u32;
    (0..n).map(|i| (h(i) >> 8) as f32 / 16_777_216.0 - 0.5).collect()
}

/// Runs a program with tensors as inputs on every runtime; all results have the same bits.
pub(crate) fn run(p: &Program, inputs: &[Tensor]) -> Vec<Tensor> {
    let views: Vec<TensorView<'_>> = inputs.iter().map(Tensor::view).collect();
    run_views(p, &views)
}

/// As [`run`], with views.
pub(crate) fn run_views(p: &Program, inputs: &[TensorView<'_>]) -> Vec<Tensor> {
    let mut executable = Executable::new(&compile(p, &Options::default()).unwrap()).unwrap();
    let mut results: Option<Vec<Tensor>> = None;
    for runtime in RUNTIMES.iter() {
        let now = executable.run(runtime.exec(), inputs).unwrap();
        if let Some(before) = &results {
            for (a, b) in before.iter().zip(&now) {
                assert_eq!(a.bytes(), b.bytes(), "{} workers", runtime.exec().threads());
            }
        }
        results = Some(now);
    }
    results.unwrap()
}

/// A tensor of single-precision numbers.
pub(crate) fn f32s(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_slice(Dtype::F32, shape, values).unwrap()
}
