//! How much memory a file may claim.
//!
//! Entries cost text, so arrays of them are bounded by the file. Rows cost nothing in edge lists and Matrix Market: a
//! line of twenty bytes can ask for 10^18 of them. The rule: a text of b bytes (decompressed) may have up to
//! [`FREE_ROWS`] + 16·b rows; more need the user's word (`--nodes N`), and then the memory at hand is the limit.

use super::{Error, ReadOptions, Result};

/// Rows that any file may have.
pub(crate) const FREE_ROWS: u64 = 1 << 22;

/// Refuses `rows` that `taken` bytes of text do not make believable.
///
/// # Errors
/// [`Error::Rows`], which says `place` and `advice`.
pub(crate) fn rows(
    rows: u64,
    taken: u64,
    options: &ReadOptions,
    place: impl Fn() -> String,
    advice: &'static str,
) -> Result<()> {
    let meant = options.nodes.is_some_and(|nodes| nodes >= rows);
    if meant || rows <= FREE_ROWS.saturating_add(taken.saturating_mul(16)) {
        return Ok(());
    }
    let bytes = (u128::from(rows) + 1) * 8;
    Err(Error::Rows { place: place(), rows, taken, bytes, advice })
}

/// Refuses arrays of `bytes` bytes that pass [`ReadOptions::memory`] or the address space.
///
/// # Errors
/// [`Error::Memory`].
pub(crate) fn memory(name: &str, what: &'static str, bytes: u128, options: &ReadOptions) -> Result<()> {
    let limit = options.memory.map_or(i64::MAX as u64, |m| m.min(i64::MAX as u64));
    if bytes <= u128::from(limit) {
        return Ok(());
    }
    Err(Error::Memory { name: name.to_owned(), what, bytes, available: limit.to_string() })
}

/// Makes room for one more item in steps of a sixteenth, so that a vector never holds much more than its items.
///
/// # Errors
/// [`Error::Memory`] when the system has no more.
#[inline(always)]
pub(crate) fn room<T>(items: &mut Vec<T>, name: &str) -> Result<()> {
    if items.len() < items.capacity() {
        return Ok(());
    }
    grow(items, name)
}

#[cold]
#[inline(never)]
fn grow<T>(items: &mut Vec<T>, name: &str) -> Result<()> {
    const FIRST: usize = 1 << 12;
    let more = (items.len() / 16).max(FIRST.max(items.len().min(1 << 16)));
    items.try_reserve_exact(more).map_err(|_| {
        let bytes = (items.len() as u128 + more as u128) * size_of::<T>() as u128;
        Error::Memory { name: name.to_owned(), what: "the entries", bytes, available: "fewer".to_owned() }
    })
}

/// `n` copies of `item`.
///
/// # Errors
/// [`Error::Memory`] when the system has no room for them.
pub(crate) fn filled<T: Clone>(item: T, n: usize, what: &'static str, name: &str) -> Result<Vec<T>> {
    let mut items = Vec::new();
    items.try_reserve_exact(n).map_err(|_| {
        let bytes = n as u128 * size_of::<T>() as u128;
        Error::Memory { name: name.to_owned(), what, bytes, available: "fewer".to_owned() }
    })?;
    items.resize(n, item);
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_need_text_or_the_user_s_word() {
        let place = || "f:2".to_owned();
        let ask = |n, taken, nodes| rows(n, taken, &ReadOptions { nodes, ..Default::default() }, place, "say so");
        assert!(ask(FREE_ROWS, 0, None).is_ok());
        assert!(ask(FREE_ROWS + 16, 1, None).is_ok());
        assert!(ask(1 << 40, 100, Some(1 << 40)).is_ok());
        assert!(ask(1 << 40, 100, Some(1 << 39)).is_err());
        let error = ask(FREE_ROWS + 17, 1, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "f:2: 4194321 rows are too many for 1 bytes of text (their offsets alone take 33554576 bytes); say so"
        );
        assert!(ask(u64::MAX, 100, None).is_err());
    }

    #[test]
    fn memory_is_refused_before_it_is_taken() {
        let options = ReadOptions { memory: Some(1000), ..Default::default() };
        assert!(memory("f", "offsets", 1000, &options).is_ok());
        assert_eq!(
            memory("f", "offsets", 1001, &options).unwrap_err().to_string(),
            "f: offsets would take 1001 bytes; 1000 are available"
        );
        assert!(memory("f", "offsets", u128::MAX, &ReadOptions::default()).is_err());
        assert!(filled(0u8, usize::MAX, "x", "f").is_err());
    }

    #[test]
    fn growth_is_tight() {
        let mut items = Vec::new();
        for i in 0..3_000_000u32 {
            room(&mut items, "f").unwrap();
            items.push(i);
        }
        assert!(items.capacity() <= items.len() + items.len() / 16 + 1);
    }
}
