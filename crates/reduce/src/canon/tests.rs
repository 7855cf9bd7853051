//! The golden forms, and the laws of coalescing.

use super::*;
use crate::dtype::Dtype;
use crate::monoids::{Params, SUM};
use crate::program::Axes;
use crate::tensor::c_strides;
use proptest::prelude::*;

fn form_of(shape: &[usize], strides: &[usize], axes: &Axes) -> String {
    let mut p = Program::new("t");
    let x = p.input_strided("x", Dtype::F32, shape, strides).unwrap();
    p.reduce(&SUM, Params::default(), x, axes, false).unwrap();
    last_form(&p)
}

fn last_form(p: &Program) -> String {
    let classes = Classes::of(p);
    let orders = orders(p, &classes);
    let node = p.nodes().iter().rev().find(|n| matches!(n.op, Op::Reduce { .. })).unwrap();
    form(p, &classes, &orders, node).to_string()
}

fn plain(shape: &[usize], axes: &[i64]) -> String {
    form_of(shape, &c_strides(shape), &Axes::These(axes.to_vec()))
}

#[test]
fn golden_forms() {
    for (shape, axes, want) in [
        (&[2usize, 3, 1, 4, 1, 5][..], &[0i64, 2, 4][..], "RP 2x60"),
        (&[8, 16, 32], &[0, 1, 2], "R 4096"),
        (&[64, 128, 1024], &[0, 1], "RP 8192x1024"),
        (&[64, 128, 1024], &[2], "PR 8192x1024"),
        (&[64, 128, 1024], &[0], "RP 64x131072"),
        (&[4, 3, 8, 8], &[0, 2, 3], "RPR 4x3x64"),
        (&[4, 3, 8, 8], &[1, 3], "PRPR 4x3x8x8"),
        (&[80, 80, 80, 80], &[1, 2, 3], "PR 80x512000"),
        (&[80, 80, 80, 80], &[0, 2, 3], "RPR 80x80x6400"),
        (&[80, 80, 80, 80], &[0, 1, 3], "RPR 6400x80x80"),
        (&[80, 80, 80, 80], &[0, 1, 2], "RP 512000x80"),
        (&[1000, 50, 20, 10], &[0, 3], "RPR 1000x1000x10"),
        (&[1000, 50, 20, 10], &[0, 2], "RPRP 1000x50x20x10"),
        (&[1000, 50, 20, 10], &[1], "PRP 1000x50x200"),
        (&[1000, 50, 20, 10], &[2, 3], "PR 50000x200"),
        (&[32, 32, 32, 32], &[0, 1, 2, 3], "R 1048576"),
        (&[1024, 1024], &[0, 1], "R 1048576"),
        (&[64, 128, 1], &[2], "P 8192"),
        (&[1, 1], &[0], "empty"),
        (&[2, 3, 4, 5, 6], &[0, 2, 4], "RPRPR 2x3x4x5x6"),
        (&[256, 14, 14, 256], &[0, 1, 2], "RP 50176x256"),
    ] {
        assert_eq!(plain(shape, axes), want, "{shape:?} {axes:?}");
    }
}

#[test]
fn strides_decide_the_order() {
    assert_eq!(form_of(&[256, 640], &[640, 1], &Axes::These(vec![0])), "RP 256x640");
    assert_eq!(form_of(&[256, 640], &[1, 256], &Axes::These(vec![0])), "PR 640x256");
    assert_eq!(form_of(&[64, 128, 1024], &[1, 64, 8192], &Axes::These(vec![0, 1])), "PR 1024x8192");
}

#[test]
fn transposes_and_reshapes_only_rename() {
    let mut p = Program::new("t");
    let x = p.input("x", Dtype::F32, &[6, 35]).unwrap();
    let y = p.reshape(x, &[2, 3, 5, 7]).unwrap();
    let z = p.transpose(y, &[3, 1, 0, 2]).unwrap();
    p.reduce(&SUM, Params::default(), z, &Axes::These(vec![1, 2]), false).unwrap();
    assert_eq!(last_form(&p), "RP 6x35");
}

