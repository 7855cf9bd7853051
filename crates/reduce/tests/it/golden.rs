//! Golden bits: sums and moments of the `hash` fill, on one, two and seven workers.

use crate::inputs::{f32s, hash_f32, run};
use sapwood_reduce::monoids::{MOMENTS, SUM};
use sapwood_reduce::program::Axes;
use sapwood_reduce::tree::{Geometry, sum_f32};
use sapwood_reduce::{Dtype, Params, Program, ReduceOp, Tensor};

fn reduce(op: &'static dyn ReduceOp, shape: &[usize], axes: &[i64], x: &[f32]) -> Vec<Tensor> {
    let mut p = Program::new("golden");
    let v = p.input("x", Dtype::F32, shape).unwrap();
    let made = p.reduce(op, Params::default(), v, &Axes::These(axes.to_vec()), false).unwrap();
    for (i, v) in made.into_iter().enumerate() {
        p.output(&format!("y{i}"), v).unwrap();
    }
    run(&p, &[f32s(shape, x)])
}

/// Axes of the word's letters R.
fn axes(word: &str) -> Vec<i64> {
    word.chars().enumerate().filter(|(_, c)| *c == 'R').map(|(i, _)| i as i64).collect()
}

#[test]
fn sums_have_the_golden_bits() {
    let table: [(&str, &[usize], u32, u32, u32); 21] = [
        ("R", &[1], 0xbf00_0000, 0, 0),
        ("R", &[31], 0xbde9_e028, 0, 0),
        ("R", &[127], 0xbf1c_2deb, 0, 0),
        ("R", &[128], 0xbf1e_a88d, 0, 0),
        ("R", &[4095], 0xbe72_e47c, 0, 0),
        ("R", &[4096], 0x3de5_53b8, 0, 0),
        ("R", &[30522], 0xbfac_f283, 0, 0),
        ("R", &[100_003], 0xbe96_ef16, 0, 0),
        ("R", &[1_048_576], 0xbf55_8bba, 0, 0),
        ("PR", &[8, 29126], 0xbf59_d89c, 0xbf3f_38f4, 0xbec8_8c52),
        ("PR", &[4096, 12], 0xbe56_ca98, 0x3d92_8f30, 0xbcc0_3e00),
        ("RP", &[256, 640], 0xc04e_b760, 0xbf42_1d00, 0xbe65_702c),
        ("RP", &[50176, 256], 0xc100_dc1d, 0x4094_8b44, 0x3f84_53cc),
        ("RP", &[5408, 255], 0x404b_6de0, 0x3ee1_39bc, 0xbf24_e560),
        ("RPR", &[8, 4, 729], 0xbf17_6b02, 0x3f4e_c289, 0xbf11_50f4),
        ("RPR", &[128, 192, 64], 0xbe0f_9c30, 0x400d_2436, 0xbf40_4c30),
        ("PRP", &[32, 43, 43], 0xbf5b_bb72, 0xbf50_af56, 0xbebd_ee44),
        ("PRP", &[8000, 39, 80], 0x3f0e_0318, 0x3ed9_7af6, 0x3e9d_f1d8),
        ("PRPR", &[4, 3, 8, 8], 0xbf48_f1f7, 0xbee4_0f82, 0xbf2f_9b88),
        ("RPRP", &[100, 5, 70, 33], 0x3fbb_a084, 0x3fab_efa1, 0xbfa0_0c8a),
        ("RPRPR", &[5, 3, 40, 4, 300], 0x3f32_a82c, 0xbe59_d8f0, 0xbdb6_aee0),
    ];
    for (word, shape, first, last, tree) in table {
        let n = shape.iter().product();
        let out = reduce(&SUM, shape, &axes(word), &hash_f32(n));
        let y = out[0].as_slice::<f32>();
        assert_eq!(y[0].to_bits(), first, "{word} {shape:?}: first {:#x}", y[0].to_bits());
        if y.len() > 1 {
            assert_eq!(y[y.len() - 1].to_bits(), last, "{word} {shape:?}: last");
            assert_eq!(sum_f32(y, Geometry::Strided).to_bits(), tree, "{word} {shape:?}: tree");
        }
    }
}

#[test]
fn special_sums() {
    let sum = |x: &[f32]| reduce(&SUM, &[x.len()], &[0], x)[0].as_slice::<f32>()[0];
    assert_eq!(sum(&[-0.0; 5]).to_bits(), 0x8000_0000);
    assert_eq!(sum(&[]).to_bits(), 0);
    assert_eq!(sum(&vec![0.1; 1 << 24]).to_bits(), 0x49cc_ccc8);
    assert_eq!(sum(&vec![1.0; 1 << 25]), 33_554_432.0);
}

#[test]
fn moments_have_the_golden_bits() {
    for (n, mean, squares) in
        [(127, 0xbb9d_68bc, 0x412b_4441), (4096, 0x37e5_53f0, 0x43aa_ba2c), (100_003, 0xb645_d388, 0x4602_36b1)]
    {
        let out = reduce(&MOMENTS, &[n], &[0], &hash_f32(n));
        assert_eq!(out[0].as_slice::<f32>()[0].to_bits(), mean, "{n}: mean");
        assert_eq!(out[1].as_slice::<f32>()[0].to_bits(), squares, "{n}: squares");
    }
}
