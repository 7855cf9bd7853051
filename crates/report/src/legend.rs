//! Which series is which: a legend above the plot, or names at the ends of the lines.

use crate::canvas::{Anchor, Canvas, LINE, TEXT};
use crate::palette;
use crate::text::{one_line, width};

/// What stands before a name in a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Swatch {
    /// A piece of line with the marker of the series.
    Line,
    /// A piece of line with a dash alone.
    Dash,
    Marker,
    Area,
    /// An area with the hatching of a kind of task.
    Hatch,
}

const SAMPLE: f64 = 22.0;
const GAP: f64 = 18.0;

/// Draws names in rows from `top` on, as wide as the canvas allows. Returns where the next thing may begin.
pub(crate) fn draw(canvas: &mut Canvas, top: f64, names: &[(usize, &str)], swatch: Swatch) -> f64 {
    let named: Vec<_> = names.iter().filter(|(_, name)| !one_line(name).is_empty()).collect();
    if named.is_empty() {
        return top;
    }
    let room = (canvas.width - SAMPLE - 8.0).min(if named.len() > 2 { 240.0 } else { 400.0 });
    let wide = |name: &str| SAMPLE + 6.0 + width(&one_line(name), TEXT).min(room);
    // Many names stand in columns, few in a running line.
    let column = named.iter().map(|(_, name)| wide(name)).fold(0.0, f64::max) + GAP;
    let in_columns = named.len() > 6;
    let (mut x, mut y) = (0.0, top + TEXT);
    for (i, name) in named {
        let own = wide(name);
        if x > 0.0 && x + own > canvas.width {
            (x, y) = (0.0, y + LINE + 2.0);
        }
        sample(canvas, swatch, *i, x, y - 4.0);
        canvas.text("", (x + SAMPLE + 6.0, y), Anchor::Start, name, room);
        x += if in_columns { column } else { own + GAP };
    }
    y + 14.0
}

fn sample(canvas: &mut Canvas, swatch: Swatch, i: usize, x: f64, y: f64) {
    let colour = palette::colour(i);
    let middle = (x + SAMPLE / 2.0, y);
    match swatch {
        Swatch::Line | Swatch::Dash => {
            canvas.line(&format!("line {colour} {}", palette::dash(i)), (x, y), (x + SAMPLE, y));
            if swatch == Swatch::Line {
                canvas.marker("dot", i, middle, 3.5).end();
            }
        }
        Swatch::Marker => canvas.marker("dot", i, middle, 4.0).end(),
        Swatch::Area => canvas.svg.tag("rect").class(&format!("bar {colour}")).area(x + 5.0, y - 6.0, 12.0, 12.0).end(),
        Swatch::Hatch => {
            let fill = format!("url(#{}-k{i})", canvas.id);
            canvas.svg.tag("rect").class(&colour).attr("fill", &fill).area(x + 3.0, y - 6.0, 16.0, 12.0).end();
        }
    }
}

/// A name beside the end of a line.
pub(crate) struct EndName<'a> {
    pub(crate) series: usize,
    pub(crate) name: &'a str,
    pub(crate) at: (f64, f64),
}

/// Room for names at the ends of lines, at most a quarter of the sheet.
pub(crate) fn end_room<'a>(canvas: &Canvas, names: impl Iterator<Item = &'a str>) -> f64 {
    let widest = names.map(|n| width(&one_line(n), TEXT)).fold(0.0, f64::max);
    (widest + 20.0).min(canvas.width / 4.0)
}

/// Draws names at `x`, each as near to the end of its line as its neighbours allow, with a thin line back to it.
pub(crate) fn end_names(canvas: &mut Canvas, x: f64, top: f64, bottom: f64, mut names: Vec<EndName<'_>>) {
    names.sort_by(|a, b| a.at.1.total_cmp(&b.at.1).then(a.series.cmp(&b.series)));
    let wanted: Vec<f64> = names.iter().map(|n| n.at.1).collect();
    let room = canvas.width - x - 14.0;
    for (n, y) in names.iter().zip(spread(&wanted, top, bottom, LINE)) {
        let colour = palette::colour(n.series);
        canvas.line(&format!("leader {colour}"), (n.at.0 + 4.0, n.at.1), (x + 10.0, y));
        canvas.text(&format!("name {colour}"), (x + 13.0, y + 4.0), Anchor::Start, n.name, room);
    }
}

/// Moves ascending positions apart to at least `gap`, as little as needed, inside `top..bottom` if they fit.
pub(crate) fn spread(wanted: &[f64], top: f64, bottom: f64, gap: f64) -> Vec<f64> {
    // Groups of touching names stand around the mean of what they want: (sum of wishes, first, count).
    let mut groups: Vec<(f64, usize)> = Vec::new();
    let start = |g: &(f64, usize)| {
        let half = (g.1 as f64 - 1.0) * gap / 2.0;
        let highest = (bottom - 2.0 * half).max(top);
        (g.0 / g.1 as f64 - half).clamp(top, highest)
    };
    for &y in wanted {
        groups.push((y, 1));
        while groups.len() > 1 {
            let (last, before) = (groups[groups.len() - 1], groups[groups.len() - 2]);
            if start(&before) + before.1 as f64 * gap <= start(&last) {
                break;
            }
            groups.truncate(groups.len() - 2);
            groups.push((before.0 + last.0, before.1 + last.1));
        }
    }
    groups.iter().flat_map(|g| (0..g.1).map(move |i| start(g) + i as f64 * gap)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spreads_only_what_touches() {
        assert_eq!(spread(&[10.0, 50.0], 0.0, 100.0, 15.0), [10.0, 50.0]);
        assert_eq!(spread(&[50.0, 50.0], 0.0, 100.0, 10.0), [45.0, 55.0]);
        assert_eq!(spread(&[99.0, 100.0], 0.0, 100.0, 10.0), [90.0, 100.0]);
    }

    proptest! {
        #[test]
        fn names_keep_apart_and_inside(mut wanted in prop::collection::vec(0.0..300.0f64, 0..15)) {
            wanted.sort_by(f64::total_cmp);
            let placed = spread(&wanted, 0.0, 300.0, 15.0);
            prop_assert_eq!(placed.len(), wanted.len());
            prop_assert!(placed.windows(2).all(|w| w[1] - w[0] >= 15.0 - 1e-9), "{:?}", placed);
            prop_assert!(placed.iter().all(|y| (-1e-9..=300.0 + 1e-9).contains(y)), "{:?}", placed);
        }
    }
}
