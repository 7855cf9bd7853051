//! Makespans and peaks worked out by hand and by two independent simulators.

use sapwood_plan::schedule::{self, Dims, Grouping};
use sapwood_plan::simulate::memory::Activations;
use sapwood_plan::simulate::{Durations, Order, Sweep, Vectors, blocking, time, twin};

/// A case: forward times by chunk and stage; backwards take twice as long, activations are as large as forward times.
struct Case {
    schedule: &'static str,
    forward: Vec<Vec<f64>>,
    micro_batches: usize,
    group: Grouping,
    link: f64,
    blocking: bool,
    /// Backward and weight times by forward time, where the backward is split.
    split: Option<(f64, f64)>,
}

fn case(schedule: &'static str, forward: &[&[f64]], micro_batches: usize) -> Case {
    let forward = forward.iter().map(|row| row.to_vec()).collect();
    let group = Grouping::First;
    Case { schedule, forward, micro_batches, group, link: 0.0, blocking: false, split: None }
}

impl Case {
    fn group(self, size: usize) -> Case {
        Case { group: Grouping::Uniform(size), ..self }
    }

    fn link(self, link: f64) -> Case {
        Case { link, ..self }
    }

    fn blocking(self, link: f64) -> Case {
        Case { link, blocking: true, ..self }
    }

    /// The makespan and the peaks, in the units of the case.
    fn found(&self) -> (f64, Vec<f64>) {
        const TICKS: f64 = 10.0;
        let ticks = |v: f64| (v * TICKS).round() as u64;
        let (stages, chunks) = (self.forward[0].len(), self.forward.len());
        let dims = Dims { stages, chunks, micro_batches: self.micro_batches, group: self.group };
        let order = Order::new(schedule::find(self.schedule).unwrap(), &dims).unwrap();
        let placement = order.shape().placement;
        let kept: Vec<u64> = (0..dims.virtual_stages())
            .map(|at| placement.of(at, stages))
            .map(|(stage, chunk)| ticks(self.forward[chunk][stage]))
            .collect();
        let (backward, weight) = self.split.unwrap_or((2.0, 0.0));
        let scaled = |by: f64| kept.iter().map(move |&t| (t as f64 * by).round() as u64);
        let mut operations: Vec<u64> = kept.iter().copied().chain(scaled(backward)).collect();
        if order.shape().splits_backward {
            operations.extend(scaled(weight));
        }
        let mut durations = Durations::new(operations, dims.virtual_stages(), stages);
        durations.links[1..].fill(ticks(self.link));
        time::check(&order, &durations).unwrap();
        let makespan = if self.blocking {
            blocking::makespan(&order, &durations).unwrap()
        } else {
            let makespan = Sweep::new().run(&order, &durations);
            assert_eq!(makespan, twin::time(&order, &durations).1);
            makespan
        };
        let transient = vec![0; kept.len()];
        let memory = Activations { kept, transient, constant: vec![0; stages] };
        let vectors = Vectors::new(&order);
        let peaks: Vec<u64> = (0..stages).map(|s| vectors.peak(&order, s, &memory).unwrap()).collect();
        assert_eq!(peaks, twin::peaks(&order, &memory));
        (makespan as f64 / TICKS, peaks.into_iter().map(|p| p as f64 / TICKS).collect())
    }

    fn is(&self, makespan: f64, peaks: &[f64]) {
        let found = self.found();
        let name = (self.schedule, &self.forward, self.micro_batches, self.group, self.link);
        assert_eq!(found.0, makespan, "{name:?}");
        assert_eq!(found.1, peaks, "{name:?}");
    }

    fn takes(&self, makespan: f64) {
        assert_eq!(self.found().0, makespan, "{} link {}", self.schedule, self.link);
    }
}

fn a() -> Case {
    case("1f1b", &[&[8.0, 8.0, 8.0, 8.8]], 16)
}

fn b() -> Case {
    case("interleaved", &[&[2.0; 4], &[1.0, 2.0, 3.0, 3.2]], 8)
}

fn e(micro_batches: usize) -> Case {
    case("1f1b", &[&[4.0; 4]], micro_batches)
}

fn f(schedule: &'static str, micro_batches: usize) -> Case {
    case(schedule, &[&[2.0; 4], &[2.0; 4]], micro_batches)
}

#[test]
fn golden_simulate_one_chunk() {
    a().is(494.4, &[32.0, 24.0, 16.0, 8.8]);
    e(8).is(132.0, &[16.0, 12.0, 8.0, 4.0]);
    case("gpipe", &[&[4.0; 4]], 8).is(132.0, &[32.0; 4]);
    case("gpipe", &[&[8.0, 8.0, 8.0, 8.8]], 16).is(494.4, &[128.0, 128.0, 128.0, 140.8]);
    let uneven: &[&[f64]] = &[&[10.0, 20.0, 15.0]];
    case("1f1b", uneven, 5).is(360.0, &[30.0, 40.0, 15.0]);
    case("1f1b", uneven, 2).is(180.0, &[20.0, 40.0, 15.0]);
    case("1f1b", uneven, 1).is(135.0, &[10.0, 20.0, 15.0]);
    case("gpipe", uneven, 5).is(375.0, &[50.0, 100.0, 75.0]);
}

