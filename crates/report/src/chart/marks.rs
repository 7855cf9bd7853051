//! Straight lines across a plot: a limit, a chance level, the epoch that was selected.

use crate::canvas::{Anchor, Canvas, TEXT};
use crate::plot::Plot;
use crate::text::{one_line, width};

/// A value on one axis with a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub(crate) value: f64,
    pub(crate) name: String,
}

impl Mark {
    pub(crate) fn new(value: f64, name: impl Into<String>) -> Mark {
        Mark { value, name: name.into() }
    }
}

/// Vertical lines at values of x, their names at the top, one below the other where they would touch.
pub(crate) fn vertical(canvas: &mut Canvas, plot: &Plot, marks: &[Mark]) {
    let inside = |m: &&Mark| plot.x.at(m.value).is_some_and(|x| x >= plot.left - 0.5 && x <= plot.right + 0.5);
    for (i, mark) in marks.iter().filter(inside).enumerate() {
        let x = plot.x.clamped(mark.value);
        canvas.line("under", (x, plot.top), (x, plot.bottom));
        canvas.line("mark", (x, plot.top), (x, plot.bottom));
        let y = plot.top + 11.0 + 15.0 * (i % 4) as f64;
        let room = (plot.right - plot.left) / 2.0;
        let is_left = x > (plot.left + plot.right) / 2.0;
        let (anchor, dx) = if is_left { (Anchor::End, -5.0) } else { (Anchor::Start, 5.0) };
        canvas.text("halo", (x + dx, y), anchor, &mark.name, room);
    }
}

/// Horizontal lines at values of y with their names above them, at the right end.
pub(crate) fn horizontal(canvas: &mut Canvas, plot: &Plot, class: &str, marks: &[Mark]) {
    let inside = |m: &&Mark| plot.y.at(m.value).is_some_and(|y| y >= plot.top - 0.5 && y <= plot.bottom + 0.5);
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for mark in marks.iter().filter(inside) {
        let y = plot.y.clamped(mark.value);
        canvas.line(class, (plot.left, y), (plot.right, y));
        let wide = width(&one_line(&mark.name), TEXT).min(plot.right - plot.left);
        // A name that would lie on another one moves to its left.
        let end = taken.iter().filter(|t| (t.0 - y).abs() < 14.0).map(|t| t.1).fold(plot.right - 2.0, f64::min);
        taken.push((y, end - wide - 12.0));
        let below = if y - 14.0 < plot.top { 14.0 } else { -5.0 };
        canvas.text("halo", (end, y + below), Anchor::End, &mark.name, plot.right - plot.left);
    }
}
