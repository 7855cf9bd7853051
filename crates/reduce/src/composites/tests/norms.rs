//! Normalisations and pools.

use super::*;

/// x normalised in groups: members of a group are the elements to which `group` gives the same number.
fn normalised(x: &[f64], eps: f64, group: impl Fn(usize) -> usize) -> Vec<f64> {
    let members = |g: usize| (0..x.len()).filter(|&i| group(i) == g).map(|i| x[i]).collect::<Vec<_>>();
    (0..x.len())
        .map(|i| {
            let all = members(group(i));
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / all.len() as f64;
            (x[i] - mean) / (variance + eps).sqrt()
        })
        .collect()
}

#[test]
fn golden_values() {
    let a = [tensor(Dtype::F32, &[4], &[1.0, 2.0, 3.0, 4.0])];
    six(&one("layer_norm(a)", &a), &[-1.34163542, -0.44721181, 0.44721181, 1.34163542]);
    six(&one("rms_norm(a)", &a), &[0.36514813, 0.73029626, 1.09544438, 1.46059251]);
    let batch = [tensor(Dtype::F32, &[2, 3, 4], &(0..24).map(f64::from).collect::<Vec<_>>())];
    let made = run("batch_norm_train(a)", &batch);
    assert_eq!([&made[1][..], &made[2]], [&[7.5, 11.5, 15.5], &[37.25; 3]]);
}

#[test]
fn layer_norm_is_its_formula() {
    let (x, s, b) = (noise(24, 3), noise(12, 4), noise(12, 5));
    let inputs = [doubles(&[2, 3, 4], &x), doubles(&[3, 4], &s), doubles(&[3, 4], &b)];
    let plain = normalised(&x, 1e-3, |i| i / 12);
    let want: Vec<f64> = (0..24).map(|i| plain[i] * s[i % 12] + b[i % 12]).collect();
    close(&one("layer_norm(a, b, c, axis=1, eps=1e-3)", &inputs), &want);
    close(&one("layer_norm(a, axis=-2, eps=1e-3)", &inputs), &plain);
    let stats = run("layer_norm_stats(a, b, c, axis=1, eps=1e-3)", &inputs);
    close(&stats[0], &want);
    close(&stats[1], &x.chunks(12).map(|r| r.iter().sum::<f64>() / 12.0).collect::<Vec<_>>());
    let p = program("layer_norm_stats(a, axis=1)", &[tensor(Dtype::F16, &[2, 3, 4], &x)]);
    let made: Vec<_> = p.outputs().iter().map(|(_, v)| (p.dtype(*v), p.shape(*v))).collect();
    assert_eq!(made, [(Dtype::F16, &[2, 3, 4][..]), (Dtype::F32, &[2, 1, 1]), (Dtype::F32, &[2, 1, 1])]);
    narrow_too("layer_norm(a, b, c, axis=1)", &inputs);
}

#[test]
fn rms_norm_is_its_formula() {
    let (x, s) = (noise(24, 6), noise(4, 7));
    let square = |i: usize| x[i / 4 * 4..i / 4 * 4 + 4].iter().map(|v| v * v).sum::<f64>() / 4.0;
    let want: Vec<f64> = (0..24).map(|i| x[i] / (square(i) + 1e-2).sqrt() * s[i % 4]).collect();
    let inputs = [doubles(&[6, 4], &x), doubles(&[4], &s)];
    close(&one("rms_norm(a, b, eps=0.01)", &inputs), &want);
    narrow_too("rms_norm(a, b)", &inputs);
}

