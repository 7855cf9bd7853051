//! Baselines: what they answer on the reference instance, by hand, and against enumeration of their own objective.

mod draw;
mod laws;
mod reference;
mod twin;

use sapwood_plan::baseline::{self, Answer, Options, Plan};
use sapwood_plan::problem::Problem;
use sapwood_plan::schedule::{self, Dims};
use sapwood_plan::simulate::{Order, Sweep, Vectors};

/// The plan of a baseline, or why it has none.
pub(crate) fn plan(name: &str, problem: &Problem, dims: &Dims) -> Result<Plan, String> {
    match baseline::find(name).unwrap().plan(problem, dims, &Options::default()).unwrap() {
        Answer::Plan(plan) => Ok(plan),
        Answer::None(why) => Err(why),
    }
}

/// Makespan and peaks of a plan by the exact simulator.
pub(crate) fn judged(problem: &Problem, dims: &Dims, plan: &Plan) -> (u64, Vec<u64>) {
    let order = Order::new(schedule::find(plan.schedule).unwrap(), dims).unwrap();
    let (durations, memory) = problem.costs(&order, &plan.layout.counts(problem).unwrap());
    let vectors = Vectors::new(&order);
    let peaks = (0..dims.stages).map(|stage| vectors.peak(&order, stage, &memory).unwrap()).collect();
    (Sweep::new().run(&order, &durations), peaks)
}
