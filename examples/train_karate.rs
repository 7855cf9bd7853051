//! A graph network trained through the library: Zachary's karate club, all edges against DropEdge, six paired seeds.
//!
//! The graph has 34 nodes and 16 of them are tested, so six seeds show nothing, and the output says so. Some single seeds
//! would have named a winner.
//!
//! `cargo run --release --example train_karate`

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use sapwood::graph::{LoadOptions, features, load};
use sapwood::skeleton::Runtime;
use sapwood::train::{Problem, Registries, Request, Settings, experiment};
use std::error::Error;

const KARATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/karate");

fn main() -> Result<(), Box<dyn Error>> {
    let data = load(KARATE, &LoadOptions::default())?;
    let split = data.split(None)?.clone();

    // What is not said here takes its default: model gcn, sampler dropedge at p = 0.3 against none, Adam.
    let request =
        Request { layers: Some(2), hidden: Some(16), epochs: Some(100), seeds: Some(6), ..Request::default() };
    let settings = Settings::resolve(&request, &data.name, Registries::default())?;

    let runtime = Runtime::threads(2)?;
    let made = features::make(&data, settings.features, settings.seed)?;
    let problem = Problem::<f32>::new(runtime.exec(), data, made.matrix, &split, &settings)?;
    let methods = experiment::methods(runtime.exec(), &problem, &settings, Registries::default())?;
    let outcome = experiment::run(runtime.exec(), &problem, &settings, &methods, None, &mut ())?;

    for method in &outcome.methods {
        let Some(s) = method.summary() else { continue };
        let fingerprint = &method.runs[0].fingerprint;
        println!(
            "{:<9} {:.3} from {:.3} to {:.3}, weights of seed 0: {fingerprint}",
            method.name, s.mean, s.min, s.max
        );
    }
    for pair in &outcome.paired {
        let p = &pair.paired;
        println!(
            "{} - {}: {:+.3} [{:+.3}, {:+.3}], {}",
            pair.a,
            pair.b,
            p.mean_diff,
            p.ci_low,
            p.ci_high,
            p.verdict().words()
        );
    }
    Ok(())
}
