//! Heat maps: a table of numbers as shades, such as a confusion matrix.

use super::Draw;
use crate::axis::Unit;
use crate::canvas::{Anchor, Canvas, TEXT};
use crate::number::{exponent, fixed, significant};
use crate::palette::SHADES;
use crate::plot;
use crate::scale::Extent;
use crate::text::{counted, one_line, width};

/// More rows or columns than this are drawn as means of blocks.
const MOST: usize = 100;

/// A heat map. Shades go from the lowest to the highest value, or to both sides of a middle.
///
/// ```
/// use sapwood_report::{Chart, HeatMap, Unit};
/// let confusion = HeatMap::new("Confusion", "predicted", "true", ["cat", "dog"])
///     .unit(Unit::Count)
///     .row("cat", [90.0, 10.0])
///     .row("dog", [5.0, f64::NAN])
///     .shade_by_row_share();
/// assert!(Chart::from(confusion).svg().contains("true cat, predicted dog: 10"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    title: String,
    across: String,
    down: String,
    columns: Vec<String>,
    rows: Vec<(String, Vec<f64>)>,
    unit: Unit,
    middle: Option<f64>,
    by_share: bool,
}

/// The cells as they are drawn: as given, or means of blocks.
struct Cells {
    values: Vec<Vec<f64>>,
    block: usize,
}

impl HeatMap {
    /// A map without rows yet; `across` says what the columns are, `down` what the rows are.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        across: impl Into<String>,
        down: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> HeatMap {
        HeatMap {
            title: title.into(),
            across: across.into(),
            down: down.into(),
            columns: columns.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
            unit: Unit::None,
            middle: None,
            by_share: false,
        }
    }

    /// What the numbers are.
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> HeatMap {
        self.unit = unit;
        self
    }

    /// One more row. NaN, and what is missing at its end, leaves a gap.
    #[must_use]
    pub fn row(mut self, name: impl Into<String>, values: impl IntoIterator<Item = f64>) -> HeatMap {
        self.rows.push((name.into(), values.into_iter().collect()));
        self
    }

    /// Two colours to both sides of a value, for what has a sign.
    #[must_use]
    pub fn diverging(mut self, middle: f64) -> HeatMap {
        self.middle = Some(middle).filter(|m| m.is_finite());
        self
    }

    /// Shades by the share of a cell in its row, numbers as they are: for confusion matrices with classes of unequal size.
    #[must_use]
    pub fn shade_by_row_share(mut self) -> HeatMap {
        self.by_share = true;
        self
    }

    fn width(&self) -> usize {
        self.rows.iter().map(|r| r.1.len()).fold(self.columns.len(), usize::max)
    }

    fn cells(&self) -> Cells {
        let (h, w) = (self.rows.len(), self.width());
        let block = h.max(w).div_ceil(MOST).max(1);
        let at = |i: usize, j: usize| self.rows.get(i).and_then(|r| r.1.get(j)).copied().unwrap_or(f64::NAN);
        let mean = |bi: usize, bj: usize| {
            let all =
                (bi * block..(bi + 1) * block).flat_map(|i| (bj * block..(bj + 1) * block).map(move |j| at(i, j)));
            let finite: Vec<f64> = all.filter(|v| v.is_finite()).collect();
            let n = finite.len() as f64;
            if block == 1 {
                at(bi, bj)
            } else {
                finite.iter().map(|v| v / n).fold(if n > 0.0 { 0.0 } else { f64::NAN }, |a, v| a + v)
            }
        };
        let values = (0..h.div_ceil(block)).map(|i| (0..w.div_ceil(block)).map(|j| mean(i, j)).collect()).collect();
        Cells { values, block }
    }

    /// What decides about the shade of each cell.
    fn weights(&self, cells: &Cells) -> Vec<Vec<f64>> {
        let share = |row: &Vec<f64>| {
            let total: f64 = row.iter().filter(|v| v.is_finite()).sum();
            row.iter().map(|v| if total > 0.0 { v / total } else { f64::NAN }).collect()
        };
        if self.by_share { cells.values.iter().map(share).collect() } else { cells.values.clone() }
    }

