//! From triplets in file order to CSR, by counting.
//!
//! Memory is the point: entries are moved to their rows *in place*, keeping their order, so
//! the peak is that of the triplets, 8 bytes an entry without values, and never twice the matrix. Mirrored entries are
//! scattered to new arrays: these are twice the triplets already. Start with [`Triplets::build`].

mod numbers;
mod place;

pub(crate) use numbers::Numbers;

use super::bound::{filled, memory};
use super::{Error, Facts, Loaded, ReadOptions, Result};
use crate::any::{AnyMatrix, AnyWidth, Stored};
use crate::check::{self, Found};
use crate::formats::csr::Csr;
use crate::scalar::{Index, One};

/// What an entry off the diagonal says about the one across it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mirror {
    /// Nothing.
    No,
    /// It is there too, with the same value.
    Same,
    /// It is there too, with the opposite value.
    Negated,
}

/// The entries of a file, in its order.
#[derive(Debug)]
pub(crate) struct Triplets<V> {
    /// Name of the format.
    pub(crate) format: &'static str,
    /// Rows of the matrix.
    pub(crate) rows: u64,
    /// Columns of the matrix; as many as rows if entries are mirrored.
    pub(crate) cols: u64,
    /// Row of each entry, below `rows`.
    pub(crate) from: Numbers,
    /// Column of each entry, below `cols`.
    pub(crate) to: Numbers,
    /// Value of each entry; `None` when the file has none.
    pub(crate) values: Option<Vec<V>>,
    /// Whether entries stand for two.
    pub(crate) mirror: Mirror,
    /// Ids before relabelling.
    pub(crate) originals: Option<Vec<u64>>,
}

impl<V: Stored> Triplets<V> {
    /// The same places without values.
    pub(crate) fn without_values(self) -> Triplets<One> {
        let Self { format, rows, cols, from, to, mirror, originals, .. } = self;
        Triplets { format, rows, cols, from, to, values: None, mirror, originals }
    }

    /// The matrix. Missing values are ones. Index and offset types are chosen by the sizes.
    ///
    /// # Errors
    /// When memory does not suffice, and when there are repeated entries that `options` refuses.
    pub(crate) fn build(mut self, name: &str, options: &ReadOptions) -> Result<Loaded> {
        self.from.shrink();
        self.to.shrink();
        if let Some(values) = &mut self.values {
            values.shrink_to_fit();
        }
        let mut facts = Facts { format: self.format, originals: self.originals.take(), ..Facts::default() };
        let (matrix, found) = match fitting(self.rows, self.cols, self.most_entries()) {
            (true, true) => wrap(self.csr(name, options)?, AnyWidth::U32U32),
            (true, false) => wrap(self.csr(name, options)?, AnyWidth::U32U64),
            (false, true) => wrap(self.csr(name, options)?, AnyWidth::U64U32),
            (false, false) => wrap(self.csr(name, options)?, AnyWidth::U64U64),
        };
        facts.duplicates = found.duplicates;
        facts.unsorted_rows = found.unsorted_rows;
        Ok(Loaded { matrix: V::wrap(matrix), facts })
    }

    /// Entries of the matrix, at most.
    fn most_entries(&self) -> usize {
        match self.mirror {
            Mirror::No => self.from.len(),
            Mirror::Same | Mirror::Negated => self.from.len().saturating_mul(2),
        }
    }

    fn csr<I: Index, P: Index>(self, name: &str, options: &ReadOptions) -> Result<(Csr<V, I, P>, Found)> {
        let wrong = |fault| Error::Check { name: name.to_owned(), fault };
        let (rows, cols) = (size(self.rows, name)?, size(self.cols, name)?);
        room_for::<V, I, P>(rows, self.most_entries(), name, options)?;
        check::fits::<I>("column number", cols.saturating_sub(1)).map_err(wrong)?;
        let (from, to) = (self.from.into_vec::<I>(name)?, self.to.into_vec::<I>(name)?);
        let (mut offsets, mut columns, mut values) = match self.mirror {
            Mirror::No => gathered::<V, I, P>(rows, from, to, self.values, name)?,
            mirror => mirrored::<V, I, P>(rows, from, to, self.values, mirror == Mirror::Negated, name)?,
        };
        let found = check::tidy(&mut offsets, &mut columns, &mut values, options.duplicates).map_err(wrong)?;
        let matrix = Csr::try_new(rows, cols, offsets, columns, values).map_err(|e| wrong(e.into()))?;
        Ok((matrix, found))
    }
}

