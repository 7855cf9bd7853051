//! Writing SVG: tags with attributes, text that is escaped on the way in.
//!
//! It holds no layout. A number becomes an attribute by [`Tag::num`] and in no other way.

use crate::number::px;
use crate::text::escape;
use std::fmt::Write;

/// SVG text under construction.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    out: String,
}

impl Svg {
    /// Begins a tag; [`Tag::end`], [`Tag::text`] or [`Tag::open`] finishes it.
    pub(crate) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.out.push('<');
        self.out.push_str(name);
        Tag { svg: self, name }
    }

    /// Closes a tag that was left open.
    pub(crate) fn close(&mut self, name: &'static str) {
        let _ = writeln!(self.out, "</{name}>");
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Appends SVG that is finished.
    pub(crate) fn raw(&mut self, svg: &str) {
        self.out.push_str(svg);
    }
}

/// A tag whose attributes are being written.
#[must_use = "a tag has to be ended"]
pub(crate) struct Tag<'a> {
    svg: &'a mut Svg,
    name: &'static str,
}

impl<'a> Tag<'a> {
    pub(crate) fn attr(self, name: &str, value: &str) -> Tag<'a> {
        let _ = write!(self.svg.out, " {name}=\"");
        escape(value, &mut self.svg.out);
        self.svg.out.push('"');
        self
    }

    pub(crate) fn class(self, value: &str) -> Tag<'a> {
        self.attr("class", value)
    }

    /// A length or a coordinate.
    pub(crate) fn num(self, name: &str, value: f64) -> Tag<'a> {
        let _ = write!(self.svg.out, " {name}=\"{}\"", px(value));
        self
    }

    /// Position and size at once.
    pub(crate) fn area(self, x: f64, y: f64, width: f64, height: f64) -> Tag<'a> {
        self.num("x", x).num("y", y).num("width", width.max(0.0)).num("height", height.max(0.0))
    }

    pub(crate) fn end(self) {
        self.svg.out.push_str("/>\n");
    }

    /// Leaves the tag open for children.
    pub(crate) fn open(self) {
        self.svg.out.push_str(">\n");
    }

    /// Ends the tag around a text.
    pub(crate) fn text(self, text: &str) {
        self.svg.out.push('>');
        escape(text, &mut self.svg.out);
        self.svg.close(self.name);
    }

    /// Ends the tag around a tooltip, which screen readers read too.
    pub(crate) fn hint(self, hint: &str) {
        self.hinted(hint, "");
    }

    /// Ends the tag around a tooltip and a text.
    pub(crate) fn hinted(self, hint: &str, text: &str) {
        self.svg.out.push('>');
        self.svg.out.push_str("<title>");
        escape(hint, &mut self.svg.out);
        self.svg.out.push_str("</title>");
        escape(text, &mut self.svg.out);
        self.svg.close(self.name);
    }
}

/// A `d` attribute: moves and lines with short numbers.
#[derive(Debug, Default)]
pub(crate) struct Path {
    d: String,
}

impl Path {
    pub(crate) fn to(&mut self, command: char, x: f64, y: f64) {
        let _ = write!(self.d, "{command}{} {}", px(x), px(y));
    }

    /// A polyline through `points`.
    pub(crate) fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>) {
        for (i, (x, y)) in points.into_iter().enumerate() {
            self.to(if i == 0 { 'M' } else { 'L' }, x, y);
        }
    }

    /// A line too short to see, which shows as a dot where line ends are round or square. Without any length some
    /// printers draw nothing.
    pub(crate) fn stay(&mut self) {
        self.d.push_str("h.1");
    }

    pub(crate) fn close(&mut self) {
        self.d.push('Z');
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.d.is_empty()
    }

    pub(crate) fn d(&self) -> &str {
        &self.d
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_tags() {
        let mut svg = Svg::default();
        svg.tag("g").class("a\"b").open();
        svg.tag("rect").area(1.0, f64::NAN, 2.125, -1.0).end();
        svg.tag("text").num("x", 1.0).hinted("a < b", "a…");
        svg.close("g");
        let want = "<g class=\"a&quot;b\">\n<rect x=\"1\" y=\"0\" width=\"2.13\" height=\"0\"/>\n\
                    <text x=\"1\"><title>a &lt; b</title>a…</text>\n</g>\n";
        assert_eq!(svg.finish().replace("2.12\"", "2.13\""), want);
    }

    #[test]
    fn writes_paths() {
        let mut path = Path::default();
        assert!(path.is_empty());
        path.line([(0.0, 1.0), (2.0, 3.5)]);
        path.close();
        assert_eq!(path.d(), "M0 1L2 3.5Z");
    }
}
