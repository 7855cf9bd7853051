//! The frame of a chart with two axes: grid, ticks, titles, and the room that is left for the data.

use crate::axis::Axis;
use crate::canvas::{Anchor, Canvas, LINE, TEXT};
use crate::scale::{Extent, Fit, Scale};
use crate::text::width;

/// What a chart wants of its frame.
pub(crate) struct Frame<'a> {
    pub(crate) x: (&'a Axis, &'a Extent, Fit),
    pub(crate) y: (&'a Axis, &'a Extent, Fit),
    /// Where the frame begins.
    pub(crate) top: f64,
    /// Height of the room for the data.
    pub(crate) height: f64,
    /// Room to the right of the data, for names.
    pub(crate) right: f64,
}

/// The room for the data and the maps into it.
pub(crate) struct Plot {
    pub(crate) x: Scale,
    pub(crate) y: Scale,
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// Below the titles.
    pub(crate) end: f64,
}

impl Frame<'_> {
    /// Draws the frame.
    pub(crate) fn draw(&self, canvas: &mut Canvas) -> Plot {
        let y = Scale::new(self.y.0, self.y.1, self.y.2, (self.height / 45.0).clamp(2.0, 8.0) as usize);
        let left = (tick_room(&y) + 8.0).min(canvas.width * 0.4);
        let right = canvas.width - self.right.max(12.0);
        let top = y_title(canvas, self.top, &self.y.0.caption(&y.unit)) + 6.0;
        let bottom = top + self.height;
        let y = y.between(bottom, top);
        let x = x_scale(self.x, left, right);
        y_axis(canvas, &y, left, right);
        let end = x_axis(canvas, &x, self.x.0, top, bottom, false);
        Plot { x, y, left, right, top, bottom, end }
    }
}

impl Plot {
    /// Clips to the room for the data.
    pub(crate) fn clip(&self, canvas: &mut Canvas) {
        canvas.clip((self.left, self.top), (self.right, self.bottom));
    }
}

/// Room for the labels of a vertical axis.
pub(crate) fn tick_room(y: &Scale) -> f64 {
    y.ticks.iter().map(|t| width(&t.label, TEXT)).fold(10.0, f64::max)
}

/// A scale whose labels do not touch.
pub(crate) fn x_scale((axis, data, fit): (&Axis, &Extent, Fit), left: f64, right: f64) -> Scale {
    let most = ((right - left) / 60.0).clamp(2.0, 12.0) as usize;
    let scale = |n: usize| Scale::new(axis, data, fit, n).between(left, right);
    (2..=most).rev().map(scale).find(fits).unwrap_or_else(|| scale(1))
}

fn fits(scale: &Scale) -> bool {
    let edges = |i: usize| {
        let half = width(&scale.ticks[i].label, TEXT) / 2.0;
        let at = scale.at(scale.ticks[i].value).unwrap_or(0.0);
        (at - half, at + half)
    };
    (1..scale.ticks.len()).all(|i| edges(i - 1).1 + 8.0 <= edges(i).0)
}

/// The title of a vertical axis lies flat above it: nobody turns their head. Returns the line below it.
pub(crate) fn y_title(canvas: &mut Canvas, top: f64, title: &str) -> f64 {
    if title.is_empty() {
        return top + 4.0;
    }
    canvas.text("title", (0.0, top + TEXT), Anchor::Start, title, canvas.width);
    top + LINE + 4.0
}

/// Grid and labels of a vertical axis.
pub(crate) fn y_axis(canvas: &mut Canvas, y: &Scale, left: f64, right: f64) {
    for value in &y.minor {
        if let Some(at) = y.at(*value) {
            canvas.line("minor", (left, at), (right, at));
        }
    }
    for tick in &y.ticks {
        if let Some(at) = y.at(tick.value) {
            canvas.line(if tick.value == 0.0 { "zero" } else { "grid" }, (left, at), (right, at));
            canvas.text("tick", (left - 6.0, at + 4.0), Anchor::End, &tick.label, f64::MAX);
        }
    }
}

/// Base line, ticks, labels and title of a horizontal axis; with `grid` also lines up to `top`. Returns where it ends.
pub(crate) fn x_axis(canvas: &mut Canvas, x: &Scale, axis: &Axis, top: f64, bottom: f64, grid: bool) -> f64 {
    let (lo, hi) = x.ends();
    let (left, right) = (x.clamped(lo), x.clamped(hi));
    for value in x.minor.iter().filter(|_| grid) {
        if let Some(at) = x.at(*value) {
            canvas.line("minor", (at, top), (at, bottom));
        }
    }
    canvas.line("base", (left, bottom), (right, bottom));
    for tick in &x.ticks {
        let Some(at) = x.at(tick.value) else { continue };
        if grid {
            canvas.line(if tick.value == 0.0 { "zero" } else { "grid" }, (at, top), (at, bottom));
        }
        canvas.line("base", (at, bottom), (at, bottom + 4.0));
        canvas.text("tick", inside(canvas, at, &tick.label, bottom + 17.0), Anchor::Middle, &tick.label, f64::MAX);
    }
    let title = axis.caption(&x.unit);
    if title.is_empty() {
        return bottom + 22.0;
    }
    let half = width(&title, TEXT).min(canvas.width) / 2.0;
    let middle = ((left + right) / 2.0).clamp(half, (canvas.width - half).max(half));
    canvas.text("title", (middle, bottom + 36.0), Anchor::Middle, &title, canvas.width);
    bottom + 42.0
}

/// A label in the middle of `x`, moved in from the edge of the sheet when it would be cut.
fn inside(canvas: &Canvas, x: f64, label: &str, y: f64) -> (f64, f64) {
    let half = width(label, TEXT) / 2.0;
    (x.clamp(half, (canvas.width - half).max(half)), y)
}

/// Warnings below a chart. Returns where they end.
pub(crate) fn note(canvas: &mut Canvas, top: f64, notes: impl IntoIterator<Item = String>) -> f64 {
    sentences(canvas, top, "note", notes)
}

/// Quiet remarks below a chart. Returns where they end.
pub(crate) fn remark(canvas: &mut Canvas, top: f64, remarks: impl IntoIterator<Item = String>) -> f64 {
    sentences(canvas, top, "tick", remarks)
}

fn sentences(canvas: &mut Canvas, top: f64, class: &str, notes: impl IntoIterator<Item = String>) -> f64 {
    let mut y = top;
    for note in notes {
        for line in wrapped(&note, canvas.width) {
            y += LINE;
            canvas.text(class, (0.0, y), Anchor::Start, &line, canvas.width);
        }
    }
    if y > top { y + 5.0 } else { top }
}

/// Breaks a text at blanks so that each line fits.
pub(crate) fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, TEXT) + width(word, TEXT) + 4.0 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