#[test]
fn a_reshape_across_the_grain_is_cut() {
    let mut p = Program::new("t");
    let x = p.input("x", Dtype::F32, &[6, 4]).unwrap();
    let y = p.reshape(x, &[4, 6]).unwrap();
    p.reduce(&SUM, Params::default(), y, &Axes::These(vec![0]), false).unwrap();
    assert!(Classes::of(&p).is_cut(p.maker(y), 0));
    assert_eq!(last_form(&p), "RP 4x6");
    // [2, 6] and [4, 3] share the chain 2, 4, 12.
    let mut p = Program::new("t");
    let x = p.input("x", Dtype::F32, &[2, 6]).unwrap();
    let y = p.reshape(x, &[4, 3]).unwrap();
    let classes = Classes::of(&p);
    assert!(!classes.is_cut(p.maker(y), 0));
    assert_eq!(classes.of_value(x), classes.of_value(y));
    assert_eq!(classes.of_value(x).len(), 3);
}

#[test]
fn one_iterator_never_walks_two_axes_of_a_value() {
    let mut p = Program::new("t");
    let x = p.input("x", Dtype::F32, &[5, 5]).unwrap();
    let turned = p.transpose(x, &[1, 0]).unwrap();
    let y = p.call("add", &[x, turned]).unwrap();
    p.reduce(&SUM, Params::default(), y, &Axes::These(vec![0]), false).unwrap();
    let classes = Classes::of(&p);
    assert_eq!([classes.is_cut(p.maker(y), 0), classes.is_cut(p.maker(y), 1)], [false, true]);
    for v in [x, turned, y] {
        let own = classes.of_value(v);
        assert_ne!(own[0], own[1]);
    }
    assert_eq!(last_form(&p), "RP 5x5");
}

#[test]
fn the_largest_operand_gives_the_order() {
    let mut p = Program::new("t");
    let row = p.input("row", Dtype::F64, &[1, 64]).unwrap();
    let x = p.input_strided("x", Dtype::F32, &[32, 64], &[1, 32]).unwrap();
    let y = p.call("add", &[row, x]).unwrap_or_else(|_| {
        let row = p.cast(row, Dtype::F32).unwrap();
        p.call("add", &[row, x]).unwrap()
    });
    p.reduce(&SUM, Params::default(), y, &Axes::These(vec![0]), false).unwrap();
    assert_eq!(last_form(&p), "PR 64x32");
}

/// Splits of n into two factors.
fn factor(n: usize, pick: usize) -> usize {
    let divisors: Vec<usize> = (1..=n).filter(|&d| n.is_multiple_of(d)).collect();
    divisors[pick % divisors.len()]
}

proptest! {
    #[test]
    fn forms_do_not_depend_on_how_axes_are_written(
        shape in prop::collection::vec(1usize..13, 1..5),
        marks in prop::collection::vec(any::<bool>(), 5),
        splits in prop::collection::vec(0usize..8, 5),
        unit in 0usize..5,
    ) {
        let axes: Vec<i64> = (0..shape.len()).filter(|&a| marks[a]).map(|a| a as i64).collect();
        let want = plain(&shape, &axes);
        // Every axis split in two, and a unit axis put in.
        let (mut finer, mut finer_axes) = (Vec::new(), Vec::new());
        for (a, &e) in shape.iter().enumerate() {
            if a == unit {
                finer.push(1);
            }
            let outer = factor(e, splits[a]);
            for part in [outer, e / outer] {
                if marks[a] {
                    finer_axes.push(finer.len() as i64);
                }
                finer.push(part);
            }
        }
        prop_assert_eq!(&plain(&finer, &finer_axes), &want);
        // The same by a reshape inside the program.
        let mut p = Program::new("t");
        let x = p.input("x", Dtype::F32, &shape).unwrap();
        let y = p.reshape(x, &finer).unwrap();
        p.reduce(&SUM, Params::default(), y, &Axes::These(finer_axes), false).unwrap();
        prop_assert_eq!(&last_form(&p), &want);
        // Idempotent: the form of the form.
        let classes = Classes::of(&p);
        let node = p.nodes().iter().find(|n| matches!(n.op, Op::Reduce { .. })).unwrap();
        let once = form(&p, &classes, &orders(&p, &classes), node);
        let again = Form::of(once.groups.iter().map(|g| (g.kind, g.extent)));
        prop_assert_eq!(once, again);
    }
}