    /// Lowest and highest weight; the same to both sides of a middle; 0 to 1 for shares.
    fn range(&self, weights: &[Vec<f64>]) -> (f64, f64) {
        let (lo, hi) = Extent::of(weights.iter().flatten().copied()).bounds().unwrap_or((0.0, 1.0));
        match self.middle {
            Some(m) => {
                let reach = (hi - m).abs().max((m - lo).abs()).min(f64::MAX / 4.0);
                (m - reach, m + reach)
            }
            None if self.by_share => (0.0, 1.0),
            // A map of counts begins at none.
            None if self.unit == Unit::Count && lo >= 0.0 => (0.0, hi),
            None => (lo, hi),
        }
    }

    fn palette(&self) -> &'static str {
        if self.middle.is_some() { "v" } else { "q" }
    }

    fn name(names: Option<&String>, i: usize) -> String {
        names.map_or_else(|| (i + 1).to_string(), |n| one_line(n))
    }
}

/// The shade of a weight.
fn shade(v: f64, (lo, hi): (f64, f64)) -> usize {
    let span = hi / 2.0 - lo / 2.0;
    let t = if span > 0.0 { (v / 2.0 - lo / 2.0) / span } else { 0.5 };
    ((t.clamp(0.0, 1.0) * SHADES as f64) as usize).min(SHADES - 1)
}

impl Draw for HeatMap {
    fn title(&self) -> &str {
        &self.title
    }

    fn describe(&self) -> String {
        let bounds = Extent::of(self.rows.iter().flat_map(|r| r.1.iter().copied())).bounds();
        let range = bounds.map_or(String::new(), |(lo, hi)| {
            format!(" Values from {} to {}.", self.unit.format(lo), self.unit.format(hi))
        });
        let (rows, columns) = (counted(self.rows.len(), "row", "rows"), counted(self.width(), "column", "columns"));
        format!("Heat map, {rows} ({}), {columns} ({}).{range}", one_line(&self.down), one_line(&self.across))
    }

    fn nothing(&self) -> Option<String> {
        let shown = self.rows.iter().any(|r| r.1.iter().any(|v| v.is_finite()));
        (!shown).then(|| "There are no values of the map to draw.".to_string())
    }

    fn draw(&self, canvas: &mut Canvas) -> f64 {
        let cells = self.cells();
        let weights = self.weights(&cells);
        let range = self.range(&weights);
        let row_names: Vec<String> = self.rows.iter().map(|r| one_line(&r.0)).collect();
        let widest = row_names.iter().map(|n| width(n, TEXT)).fold(0.0, f64::max);
        let left = (widest + 10.0).min(canvas.width * 0.32);
        let side = ((canvas.width - left - 2.0) / weights[0].len().max(1) as f64).min(58.0);
        let high = side.min(if weights.len() > 40 { 12.0 } else { 36.0 }).max(2.0);
        let mut top = 6.0;
        if !one_line(&self.down).is_empty() {
            canvas.text("title", (0.0, TEXT), Anchor::Start, &self.down, canvas.width / 2.0);
            top += 14.0;
        }
        self.draw_cells(canvas, &cells, &weights, range, (left, top), (side, high));
        let bottom = top + high * weights.len() as f64;
        self.draw_row_names(canvas, &row_names, cells.block, (left, top), high);
        let right = left + side * weights[0].len() as f64;
        let end = self.draw_column_names(canvas, cells.block, (left, bottom), right, side);
        let end = self.draw_key(canvas, range, end + 8.0);
        let means = (cells.block > 1).then(|| format!("Each cell is the mean of {0} × {0} values.", cells.block));
        let infinite = Extent::of(self.rows.iter().flat_map(|r| r.1.iter().copied())).left_out(false);
        let end = plot::remark(canvas, end, means);
        plot::note(canvas, end, infinite)
    }
}

