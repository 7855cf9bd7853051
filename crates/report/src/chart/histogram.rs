//! Histograms: how often values fall into bins of one width, for one group or a few, on common bins.

use super::Draw;
use super::marks::{self, Mark};
use crate::axis::{Axis, Unit};
use crate::canvas::Canvas;
use crate::legend::{self, Swatch};
use crate::number::count;
use crate::palette;
use crate::plot::{self, Frame, Plot};
use crate::scale::{Extent, Fit};
use crate::svg::Path;
use crate::text::{counted, listed};
use crate::ticks;

/// Most bins that are made from values.
const MOST: usize = 80;

#[derive(Debug, Clone, PartialEq)]
struct Group {
    name: String,
    values: Vec<f64>,
    counts: Vec<u64>,
}

/// A histogram of values, or of counts that were made elsewhere.
///
/// Bins of values have a width of 1, 2 or 5 times a power of ten near that of Freedman and Diaconis (1981); on a
/// logarithmic axis they are equally wide in the logarithm.
///
/// ```
/// use sapwood_report::{Axis, Chart, Histogram};
/// let degrees = Histogram::new("Degrees", Axis::new("degree")).counts("all", [0.0, 2.0, 4.0, 6.0], [5, 12, 1]);
/// assert!(Chart::from(degrees).svg().contains("2 to 4: 12"));
/// let scores = Histogram::new("Scores", Axis::new("score")).values("kept", [0.1, 0.4, 0.35]);
/// # let _ = scores;
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    title: String,
    axis: Axis,
    groups: Vec<Group>,
    edges: Option<Vec<f64>>,
    marks: Vec<Mark>,
    log_counts: bool,
    looks: Vec<usize>,
}

impl Histogram {
    /// A histogram of nothing yet.
    pub fn new(title: impl Into<String>, axis: Axis) -> Histogram {
        let title = title.into();
        Histogram { title, axis, groups: vec![], edges: None, marks: vec![], log_counts: false, looks: vec![] }
    }

