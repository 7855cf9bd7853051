//! Tables: a caption, headings with their scope, numbers to the right in figures of one width.

use super::prose::Prose;
use crate::axis::Unit;
use crate::number::{count, fixed, significant};
use crate::text::{escaped, one_line};

/// A heading of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Column {
    title: String,
    unit: String,
}

impl Column {
    /// A heading.
    pub fn new(title: impl Into<String>) -> Column {
        Column { title: title.into(), unit: String::new() }
    }

    /// The unit of the column, shown below its title.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Column {
        self.unit = unit.into();
        self
    }
}

impl<T: Into<String>> From<T> for Column {
    fn from(title: T) -> Column {
        Column::new(title)
    }
}

/// A cell: a text to the left or a number to the right.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    text: String,
    numeric: bool,
    strong: bool,
}

impl Cell {
    fn number_text(text: String) -> Cell {
        Cell { text, numeric: true, strong: false }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A number to four significant digits.
    pub fn number(v: f64) -> Cell {
        Cell::number_text(significant(v, 4))
    }

    /// A number with so many decimals: what a column wants, so that the points stand below one another.
    pub fn fixed(v: f64, decimals: usize) -> Cell {
        Cell::number_text(fixed(v, decimals))
    }

    /// A whole number.
    pub fn count(n: u64) -> Cell {
        Cell::number_text(count(n))
    }

    /// A value with its unit.
    pub fn with_unit(v: f64, unit: &Unit) -> Cell {
        Cell::number_text(unit.format(v))
    }

    /// A text that is set like a number, such as `0.812 ± 0.004`.
    pub fn figure(text: impl Into<String>) -> Cell {
        Cell::number_text(text.into())
    }

    /// Nothing is known: a dash.
    pub fn missing() -> Cell {
        Cell::number_text("–".into())
    }

    /// In bold, such as the best of a column.
    #[must_use]
    pub fn strong(mut self) -> Cell {
        self.strong = true;
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::text(text)
    }
}

/// A table. The first cell of a row is its heading.
///
/// ```
/// use sapwood_report::{Cell, Column, Table};
/// let table = Table::new("Accuracy by sampler")
///     .columns([Column::new("sampler"), Column::new("mean").unit("%"), Column::new("seeds")])
///     .row([Cell::text("ranked"), Cell::fixed(81.2, 1).strong(), Cell::count(6)])
///     .note("Best in bold.");
/// # let _ = table;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    note: Option<Prose>,
}

impl Table {
    /// An empty table with a caption.
    pub fn new(caption: impl Into<String>) -> Table {
        Table { caption: caption.into(), ..Table::default() }
    }

    /// The headings.
    #[must_use]
    pub fn columns<C: Into<Column>>(mut self, columns: impl IntoIterator<Item = C>) -> Table {
        self.columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// One more row. A row that is shorter than another one ends in empty cells.
    #[must_use]
    pub fn row<C: Into<Cell>>(mut self, cells: impl IntoIterator<Item = C>) -> Table {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// A sentence below the table.
    #[must_use]
    pub fn note(mut self, note: impl Into<Prose>) -> Table {
        self.note = Some(note.into());
        self
    }

    fn width(&self) -> usize {
        self.rows.iter().map(Vec::len).fold(self.columns.len(), usize::max)
    }

    /// Headings stand over numbers like the numbers.
    fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|r| r.get(column)).peekable();
        cells.peek().is_some() && cells.all(|c| c.numeric)
    }

    pub(super) fn html(&self, out: &mut String) {
        let caption = one_line(&self.caption);
        let label = if caption.is_empty() { "table".into() } else { escaped(&caption) };
        // A box that scrolls must be reachable by keyboard, and say what it is.
        out.push_str(&format!("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n<table>\n"));
        if !caption.is_empty() {
            out.push_str(&format!("<caption>{}</caption>\n", escaped(&caption)));
        }
        if !self.columns.is_empty() {
            self.head(out);
        }
        out.push_str("<tbody>\n");
        if self.rows.is_empty() {
            out.push_str(&format!("<tr><td class=\"none\" colspan=\"{}\">No rows.</td></tr>\n", self.width().max(1)));
        }
        for row in &self.rows {
            self.body_row(row, out);
        }
        out.push_str("</tbody>\n</table>\n</div>\n");
        if let Some(note) = &self.note {
            out.push_str(&format!("<p class=\"table-note\">{}</p>\n", note.html()));
        }
    }

    fn head(&self, out: &mut String) {
        out.push_str("<thead>\n<tr>");
        for i in 0..self.width() {
            let class = if self.is_numeric(i) { " class=\"n\"" } else { "" };
            let column = self.columns.get(i).cloned().unwrap_or_default();
            let unit = one_line(&column.unit);
            let unit = if unit.is_empty() { unit } else { format!(" <span class=\"unit\">{}</span>", escaped(&unit)) };
            out.push_str(&format!("<th scope=\"col\"{class}>{}{unit}</th>", escaped(&column.title)));
        }
        out.push_str("</tr>\n</thead>\n");
    }

    fn body_row(&self, row: &[Cell], out: &mut String) {
        out.push_str("<tr>");
        for i in 0..self.width() {
            let cell = row.get(i).cloned().unwrap_or_default();
            let class = if cell.numeric { " class=\"n\"" } else { "" };
            let (open, close) = if i == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
            let text = escaped(&cell.text);
            let text = if cell.strong { format!("<strong>{text}</strong>") } else { text };
            out.push_str(&format!("<{open}{class}>{text}</{close}>"));
        }
        out.push_str("</tr>\n");
    }
}
