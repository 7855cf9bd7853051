//! Dividing items among unequal children: shares proportional to speed, or water filling where children have fixed
//! costs and are served in parallel. Every item is handed out exactly once.

use crate::{Error, Result};

/// Divides `items` in proportion to `weights` by largest remainder; ties go to the lowest index, weight 0 gets nothing.
///
/// Exact: weights are taken as fractions of the largest in steps of 2^-53, the rest is integer arithmetic.
///
/// ```
/// use sapwood_machine::largest_remainder;
/// assert_eq!(largest_remainder(10, &[1.0, 0.0, 2.0])?, [3, 0, 7]);
/// # Ok::<(), sapwood_machine::Error>(())
/// ```
///
/// # Errors
/// When there are no weights, all are 0, or one is negative or not finite.
pub fn largest_remainder(items: u64, weights: &[f64]) -> Result<Vec<u64>> {
    check(items, "weight", weights, f64::is_finite)?;
    let most = weights.iter().copied().fold(0.0, f64::max);
    if most == 0.0 {
        return Err(fail(items, "all weights are 0".to_owned()));
    }
    let whole: Vec<u128> = weights.iter().map(|w| (w / most * 2f64.powi(53)).round() as u128).collect();
    let sum: u128 = whole.iter().sum();
    let product = |w: &u128| u128::from(items) * w; // below 2^64 · 2^53
    let mut shares: Vec<u64> = whole.iter().map(|w| (product(w) / sum) as u64).collect();
    let left = items - shares.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..whole.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(product(&whole[*i]) % sum)); // stable: ties to the lowest
    for i in order.into_iter().take(left as usize) {
        shares[i] += 1;
    }
    Ok(shares)
}

/// Divides `items` among children that work at the same time, child i taking `fixed[i] + n_i·per_item[i]` seconds, so
/// that the slowest ends as early as possible: gives that time and the shares. A child whose fixed cost alone exceeds
/// the time stays idle; so does one with an infinite time per item.
///
/// # Errors
/// When the slices differ in length or are empty, every child is infinitely slow, a time per item is 0, negative or
/// NaN, or a fixed cost is negative or not finite.
pub fn water_fill(items: u64, per_item: &[f64], fixed: &[f64]) -> Result<(f64, Vec<u64>)> {
    if per_item.len() != fixed.len() {
        let message = format!("{} times per item, {} fixed costs", per_item.len(), fixed.len());
        return Err(fail(items, message));
    }
    check(items, "time per item", per_item, |a| a > 0.0)?;
    check(items, "fixed cost", fixed, f64::is_finite)?;
    let mut order: Vec<usize> = (0..per_item.len()).filter(|i| per_item[*i].is_finite()).collect();
    order.sort_by(|i, j| fixed[*i].total_cmp(&fixed[*j])); // stable
    let (mut time, mut fixed_over_a, mut one_over_a) = (f64::INFINITY, 0.0, 0.0);
    let mut used = 0;
    for &i in &order {
        if time <= fixed[i] {
            break;
        }
        fixed_over_a += fixed[i] / per_item[i];
        one_over_a += 1.0 / per_item[i];
        time = (items as f64 + fixed_over_a) / one_over_a;
        used += 1;
    }
    if used == 0 {
        return Err(fail(items, "every child is infinitely slow".to_owned()));
    }
    let mut shares = vec![0.0; per_item.len()];
    for &i in &order[..used] {
        shares[i] = ((time - fixed[i]) / per_item[i]).max(0.0);
    }
    Ok((time, whole_shares(items, &shares, &order[..used])))
}

/// Real shares of the children `used`, which sum up to `items` but for rounding, as integers that do exactly.
/// Remainders that differ by no more than rounding count as ties, which go to the lowest index.
fn whole_shares(items: u64, shares: &[f64], used: &[usize]) -> Vec<u64> {
    let noise = |share: f64| (share * 1e-15).clamp(1e-9, 0.25); // of computing a share
    let mut whole: Vec<u64> = shares.iter().map(|share| (share + noise(*share)).floor() as u64).collect();
    let mut order = used.to_vec(); // also where every share was rounded to 0
    order.sort_unstable();
    order.sort_by_key(|i| {
        let remainder = (shares[*i] - whole[*i] as f64).max(0.0);
        std::cmp::Reverse((remainder * 1e6).round() as u64)
    });
    let given = |whole: &[u64]| whole.iter().map(|n| u128::from(*n)).sum::<u128>();
    let missing = u128::from(items).saturating_sub(given(&whole));
    let (each, more) = match order.len() as u128 {
        0 => (0, 0),
        n => (missing / n, missing % n), // `each` is 0 but for rounding errors beyond 2^53 items
    };
    for (rank, &i) in order.iter().enumerate() {
        whole[i] += (each + u128::from((rank as u128) < more)) as u64;
    }
    take_back(given(&whole).saturating_sub(u128::from(items)), &mut whole);
    whole
}

/// Takes `excess`, which only rounding beyond 2^53 items can cause, from the largest shares.
fn take_back(mut excess: u128, whole: &mut [u64]) {
    while excess > 0 {
        let Some(largest) = whole.iter_mut().max() else { return };
        let taken = u128::from(*largest).min(excess);
        *largest -= taken as u64;
        excess -= taken;
    }
}

fn check(items: u64, what: &str, values: &[f64], allowed: impl Fn(f64) -> bool) -> Result<()> {
    if values.is_empty() {
        return Err(fail(items, "there are no children".to_owned()));
    }
    match values.iter().position(|v| v.is_nan() || *v < 0.0 || !allowed(*v)) {
        Some(i) => Err(fail(items, format!("{what} {i} is {}", values[i]))),
        None => Ok(()),
    }
}

fn fail(items: u64, message: String) -> Error {
    Error::Balance { items, message }
}
