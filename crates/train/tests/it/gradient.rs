//! Every layer's backward pass against central differences of its forward pass, in double precision, with dropout and draw
//! fixed by their keys; and what single layers compute against a few plain lines.

use crate::checks::{Fixture, check_layer, random_block};
use sapwood_sparse::{Affine, Block};
use sapwood_train::Partials;
use sapwood_train::layer::{
    Activation, Backward, BatchNorm, Combine, Dropout, Function, Layer, LayerNorm, Linear, LinearOnto, Maximum,
    NeighbourMax, PairNorm, Propagate, SparseLinear, Sum,
};

#[test]
fn linear() {
    check_layer(Box::new(Linear::new("l", 5, 4, true)), &[5], false);
    check_layer(Box::new(Linear::new("l", 3, 7, false)), &[3], false);
}

#[test]
fn sparse_linear() {
    check_layer(Box::new(SparseLinear::new("l", 6, 4, true)), &[], true);
    check_layer(Box::new(SparseLinear::new("l", 6, 1, false)), &[], true);
}

#[test]
fn propagate() {
    check_layer(Box::new(Propagate::new(1)), &[5], false);
    check_layer(Box::new(Propagate::new(1)), &[1], false);
}

#[test]
fn sum() {
    check_layer(Box::new(Sum), &[4, 4, 4], false);
}

#[test]
fn norms() {
    for width in [1, 2, 9] {
        check_layer(Box::new(BatchNorm::new("n", width)), &[width], false);
        check_layer(Box::new(PairNorm), &[width], false);
    }
    // One column alone is always at its mean.
    for width in [2, 7, 8, 19] {
        check_layer(Box::new(LayerNorm::new("n", width)), &[width], false);
    }
}

#[test]
fn linear_onto() {
    check_layer(Box::new(LinearOnto::new("l", 5, 4, 20)), &[4, 5], false);
    check_layer(Box::new(LinearOnto::new("l", 1, 1, 1)), &[1, 1], false);
}

#[test]
fn combine() {
    for (a, b) in [(0.9, 0.1), (0.0, 1.0), (-0.5, 2.0)] {
        check_layer(Box::new(Combine::new(a, b)), &[5, 5], false);
    }
}

#[test]
fn maximum() {
    check_layer(Box::new(Maximum), &[5, 5], false);
    check_layer(Box::new(Maximum), &[1, 1], false);
}

#[test]
fn neighbour_max() {
    check_layer(Box::new(NeighbourMax::new(1)), &[5], false);
    check_layer(Box::new(NeighbourMax::new(1)), &[1], false);
}

#[test]
fn activation() {
    for function in [Function::Identity, Function::Relu, Function::Elu] {
        for rate in [0.0, 0.4, 1.0] {
            let dropout = Dropout::new(rate, 3).unwrap();
            let layer = Activation::new(function).with_bias("a", 5).with_dropout(dropout);
            if rate < 1.0 {
                check_layer(Box::new(layer), &[5], false);
            } else {
                nothing_passes(&layer);
            }
        }
        check_layer(Box::new(Activation::new(function)), &[5], false);
    }
}

#[test]
fn dropout() {
    check_layer(Box::new(Dropout::new(0.4, 1).unwrap()), &[5], false);
    check_layer(Box::new(Dropout::new(0.0, 1).unwrap()), &[5], false);
    nothing_passes(&Dropout::new(1.0, 1).unwrap());
}

/// At a rate of 1 the output and the gradient are zero.
fn nothing_passes(layer: &dyn Layer<f64>) {
    let fixture = Fixture::<f64>::new(false);
    let values: Vec<Block<f64>> =
        layer.parameters().iter().map(|p| Block::zeros(p.shape.0, p.shape.1).unwrap()).collect();
    assert!(values.len() <= 1);
    let mut out = random_block(12, 5, 1);
    let mut partials = Partials::default();
    layer.forward(&[], &mut out, &mut fixture.cx(&mut partials, &mut Vec::new())).unwrap();
    // A bias that is not allocated adds nothing.
    assert!(out.as_slice().iter().all(|&v| v == 0.0));
    let mut grad = random_block(12, 5, 2);
    let mut weights = values;
    let operands = Backward { inputs: &[], output: Some(&out), grad: &mut grad, into: &mut [], weights: &mut weights };
    layer.backward(operands, &mut fixture.cx(&mut partials, &mut Vec::new())).unwrap();
    assert!(grad.as_slice().iter().all(|&v| v == 0.0));
}

#[test]
fn relu_reads_its_mask_off_the_output() {
    // The same mask, drawn again by a dropout layer of its own.
    let fixture = Fixture::<f64>::new(false);
    let dropout = Dropout::new(0.4, 7).unwrap();
    let (fused, plain) = (Activation::new(Function::Relu).with_dropout(dropout), Activation::new(Function::Relu));
    let x = [random_block(12, 5, 1)];
    let out = fixture.forward(&fused, &x);
    let alone = fixture.forward(&plain, &x);
    assert_eq!(out.as_slice(), fixture.forward(&dropout, std::slice::from_ref(&alone)).as_slice());
    let back = |layer: &dyn Layer<f64>, output: &Block<f64>, grad: &mut Block<f64>| {
        let operands = Backward { inputs: &[], output: Some(output), grad, into: &mut [], weights: &mut [] };
        layer.backward(operands, &mut fixture.cx(&mut Partials::default(), &mut Vec::new())).unwrap();
    };
    let (mut one, mut two) = (random_block(12, 5, 2), random_block(12, 5, 2));
    back(&fused, &out, &mut one);
    back(&dropout, &out, &mut two);
    back(&plain, &alone, &mut two);
    assert_eq!(one.as_slice(), two.as_slice());
}

#[test]
fn linear_equals_the_triple_loop() {
    let fixture = Fixture::<f64>::new(false);
    let mut layer = Linear::<f64>::new("l", 5, 4, true);
    let (w, b) = (random_block(5, 4, 1), random_block(1, 4, 2));
    layer.parameters_mut()[0].value = w.clone();
    layer.parameters_mut()[1].value = b.clone();
    let (x, g) = (random_block(12, 5, 3), random_block(12, 4, 4));
    let z = fixture.forward(&layer, std::slice::from_ref(&x));
    let mut grad = g.clone();
    let mut into = [Some((Block::zeros(12, 5).unwrap(), Affine::SET))];
    let mut weights = [Block::zeros(5, 4).unwrap(), Block::zeros(1, 4).unwrap()];
    let operands = Backward { inputs: &[&x], output: None, grad: &mut grad, into: &mut into, weights: &mut weights };
    layer.backward(operands, &mut fixture.cx(&mut Partials::default(), &mut Vec::new())).unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
    for i in 0..12 {
        for c in 0..4 {
            close(z.row(i)[c], b.row(0)[c] + (0..5).map(|k| x.row(i)[k] * w.row(k)[c]).sum::<f64>());
        }
        for k in 0..5 {
            close(into[0].as_ref().unwrap().0.row(i)[k], (0..4).map(|c| g.row(i)[c] * w.row(k)[c]).sum::<f64>());
        }
    }
    for c in 0..4 {
        close(weights[1].row(0)[c], (0..12).map(|i| g.row(i)[c]).sum::<f64>());
        for k in 0..5 {
            close(weights[0].row(k)[c], (0..12).map(|i| x.row(i)[k] * g.row(i)[c]).sum::<f64>());
        }
    }
}
