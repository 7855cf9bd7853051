//! A forest plot: estimates with their intervals against a line of no difference.

use super::Draw;
use crate::axis::Axis;
use crate::canvas::{Anchor, Canvas, TEXT};
use crate::plot;
use crate::scale::{Extent, Fit, Scale};
use crate::text::{counted, listed, one_line, width};

/// A row of a forest plot: an estimate, an interval, and perhaps the values behind it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interval {
    name: String,
    value: f64,
    low: f64,
    high: f64,
    dots: Vec<f64>,
    note: String,
}

impl Interval {
    /// An estimate with its interval. NaN for an end that is not known; NaN as the estimate leaves the row empty.
    pub fn new(name: impl Into<String>, value: f64, low: f64, high: f64) -> Interval {
        Interval { name: name.into(), value, low, high, ..Interval::default() }
    }

    /// The single differences behind the estimate, drawn as small dots.
    #[must_use]
    pub fn dots(mut self, dots: impl IntoIterator<Item = f64>) -> Interval {
        self.dots = dots.into_iter().collect();
        self
    }

    /// A word about the row, such as `p = 0.03` or `n/a (needs 6 seeds)`.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Interval {
        self.note = note.into();
        self
    }
}

/// A forest plot. What its axis says is a difference or a ratio; the line of no difference is at zero unless moved.
///
/// ```
/// use sapwood_report::{Axis, Chart, Forest, Interval};
/// let forest = Forest::new("Against no sampler", Axis::new("difference in accuracy"))
///     .row(Interval::new("ranked", 0.8, 0.2, 1.4).dots([0.1, 0.9, 1.4]).note("p = 0.03"));
/// assert!(Chart::from(forest).svg().contains("ranked: 0.800 (0.200 to 1.400), p = 0.03"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Forest {
    title: String,
    axis: Axis,
    rows: Vec<Interval>,
    reference: f64,
    sides: (String, String),
}

impl Forest {
    /// A plot without rows yet.
    pub fn new(title: impl Into<String>, axis: Axis) -> Forest {
        let reference = if axis.log { 1.0 } else { 0.0 };
        Forest { title: title.into(), axis, rows: Vec::new(), reference, sides: Default::default() }
    }

    /// One more row.
    #[must_use]
    pub fn row(mut self, row: Interval) -> Forest {
        self.rows.push(row);
        self
    }

    /// Where no difference is; 0 at first, 1 on a logarithmic axis.
    #[must_use]
    pub fn reference(mut self, value: f64) -> Forest {
        self.reference = value;
        self
    }

    /// What the left and the right of the line mean, such as `favours none` and `favours ranked`.
    #[must_use]
    pub fn sides(mut self, left: impl Into<String>, right: impl Into<String>) -> Forest {
        self.sides = (left.into(), right.into());
        self
    }

    fn extent(&self) -> Extent {
        let mut extent = Extent::of(self.rows.iter().map(|r| r.value));
        let others = self.rows.iter().flat_map(|r| [r.low, r.high].into_iter().chain(r.dots.iter().copied()));
        others.chain([self.reference]).for_each(|v| extent.reach(v));
        extent
    }

    /// Estimate and interval in words, in the unit that the axis names.
    fn words(&self, x: &Scale, row: &Interval) -> String {
        let f = |v: f64| x.fixed_words(&self.axis.unit, v);
        match (self.axis.shows(row.value), self.axis.shows(row.low) && self.axis.shows(row.high)) {
            (false, _) => "n/a".into(),
            (true, false) => f(row.value),
            (true, true) => format!("{} ({} to {})", f(row.value), f(row.low), f(row.high)),
        }
    }

    /// [`Forest::words`] and the note of the row.
    fn beside(&self, x: &Scale, row: &Interval) -> String {
        let note = one_line(&row.note);
        let words = self.words(x, row);
        if note.is_empty() { words } else { format!("{words}, {note}") }
    }
}

