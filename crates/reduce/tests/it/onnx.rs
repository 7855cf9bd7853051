//! The ONNX backend node tests of reductions, norms, losses: reference and CPU executor against the recorded outputs.

use crate::inputs::RUNTIMES;
use sapwood_reduce::exec::cpu::Executable;
use sapwood_reduce::onnx::{Bindings, Imported, inputs_to_know, read_tensor};
use sapwood_reduce::{Dtype, Options, Program, Tensor, TensorView, compile};
use std::path::{Path, PathBuf};

/// How the names of the folders begin.
const FAMILIES: [&str; 20] = [
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
    "globalaveragepool",
    "globalmaxpool",
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
            FAMILIES.iter().any(|family| rest.starts_with(family))
        })
        .collect();
    all.sort();
    all
}

/// Why a folder does not pass.
enum Fault {
    /// Not everything in it is supported.
    Refused(String),
    /// A result is not the recorded one.
    Different(String),
}

/// The tensors of a folder's files `kind`_0.pb, `kind`_1.pb, …
fn tensors(folder: &Path, kind: &str) -> Result<Vec<(String, Tensor)>, Fault> {
    let files = (0..).map(|i| folder.join(format!("test_data_set_0/{kind}_{i}.pb")));
    let files = files.map_while(|file| std::fs::read(file).ok());
    files.map(|bytes| read_tensor(&bytes).map_err(|e| Fault::Refused(e.to_string()))).collect()
}

fn number(t: &Tensor, i: usize) -> f64 {
    match t.dtype() {
        Dtype::F32 => f64::from(t.as_slice::<f32>()[i]),
        Dtype::F64 => t.as_slice::<f64>()[i],
        Dtype::F16 => t.as_slice::<half::f16>()[i].to_f64(),
        Dtype::Bf16 => t.as_slice::<half::bf16>()[i].to_f64(),
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
    assert!(!want.is_empty());
    for (name, want) in want {
        let at = p.outputs().iter().position(|(n, _)| n == name).ok_or_else(|| format!("no output {name}"))?;
        same(&got[at], want).map_err(|why| format!("{name}: {why}"))?;
    }
    Ok(())
}

/// Imports a folder's model and runs it.
fn check(folder: &Path) -> Result<(), Fault> {
    let refused = |e: sapwood_reduce::Error| Fault::Refused(format!("{e:?}"));
    let model = std::fs::read(folder.join("model.onnx")).unwrap();
    let (mut inputs, want) = (tensors(folder, "input")?, tensors(folder, "output")?);
    let known = inputs_to_know(&model, &[]).map_err(refused)?;
    let mut bind = Bindings::default();
    bind.values.extend(inputs.iter().filter(|(name, _)| known.contains(name)).cloned());
    let Imported { program: p, unsupported } = Program::from_onnx(&model, &bind).map_err(refused)?;
    if let Some(node) = unsupported.first() {
        return Err(Fault::Refused(format!("{node:?}")));
    }
    inputs.retain(|(name, _)| p.inputs().iter().any(|&v| p.input_name(v) == name));
    let views: Vec<TensorView<'_>> = inputs.iter().map(|(_, t)| t.view()).collect();
    let different = |who: &str, why: String| Fault::Different(format!("{who}: {why}"));
    let reference = p.reference(&views).map_err(|e| different("reference", e.to_string()))?;
    compare(&p, &reference, &want).map_err(|why| different("reference", why))?;
    let executor = |e: sapwood_reduce::Error| different("executor", e.to_string());
    let mut executable = compile(&p, &Options::default()).and_then(|plan| Executable::new(&plan)).map_err(executor)?;
    for runtime in RUNTIMES.iter() {
        let got = executable.run(runtime.exec(), &views).map_err(executor)?;
        compare(&p, &got, &want).map_err(|why| different("executor", why))?;
    }
    Ok(())
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
            let (Fault::Refused(why) | Fault::Different(why)) = check(folder).err()?;
            Some(format!("{name}: {why}"))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), all.len(), failed.join("\n"));
}

/// Folders of other families that are made of supported operations alone.
#[test]
fn other_node_tests_pass() {
    let Some(data) = data() else { return };
    let ours = folders(&data);
    let (mut passed, mut failed) = (0, vec![]);
    for entry in std::fs::read_dir(&data).unwrap() {
        let (name, folder) = entry.map(|e| (e.file_name().into_string().unwrap(), e.path())).unwrap();
        if ours.iter().all(|(other, _)| *other != name) {
            match check(&folder) {
                Ok(()) => passed += 1,
                Err(Fault::Different(why)) => failed.push(format!("{name}: {why}")),
                Err(Fault::Refused(_)) => {}
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(passed, 396);
}
