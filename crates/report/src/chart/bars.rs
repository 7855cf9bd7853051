//! Bars: one length a category, side by side for several series, with whiskers where there is an interval.

use super::Draw;
use super::marks::Mark;
use crate::axis::Axis;
use crate::canvas::{Anchor, Canvas, LINE, TEXT};
use crate::legend::{self, Swatch};
use crate::palette;
use crate::plot::{self, tick_room};
use crate::scale::{Extent, Fit, Scale};
use crate::text::{counted, listed, one_line, width};

/// The bars of one colour, one a category.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BarSeries {
    name: String,
    values: Vec<f64>,
    whiskers: Vec<(f64, f64)>,
}

impl BarSeries {
    /// One value a category, in their order. NaN leaves a gap.
    pub fn new(name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> BarSeries {
        BarSeries { name: name.into(), values: values.into_iter().collect(), whiskers: Vec::new() }
    }

    /// An interval from low to high for each value; NaN for none.
    #[must_use]
    pub fn whiskers(mut self, whiskers: impl IntoIterator<Item = (f64, f64)>) -> BarSeries {
        self.whiskers = whiskers.into_iter().collect();
        self
    }
}

/// A bar chart. Bars stand upright when the names of the categories fit below them, else they lie.
///
/// ```
/// use sapwood_report::{Axis, BarSeries, Bars, Chart};
/// let bars = Bars::new("Time of a step", Axis::new("time"), ["fused", "unfused"])
///     .series(BarSeries::new("forward", [1.0, 2.0]).whiskers([(0.9, 1.1), (1.8, 2.3)]));
/// assert!(Chart::from(bars).svg().contains("fused: 1"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    title: String,
    axis: Axis,
    categories: Vec<String>,
    series: Vec<BarSeries>,
    marks: Vec<Mark>,
    horizontal: bool,
}

impl Bars {
    /// A chart without bars yet, over named categories. The axis always has zero on it, unless it is logarithmic.
    pub fn new<S: Into<String>>(title: impl Into<String>, axis: Axis, categories: impl IntoIterator<Item = S>) -> Bars {
        let categories = categories.into_iter().map(Into::into).collect();
        Bars {
            title: title.into(),
            axis: axis.from_zero(),
            categories,
            series: vec![],
            marks: vec![],
            horizontal: false,
        }
    }

    /// One more bar in each category.
    #[must_use]
    pub fn series(mut self, series: BarSeries) -> Bars {
        self.series.push(series);
        self
    }

    /// Lying bars in any case.
    #[must_use]
    pub fn horizontal(mut self) -> Bars {
        self.horizontal = true;
        self
    }

    /// A dashed line with a name at a value, such as a limit or chance.
    #[must_use]
    pub fn mark(mut self, value: f64, name: impl Into<String>) -> Bars {
        self.marks.push(Mark::new(value, name));
        self
    }

    fn extent(&self) -> Extent {
        let mut extent = Extent::of(self.series.iter().flat_map(|s| s.values.iter().copied()));
        let ends = self.series.iter().flat_map(|s| &s.whiskers).flat_map(|w| [w.0, w.1]);
        ends.chain(self.marks.iter().map(|m| m.value)).for_each(|v| extent.reach(v));
        extent
    }

    /// As many categories as any series has values, and no fewer than names.
    fn len(&self) -> usize {
        self.series.iter().map(|s| s.values.len()).fold(self.categories.len(), usize::max)
    }

    fn category(&self, i: usize) -> String {
        self.categories.get(i).map_or_else(|| (i + 1).to_string(), |name| one_line(name))
    }

    /// Whether all names fit below upright bars.
    fn lies(&self, room: f64) -> bool {
        let slot = room / self.len().max(1) as f64;
        let thin = slot / self.series.len().max(1) as f64;
        self.horizontal || thin < 7.0 || (0..self.len()).any(|i| width(&self.category(i), TEXT) > slot - 6.0)
    }
}

