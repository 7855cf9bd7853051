//! The canonical tree: the one definition of the order in which a dense reduction combines its elements.
//!
//! It is written for reading, not for speed: every executor is tested against it. Let the elements of one group be
//! v₀ … v₍ₙ₋₁₎. They are cut into chunks of [`CHUNK`]; a chunk has [`LANES`] lanes of up to [`RUN`] elements. A lane is
//! folded in order, then the lanes are folded with each other; one value per chunk results. While more than one value is
//! left, the values are treated in the same way with blocked lanes. Absent elements and lanes are skipped.

/// Elements of a chunk.
pub const CHUNK: usize = LANES * RUN;
/// Lanes of a chunk.
pub const LANES: usize = 128;
/// Elements of a lane.
pub const RUN: usize = 32;

/// Which elements of a chunk a lane holds, and which lanes meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Geometry {
    /// Lane l holds the elements k ≡ l (mod 128); lanes fold by halves: l with l + 64, then l + 32, …
    Strided,
    /// Lane l holds the elements 32 l … 32 l + 31; neighbouring lanes fold: 0 with 1, 2 with 3, …
    Blocked,
}

/// Combines `values` in the canonical tree. `lane` folds the elements of one lane at the first level; `None` for no values.
pub fn tree<V: Clone, A: Clone>(
    values: &[V],
    geometry: Geometry,
    lane: impl Fn(&[V]) -> A,
    combine: impl Fn(&A, &A) -> A,
) -> Option<A> {
    let mut level: Vec<A> = values.chunks(CHUNK).map(|c| chunk(c, geometry, &lane, &combine)).collect();
    let in_order = |run: &[A]| run[1..].iter().fold(run[0].clone(), |a, b| combine(&a, b));
    while level.len() > 1 {
        level = level.chunks(CHUNK).map(|c| chunk(c, Geometry::Blocked, &in_order, &combine)).collect();
    }
    level.pop()
}

/// The value of one chunk; it is not empty.
fn chunk<V: Clone, A: Clone>(
    values: &[V],
    geometry: Geometry,
    lane: &impl Fn(&[V]) -> A,
    combine: &impl Fn(&A, &A) -> A,
) -> A {
    let mut lanes: Vec<A> = match geometry {
        Geometry::Strided => (0..values.len().min(LANES))
            .map(|l| lane(&values[l..].iter().step_by(LANES).cloned().collect::<Vec<V>>()))
            .collect(),
        Geometry::Blocked => values.chunks(RUN).map(lane).collect(),
    };
    let mut half = LANES / 2;
    while lanes.len() > 1 {
        lanes = match geometry {
            Geometry::Strided => (0..lanes.len().min(half))
                .map(|l| lanes.get(l + half).map_or_else(|| lanes[l].clone(), |other| combine(&lanes[l], other)))
                .collect(),
            Geometry::Blocked => {
                lanes.chunks(2).map(|pair| if let [a, b] = pair { combine(a, b) } else { pair[0].clone() }).collect()
            }
        };
        half /= 2;
    }
    lanes.swap_remove(0)
}

/// Longest chain of combinations below the value of a group of `extent` elements: 38 for each level of the tree.
pub fn depth(extent: u64) -> u64 {
    let (mut levels, mut covered) = (1, CHUNK as u64);
    while covered < extent {
        covered = covered.saturating_mul(CHUNK as u64);
        levels += 1;
    }
    38 * levels
}

/// The tree of a sum of single-precision numbers, −0.0 for none: fingerprints of results are made of it.
pub fn sum_f32(values: &[f32], geometry: Geometry) -> f32 {
    tree(values, geometry, |lane| lane[1..].iter().fold(lane[0], |a, b| a + b), |a, b| a + b).unwrap_or(-0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `hash` fill of the goldens.
    fn hash(n: u32) -> Vec<f32> {
        (0..n).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0 - 0.5).collect()
    }

    #[test]
    fn golden_bits_of_both_geometries() {
        let bits = |n, g| sum_f32(&hash(n), g).to_bits();
        for (n, want) in [(1, 0xbf00_0000), (31, 0xbde9_e028), (127, 0xbf1c_2deb), (128, 0xbf1e_a88d)] {
            assert_eq!(bits(n, Geometry::Strided), want, "{n}");
        }
        for (n, want) in [(4095, 0xbe72_e47c), (4096, 0x3de5_53b8), (30522, 0xbfac_f283), (100_003, 0xbe96_ef16)] {
            assert_eq!(bits(n, Geometry::Strided), want, "{n}");
        }
        assert_eq!(bits(127, Geometry::Blocked), 0xbf1c_2dea);
        assert_eq!(bits(4096, Geometry::Blocked), 0x3de5_5420);
    }

    #[test]
    fn minus_zeros_and_nothing() {
        assert_eq!(sum_f32(&[-0.0; 5], Geometry::Strided).to_bits(), 0x8000_0000);
        assert_eq!(sum_f32(&[], Geometry::Strided).to_bits(), 0x8000_0000);
    }

    #[test]
    fn depth_grows_by_levels() {
        assert_eq!([0, 1, 4096, 4097, 1 << 24, (1 << 24) + 1].map(depth), [38, 38, 38, 76, 76, 114]);
        assert_eq!(depth(u64::MAX), 38 * 6);
    }

    #[test]
    fn every_element_is_met_once_in_order_of_its_lane() {
        let values: Vec<usize> = (0..9000).collect();
        for geometry in [Geometry::Strided, Geometry::Blocked] {
            let all = tree(&values, geometry, <[usize]>::to_vec, |a, b| [&a[..], b].concat()).unwrap();
            let mut sorted = all.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, values);
            assert_eq!(all == values, geometry == Geometry::Blocked);
        }
    }
}
