//! Laws: results depend on the data and the plan, not on threads or schedule.

use crate::generators::s;
use proptest::prelude::*;
use sapwood_skeleton::monoid::{Affine, Map};
use sapwood_skeleton::{ChunkPlan, Error, Monoid, Runtime, per_chunk, rows, spans};
use std::sync::atomic::{AtomicUsize, Ordering};

fn plans(n: usize, c: usize) -> Vec<ChunkPlan> {
    let prefix: Vec<u64> = (0..=n as u64).map(|i| i * i / 3).collect();
    vec![
        ChunkPlan::even(n),
        ChunkPlan::even(n).dynamic(),
        ChunkPlan::of(n, c),
        ChunkPlan::of(n, c).dynamic(),
        ChunkPlan::by_weight(&prefix, 50).unwrap().dynamic(),
    ]
}

proptest! {
    #[test]
    fn every_item_is_visited_once(n in 0usize..3000, c in 1usize..200, threads in 1usize..6) {
        let rt = Runtime::threads(threads).unwrap();
        for plan in plans(n, c) {
            let mut seen = vec![0u8; n * 2];
            rt.exec().for_chunks_mut(&plan, rows(&mut seen, 2), |_, range, part| {
                assert_eq!(part.len(), 2 * range.len());
                part.iter_mut().for_each(|x| *x += 1);
                Ok(())
            }).unwrap();
            prop_assert!(seen.iter().all(|&x| x == 1));
        }
    }

    #[test]
    fn reductions_over_chunks_equal_the_loop(n in 0usize..3000, c in 1usize..200, threads in 1usize..6) {
        let rt = Runtime::threads(threads).unwrap();
        let item = |i: usize| Map { a: s(i as u64) | 1, b: s(!i as u64) };
        let looped = (0..n).fold(Affine.unit(), |acc, i| Affine.combine(acc, item(i)));
        for plan in plans(n, c) {
            let got = rt.exec().reduce_chunks(&plan, &Affine, |_, _, range| {
                Ok(range.fold(Affine.unit(), |acc, i| Affine.combine(acc, item(i))))
            }).unwrap();
            prop_assert_eq!(got, looped);
        }
        prop_assert_eq!(rt.exec().reduce(n, &Affine, item).unwrap(), looped);
    }

    #[test]
    fn counts_are_scanned(counts in prop::collection::vec(0u64..1000, 0..300), repeat in 1usize..800, threads in 1usize..5) {
        let rt = Runtime::threads(threads).unwrap();
        let mut got: Vec<u64> = counts.iter().copied().cycle().take(counts.len() * repeat).collect();
        let mut sum = 0;
        let want: Vec<u64> = got.iter().map(|c| { sum += c; sum - c }).collect();
        prop_assert_eq!(rt.exec().scan_counts(&mut got).unwrap(), sum);
        prop_assert_eq!(got, want);
    }

    #[test]
    fn ragged_outputs(lengths in prop::collection::vec(0u64..5, 0..200), c in 1usize..20, threads in 1usize..5) {
        let rt = Runtime::threads(threads).unwrap();
        let mut offsets = lengths.clone();
        offsets.push(0);
        let total = rt.exec().scan_counts(&mut offsets).unwrap();
        let mut out = vec![0usize; total as usize];
        rt.exec().for_chunks_mut(&ChunkPlan::of(lengths.len(), c), spans(&mut out, &offsets), |_, range, part| {
            let mut at = 0;
            for i in range {
                part[at..at + lengths[i] as usize].fill(i);
                at += lengths[i] as usize;
            }
            assert_eq!(at, part.len());
            Ok(())
        }).unwrap();
        let want: Vec<usize> = lengths.iter().enumerate().flat_map(|(i, &l)| vec![i; l as usize]).collect();
        prop_assert_eq!(out, want);
    }
}

