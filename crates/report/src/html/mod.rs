//! The page: a report of sections as one HTML file.
//!
//! The file holds its style and its pictures and asks for nothing else; a content security policy in its head forbids even
//! trying. It holds no script. The same report gives the same bytes: no clock is read.

mod block;
mod prose;
mod table;

pub use block::{Block, Figure, KeyFigure};
pub use prose::Prose;
pub use table::{Cell, Column, Table};

use crate::palette;
use crate::text::{escaped, one_line};
use std::collections::BTreeSet;

/// How every report begins: who writes one can tell whether it replaces one.
pub const BEGINNING: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                             <meta name=\"generator\" content=\"sapwood\">\n";

/// With more sections than this a page begins with a table of contents.
const CONTENTS_FROM: usize = 4;

/// A section: a title and what stands below it.
#[derive(Debug, Clone, Default)]
pub struct Section {
    title: String,
    blocks: Vec<Block>,
}

impl Section {
    /// A section without content yet.
    pub fn new(title: impl Into<String>) -> Section {
        Section { title: title.into(), blocks: Vec::new() }
    }

    /// Any block.
    #[must_use]
    pub fn block(mut self, block: Block) -> Section {
        self.blocks.push(block);
        self
    }

    /// A heading inside the section.
    #[must_use]
    pub fn heading(self, text: impl Into<String>) -> Section {
        self.block(Block::Heading(text.into()))
    }

    /// A paragraph.
    #[must_use]
    pub fn paragraph(self, text: impl Into<Prose>) -> Section {
        self.block(Block::Paragraph(text.into()))
    }

    /// A list of points.
    #[must_use]
    pub fn list<P: Into<Prose>>(self, items: impl IntoIterator<Item = P>) -> Section {
        self.block(Block::List(items.into_iter().map(Into::into).collect()))
    }

    /// Key figures side by side.
    #[must_use]
    pub fn key_figures(self, figures: impl IntoIterator<Item = KeyFigure>) -> Section {
        self.block(Block::KeyFigures(figures.into_iter().collect()))
    }

    /// A table.
    #[must_use]
    pub fn table(self, table: Table) -> Section {
        self.block(Block::Table(table))
    }

    /// A chart with its caption.
    #[must_use]
    pub fn figure(self, figure: Figure) -> Section {
        self.block(Block::Figure(Box::new(figure)))
    }

    /// Text in a fixed width, as it is.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Section {
        self.block(Block::Code(text.into()))
    }

    /// A warning.
    #[must_use]
    pub fn warning(self, text: impl Into<Prose>) -> Section {
        self.block(Block::Warning(text.into()))
    }

    /// A remark.
    #[must_use]
    pub fn note(self, text: impl Into<Prose>) -> Section {
        self.block(Block::Note(text.into()))
    }

    /// Blocks that are folded away behind a line.
    #[must_use]
    pub fn details(self, summary: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Section {
        self.block(Block::Details(summary.into(), blocks.into_iter().collect()))
    }
}

/// A report.
#[derive(Debug, Clone, Default)]
pub struct Report {
    title: String,
    subtitle: String,
    date: String,
    made_by: String,
    sections: Vec<Section>,
}

impl Report {
    /// A report without sections yet.
    pub fn new(title: impl Into<String>) -> Report {
        Report { title: title.into(), ..Report::default() }
    }

    /// A line below the title.
    #[must_use]
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Report {
        self.subtitle = subtitle.into();
        self
    }

    /// A date, as it shall be read. Without one the page has none.
    #[must_use]
    pub fn date(mut self, date: impl Into<String>) -> Report {
        self.date = date.into();
        self
    }

    /// The program and version, at the foot of the page.
    #[must_use]
    pub fn made_by(mut self, program: impl Into<String>) -> Report {
        self.made_by = program.into();
        self
    }

    /// One more section.
    #[must_use]
    pub fn section(mut self, section: Section) -> Report {
        self.sections.push(section);
        self
    }

    /// The report as an HTML file.
    pub fn html(&self) -> String {
        let title = one_line(&self.title);
        let title = if title.is_empty() { "Report".into() } else { escaped(&title) };
        let mut out = format!(
            "{BEGINNING}<title>{title}</title>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <style>\n{}{}{}</style>\n</head>\n<body>\n",
            palette::css(),
            include_str!("../chart.css"),
            include_str!("../page.css")
        );
        let mut ids = Ids::default();
        let named: Vec<(String, &Section)> = self.sections.iter().map(|s| (ids.section(&s.title), s)).collect();
        self.header(&title, &mut out);
        if named.len() > CONTENTS_FROM {
            contents(&named, &mut out);
        }
        out.push_str("<main>\n");
        for (id, section) in &named {
            out.push_str(&format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n", heading(section)));
            section.blocks.iter().for_each(|b| b.html(&mut ids, &mut out));
            out.push_str("</section>\n");
        }
        out.push_str("</main>\n");
        if !one_line(&self.made_by).is_empty() {
            out.push_str(&format!("<footer><p>{}</p></footer>\n", escaped(&self.made_by)));
        }
        out.push_str("</body>\n</html>\n");
        out
    }

    fn header(&self, title: &str, out: &mut String) {
        out.push_str(&format!("<header>\n<h1>{title}</h1>\n"));
        for (class, text) in [("subtitle", &self.subtitle), ("date", &self.date)] {
            if !one_line(text).is_empty() {
                out.push_str(&format!("<p class=\"{class}\">{}</p>\n", escaped(text)));
            }
        }
        out.push_str("</header>\n");
    }
}

fn heading(section: &Section) -> String {
    let title = one_line(&section.title);
    if title.is_empty() { "Untitled".into() } else { escaped(&title) }
}

fn contents(named: &[(String, &Section)], out: &mut String) {
    out.push_str("<nav aria-label=\"Contents\">\n<ol>\n");
    for (id, section) in named {
        out.push_str(&format!("<li><a href=\"#{id}\">{}</a></li>\n", heading(section)));
    }
    out.push_str("</ol>\n</nav>\n");
}

/// Names for places on the page, each given once.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    taken: BTreeSet<String>,
    charts: usize,
}

impl Ids {
    /// A prefix for the ids of a chart.
    pub(crate) fn chart(&mut self) -> String {
        self.charts += 1;
        format!("chart-{}", self.charts)
    }

    /// A name made of the letters and digits of a title, so that a link to it can be read.
    fn section(&mut self, title: &str) -> String {
        let lower = title.to_lowercase();
        let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
        let words: Vec<&str> = words.take(8).collect();
        // The prefix keeps sections and charts apart.
        let stem = format!("s-{}", if words.is_empty() { "section".into() } else { words.join("-") });
        let numbered = (2..).map(|n| format!("{stem}-{n}"));
        let id = std::iter::once(stem.clone()).chain(numbered).find(|id| !self.taken.contains(id)).unwrap_or(stem);
        self.taken.insert(id.clone());
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_readable() {
        let mut ids = Ids::default();
        let all = ["Results & more", "Results, more", "результаты", ""].map(|t| ids.section(t));
        assert_eq!(all, ["s-results-more", "s-results-more-2", "s-section", "s-section-2"]);
    }

    #[test]
    fn contents_only_on_long_pages() {
        let report = |n: usize| (0..n).fold(Report::new("r"), |r, i| r.section(Section::new(format!("Part {i}"))));
        assert!(!report(4).html().contains("<nav"));
        assert_eq!(report(5).html().matches("<li><a href=\"#s-part-").count(), 5);
    }
}
