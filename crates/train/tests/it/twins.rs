//! The forward pass of every model at L = 4 against its definition on dense matrices, with activations really put side by
//! side and no product reordered.

use crate::checks::Fixture;
use crate::models::{network, shape, variants};
use crate::worlds;
use sapwood_graph::FeatureMatrix;
use sapwood_train::model::{self, Aggregator, Jump, ModelOptions, NormLayer};
use sapwood_train::network::Pass;
use sapwood_train::{Arena, Network, Partials};
use std::collections::BTreeMap;

type Rows = Vec<Vec<f64>>;

fn times(a: &Rows, b: &Rows) -> Rows {
    let cell = |row: &[f64], c: usize| row.iter().zip(b).map(|(x, b)| x * b[c]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|c| cell(row, c)).collect()).collect()
}

fn each(a: &Rows, b: &Rows, f: impl Fn(f64, f64) -> f64) -> Rows {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(x, y)| f(*x, *y)).collect()).collect()
}

fn beside(parts: &[Rows]) -> Rows {
    (0..parts[0].len()).map(|i| parts.iter().flat_map(|p| p[i].clone()).collect()).collect()
}

fn mean(v: impl Iterator<Item = f64> + Clone) -> f64 {
    v.clone().sum::<f64>() / v.count() as f64
}

/// The parameters of a network, Â, X and the options.
struct Twin {
    parameters: BTreeMap<String, Rows>,
    a: Rows,
    x: Rows,
    options: ModelOptions,
}

impl Twin {
    fn new(network: &Network<f64>, fixture: &Fixture<f64>, features: &FeatureMatrix, options: ModelOptions) -> Twin {
        let rows = |p: &sapwood_train::Parameter<f64>| (0..p.shape.0).map(|i| p.value.row(i).to_vec()).collect();
        let parameters = network.parameters().map(|p| (p.name.clone(), rows(p))).collect();
        let operator = &fixture.operators[0];
        let mut a = vec![vec![0.0; operator.nodes()]; operator.nodes()];
        for (i, row) in a.iter_mut().enumerate() {
            operator.row(i).for_each(|(j, value)| row[j as usize] = value);
            row[i] += operator.diagonal()[i];
        }
        let x = match features {
            FeatureMatrix::Dense(x) => {
                (0..x.rows()).map(|i| x.row(i).iter().map(|v| f64::from(*v)).collect()).collect()
            }
            FeatureMatrix::Sparse(x) => {
                let mut dense = vec![vec![0.0; x.cols()]; x.rows()];
                for (i, row) in dense.iter_mut().enumerate() {
                    x.row(i).iter().zip(x.row_values(i)).for_each(|(&j, v)| row[j as usize] = f64::from(*v));
                }
                dense
            }
        };
        Twin { parameters, a, x, options }
    }

    fn p(&self, name: &str) -> &Rows {
        self.parameters.get(name).unwrap_or_else(|| panic!("{name} of {:?}", self.parameters.keys()))
    }

    /// The weight called `name`, or its parts `name.0`, `name.1`, … one below the other.
    fn weight(&self, name: &str) -> Rows {
        if self.parameters.contains_key(&format!("{name}.weight")) {
            return self.p(&format!("{name}.weight")).clone();
        }
        let parts = (0..).map_while(|l| self.parameters.get(&format!("{name}.{l}.weight")));
        parts.flatten().cloned().collect()
    }

    fn linear(&self, name: &str, h: &Rows) -> Rows {
        times(h, &self.weight(name))
    }

    fn biased(&self, name: &str, z: Rows) -> Rows {
        let b = &self.p(&format!("{name}.bias"))[0];
        z.into_iter().map(|row| row.iter().zip(b).map(|(z, b)| z + b).collect()).collect()
    }

    fn convolution(&self, name: &str, h: &Rows) -> Rows {
        let z = times(&self.a, &self.linear(&format!("{name}.lin"), h));
        match self.options.with_self {
            true => each(&z, &self.linear(&format!("{name}.self"), h), |a, b| a + b),
            false => z,
        }
    }