#[test]
fn results_come_in_the_order_of_chunks() {
    let rt = Runtime::threads(4).unwrap();
    let plan = ChunkPlan::of(1000, 7).dynamic();
    let got = rt.exec().map_chunks(&plan, |_, chunk, range| Ok((chunk, range.start))).unwrap();
    assert!(got.iter().enumerate().all(|(i, &(c, start))| c == i && start == 7 * i) && got.len() == 143);
    let mut first = vec![0; plan.chunks()];
    let mut tail = vec![0u8; 1000];
    let parts = (per_chunk(&mut first), rows(&mut tail, 1));
    rt.exec()
        .for_chunks_mut(&plan, parts, |_, range, (first, tail)| {
            first[0] = range.start;
            tail.fill(1);
            Ok(())
        })
        .unwrap();
    assert!(first.iter().enumerate().all(|(i, &f)| f == 7 * i) && tail.iter().all(|&x| x == 1));
}

#[test]
fn the_arena_stops_growing_and_its_slices_end_with_the_chunk() {
    let rt = Runtime::threads(2).unwrap();
    let plan = ChunkPlan::of(64, 1);
    let pass = || {
        rt.exec()
            .for_chunks(&plan, |worker, chunk, _| {
                let a = worker.arena().take::<f32>(1000 + chunk % 3)?;
                let b = worker.arena().take::<u64>(10)?;
                assert!(a.iter().all(|&x| x == 0.0) && b.iter().all(|&x| x == 0));
                a.fill(1.0);
                b.fill(1);
                Ok(())
            })
            .unwrap();
    };
    (0..50).for_each(|_| pass());
    let bytes = rt.arena_bytes();
    (0..50).for_each(|_| pass());
    assert!(bytes > 0 && rt.arena_bytes() <= bytes.max(2 * 8192));
}

#[test]
fn nested_calls_run_on_the_worker_and_give_the_same_result() {
    let rt = Runtime::threads(3).unwrap();
    let exec = rt.exec();
    let outer = ChunkPlan::of(10, 1);
    let sums = exec
        .map_chunks(&outer, |worker, chunk, _| {
            let scratch = worker.arena().take::<u8>(100)?;
            let inner = exec.reduce(1000, &Affine, |i| Map { a: i as u64 | 1, b: chunk as u64 })?;
            assert!(scratch.iter().all(|&x| x == 0), "a nested call must not reset this chunk's arena");
            Ok(inner)
        })
        .unwrap();
    for (chunk, got) in sums.iter().enumerate() {
        assert_eq!(*got, exec.reduce(1000, &Affine, |i| Map { a: i as u64 | 1, b: chunk as u64 }).unwrap());
    }
}

#[test]
fn fill_join_and_limit() {
    let rt = Runtime::threads(4).unwrap();
    let mut v = vec![String::from("old")];
    rt.exec().fill(&mut v, 5000, |i| i.to_string()).unwrap();
    assert!(v.len() == 5000 && v.iter().enumerate().all(|(i, s)| *s == i.to_string()));
    assert_eq!(rt.exec().join(|| 1, || "b").unwrap(), (1, "b"));
    assert_eq!(rt.exec().limit(0).threads(), 1);
    assert_eq!(rt.exec().limit(9).threads(), 4);
    let most = AtomicUsize::new(0);
    rt.exec()
        .limit(2)
        .for_chunks(&ChunkPlan::of(100, 1), |worker, _, _| {
            most.fetch_max(worker.index(), Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    assert!(most.into_inner() < 2);
}

#[test]
fn more_threads_than_items_and_than_processors() {
    let rt = Runtime::threads(64).unwrap();
    for n in [0usize, 1, 3] {
        let got = rt.exec().map_chunks(&ChunkPlan::of(n, 1), |_, c, _| Ok(c)).unwrap();
        assert_eq!(got, (0..n).collect::<Vec<_>>());
    }
    assert!(matches!(Runtime::threads(0), Err(Error::Threads { asked: 0, .. })));
    assert!(matches!(Runtime::threads(1 << 20), Err(Error::Threads { .. })));
}
