//! Lines with bands: how something runs along an axis, with its spread.

use super::Draw;
use super::marks::{self, Mark};
use super::series::Series;
use crate::axis::Axis;
use crate::canvas::Canvas;
use crate::legend::{self, EndName, Swatch};
use crate::palette;
use crate::plot::{self, Frame, Plot};
use crate::scale::{Extent, Fit};
use crate::text::{counted, listed};

/// A line chart.
///
/// ```
/// use sapwood_report::{Axis, Chart, Lines, Series, Unit};
/// let mean = [0.6, 0.7, 0.75];
/// let chart: Chart = Lines::new("Accuracy", Axis::new("epoch").unit(Unit::Count), Axis::new("accuracy").unit(Unit::Percent))
///     .series(Series::counted("ranked", 1, mean).band(mean.map(|m| (m - 0.02, m + 0.02))))
///     .mark_x(2.0, "selected")
///     .into();
/// assert!(chart.svg().contains("class=\"band c0\""));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    across: Vec<Mark>,
    upright: Vec<Mark>,
    looks: Vec<usize>,
}

impl Lines {
    /// A chart without lines yet.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Lines {
        Lines {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
            across: Vec::new(),
            upright: Vec::new(),
            looks: Vec::new(),
        }
    }

    /// One more line.
    #[must_use]
    pub fn series(mut self, series: Series) -> Lines {
        self.series.push(series);
        self
    }

    /// Which colour, marker and dash each line has, counted from 0, in the order of the lines; without it they have 0, 1, 2,
    /// ... For charts of one page that show some of the same things.
    #[must_use]
    pub fn looks(mut self, looks: impl IntoIterator<Item = usize>) -> Lines {
        self.looks = looks.into_iter().collect();
        self
    }

    /// The lines with the look of each.
    fn looked(&self) -> impl Iterator<Item = (usize, &Series)> {
        self.series.iter().enumerate().map(|(i, s)| (palette::look(&self.looks, i), s))
    }

    /// A dashed vertical line with a name, such as the epoch that was selected.
    #[must_use]
    pub fn mark_x(mut self, value: f64, name: impl Into<String>) -> Lines {
        self.upright.push(Mark::new(value, name));
        self
    }

    /// A dashed horizontal line with a name, such as chance or a target.
    #[must_use]
    pub fn mark_y(mut self, value: f64, name: impl Into<String>) -> Lines {
        self.across.push(Mark::new(value, name));
        self
    }

    /// What x and y reach over.
    fn extents(&self) -> (Extent, Extent) {
        let points = || self.series.iter().flat_map(|s| s.points.iter());
        let mut x = Extent::of(points().map(|p| p.0));
        let mut y = Extent::of(points().map(|p| p.1));
        self.series.iter().flat_map(|s| &s.band).for_each(|b| [b.0, b.1].into_iter().for_each(|v| y.reach(v)));
        self.across.iter().for_each(|m| y.reach(m.value));
        self.upright.iter().for_each(|m| x.reach(m.value));
        (x, y)
    }
}

impl Draw for Lines {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let y = Extent::of(self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1)));
        let range = y.bounds().map_or(String::new(), |(lo, hi)| {
            format!(" Values from {} to {}.", self.y.unit.format(lo), self.y.unit.format(hi))
        });
        let names = listed(self.series.iter().map(|s| s.name.as_str()), 8);
        let lines = counted(self.series.len(), "line", "lines");
        format!("Line chart of {} against {}, {lines}: {names}.{range}", self.y.noun("values"), self.x.noun("position"))
    }

    fn nothing(&self) -> Option<String> {
        let shown = self.series.iter().flat_map(|s| &s.points).any(|p| self.x.shows(p.0) && self.y.shows(p.1));
        (!shown).then(|| format!("There are no values of {} to draw.", self.y.noun("the lines")))
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let (x, y) = self.extents();
        let direct = (2..=7).contains(&self.series.len()) && !canvas.is_narrow();
        let names: Vec<_> = self.looked().map(|(i, s)| (i, s.name.as_str())).collect();
        let (top, right) = if direct {
            (0.0, legend::end_room(canvas, names.iter().map(|n| n.1)))
        } else {
            (legend::draw(canvas, 0.0, &names, Swatch::Line), 0.0)
        };
        let height = (canvas.width * 0.45).clamp(200.0, 340.0);
        let frame = Frame { x: (&self.x, &x, Fit::Data), y: (&self.y, &y, Fit::Ticks), top, height, right };
        let plot = frame.draw(canvas);
        self.draw_data(canvas, &plot);
        marks::horizontal(canvas, &plot, "mark", &self.across);
        marks::vertical(canvas, &plot, &self.upright);
        if direct {
            self.end_names(canvas, &plot);
        }
        let notes = x.left_out(self.x.log).into_iter().chain(y.left_out(self.y.log));
        plot::note(canvas, plot.end, notes)
    }
}

impl Lines {
    fn draw_data(&self, canvas: &mut Canvas, plot: &Plot) {
        let cut = self.x.fixed_range().is_some() || self.y.fixed_range().is_some();
        if cut {
            plot.clip(canvas);
        }
        for (i, series) in self.looked() {
            canvas.path(&format!("band {}", palette::colour(i)), &series.band_path(plot));
        }
        for (i, series) in self.looked() {
            series.draw(canvas, plot, i, self.series.len());
        }
        if cut {
            canvas.unclip();
        }
    }

    /// Names at the ends of the lines, for those that have one.
    fn end_names(&self, canvas: &mut Canvas, plot: &Plot) {
        let ends = self.looked().filter_map(|(i, s)| {
            let (x, y) = s.places(plot).flatten().last()?;
            let at = (x.clamp(plot.left, plot.right), y.clamp(plot.top, plot.bottom));
            Some(EndName { series: i, name: &s.name, at })
        });
        legend::end_names(canvas, plot.right, plot.top, plot.bottom, ends.collect());
    }
}
