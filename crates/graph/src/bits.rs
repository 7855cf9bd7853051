//! One bit per unit of a graph: which pairs stay. Nothing but storage; who sets the bits is `draw`'s business.

/// A fixed number of bits, 64 to a word; the bits past the end are always 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitMask {
    words: Vec<u64>,
    len: usize,
}

impl BitMask {
    /// `len` bits, all equal to `value`.
    pub fn new(len: usize, value: bool) -> BitMask {
        let mut mask = BitMask::default();
        mask.reset(len, value);
        mask
    }

    /// Makes this `len` bits, all equal to `value`, in the storage it has.
    pub fn reset(&mut self, len: usize, value: bool) {
        self.words.clear();
        self.words.resize(len.div_ceil(64), if value { u64::MAX } else { 0 });
        self.len = len;
        if value && !len.is_multiple_of(64) {
            let last = self.words.len() - 1;
            self.words[last] = (1 << (len % 64)) - 1;
        }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`; past the end it is 0.
    #[inline(always)]
    pub fn get(&self, i: usize) -> bool {
        self.words.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    /// Sets bit `i`, which must be below [`BitMask::len`].
    #[inline(always)]
    pub fn set(&mut self, i: usize, value: bool) {
        debug_assert!(i < self.len);
        let bit = 1 << (i % 64);
        let word = &mut self.words[i / 64];
        *word = if value { *word | bit } else { *word & !bit };
    }

    /// Number of bits that are 1.
    pub fn count_ones(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// The words: bit i is bit i mod 64 of word i div 64.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words, to be changed in place; the bits past the end must stay 0.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The positions of the ones, ascending.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(w, &word)| {
            let rest = std::iter::successors(Some(word), |&x| Some(x & x.wrapping_sub(1)));
            rest.take_while(|&x| x != 0).map(move |x| w * 64 + x.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_past_the_end_stay_zero() {
        for len in [0usize, 1, 63, 64, 65, 128, 130] {
            let mask = BitMask::new(len, true);
            assert_eq!(mask.count_ones(), len);
            assert_eq!(mask.words().len(), len.div_ceil(64));
            assert_eq!(BitMask::new(len, false).count_ones(), 0);
        }
    }

    #[test]
    fn set_get_and_list() {
        let mut mask = BitMask::new(200, false);
        for i in [0, 63, 64, 127, 199] {
            mask.set(i, true);
        }
        mask.set(64, false);
        assert_eq!(mask.ones().collect::<Vec<_>>(), [0, 63, 127, 199]);
        assert!(mask.get(127) && !mask.get(64));
    }

    #[test]
    fn reset_keeps_the_storage() {
        let mut mask = BitMask::new(1000, true);
        let before = mask.words.as_ptr();
        mask.reset(900, false);
        mask.reset(1000, true);
        assert_eq!(before, mask.words.as_ptr());
    }
}
