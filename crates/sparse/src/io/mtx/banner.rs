//! The first line of a Matrix Market file, and what follows from it.

use std::fmt;
use std::str::FromStr;

use super::super::build::Mirror;
use super::super::text::Wrong;

const MAGIC: &[u8] = b"%%matrixmarket";

/// How the numbers are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Entries with their places.
    Coordinate,
    /// Every value, column by column.
    Array,
}

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Floating-point numbers.
    Real,
    /// Whole numbers.
    Integer,
    /// There are none.
    Pattern,
}

/// Which entries are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// All.
    General,
    /// The lower triangle with the diagonal.
    Symmetric,
    /// The lower triangle without the diagonal; the upper one has the opposite sign.
    SkewSymmetric,
}

/// What a file holds: `coordinate real general` and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Banner {
    /// How the numbers are laid out.
    pub layout: Layout,
    /// What the values are.
    pub field: Field,
    /// Which entries are stored.
    pub symmetry: Symmetry,
}

/// Whether a text starts like a Matrix Market file.
pub(super) fn starts(head: &[u8]) -> bool {
    head.len() >= MAGIC.len() && head[..MAGIC.len()].eq_ignore_ascii_case(MAGIC)
}

/// The complaint that there is no banner.
pub(super) fn missing() -> Wrong {
    Wrong::Header("no `%%MatrixMarket` banner; --assume \"coordinate real general\" reads it as one".to_owned())
}

fn header<T>(message: String) -> Result<T, Wrong> {
    Err(Wrong::Header(message))
}

impl FromStr for Banner {
    type Err = Wrong;

    /// Three words, in any case: `coordinate|array`, `real|integer|pattern`, `general|symmetric|skew-symmetric`.
    fn from_str(text: &str) -> Result<Self, Wrong> {
        let lower = text.to_ascii_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        let [layout, field, symmetry] = words[..] else {
            return header(format!(
                "'{}' is not a layout, a field and a symmetry, as in `coordinate real general`",
                text.trim().escape_default()
            ));
        };
        let banner =
            Banner { layout: self::layout(layout)?, field: self::field(field)?, symmetry: self::symmetry(symmetry)? };
        if banner.field == Field::Pattern && banner.layout == Layout::Array {
            return header("an array cannot be a pattern".to_owned());
        }
        if banner.field == Field::Pattern && banner.symmetry == Symmetry::SkewSymmetric {
            return header("a pattern cannot be skew-symmetric: it has no signs".to_owned());
        }
        Ok(banner)
    }
}

fn layout(word: &str) -> Result<Layout, Wrong> {
    match word {
        "coordinate" => Ok(Layout::Coordinate),
        "array" => Ok(Layout::Array),
        _ => header(format!("unsupported layout '{}'; use coordinate or array", word.escape_default())),
    }
}

fn field(word: &str) -> Result<Field, Wrong> {
    match word {
        "real" => Ok(Field::Real),
        "integer" => Ok(Field::Integer),
        "pattern" => Ok(Field::Pattern),
        _ => header(format!("unsupported field '{}'; use real, integer or pattern", word.escape_default())),
    }
}

fn symmetry(word: &str) -> Result<Symmetry, Wrong> {
    match word {
        "general" => Ok(Symmetry::General),
        "symmetric" => Ok(Symmetry::Symmetric),
        "skew-symmetric" => Ok(Symmetry::SkewSymmetric),
        "hermitian" => header("unsupported field: hermitian matrices are complex".to_owned()),
        _ => header(format!(
            "unsupported symmetry '{}'; use general, symmetric or skew-symmetric",
            word.escape_default()
        )),
    }
}

impl fmt::Display for Banner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = match self.layout {
            Layout::Coordinate => "coordinate",
            Layout::Array => "array",
        };
        let field = match self.field {
            Field::Real => "real",
            Field::Integer => "integer",
            Field::Pattern => "pattern",
        };
        write!(f, "{layout} {field} {}", self.symmetry.name())
    }
}

impl Symmetry {
    fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
        }
    }
}

