//! The reference instance: 96 layers on 16 stages, 32 micro-batches, 56 000 MB.

use super::{judged, plan};
use crate::reference::problem;
use sapwood_plan::schedule::{Dims, Grouping};

fn dims(chunks: usize) -> Dims {
    Dims { stages: 16, chunks, micro_batches: 32, group: Grouping::First }
}

#[test]
fn golden_answers() {
    let problem = problem();
    for chunks in [1, 2] {
        for entry in sapwood_plan::baseline::ALL {
            let start = std::time::Instant::now();
            let answer = plan(entry.name, &problem, &dims(chunks));
            let took = start.elapsed();
            match answer {
                Ok(plan) => {
                    let (makespan, peaks) = judged(&problem, &dims(chunks), &plan);
                    eprintln!(
                        "{} V={chunks}: {makespan}, objective {:?} {}, {took:?}\n  {peaks:?}\n  {:?}\n  {:?}",
                        entry.name,
                        plan.objective,
                        plan.proved,
                        plan.layout.body(&problem),
                        plan.layout.counts(&problem).unwrap().chunks(6).map(|r| r[1..5].to_vec()).collect::<Vec<_>>()
                    );
                }
                Err(why) => eprintln!("{} V={chunks}: {why}, {took:?}", entry.name),
            }
        }
    }
}
