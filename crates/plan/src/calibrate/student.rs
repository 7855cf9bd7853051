//! Student's t: how far a mean of few measurements may be off.

/// The half width t with P(|T| ≤ t) = 0.95 for `freedom` ≥ 1 degrees of freedom.
pub(super) fn t95(freedom: usize) -> f64 {
    let (mut low, mut high) = (1.9, 13.0); // the normal quantile is 1.96, one degree of freedom has 12.71
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < 0.95 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// P(|T| ≤ t), as a finite sum over the powers of the cosine of θ = atan(t/√ν) (Abramowitz & Stegun 26.7.3 and 26.7.4).
fn within(t: f64, freedom: usize) -> f64 {
    let nu = freedom as f64;
    let square = nu / (nu + t * t);
    let (sine, cosine) = ((1.0 - square).sqrt(), square.sqrt());
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= freedom {
        sum += term;
        term *= square * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    if odd { ((t / nu.sqrt()).atan() + sine * sum) / std::f64::consts::FRAC_PI_2 } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_table() {
        let table = [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (9, 2.262), (10, 2.228), (30, 2.042)];
        for (freedom, t) in table {
            assert!((t95(freedom) - t).abs() < 6e-4, "{freedom}: {}", t95(freedom));
        }
        assert!((t95(1_000_000) - 1.959_966).abs() < 1e-5);
    }
}
