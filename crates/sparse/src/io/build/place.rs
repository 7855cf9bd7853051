//! A permutation carried out in place, cache by cache.
//!
//! `places[i]` says where item i belongs. Following the cycles alone would wait for memory at every step, so items first
//! go to their block of [`NEAR`] places, 256 blocks at a time (the American flag sort of McIlroy, Bostic & McIlroy,
//! Computing Systems 6, 1993; here every bucket's size is known without counting), then to their place inside it.

use crate::scalar::Index;

/// Places of a block that stays in the cache while it is put in order, as a power of two.
const NEAR: u32 = 14;

/// Bits of one step.
const STEP: u32 = 8;

/// Moves item i to `places[i]`, for all i, by exchanging two at a time; `places` must be a permutation of 0, 1, 2, ..
/// and becomes just that.
pub(super) fn put<P: Index>(places: &mut [P], exchange: &mut impl FnMut(usize, usize)) {
    let bits = usize::BITS - places.len().leading_zeros();
    let blocks = bits.saturating_sub(NEAR);
    block(places, 0, NEAR + blocks.next_multiple_of(STEP), exchange);
}

/// Puts the places from `start` on in order that agree with `start` above the lowest `bits` bits.
fn block<P: Index>(places: &mut [P], start: usize, bits: u32, exchange: &mut impl FnMut(usize, usize)) {
    let end = places.len().min(start + (1 << bits));
    if bits <= NEAR {
        return cycles(places, start, end, exchange);
    }
    let shift = bits - STEP;
    let mut next: [usize; 1 << STEP] = std::array::from_fn(|bucket| start + (bucket << shift));
    let bucket_of = |place: P| (place.to_usize() - start) >> shift;
    for bucket in 0..next.len() {
        let full = end.min(start + ((bucket + 1) << shift));
        while next[bucket] < full {
            let here = next[bucket];
            let target = bucket_of(places[here]);
            if target != bucket {
                exchange(here, next[target]);
                places.swap(here, next[target]);
            }
            next[target] += 1;
        }
    }
    for bucket in (start..end).step_by(1 << shift) {
        block(places, bucket, shift, exchange);
    }
}

fn cycles<P: Index>(places: &mut [P], start: usize, end: usize, exchange: &mut impl FnMut(usize, usize)) {
    for i in start..end {
        loop {
            let place = places[i].to_usize();
            if place == i {
                break;
            }
            exchange(i, place);
            places.swap(i, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A permutation of 0..n: multiplying by a number without a common divisor.
    fn scattered(n: usize) -> Vec<u32> {
        let step = (n / 2..).find(|&s| gcd(s, n) == 1).unwrap_or(1);
        (0..n).map(|i| ((i * step + n / 3) % n) as u32).collect()
    }

    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 { a } else { gcd(b, a % b) }
    }

    #[test]
    fn every_item_arrives() {
        let sizes = [0, 1, 2, 3, 1 << NEAR, (1 << NEAR) + 1, 100_003, 1 << (NEAR + STEP), (1 << (NEAR + STEP)) + 1];
        for n in sizes {
            for mut places in [scattered(n), (0..n as u32).collect(), (0..n as u32).rev().collect()] {
                let wanted = places.clone();
                let mut items: Vec<u32> = (0..n as u32).collect();
                put(&mut places, &mut |a, b| items.swap(a, b));
                assert!(places.iter().enumerate().all(|(i, &p)| p as usize == i));
                assert!(wanted.iter().enumerate().all(|(i, &p)| items[p as usize] as usize == i), "{n}");
            }
        }
    }
}
