//! What each kind of chart shows: positions against values, gaps, notes, and the structure of small pictures.

use crate::markup::{Element, read};
use sapwood_report::*;

fn draw(chart: impl Into<Chart>) -> Vec<Element> {
    read(&chart.into().svg()).unwrap()
}

fn of_class<'a>(all: &'a [Element], class: &str) -> Vec<&'a Element> {
    all.iter().filter(|e| e.has_class(class)).collect()
}

fn texts(all: &[Element]) -> Vec<&str> {
    all.iter().filter(|e| e.name == "text").map(|e| e.text.as_str()).collect()
}

/// Names and classes of the elements after the description and the style, runs of the same counted.
fn outline(all: &[Element]) -> String {
    let words = all.iter().skip(3).filter(|e| e.name != "style" && e.name != "title");
    let mut runs: Vec<(String, usize)> = Vec::new();
    for e in words {
        let word = format!("{}.{}", e.name, e.get("class").unwrap_or(""));
        match runs.last_mut() {
            Some((last, n)) if *last == word => *n += 1,
            _ => runs.push((word, 1)),
        }
    }
    runs.into_iter().map(|(w, n)| if n == 1 { w } else { format!("{w}*{n}") }).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_line_has_a_gap_and_a_band() {
    let chart = Lines::new("t", Axis::new("x"), Axis::new("y")).series(
        Series::new(
            "a",
            [(0.0, 0.0), (1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0), (4.0, 4.0), (5.0, f64::NAN), (6.0, 2.0)],
        )
        .band([(0.0, 1.0), (0.5, 2.0)]),
    );
    let all = draw(chart);
    let line = of_class(&all, "line").into_iter().find(|e| e.name == "path").unwrap().get("d").unwrap();
    assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 2));
    let band = of_class(&all, "band")[0].get("d").unwrap();
    assert_eq!((band.matches('L').count(), band.ends_with('Z')), (3, true));
    // Four points on the line and the lonely one, besides the legend's.
    assert_eq!(all.iter().filter(|e| e.name == "circle").count(), 1 + 5);
}

#[test]
fn decades_stand_at_equal_distances() {
    let chart = Lines::new("t", Axis::new("x"), Axis::new("y").log())
        .series(Series::new("", [(0.0, 1.0), (1.0, 10.0), (2.0, 100.0), (3.0, 1000.0), (4.0, -1.0)]));
    let all = draw(chart);
    let ticks: Vec<f64> = of_class(&all, "grid").iter().map(|e| e.num("y1")).collect();
    assert_eq!(ticks.len(), 4);
    assert!(ticks.windows(2).all(|w| ((w[0] - w[1]) - (ticks[0] - ticks[1])).abs() < 0.02), "{ticks:?}");
    assert!(texts(&all).contains(&"Not drawn: 1 value not above zero."));
}

#[test]
fn bars_are_as_long_as_their_values() {
    let bars =
        Bars::new("t", Axis::new("v"), ["a", "b", "c", "d"]).series(BarSeries::new("s", [2.0, -1.0, 0.0, f64::NAN]));
    let all = draw(bars.clone());
    let high: Vec<f64> = of_class(&all, "bar").iter().map(|e| e.num("height")).collect();
    assert!(high.len() == 3 && (high[0] / high[1] - 2.0).abs() < 1e-3 && high[2] == 0.0, "{high:?}");
    let boxes = of_class(&all, "bar");
    assert!((boxes[0].num("y") + boxes[0].num("height") - boxes[1].num("y")).abs() < 0.02, "both begin at zero");
    assert!(texts(&all).contains(&"–"));
    let wide: Vec<f64> = of_class(&draw(bars.horizontal()), "bar").iter().map(|e| e.num("width")).collect();
    assert!((wide[0] / wide[1] - 2.0).abs() < 1e-3, "{wide:?}");
}

#[test]
fn bars_lie_down_for_long_names() {
    let name = "a name that is much too long to stand below one of so many bars";
    let all = draw(Bars::new("t", Axis::new("v"), [name; 6]).series(BarSeries::new("s", [1.0; 6])));
    let boxes = of_class(&all, "bar");
    assert!(boxes.windows(2).all(|w| w[0].num("y") < w[1].num("y") && w[0].num("x") == w[1].num("x")));
    assert!(all.iter().any(|e| e.name == "title" && e.text == name), "the whole name is a tooltip");
}