impl HeatMap {
    fn draw_cells(
        &self,
        canvas: &mut Canvas,
        cells: &Cells,
        weights: &[Vec<f64>],
        range: (f64, f64),
        (left, top): (f64, f64),
        (w, h): (f64, f64),
    ) {
        let gap = if w > 8.0 && h > 8.0 { 1.0 } else { 0.0 };
        let hints = cells.block == 1 && cells.values.len() * cells.values[0].len() <= 4000;
        let numbers = self
            .numbers(&cells.values)
            .filter(|all| h >= 15.0 && all.iter().flatten().all(|number| width(number, TEXT) <= w - 3.0));
        for (i, (row, row_weights)) in cells.values.iter().zip(weights).enumerate() {
            let y = top + h * i as f64;
            let shades: Vec<Option<usize>> =
                row_weights.iter().map(|v| v.is_finite().then(|| shade(*v, range))).collect();
            let mut j = 0;
            while j < row.len() {
                let x = left + w * j as f64;
                // Cells of one shade in a row are one piece, when nothing else tells them apart.
                let n = if hints { 1 } else { shades[j..].iter().take_while(|s| **s == shades[j]).count() };
                match shades[j] {
                    None if gap > 0.0 => {
                        canvas.svg.tag("rect").class("gap").area(x + 1.5, y + 1.5, w * n as f64 - 4.0, h - 4.0).end();
                    }
                    None => {}
                    Some(shade) => {
                        let class = format!("cell {}{shade}", self.palette());
                        let tag = canvas.svg.tag("rect").class(&class).area(x, y, w * n as f64 - gap, h - gap);
                        if hints {
                            tag.hint(&self.hint(i, j, row[j], row_weights[j]))
                        } else {
                            tag.end()
                        }
                        if let Some(numbers) = &numbers {
                            let at = (x + (w - gap) / 2.0, y + h / 2.0 + 4.0);
                            let class = format!("t{}{shade}", self.palette());
                            canvas.text(&class, at, Anchor::Middle, &numbers[i][j], f64::MAX);
                        }
                    }
                }
                j += n;
            }
        }
    }

    fn hint(&self, i: usize, j: usize, value: f64, weight: f64) -> String {
        let row = Self::name(self.rows.get(i).map(|r| &r.0), i);
        let column = Self::name(self.columns.get(j), j);
        let share =
            if self.by_share { format!(" ({} of the row)", Unit::Percent.format(weight)) } else { String::new() };
        let text = format!("{} {row}, {} {column}: {}{share}", self.down, self.across, self.unit.format(value));
        one_line(&text)
    }

    /// Numbers for small cells, all with the same decimals; the unit stands in the key.
    fn numbers(&self, values: &[Vec<f64>]) -> Option<Vec<Vec<String>>> {
        let finite = || values.iter().flatten().copied().filter(|v| v.is_finite());
        let divisor = if self.unit == Unit::Percent { 0.01 } else { 1.0 };
        let largest = finite().fold(0.0, |a: f64, v| a.max((v / divisor).abs()));
        let whole = finite().all(|v| (v / divisor).fract() == 0.0);
        let e = exponent(largest);
        let decimals = if whole { 0 } else { (2 - e).clamp(0, 4) as usize };
        let number = |v: &f64| match &self.unit {
            _ if !v.is_finite() => String::new(),
            Unit::Count | Unit::Bytes | Unit::Seconds => self.unit.format(*v),
            _ if (-2..6).contains(&e) => fixed(v / divisor, decimals),
            _ => significant(v / divisor, 3),
        };
        (finite().count() <= 2500).then(|| values.iter().map(|row| row.iter().map(number).collect()).collect())
    }

    fn draw_row_names(&self, canvas: &mut Canvas, names: &[String], block: usize, (left, top): (f64, f64), h: f64) {
        let every = ((13.0 / h).ceil() as usize).max(1);
        for (i, name) in names.iter().step_by(block).enumerate().step_by(every) {
            let at = (left - 6.0, top + h * (i as f64 + 0.5) + 4.0);
            canvas.text("tick", at, Anchor::End, name, left - 6.0);
        }
    }

