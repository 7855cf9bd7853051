//! What norm layers, and layers that choose or mix, compute: against the definitions in a few plain lines.

use crate::checks::{Fixture, KEY, check_layer_in, random_block};
use crate::worlds;
use sapwood_graph::{Edge, FeatureMatrix, Graph, GraphOptions, Normalisation, Operator, SelfLoops};
use sapwood_skeleton::Runtime;
use sapwood_sparse::{Affine, Block};
use sapwood_train::layer::{
    BatchNorm, Combine, Dropout, Layer, LayerNorm, LinearOnto, Maximum, Mode, NeighbourMax, PairNorm,
};
use sapwood_train::network::{Builder, FEATURES, Input};
use sapwood_train::optimiser::{self, L2On, OptimiserOptions, Step};
use sapwood_train::{Arena, Network, Role};

/// A fixture on `n` nodes in a ring, on `threads` threads.
fn ring(n: usize, threads: usize) -> Fixture<f64> {
    let pairs: Vec<(u32, u32)> = (1..n).map(|i| (i as u32 - 1, i as u32)).collect();
    let labels = (0..n).map(|i| (i % 3) as i32).collect();
    let world = worlds::world(worlds::graph(n, &pairs), 3, labels, FeatureMatrix::Dense(Block::zeros(n, 1).unwrap()));
    Fixture::of(world, threads, 1)
}

fn column(x: &Block<f64>, c: usize) -> Vec<f64> {
    (0..x.rows()).map(|i| x.row(i)[c]).collect()
}

fn mean(v: &[f64]) -> f64 {
    v.iter().sum::<f64>() / v.len() as f64
}

/// The biased variance.
fn variance(v: &[f64]) -> f64 {
    let m = mean(v);
    v.iter().map(|x| (x - m) * (x - m)).sum::<f64>() / v.len() as f64
}

fn with_values<L: Layer<f64>>(mut layer: L) -> L {
    for (i, p) in layer.parameters_mut().iter_mut().enumerate() {
        p.value = random_block(p.shape.0, p.shape.1, 30 + i as u64);
        if p.role == Role::Variance {
            p.value.as_mut_slice().iter_mut().for_each(|v| *v = v.abs() + 0.1);
        }
    }
    layer
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} {b}");
}

#[test]
fn norms_equal_their_definitions() {
    for (n, width) in [(1, 3), (12, 5), (700, 9)] {
        let fixture = ring(n, 2);
        let x = random_block(n, width, 1);
        let (batch, layer) = (with_values(BatchNorm::new("n", width)), with_values(LayerNorm::new("n", width)));
        let row = |layer: &dyn Layer<f64>, p: usize, c: usize| layer.parameters()[p].value.row(0)[c];
        let forward = |layer: &dyn Layer<f64>| fixture.forward(layer, std::slice::from_ref(&x));
        let (by_batch, by_layer, by_pair) = (forward(&batch), forward(&layer), forward(&PairNorm));
        let centred = |i: usize, c: usize| x.row(i)[c] - mean(&column(&x, c));
        let squares: f64 =
            (0..n).flat_map(|i| (0..width).map(move |c| (i, c))).map(|(i, c)| centred(i, c).powi(2)).sum();
        for (i, c) in (0..n).step_by(7).flat_map(|i| (0..width).map(move |c| (i, c))) {
            let unit = centred(i, c) / (variance(&column(&x, c)) + 1e-5).sqrt();
            close(by_batch.row(i)[c], row(&batch, 0, c) * unit + row(&batch, 1, c));
            let unit = (x.row(i)[c] - mean(x.row(i))) / (variance(x.row(i)) + 1e-5).sqrt();
            close(by_layer.row(i)[c], row(&layer, 0, c) * unit + row(&layer, 1, c));
            close(by_pair.row(i)[c], centred(i, c) * (n as f64).sqrt() / (squares + 1e-6).sqrt());
        }
    }
}

#[test]
fn large_means_do_not_cancel() {
    let fixture = ring(700, 2);
    let noise = random_block(700, 4, 2);
    let x = Block::from_fn(700, 4, |i, j| noise.row(i)[j] + 1e8).unwrap();
    // What the shift left of the noise, exactly.
    let left = Block::from_fn(700, 4, |i, j| x.row(i)[j] - 1e8).unwrap();
    let mut batch = with_values(BatchNorm::new("n", 4));
    batch.parameters_mut()[1].value.as_mut_slice().fill(0.0);
    for layer in [&batch as &dyn Layer<f64>, &PairNorm] {
        let (near, far) =
            (fixture.forward(layer, std::slice::from_ref(&left)), fixture.forward(layer, std::slice::from_ref(&x)));
        let apart = near.as_slice().iter().zip(far.as_slice()).map(|(a, b)| (a - b).abs());
        let apart = apart.fold(0.0, f64::max);
        // A mean of 1e8 is known to 1e-8; squares in place of deviations would leave nothing.
        assert!(apart < 1e-6, "{} {apart:e}", layer.kind());
    }
    // Values all alike have no variance, however large they are.
    let flat = Block::from_fn(700, 4, |_, _| 1e8 + 0.3).unwrap();
    assert!(fixture.forward(&batch, &[flat]).as_slice().iter().all(|v| v.abs() < 1e-4));
}

