//! Bits that every machine shape must give.

use crate::generators::{s, u, x};
use sapwood_skeleton::monoid::{Affine, Map, Sum};
use sapwood_skeleton::{Exec, Monoid, Runtime};

/// Runs `body` on one thread, on several, and on some of several.
fn on_every_shape(body: impl Fn(Exec<'_>)) {
    for threads in 1..=8 {
        body(Runtime::threads(threads).unwrap().exec());
    }
    body(Runtime::threads(5).unwrap().exec().limit(2));
}

#[test]
fn sums() {
    let table = [
        (0usize, 0x0000_0000_0000_0000u64),
        (1, 0x3fc8_882a_0e5e_c772),
        (7, 0x403e_ca86_f15d_e2db),
        (9, 0x4063_0441_4e67_4fa6),
        (256, 0x4110_be62_636b_4184),
        (512, 0x4137_2eeb_296f_62a5),
        (4096, 0x4142_aa38_91c9_ee64),
        (100_003, 0x4169_27c1_9164_865e),
        (1_048_576, 0xc169_dd61_1cd1_083a),
        (10_000_000, 0xc1a0_e026_a1aa_8d60),
    ];
    let input: Vec<f64> = (0..10_000_000).map(x).collect();
    on_every_shape(|exec| {
        for (n, bits) in table {
            assert_eq!(exec.reduce(n, &Sum::<f64>::new(), |i| input[i]).unwrap().to_bits(), bits, "n={n} {exec:?}");
        }
    });
    let plain: f64 = input.iter().sum();
    assert_eq!(plain.to_bits(), 0xc1a0_e026_a1aa_8cdd, "a plain loop adds in another order");
}

#[test]
fn dot_and_norm() {
    on_every_shape(|exec| {
        let dot = exec.reduce(1000, &Sum::<f64>::new(), |i| u(i as u64) * u(i as u64 + 1000)).unwrap();
        assert_eq!(dot.to_bits(), 0x406e_653a_2eeb_3e9e);
        let norm = exec.reduce(2000, &Sum::<f64>::new(), |i| (u(i as u64) - 0.5) * (u(i as u64) - 0.5)).unwrap();
        assert_eq!(norm.to_bits(), 0x4065_0c96_c270_d552);
    });
}

#[test]
fn affine_maps_keep_their_order() {
    on_every_shape(|exec| {
        for (n, a, b) in [
            (10u64, 0xc0ce_5e7f_bf16_a399, 0x28a4_c7d1_d83e_4bd4),
            (1000, 0x14cc_bcc2_d9e0_66c7, 0xcdde_0a11_0f11_612e),
        ] {
            let got = exec.reduce(n as usize, &Affine, |i| Map { a: s(i as u64) | 1, b: s(i as u64 + n) }).unwrap();
            assert_eq!(got, Map { a, b });
        }
    });
}

/// a ⊗ b = ⌊(a·b + 500000) / 10^6⌋: rounding makes it depend on the shape of the tree.
struct RoundingProduct;

impl Monoid for RoundingProduct {
    type Item = u64;
    type Acc = u64;
    fn unit(&self) -> u64 {
        1_000_000
    }
    fn lift(&self, x: u64) -> u64 {
        x
    }
    fn push(&self, acc: &mut u64, x: u64) {
        *acc = self.combine(*acc, x);
    }
    fn combine(&self, a: u64, b: u64) -> u64 {
        (a * b + 500_000) / 1_000_000
    }
}

#[test]
fn a_product_that_is_not_associative() {
    let v = |i: usize| 900_000 + s(i as u64) % 200_001;
    on_every_shape(|exec| assert_eq!(exec.reduce(100, &RoundingProduct, v).unwrap(), 960_354));
    let looped = (1..100).fold(v(0), |a, i| RoundingProduct.combine(a, v(i)));
    assert_eq!(looped, 960_356, "a loop multiplies in another order");
}

/// Concatenation: any change of order shows.
struct Concat;

impl Monoid for Concat {
    type Item = String;
    type Acc = String;
    fn unit(&self) -> String {
        String::new()
    }
    fn lift(&self, x: String) -> String {
        x
    }
    fn push(&self, acc: &mut String, x: String) {
        acc.push_str(&x);
    }
    fn combine(&self, a: String, b: String) -> String {
        a + &b
    }
}

#[test]
fn concatenation_equals_the_loop() {
    let looped: String = (0..1000).map(|i| format!("{i},")).collect();
    assert_eq!(looped.len(), 3890);
    on_every_shape(|exec| assert_eq!(exec.reduce(1000, &Concat, |i| format!("{i},")).unwrap(), looped));
}

#[test]
fn the_unit_is_used_for_nothing_only() {
    let rt = Runtime::threads(3).unwrap();
    assert!(rt.exec().reduce(1, &Sum::<f64>::new(), |_| -0.0).unwrap().is_sign_negative());
    assert!(rt.exec().reduce(0, &Sum::<f64>::new(), |_| -0.0).unwrap().is_sign_positive());
    assert!(rt.exec().reduce(5, &Sum::<f64>::new(), |_| f64::NAN).unwrap().is_nan());
}