    fn norm(&self, name: &str, z: Rows) -> Rows {
        let (n, width) = (z.len(), z[0].len());
        let p = |last: &str, c: usize| self.p(&format!("{name}.norm.{last}"))[0][c];
        let column = |c: usize| (0..n).map(move |i| (i, c));
        let centre: Vec<f64> = (0..width).map(|c| mean(column(c).map(|(i, c)| z[i][c]))).collect();
        let squares = |c: usize| (0..n).map(|i| (z[i][c] - centre[c]).powi(2)).sum::<f64>();
        let cell = |i: usize, c: usize| match self.options.norm_layer {
            NormLayer::None => z[i][c],
            NormLayer::Batch => {
                let unit = (z[i][c] - centre[c]) / (squares(c) / n as f64 + 1e-5).sqrt();
                unit * p("weight", c) + p("bias", c)
            }
            NormLayer::Layer => {
                let m = mean(z[i].iter().copied());
                let v = mean(z[i].iter().map(|x| (x - m).powi(2)));
                (z[i][c] - m) / (v + 1e-5).sqrt() * p("weight", c) + p("bias", c)
            }
            NormLayer::Pair => {
                let all: f64 = (0..width).map(squares).sum();
                (z[i][c] - centre[c]) * (n as f64).sqrt() / (all + 1e-6).sqrt()
            }
        };
        (0..n).map(|i| (0..width).map(|c| cell(i, c)).collect()).collect()
    }

    fn relu(&self, name: &str, z: Rows) -> Rows {
        let z = self.norm(name, z);
        each(&z, &z, |a, _| a.max(0.0))
    }

    fn hidden(&self, name: &str, h: &Rows) -> Rows {
        self.relu(name, self.biased(name, self.convolution(name, h)))
    }

    fn hidden_linear(&self, name: &str, h: &Rows) -> Rows {
        self.relu(name, self.biased(name, self.linear(name, h)))
    }

    /// The output layer has a norm if it is one over the nodes.
    fn output(&self, name: &str, bias: &str, z: Rows) -> Rows {
        let z = self.biased(bias, z);
        if self.options.norm_layer == NormLayer::Batch { self.norm(name, z) } else { z }
    }

    fn output_convolution(&self, h: &Rows) -> Rows {
        self.output("convs.3", "convs.3", self.convolution("convs.3", h))
    }

    fn neighbours(&self, h: &Rows) -> Rows {
        if self.options.aggregator == Aggregator::Mean {
            return times(&self.a, h);
        }
        let largest = |i: usize, c: usize| {
            let others = (0..h.len()).filter(|&j| j != i && self.a[i][j] != 0.0);
            others.map(|j| h[j][c]).reduce(f64::max).unwrap_or(0.0)
        };
        (0..h.len()).map(|i| (0..h[0].len()).map(|c| largest(i, c)).collect()).collect()
    }

    fn sage(&self, sparse: bool) -> Rows {
        let mut h = self.x.clone();
        for layer in 0..4 {
            let (name, left) = (format!("convs.{layer}"), format!("convs.{layer}.lin_l"));
            let products = layer == 0 && sparse && self.options.aggregator == Aggregator::Max;
            let near = match products {
                true => self.neighbours(&self.linear(&left, &h)),
                false => self.linear(&left, &self.neighbours(&h)),
            };
            let z = each(&near, &self.linear(&format!("{name}.lin_r"), &h), |a, b| a + b);
            h = if layer == 3 { self.output(&name, &left, z) } else { self.relu(&name, self.biased(&left, z)) };
        }
        h
    }

