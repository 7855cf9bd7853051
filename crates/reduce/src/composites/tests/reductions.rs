//! Reductions, softmax and what is near them.

use super::*;

/// A formula over each row of x, which has 4 columns.
fn rows(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    x.chunks(4).map(f).collect()
}

#[test]
fn reductions_are_their_formulas() {
    let x = noise(12, 1);
    let a = [doubles(&[3, 4], &x)];
    let positive: Vec<f64> = x.iter().map(|v| v.abs() + 0.1).collect();
    let p = [doubles(&[3, 4], &positive)];
    close(&one("l1(a, axes=[1])", &a), &rows(&x, |r| r.iter().map(|v| v.abs()).sum()));
    close(&one("l2(a, axes=[1])", &a), &rows(&x, |r| r.iter().map(|v| v * v).sum::<f64>().sqrt()));
    close(&one("sumsq(a, axes=[-1])", &a), &rows(&x, |r| r.iter().map(|v| v * v).sum()));
    close(&one("logsum(a, axes=[1])", &p), &rows(&positive, |r| r.iter().sum::<f64>().ln()));
    close(&one("logsumexp(a, axes=[1])", &a), &rows(&x, |r| r.iter().map(|v| v.exp()).sum::<f64>().ln()));
    let mean = |r: &[f64]| r.iter().sum::<f64>() / 4.0;
    let m2 = |r: &[f64]| r.iter().map(|v| (v - mean(r)).powi(2)).sum::<f64>();
    close(&one("var(a, axes=[1])", &a), &rows(&x, |r| m2(r) / 4.0));
    close(&one("var(a, axes=[1], sample=true)", &a), &rows(&x, |r| m2(r) / 3.0));
    close(&one("std(a, axes=[1])", &a), &rows(&x, |r| (m2(r) / 4.0).sqrt()));
    let both = run("moments(a, axes=[1], keep=true)", &a);
    close(&both[0], &rows(&x, mean));
    close(&both[1], &rows(&x, |r| m2(r) / 4.0));
    for expr in
        ["l1(a)", "l2(a)", "sumsq(a)", "logsumexp(a, axes=[0])", "var(a, axes=[1])", "std(a)", "moments(a, axes=[1])"]
    {
        narrow_too(expr, &a);
    }
    narrow_too("logsum(a, axes=[1], keep=true)", &p);
    let whole = [tensor(Dtype::I32, &[3], &[-3.0, 4.0, 5.0])];
    assert_eq!([one("l1(a)", &whole), one("sumsq(a)", &whole), one("mean(a)", &whole)], [[12.0], [50.0], [2.0]]);
}

