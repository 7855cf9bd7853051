//! Running text with code, emphasis and links.

use crate::text::{escape, escaped};

#[derive(Debug, Clone, PartialEq)]
enum Span {
    Plain(String),
    Strong(String),
    Emphasis(String),
    Code(String),
    Link(String, String),
}

/// A paragraph. A plain string is one without marks.
///
/// ```
/// use sapwood_report::Prose;
/// let prose = Prose::new("Dropped with ").code("--p 0.3").plain(", see ").link("the paper", "https://example.org/a");
/// # let _ = prose;
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prose {
    spans: Vec<Span>,
}

impl Prose {
    /// Text as it is.
    pub fn new(text: impl Into<String>) -> Prose {
        Prose::default().plain(text)
    }

    fn with(mut self, span: Span) -> Prose {
        self.spans.push(span);
        self
    }

    /// More text as it is.
    #[must_use]
    pub fn plain(self, text: impl Into<String>) -> Prose {
        self.with(Span::Plain(text.into()))
    }

    /// Text of weight.
    #[must_use]
    pub fn strong(self, text: impl Into<String>) -> Prose {
        self.with(Span::Strong(text.into()))
    }

    /// Text in italics.
    #[must_use]
    pub fn emphasis(self, text: impl Into<String>) -> Prose {
        self.with(Span::Emphasis(text.into()))
    }

    /// Names of files, flags, symbols.
    #[must_use]
    pub fn code(self, text: impl Into<String>) -> Prose {
        self.with(Span::Code(text.into()))
    }

    /// A link to `https:`, `http:` or a `#place` on the page; with any other address only its text is shown.
    #[must_use]
    pub fn link(self, text: impl Into<String>, address: impl Into<String>) -> Prose {
        self.with(Span::Link(text.into(), address.into()))
    }

    /// The text as HTML.
    pub(super) fn html(&self) -> String {
        let mut out = String::new();
        for span in &self.spans {
            match span {
                Span::Plain(text) => escape(text, &mut out),
                Span::Strong(text) => wrapped(&mut out, "strong", text),
                Span::Emphasis(text) => wrapped(&mut out, "em", text),
                Span::Code(text) => wrapped(&mut out, "code", text),
                Span::Link(text, address) if is_safe(address) => {
                    out.push_str(&format!("<a href=\"{}\">{}</a>", escaped(address), escaped(text)));
                }
                Span::Link(text, _) => escape(text, &mut out),
            }
        }
        out
    }
}

impl<T: Into<String>> From<T> for Prose {
    fn from(text: T) -> Prose {
        Prose::new(text)
    }
}

fn wrapped(out: &mut String, tag: &str, text: &str) {
    out.push_str(&format!("<{tag}>{}</{tag}>", escaped(text)));
}

/// Addresses that lead somewhere and run nothing.
fn is_safe(address: &str) -> bool {
    let clean = address.chars().all(|c| !c.is_control() && !c.is_whitespace());
    clean && ["https://", "http://", "#"].iter().any(|start| address.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_run_nothing() {
        let html = |address: &str| Prose::new("").link("x", address).html();
        assert_eq!(html("#a"), "<a href=\"#a\">x</a>");
        assert_eq!(html("https://a/\"b"), "<a href=\"https://a/&quot;b\">x</a>");
        for address in ["javascript:alert(1)", " https://a", "java\nscript:", "data:text/html,x", ""] {
            assert_eq!(html(address), "x", "{address}");
        }
    }
}