/// A pattern whose rows ascend strictly.
#[derive(Debug)]
pub(crate) struct AscendingRows {
    /// Rows of the matrix.
    pub(crate) rows: u64,
    /// Columns of the matrix.
    pub(crate) cols: u64,
    /// Where each row starts; one more at the end.
    pub(crate) offsets: Numbers,
    /// Column of each entry.
    pub(crate) columns: Numbers,
}

impl AscendingRows {
    /// The matrix, with ones for values. Index and offset types are chosen by the sizes.
    ///
    /// # Errors
    /// When memory does not suffice.
    pub(crate) fn build<V: Stored>(self, name: &str, options: &ReadOptions) -> Result<AnyMatrix> {
        let matrix = match fitting(self.rows, self.cols, self.columns.len()) {
            (true, true) => AnyWidth::U32U32(self.csr(name, options)?),
            (true, false) => AnyWidth::U32U64(self.csr(name, options)?),
            (false, true) => AnyWidth::U64U32(self.csr(name, options)?),
            (false, false) => AnyWidth::U64U64(self.csr(name, options)?),
        };
        Ok(V::wrap(matrix))
    }

    fn csr<V: Stored, I: Index, P: Index>(self, name: &str, options: &ReadOptions) -> Result<Csr<V, I, P>> {
        let (rows, cols) = (size(self.rows, name)?, size(self.cols, name)?);
        room_for::<V, I, P>(rows, self.columns.len(), name, options)?;
        let (offsets, columns) = (self.offsets.into_vec(name)?, self.columns.into_vec(name)?);
        let values = filled(V::one(), columns.len(), "the values", name)?;
        let wrong = |e: crate::Error| Error::Check { name: name.to_owned(), fault: e.into() };
        Csr::try_new(rows, cols, offsets, columns, values).map_err(wrong)
    }
}

/// Whether 32-bit columns and 32-bit offsets do.
fn fitting(rows: u64, cols: u64, entries: usize) -> (bool, bool) {
    const LAST: u64 = u32::MAX as u64;
    (rows.max(cols) <= LAST, entries as u64 <= LAST)
}

/// Refuses a matrix that the caller's limit has no room for.
fn room_for<V, I, P>(rows: usize, entries: usize, name: &str, options: &ReadOptions) -> Result<()> {
    let offsets = (rows as u128 + 1) * size_of::<P>() as u128;
    let bytes = offsets + entries as u128 * (size_of::<I>() + size_of::<V>()) as u128;
    memory(name, "the matrix", bytes, options)
}

fn wrap<V, I, P>(made: (Csr<V, I, P>, Found), arm: fn(Csr<V, I, P>) -> AnyWidth<V>) -> (AnyWidth<V>, Found) {
    (arm(made.0), made.1)
}

/// `n` as a size of this machine.
fn size(n: u64, name: &str) -> Result<usize> {
    let too_many = |_| Error::Memory {
        name: name.to_owned(),
        what: "the matrix",
        bytes: u128::from(n) * 8,
        available: "fewer".to_owned(),
    };
    usize::try_from(n).map_err(too_many)
}

type Arrays<V, I, P> = (Vec<P>, Vec<I>, Vec<V>);