impl Banner {
    /// The banner that `line` is.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Wrong> {
        if !starts(line) {
            return Err(missing());
        }
        let rest = String::from_utf8_lossy(&line[MAGIC.len()..]);
        let Some((object, kind)) = rest.trim_start().split_once(char::is_whitespace) else {
            return header("the banner ends too early: `%%MatrixMarket matrix coordinate real general`".to_owned());
        };
        if !rest.starts_with([' ', '\t']) || !object.eq_ignore_ascii_case("matrix") {
            return header(format!("unsupported object '{}'; use matrix", object.escape_default()));
        }
        kind.parse()
    }

    /// What an entry says about the one across the diagonal.
    pub(super) fn mirror(self) -> Mirror {
        match self.symmetry {
            Symmetry::General => Mirror::No,
            Symmetry::Symmetric => Mirror::Same,
            Symmetry::SkewSymmetric => Mirror::Negated,
        }
    }

    /// Refuses sizes that the symmetry does not allow.
    pub(super) fn fits(self, rows: u64, cols: u64) -> Result<(), Wrong> {
        if self.symmetry == Symmetry::General || rows == cols {
            return Ok(());
        }
        header(format!("a {} matrix must be square, this one is {rows} x {cols}", self.symmetry.name()))
    }

    /// The first row of an array's `column` that is stored.
    pub(super) fn first_row(self, column: u64) -> u64 {
        match self.symmetry {
            Symmetry::General => 0,
            Symmetry::Symmetric => column,
            Symmetry::SkewSymmetric => column + 1,
        }
    }

    /// What the size line counts.
    pub(super) fn counted(self) -> &'static str {
        match self.layout {
            Layout::Coordinate => "entries",
            Layout::Array => "values",
        }
    }

    /// Values of an array.
    pub(super) fn values(self, rows: u64, cols: u64) -> u128 {
        let (rows, cols) = (u128::from(rows), u128::from(cols));
        match self.symmetry {
            Symmetry::General => rows * cols,
            Symmetry::Symmetric => rows * (rows + 1) / 2,
            Symmetry::SkewSymmetric => rows * rows.saturating_sub(1) / 2,
        }
    }

    /// Refuses an entry, counted from 0, that the symmetry implies instead of storing.
    #[inline(always)]
    pub(super) fn allows(self, row: u64, column: u64) -> Result<(), Wrong> {
        let triangle = match self.symmetry {
            Symmetry::General => return Ok(()),
            Symmetry::Symmetric if row >= column => return Ok(()),
            Symmetry::SkewSymmetric if row > column => return Ok(()),
            Symmetry::Symmetric => "lower",
            Symmetry::SkewSymmetric => "strictly lower",
        };
        Err(Wrong::Triangle { row: row + 1, column: column + 1, symmetry: self.symmetry.name(), triangle })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banner(text: &str) -> Result<String, String> {
        Banner::parse(text.as_bytes()).map(|b| b.to_string()).map_err(|w| w.to_string())
    }

    #[test]
    fn any_case_and_any_blanks() {
        assert_eq!(banner("%%MatrixMarket matrix coordinate real general"), Ok("coordinate real general".into()));
        assert_eq!(banner("%%matrixmarket  MATRIX\tArray  INTEGER Symmetric \r"), Ok("array integer symmetric".into()));
    }

    #[test]
    fn every_word_is_checked() {
        for (text, word) in [
            ("%MatrixMarket matrix coordinate real general", "--assume \"coordinate real general\""),
            ("%%MatrixMarket", "ends too early"),
            ("%%MatrixMarketmatrix coordinate real general", "unsupported object"),
            ("%%MatrixMarket vector coordinate real general", "unsupported object 'vector'"),
            ("%%MatrixMarket matrix coordinate real", "is not a layout, a field and a symmetry"),
            ("%%MatrixMarket matrix coordinate real general x", "is not a layout, a field and a symmetry"),
            ("%%MatrixMarket matrix dense real general", "unsupported layout 'dense'"),
            ("%%MatrixMarket matrix coordinate complex general", "unsupported field 'complex'"),
            ("%%MatrixMarket matrix coordinate complex hermitian", "unsupported field 'complex'"),
            ("%%MatrixMarket matrix coordinate real hermitian", "unsupported field: hermitian"),
            ("%%MatrixMarket matrix coordinate real round", "unsupported symmetry 'round'"),
            ("%%MatrixMarket matrix array pattern general", "an array cannot be a pattern"),
            ("%%MatrixMarket matrix coordinate pattern skew-symmetric", "cannot be skew-symmetric"),
        ] {
            let message = banner(text).unwrap_err();
            assert!(message.contains(word), "{text}: {message}");
        }
    }

    #[test]
    fn values_of_an_array() {
        let values = |text: &str, n| text.parse::<Banner>().unwrap().values(n, n);
        for n in 0..5u64 {
            let n2 = u128::from(n) * u128::from(n);
            assert_eq!(values("array real general", n), n2);
            assert_eq!(values("array real symmetric", n), (n2 + u128::from(n)) / 2);
            assert_eq!(values("array real skew-symmetric", n), (n2 - u128::from(n)) / 2);
        }
        assert_eq!(values("array real general", u64::MAX), u128::from(u64::MAX).pow(2));
    }
}
