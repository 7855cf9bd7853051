//! Small linear systems: rank, what cannot be told apart, least squares, condition.
//!
//! Householder QR with column pivoting (Golub & Van Loan, Matrix Computations, 5.4.2) of a matrix whose columns are scaled to
//! unit norm. The matrices have one column per unknown cost and one row per measured stage, so clarity comes before speed, and
//! no library of linear algebra is drawn in for them.

/// What is left of a column of norm 1 below this is rounding. Entries are counts, so true remainders are larger: two columns
/// of counts up to n in m rows that are not parallel differ by an angle of 1/(m·n²) and more.
const NOTHING: f64 = 1e-10;

/// A matrix in factors.
#[derive(Debug, Clone)]
pub(super) struct Factors {
    /// Norms of the columns; 1 for a column of zeros.
    scale: Vec<f64>,
    /// Columns in the order of the pivots.
    order: Vec<usize>,
    /// Reflectors, one for each pivot, from its row on.
    reflectors: Vec<Vec<f64>>,
    /// The upper factor: row k has the columns `order[k..]`.
    upper: Vec<Vec<f64>>,
}

impl Factors {
    /// Factors of a matrix given by rows of `columns` numbers. O(rows · columns²).
    pub(super) fn of(rows: &[Vec<f64>], columns: usize) -> Factors {
        let mut work: Vec<Vec<f64>> = (0..columns).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
        let scale: Vec<f64> =
            work.iter().map(|column| Some(norm(column)).filter(|&n| n > 0.0).unwrap_or(1.0)).collect();
        for (column, scale) in work.iter_mut().zip(&scale) {
            column.iter_mut().for_each(|value| *value /= scale);
        }
        let mut found = Factors { scale, order: (0..columns).collect(), reflectors: Vec::new(), upper: Vec::new() };
        for k in 0..columns.min(rows.len()) {
            let left = |at: usize| norm(&work[found.order[at]][k..]);
            let pivot = (k..columns).fold(k, |best, at| if left(at) > left(best) { at } else { best });
            if left(pivot) <= NOTHING {
                break;
            }
            found.order.swap(k, pivot);
            let reflector = reflector(&work[found.order[k]][k..]);
            for &column in &found.order[k..] {
                reflect(&reflector, &mut work[column][k..]);
            }
            found.reflectors.push(reflector);
        }
        let row = |k: usize| found.order[k..].iter().map(|&column| work[column][k]).collect();
        found.upper = (0..found.reflectors.len()).map(row).collect();
        found
    }

    /// The numerical rank.
    pub(super) fn rank(&self) -> usize {
        self.upper.len()
    }

    /// Whether every unknown is determined.
    pub(super) fn is_full(&self) -> bool {
        self.rank() == self.order.len()
    }

    /// Columns that depend on each other: for each column without a pivot itself and the columns that make it up.
    pub(super) fn dependent(&self) -> Vec<Vec<usize>> {
        let rank = self.rank();
        let group = |free: usize| {
            let right: Vec<f64> = (0..rank).map(|k| self.upper[k][free - k]).collect();
            let share = self.back(right);
            let parts = (0..rank).filter(|&k| share[k].abs() > 1e-6).map(|k| self.order[k]);
            let mut group: Vec<usize> = parts.chain([self.order[free]]).collect();
            group.sort_unstable();
            group
        };
        (rank..self.order.len()).map(group).collect()
    }