/// Entries moved to their rows in place, those of a row in file order.
fn gathered<V: Stored, I: Index, P: Index>(
    rows: usize,
    mut from: Vec<I>,
    mut to: Vec<I>,
    mut values: Option<Vec<V>>,
    name: &str,
) -> Result<Arrays<V, I, P>> {
    let mut offsets = starts::<P>(rows, from.len(), name, |count| from.iter().for_each(|&r| count(r.to_usize())))?;
    let mut exchange = |a: usize, b: usize| {
        to.swap(a, b);
        if let Some(values) = &mut values {
            values.swap(a, b);
        }
    };
    if I::try_from_usize(from.len()).is_some() {
        for row in &mut from {
            *row = I::truncate(take(&mut offsets, row.to_usize()));
        }
        place::put(&mut from, &mut exchange);
    } else {
        let mut places = filled(0u64, from.len(), "the places of the entries", name)?;
        for (place, row) in places.iter_mut().zip(&from) {
            *place = take(&mut offsets, row.to_usize()) as u64;
        }
        place::put(&mut places, &mut exchange);
    }
    drop(from);
    back(&mut offsets);
    let values = match values {
        Some(values) => values,
        None => filled(V::one(), to.len(), "the values", name)?,
    };
    Ok((offsets, to, values))
}

/// Entries and their mirror images, those of a row in file order; a diagonal entry stays one.
fn mirrored<V: Stored, I: Index, P: Index>(
    rows: usize,
    from: Vec<I>,
    to: Vec<I>,
    values: Option<Vec<V>>,
    negated: bool,
    name: &str,
) -> Result<Arrays<V, I, P>> {
    let loops = from.iter().zip(&to).filter(|(f, t)| f == t).count();
    let total = 2 * from.len() - loops;
    let mut offsets = starts::<P>(rows, total, name, |count| {
        for (f, t) in from.iter().zip(&to) {
            count(f.to_usize());
            if f != t {
                count(t.to_usize());
            }
        }
    })?;
    let mut columns = filled(I::default(), total, "the columns", name)?;
    let mut entries = filled(V::one(), total, "the values", name)?;
    for (e, (&f, &t)) in from.iter().zip(&to).enumerate() {
        let value = values.as_ref().map_or(V::one(), |v| v[e]);
        let place = take(&mut offsets, f.to_usize());
        (columns[place], entries[place]) = (t, value);
        if f != t {
            let place = take(&mut offsets, t.to_usize());
            (columns[place], entries[place]) = (f, if negated { value.negated() } else { value });
        }
    }
    back(&mut offsets);
    Ok((offsets, columns, entries))
}

/// Where each row starts, of rows that `visit` counts; one more offset at the end.
fn starts<P: Index>(
    rows: usize,
    total: usize,
    name: &str,
    visit: impl FnOnce(&mut dyn FnMut(usize)),
) -> Result<Vec<P>> {
    check::fits::<P>("entries", total).map_err(|fault| Error::Check { name: name.to_owned(), fault })?;
    let mut offsets = filled(P::default(), rows + 1, "the offsets", name)?;
    visit(&mut |row| offsets[row] = P::truncate(offsets[row].to_usize() + 1));
    let mut sum = 0;
    for offset in &mut offsets {
        let count = offset.to_usize();
        *offset = P::truncate(sum);
        sum += count;
    }
    Ok(offsets)
}

/// The next free place of `row`.
#[inline(always)]
fn take<P: Index>(offsets: &mut [P], row: usize) -> usize {
    let place = offsets[row].to_usize();
    offsets[row] = P::truncate(place + 1);
    place
}

