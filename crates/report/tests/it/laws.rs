//! What holds for every chart and every report: well formed, finite, escaped, the same bytes for the same values.

use crate::markup::{faults, read};
use crate::samples::{AWKWARD, RUDE, charts, report};
use proptest::prelude::*;

/// Elements that pictures are made of; anything else came out of a name.
const OF_PICTURES: &[&str] =
    &["svg", "title", "desc", "style", "rect", "g", "line", "path", "text", "circle", "defs", "pattern"];

fn holds(v: &[f64], names: &[&str], k: usize, widths: &[u32]) {
    let again = charts(v, names, k);
    for (i, chart) in charts(v, names, k).into_iter().enumerate() {
        for &width in widths {
            let svg = chart.svg_of_width(width);
            let elements = read(&svg).unwrap_or_else(|e| panic!("chart {i} at {width}: {e}"));
            assert_eq!(faults(&elements), Vec::<String>::new(), "chart {i} at {width}");
            for e in &elements {
                assert!(OF_PICTURES.contains(&e.name.as_str()), "chart {i}: <{}>", e.name);
            }
            assert_eq!(elements[0].get("role"), Some("img"));
            assert_eq!((elements[1].name.as_str(), elements[2].name.as_str()), ("title", "desc"));
            assert!(!elements[2].text.trim().is_empty(), "chart {i} has no description");
        }
        assert_eq!(chart.svg(), again[i].svg(), "chart {i} differs when drawn again");
    }
}

fn page_holds(v: &[f64], names: &[&str], k: usize) {
    let html = report(v, names, k).html();
    let elements = read(&html).unwrap();
    // A link to a place on the page is the caller's: a name that begins with # is one, to a place that need not be there.
    let dead = |place: &str| format!("href leads to no {place}");
    let by_caller =
        |fault: &String| names.iter().filter_map(|n| n.strip_prefix('#')).any(|place| *fault == dead(place));
    let found: Vec<String> = faults(&elements).into_iter().filter(|fault| !by_caller(fault)).collect();
    assert_eq!(found, Vec::<String>::new());
    assert!(elements.iter().all(|e| !["script", "link", "img", "iframe", "object"].contains(&e.name.as_str())));
    let leads_out = |e: &crate::markup::Element| e.get("href").is_some_and(|h| h.starts_with("javascript"));
    assert!(!elements.iter().any(leads_out));
    assert_eq!(html, report(v, names, k).html());
}

#[test]
fn awkward_numbers_and_rude_names() {
    for k in [0, 1, 2, 3, 6, 17, 40] {
        holds(AWKWARD, RUDE, k, &[0, 360, 720, 9000]);
        page_holds(AWKWARD, RUDE, k);
        holds(&[], RUDE, k, &[720]);
        page_holds(&[], &[], k);
        for v in AWKWARD {
            holds(&[*v], &["one"], k, &[720]);
            holds(&[*v; 5], &["same"], k, &[360]);
            holds(&[*v, 1.0], &["a", "b"], k, &[720]);
        }
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), -50.0..50.0f64, (0..AWKWARD.len()).prop_map(|i| AWKWARD[i])]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_chart(v in prop::collection::vec(number(), 0..24), names in prop::collection::vec(".{0,30}", 0..9), k in 0usize..60) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        holds(&v, &names, k, &[360, 720]);
    }

    #[test]
    fn any_page(v in prop::collection::vec(number(), 0..12), names in prop::collection::vec("\\PC{0,12}|[<>&\"'=/ a-z]{0,12}", 0..6), k in 0usize..60) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        page_holds(&v, &names, k);
    }
}
