//! Fewer marks for the same picture: a line with a million points needs four per pixel column, a cloud of a million dots
//! one per small square.

use std::collections::BTreeSet;

/// Reduces a run of pixel positions, ascending in x, to first, lowest, highest and last of each column: the picture of the
/// line stays the same (M4, Jugel et al. 2014). Short runs and those that turn back stay as they are.
pub(crate) fn line(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() < 2000 || points.windows(2).any(|w| w[1].0 < w[0].0) {
        return points;
    }
    let mut kept = Vec::new();
    let mut rest = &points[..];
    while let Some(first) = rest.first() {
        let n = rest.iter().take_while(|p| p.0.floor() == first.0.floor()).count();
        let by_height = |a: &usize, b: &usize| rest[*a].1.total_cmp(&rest[*b].1);
        let lowest = (0..n).min_by(by_height).unwrap_or(0);
        let highest = (0..n).max_by(by_height).unwrap_or(0);
        kept.extend(BTreeSet::from([0, lowest, highest, n - 1]).into_iter().map(|i| rest[i]));
        rest = &rest[n..];
    }
    kept
}

/// Indices of the dots to draw: all when they are few, else the first in each square of `side` pixels.
pub(crate) fn cloud(points: &[(f64, f64)], side: f64) -> Vec<usize> {
    if points.len() < 3000 {
        return (0..points.len()).collect();
    }
    let mut taken = BTreeSet::new();
    let square = |p: &(f64, f64)| ((p.0 / side).floor() as i64, (p.1 / side).floor() as i64);
    (0..points.len()).filter(|&i| taken.insert(square(&points[i]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_keeps_its_peaks() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i) / 200.0, f64::from(i % 7))).collect();
        points[51_234].1 = 1e3;
        let thin = line(points.clone());
        assert!(thin.len() <= 4 * 501 && thin.contains(&points[51_234]));
        assert_eq!((thin[0], thin.last()), (points[0], points.last()));
        let back = vec![(1.0, 0.0); 2000].into_iter().chain([(0.0, 0.0)]).collect::<Vec<_>>();
        assert_eq!(line(back.clone()), back);
    }

    #[test]
    fn a_cloud_keeps_one_dot_a_square() {
        let points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i % 100), f64::from(i / 100))).collect();
        assert_eq!(cloud(&points, 2.0).len(), 2500);
        assert_eq!(cloud(&points[..2999], 2.0).len(), 2999);
    }
}
