//! The page: its skeleton, its tables, what it leaves out.

use crate::markup::read;
use sapwood_report::*;

fn small() -> Report {
    Report::new("A & B").subtitle("two").section(
        Section::new("One")
            .paragraph(Prose::new("see ").link("here", "#s-one"))
            .figure(
                Figure::new(Bars::new("Times", Axis::new("t"), ["x"]).series(BarSeries::new("", [1.0])))
                    .caption("A bar."),
            )
            .table(Table::new("T").columns(["name", "n"]).row([Cell::text("a"), Cell::count(12_345)]))
            .details("Settings", [Block::Code("p = 0.3".into())]),
    )
}

/// Everything between the body's tags, without the pictures.
fn body(html: &str) -> String {
    let body = html.split_once("<body>").unwrap().1.split_once("</body>").unwrap().0;
    let mut parts = body.split("<svg ");
    let first = parts.next().unwrap().to_string();
    parts.fold(first, |out, part| out + "<svg/>" + part.rsplit_once("</svg>").unwrap().1)
}

#[test]
fn a_small_page_is_this() {
    let want = "
<header>
<h1>A &amp; B</h1>
<p class=\"subtitle\">two</p>
</header>
<main>
<section aria-labelledby=\"s-one\">
<h2 id=\"s-one\">One</h2>
<p>see <a href=\"#s-one\">here</a></p>
<figure>
<p class=\"figure-title\">Times</p>
<div class=\"on-wide\">
<svg/>
</div>
<div class=\"on-narrow\">
<svg/>
</div>
<figcaption>A bar.</figcaption>
</figure>
<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"T\">
<table>
<caption>T</caption>
<thead>
<tr><th scope=\"col\">name</th><th scope=\"col\" class=\"n\">n</th></tr>
</thead>
<tbody>
<tr><th scope=\"row\">a</th><td class=\"n\">12\u{202f}345</td></tr>
</tbody>
</table>
</div>
<details>
<summary>Settings</summary>
<pre tabindex=\"0\"><code>p = 0.3</code></pre>
</details>
</section>
</main>
";
    assert_eq!(body(&small().html()), want);
}

#[test]
fn dates_only_when_given() {
    assert!(!small().html().contains("class=\"date\""));
    assert!(small().date("2026-01-01").html().contains("<p class=\"date\">2026-01-01</p>"));
}

#[test]
fn pictures_in_a_page_bring_no_style_and_no_common_ids() {
    let figure = || Figure::new(Gantt::new("g", ["a"], ["k"]).task(Task::new(0, 0, 0.0, 1.0)));
    let html = Report::new("r").section(Section::new("s").figure(figure()).figure(figure())).html();
    assert_eq!(html.matches("<style>").count(), 1);
    let ids: Vec<String> = read(&html).unwrap().iter().filter_map(|e| e.get("id").map(String::from)).collect();
    assert_eq!(ids.iter().filter(|i| i.ends_with("-k0")).count(), 4, "two figures, two widths: {ids:?}");
}

#[test]
fn colours_follow_the_reader_and_paper_stays_light() {
    let html = small().html();
    assert!(html.contains("@media screen and (prefers-color-scheme:dark)"));
    assert!(html.contains("@media print"));
    for forbidden in ["<script", "@import", "url(http", "src=", "@font-face"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn short_and_long_rows_make_whole_tables() {
    let table = Table::new("").columns(["a", "b"]).row([Cell::number(1.0)]).row([
        Cell::number(1.0),
        Cell::text("x"),
        Cell::missing(),
    ]);
    let html = Report::new("").section(Section::new("").table(table)).html();
    let all = read(&html).unwrap();
    let cells =
        |kind: &str, part: &str| all.iter().filter(|e| e.name == kind && e.inside.iter().any(|i| i == part)).count();
    assert_eq!((cells("th", "thead"), cells("th", "tbody"), cells("td", "tbody")), (3, 2, 4));
    assert!(all.iter().filter(|e| e.name == "th").all(|e| e.get("scope").is_some()));
}