#[test]
fn axes_may_be_kept_and_none_may_be_meant() {
    let a = [doubles(&[2, 2], &[-1.0, 2.0, -3.0, 4.0])];
    let shape = |expr: &str| {
        let p = program(expr, &a);
        p.shape(p.outputs()[0].1).to_vec()
    };
    assert_eq!(shape("l1(a, axes=[1], keep=true)"), [2, 1]);
    assert_eq!([shape("logsumexp(a, axes=[0])"), shape("logsumexp(a)")], [vec![2], vec![]]);
    assert_eq!(one("l1(a, axes=[])", &a), [10.0]);
    assert_eq!(one("l1(a, axes=[], noop=true)", &a), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn golden_values() {
    let f32s = |shape: &[usize], v: &[f64]| [tensor(Dtype::F32, shape, v)];
    let steps: Vec<f64> = (0..1000).map(|i| 10000.0 + 0.25 * f64::from(i % 5)).collect();
    assert!((one("var(a)", &f32s(&[1000], &steps))[0] - 0.125).abs() <= 2e-6);
    assert_eq!(one("var(a)", &[doubles(&[4], &[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0])]), [22.5]);
    six(&one("logsumexp(a)", &f32s(&[2], &[1000.0, 1000.0])), &[1000.69314718056]);
    six(&one("logsumexp(a)", &f32s(&[4], &[1.0, 2.0, 3.0, 4.0])), &[4.44018969856120]);
    let softmax = [0.0320586032801, 0.087144318742, 0.23688281809, 0.643914259888];
    six(&one("softmax(a)", &f32s(&[4], &[1.0, 2.0, 3.0, 4.0])), &softmax);
    let eight: Vec<f64> = (0..8).map(f64::from).collect();
    six(&one("entropy(a)", &f32s(&[8], &eight)), &[1.0376317317416]);
    assert_eq!(one("mean(a)", &[tensor(Dtype::F16, &[70000], &vec![1.0; 70000])]), [1.0]);
    let low = f32s(&[2], &[-INF, -INF]);
    assert_eq!(one("logsumexp(a)", &low), [-INF]);
    assert!(one("softmax(a)", &low).iter().chain(&one("log_softmax(a)", &low)).all(|v| v.is_nan()));
}

#[test]
fn softmax_and_its_relatives() {
    let x = noise(12, 2);
    let a = [doubles(&[3, 4], &x)];
    let total = |r: &[f64]| r.iter().map(|v| v.exp()).sum::<f64>();
    let soft: Vec<f64> = x.chunks(4).flat_map(|r| r.iter().map(|v| v.exp() / total(r)).collect::<Vec<_>>()).collect();
    close(&one("softmax(a, axis=1)", &a), &soft);
    close(&one("log_softmax(a)", &a), &soft.iter().map(|p| p.ln()).collect::<Vec<_>>());
    close(&one("entropy(a)", &a), &rows(&soft, |r| -r.iter().map(|p| p * p.ln()).sum::<f64>()));
    let turned = [doubles(&[4, 3], &(0..12).map(|i| x[i % 3 * 4 + i / 3]).collect::<Vec<_>>())];
    close(&one("entropy(a, axis=0, keep=true)", &turned), &one("entropy(a)", &a));
    for expr in ["softmax(a)", "log_softmax(a, axis=0)", "entropy(a)"] {
        narrow_too(expr, &a);
    }
    // Far away from zero nothing overflows, and what is masked counts nothing.
    let far = [doubles(&[4], &[1000.0, 1001.0, -INF, 1002.0])];
    let near = [doubles(&[3], &[0.0, 1.0, 2.0])];
    close(&one("entropy(a)", &far), &one("entropy(a)", &near));
    let (f, n) = (one("log_softmax(a)", &far), one("log_softmax(a)", &near));
    close(&f, &[n[0], n[1], -INF, n[2]]);
    let top = [doubles(&[2], &[INF, 0.0])];
    assert!(["softmax(a)", "log_softmax(a)"].iter().all(|e| one(e, &top).iter().all(|v| v.is_nan())));
    assert_eq!(one("logsumexp(a)", &top), [INF]);
}

#[test]
fn hardmax_takes_the_first() {
    let a = [doubles(&[2, 3], &[1.0, 3.0, 3.0, 2.0, 0.0, -1.0])];
    assert_eq!(one("hardmax(a)", &a), [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(one("hardmax(a, axis=0)", &a), [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    let nan = [doubles(&[3], &[1.0, f64::NAN, 3.0])];
    assert_eq!(one("hardmax(a)", &nan), [0.0, 1.0, 0.0]);
}

#[test]
fn nothing_has_values_too() {
    let none = [tensor(Dtype::F32, &[0], &[])];
    for (expr, want) in [("l1(a)", 0.0), ("l2(a)", 0.0), ("sumsq(a)", 0.0), ("logsum(a)", -INF), ("logsumexp(a)", -INF)]
    {
        assert_eq!(one(expr, &none), [want], "{expr}");
    }
    for expr in ["mean(a)", "var(a)", "var(a, sample=true)", "std(a)"] {
        assert!(one(expr, &none)[0].is_nan(), "{expr}");
    }
    assert!(one("var(a, sample=true)", &[tensor(Dtype::F32, &[1], &[2.0])])[0].is_nan());
    assert!(refused("mean", &[tensor(Dtype::I32, &[0], &[])]).contains("no mean"));
    for expr in [
        "softmax(a)",
        "log_softmax(a)",
        "layer_norm(a)",
        "rms_norm(a)",
        "lp_norm(a)",
        "hardmax(a)",
        "hardmax(a, axis=0)",
    ] {
        assert!(one(expr, &none).is_empty(), "{expr}");
    }
}
