//! The sheet a chart is drawn on: lines, words, markers, in the classes of the style sheet.

use crate::palette;
use crate::svg::{Path, Svg, Tag};
use crate::text::{one_line, shorten};

/// Size of ordinary text in charts, as in the style sheet.
pub(crate) const TEXT: f64 = 12.0;
/// Distance of two lines of text.
pub(crate) const LINE: f64 = 15.0;

/// Which end of a text stands at its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// A sheet of a given width; the height is what the chart needs.
#[derive(Debug)]
pub(crate) struct Canvas {
    pub(crate) svg: Svg,
    pub(crate) width: f64,
    /// Prefix of ids: no two charts of a page share one.
    pub(crate) id: String,
}

impl Canvas {
    pub(crate) fn new(id: &str, width: f64) -> Canvas {
        Canvas { svg: Svg::default(), width, id: id.to_string() }
    }

    /// Whether the sheet is as narrow as a phone.
    pub(crate) fn is_narrow(&self) -> bool {
        self.width < 480.0
    }

    pub(crate) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.line_tag(class, from, to).end();
    }

    pub(crate) fn line_tag(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) -> Tag<'_> {
        let tag = self.svg.tag("line").class(class);
        tag.num("x1", from.0).num("y1", from.1).num("x2", to.0).num("y2", to.1)
    }

    pub(crate) fn path(&mut self, class: &str, path: &Path) {
        if !path.is_empty() {
            self.svg.tag("path").class(class).attr("d", path.d()).end();
        }
    }

    /// A text of one line, shortened to `room` with the whole of it as a tooltip.
    pub(crate) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str, room: f64) {
        let text = one_line(text);
        let mut tag = self.svg.tag("text").num("x", at.0).num("y", at.1);
        if anchor != Anchor::Start {
            tag = tag.attr("text-anchor", anchor.name());
        }
        if !class.is_empty() {
            tag = tag.class(class);
        }
        match shorten(&text, room, TEXT) {
            Some(short) => tag.hinted(&text, &short),
            None => tag.text(&text),
        }
    }

    /// The marker of series `i`: a shape of its own for each of the first eight.
    pub(crate) fn marker(&mut self, class: &str, i: usize, (x, y): (f64, f64), r: f64) -> Tag<'_> {
        let class = format!("{class} {}", palette::colour(i));
        if i.is_multiple_of(MARKERS) {
            return self.svg.tag("circle").class(&class).num("cx", x).num("cy", y).num("r", r);
        }
        let path = shape(i % MARKERS, x, y, r);
        self.svg.tag("path").class(&class).attr("d", path.d())
    }

    /// Clips what is drawn until [`Canvas::unclip`]: a nested picture shows nothing beyond its edge.
    pub(crate) fn clip(&mut self, (left, top): (f64, f64), (right, bottom): (f64, f64)) {
        let (w, h) = ((right - left).max(1.0), (bottom - top).max(1.0));
        let view = [left, top, w, h].map(crate::number::px).join(" ");
        self.svg.tag("svg").area(left, top, w, h).attr("viewBox", &view).open();
    }

    pub(crate) fn unclip(&mut self) {
        self.svg.close("svg");
    }
}

/// How many shapes markers have.
const MARKERS: usize = 8;

fn shape(i: usize, x: f64, y: f64, r: f64) -> Path {
    let mut path = Path::default();
    // Points on the unit circle or square, scaled so that all shapes look equally large.
    let (points, size): (&[(f64, f64)], f64) = match i {
        1 => (&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)], 0.9),
        2 => (&[(0.0, -1.0), (0.95, 0.75), (-0.95, 0.75)], 1.2),
        3 => (&[(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)], 1.3),
        4 => (&[(0.0, 1.0), (0.95, -0.75), (-0.95, -0.75)], 1.2),
        5 => (&PLUS, 1.3),
        6 => (&CROSS, 1.25),
        _ => (&[(-0.55, -1.0), (0.55, -1.0), (1.1, 0.0), (0.55, 1.0), (-0.55, 1.0), (-1.1, 0.0)], 1.0),
    };
    path.line(points.iter().map(|(dx, dy)| (x + dx * size * r, y + dy * size * r)));
    path.close();
    path
}

const PLUS: [(f64, f64); 12] = [
    (-0.3, -1.0),
    (0.3, -1.0),
    (0.3, -0.3),
    (1.0, -0.3),
    (1.0, 0.3),
    (0.3, 0.3),
    (0.3, 1.0),
    (-0.3, 1.0),
    (-0.3, 0.3),
    (-1.0, 0.3),
    (-1.0, -0.3),
    (-0.3, -0.3),
];
const CROSS: [(f64, f64); 12] = [
    (-0.9, -0.5),
    (-0.5, -0.9),
    (0.0, -0.4),
    (0.5, -0.9),
    (0.9, -0.5),
    (0.4, 0.0),
    (0.9, 0.5),
    (0.5, 0.9),
    (0.0, 0.4),
    (-0.5, 0.9),
    (-0.9, 0.5),
    (-0.4, 0.0),
];
