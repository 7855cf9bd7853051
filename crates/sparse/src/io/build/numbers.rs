//! A growing list of numbers that takes 4 bytes each until one needs 8.

use std::any::Any;

use super::super::bound::room;
use super::super::{Error, Result};
use crate::scalar::Index;

/// Row or column numbers, in the order they were read.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    /// All below 2^32.
    Narrow(Vec<u32>),
    /// At least one was not.
    Wide(Vec<u64>),
}

impl Numbers {
    /// None.
    pub(crate) fn new() -> Self {
        Self::Narrow(Vec::new())
    }

    /// Appends `number`.
    ///
    /// # Errors
    /// When the system has no more memory; `name` is the file's.
    #[inline(always)]
    pub(crate) fn push(&mut self, number: u64, name: &str) -> Result<()> {
        match self {
            Self::Narrow(items) if number <= u64::from(u32::MAX) => {
                room(items, name)?;
                items.push(number as u32);
                Ok(())
            }
            _ => self.push_wide(number, name),
        }
    }

    #[inline(never)]
    fn push_wide(&mut self, number: u64, name: &str) -> Result<()> {
        if let Self::Narrow(items) = self {
            *self = Self::Wide(widened(std::mem::take(items), name)?);
        }
        if let Self::Wide(items) = self {
            room(items, name)?;
            items.push(number);
        }
        Ok(())
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Narrow(items) => items.len(),
            Self::Wide(items) => items.len(),
        }
    }

    /// Bytes of each.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::Narrow(_) => size_of::<u32>(),
            Self::Wide(_) => size_of::<u64>(),
        }
    }

    /// Number `i`, below `len`.
    #[inline(always)]
    pub(crate) fn get(&self, i: usize) -> u64 {
        match self {
            Self::Narrow(items) => u64::from(items[i]),
            Self::Wide(items) => items[i],
        }
    }

    /// Gives the room back that growth left over.
    pub(crate) fn shrink(&mut self) {
        match self {
            Self::Narrow(items) => items.shrink_to_fit(),
            Self::Wide(items) => items.shrink_to_fit(),
        }
    }

    /// The numbers as `I`, without a copy if they are stored as `I`. They must fit.
    ///
    /// # Errors
    /// When the system has no memory for a copy.
    pub(crate) fn into_vec<I: Index>(self, name: &str) -> Result<Vec<I>> {
        match self {
            Self::Narrow(items) => own(items).or_else(|items| copied(&items, name)),
            Self::Wide(items) => own(items).or_else(|items| copied(&items, name)),
        }
    }
}

/// `items` itself, if its type is `Vec<I>`.
fn own<J: Index, I: Index>(items: Vec<J>) -> Result<Vec<I>, Vec<J>> {
    let boxed: Box<dyn Any> = Box::new(items);
    match boxed.downcast::<Vec<I>>() {
        Ok(same) => Ok(*same),
        Err(other) => Err(other.downcast::<Vec<J>>().map_or_else(|_| Vec::new(), |items| *items)),
    }
}

fn copied<J: Index, I: Index>(items: &[J], name: &str) -> Result<Vec<I>> {
    let mut out = reserved(items.len(), name)?;
    out.extend(items.iter().map(|&item| I::truncate(item.to_usize())));
    Ok(out)
}

fn widened(items: Vec<u32>, name: &str) -> Result<Vec<u64>> {
    let mut out = reserved(items.len() + 1, name)?;
    out.extend(items.iter().map(|&item| u64::from(item)));
    Ok(out)
}

fn reserved<T>(n: usize, name: &str) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(n).map_err(|_| Error::Memory {
        name: name.to_owned(),
        what: "the entries",
        bytes: n as u128 * size_of::<T>() as u128,
        available: "fewer".to_owned(),
    })?;
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widens_once_and_moves_when_it_can() {
        let mut numbers = Numbers::new();
        for n in [0, 7, u64::from(u32::MAX)] {
            numbers.push(n, "f").unwrap();
        }
        assert_eq!(numbers.clone().into_vec::<u64>("f").unwrap(), [0, 7, 4294967295]);
        let Numbers::Narrow(items) = numbers.clone() else { panic!("wide too early") };
        let address = items.as_ptr();
        let moved = Numbers::Narrow(items).into_vec::<u32>("f").unwrap();
        assert_eq!(moved.as_ptr(), address);
        numbers.push(1 << 40, "f").unwrap();
        numbers.push(3, "f").unwrap();
        assert_eq!((0..numbers.len()).map(|i| numbers.get(i)).collect::<Vec<_>>(), [0, 7, 4294967295, 1 << 40, 3]);
        assert_eq!(numbers.into_vec::<u64>("f").unwrap()[3], 1 << 40);
    }
}
