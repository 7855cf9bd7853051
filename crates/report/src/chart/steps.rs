//! Step curves under caps: what is held over time against what there is, such as memory by stage.

use super::Draw;
use super::marks::{self, Mark};
use super::series::runs;
use crate::axis::Axis;
use crate::canvas::Canvas;
use crate::legend::{self, Swatch};
use crate::palette;
use crate::plot::{self, Frame, Plot};
use crate::scale::{Extent, Fit};
use crate::svg::Path;
use crate::text::{counted, listed, one_line};
use crate::thin;

/// A step curve: each value holds from its position until the next one.
///
/// ```
/// use sapwood_report::{Axis, Chart, Steps, Unit};
/// let (time, memory) = (Axis::new("time").unit(Unit::Seconds), Axis::new("memory").unit(Unit::Bytes));
/// let gib = 1024f64.powi(3);
/// let steps = Steps::new("Memory of stage 0", time, memory)
///     .curve("stage 0", [(0.0, 1.0 * gib), (0.5, 3.0 * gib), (1.0, 2.0 * gib)])
///     .until(1.5)
///     .cap(4.0 * gib, "device memory");
/// assert!(Chart::from(steps).svg().contains("device memory"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Steps {
    title: String,
    x: Axis,
    y: Axis,
    curves: Vec<(String, Vec<(f64, f64)>)>,
    caps: Vec<Mark>,
    until: f64,
}

impl Steps {
    /// A chart without curves yet. The vertical axis has zero on it.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Steps {
        Steps { title: title.into(), x, y: y.from_zero(), curves: vec![], caps: vec![], until: f64::NAN }
    }

    /// A curve through (position, value), positions ascending. NaN as a value leaves a gap until the next position.
    #[must_use]
    pub fn curve(mut self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Steps {
        self.curves.push((name.into(), points.into_iter().collect()));
        self
    }

    /// How long the last values hold; until the last position of any curve if not said.
    #[must_use]
    pub fn until(mut self, end: f64) -> Steps {
        self.until = end;
        self
    }

    /// A limit with a name.
    #[must_use]
    pub fn cap(mut self, value: f64, name: impl Into<String>) -> Steps {
        self.caps.push(Mark::new(value, name));
        self
    }

    fn extents(&self) -> (Extent, Extent) {
        let points = || self.curves.iter().flat_map(|c| c.1.iter());
        let mut x = Extent::of(points().map(|p| p.0));
        let mut y = Extent::of(points().map(|p| p.1));
        x.reach(self.until);
        self.caps.iter().for_each(|c| y.reach(c.value));
        (x, y)
    }

    fn peak(points: &[(f64, f64)]) -> Option<(f64, f64)> {
        points.iter().copied().filter(|p| p.1.is_finite()).reduce(|a, b| if b.1 > a.1 { b } else { a })
    }
}

impl Draw for Steps {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let peaks = self.curves.iter().filter_map(|(name, points)| {
            let (_, peak) = Self::peak(points)?;
            Some(format!("{} peaks at {}", one_line(name), self.y.unit.format(peak)))
        });
        let caps = self.caps.iter().map(|c| format!("{} is {}", one_line(&c.name), self.y.unit.format(c.value)));
        let facts: Vec<String> = peaks.chain(caps).collect();
        let curves = counted(self.curves.len(), "curve", "curves");
        let (y, x) = (self.y.noun("values"), self.x.noun("position"));
        format!("Step curves of {y} over {x}, {curves}. {}.", listed(facts.iter().map(String::as_str), 10))
    }

    fn nothing(&self) -> Option<String> {
        let shown = self.curves.iter().flat_map(|c| &c.1).any(|p| self.x.shows(p.0) && self.y.shows(p.1));
        (!shown).then(|| format!("There are no values of {} to draw.", self.y.noun("the curves")))
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let (x, y) = self.extents();
        let names: Vec<_> = self.curves.iter().enumerate().map(|(i, c)| (i, c.0.as_str())).collect();
        let top = if names.len() > 1 { legend::draw(canvas, 0.0, &names, Swatch::Dash) } else { 0.0 };
        let height = (canvas.width * 0.36).clamp(180.0, 280.0);
        let frame = Frame { x: (&self.x, &x, Fit::Data), y: (&self.y, &y, Fit::Ticks), top, height, right: 14.0 };
        let plot = frame.draw(canvas);
        let cut = self.x.fixed_range().is_some() || self.y.fixed_range().is_some();
        if cut {
            plot.clip(canvas);
        }
        let end = if self.until.is_finite() { self.until } else { x.bounds().map_or(0.0, |b| b.1) };
        for (i, (_, points)) in self.curves.iter().enumerate() {
            self.draw_curve(canvas, &plot, i, points, end);
        }
        if cut {
            canvas.unclip();
        }
        marks::horizontal(canvas, &plot, "cap", &self.caps);
        let notes = x.left_out(self.x.log).into_iter().chain(y.left_out(self.y.log));
        plot::note(canvas, plot.end, self.over().chain(notes).collect::<Vec<_>>())
    }
}

impl Steps {
    /// A sentence for each curve above the lowest cap: a limit that is passed must not be overlooked.
    fn over(&self) -> impl Iterator<Item = String> {
        let caps = self.caps.iter().filter(|c| c.value.is_finite());
        let lowest = caps.reduce(|a, b| if b.value < a.value { b } else { a });
        let above = self.curves.iter().filter_map(move |(name, points)| {
            let (cap, (_, peak)) = (lowest?, Self::peak(points)?);
            let f = |v: f64| self.y.unit.format(v);
            let what = if one_line(name).is_empty() { "The curve".into() } else { one_line(name) };
            let passed = format!("{what} reaches {}, above {} ({}).", f(peak), one_line(&cap.name), f(cap.value));
            (peak > cap.value).then_some(passed)
        });
        above.take(5)
    }

    fn draw_curve(&self, canvas: &mut Canvas, plot: &Plot, i: usize, points: &[(f64, f64)], end: f64) {
        let base = plot.y.clamped(plot.y.base());
        let next = |k: usize| points.get(k + 1).map_or(end, |p| p.0);
        // A piece of the curve: where it begins and ends, and its height.
        let pieces = points.iter().enumerate().map(|(k, p)| {
            let (a, b) = (plot.x.at(p.0)?, plot.x.at(next(k)).or(plot.x.at(p.0))?);
            Some((a, b.max(a), plot.y.at(p.1)?))
        });
        let (mut line, mut area) = (Path::default(), Path::default());
        for run in runs(pieces) {
            let corners = thin::line(run.iter().flat_map(|&(a, b, y)| [(a, y), (b, y)]).collect());
            let (first, last) = (run[0].0, run[run.len() - 1].1);
            area.line([(first, base)].into_iter().chain(corners.iter().copied()).chain([(last, base)]));
            area.close();
            line.line(corners);
        }
        let colour = palette::colour(i);
        if self.curves.len() <= 3 {
            canvas.path(&format!("band {colour}"), &area);
        }
        let dash = if self.curves.len() > 1 { i % 6 } else { 0 };
        canvas.path(&format!("line {colour} d{dash}"), &line);
        let peak = Self::peak(points).and_then(|p| Some((p.1, plot.x.at(p.0)?, plot.y.at(p.1)?)));
        if let Some((value, x, y)) = peak {
            let hint = format!("{} peaks at {}", one_line(&self.curves[i].0), self.y.unit.format(value));
            canvas.marker("dot", i, (x, y), 3.0).hint(&hint);
        }
    }
}