impl Draw for Bars {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let names = (0..self.len()).map(|i| self.category(i)).collect::<Vec<_>>();
        let categories = counted(names.len(), "category", "categories");
        let series = listed(self.series.iter().map(|s| s.name.as_str()), 8);
        let of = if self.series.len() > 1 { format!(" for {series}") } else { String::new() };
        let listed = listed(names.iter().map(String::as_str), 8);
        format!("Bar chart of {}{of}, {categories}: {listed}.", self.axis.noun("values"))
    }

    fn nothing(&self) -> Option<String> {
        let shown = self.series.iter().flat_map(|s| &s.values).any(|v| self.axis.shows(*v));
        (!shown).then(|| format!("There are no values of {} to draw.", self.axis.noun("the bars")))
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let extent = self.extent();
        let names: Vec<_> = self.series.iter().enumerate().map(|(i, s)| (i, s.name.as_str())).collect();
        let top = if names.len() > 1 { legend::draw(canvas, 0.0, &names, Swatch::Area) } else { 0.0 };
        let end = match self.lies(canvas.width - 60.0) {
            true => self.draw_lying(canvas, &extent, top),
            false => self.draw_upright(canvas, &extent, top),
        };
        plot::note(canvas, end, extent.left_out(self.axis.log))
    }
}

/// Where the bars of a category stand: `from` is its edge, `step` its size.
struct Slots {
    from: f64,
    step: f64,
    series: usize,
}

impl Slots {
    /// Begin and thickness of the bar of series `s` in category `i`.
    fn bar(&self, i: usize, s: usize) -> (f64, f64) {
        let inner = (self.step * 0.76).min(self.series as f64 * 64.0);
        let thick = inner / self.series as f64;
        let gap = if thick > 5.0 { 1.0 } else { 0.0 };
        (self.middle(i) - inner / 2.0 + thick * s as f64 + gap / 2.0, thick - gap)
    }

    fn middle(&self, i: usize) -> f64 {
        self.from + self.step * (i as f64 + 0.5)
    }
}

impl Bars {
    /// Calls `draw` with series, value, whisker, begin and thickness of each bar that can be drawn.
    fn each(&self, slots: &Slots, mut draw: impl FnMut(usize, f64, Option<(f64, f64)>, (f64, f64), &str)) {
        for i in 0..self.len() {
            for (s, series) in self.series.iter().enumerate() {
                let value = series.values.get(i).copied().unwrap_or(f64::NAN);
                let whisker = series.whiskers.get(i).copied().filter(|w| self.axis.shows(w.0) && self.axis.shows(w.1));
                let name = one_line(&series.name);
                let interval = whisker.map_or(String::new(), |w| {
                    format!(" ({} to {})", self.axis.unit.format(w.0), self.axis.unit.format(w.1))
                });
                let of = if self.series.len() > 1 { format!("{name}, ") } else { String::new() };
                let hint = format!("{of}{}: {}{interval}", self.category(i), self.axis.unit.format(value));
                draw(s, value, whisker, slots.bar(i, s), &hint);
            }
        }
    }

    /// Numbers stand beside bars when they are few.
    fn has_numbers(&self) -> bool {
        self.len() * self.series.len() <= 24
    }

    fn draw_upright(&self, canvas: &mut Canvas, extent: &Extent, top: f64) -> f64 {
        let height = (canvas.width * 0.4).clamp(180.0, 300.0);
        let y = Scale::new(&self.axis, extent, Fit::Ticks, 6);
        let (left, right) = ((tick_room(&y) + 8.0).min(canvas.width * 0.4), canvas.width - 4.0);
        let top = plot::y_title(canvas, top, &self.axis.caption(&y.unit)) + 14.0;
        let bottom = top + height;
        let y = y.between(bottom, top);
        plot::y_axis(canvas, &y, left, right);
        let slots = Slots { from: left, step: (right - left) / self.len() as f64, series: self.series.len() };
        let base = y.clamped(y.base());
        self.each(&slots, |s, value, whisker, (x, thick), hint| {
            let middle = x + thick / 2.0;
            let Some(_) = y.at(value) else {
                return missing(canvas, value, (middle, base - 4.0), Anchor::Middle);
            };
            let end = y.clamped(value);
            bar(canvas, s, (x, base.min(end), thick, (base - end).abs()), hint);
            let (low, high) = whisker.map_or((end, end), |w| (y.clamped(w.0), y.clamped(w.1)));
            if whisker.is_some() {
                let cap = (thick / 3.0).min(5.0);
                canvas.line("whisker", (middle, low), (middle, high));
                [low, high].into_iter().for_each(|v| canvas.line("whisker", (middle - cap, v), (middle + cap, v)));
            }
            let number = y.words(&self.axis.unit, value);
            if self.has_numbers() && width(&number, TEXT) <= slots.step / self.series.len() as f64 + 6.0 {
                let (lowest, highest) = (low.max(high).max(end), low.min(high).min(end));
                let at = if end <= base { highest - 5.0 } else { lowest + 13.0 };
                canvas.text("number", (middle, at), Anchor::Middle, &number, f64::MAX);
            }
        });
        canvas.line("base", (left, base), (right, base));
        for i in 0..self.len() {
            let at = (slots.middle(i), bottom + 17.0);
            canvas.text("tick", at, Anchor::Middle, &self.category(i), slots.step);
        }
        for mark in self.marks.iter().filter(|m| self.axis.shows(m.value)) {
            let at = y.clamped(mark.value);
            canvas.line("mark", (left, at), (right, at));
            canvas.text("halo", (right - 2.0, at - 5.0), Anchor::End, &mark.name, right - left);
        }
        bottom + 24.0
    }

