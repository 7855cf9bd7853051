//! Each planner against enumeration of its own objective.

use super::draw::{Draw, draws};
use super::twin::{self, Chunk, choices, cut_of, cuts, items_of, lightest, peak, sum, time};
use super::{judged, plan};
use proptest::prelude::*;
use sapwood_plan::problem::{Item, Problem};
use sapwood_plan::schedule::Dims;

/// The best cuts by slowest stage, then by sum of squares, with the slowest stage.
fn balanced(problem: &Problem, dims: &Dims, transfer: u64) -> Option<(u64, Vec<Vec<Chunk>>)> {
    let key = |cut: &Vec<Chunk>| {
        let of = |(at, chunk): (usize, &Chunk)| {
            let items: Vec<&Item> = chunk.iter().map(|&segment| lightest(problem, segment)).collect();
            time(&items).max(if at > 0 { transfer } else { 0 })
        };
        let times: Vec<u64> = cut.iter().enumerate().map(of).collect();
        (times.iter().copied().max().unwrap(), times.iter().map(|t| t * t).sum::<u64>())
    };
    let all = cuts(problem, dims);
    let least = all.iter().map(key).min()?;
    Some((least.0, all.into_iter().filter(|cut| key(cut) == least).collect()))
}

/// The fewest fully recomputed layers of a stage that fit.
fn fewest(problem: &Problem, dims: &Dims, stage: usize, chunk: &Chunk) -> Option<usize> {
    let allowed = |item: &Item| {
        let full = problem.model().segments[item.segment].kinds[item.kind].name == "full";
        full && problem.is_body(item.segment) || item == lightest(problem, item.segment)
    };
    let own = choices(problem, chunk, false).into_iter().filter(|items| items.iter().all(|item| allowed(item)));
    let fits = own.filter(|items| peak(problem, dims, stage, items) <= problem.caps()[stage]);
    fits.map(|items| items.iter().filter(|item| **item != lightest(problem, item.segment)).count()).min()
}

/// The least extra time of a stage in 1/1024 of its cap.
fn quantised(problem: &Problem, dims: &Dims, stage: usize, items: &[&Item]) -> Option<u64> {
    let (cap, flight) = (problem.caps()[stage], dims.micro_batches.min(dims.stages - stage) as u64);
    let transient = items.iter().map(|item| item.transient).max().unwrap_or(0);
    let fixed = problem.constant()[stage] + sum(items, |item| item.parameters) + transient;
    let room = cap.checked_sub(fixed)? * 1024 / cap.max(1);
    let parts = sum(items, |item| (flight * item.activation * 1024).div_ceil(cap.max(1)));
    (parts <= room).then(|| time(items))
}

/// (T, extra time) of every choice of a stage's chunks that SAPP's model allows.
fn pairs(problem: &Problem, dims: &Dims, stage: usize, chunks: &[&Chunk]) -> Vec<(u64, u64)> {
    let (s, n, m) = (stage as i64, dims.stages as i64, dims.micro_batches as i64);
    let flight = |v: usize| match (dims.chunks, v) {
        (1, _) => n - s,
        (_, 0) => m.min(n + (n - 2 * s - 1).max(0)),
        (all, v) if v + 1 == all => m.min(n + (n - 2 * s - 1).min(0)),
        _ => m.min(n),
    };
    let mut all: Vec<(u64, u64, u64, u64)> = vec![(0, 0, problem.constant()[stage], 0)];
    for (v, chunk) in chunks.iter().enumerate() {
        let flight = flight(v) as u64;
        let add = |&(f, b, memory, extra): &(u64, u64, u64, u64), items: &Vec<&Item>| {
            let own = (sum(items, |i| i.forward), sum(items, |i| i.backward + i.extra));
            let body: Vec<&Item> = items.iter().copied().filter(|item| problem.is_body(item.segment)).collect();
            let memory = memory + sum(items, |i| i.parameters + flight * i.activation);
            (f.max(own.0), b.max(own.1), memory, extra + sum(&body, |i| i.extra))
        };
        let own = choices(problem, chunk, false);
        all = all.iter().flat_map(|before| own.iter().map(|items| add(before, items)).collect::<Vec<_>>()).collect();
        all.retain(|&(_, _, memory, _)| memory <= problem.caps()[stage]);
    }
    all.into_iter().map(|(f, b, _, extra)| (f + b, extra)).collect()
}

