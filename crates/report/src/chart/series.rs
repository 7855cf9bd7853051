//! A named row of points, with its gaps, its band and its markers.

use crate::canvas::Canvas;
use crate::palette;
use crate::plot::Plot;
use crate::svg::Path;
use crate::thin;

/// A named line, with or without a band around it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) band: Vec<(f64, f64)>,
}

impl Series {
    /// A line through (x, y) in the order given. A NaN leaves a gap.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { name: name.into(), points: points.into_iter().collect(), band: Vec::new() }
    }

    /// A line through y at x = `first`, `first` + 1, ...: values by epoch, by step.
    pub fn counted(name: impl Into<String>, first: u64, y: impl IntoIterator<Item = f64>) -> Series {
        Series::new(name, y.into_iter().enumerate().map(|(i, y)| (first as f64 + i as f64, y)))
    }

    /// A band from low to high, one pair a point; points beyond its end have none.
    #[must_use]
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64)>) -> Series {
        self.band = band.into_iter().collect();
        self
    }
}

impl Series {
    /// Where the points stand; none for those that cannot be drawn.
    pub(super) fn places<'a>(&'a self, plot: &'a Plot) -> impl Iterator<Item = Option<(f64, f64)>> + 'a {
        self.points.iter().map(|&(x, y)| Some((plot.x.at(x)?, plot.y.at(y)?)))
    }

    /// The outline of the band, piece by piece between gaps.
    pub(super) fn band_path(&self, plot: &Plot) -> Path {
        let edges = self.points.iter().zip(&self.band).map(|(p, &(low, high))| {
            let x = plot.x.at(p.0)?;
            Some((x, plot.y.at(low)?, plot.y.at(high)?))
        });
        let mut path = Path::default();
        for run in runs(edges) {
            let low = thin::line(run.iter().map(|e| (e.0, e.1)).collect());
            let high = thin::line(run.iter().map(|e| (e.0, e.2)).collect());
            path.line(low.into_iter().chain(high.into_iter().rev()));
            path.close();
        }
        path
    }

    /// Draws line and markers as series `i` of `n`.
    pub(super) fn draw(&self, canvas: &mut Canvas, plot: &Plot, i: usize, n: usize) {
        let runs = runs(self.places(plot));
        let mut path = Path::default();
        for run in runs.iter().filter(|r| r.len() > 1) {
            path.line(thin::line(run.clone()));
        }
        canvas.path(&format!("line {} {}", palette::colour(i), palette::dash(i)), &path);
        for run in runs.iter().filter(|r| r.len() == 1) {
            canvas.marker("dot", i, run[0], 3.0).end();
        }
        let places: Vec<_> = runs.into_iter().filter(|r| r.len() > 1).flatten().collect();
        for at in places.iter().skip(first_marker(places.len(), i, n)).step_by(marker_distance(places.len(), n)) {
            canvas.marker("dot", i, *at, 3.0).end();
        }
    }
}

/// All points are marked when they are few, else about six of them; one long line alone needs no markers.
fn marker_distance(points: usize, series: usize) -> usize {
    match points {
        0..=16 => 1,
        _ if series == 1 => points + 1,
        _ => points.div_ceil(6),
    }
}

/// Markers of different lines stand at different places, so that none hides another.
fn first_marker(points: usize, i: usize, series: usize) -> usize {
    match marker_distance(points, series) {
        1 => 0,
        distance if series == 1 => distance,
        distance => distance * (i % 7) / 7,
    }
}

/// The pieces between gaps.
pub(super) fn runs<P>(places: impl Iterator<Item = Option<P>>) -> Vec<Vec<P>> {
    let mut runs = vec![Vec::new()];
    for place in places {
        match (place, runs.last_mut()) {
            (Some(place), Some(run)) => run.push(place),
            (None, Some(run)) if !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_cut() {
        assert_eq!(runs([None, Some(1), Some(2), None, None, Some(3), None].into_iter()), [vec![1, 2], vec![3]]);
        assert!(runs::<u8>([None].into_iter()).is_empty());
    }

    #[test]
    fn markers_are_few_and_apart() {
        assert_eq!((first_marker(10, 3, 4), marker_distance(10, 4)), (0, 1));
        assert_eq!(marker_distance(600, 4), 100);
        assert_ne!(first_marker(600, 1, 4), first_marker(600, 2, 4));
        assert!(first_marker(600, 0, 1) > 600);
    }
}