    fn draw_lying(&self, canvas: &mut Canvas, extent: &Extent, top: f64) -> f64 {
        let n = self.len();
        // Many categories get thinner, and only every so many has its name.
        let thick = if n * self.series.len() > 80 { 6.0 } else { 16.0 };
        let step = (thick * self.series.len() as f64).max(if n > 80 { 6.0 } else { LINE + 5.0 }) + 4.0;
        let every = (LINE / step).ceil().max(1.0) as usize;
        let widest = (0..n).map(|i| width(&self.category(i), TEXT)).fold(0.0, f64::max);
        let left = (widest + 10.0).min(canvas.width * 0.38);
        let room = if self.has_numbers() { 56.0 } else { 14.0 };
        let right = canvas.width - room;
        let names_end = left;
        // Numbers of bars that go to the left stand between the names and the bars.
        let is_signed = self.has_numbers() && !self.axis.log && extent.bounds().is_some_and(|b| b.0 < 0.0);
        let left = if is_signed { left + 44.0 } else { left };
        let top = top + if self.marks.is_empty() { 4.0 } else { 20.0 };
        let bottom = top + step * n as f64;
        let x = plot::x_scale((&self.axis, extent, Fit::Ticks), left, right);
        let end = plot::x_axis(canvas, &x, &self.axis, top, bottom, true);
        let slots = Slots { from: top, step, series: self.series.len() };
        let base = x.clamped(x.base());
        self.each(&slots, |s, value, whisker, (y, thick), hint| {
            let middle = y + thick / 2.0;
            let Some(_) = x.at(value) else {
                return missing(canvas, value, (base + 4.0, middle + 4.0), Anchor::Start);
            };
            let end = x.clamped(value);
            bar(canvas, s, (base.min(end), y, (base - end).abs(), thick), hint);
            let (low, high) = whisker.map_or((end, end), |w| (x.clamped(w.0), x.clamped(w.1)));
            if whisker.is_some() {
                let cap = (thick / 3.0).min(5.0);
                canvas.line("whisker", (low, middle), (high, middle));
                [low, high].into_iter().for_each(|v| canvas.line("whisker", (v, middle - cap), (v, middle + cap)));
            }
            if self.has_numbers() {
                let is_left = end < base;
                let at = if is_left { low.min(high).min(end) - 5.0 } else { low.max(high).max(end) + 5.0 };
                let anchor = if is_left { Anchor::End } else { Anchor::Start };
                canvas.text("number halo", (at, middle + 4.0), anchor, &x.words(&self.axis.unit, value), f64::MAX);
            }
        });
        canvas.line("base", (base, top), (base, bottom));
        for i in (0..n).step_by(every) {
            canvas.text(
                "tick",
                (names_end - 8.0, slots.middle(i) + 4.0),
                Anchor::End,
                &self.category(i),
                names_end - 8.0,
            );
        }
        for mark in self.marks.iter().filter(|m| self.axis.shows(m.value)) {
            let at = x.clamped(mark.value);
            canvas.line("mark", (at, top - 4.0), (at, bottom));
            let anchor = if at > canvas.width / 2.0 { Anchor::End } else { Anchor::Start };
            canvas.text("halo", (at, top - 8.0), anchor, &mark.name, canvas.width / 2.0);
        }
        end
    }
}

fn bar(canvas: &mut Canvas, s: usize, (x, y, w, h): (f64, f64, f64, f64), hint: &str) {
    canvas.svg.tag("rect").class(&format!("bar {}", palette::colour(s))).area(x, y, w, h).hint(hint);
}

/// A word in place of a bar, where there is a value that no bar can show.
fn missing(canvas: &mut Canvas, value: f64, at: (f64, f64), anchor: Anchor) {
    let word = if value.is_nan() { "–".into() } else { crate::number::significant(value, 3) };
    canvas.text("tick", at, anchor, &word, f64::MAX);
}
