//! Sums over the rows of tall arrays, several columns at a time, in one order: the rows of a chunk ascend, and chunks,
//! whose length depends on the number of rows alone, are added in the aligned binary tree of
//! [`sapwood_skeleton::fixed_tree`].

/// Adds up groups of `width` numbers, element by element, in the aligned tree; the first group becomes the sum.
pub(super) fn fold(groups: &mut [f64], width: usize) {
    let n = groups.len() / width.max(1);
    let mut half = 1;
    while half < n {
        for left in (0..n - half).step_by(2 * half) {
            let (below, right) = groups.split_at_mut((left + half) * width);
            for (l, &r) in below[left * width..].iter_mut().zip(&right[..width]) {
                *l += r;
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The aligned tree by its definition.
    fn tree(values: &[f64]) -> f64 {
        match values {
            [] => 0.0,
            [one] => *one,
            _ => {
                let (left, right) = values.split_at(values.len().next_power_of_two() / 2);
                tree(left) + tree(right)
            }
        }
    }

    #[test]
    fn groups_are_added_in_the_aligned_tree() {
        for n in 0..70 {
            let values: Vec<f64> = (0..n).map(|i| 1.0 / (i as f64 + 1.0) + 1e13 * (i % 3) as f64).collect();
            let mut groups: Vec<f64> = values.iter().flat_map(|&v| [v, -2.0 * v]).collect();
            fold(&mut groups, 2);
            let sum = groups.first_chunk().copied().unwrap_or([0.0; 2]);
            assert_eq!(sum, [tree(&values), -2.0 * tree(&values)], "{n} groups");
        }
    }
}