    /// The least-squares solution for a right side, where the rank is full.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut right = right.to_vec();
        for (k, reflector) in self.reflectors.iter().enumerate() {
            reflect(reflector, &mut right[k..]);
        }
        right.truncate(self.rank());
        let mut found = vec![0.0; self.order.len()];
        for (value, &column) in self.back(right).into_iter().zip(&self.order) {
            found[column] = value / self.scale[column];
        }
        found
    }

    /// Ratio of the largest to the smallest singular value of the scaled matrix; none where the rank is not full.
    pub(super) fn condition(&self) -> Option<f64> {
        if !self.is_full() || self.order.is_empty() {
            return None;
        }
        let n = self.rank();
        let column = |j: usize| (0..n).map(|k| if k <= j { self.upper[k][j - k] } else { 0.0 }).collect();
        let values = singular_values((0..n).map(column).collect());
        let most = values.iter().copied().fold(0.0, f64::max);
        Some(most / values.iter().copied().fold(f64::INFINITY, f64::min))
    }

    /// Back substitution in the order of the pivots.
    fn back(&self, mut right: Vec<f64>) -> Vec<f64> {
        for k in (0..right.len()).rev() {
            let known: f64 = (k + 1..right.len()).map(|j| self.upper[k][j - k] * right[j]).sum();
            right[k] = (right[k] - known) / self.upper[k][0];
        }
        right
    }
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The unit vector u with (1 − 2uuᵀ)x = ±|x|e₁, the sign such that nothing cancels.
fn reflector(x: &[f64]) -> Vec<f64> {
    let mut u = x.to_vec();
    let length = norm(x);
    if let Some(first) = u.first_mut() {
        *first += if *first < 0.0 { -length } else { length };
    }
    let length = norm(&u);
    u.iter_mut().for_each(|value| *value /= length);
    u
}

fn reflect(u: &[f64], x: &mut [f64]) {
    let twice = 2.0 * dot(u, x);
    x.iter_mut().zip(u).for_each(|(x, u)| *x -= twice * u);
}

/// Singular values of a square matrix by one-sided Jacobi rotations: columns are turned until they are orthogonal.
fn singular_values(mut columns: Vec<Vec<f64>>) -> Vec<f64> {
    for _ in 0..60 {
        let mut turned = false;
        for j in 1..columns.len() {
            let (before, after) = columns.split_at_mut(j);
            for a in before {
                turned |= orthogonal(a, &mut after[0]);
            }
        }
        if !turned {
            break;
        }
    }
    columns.iter().map(|column| norm(column)).collect()
}

/// Turns two columns so that they are orthogonal; whether they were not.
fn orthogonal(a: &mut [f64], b: &mut [f64]) -> bool {
    let (aa, bb, ab) = (dot(a, a), dot(b, b), dot(a, b));
    if ab.abs() <= f64::EPSILON * (aa * bb).sqrt() {
        return false;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let t = 1f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + t * t).sqrt();
    let sine = cosine * t;
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} is not {b}");
    }

    #[test]
    fn least_squares_by_hand() {
        // A line through (0, 1), (1, 3), (2, 4), (3, 4): intercept 1.5, slope 1.
        let rows: Vec<Vec<f64>> = (0..4).map(|x| vec![1.0, f64::from(x)]).collect();
        let factors = Factors::of(&rows, 2);
        assert!(factors.is_full());
        let found = factors.solve(&[1.0, 3.0, 4.0, 4.0]);
        near(found[0], 1.5);
        near(found[1], 1.0);
        // Unit columns with the cosine c = 6/√(4·14): the singular values are √(1 ± c).
        let c = 6.0 / 56f64.sqrt();
        near(factors.condition().unwrap(), ((1.0 + c) / (1.0 - c)).sqrt());
    }

    #[test]
    fn columns_that_depend_on_each_other() {
        let rows = vec![vec![1.0, 6.0, 2.0, 0.0], vec![1.0, 6.0, 5.0, 0.0], vec![1.0, 6.0, 1.0, 0.0]];
        let factors = Factors::of(&rows, 4);
        assert_eq!((factors.rank(), factors.condition()), (2, None));
        let mut groups = factors.dependent();
        groups.sort();
        assert_eq!(groups, [vec![0, 1], vec![3]]);
        assert_eq!(Factors::of(&[], 2).dependent(), [[0], [1]]);
        // Fewer rows than columns: all of them make up the third.
        let short = Factors::of(&[vec![1.0, 2.0, 4.0], vec![1.0, 3.0, 9.0]], 3);
        assert_eq!((short.rank(), short.dependent()), (2, vec![vec![0, 1, 2]]));
    }

    #[test]
    fn scales_do_not_matter() {
        let rows = |by: f64| vec![vec![1.0, by], vec![1.0, 2.0 * by], vec![1.0, 5.0 * by]];
        let condition = |by| Factors::of(&rows(by), 2).condition().unwrap();
        near(condition(1e9), condition(1e-9));
        near(condition(1.0), condition(1e-9));
    }
}