#[test]
fn a_forest_has_its_zero_line_and_intervals() {
    let forest = Forest::new("t", Axis::new("d"))
        .row(Interval::new("a", 1.0, -1.0, 3.0).dots([0.0, 2.0]))
        .row(Interval::new("b", 2.0, f64::NAN, f64::NAN));
    let all = draw(forest);
    let zero = of_class(&all, "reference")[0].num("x1");
    let dots: Vec<f64> = of_class(&all, "seed").iter().map(|e| e.num("cx")).collect();
    let estimates: Vec<f64> = of_class(&all, "estimate").iter().map(|e| e.num("cx")).collect();
    assert_eq!(dots[0], zero);
    assert!((estimates[1] - dots[1]).abs() < 0.02 && (estimates[0] - (zero + dots[1]) / 2.0).abs() < 0.02);
    let interval = of_class(&all, "interval");
    assert!((interval[0].num("x1") + interval[0].num("x2") - 2.0 * estimates[0]).abs() < 0.05);
    assert_eq!(interval.len(), 3, "no interval for the second row");
    assert!(texts(&all).contains(&"1.00 (−1.00 to 3.00)"), "{:?}", texts(&all));
}

#[test]
fn histograms_count() {
    let all = draw(Histogram::new("t", Axis::new("v")).counts("", [0.0, 1.0, 3.0], [4, 2]));
    let boxes = of_class(&all, "bar");
    assert!((boxes[0].num("height") / boxes[1].num("height") - 2.0).abs() < 1e-3);
    assert!((boxes[1].num("width") / boxes[0].num("width") - 2.0).abs() < 0.02);
    let hints: Vec<&str> = all.iter().filter(|e| e.name == "title").skip(1).map(|e| e.text.as_str()).collect();
    assert_eq!(hints, ["0 to 1: 4", "1 to 3: 2"]);
}

#[test]
fn things_keep_their_looks_from_chart_to_chart() {
    let series = |name| Series::new(name, [(0.0, 0.0), (1.0, 1.0)]);
    let lines = Lines::new("t", Axis::new("x"), Axis::new("y")).series(series("b")).series(series("c")).looks([1, 2]);
    let classes = |all: &[Element], class: &str| -> Vec<String> {
        of_class(all, class).iter().map(|e| e.get("class").unwrap_or_default().to_string()).collect()
    };
    let drawn = classes(&draw(lines), "line");
    assert!(drawn.contains(&"line c1 d0".into()) && drawn.contains(&"line c2 d0".into()), "{drawn:?}");
    assert!(!drawn.contains(&"line c0 d0".into()), "{drawn:?}");
    let alone = draw(Histogram::new("t", Axis::new("v")).counts("c", [0.0, 1.0], [4]).looks([2]));
    assert_eq!(classes(&alone, "bar"), ["bar c2"]);
}

#[test]
fn a_forest_without_room_beside_it_keeps_every_word() {
    let name = "a sampler with a rather long name − another one of that kind";
    let all = draw(Forest::new("t", Axis::new("d")).row(Interval::new(name, 0.01, -0.02, 0.03).note("p = 0.031")));
    assert!(texts(&all).iter().any(|text| text.ends_with("p = 0.031")), "{:?}", texts(&all));
    assert!(texts(&all).contains(&name), "{:?}", texts(&all));
}

#[test]
fn small_maps_have_numbers_and_gaps() {
    let map = HeatMap::new("t", "p", "q", ["a", "b"]).unit(Unit::Count).row("a", [9.0, 1.0]).row("b", [f64::NAN]);
    let all = draw(map);
    assert_eq!((of_class(&all, "cell").len(), of_class(&all, "gap").len()), (2, 2));
    assert_eq!((of_class(&all, "tq8")[0].text.as_str(), of_class(&all, "tq1")[0].text.as_str()), ("9", "1"));
    let large = draw(HeatMap::new("t", "", "", ["a"; 60]).row("", [1.0; 60]));
    assert!(!large.iter().any(|e| e.get("class").is_some_and(|c| c.starts_with("tq"))), "no room for numbers");
}

#[test]
fn the_diagonal_goes_through_equal_values() {
    let all = draw(
        Scatter::new("t", Axis::new("p"), Axis::new("m")).points("", [(1.0, 1.0), (2.0, 5.0), (4.0, 4.0)]).diagonal(),
    );
    let line = of_class(&all, "diagonal")[0];
    let slope = (line.num("y2") - line.num("y1")) / (line.num("x2") - line.num("x1"));
    let dots: Vec<&Element> = of_class(&all, "dot");
    let off = |e: &Element| line.num("y1") + slope * (e.num("cx") - line.num("x1")) - e.num("cy");
    assert!(off(dots[0]).abs() < 0.05 && off(dots[2]).abs() < 0.05 && off(dots[1]) > 20.0);
}

