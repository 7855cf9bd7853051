//! Backward passes against central differences in double precision.

use super::*;

/// The derivative of Σ dy · forward(inputs) by each element of input number `by`.
fn differences(forward: &str, inputs: &[Tensor], by: usize, dy: &[f64]) -> Vec<f64> {
    let h = 1e-5;
    let value = |i: usize, step: f64| {
        let mut moved = inputs.to_vec();
        moved[by].as_mut_slice::<f64>()[i] += step;
        run(forward, &moved)[0].iter().zip(dy).map(|(y, d)| y * d).sum::<f64>()
    };
    (0..inputs[by].len()).map(|i| (value(i, h) - value(i, -h)) / (2.0 * h)).collect()
}

fn near(got: &[f64], want: &[f64]) {
    let fits = |(g, w): (&f64, &f64)| (g - w).abs() <= 1e-8 * (1.0 + w.abs());
    assert!(got.len() == want.len() && got.iter().zip(want).all(fits), "{got:?}\nis not\n{want:?}");
}

#[test]
fn softmax_passes_back() {
    let (a, dy) = ([doubles(&[2, 3, 2], &noise(12, 30))], noise(12, 31));
    for (name, call) in [("softmax", "softmax(a, axis=1)"), ("log_softmax", "log_softmax(a, axis=1)")] {
        let backward = [doubles(&[2, 3, 2], &one(call, &a)), doubles(&[2, 3, 2], &dy)];
        let text = format!("{name}_grad(a, b, axis=1)");
        near(&one(&text, &backward), &differences(call, &a, 0, &dy));
        narrow_too(&text, &backward);
    }
}

/// The operands (x, dy, the rest) of a backward pass.
fn backward(inputs: &[Tensor], dy: &[f64]) -> Vec<Tensor> {
    [&[inputs[0].clone(), doubles(inputs[0].shape(), dy)], &inputs[1..]].concat()
}

#[test]
fn layer_norm_passes_back() {
    let inputs =
        [doubles(&[2, 3, 4], &noise(24, 32)), doubles(&[3, 4], &noise(12, 33)), doubles(&[3, 4], &noise(12, 34))];
    let dy = noise(24, 35);
    let got = run("layer_norm_grad(a, b, c, axis=1, eps=0.1)", &backward(&inputs[..2], &dy));
    for by in 0..3 {
        near(&got[by], &differences("layer_norm(a, b, c, axis=1, eps=0.1)", &inputs, by, &dy));
    }
    let plain = run("layer_norm_grad(a, b, axis=0, eps=0.1)", &backward(&inputs[..1], &dy));
    near(&plain[0], &differences("layer_norm(a, axis=0, eps=0.1)", &inputs[..1], 0, &dy));
    near(&plain[2], &dy);
    narrow_too("layer_norm_grad(a, b, c, axis=1, eps=0.1)", &backward(&inputs[..2], &dy));
}

#[test]
fn rms_norm_passes_back() {
    let inputs = [doubles(&[3, 4], &noise(12, 36)), doubles(&[4], &noise(4, 37))];
    let dy = noise(12, 38);
    let got = run("rms_norm_grad(a, b, c, eps=0.1)", &backward(&inputs, &dy));
    for by in 0..2 {
        near(&got[by], &differences("rms_norm(a, b, eps=0.1)", &inputs, by, &dy));
    }
    narrow_too("rms_norm_grad(a, b, c, eps=0.1)", &backward(&inputs, &dy));
}

#[test]
fn batch_norm_passes_back() {
    let inputs = [doubles(&[3, 2, 4], &noise(24, 39)), doubles(&[2], &noise(2, 40)), doubles(&[2], &noise(2, 41))];
    let dy = noise(24, 42);
    let got = run("batch_norm_grad(a, b, c, eps=0.1)", &backward(&inputs[..2], &dy));
    for by in 0..3 {
        near(&got[by], &differences("batch_norm_train(a, b, c, eps=0.1)", &inputs, by, &dy));
    }
    narrow_too("batch_norm_grad(a, b, c, eps=0.1)", &backward(&inputs[..2], &dy));
}

#[test]
fn cross_entropy_passes_back() {
    let l = tensor(Dtype::I32, &[2, 2], &[2.0, 0.0, 1.0, 2.0]);
    let inputs = [doubles(&[2, 3, 2], &noise(12, 43)), l, doubles(&[3], &[0.5, 2.0, 1.5])];
    for rest in ["a, b", "a, b, c", "a, b, ignore_index=2", "a, b, c, ignore_index=0"] {
        for reduction in 0..3 {
            let text = format!("({rest}, reduction={reduction})");
            let got = one(&format!("cross_entropy_grad{text}"), &inputs);
            near(&got, &differences(&format!("cross_entropy{text}"), &inputs, 0, &[1.0; 4]));
            narrow_too(&format!("cross_entropy_grad{text}"), &inputs);
        }
    }
}

#[test]
fn a_bias_gathers_all_other_axes() {
    let x = noise(24, 44);
    let a = [doubles(&[2, 3, 4], &x)];
    let over = |axis: fn(usize) -> usize, n: usize| {
        (0..n).map(|c| (0..24).filter(|&i| axis(i) == c).map(|i| x[i]).sum()).collect::<Vec<f64>>()
    };
    close(&one("bias_grad(a)", &a), &over(|i| i / 4 % 3, 3));
    close(&one("bias_grad(a, axis=-1)", &a), &over(|i| i % 4, 4));
    close(&one("bias_grad(a, axis=0)", &[doubles(&[3], &x[..3])]), &x[..3]);
    narrow_too("bias_grad(a)", &a);
}
