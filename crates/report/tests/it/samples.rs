//! Charts of every kind made from any numbers and any names.

use sapwood_report::{
    Axis, BarSeries, Bars, Block, Cell, Chart, Column, Figure, Forest, Gantt, HeatMap, Histogram, Interval, KeyFigure,
    Lines, Link, Node, NodeLink, Prose, Report, Scatter, Section, Series, Steps, Table, Task, Unit,
};

/// Numbers that hurt.
pub(crate) const AWKWARD: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    1e-300,
    1e300,
    f64::MAX,
    f64::MIN,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.1,
    1e9,
    18446744073709551615.0,
    -1e-9,
];

/// Names that hurt.
pub(crate) const RUDE: &[&str] = &[
    "",
    "plain",
    "<script>alert(1)</script>",
    "\" onload=\"alert(1)",
    "]]> & &amp; 'x'",
    "a\u{0}b\u{1b}[31m\u{202e}c",
    "много слов и 長い名前 🌳🌳🌳 that no axis, no legend and no cell of any table has room for at any width at all",
    "two\nlines\tand a tab",
];

/// The k-th of a list that begins anew.
fn pick<T: Copy>(list: &[T], k: usize) -> Option<T> {
    (!list.is_empty()).then(|| list[k % list.len()])
}

fn axis(name: &str, k: usize) -> Axis {
    let units = [Unit::None, Unit::Count, Unit::Percent, Unit::Bytes, Unit::Seconds, Unit::Named(name.to_string())];
    let axis = Axis::new(name).unit(units[k % units.len()].clone());
    match k % 4 {
        1 => axis.log(),
        2 => axis.from_zero(),
        3 => axis.range(-3.0, 40.0),
        _ => axis,
    }
}

/// One chart of each kind; `k` turns the axes and options.
pub(crate) fn charts(v: &[f64], names: &[&str], k: usize) -> Vec<Chart> {
    let name = |i: usize| pick(names, i).unwrap_or("");
    let value = |i: usize| pick(v, i).unwrap_or(f64::NAN);
    let pairs = |shift: usize| (0..v.len()).map(move |i| (value(i), value(i + shift)));
    let (x, y) = (axis(name(1), k), axis(name(2), k / 2));
    let lines = (0..k % 41).fold(Lines::new(name(0), x.clone(), y.clone()), |c, i| {
        c.series(Series::new(name(i), pairs(i)).band(pairs(i + 1)))
    });
    let bars = (0..k % 4).fold(Bars::new(name(0), y.clone(), names.iter().copied()), |c, i| {
        c.series(BarSeries::new(name(i), v.iter().copied().skip(i)).whiskers(pairs(1)))
    });
    let forest = (0..v.len().min(9)).fold(Forest::new(name(0), y.clone()), |c, i| {
        c.row(Interval::new(name(i), value(i), value(i + 1), value(i + 2)).dots(v.iter().copied()).note(name(i + 1)))
    });
    let counts = v.iter().map(|v| *v as u64);
    let counted = Histogram::new(name(0), axis(name(1), 4)).counts(name(2), v.iter().copied(), counts);
    let mut map = HeatMap::new(name(0), name(1), name(2), names.iter().copied()).unit(Unit::Count);
    for i in 0..k % 7 {
        map = map.row(name(i), v.iter().copied().skip(i));
    }
    let task = |i: usize| Task::new(i % 3, i % 9, value(i), value(i + 1)).label(name(i));
    let links = (0..v.len()).map(|i| Link::new(i, (i * 7 + 3) % (names.len() + 1)).weight(value(i)).label(name(i)));
    let graph =
        NodeLink::new(name(0)).nodes(names.iter().map(|n| Node::new(*n))).links(links).groups(names.iter().copied());
    vec![
        lines.clone().into(),
        lines.mark_x(value(0), name(3)).mark_y(value(1), name(4)).into(),
        bars.clone().into(),
        bars.horizontal().mark(value(0), name(2)).into(),
        forest.clone().into(),
        forest.reference(value(3)).sides(name(1), name(2)).into(),
        Histogram::new(name(0), x.clone()).values(name(1), v.iter().copied()).mark(value(0), name(2)).into(),
        Histogram::new(name(0), y.clone()).values(name(1), v.iter().copied()).values("b", [1.0]).log_counts().into(),
        counted.into(),
        map.clone().into(),
        map.clone().shade_by_row_share().into(),
        map.diverging(value(0)).into(),
        Scatter::new(name(0), x.clone(), y.clone()).points(name(1), pairs(1)).label(value(0), value(1), name(2)).into(),
        Scatter::new(name(0), x.clone(), y.clone())
            .points(name(1), pairs(1))
            .points(name(2), pairs(2))
            .diagonal()
            .into(),
        Gantt::new(name(0), names.iter().copied(), names.iter().copied())
            .tasks((0..v.len()).map(task))
            .axis(x.clone())
            .into(),
        Steps::new(name(0), x, y)
            .curve(name(1), pairs(1))
            .curve(name(2), pairs(2))
            .cap(value(0), name(3))
            .until(value(1))
            .into(),
        graph.clone().into(),
        graph.directed().into(),
    ]
}

/// A report of everything with these names in every place where a caller can put one.
pub(crate) fn report(v: &[f64], names: &[&str], k: usize) -> Report {
    let name = |i: usize| pick(names, i).unwrap_or("");
    let mut charts = Section::new(name(1));
    for chart in self::charts(v, names, k) {
        charts = charts.figure(Figure::new(chart.described(name(2))).caption(name(3)));
    }
    let table = Table::new(name(0))
        .columns(names.iter().map(|n| Column::new(*n).unit(*n)))
        .row(v.iter().map(|v| Cell::number(*v)))
        .row(names.iter().map(|n| Cell::text(*n).strong()))
        .row([
            Cell::fixed(v.first().copied().unwrap_or(f64::NAN), 2),
            Cell::count(u64::MAX),
            Cell::missing(),
            Cell::figure(name(2)),
        ])
        .note(name(1));
    let prose = Prose::new(name(0)).code(name(1)).strong(name(2)).emphasis(name(3)).link(name(4), name(5));
    let words = names.iter().fold(Section::new(name(2)), |s, n| {
        s.heading(*n).paragraph(*n).code(*n).warning(*n).note(*n).details(*n, [Block::Code((*n).to_string())])
    });
    let figures = names.iter().map(|n| KeyFigure::new(*n, *n).note(*n));
    Report::new(name(0))
        .subtitle(name(1))
        .date(name(2))
        .made_by(name(3))
        .section(Section::new(name(0)).paragraph(prose).key_figures(figures).list(names.iter().copied()).table(table))
        .section(charts)
        .section(words)
        .section(Section::new("four"))
        .section(Section::new(""))
}
