//! Losses.

use super::*;

fn labels(shape: &[usize], values: &[f64]) -> Tensor {
    tensor(Dtype::I64, shape, values)
}

#[test]
fn golden_values() {
    let inputs = [tensor(Dtype::F32, &[2, 3], &[2.0, 1.0, 0.1, 0.5, 2.5, 0.3]), labels(&[2], &[0.0, 1.0])];
    six(&one("cross_entropy(a, b, reduction=0)", &inputs), &[0.417030016, 0.220049523]);
    six(&one("cross_entropy(a, b)", &inputs), &[0.318539770]);
}

#[test]
fn losses_weigh_and_ignore() {
    // [N, C, d] with N = 2, C = 3, d = 2; labels [N, d].
    let (x, w) = (noise(12, 20), [0.5, 2.0, 1.5]);
    let l = [2.0, 0.0, 1.0, 2.0];
    let inputs = [doubles(&[2, 3, 2], &x), labels(&[2, 2], &l), doubles(&[3], &w)];
    let at = |i: usize, c: usize| x[(i / 2 * 3 + c) * 2 + i % 2];
    let total = |i: usize| (0..3).map(|c| at(i, c).exp()).sum::<f64>().ln();
    let plain = |ce: bool, i: usize| if ce { total(i) - at(i, l[i] as usize) } else { -at(i, l[i] as usize) };
    for (name, ce) in [("nll_loss", false), ("cross_entropy", true)] {
        for (rest, weigh, ignored) in [
            ("a, b", false, -1),
            ("a, b, c", true, -1),
            ("a, b, ignore_index=2", false, 2),
            ("a, b, c, ignore_index=2", true, 2),
        ] {
            let weight = |i: usize| match l[i] as i32 {
                own if own == ignored => 0.0,
                own => {
                    if weigh {
                        w[own as usize]
                    } else {
                        1.0
                    }
                }
            };
            let terms: Vec<f64> = (0..4).map(|i| weight(i) * plain(ce, i)).collect();
            let all: f64 = (0..4).map(weight).sum();
            let loss = |reduction: usize| run(&format!("{name}({rest}, reduction={reduction})"), &inputs).remove(0);
            close(&loss(0), &terms);
            close(&loss(1), &[terms.iter().sum::<f64>() / all]);
            close(&loss(2), &[terms.iter().sum()]);
            narrow_too(&format!("{name}({rest})"), &inputs);
        }
    }
    let logs = &run("cross_entropy(a, b)", &inputs)[1];
    close(logs, &one("log_softmax(a, axis=1)", &inputs[..1]));
}

#[test]
fn ignored_labels_may_lie_outside() {
    let x = doubles(&[2, 3], &[-INF, 2.0, 1.0, 0.0, -1.0, 1.0]);
    let inputs = [x.clone(), labels(&[2], &[-100.0, 1.0])];
    close(&one("nll_loss(a, b, ignore_index=-100)", &inputs), &[1.0]);
    let none = [x.clone(), labels(&[2], &[7.0, 7.0])];
    assert!(one("nll_loss(a, b, ignore_index=7)", &none)[0].is_nan());
    assert_eq!(one("nll_loss(a, b, ignore_index=7, reduction=2)", &none), [0.0]);
    let p = program("nll_loss(a, b)", &none);
    let e = p.reference(&[none[0].view(), none[1].view()]).unwrap_err().to_string();
    assert!(e.contains("label 7 at place 0"), "{e}");
    let short = [x, tensor(Dtype::I32, &[2], &[-100.0, 1.0])];
    close(&one("nll_loss(a, b, ignore_index=-100)", &short), &[1.0]);
    assert!(
        Program::parse("program t input a: f32[2,3] input b: i32[2] y = nll_loss(a, b, ignore_index=3000000000)", "")
            .is_err()
    );
}

#[test]
fn mse_is_its_formula() {
    let (x, y) = (noise(12, 21), noise(12, 22));
    let inputs = [doubles(&[3, 4], &x), doubles(&[3, 4], &y)];
    let squares: Vec<f64> = x.iter().zip(&y).map(|(a, b)| (a - b) * (a - b)).collect();
    close(&one("mse(a, b)", &inputs), &[squares.iter().sum::<f64>() / 12.0]);
    close(
        &one("mse(a, b, axes=[1])", &inputs),
        &squares.chunks(4).map(|r| r.iter().sum::<f64>() / 4.0).collect::<Vec<_>>(),
    );
    narrow_too("mse(a, b)", &inputs);
}
