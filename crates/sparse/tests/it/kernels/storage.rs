//! Storage that is reused: compaction equals filtering, and repeated work allocates nothing.

use crate::make::{Factors, Shape, Wide, block, exec, in_own_process, matrix};
use sapwood_sparse::{Affine, Block, Csr, One, WorkPlan, spmm};
use stats_alloc::Region;

/// A draw that looks random and depends on the entry and the epoch.
fn drawn(e: usize, epoch: usize) -> bool {
    !(e.wrapping_mul(2_654_435_761) >> 7).wrapping_add(epoch * 31).is_multiple_of(3)
}

/// The entries that are kept, the plain way.
fn filtered(a: &Wide, keep: impl Fn(usize) -> bool) -> Wide {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for i in 0..a.rows() {
        for e in a.row_range(i).filter(|&e| keep(e)) {
            columns.push(a.columns()[e]);
            values.push(a.values()[e]);
        }
        offsets.push(columns.len() as u64);
    }
    Csr::try_new(a.rows(), a.cols(), offsets, columns, values).unwrap()
}

#[test]
fn compaction_is_a_filter_and_any_target_will_do() {
    let mut out = Csr::empty(3, 1).unwrap();
    for (seed, shape) in [
        Shape::of(0, 0),
        Shape::of(0, 9),
        Shape::of(1, 1),
        Shape { degree: 40, ..Shape::of(1000, 300) },
        Shape::of(257, 13),
        Shape { full_row: true, ..Shape::of(700, 9000) },
    ]
    .into_iter()
    .enumerate()
    {
        let a = matrix(seed as u64, shape);
        for epoch in 0..3 {
            for threads in [1, 2, 5] {
                a.compact_into(exec(threads), |e| drawn(e, epoch), &mut out).unwrap();
                assert_eq!(out, filtered(&a, |e| drawn(e, epoch)));
            }
        }
        a.compact_into(exec(2), |_| false, &mut out).unwrap();
        assert_eq!((out.shape(), out.entries()), (a.shape(), 0));
        a.compact_into(exec(2), |_| true, &mut out).unwrap();
        assert_eq!(out, a);
    }
}

#[test]
fn compaction_can_give_kept_entries_new_values() {
    let a = matrix(1, Shape::of(90, 90));
    let pattern = a.clone().into_pattern();
    let mut out = Csr::<f32, u64, u64>::empty(0, 0).unwrap();
    pattern.compact_map_into(exec(3), |e| e % 2 == 1, |e| e as f32, &mut out).unwrap();
    assert_eq!(out.columns(), filtered(&a, |e| e % 2 == 1).columns());
    assert!(out.values().iter().enumerate().all(|(i, &v)| v == (2 * i + 1) as f32));
}

#[test]
fn a_draw_that_panics_leaves_an_empty_target() {
    let a = matrix(1, Shape::of(90, 90));
    let mut out = a.clone();
    let ran = a.compact_into(exec(2), |e| if e == 70 { panic!("no such edge") } else { true }, &mut out);
    assert!(ran.unwrap_err().to_string().contains("no such edge"));
    assert_eq!((out.shape(), out.entries(), out.offsets()), ((0, 0), 0, &[0][..]));
}

/// Allocations of `f` once it has run before: the least of five runs, since the test harness has a thread that allocates
/// now and then.
fn allocations(mut f: impl FnMut()) -> usize {
    f();
    let mut run = || {
        let region = Region::new(crate::ALLOCATOR);
        f();
        let change = region.change();
        change.allocations + change.reallocations
    };
    (0..5).map(|_| run()).min().unwrap()
}

#[test]
fn repeated_work_allocates_nothing() {
    in_own_process("kernels::storage::allocations_of_repeated_work");
}

#[test]
#[ignore = "run by the test above in a process of its own"]
fn allocations_of_repeated_work() {
    let a: Csr<One> = matrix(1, Shape { full_row: true, ..Shape::of(300, 9000) }).retype().unwrap().into_pattern();
    let factors = Factors::<f32>::random(1, 300, 9000);
    let x = block::<f32>(1, 9000, 64);
    let mut y = Block::zeros(300, 64).unwrap();
    let (mut out, mut plan) = (Csr::empty(0, 0).unwrap(), WorkPlan::default());
    assert_ne!(allocations(|| drop(std::hint::black_box(vec![0u8; 100]))), 0, "allocations are counted");
    for threads in [1, 2] {
        let exec = exec(threads);
        // The first draw keeps all, so later ones never need more room.
        a.compact_into(exec, |_| true, &mut out).unwrap();
        plan.rebuild(&out);
        for epoch in 0..3 {
            let draw = || {
                a.compact_into(exec, |e| drawn(e, epoch), &mut out).unwrap();
                plan.rebuild(&out);
            };
            assert_eq!(allocations(draw), 0, "compaction, {threads} threads");
            let multiply = || spmm(exec, &out, &plan, Some(factors.scale()), &x, &mut y, Affine::ADD).unwrap();
            assert_eq!(allocations(multiply), 0, "spmm, {threads} threads");
        }
    }
}