    /// Names below the columns: flat if they fit, else slanted.
    fn draw_column_names(
        &self,
        canvas: &mut Canvas,
        block: usize,
        (left, bottom): (f64, f64),
        right: f64,
        w: f64,
    ) -> f64 {
        let n = self.width();
        let names: Vec<String> = (0..n).step_by(block).map(|j| Self::name(self.columns.get(j), j)).collect();
        let widest = names.iter().map(|name| width(name, TEXT)).fold(0.0, f64::max);
        let flat = widest <= w - 4.0;
        let every = if flat { 1 } else { ((22.0 / w).ceil() as usize).max(1) };
        let room = if flat { w } else { 110.0 };
        for (j, name) in names.iter().enumerate().step_by(every) {
            let x = left + w * (j as f64 + 0.5);
            if flat {
                canvas.text("tick", (x, bottom + 16.0), Anchor::Middle, name, room);
            } else {
                // Slanted names end below their column, so that none leaves the sheet on the right.
                let at = format!(
                    "translate({} {}) rotate(-45)",
                    crate::number::px(x + 4.0),
                    crate::number::px(bottom + 12.0)
                );
                canvas.svg.tag("g").attr("transform", &at).open();
                canvas.text("tick", (0.0, 0.0), Anchor::End, name, room.min((x + 4.0) * 1.4));
                canvas.svg.close("g");
            }
        }
        let below = if flat { 22.0 } else { widest.min(room) * 0.71 + 20.0 };
        if one_line(&self.across).is_empty() {
            return bottom + below;
        }
        let half = width(&one_line(&self.across), TEXT).min(canvas.width) / 2.0;
        let x = ((left + right) / 2.0).clamp(half, (canvas.width - half).max(half));
        canvas.text("title", (x, bottom + below + 12.0), Anchor::Middle, &self.across, canvas.width);
        bottom + below + 18.0
    }

    /// All shades with the values they begin and end at.
    fn draw_key(&self, canvas: &mut Canvas, (lo, hi): (f64, f64), top: f64) -> f64 {
        let size = 20.0;
        let unit = if self.by_share { &Unit::Percent } else { &self.unit };
        let low = unit.format(lo);
        let left = width(&low, TEXT) + 6.0;
        canvas.text("tick", (0.0, top + 12.0), Anchor::Start, &low, f64::MAX);
        for i in 0..SHADES {
            let class = format!("{}{i}", self.palette());
            canvas.svg.tag("rect").class(&class).area(left + size * i as f64, top + 2.0, size, 12.0).end();
        }
        let right = left + size * SHADES as f64 + 6.0;
        let share = if self.by_share { " of the row" } else { "" };
        let text = format!("{}{share}", unit.format(hi));
        canvas.text("tick", (right, top + 12.0), Anchor::Start, &text, canvas.width - right);
        top + 20.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_grow_with_values() {
        let shades: Vec<usize> = (0..=100).map(|i| shade(f64::from(i), (0.0, 100.0))).collect();
        assert!(shades.windows(2).all(|w| w[0] <= w[1]) && (shades[0], shades[100]) == (0, SHADES - 1));
        assert_eq!(shade(3.0, (3.0, 3.0)), SHADES / 2);
        assert_eq!((shade(f64::MIN, (f64::MIN, f64::MAX)), shade(f64::MAX, (f64::MIN, f64::MAX))), (0, SHADES - 1));
    }

    #[test]
    fn large_maps_become_means() {
        let mut map = HeatMap::new("", "", "", Vec::<String>::new());
        for i in 0..250 {
            map = map.row("", (0..250).map(|j| if i == 0 && j == 0 { f64::NAN } else { 2.0 }));
        }
        let cells = map.cells();
        assert_eq!((cells.block, cells.values.len(), cells.values[0].len()), (3, 84, 84));
        assert!(cells.values.iter().flatten().all(|v| (v - 2.0).abs() < 1e-12));
    }
}