    /// A group of values to be counted. NaN is left out.
    #[must_use]
    pub fn values(mut self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Histogram {
        self.groups.push(Group { name: name.into(), values: values.into_iter().collect(), counts: vec![] });
        self
    }

    /// A group that is counted already: `edges` ascend, bin i goes from edge i to edge i + 1. The edges of the last call
    /// hold for all groups. Counts without a bin are not drawn.
    #[must_use]
    pub fn counts(
        mut self,
        name: impl Into<String>,
        edges: impl IntoIterator<Item = f64>,
        counts: impl IntoIterator<Item = u64>,
    ) -> Histogram {
        self.edges = Some(edges.into_iter().collect());
        self.groups.push(Group { name: name.into(), values: vec![], counts: counts.into_iter().collect() });
        self
    }

    /// A dashed vertical line with a name.
    #[must_use]
    pub fn mark(mut self, value: f64, name: impl Into<String>) -> Histogram {
        self.marks.push(Mark::new(value, name));
        self
    }

    /// Counts on a logarithmic axis, for tails.
    #[must_use]
    pub fn log_counts(mut self) -> Histogram {
        self.log_counts = true;
        self
    }

    /// Which colour and dash each group has, counted from 0, in the order of the groups; without it they have 0, 1, 2, ...
    #[must_use]
    pub fn looks(mut self, looks: impl IntoIterator<Item = usize>) -> Histogram {
        self.looks = looks.into_iter().collect();
        self
    }

    fn extent(&self) -> Extent {
        Extent::of(self.groups.iter().flat_map(|g| g.values.iter().copied()))
    }

    fn edges(&self) -> Vec<f64> {
        let given = self.edges.iter().flatten().copied().filter(|e| self.axis.shows(*e));
        let mut edges: Vec<f64> = given.collect();
        if self.edges.is_none() {
            let mut shown: Vec<f64> =
                self.groups.iter().flat_map(|g| g.values.iter().copied()).filter(|v| self.axis.shows(*v)).collect();
            shown.sort_by(f64::total_cmp);
            edges = if self.axis.log { log_edges(&shown) } else { linear_edges(&shown, self.axis.unit == Unit::Count) };
        }
        edges.dedup();
        if edges.windows(2).all(|w| w[0] < w[1]) { edges } else { Vec::new() }
    }
}

/// Edges for sorted values: nice widths near the rule of Freedman and Diaconis.
fn linear_edges(sorted: &[f64], whole: bool) -> Vec<f64> {
    let (Some(&lo), Some(&hi)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let n = sorted.len();
    let quartiles = sorted[(3 * n / 4).min(n - 1)] - sorted[n / 4];
    let span = hi / 2.0 - lo / 2.0;
    if span <= lo.abs().max(hi.abs()) * 1e-12 {
        let half = if lo == 0.0 { 0.5 } else { lo.abs() * 0.05 };
        return vec![lo - half, lo + half];
    }
    let wide = 2.0 * quartiles / (n as f64).cbrt();
    let sturges = (n as f64).log2().ceil() + 1.0;
    let bins = if wide > 0.0 { (2.0 * span / wide).ceil() } else { sturges };
    let most = bins.clamp(sturges.min(10.0), MOST as f64) as usize;
    let step = ticks::step(lo, hi, most, whole);
    let mut edges = step.within(step.floor(lo), step.ceil(hi));
    // The last bin holds its upper edge; a largest value on an edge is part of it.
    if edges.len() < 2 {
        edges = vec![lo, hi];
    }
    edges
}

fn log_edges(sorted: &[f64]) -> Vec<f64> {
    let (Some(&lo), Some(&hi)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let n = (((sorted.len() as f64).log2() + 1.0) * 1.5).clamp(4.0, 40.0).ceil() as usize;
    let (a, b) = if hi / lo < 1.001 { (lo / 1.1, hi * 1.1) } else { (lo, hi) };
    let (la, lb) = (a.ln(), b.ln());
    let edge = |i: usize| match i {
        0 => a,
        i if i == n => b,
        i => (la + (lb - la) * i as f64 / n as f64).exp(),
    };
    (0..=n).map(edge).filter(|e| e.is_finite()).collect()
}

impl Group {
    /// Counts by bin; values outside all bins are in none.
    fn counted(&self, edges: &[f64]) -> Vec<u64> {
        let bins = edges.len().saturating_sub(1);
        let mut counts = vec![0u64; bins];
        for (sum, n) in counts.iter_mut().zip(&self.counts) {
            *sum = *n;
        }
        for v in &self.values {
            let right = edges.partition_point(|e| e <= v);
            let bin = if edges.last() == Some(v) { bins } else { right };
            if bin >= 1 && bin <= bins {
                counts[bin - 1] = counts[bin - 1].saturating_add(1);
            }
        }
        counts
    }
}

impl Draw for Histogram {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let edges = self.edges();
        let totals = self.groups.iter().map(|g| {
            let total = g.counted(&edges).iter().fold(0u64, |a, n| a.saturating_add(*n));
            format!("{} ({})", crate::text::one_line(&g.name), count(total))
        });
        let totals: Vec<String> = totals.collect();
        let bins = counted(edges.len().saturating_sub(1), "bin", "bins");
        format!(
            "Histogram of {} in {bins}: {}.",
            self.axis.noun("values"),
            listed(totals.iter().map(String::as_str), 8)
        )
    }

    fn nothing(&self) -> Option<String> {
        let edges = self.edges();
        let shown = edges.len() > 1 && self.groups.iter().any(|g| g.counted(&edges).iter().any(|n| *n > 0));
        (!shown).then(|| format!("There are no values of {} to count.", self.axis.noun("the histogram")))
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let edges = self.edges();
        let counts: Vec<Vec<u64>> = self.groups.iter().map(|g| g.counted(&edges)).collect();
        let names: Vec<_> =
            self.groups.iter().enumerate().map(|(i, g)| (palette::look(&self.looks, i), g.name.as_str())).collect();
        let top = if names.len() > 1 { legend::draw(canvas, 0.0, &names, Swatch::Area) } else { 0.0 };
        let mut x = Extent::of(edges.iter().copied());
        self.marks.iter().for_each(|m| x.reach(m.value));
        let y = Extent::of(counts.iter().flatten().map(|n| *n as f64).filter(|n| !self.log_counts || *n > 0.0));
        let mut frequency = Axis::new("count").unit(Unit::Count).from_zero();
        frequency.log = self.log_counts;
        let reach_one = Extent::of([0.5]);
        let y = if self.log_counts && y.bounds().is_some_and(|b| b.0 <= 1.0) { joined(y, &reach_one) } else { y };
        let height = (canvas.width * 0.36).clamp(170.0, 260.0);
        let x = (&self.axis, &x, Fit::Data);
        let frame = Frame { x, y: (&frequency, &y, Fit::Ticks), top, height, right: 12.0 };
        let plot = frame.draw(canvas);
        for (i, counts) in counts.iter().enumerate() {
            let i = palette::look(&self.looks, i);
            if self.groups.len() == 1 {
                self.draw_bins(canvas, &plot, i, &edges, counts);
            } else {
                draw_outline(canvas, &plot, i, &edges, counts);
            }
        }
        marks::vertical(canvas, &plot, &self.marks);
        plot::note(canvas, plot.end, self.extent().left_out(self.axis.log))
    }
}

/// An extent that also reaches over another one.
fn joined(mut extent: Extent, other: &Extent) -> Extent {
    other.bounds().into_iter().for_each(|(lo, hi)| [lo, hi].into_iter().for_each(|v| extent.reach(v)));
    extent
}

impl Histogram {
    fn draw_bins(&self, canvas: &mut Canvas, plot: &Plot, i: usize, edges: &[f64], counts: &[u64]) {
        let base = plot.y.clamped(plot.y.base());
        for (pair, n) in edges.windows(2).zip(counts).filter(|(_, n)| **n > 0) {
            let (a, b) = (plot.x.clamped(pair[0]), plot.x.clamped(pair[1]));
            let y = plot.y.clamped(*n as f64);
            let gap = if b - a > 4.0 { 1.0 } else { 0.0 };
            let f = |v: f64| self.axis.unit.format(v);
            let hint = format!("{} to {}: {}", f(pair[0]), f(pair[1]), count(*n));
            // A single hit among millions stays visible.
            let height = (base - y).max(0.75);
            let class = format!("bar {}", palette::colour(i));
            canvas.svg.tag("rect").class(&class).area(a + gap / 2.0, base - height, b - a - gap, height).hint(&hint);
        }
        canvas.line("base", (plot.left, base), (plot.right, base));
    }
}

/// The outline of a group over its pale area, so that groups can lie on one another.
fn draw_outline(canvas: &mut Canvas, plot: &Plot, i: usize, edges: &[f64], counts: &[u64]) {
    let base = plot.y.clamped(plot.y.base());
    let mut corners = vec![(plot.x.clamped(edges[0]), base)];
    for (pair, n) in edges.windows(2).zip(counts) {
        let y = if *n == 0 { base } else { plot.y.clamped(*n as f64) };
        corners.extend([(plot.x.clamped(pair[0]), y), (plot.x.clamped(pair[1]), y)]);
    }
    corners.push((corners.last().map_or(plot.left, |c| c.0), base));
    let mut path = Path::default();
    path.line(corners);
    canvas.path(&format!("band {}", palette::colour(i)), &path);
    canvas.path(&format!("line {} d{i}", palette::colour(i), i = i % 6), &path);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bin() {
        for values in
            [vec![0.0, 1.0, 2.0, 10.0], vec![3.0; 9], vec![-1e300, 1e300], vec![1e-9, 2e-9], vec![0.1 + 0.2, 0.3]]
        {
            let h = Histogram::new("", Axis::new("")).values("", values.clone());
            let counts = h.groups[0].counted(&h.edges());
            assert_eq!(counts.iter().sum::<u64>(), values.len() as u64, "{:?}", h.edges());
        }
        let log = Histogram::new("", Axis::new("").log()).values("", [1.0, 10.0, 1e6, -1.0]);
        assert_eq!(log.groups[0].counted(&log.edges()).iter().sum::<u64>(), 3);
    }

    #[test]
    fn wrong_edges_draw_nothing() {
        for edges in [vec![], vec![1.0], vec![2.0, 1.0], vec![f64::NAN, 1.0]] {
            assert!(Histogram::new("", Axis::new("")).counts("", edges, [1, 2]).nothing().is_some());
        }
    }
}