    fn jknet(&self) -> Rows {
        let mut all = vec![self.hidden_linear("lins.0", &self.x)];
        for layer in 0..3 {
            all.push(self.hidden(&format!("convs.{layer}"), &all[layer]));
        }
        let seen = match self.options.jk {
            Jump::Concat => beside(&all),
            Jump::Max => all.iter().cloned().reduce(|a, b| each(&a, &b, f64::max)).unwrap(),
        };
        self.output("lins.1", "lins.1", self.linear("lins.1", &seen))
    }

    fn gcnii(&self) -> Rows {
        let start = self.hidden_linear("lins.0", &self.x);
        let mut h = start.clone();
        for l in 1..3 {
            let (name, tau) = (format!("convs.{}", l - 1), self.options.teleport);
            let beta = (self.options.lambda / l as f64 + 1.0).ln();
            let s = each(&times(&self.a, &h), &start, |a, h| (1.0 - tau) * a + tau * h);
            let z = each(&s, &self.linear(&format!("{name}.lin"), &s), |s, w| (1.0 - beta) * s + beta * w);
            h = self.relu(&name, z);
        }
        self.output("lins.1", "lins.1", self.linear("lins.1", &h))
    }

    fn perceptron(&self) -> Rows {
        let h = (0..3).fold(self.x.clone(), |h, l| self.hidden_linear(&format!("lins.{l}"), &h));
        self.output("lins.3", "lins.3", self.linear("lins.3", &h))
    }

    fn appnp(&self) -> Rows {
        let start = self.perceptron();
        let tau = self.options.teleport;
        let step = |z: Rows, _| each(&times(&self.a, &z), &start, |a, h| (1.0 - tau) * a + tau * h);
        (0..self.options.prop_steps).fold(start.clone(), step)
    }

    fn logits(&self, model: &str, sparse: bool) -> Rows {
        let chain = |first: &Rows, names: &[&str]| names.iter().fold(first.clone(), |h, name| self.hidden(name, &h));
        match model {
            "mlp" => self.perceptron(),
            "gcn" => self.output_convolution(&chain(&self.x, &["convs.0", "convs.1", "convs.2"])),
            "resgcn" => {
                let skip = |h: Rows, name: &str| each(&self.hidden(name, &h), &h, |a, b| a + b);
                self.output_convolution(&skip(skip(self.hidden("convs.0", &self.x), "convs.1"), "convs.2"))
            }
            "densegcn" => {
                let x = self.hidden("convs.0", &self.x);
                let (one, two) = (chain(&x, &["convs.1"]), chain(&x, &["convs.1", "convs.2"]));
                self.output_convolution(&beside(&[x, one, two]))
            }
            "incepgcn" => {
                let x = self.hidden("convs.0", &self.x);
                let (one, two) = (chain(&x, &["branches.0.0"]), chain(&x, &["branches.1.0", "branches.1.1"]));
                self.output_convolution(&beside(&[x, one, two]))
            }
            "jknet" => self.jknet(),
            "sage" => self.sage(sparse),
            "gcnii" => self.gcnii(),
            "appnp" => self.appnp(),
            other => panic!("{other} has no twin"),
        }
    }
}

#[test]
fn every_model_equals_its_definition() {
    for entry in model::ALL {
        for options in variants(entry) {
            for sparse in [true, false] {
                let network = network::<f64>(entry, &shape(4, sparse, 0.0, options));
                let fixture = Fixture::new(sparse);
                let (mut partials, mut chosen) = (Partials::default(), Vec::new());
                let mut cx = fixture.cx(&mut partials, &mut chosen);
                let logits = network.forward(&mut Pass::default(), &mut Arena::new(), &mut cx, false).unwrap();
                let features = worlds::twelve(sparse).features;
                let want = Twin::new(&network, &fixture, &features, options).logits(entry.name, sparse);
                for (i, want) in want.iter().enumerate() {
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
                    let same = logits.row(i).iter().zip(want).all(near);
                    assert!(same, "{} {i} {options:?}: {:?} {want:?}", entry.name, logits.row(i));
                }
            }
        }
    }
}
