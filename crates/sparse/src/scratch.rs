//! Buffers that outlive a call, so that a product repeated in a training loop allocates nothing.
//!
//! A [`Scratch`] is borrowed from a small pool of this process and goes back when dropped. It is for partial results and
//! offsets, never for anything as large as an operand.

use crate::dense::block::{Line, elements, elements_mut, lines_for};
use crate::error::{Error, Result, reserve};
use bytemuck::{Pod, Zeroable};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Most buffers kept.
const KEPT: usize = 64;

static POOL: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());

/// A borrowed buffer of `T`, 64-byte aligned, with unspecified content.
pub(crate) struct Scratch<T> {
    lines: Vec<Line>,
    len: usize,
    _type: PhantomData<T>,
}

impl<T: Pod> Scratch<T> {
    /// A buffer of `len` elements.
    pub(crate) fn take(len: usize) -> Result<Scratch<T>> {
        let what = "scratch space";
        let needed = lines_for::<T>(len).ok_or(Error::Overflow { what, rows: len, cols: 1 })?;
        let mut lines = best(needed);
        if lines.len() < needed {
            reserve(&mut lines, needed, what)?;
            lines.resize(needed, Line::zeroed());
        }
        Ok(Scratch { lines, len, _type: PhantomData })
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        elements(&self.lines, self.len)
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        elements_mut(&mut self.lines, self.len)
    }
}

/// The smallest kept buffer that is large enough, else the largest one.
fn best(needed: usize) -> Vec<Line> {
    if needed == 0 {
        return Vec::new();
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let fitting = (0..pool.len()).filter(|&i| pool[i].len() >= needed).min_by_key(|&i| pool[i].len());
    let index = fitting.or_else(|| (0..pool.len()).max_by_key(|&i| pool[i].len()));
    index.map(|i| pool.swap_remove(i)).unwrap_or_default()
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < KEPT {
            pool.push(std::mem::take(&mut self.lines));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_live_side_by_side_and_come_back() {
        let mut a = Scratch::<u64>::take(100).unwrap();
        let mut b = Scratch::<f32>::take(10).unwrap();
        a.as_mut_slice().fill(7);
        b.as_mut_slice().fill(1.0);
        assert!(a.as_slice().iter().all(|&x| x == 7) && a.as_slice().len() == 100);
        assert!(b.as_slice().iter().all(|&x| x == 1.0) && b.as_slice().len() == 10);
        assert_eq!(a.as_slice().as_ptr() as usize % 64, 0);
        assert!(Scratch::<f64>::take(0).unwrap().as_slice().is_empty());
        assert!(matches!(Scratch::<u64>::take(usize::MAX), Err(Error::Overflow { .. })));
    }
}
