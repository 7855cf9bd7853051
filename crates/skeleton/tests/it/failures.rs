//! A chunk that fails ends the call with a clear error, and the workers stay usable.

use sapwood_skeleton::{ChunkPlan, Error, Runtime, rows, spans};

#[test]
fn a_panic_names_its_range_and_leaves_the_pool_usable() {
    for threads in [1, 2, 5] {
        let rt = Runtime::threads(threads).unwrap();
        let plan = ChunkPlan::of(100, 10);
        for _ in 0..20 {
            let error = rt
                .exec()
                .for_chunks(&plan, |_, chunk, _| {
                    assert!(chunk != 3, "chunk three is bad");
                    Ok(())
                })
                .unwrap_err();
            let Error::Panicked { range, message } = &error else { panic!("{error:?}") };
            assert_eq!((range.clone(), message.as_str()), (30..40, "chunk three is bad"));
            assert_eq!(rt.exec().map_chunks(&plan, |_, c, _| Ok(c)).unwrap().len(), 10);
        }
    }
}

#[test]
fn an_error_of_another_crate_comes_back_whole() {
    #[derive(Debug, thiserror::Error, PartialEq)]
    #[error("line {0}")]
    struct Mine(usize);
    let rt = Runtime::threads(2).unwrap();
    let error = rt
        .exec()
        .map_chunks(&ChunkPlan::of(9, 1), |_, c, _| if c == 0 { Err(Error::other(Mine(7))) } else { Ok(()) })
        .unwrap_err();
    assert_eq!(error.to_string(), "line 7");
    let Error::Chunk(inner) = error else { panic!() };
    assert_eq!(inner.downcast_ref::<Mine>(), Some(&Mine(7)));
}

#[test]
fn outputs_that_do_not_fit_the_plan_are_refused() {
    let rt = Runtime::threads(2).unwrap();
    let plan = ChunkPlan::of(4, 2);
    let mut out = vec![0u8; 9];
    let error = rt.exec().for_chunks_mut(&plan, rows(&mut out, 2), |_, _, _| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Shape { plan: 4, .. }));
    for offsets in [&[0u64, 1, 2][..], &[0, 3, 2, 5, 9], &[0, 1, 2, 3, 4]] {
        assert!(rt.exec().for_chunks_mut(&plan, spans(&mut out, offsets), |_, _, _| Ok(())).is_err(), "{offsets:?}");
    }
}

#[test]
fn an_overflowing_count_is_an_error() {
    let rt = Runtime::threads(2).unwrap();
    let error = rt.exec().scan_counts(&mut [1, u64::MAX, 0]).unwrap_err();
    assert!(matches!(error, Error::CountOverflow { index: 1 }));
}

#[test]
fn a_panicking_fill_leaves_nothing() {
    let rt = Runtime::threads(2).unwrap();
    let mut v = vec![1, 2, 3];
    let result = rt.exec().fill(&mut v, 1000, |i| {
        assert!(i != 500);
        i
    });
    assert!(result.is_err() && v.is_empty());
}
