//! The ONNX backend node tests of reductions, norms, losses: reference and CPU executor against the recorded outputs.

use crate::inputs::RUNTIMES;
use sapwood_reduce::exec::cpu::Executable;
use sapwood_reduce::onnx::{Bindings, inputs_to_know, read_tensor};
use sapwood_reduce::{Dtype, Options, Program, Tensor, TensorView, compile};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// How the names of the folders begin.
const FAMILIES: [&str; 19] = [
    "reduce_",
    "argmax_",
    "argmin_",
    "softmax_",
    "logsoftmax_",
    "hardmax_",
    "layer_normalization_",
    "rms_normalization_",
    "batchnorm_",
    "group_normalization_",
    "instancenorm_",
    "mvn",
    "l1normalization_",
    "l2normalization_",
    "lpnormalization_",
    "global",
    "sce_",
    "nllloss_",
    "top_k",
];

/// The folder of the tests, or `None` after a line that says that they were skipped.
fn data() -> Option<PathBuf> {
    let fetched = || sapwood_testkit::workspace_root().join("target/onnx-nodes");
    let folder = std::env::var_os("SAPWOOD_ONNX_NODES").map_or_else(fetched, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    sapwood_testkit::data::skipped("the ONNX node tests are not in $SAPWOOD_ONNX_NODES or target/onnx-nodes");
    None
}

/// The folders of the families, in order.
fn folders(data: &Path) -> Vec<(String, PathBuf)> {
    let mut all: Vec<(String, PathBuf)> = std::fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.path()))
        .filter(|(name, _)| {
            let rest = name.strip_prefix("test_").unwrap_or_default();
            let is_pool = ["globalaveragepool", "globalmaxpool"].iter().any(|pool| rest.starts_with(pool));
            FAMILIES.iter().any(|family| rest.starts_with(family)) && (is_pool || !rest.starts_with("global"))
        })
        .collect();
    all.sort();
    all
}

/// The tensors of a folder's files `kind`_0.pb, `kind`_1.pb, …
fn tensors(folder: &Path, kind: &str) -> Vec<(String, Tensor)> {
    let files = (0..).map(|i| folder.join(format!("test_data_set_0/{kind}_{i}.pb")));
    files.map_while(|file| std::fs::read(file).ok()).map(|bytes| read_tensor(&bytes).unwrap()).collect()
}

fn number(t: &Tensor, i: usize) -> f64 {
    match t.dtype() {
        Dtype::F32 => f64::from(t.as_slice::<f32>()[i]),
        Dtype::F64 => t.as_slice::<f64>()[i],
        other => panic!("{other}"),
    }
}

/// Relative 1e-3, absolute 1e-7, NaN is NaN; whole numbers and truth values are equal.
fn same(got: &Tensor, want: &Tensor) -> Result<(), String> {
    if got.dtype() != want.dtype() || got.shape() != want.shape() {
        return Err(format!("{got:?} instead of {want:?}"));
    }
    if !want.dtype().is_float() {
        return if got.bytes() == want.bytes() { Ok(()) } else { Err("other whole numbers".into()) };
    }
    for i in 0..want.len() {
        let (g, w) = (number(got, i), number(want, i));
        let near = g == w || g.is_nan() && w.is_nan() || (g - w).abs() <= 1e-7 + 1e-3 * w.abs();
        if !near {
            return Err(format!("element {i} is {g}, not {w}"));
        }
    }
    Ok(())
}

fn compare(p: &Program, got: &[Tensor], want: &[(String, Tensor)]) -> Result<(), String> {
    for (name, want) in want {
        let at = p.outputs().iter().position(|(n, _)| n == name).ok_or(format!("no output {name}"))?;
        same(&got[at], want).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// Imports a folder's model and runs it both ways.
fn check(folder: &Path) -> Result<(), String> {
    let model = std::fs::read(folder.join("model.onnx")).unwrap();
    let mut inputs = tensors(folder, "input");
    let known = inputs_to_know(&model, &[]).map_err(|e| e.to_string())?;
    let mut bind = Bindings::default();
    bind.values.extend(inputs.iter().filter(|(name, _)| known.contains(name)).cloned());
    let imported = Program::from_onnx(&model, &bind).map_err(|e| format!("import: {e:?}"))?;
    assert!(imported.unsupported.is_empty(), "{:?}", imported.unsupported);
    let p = imported.program;
    inputs.retain(|(name, _)| p.inputs().iter().any(|&v| p.input_name(v) == name));
    let views: Vec<TensorView<'_>> = inputs.iter().map(|(_, t)| t.view()).collect();
    let want = tensors(folder, "output");
    assert!(!want.is_empty());
    let reference = p.reference(&views).map_err(|e| format!("reference: {e}"))?;
    compare(&p, &reference, &want).map_err(|e| format!("reference: {e}"))?;
    let run = || -> sapwood_reduce::Result<Vec<Tensor>> {
        Executable::new(&compile(&p, &Options::default())?)?.run(RUNTIMES[1].exec(), &views)
    };
    compare(&p, &run().map_err(|e| format!("executor: {e}"))?, &want).map_err(|e| format!("executor: {e}"))
}

#[test]
fn node_tests_pass() {
    let Some(data) = data() else { return };
    let all = folders(&data);
    let expanded = all.iter().filter(|(name, _)| name.contains("expanded")).count();
    assert_eq!((all.len() - expanded, expanded), (259, 182));
    let failed: Vec<String> = all
        .iter()
        .filter_map(|(name, folder)| {
            let done = catch_unwind(AssertUnwindSafe(|| check(folder))).unwrap_or_else(|_| Err("a panic".into()));
            done.err().map(|why| format!("{name}: {why}"))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), all.len(), failed.join("\n"));
}