#[test]
fn norms_of_channels_are_their_formulas() {
    let (x, s, b) = (noise(60, 8), noise(6, 9), noise(6, 10));
    let inputs = [doubles(&[2, 6, 5], &x), doubles(&[6], &s), doubles(&[6], &b)];
    let channel = |i: usize| i / 5 % 6;
    let mapped = |plain: Vec<f64>| (0..60).map(|i| plain[i] * s[channel(i)] + b[channel(i)]).collect::<Vec<_>>();
    close(&one("group_norm(a, b, c, groups=3)", &inputs), &mapped(normalised(&x, 1e-5, |i| i / 10)));
    close(&one("instance_norm(a, b, c)", &inputs), &mapped(normalised(&x, 1e-5, |i| i / 5)));
    close(&run("batch_norm_train(a, b, c)", &inputs)[0], &mapped(normalised(&x, 1e-5, channel)));
    let (mean, variance) = (noise(6, 11), noise(6, 12).iter().map(|v| v.abs() + 0.1).collect::<Vec<_>>());
    let given = [&inputs[..], &[doubles(&[6], &mean), doubles(&[6], &variance)]].concat();
    let plain = (0..60).map(|i| (x[i] - mean[channel(i)]) / (variance[channel(i)] + 1e-5).sqrt()).collect();
    close(&one("batch_norm(a, b, c, d, e)", &given), &mapped(plain));
    narrow_too("batch_norm(a, b, c, d, e)", &given);
    for expr in ["group_norm(a, b, c, groups=3)", "instance_norm(a, b, c)", "batch_norm_train(a, b, c)"] {
        narrow_too(expr, &inputs);
    }
    assert!(refused("instance_norm", &[inputs[0].clone(), doubles(&[5], &[0.0; 5])]).contains("each channel"));
    assert!(refused("batch_norm_train", &[doubles(&[5], &[0.0; 5])]).contains("channel axis"));
}

#[test]
fn norms_of_axes_are_their_formulas() {
    let x = noise(24, 13);
    let a = [doubles(&[2, 3, 4], &x)];
    // ε stands beside the deviation.
    let want: Vec<f64> = {
        let mean = |c: usize| (0..24).filter(|i| i / 4 % 3 == c).map(|i| x[i]).sum::<f64>() / 8.0;
        let deviation =
            |c: usize| ((0..24).filter(|i| i / 4 % 3 == c).map(|i| (x[i] - mean(c)).powi(2)).sum::<f64>() / 8.0).sqrt();
        (0..24).map(|i| (x[i] - mean(i / 4 % 3)) / (deviation(i / 4 % 3) + 0.5)).collect()
    };
    close(&one("mean_variance_norm(a, axes=[0,2], eps=0.5)", &a), &want);
    let norms = |f: fn(&[f64]) -> f64| {
        x.chunks(4).flat_map(|r| r.iter().map(|v| v / f(r)).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    close(&one("lp_norm(a)", &a), &norms(|r| r.iter().map(|v| v * v).sum::<f64>().sqrt()));
    close(&one("lp_norm(a, p=1, axis=2)", &a), &norms(|r| r.iter().map(|v| v.abs()).sum()));
    assert_eq!(one("lp_norm(a)", &[doubles(&[2, 2], &[0.0, -0.0, 3.0, 4.0])]), [0.0, 0.0, 0.6, 0.8]);
    let pooled = |f: fn(&[f64]) -> f64| x.chunks(4).map(f).collect::<Vec<_>>();
    close(&one("global_average_pool(a)", &a), &pooled(|r| r.iter().sum::<f64>() / 4.0));
    close(&one("global_max_pool(a)", &a), &pooled(|r| r.iter().copied().fold(-INF, f64::max)));
    close(&one("global_lp_pool(a)", &a), &pooled(|r| r.iter().map(|v| v * v).sum::<f64>().sqrt()));
    close(&one("global_lp_pool(a, p=1)", &a), &pooled(|r| r.iter().map(|v| v.abs()).sum()));
    let p = program("global_max_pool(a)", &a);
    assert_eq!(p.shape(p.outputs()[0].1), [2, 3, 1]);
    for expr in
        ["mean_variance_norm(a, axes=[0,2])", "lp_norm(a, axis=0)", "global_average_pool(a)", "global_lp_pool(a)"]
    {
        narrow_too(expr, &a);
    }
}
