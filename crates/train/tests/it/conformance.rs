//! Everything in a registry trains; a new sampler is one file and one line.

use crate::worlds;
use sapwood_graph::sampler::{self, DrawBuffers, Prepared, Sampled, Sampler, SamplerOptions};
use sapwood_graph::{DrawKey, Graph, SamplerFacts, TrainLabels};
use sapwood_skeleton::Exec;
use sapwood_train::{Registries, init, model, optimiser, select};
use std::sync::Arc;

/// Trains 3 epochs with every combination of the registries given.
fn suite(samplers: &[sampler::Entry]) {
    let registries = Registries { models: model::ALL, samplers };
    for model in model::ALL {
        for sampler in samplers {
            for (init, optimiser) in init::ALL.iter().flat_map(|i| optimiser::ALL.iter().map(move |o| (i, o))) {
                for (select, sparse) in select::ALL.iter().flat_map(|s| [(s, true), (s, false)]) {
                    let settings = worlds::settings_with(registries, |r| {
                        (r.model, r.sampler) = (Some(model.name.into()), Some(sampler.name.into()));
                        (r.init, r.optimiser, r.select) =
                            (Some(init.name.into()), Some(optimiser.name.into()), Some(select.name.into()));
                        r.against = Some(vec![]);
                    });
                    let mut world = worlds::planted(30, 3, 0.3, 0.05, 8);
                    if sparse {
                        world.features = worlds::sparse(30, 9, 2);
                    }
                    let outcome = worlds::train_with::<f32>(world, &settings, registries, 2);
                    let what = format!("{} {} {} {}", model.name, sampler.name, init.name, select.name);
                    let run = &outcome.methods[0].runs[0];
                    assert!(outcome.complete() && run.epochs == 3, "{what}");
                    assert!(run.train_loss.is_finite() && run.best.is_some(), "{what}");
                    assert_eq!(outcome.methods[0].name, sampler.name);
                }
            }
        }
    }
}

#[test]
fn every_model_trains_with_every_sampler_initialisation_optimiser_and_rule() {
    suite(sampler::ALL);
}

/// A sampler of this test: keeps the pairs with an even number, in every draw.
struct Even;

impl Sampler for Even {
    fn prepare(&self, _: Exec<'_>, graph: &Arc<Graph>, _: &TrainLabels) -> sapwood_graph::Result<Box<dyn Prepared>> {
        Ok(Box::new(Halved { units: graph.pairs() }))
    }
}

struct Halved {
    units: u64,
}

impl Prepared for Halved {
    fn kept<'a>(&self, _: Exec<'_>, _: DrawKey, buffers: &'a mut DrawBuffers) -> sapwood_graph::Result<Sampled<'a>> {
        buffers.mask.reset(self.units as usize, false);
        (0..self.units as usize).step_by(2).for_each(|i| buffers.mask.set(i, true));
        Ok(Sampled::Pairs(&buffers.mask))
    }

    fn facts(&self) -> SamplerFacts {
        SamplerFacts::plain(TOY.name, 0.5, self.units, self.units / 2, 0.0)
    }
}

const TOY: sampler::Entry = sampler::Entry {
    name: "even",
    summary: "keeps every second pair",
    reads: &[],
    new: |_: &SamplerOptions| Ok(Box::new(Even)),
};

#[test]
fn a_new_sampler_is_one_line() {
    suite(&[TOY]);
}
