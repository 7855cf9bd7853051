//! Dividing items: the values of the specification, and the laws.

use proptest::prelude::*;
use sapwood_machine::{largest_remainder, water_fill};

#[test]
fn shares_of_the_specification() {
    assert_eq!(
        largest_remainder(1000, &[1.0, 1.0, 1.0, 1.0, 0.6, 0.6, 0.6, 0.6]).unwrap(),
        [156, 156, 156, 156, 94, 94, 94, 94]
    );
    assert_eq!(largest_remainder(7, &[1.0, 2.0, 4.0]).unwrap(), [1, 2, 4]);
    assert_eq!(largest_remainder(3, &[1.0; 4]).unwrap(), [1, 1, 1, 0]);
    assert_eq!(largest_remainder(10, &[1.0, 0.0, 2.0]).unwrap(), [3, 0, 7]);
}

#[test]
fn water_filling_of_the_specification() {
    let (time, shares) = water_fill(100, &[1.0; 3], &[0.0, 0.0, 500.0]).unwrap();
    assert_eq!((time, shares), (50.0, vec![50, 50, 0]));
    let (time, shares) = water_fill(2000, &[1.0; 3], &[0.0, 0.0, 500.0]).unwrap();
    assert!((time - 2500.0 / 3.0).abs() < 1e-9, "{time}");
    assert_eq!(shares, [834, 833, 333]);
}

#[test]
fn edges() {
    assert_eq!(largest_remainder(0, &[1.0, 2.0]).unwrap(), [0, 0]);
    assert_eq!(largest_remainder(u64::MAX, &[1.0]).unwrap(), [u64::MAX]);
    let halves = largest_remainder(u64::MAX, &[1.0, 1.0]).unwrap();
    assert_eq!(halves, [u64::MAX / 2 + 1, u64::MAX / 2]);
    assert_eq!(largest_remainder(5, &[1e-300, 1e300]).unwrap(), [0, 5]);
    assert_eq!(largest_remainder(4, &[5e-324, 5e-324]).unwrap(), [2, 2]);
    let (time, shares) = water_fill(10, &[f64::INFINITY, 2.0], &[0.0, 1.0]).unwrap();
    assert_eq!((time, shares), (21.0, vec![0, 10]));
    assert_eq!(water_fill(0, &[1.0, 1.0], &[3.0, 2.0]).unwrap().1, [0, 0]);
    assert_eq!(water_fill(1 << 60, &[1.0, 1.0], &[0.0, 0.0]).unwrap().1, [1 << 59, 1 << 59]);
}

#[test]
fn senseless_numbers_are_refused() {
    let message = |weights: &[f64]| largest_remainder(9, weights).unwrap_err().to_string();
    assert_eq!(message(&[]), "cannot split 9 items: there are no children");
    assert_eq!(message(&[0.0, 0.0]), "cannot split 9 items: all weights are 0");
    assert_eq!(message(&[1.0, -2.0]), "cannot split 9 items: weight 1 is -2");
    assert!(message(&[1.0, f64::NAN]).contains("weight 1 is NaN"));
    assert!(message(&[f64::INFINITY]).contains("weight 0 is inf"));
    assert!(water_fill(1, &[1.0], &[1.0, 2.0]).is_err());
    assert!(water_fill(1, &[0.0], &[1.0]).unwrap_err().to_string().contains("time per item 0 is 0"));
    assert!(water_fill(1, &[1.0], &[f64::INFINITY]).is_err());
    assert!(water_fill(1, &[f64::INFINITY], &[0.0]).unwrap_err().to_string().contains("infinitely slow"));
}

proptest! {
    /// Nothing is lost, nobody is further from the exact share than one item, more weight is never fewer items.
    #[test]
    fn shares_are_fair(items in 0u64..1_000_000, weights in prop::collection::vec(0u32..50, 1..20)) {
        prop_assume!(weights.iter().any(|w| *w > 0));
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let shares = largest_remainder(items, &weights).unwrap();
        prop_assert_eq!(shares.iter().sum::<u64>(), items);
        let sum: f64 = weights.iter().sum();
        for (i, (share, weight)) in shares.iter().zip(&weights).enumerate() {
            prop_assert!((*share as f64 - items as f64 * weight / sum).abs() < 1.0 + 1e-6);
            for (other, less) in shares.iter().zip(&weights).skip(i) {
                prop_assert!(weight < less || share >= other);
            }
        }
    }

    /// Nothing is lost, and no other division ends earlier: moving one item to any child makes it end no earlier than
    /// the time given, up to one item.
    #[test]
    fn water_finds_its_level(
        items in 0u64..100_000,
        children in prop::collection::vec((1u32..20, 0u32..2000), 1..12),
    ) {
        let per_item: Vec<f64> = children.iter().map(|c| f64::from(c.0)).collect();
        let fixed: Vec<f64> = children.iter().map(|c| f64::from(c.1)).collect();
        let (time, shares) = water_fill(items, &per_item, &fixed).unwrap();
        prop_assert_eq!(shares.iter().sum::<u64>(), items);
        for i in 0..shares.len() {
            let ends = fixed[i] + shares[i] as f64 * per_item[i];
            if shares[i] > 0 {
                prop_assert!(ends < time + per_item[i] + 1e-6, "child {} ends at {} after {}", i, ends, time);
            }
            if items > 0 {
                prop_assert!(ends + per_item[i] > time - 1e-6, "child {} idles", i);
            }
        }
    }

    #[test]
    fn any_numbers_never_panic(items in any::<u64>(), a in prop::collection::vec(any::<f64>(), 0..6), b in prop::collection::vec(any::<f64>(), 0..6)) {
        if let Ok(shares) = largest_remainder(items, &a) {
            prop_assert_eq!(shares.iter().map(|n| u128::from(*n)).sum::<u128>(), u128::from(items));
        }
        if let Ok((_, shares)) = water_fill(items, &a, &b) {
            prop_assert_eq!(shares.iter().map(|n| u128::from(*n)).sum::<u128>(), u128::from(items));
        }
    }
}
