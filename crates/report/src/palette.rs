//! Colours, chosen twice: for light and for dark paper, as CSS custom properties.
//!
//! Series colours are those of Okabe and Ito (Color Universal Design, 2008); on light paper orange, sky blue and purple
//! are darkened until they stand out from it, on dark paper blue is lightened. Shades of heat maps are ColorBrewer's Blues
//! and PuOr (Harrower and Brewer 2003; one purple a little lighter, for the numbers on it), which stay apart for colour-blind readers. Colour never stands alone: series also
//! differ by marker or dash, shades by the number in the cell or the tooltip.

use std::fmt::Write;

/// Paper, text, quieter text, rules, a quiet surface.
const PAPER: [(&str, &str, &str); 5] = [
    ("paper", "#ffffff", "#16181b"),
    ("ink", "#1b1f24", "#e6e8ea"),
    ("quiet", "#59626c", "#a2abb4"),
    ("rule", "#dde1e5", "#32383f"),
    ("surface", "#f5f6f8", "#1f2327"),
];

/// One colour a series; further series begin anew with other dashes.
const SERIES: [(&str, &str); 7] = [
    ("#0072b2", "#56b4e9"),
    ("#d55e00", "#e8743b"),
    ("#009e73", "#19b58a"),
    ("#b4558c", "#cc79a7"),
    ("#b27c00", "#f0e442"),
    ("#3f4750", "#c9ced3"),
    ("#2f8fc9", "#3d7fd6"),
];

/// Colours of a warning.
const WARNING: (&str, &str) = ("#b34700", "#f0a35e");

const BLUES: [(&str, &str); 9] = [
    ("#f7fbff", "#08306b"),
    ("#deebf7", "#08519c"),
    ("#c6dbef", "#2171b5"),
    ("#9ecae1", "#4292c6"),
    ("#6baed6", "#6baed6"),
    ("#4292c6", "#9ecae1"),
    ("#2171b5", "#c6dbef"),
    ("#08519c", "#deebf7"),
    ("#08306b", "#f7fbff"),
];

const ORANGE_PURPLE: [(&str, &str); 9] = [
    ("#b35806", "#fdb863"),
    ("#e08214", "#e08214"),
    ("#fdb863", "#b35806"),
    ("#fee0b6", "#7f3b08"),
    ("#f7f7f7", "#2d3138"),
    ("#d8daeb", "#542788"),
    ("#b2abd2", "#867bb1"),
    ("#867bb1", "#b2abd2"),
    ("#542788", "#d8daeb"),
];

/// How many colours series have.
pub(crate) const COLOURS: usize = SERIES.len();
/// How many shades a heat map has.
pub(crate) const SHADES: usize = BLUES.len();

/// The look of the `i`-th of a chart's things: what the caller chose, or its place.
pub(crate) fn look(looks: &[usize], i: usize) -> usize {
    looks.get(i).copied().unwrap_or(i)
}

/// Class of the colour of series `i`.
pub(crate) fn colour(i: usize) -> String {
    format!("c{}", i % COLOURS)
}

/// Class of the dash of series `i`: solid for the first round of colours.
pub(crate) fn dash(i: usize) -> String {
    format!("d{}", (i / COLOURS) % 6)
}

/// Relative luminance of `#rrggbb` (WCAG 2.2).
fn luminance(hex: &str) -> f64 {
    let part = |i: usize| hex.get(i..i + 2).and_then(|h| u8::from_str_radix(h, 16).ok()).unwrap_or(0);
    let linear = |v: u8| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
}

/// Contrast ratio of two colours, 1 to 21 (WCAG 2.2).
fn contrast(a: &str, b: &str) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Black or white, whichever is easier to read on `background`.
fn text_on(background: &str) -> &'static str {
    let (black, white) = ("#14171a", "#ffffff");
    if contrast(background, black) > contrast(background, white) { black } else { white }
}

/// The custom properties of one kind of paper.
fn properties(dark: bool) -> String {
    let pick = |(light, night): (&'static str, &'static str)| if dark { night } else { light };
    let mut css = String::new();
    for (name, light, night) in PAPER {
        let _ = write!(css, "--{name}:{};", pick((light, night)));
    }
    let _ = write!(css, "--warning:{};", pick(WARNING));
    for (i, pair) in SERIES.into_iter().enumerate() {
        let _ = write!(css, "--c{i}:{};", pick(pair));
    }
    for (name, shades) in [("q", BLUES), ("v", ORANGE_PURPLE)] {
        for (i, pair) in shades.into_iter().enumerate() {
            let _ = write!(css, "--{name}{i}:{0};--t{name}{i}:{1};", pick(pair), text_on(pick(pair)));
        }
    }
    css
}

/// All colours as CSS: light, and dark on a screen whose reader prefers it; paper stays light.
pub(crate) fn css() -> String {
    let mut css = format!(":root{{color-scheme:light dark;{}}}\n", properties(false));
    let _ = writeln!(css, "@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}", properties(true));
    for i in 0..COLOURS {
        let _ = writeln!(css, ".chart .c{i}{{--c:var(--c{i})}}");
    }
    for name in ["q", "v"] {
        for i in 0..SHADES {
            let _ = writeln!(
                css,
                ".chart .{name}{i}{{fill:var(--{name}{i})}} .chart .t{name}{i}{{fill:var(--t{name}{i})}}"
            );
        }
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_wcag() {
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        assert!((contrast("#777777", "#ffffff") - 4.48).abs() < 0.01);
    }

    #[test]
    fn series_and_text_stand_out_from_both_papers() {
        let (_, light, dark) = PAPER[0];
        for (a, b) in SERIES.into_iter().chain([WARNING]) {
            assert!(contrast(a, light) >= 3.0, "{a} on light: {}", contrast(a, light));
            assert!(contrast(b, dark) >= 3.0, "{b} on dark: {}", contrast(b, dark));
        }
        for (name, a, b) in &PAPER[1..3] {
            for (paper, night) in [(light, dark), (PAPER[4].1, PAPER[4].2)] {
                assert!(contrast(a, paper) >= 4.5 && contrast(b, night) >= 4.5, "{name}");
            }
        }
        assert!(contrast(WARNING.0, PAPER[4].1) >= 4.5 && contrast(WARNING.1, PAPER[4].2) >= 4.5);
    }

    #[test]
    fn numbers_in_cells_can_be_read() {
        for (a, b) in BLUES.into_iter().chain(ORANGE_PURPLE) {
            for shade in [a, b] {
                assert!(contrast(shade, text_on(shade)) >= 4.5, "{shade}: {}", contrast(shade, text_on(shade)));
            }
        }
    }

    #[test]
    fn forty_series_look_different() {
        let looks: std::collections::BTreeSet<_> = (0..40).map(|i| (colour(i), dash(i))).collect();
        assert_eq!(looks.len(), 40);
    }

    #[test]
    fn neighbouring_shades_grow_steadily() {
        let lum: Vec<f64> = BLUES.iter().map(|(a, _)| luminance(a)).collect();
        assert!(lum.windows(2).all(|w| w[0] > w[1]));
        let night: Vec<f64> = BLUES.iter().map(|(_, b)| luminance(b)).collect();
        assert!(night.windows(2).all(|w| w[0] < w[1]));
    }
}