/// After all entries are placed each offset is the end of its row, the start of the next.
fn back<P: Index>(offsets: &mut [P]) {
    let last = offsets.len() - 1;
    offsets.copy_within(..last, 1);
    offsets[0] = P::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Duplicates;

    fn triplets(rows: u64, entries: &[(u64, u64, f64)], mirror: Mirror) -> Triplets<f64> {
        let (mut from, mut to) = (Numbers::new(), Numbers::new());
        for &(r, c, _) in entries {
            from.push(r, "t").unwrap();
            to.push(c, "t").unwrap();
        }
        let values = Some(entries.iter().map(|e| e.2).collect());
        Triplets { format: "t", rows, cols: rows, from, to, values, mirror, originals: None }
    }

    fn keep() -> ReadOptions {
        ReadOptions { duplicates: Duplicates::Keep, ..Default::default() }
    }

    /// A plain sequential reference: sort triplets by place, stably.
    fn twin(rows: usize, entries: &[(u64, u64, f64)], mirror: Mirror) -> (Vec<usize>, Vec<u64>, Vec<f64>) {
        let mut all: Vec<(u64, u64, f64)> = Vec::new();
        for &(r, c, v) in entries {
            all.push((r, c, v));
            match mirror {
                Mirror::Same if r != c => all.push((c, r, v)),
                Mirror::Negated if r != c => all.push((c, r, -v)),
                _ => {}
            }
        }
        all.sort_by_key(|e| (e.0, e.1));
        let offsets = (0..=rows as u64).map(|r| all.iter().filter(|e| e.0 < r).count()).collect();
        (offsets, all.iter().map(|e| e.1).collect(), all.iter().map(|e| e.2).collect())
    }

    fn random(rows: u64, n: usize, seed: u64) -> Vec<(u64, u64, f64)> {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        (0..n).map(|i| (next() % rows, next() % rows, i as f64)).collect()
    }

    fn agree<I: Index, P: Index>(rows: u64, n: usize, mirror: Mirror) {
        let entries = random(rows, n, n as u64 + rows);
        let (csr, _) = triplets(rows, &entries, mirror).csr::<I, P>("t", &keep()).unwrap();
        let (offsets, columns, values) = twin(rows as usize, &entries, mirror);
        assert_eq!(csr.offsets().iter().map(|p| p.to_usize()).collect::<Vec<_>>(), offsets);
        assert_eq!(csr.columns().iter().map(|c| c.to_usize() as u64).collect::<Vec<_>>(), columns);
        assert_eq!(csr.values(), values);
    }

    #[test]
    fn agrees_with_a_stable_sort() {
        for mirror in [Mirror::No, Mirror::Same, Mirror::Negated] {
            for (rows, n) in [(1, 0), (1, 1), (1, 9), (2, 3), (7, 40), (100, 90), (100, 101), (250, 127)] {
                agree::<u32, u32>(rows, n, mirror);
                agree::<u64, u32>(rows, n, mirror);
                agree::<u32, u64>(rows, n, mirror);
                agree::<u8, u8>(rows, n, mirror);
            }
            agree::<u16, u16>(3, 5000, mirror);
            agree::<u32, u32>(1, 5000, mirror);
        }
    }

    #[test]
    fn more_entries_than_the_index_type_counts() {
        agree::<u8, u32>(200, 300, Mirror::No);
        agree::<u8, u16>(200, 2000, Mirror::Same);
        agree::<u16, u32>(60_000, 70_000, Mirror::No);
    }

    #[test]
    fn more_entries_than_the_offset_type_counts() {
        let all = random(16, 300, 1);
        let error = triplets(16, &all, Mirror::No).csr::<u8, u8>("t", &keep()).unwrap_err();
        assert_eq!(error.to_string(), "t: entries 300 does not fit u8; use u16");
        let error = triplets(300, &[], Mirror::No).csr::<u8, u8>("t", &keep()).unwrap_err();
        assert_eq!(error.to_string(), "t: column number 299 does not fit u8; use u16");
    }

    #[test]
    fn no_rows_at_all() {
        agree_empty(0);
        agree_empty(5);
    }

    fn agree_empty(rows: u64) {
        let (csr, found) = triplets(rows, &[], Mirror::Same).csr::<u32, u32>("t", &keep()).unwrap();
        assert_eq!((csr.offsets(), csr.columns().len()), (&vec![0u32; rows as usize + 1][..], 0));
        assert_eq!(found, Found::default());
    }

    #[test]
    fn memory_is_asked_for_first() {
        let options = ReadOptions { memory: Some(100), ..Default::default() };
        let error = triplets(1000, &[(0, 1, 1.0)], Mirror::No).build("t", &options).unwrap_err();
        assert_eq!(error.to_string(), "t: the matrix would take 4016 bytes; 100 are available");
    }
}