#[test]
fn crowds_are_thinned() {
    let many = (0..200_000).map(|i| (f64::from(i % 500), f64::from(i / 500)));
    let svg = Chart::from(Scatter::new("t", Axis::new(""), Axis::new("")).points("", many)).svg();
    assert!(svg.len() < 2_500_000, "{}", svg.len());
    let long = (0..1_000_000).map(|i| (f64::from(i), f64::from(i % 97)));
    let svg = Chart::from(Lines::new("t", Axis::new(""), Axis::new("")).series(Series::new("", long))).svg();
    assert!(svg.len() < 60_000, "{}", svg.len());
    let tasks = (0..100_000).map(|i| Task::new(0, 0, f64::from(i), f64::from(i) + 1.0));
    let svg = Chart::from(Gantt::new("t", ["a"], ["k"]).tasks(tasks)).svg();
    assert!(svg.len() < 400_000, "{}", svg.len());
}

#[test]
fn tasks_stand_in_their_lanes_and_times() {
    let gantt = Gantt::new("t", ["a", "b"], ["f", "b"]).tasks([
        Task::new(0, 0, 0.0, 1.0),
        Task::new(1, 1, 1.0, 3.0),
        Task::new(2, 0, 0.0, 1.0),
        Task::new(0, 0, 2.0, 1.0),
    ]);
    let all = draw(gantt);
    let tasks = of_class(&all, "task");
    assert_eq!(tasks.len(), 2);
    assert!(
        (tasks[1].num("width") / tasks[0].num("width") - 2.0).abs() < 1e-3 && tasks[0].num("y") < tasks[1].num("y")
    );
    assert!((tasks[0].num("x") + tasks[0].num("width") - tasks[1].num("x")).abs() < 0.02);
    assert!(texts(&all).contains(&"Not drawn: 2 tasks without a lane or a span of time."));
}

#[test]
fn caps_that_are_passed_are_said() {
    let steps = |peak: f64| {
        Steps::new("t", Axis::new("time"), Axis::new("memory"))
            .curve("stage 0", [(0.0, 1.0), (1.0, peak), (2.0, 1.0)])
            .cap(3.0, "limit")
    };
    let over = draw(steps(4.0));
    assert!(texts(&over).contains(&"stage 0 reaches 4, above limit (3)."));
    let fine = draw(steps(3.0));
    assert!(!texts(&fine).iter().any(|t| t.contains("above")));
    assert_eq!(of_class(&fine, "cap").len(), 1);
    let line = of_class(&fine, "line").into_iter().find(|e| e.name == "path").unwrap().get("d").unwrap();
    assert_eq!(line.matches('L').count(), 5, "three steps have six corners: {line}");
}

#[test]
fn graphs_show_nodes_and_links() {
    let graph = NodeLink::new("t").nodes(["a", "b", "c"].map(Node::new)).links([
        Link::new(0, 1),
        Link::new(1, 2),
        Link::new(1, 9),
    ]);
    let all = draw(graph.clone());
    assert_eq!((of_class(&all, "link").len(), of_class(&all, "dot").len()), (2, 3));
    let layered = draw(graph.directed());
    let boxes: Vec<f64> = of_class(&layered, "node").iter().map(|e| e.num("y")).collect();
    assert!(boxes.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(of_class(&layered, "arrow").len(), 2);
}

#[test]
fn nothing_is_a_sentence() {
    let all = draw(Lines::new("t", Axis::new("x"), Axis::new("loss")));
    assert_eq!(texts(&all), ["There are no values of loss to draw."]);
    let all = draw(NodeLink::new("t").nodes((0..151).map(|i| Node::new(i.to_string()))));
    assert!(texts(&all)[0].contains("too large to be drawn"), "{:?}", texts(&all));
}

#[test]
fn the_structure_of_a_small_chart() {
    let chart = Lines::new("t", Axis::new("x"), Axis::new("y"))
        .series(Series::new("a", [(0.0, 0.0), (1.0, 1.0)]))
        .mark_y(0.5, "half");
    let begin = "rect.paper line.line c0 d0 circle.dot c0 text. text.title line.zero text.tick";
    let (grid, ticks) = (" line.grid text.tick".repeat(5), " line.base text.tick".repeat(10));
    let end = "text.title path.line c0 d0 circle.dot c0*2 line.mark text.halo";
    let want = format!("{begin}{grid} line.base*2 text.tick{ticks} {end}");
    assert_eq!(outline(&draw(chart)), want);
}

#[test]
fn descriptions_say_what_is_seen() {
    let chart = Lines::new("t", Axis::new("epoch"), Axis::new("accuracy").unit(Unit::Percent))
        .series(Series::new("ranked", [(0.0, 0.5), (1.0, 0.8)]));
    let desc = draw(chart.clone())[2].text.clone();
    assert_eq!(desc, "Line chart of accuracy against epoch, 1 line: ranked. Values from 50\u{202f}% to 80\u{202f}%.");
    assert_eq!(draw(Chart::from(chart).described("mine"))[2].text, "mine");
}
