//! What a section holds: paragraphs, lists, key figures, tables, charts, code, warnings, details.

use super::Ids;
use super::prose::Prose;
use super::table::Table;
use crate::chart::{Chart, NARROW, WIDE};
use crate::text::{escaped, one_line};

/// One number that a reader should see first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KeyFigure {
    label: String,
    value: String,
    note: String,
}

impl KeyFigure {
    /// What it is and how much: `KeyFigure::new("test accuracy", "81.2 %")`. Values with units come from
    /// [`Unit::format`](crate::Unit::format).
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> KeyFigure {
        KeyFigure { label: label.into(), value: value.into(), note: String::new() }
    }

    /// A word below, such as a spread or what it is compared with.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> KeyFigure {
        self.note = note.into();
        self
    }
}

/// A chart with a caption. The title of the chart stands above it.
#[derive(Debug, Clone)]
pub struct Figure {
    chart: Chart,
    caption: Option<Prose>,
}

impl Figure {
    /// A chart without a caption.
    pub fn new(chart: impl Into<Chart>) -> Figure {
        Figure { chart: chart.into(), caption: None }
    }

    /// What to see in it.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<Prose>) -> Figure {
        self.caption = Some(caption.into());
        self
    }

    fn html(&self, ids: &mut Ids, out: &mut String) {
        let title = one_line(self.chart.title());
        out.push_str("<figure>\n");
        if !title.is_empty() {
            out.push_str(&format!("<p class=\"figure-title\">{}</p>\n", escaped(&title)));
        }
        match self.chart.nothing() {
            Some(sentence) => out.push_str(&format!("<p class=\"nothing\">{}</p>\n", escaped(&sentence))),
            None => {
                // Two pictures, one for each kind of screen: text that shrinks with its picture cannot be read on a phone.
                let id = ids.chart();
                let (wide, narrow) = (self.chart.inline(&id, WIDE), self.chart.inline(&format!("{id}n"), NARROW));
                out.push_str(&format!(
                    "<div class=\"on-wide\">\n{wide}</div>\n<div class=\"on-narrow\">\n{narrow}</div>\n"
                ));
            }
        }
        if let Some(caption) = &self.caption {
            out.push_str(&format!("<figcaption>{}</figcaption>\n", caption.html()));
        }
        out.push_str("</figure>\n");
    }
}

/// A part of a section.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// Running text.
    Paragraph(Prose),
    /// A list of points.
    List(Vec<Prose>),
    /// Key figures side by side.
    KeyFigures(Vec<KeyFigure>),
    /// A table.
    Table(Table),
    /// A chart.
    Figure(Box<Figure>),
    /// Text in a fixed width, as it is: commands, settings, logs.
    Code(String),
    /// Something the reader must know before trusting what follows.
    Warning(Prose),
    /// A remark.
    Note(Prose),
    /// Blocks behind a line that opens on a click; printed open.
    Details(String, Vec<Block>),
}

impl Block {
    pub(super) fn html(&self, ids: &mut Ids, out: &mut String) {
        match self {
            Block::Heading(text) => out.push_str(&format!("<h3>{}</h3>\n", escaped(text))),
            Block::Paragraph(prose) => out.push_str(&format!("<p>{}</p>\n", prose.html())),
            Block::List(items) => list(items, out),
            Block::KeyFigures(figures) => key_figures(figures, out),
            Block::Table(table) => table.html(out),
            Block::Figure(figure) => figure.html(ids, out),
            Block::Code(text) => {
                out.push_str(&format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escaped(text)));
            }
            Block::Warning(prose) => aside("warning", "Warning", prose, out),
            Block::Note(prose) => aside("note", "Note", prose, out),
            Block::Details(summary, blocks) => {
                out.push_str(&format!("<details>\n<summary>{}</summary>\n", escaped(summary)));
                blocks.iter().for_each(|b| b.html(ids, out));
                out.push_str("</details>\n");
            }
        }
    }
}

fn aside(class: &str, word: &str, prose: &Prose, out: &mut String) {
    let text = prose.html();
    out.push_str(&format!("<p class=\"aside {class}\" role=\"note\"><strong>{word}.</strong> {text}</p>\n"));
}

fn list(items: &[Prose], out: &mut String) {
    if !items.is_empty() {
        let items: String = items.iter().map(|i| format!("<li>{}</li>\n", i.html())).collect();
        out.push_str(&format!("<ul>\n{items}</ul>\n"));
    }
}

fn key_figures(figures: &[KeyFigure], out: &mut String) {
    if figures.is_empty() {
        return;
    }
    out.push_str("<dl class=\"key-figures\">\n");
    for figure in figures {
        let note = one_line(&figure.note);
        let note = if note.is_empty() { note } else { format!("<dd class=\"key-note\">{}</dd>", escaped(&note)) };
        let (label, value) = (escaped(&figure.label), escaped(&figure.value));
        out.push_str(&format!("<div><dt>{label}</dt><dd class=\"key-value\">{value}</dd>{note}</div>\n"));
    }
    out.push_str("</dl>\n");
}