#[test]
fn evaluation_uses_running_values_and_its_gradient_is_right() {
    let mut fixture = Fixture::<f64>::new(false);
    fixture.mode = Mode::Evaluate;
    let batch = with_values(BatchNorm::new("n", 5));
    let x = random_block(12, 5, 1);
    let y = fixture.forward(&batch, std::slice::from_ref(&x));
    let row = |p: usize| batch.parameters()[p].value.as_slice();
    for (i, c) in (0..12).flat_map(|i| (0..5).map(move |c| (i, c))) {
        close(y.row(i)[c], row(0)[c] * (x.row(i)[c] - row(2)[c]) / (row(3)[c] + 1e-5).sqrt() + row(1)[c]);
    }
    let (_, weights) = fixture.backward(&batch, &[x], &y);
    assert_eq!((weights[2].as_slice(), weights[3].as_slice()), (row(2), row(3)));
    check_layer_in(&fixture, Box::new(BatchNorm::new("n", 5)), &[5]);
}

/// A linear layer and a batch norm.
fn normed(width: usize) -> Network<f64> {
    let mut b = Builder::new("toy", Input { width: 6, sparse: false });
    let z = b.push("lin", &[FEATURES], sapwood_train::layer::Linear::new("lin", 6, width, true)).unwrap();
    b.push("norm", &[&z], BatchNorm::new("norm", width)).unwrap();
    let mut network = b.finish().unwrap();
    sapwood_train::init::fill(&mut network, &sapwood_train::init::ALL[0], 3).unwrap();
    network
}