impl Draw for Forest {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let rows = counted(self.rows.len(), "row", "rows");
        let x = Scale::new(&self.axis, &self.extent(), Fit::Ticks, 5);
        let words: Vec<String> =
            self.rows.iter().map(|r| format!("{}: {}", one_line(&r.name), self.words(&x, r))).collect();
        let listed = listed(words.iter().map(String::as_str), 12);
        let what = self.axis.caption(&x.unit);
        format!("Forest plot of {}, {rows}. {listed}.", if what.is_empty() { "differences" } else { &what })
    }

    fn nothing(&self) -> Option<String> {
        let shown = self.rows.iter().any(|r| self.axis.shows(r.value));
        (!shown).then(|| format!("There are no values of {} to compare.", self.axis.noun("the rows")))
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let extent = self.extent();
        let unit = Scale::new(&self.axis, &extent, Fit::Ticks, 5);
        let widest = self.rows.iter().map(|r| width(&one_line(&r.name), TEXT)).fold(0.0, f64::max);
        let words = self.rows.iter().map(|r| width(&self.beside(&unit, r), TEXT)).fold(0.0, f64::max);
        // Where there is no room for them beside the intervals, name and words stand above.
        let stacked = canvas.is_narrow() || widest + words + 28.0 > canvas.width * 0.66;
        let step = if stacked { 62.0 } else { 32.0 };
        let left = if stacked { 14.0 } else { widest + 14.0 };
        let right = canvas.width - if stacked { 14.0 } else { words + 14.0 };
        let top = if self.sides == Default::default() { 6.0 } else { 24.0 };
        let bottom = top + step * self.rows.len() as f64;
        let x = plot::x_scale((&self.axis, &extent, Fit::Ticks), left, right);
        let end = plot::x_axis(canvas, &x, &self.axis, top, bottom, true);
        let zero = x.clamped(self.reference);
        canvas.line("reference", (zero, top - 4.0), (zero, bottom));
        self.draw_sides(canvas, zero, top);
        for (i, row) in self.rows.iter().enumerate() {
            let y = top + step * (i as f64 + if stacked { 0.78 } else { 0.5 });
            let words = self.beside(&unit, row);
            if stacked {
                canvas.text("halo", (0.0, y - 27.0), Anchor::Start, &row.name, canvas.width);
                canvas.text("tick halo", (0.0, y - 12.0), Anchor::Start, &words, canvas.width);
            } else {
                canvas.text("", (left - 10.0, y + 4.0), Anchor::End, &row.name, left - 10.0);
                canvas.text("number", (right + 12.0, y + 4.0), Anchor::Start, &words, canvas.width - right - 12.0);
            }
            self.draw_row(canvas, &x, (row, &words), y);
        }
        plot::note(canvas, end, extent.left_out(self.axis.log))
    }
}

impl Forest {
    fn draw_sides(&self, canvas: &mut Canvas, zero: f64, top: f64) {
        let (left, right) = &self.sides;
        canvas.text("tick", (zero - 8.0, top - 8.0), Anchor::End, left, zero - 8.0);
        canvas.text("tick", (zero + 8.0, top - 8.0), Anchor::Start, right, canvas.width - zero - 8.0);
    }

    fn draw_row(&self, canvas: &mut Canvas, x: &Scale, (row, words): (&Interval, &str), y: f64) {
        for at in row.dots.iter().filter_map(|d| x.at(*d)) {
            canvas.svg.tag("circle").class("seed").num("cx", at).num("cy", y + 8.0).num("r", 2.0).end();
        }
        if let (Some(low), Some(high)) = (x.at(row.low), x.at(row.high)) {
            canvas.line("interval c0", (low, y), (high, y));
            [low, high].into_iter().for_each(|v| canvas.line("interval c0", (v, y - 4.0), (v, y + 4.0)));
        }
        if let Some(at) = x.at(row.value) {
            let hint = format!("{}: {words}", one_line(&row.name));
            canvas.marker("estimate", 0, (at, y), 4.5).hint(&hint);
        }
    }
}