#[test]
fn golden_simulate_chunks() {
    b().is(145.8, &[19.0, 18.0, 17.0, 11.2]);
    f("interleaved", 8).is(114.0, &[22.0, 18.0, 14.0, 10.0]);
    f("interleaved-lm", 8).is(114.0, &[16.0, 14.0, 12.0, 10.0]);
    let uneven: &[&[f64]] = &[&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]];
    case("interleaved", uneven, 6).is(91.0, &[14.0, 12.0, 12.0]);
    case("interleaved", uneven, 7).is(102.0, &[17.0, 14.0, 15.0]);
    case("interleaved-lm", uneven, 6).is(95.0, &[12.0, 10.0, 12.0]);
}

#[test]
fn golden_simulate_groups() {
    f("interleaved", 9).is(126.0, &[24.0, 20.0, 16.0, 12.0]);
    f("interleaved", 10).is(138.0, &[26.0, 22.0, 18.0, 14.0]);
    f("interleaved", 11).is(150.0, &[28.0, 24.0, 20.0, 16.0]);
    f("interleaved", 13).is(174.0, &[24.0, 20.0, 16.0, 12.0]);
    f("interleaved", 9).group(5).is(126.0, &[24.0, 20.0, 16.0, 12.0]);
    f("interleaved", 10).group(5).is(138.0, &[24.0, 20.0, 16.0, 12.0]);
    f("interleaved", 11).group(6).is(150.0, &[26.0, 22.0, 18.0, 14.0]);
    f("interleaved", 13).group(7).is(174.0, &[28.0, 24.0, 20.0, 16.0]);
    f("interleaved", 9).group(4).is(148.0, &[22.0, 18.0, 14.0, 10.0]);
    f("interleaved-lm", 9).is(126.0, &[18.0, 16.0, 14.0, 12.0]);
    f("interleaved-lm", 10).is(138.0, &[20.0, 18.0, 16.0, 14.0]);
    f("interleaved-lm", 3).is(60.0, &[12.0, 12.0, 10.0, 8.0]);
    f("interleaved", 3).is(60.0, &[12.0, 12.0, 12.0, 8.0]);
}

#[test]
fn golden_simulate_links() {
    for (link, times) in [(0.1, [495.0, 146.4, 133.6, 115.4]), (0.5, [497.4, 149.8, 140.0, 121.0])] {
        for (case, time) in [a(), b(), e(8), f("interleaved", 8)].into_iter().zip(times) {
            case.link(link).takes(time);
        }
    }
    for (micro_batches, link, time) in [(8, 5.0, 212.0), (8, 10.0, 292.0), (64, 5.0, 1304.0), (64, 10.0, 1804.0)] {
        e(micro_batches).link(link).takes(time);
    }
    for (link, times) in [(0.1, [496.5, 133.9, 164.7]), (0.5, [504.9, 141.5, 183.5])] {
        for (case, time) in [a(), e(8), f("interleaved", 8)].into_iter().zip(times) {
            case.blocking(link).takes(time);
        }
    }
    f("interleaved", 8).blocking(0.0).takes(160.0);
}

#[test]
fn golden_simulate_split_backward() {
    let unit = |stages: usize, micro_batches| Case {
        split: Some((1.0, 1.0)),
        ..case("zb-h1", &[&vec![1.0; stages]], micro_batches)
    };
    unit(4, 8).is(27.0, &[4.0; 4]);
    unit(8, 24).is(79.0, &[8.0; 8]);
    unit(4, 2).takes(11.0);
    let other = |stages: usize, micro_batches| Case {
        split: Some((1.2, 0.6)),
        ..case("zb-h1", &[&vec![10.0; stages]], micro_batches)
    };
    other(4, 8).takes(272.0);
    other(8, 24).takes(784.0);
}

#[test]
fn every_schedule_runs_every_small_size_it_accepts() {
    for entry in schedule::ALL {
        let mut ran = 0;
        for stages in 1..=6 {
            for chunks in 1..=3 {
                for micro_batches in 1..=15 {
                    let dims = Dims { stages, chunks, micro_batches, group: Grouping::First };
                    if (entry.accepts)(&dims).is_err() {
                        continue;
                    }
                    let order = Order::new(entry, &dims).unwrap_or_else(|e| panic!("{e}"));
                    let operations = vec![1; (if entry.shape.splits_backward { 3 } else { 2 }) * dims.virtual_stages()];
                    let mut durations = Durations::new(operations, dims.virtual_stages(), stages);
                    durations.links[1..].fill(1);
                    let longest = blocking::makespan(&order, &durations).unwrap_or_else(|e| panic!("{e}"));
                    assert!(longest >= Sweep::new().run(&order, &durations), "{} {dims:?}", entry.name);
                    ran += 1;
                }
            }
        }
        assert!(ran >= 90, "{}: {ran}", entry.name);
    }
}