/// The least T of SAPP's model, and the least extra time with it.
fn sapp(problem: &Problem, dims: &Dims) -> Option<(u64, u64)> {
    let stages = |cut: &Vec<Chunk>| -> Vec<Vec<(u64, u64)>> {
        let of = |stage| {
            let own: Vec<&Chunk> = (0..dims.chunks).map(|v| &cut[v * dims.stages + stage]).collect();
            pairs(problem, dims, stage, &own)
        };
        (0..dims.stages).map(of).collect()
    };
    let all: Vec<Vec<Vec<(u64, u64)>>> = cuts(problem, dims).iter().map(stages).collect();
    let slowest = |cut: &Vec<Vec<(u64, u64)>>| {
        let each: Option<Vec<u64>> = cut.iter().map(|own| own.iter().map(|pair| pair.0).min()).collect();
        each?.into_iter().max()
    };
    let least = all.iter().filter_map(slowest).min()?;
    let extra = |cut: &Vec<Vec<(u64, u64)>>| -> Option<u64> {
        cut.iter().map(|own| own.iter().filter(|pair| pair.0 <= least).map(|pair| pair.1).min()).sum()
    };
    Some((least, all.iter().filter_map(extra).min().unwrap()))
}

/// Whether the draw has a layer for each virtual stage.
fn real(draw: &Draw) -> Option<(Problem, Dims)> {
    let (problem, dims) = (draw.problem(), draw.dims());
    problem.accepts(&dims).ok().map(|()| (problem, dims))
}

