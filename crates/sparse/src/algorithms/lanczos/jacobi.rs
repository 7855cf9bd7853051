//! Eigenvalues and eigenvectors of small dense symmetric matrices by cyclic rotations (Jacobi 1846; Golub & Van Loan,
//! *Matrix Computations*, section 8.5). Accurate and simple; cubic work per sweep, so for some tens of rows only.

/// Most sweeps; about eight are needed.
const SWEEPS: usize = 50;

/// The eigenvalues of a symmetric n × n matrix, descending, and its eigenvectors: column j of the n × n result belongs to
/// eigenvalue j. The matrix is used up.
pub(super) fn eigen(a: &mut [f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    // Eigenvectors as rows while rotating.
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    let all: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..n).flat_map(|p| (0..p).map(move |q| (p, q))).map(|(p, q)| a[p * n + q] * a[p * n + q]).sum();
        if off.sqrt() <= f64::EPSILON / 16.0 * all.sqrt() {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(a, &mut v, n, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]));
    let values = order.iter().map(|&i| a[i * n + i]).collect();
    let vectors = (0..n).flat_map(|i| order.iter().map(move |&j| (i, j))).map(|(i, j)| v[j * n + i]).collect();
    (values, vectors)
}

/// Makes element (p, q) zero.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize) {
    let off = a[p * n + q];
    if off == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    let t = theta.signum() / (theta.abs() + theta.mul_add(theta, 1.0).sqrt());
    let c = 1.0 / t.mul_add(t, 1.0).sqrt();
    let s = t * c;
    let turn = |x: &mut f64, y: &mut f64| (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
    for i in 0..n {
        let (mut x, mut y) = (a[i * n + p], a[i * n + q]);
        turn(&mut x, &mut y);
        (a[i * n + p], a[i * n + q]) = (x, y);
    }
    for matrix in [&mut *a, v] {
        let (above, below) = matrix.split_at_mut(q * n);
        for (x, y) in above[p * n..][..n].iter_mut().zip(&mut below[..n]) {
            turn(x, y);
        }
    }
    (a[p * n + q], a[q * n + p]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A − λI has A·v = λ·v, and the vectors are orthonormal.
    #[track_caller]
    fn check(a: &[f64], n: usize) -> Vec<f64> {
        let (values, v) = eigen(&mut a.to_vec(), n);
        assert!(values.is_sorted_by(|x, y| x >= y));
        let size = a.iter().fold(1e-300, |s: f64, x| s.max(x.abs())) * n as f64;
        for j in 0..n {
            for i in 0..n {
                let av: f64 = (0..n).map(|l| a[i * n + l] * v[l * n + j]).sum();
                assert!((av - values[j] * v[i * n + j]).abs() <= 1e-14 * size, "({i}, {j})");
                let dot: f64 = (0..n).map(|l| v[l * n + i] * v[l * n + j]).sum();
                assert!((dot - f64::from(i == j)).abs() <= 1e-13);
            }
        }
        values
    }

    #[test]
    fn known_and_random_spectra() {
        let near = |found: &[f64], known: &[f64]| found.iter().zip(known).all(|(f, k)| (f - k).abs() < 1e-15 * 4.0);
        assert!(near(&check(&[2.0, 1.0, 1.0, 2.0], 2), &[3.0, 1.0]));
        assert_eq!(check(&[0.0; 9], 3), [0.0; 3]);
        assert_eq!(check(&[1.0, 0.0, 0.0, 7.0], 2), [7.0, 1.0]);
        assert!(check(&[], 0).is_empty());
        for n in [3usize, 10, 61] {
            let x = |i: usize, j: usize| ((i * j * 7919 + i + j) % 101) as f64 - 50.0;
            let a: Vec<f64> = (0..n * n).map(|at| x(at / n, at % n) + x(at % n, at / n)).collect();
            check(&a, n);
        }
        let ones = check(&[1.0; 36], 6);
        assert!((ones[0] - 6.0).abs() < 1e-14 && ones[1..].iter().all(|l| l.abs() < 1e-14));
    }
}