#[test]
fn running_values_after_three_steps() {
    let fixture = Fixture::<f64>::new(false);
    let mut network = normed(3);
    let maker = optimiser::find(optimiser::ALL, "adam").unwrap().f64;
    let mut adam = maker(&network, OptimiserOptions::default()).unwrap();
    let (mut mean_of, mut variance_of) = ([0.0; 3], [1.0; 3]);
    for number in 1..=3 {
        let value = |network: &Network<f64>, p: usize| network.parameters().nth(p).unwrap().value.clone();
        let (w, bias, x) = (value(&network, 0), value(&network, 1), fixture.features.dense().unwrap());
        for c in 0..3 {
            let z: Vec<f64> =
                (0..12).map(|i| bias.row(0)[c] + (0..6).map(|k| x.row(i)[k] * w.row(k)[c]).sum::<f64>()).collect();
            mean_of[c] = 0.9 * mean_of[c] + 0.1 * mean(&z);
            variance_of[c] = 0.9 * variance_of[c] + 0.1 * variance(&z) * 12.0 / 11.0;
        }
        let (_, gradients) = crate::checks::gradients(&network, &fixture, &mut Arena::new());
        let step = Step { number, lr: 0.1, l2: 0.5 };
        optimiser::step(fixture.runtime.exec(), adam.as_mut(), step, L2On::All, &mut network, &gradients).unwrap();
        for c in 0..3 {
            close(value(&network, 4).row(0)[c], mean_of[c]);
            close(value(&network, 5).row(0)[c], variance_of[c]);
        }
        assert_ne!(w.as_slice(), value(&network, 0).as_slice());
    }
    let names: Vec<&str> = network.parameters().map(|p| p.name.as_str()).collect();
    assert_eq!(names[2..], ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"]);
    assert_eq!(network.parameter_count(), 6 * 3 + 3 + 2 * 3);
}

#[test]
fn one_node_has_its_biased_variance() {
    let (fixture, batch) = (ring(1, 1), with_values(BatchNorm::new("n", 2)));
    let (x, r) = (random_block(1, 2, 1), random_block(1, 2, 2));
    let (by_input, weights) = fixture.backward(&batch, std::slice::from_ref(&x), &r);
    assert_eq!((weights[2].as_slice(), weights[3].as_slice()), (x.as_slice(), &[0.0, 0.0][..]));
    assert!(by_input[0].as_slice().iter().all(|g| *g == 0.0));
}

/// Every new layer, for inputs of `width` columns, and how many inputs it has.
fn layers(width: usize) -> Vec<(Box<dyn Layer<f64>>, usize)> {
    vec![
        (Box::new(with_values(BatchNorm::new("n", width))), 1),
        (Box::new(with_values(LayerNorm::new("n", width))), 1),
        (Box::new(PairNorm), 1),
        (Box::new(with_values(LinearOnto::new("l", width, width, 3 * width))), 2),
        (Box::new(Combine::new(0.9, 0.1)), 2),
        (Box::new(Maximum), 2),
        (Box::new(NeighbourMax::new(1)), 1),
    ]
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (n, width) = (1100, 7);
    for (layer, inputs) in layers(width) {
        let inputs: Vec<_> = (0..inputs).map(|i| random_block(n, width, i as u64)).collect();
        let seen = [1, 2, 3, 8].map(|threads| {
            let fixture = ring(n, threads);
            let y = fixture.forward(layer.as_ref(), &inputs);
            let (by_input, weights) = fixture.backward(layer.as_ref(), &inputs, &random_block(n, width, 9));
            let all = by_input.iter().chain(&weights).chain([&y]);
            all.flat_map(|b| b.as_slice()).map(|v| v.to_bits()).collect::<Vec<_>>()
        });
        assert!(seen.iter().all(|bits| *bits == seen[0]), "{}", layer.kind());
    }
}

#[test]
fn no_row_and_no_column_work() {
    for (n, width) in [(0, 4), (5, 0), (0, 0)] {
        let fixture = ring(n, 2);
        for (layer, inputs) in layers(width) {
            let inputs: Vec<_> = (0..inputs).map(|_| random_block(n, width, 1)).collect();
            let y = fixture.forward(layer.as_ref(), &inputs);
            let (by_input, weights) = fixture.backward(layer.as_ref(), &inputs, &y);
            assert!(by_input.iter().all(|g| g.as_slice().is_empty()), "{}", layer.kind());
            // Nothing that would spoil running values.
            assert!(weights.iter().all(|w| w.as_slice().iter().all(|v| *v == 0.0)), "{}", layer.kind());
        }
    }
}

#[test]
fn nan_passes_through() {
    let fixture = Fixture::<f64>::new(false);
    for (layer, inputs) in layers(3) {
        for at in 0..inputs {
            let mut inputs: Vec<_> = (0..inputs).map(|i| random_block(12, 3, i as u64)).collect();
            // Node 3 has neighbours in the draw.
            inputs[at].row_mut(3)[1] = f64::NAN;
            let y = fixture.forward(layer.as_ref(), &inputs);
            assert!(y.as_slice().iter().any(|v| v.is_nan()), "{} {at}", layer.kind());
        }
    }
}

#[test]
fn a_part_is_initialised_as_the_whole() {
    let layer = LinearOnto::<f32>::new("l", 5, 4, 20);
    assert_eq!((layer.parameters()[0].shape, layer.parameters()[0].fan), ((5, 4), (20, 4)));
    let first = sapwood_train::layer::Linear::<f32>::new("l", 5, 4, true).part_of(20);
    assert_eq!((first.parameters()[0].fan, first.parameters()[1].fan), ((20, 4), (1, 4)));
    assert!(layer.width(&[4, 5]).is_ok() && layer.width(&[5, 4]).is_err() && layer.width(&[4]).is_err());
}

#[test]
fn equal_maxima_give_their_gradient_to_the_first() {
    let fixture = Fixture::<f64>::new(false);
    let (a, mut b) = (random_block(12, 3, 1), random_block(12, 3, 2));
    (0..12).step_by(2).for_each(|i| b.row_mut(i).copy_from_slice(a.row(i)));
    let (y, r) = (fixture.forward(&Maximum, &[a.clone(), b.clone()]), random_block(12, 3, 3));
    let (by_input, _) = fixture.backward(&Maximum, &[a.clone(), b.clone()], &r);
    for (i, c) in (0..12).flat_map(|i| (0..3).map(move |c| (i, c))) {
        let (a, b, g) = (a.row(i)[c], b.row(i)[c], r.row(i)[c]);
        assert_eq!(y.row(i)[c], if a >= b { a } else { b });
        let want = if a >= b { (g, 0.0) } else { (0.0, g) };
        assert_eq!((by_input[0].row(i)[c], by_input[1].row(i)[c]), want);
    }
}

/// The largest of each coordinate among the neighbours, and where its gradient goes.
fn brute_force(operator: &Operator<f64>, x: &Block<f64>, g: &Block<f64>) -> (Block<f64>, Block<f64>) {
    let mut y = Block::zeros(x.rows(), x.cols()).unwrap();
    let mut dx = Block::zeros(x.rows(), x.cols()).unwrap();
    for (i, c) in (0..x.rows()).flat_map(|i| (0..x.cols()).map(move |c| (i, c))) {
        let mut best: Option<usize> = None;
        for (j, _) in operator.row(i) {
            if best.is_none_or(|b| x.row(j as usize)[c] > x.row(b)[c]) {
                best = Some(j as usize);
            }
        }
        if let Some(j) = best {
            y.row_mut(i)[c] = x.row(j)[c];
            dx.row_mut(j)[c] += g.row(i)[c];
        }
    }
    (y, dx)
}

#[test]
fn neighbour_max_equals_a_loop_over_neighbours() {
    // Small whole numbers: most maxima have ties.
    let numbers = |seed| {
        let x = random_block(300, 5, seed);
        Block::from_fn(300, 5, |i, j| (x.row(i)[j] * 3.0).round()).unwrap()
    };
    let planted = worlds::planted(300, 3, 0.05, 0.01, 4);
    let fixture = Fixture::<f64>::of(planted, 2, 2);
    let (x, g) = (numbers(1), numbers(2));
    for layer in [1, 2] {
        let (y, dx) = brute_force(&fixture.operators[layer - 1], &x, &g);
        let max = NeighbourMax::new(layer as u16);
        assert_eq!(fixture.forward(&max, std::slice::from_ref(&x)).as_slice(), y.as_slice());
        assert_eq!(fixture.backward(&max, std::slice::from_ref(&x), &g).0[0].as_slice(), dx.as_slice());
    }
    assert_ne!(
        brute_force(&fixture.operators[0], &x, &g).0.as_slice(),
        brute_force(&fixture.operators[1], &x, &g).0.as_slice()
    );
}

#[test]
fn neighbour_max_follows_arcs_and_leaves_the_node_itself_out() {
    let runtime = Runtime::threads(2).unwrap();
    let mut random = worlds::uniform(8);
    let edges = (0..400).map(|_| Edge { from: (random() * 60.0) as u32, to: (random() * 60.0) as u32, weight: 2.0 });
    let options = GraphOptions { directed: true, ..GraphOptions::default() };
    let (graph, _) = Graph::build(64, edges.collect(), options).unwrap();
    assert!(!graph.self_loops().is_empty());
    for form in ["rw", "aug"] {
        let form = Normalisation::new(form, SelfLoops::Add).unwrap();
        let operator = Operator::<f64>::full(runtime.exec(), &graph, form).unwrap();
        let (x, g) = (random_block(64, 3, 1), random_block(64, 3, 2));
        let (y, dx) = brute_force(&operator, &x, &g);
        let (mut got, mut back) = (Block::zeros(64, 3).unwrap(), Block::zeros(64, 3).unwrap());
        operator.largest(runtime.exec(), &x, &mut got).unwrap();
        operator.largest_transposed_onto(runtime.exec(), &x, &g, &mut Vec::new(), &mut back, Affine::SET).unwrap();
        assert_eq!((got.as_slice(), back.as_slice()), (y.as_slice(), dx.as_slice()));
        // Nodes 60 to 63 have no neighbour.
        assert!((60..64).all(|i| got.row(i) == [0.0; 3] && back.row(i) == [0.0; 3]));
        let wrong = operator.largest(runtime.exec(), &x, &mut Block::zeros(63, 3).unwrap()).unwrap_err();
        assert!(wrong.to_string().contains("rows"), "{wrong}");
    }
}

#[test]
fn branches_have_masks_of_their_own() {
    let fixture = Fixture::<f64>::new(false);
    let ones = [Block::from_fn(12, 5, |_, _| 1.0).unwrap()];
    let mask = |branch| fixture.forward(&Dropout::new(0.5, 2).unwrap().branch(branch), &ones).as_slice().to_vec();
    assert_eq!(mask(0), fixture.forward(&Dropout::new(0.5, 2).unwrap(), &ones).as_slice());
    assert!(mask(0) != mask(1) && mask(1) != mask(2));
    // Branch b begins at unit b·⌈60 / 4⌉, four elements to a unit.
    use sapwood_skeleton::random::{Purpose, Stream};
    let stream = Stream::new(KEY.seed, Purpose::Dropout);
    for (at, &v) in mask(2).iter().enumerate() {
        let word = stream.at(KEY.epoch, 2 << 12, 2 * 15 + at as u64 / 4).unwrap()[at % 4];
        assert_eq!(v, if word < 1 << 31 { 0.0 } else { 2.0 });
    }
}