/// All caps are kept, by the exact simulator.
fn within(problem: &Problem, dims: &Dims, plan: &sapwood_plan::baseline::Plan) -> bool {
    judged(problem, dims, plan).1.iter().zip(problem.caps()).all(|(peak, cap)| peak <= cap)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn pipedream_has_the_fastest_slowest_stage(draw in draws(1)) {
        let Some((problem, dims)) = real(&draw) else { return Ok(()) };
        let best = balanced(&problem, &dims, 2 * problem.link());
        match plan("pipedream", &problem, &dims) {
            Ok(plan) => {
                let (slowest, cuts) = best.unwrap();
                prop_assert_eq!(plan.objective, Some(slowest));
                prop_assert!(cuts.contains(&cut_of(&plan.layout)));
                prop_assert!(within(&problem, &dims, &plan));
                // Lightest: none of its stages fits without recomputation and has some.
                for (stage, (chunk, items)) in cut_of(&plan.layout).iter().zip(items_of(&problem, &plan.layout)).enumerate() {
                    let light: Vec<&Item> = chunk.iter().map(|&segment| lightest(&problem, segment)).collect();
                    let fits = peak(&problem, &dims, stage, &light) <= problem.caps()[stage];
                    prop_assert!(!fits || time(&items) == time(&light));
                }
            }
            // Without transients the greedy way ends at the least memory of a stage.
            Err(_) if problem.items().iter().all(|item| item.transient == 0) => {
                let fits = |cut: &Vec<Chunk>| cut.iter().enumerate().all(|(stage, chunk)| {
                    let least = choices(&problem, chunk, true).iter().map(|items| peak(&problem, &dims, stage, items)).min();
                    least.unwrap() <= problem.caps()[stage]
                });
                prop_assert!(best.is_none_or(|(_, cuts)| cuts.iter().any(|cut| !fits(cut))));
            }
            Err(_) => {}
        }
    }

    #[test]
    fn merak_recomputes_the_fewest_layers(draw in draws(1)) {
        let Some((problem, dims)) = real(&draw) else { return Ok(()) };
        let best = balanced(&problem, &dims, 0);
        match plan("merak", &problem, &dims) {
            Ok(plan) => {
                let (slowest, cuts) = best.unwrap();
                let cut = cut_of(&plan.layout);
                prop_assert_eq!(plan.objective, Some(slowest));
                prop_assert!(cuts.contains(&cut));
                prop_assert!(within(&problem, &dims, &plan));
                for (stage, items) in items_of(&problem, &plan.layout).iter().enumerate() {
                    let full = items.iter().filter(|item| **item != lightest(&problem, item.segment)).count();
                    prop_assert_eq!(Some(full), fewest(&problem, &dims, stage, &cut[stage]));
                }
            }
            Err(_) => {
                let fits = |cut: &Vec<Chunk>| {
                    cut.iter().enumerate().all(|(stage, chunk)| fewest(&problem, &dims, stage, chunk).is_some())
                };
                prop_assert!(best.is_none_or(|(_, cuts)| cuts.iter().any(|cut| !fits(cut))));
            }
        }
    }

    #[test]
    fn adapipe_has_the_least_sum_and_slowest_stage(draw in draws(1)) {
        let Some((problem, dims)) = real(&draw) else { return Ok(()) };
        let rounds = dims.micro_batches as u64 - 1;
        let cost = |times: Vec<u64>| times.iter().sum::<u64>() + rounds * times.iter().max().unwrap();
        let of = |cut: &Vec<Chunk>| {
            let stage = |(stage, chunk)| {
                choices(&problem, chunk, true).iter().filter_map(|items| quantised(&problem, &dims, stage, items)).min()
            };
            cut.iter().enumerate().map(stage).collect::<Option<Vec<u64>>>().map(cost)
        };
        let best = twin::cuts(&problem, &dims).iter().filter_map(of).min();
        let plan = plan("adapipe", &problem, &dims);
        prop_assert_eq!(plan.as_ref().ok().and_then(|plan| plan.objective), best);
        if let Ok(plan) = plan {
            let times = items_of(&problem, &plan.layout).iter().map(|items| time(items)).collect();
            prop_assert_eq!(Some(cost(times)), best);
            prop_assert!(within(&problem, &dims, &plan));
            prop_assert!(twin::cuts(&problem, &dims).contains(&cut_of(&plan.layout)));
        }
    }

    #[test]
    fn sapp_has_the_least_t_and_then_the_least_recomputation(draw in draws(3)) {
        let Some((problem, dims)) = real(&draw) else { return Ok(()) };
        let best = sapp(&problem, &dims);
        let plan = plan("sapp", &problem, &dims);
        prop_assert_eq!(plan.as_ref().ok().and_then(|plan| plan.objective), best.map(|best| best.0));
        let (Ok(plan), Some((least, extra))) = (plan, best) else { return Ok(()) };
        let cut = cut_of(&plan.layout);
        prop_assert!(plan.proved && twin::cuts(&problem, &dims).contains(&cut));
        // What it has is within the model, and as good as it says.
        let (mut total, items) = (0, items_of(&problem, &plan.layout));
        for stage in 0..dims.stages {
            let own: Vec<&Chunk> = (0..dims.chunks).map(|v| &cut[v * dims.stages + stage]).collect();
            let of = |v: usize| &items[v * dims.stages + stage];
            let most = |of: &dyn Fn(usize) -> u64| (0..dims.chunks).map(of).max().unwrap();
            let t = most(&|v| sum(of(v), |i| i.forward)) + most(&|v| sum(of(v), |i| i.backward + i.extra));
            let body = (0..dims.chunks).flat_map(|v| of(v).iter().copied().filter(|i| problem.is_body(i.segment)));
            let own_extra = body.map(|item| item.extra).sum::<u64>();
            prop_assert!(t <= least && pairs(&problem, &dims, stage, &own).contains(&(t, own_extra)));
            total += own_extra;
        }
        prop_assert_eq!(total, extra);
    }
}
