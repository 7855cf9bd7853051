//! The inputs of the golden values: SplitMix64 and what is made of it.

/// SplitMix64 output of state `i`.
pub(crate) fn s(i: u64) -> u64 {
    let mut z = i.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Uniform in [0, 1).
pub(crate) fn u(i: u64) -> f64 {
    (s(i) >> 11) as f64 / (1u64 << 53) as f64
}

/// A number of very mixed magnitude and sign.
pub(crate) fn x(i: u64) -> f64 {
    (u(i) - 0.5) * 2f64.powi((s(i ^ 0x5A5A_5A5A) % 41) as i32 - 20)
}

#[test]
fn known_outputs() {
    assert_eq!((s(0), s(1)), (0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1));
    assert_eq!(u(0), 0.883_310_808_213_642_6);
    assert_eq!((x(0), x(1)), (0.191_655_404_106_821_3, 1.269_561_294_026_964e-7));
}
