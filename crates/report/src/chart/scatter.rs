//! Scatter plots: one dot a thing, such as predicted against measured time.

use super::Draw;
use crate::axis::Axis;
use crate::canvas::{Anchor, Canvas, TEXT};
use crate::legend::{self, Swatch};
use crate::palette;
use crate::plot::{self, Frame, Plot};
use crate::scale::{Extent, Fit};
use crate::svg::Path;
use crate::text::{counted, listed, one_line, width};
use crate::thin;

/// With more dots than this, shapes are lost anyway.
const CROWD: usize = 600;

/// A scatter plot.
///
/// ```
/// use sapwood_report::{Axis, Chart, Scatter, Unit};
/// let (x, y) = (Axis::new("predicted").unit(Unit::Seconds).log(), Axis::new("measured").unit(Unit::Seconds).log());
/// let scatter = Scatter::new("Cost model", x, y).points("SpMM", [(0.001, 0.0012), (0.1, 0.09)]).diagonal();
/// assert!(Chart::from(scatter).svg().contains("class=\"diagonal\""));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    title: String,
    x: Axis,
    y: Axis,
    groups: Vec<(String, Vec<(f64, f64)>)>,
    names: Vec<(f64, f64, String)>,
    diagonal: bool,
}

impl Scatter {
    /// A plot without dots yet.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Scatter {
        Scatter { title: title.into(), x, y, groups: Vec::new(), names: Vec::new(), diagonal: false }
    }

    /// A group of dots with a colour and a shape of its own.
    #[must_use]
    pub fn points(mut self, name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Scatter {
        self.groups.push((name.into(), points.into_iter().collect()));
        self
    }

    /// A name beside a place. Names that would lie on others are left out, later ones first.
    #[must_use]
    pub fn label(mut self, x: f64, y: f64, name: impl Into<String>) -> Scatter {
        self.names.push((x, y, name.into()));
        self
    }

    /// The line where y is x, and the same range on both axes.
    #[must_use]
    pub fn diagonal(mut self) -> Scatter {
        self.diagonal = true;
        self
    }

    fn shown(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.groups.iter().flat_map(|g| &g.1).filter(|p| self.x.shows(p.0) && self.y.shows(p.1))
    }

    fn extents(&self) -> (Extent, Extent) {
        let (mut x, mut y) = (Extent::default(), Extent::default());
        for (a, b) in self.groups.iter().flat_map(|g| &g.1) {
            x.add(*a);
            y.add(*b);
        }
        if self.diagonal {
            let (from_x, from_y) = (x.bounds(), y.bounds());
            from_y.into_iter().for_each(|b| [b.0, b.1].into_iter().for_each(|v| x.reach(v)));
            from_x.into_iter().for_each(|b| [b.0, b.1].into_iter().for_each(|v| y.reach(v)));
        }
        (x, y)
    }
}

impl Draw for Scatter {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let points = counted(self.shown().count(), "point", "points");
        let names = listed(self.groups.iter().map(|g| g.0.as_str()), 8);
        let groups = if self.groups.len() > 1 { format!(" in groups {names}") } else { String::new() };
        let line = if self.diagonal { " The diagonal is where both are equal." } else { "" };
        format!("Scatter plot of {} against {}, {points}{groups}.{line}", self.y.noun("y"), self.x.noun("x"))
    }

    fn nothing(&self) -> Option<String> {
        let nothing = self.shown().next().is_none();
        nothing.then(|| format!("There are no points of {} to draw.", self.y.noun("the plot")))
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let (x, y) = self.extents();
        let names: Vec<_> = self.groups.iter().enumerate().map(|(i, g)| (i, g.0.as_str())).collect();
        let top = if names.len() > 1 { legend::draw(canvas, 0.0, &names, Swatch::Marker) } else { 0.0 };
        let height = (canvas.width * if self.diagonal { 0.62 } else { 0.55 }).clamp(220.0, 420.0);
        // With a diagonal both axes have the same length.
        let right = if self.diagonal { (canvas.width - 60.0 - height).max(14.0).min(canvas.width / 3.0) } else { 14.0 };
        let frame = Frame { x: (&self.x, &x, Fit::Ticks), y: (&self.y, &y, Fit::Ticks), top, height, right };
        let plot = frame.draw(canvas);
        if self.diagonal {
            draw_diagonal(canvas, &plot);
        }
        let cut = self.x.fixed_range().is_some() || self.y.fixed_range().is_some();
        if cut {
            plot.clip(canvas);
        }
        self.draw_dots(canvas, &plot);
        if cut {
            canvas.unclip();
        }
        self.draw_names(canvas, &plot);
        plot::note(canvas, plot.end, x.left_out(self.x.log).into_iter().chain(y.left_out(self.y.log)))
    }
}

fn draw_diagonal(canvas: &mut Canvas, plot: &Plot) {
    let ((xl, xh), (yl, yh)) = (plot.x.ends(), plot.y.ends());
    let (lo, hi) = (xl.max(yl), xh.min(yh));
    if lo < hi {
        let at = |v: f64| (plot.x.clamped(v), plot.y.clamped(v));
        canvas.line("diagonal", at(lo), at(hi));
    }
}

/// Points almost without length in one path: their round or square ends are the dots. A tenth of the text of markers.
fn draw_crowd(canvas: &mut Canvas, i: usize, places: impl Iterator<Item = (f64, f64)>) {
    let mut path = Path::default();
    for (x, y) in places {
        path.to('M', x, y);
        path.stay();
    }
    canvas.path(&format!("crowd {} e{}", palette::colour(i), i % 2), &path);
}

impl Scatter {
    fn draw_dots(&self, canvas: &mut Canvas, plot: &Plot) {
        let total: usize = self.groups.iter().map(|g| g.1.len()).sum();
        let (class, r) = match total {
            0..=60 => ("dot", 4.0),
            _ => ("dot many", 3.2),
        };
        for (i, (_, points)) in self.groups.iter().enumerate() {
            let places = points.iter().filter_map(|p| Some((plot.x.at(p.0)?, plot.y.at(p.1)?)));
            let places: Vec<_> = places.collect();
            let drawn = thin::cloud(&places, 1.5).into_iter().map(|k| places[k]);
            if total > CROWD {
                draw_crowd(canvas, i, drawn);
            } else {
                drawn.for_each(|at| canvas.marker(class, i, at, r).end());
            }
        }
    }

    fn draw_names(&self, canvas: &mut Canvas, plot: &Plot) {
        let mut taken: Vec<(f64, f64, f64)> = Vec::new();
        for (x, y, name) in &self.names {
            let (Some(px), Some(py)) = (plot.x.at(*x), plot.y.at(*y)) else { continue };
            let wide = width(&one_line(name), TEXT).min(160.0);
            let left = if px + wide + 8.0 > canvas.width { px - wide - 7.0 } else { px + 7.0 };
            let inside =
                px >= plot.left - 1.0 && px <= plot.right + 1.0 && py >= plot.top - 1.0 && py <= plot.bottom + 1.0;
            let free = taken.iter().all(|t| (t.1 - py).abs() > 13.0 || left > t.0 + t.2 || left + wide < t.0);
            if inside && free {
                canvas.text("halo", (left, py + 4.0), Anchor::Start, name, 160.0);
                taken.push((left, py, wide));
            }
        }
    }
}
