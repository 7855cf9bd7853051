//! Initial weights: one file per rule and one line in [`ALL`].
//!
//! Element i of parameter number j is number i of the plain stream at (j, 0) of the seed's weight stream, so the same
//! seed gives every sampler, and every model with the same parameters, the same start.

mod dropedge;
mod glorot;

use crate::Result;
use crate::network::Network;
use crate::number::Number;
use crate::parameter::Role;
use sapwood_skeleton::random::{Purpose, Stream};

/// The half width of the uniform distribution of a weight or bias of `rows` × `cols`; 0 leaves it zero.
pub type HalfWidth = fn(role: Role, rows: usize, cols: usize) -> f64;

/// A rule.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--init` spells it.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// The rule.
    pub half_width: HalfWidth,
}

/// Every rule.
pub static ALL: &[Entry] = &[dropedge::ENTRY, glorot::ENTRY];

/// The registry line of `name` among `all`.
///
/// # Errors
/// With the valid names and the nearest one.
pub fn find<'a>(all: &'a [Entry], name: &str) -> Result<&'a Entry> {
    let known = all.iter().map(|e| e.name);
    all.iter()
        .find(|e| e.name == name)
        .ok_or_else(|| sapwood_graph::Error::unknown("initialisation", name, known).into())
}

/// Allocates and fills all parameters of `network` for the run of `seed`.
///
/// # Errors
/// When there is no memory for them.
pub fn fill<T: Number>(network: &mut Network<T>, rule: &Entry, seed: u64) -> Result<()> {
    let stream = Stream::new(seed, Purpose::Weights);
    let mut words = [[0; 4]; 256];
    for (number, parameter) in network.parameters_mut().enumerate() {
        parameter.allocate()?;
        if let Some(start) = parameter.role.start() {
            parameter.value.as_mut_slice().fill(T::from_f64(start));
            continue;
        }
        let half = (rule.half_width)(parameter.role, parameter.fan.0, parameter.fan.1);
        for (part, values) in parameter.value.as_mut_slice().chunks_mut(4 * words.len()).enumerate() {
            stream.fill(number as u32, 0, (part * words.len()) as u64, &mut words)?;
            for (value, &word) in values.iter_mut().zip(words.as_flattened()) {
                // Centred, so that no value has a preferred sign.
                let uniform = (f64::from(word) + 0.5) / 4_294_967_296.0;
                *value = T::from_f64((2.0 * uniform - 1.0) * half);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model;
    use crate::network::Input;

    fn network(rule: &str, seed: u64) -> Network<f64> {
        let shape = model::Shape {
            features: Input { width: 300, sparse: true },
            layers: 3,
            hidden: 100,
            classes: 7,
            dropout: 0.5,
            options: model::ModelOptions::default(),
        };
        let mut network = model::build(model::find(model::ALL, "gcn").unwrap(), &shape).unwrap();
        fill(&mut network, find(ALL, rule).unwrap(), seed).unwrap();
        network
    }

    fn moments(values: &[f64]) -> (f64, f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        (mean, values.iter().map(|v| v * v).sum::<f64>() / n, largest)
    }

    #[test]
    fn glorot_has_the_right_width_and_no_bias() {
        let network = network("glorot", 7);
        for p in network.parameters() {
            let values = p.value.as_slice();
            if p.role == Role::Bias {
                assert!(values.iter().all(|&v| v == 0.0), "{}", p.name);
                continue;
            }
            let half = (6.0 / (p.value.rows() + p.value.cols()) as f64).sqrt();
            let (mean, square, largest) = moments(values);
            assert!(largest <= half && largest > 0.97 * half, "{}", p.name);
            assert!(
                mean.abs() < 0.1 * half && (square / (half * half / 3.0) - 1.0).abs() < 0.15,
                "{} {mean} {square}",
                p.name
            );
        }
    }

    #[test]
    fn dropedge_depends_on_the_outputs_and_fills_biases() {
        let network = network("dropedge", 7);
        for p in network.parameters() {
            let half = 1.0 / (p.value.cols() as f64).sqrt();
            let (_, square, largest) = moments(p.value.as_slice());
            assert!(square > 0.0 && largest <= half, "{}", p.name);
        }
    }

    #[test]
    fn a_seed_decides_every_weight() {
        let all = |n: &Network<f64>| n.parameters().flat_map(|p| p.value.as_slice().to_vec()).collect::<Vec<_>>();
        assert_eq!(all(&network("glorot", 7)), all(&network("glorot", 7)));
        assert_ne!(all(&network("glorot", 7)), all(&network("glorot", 8)));
    }
}
