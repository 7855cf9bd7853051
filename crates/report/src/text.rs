//! Words on a page: escaping, how wide they are about, shortening.
//!
//! Everything a user wrote goes through [`escape`] before it reaches SVG or HTML, and nowhere else is text escaped.

/// Whether a character may stand in a document. Control characters are not XML; format controls that turn the direction
/// of what follows could make a label read as another one.
fn is_printable(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}');
    let unassigned = matches!(c, '\u{fdd0}'..='\u{fdef}') || (c as u32 & 0xfffe) == 0xfffe;
    matches!(c, '\n' | '\t') || !(c.is_control() || turns || unassigned)
}

/// Appends `text` so that it can stand between tags and in attributes with double quotes.
pub(crate) fn escape(text: &str, out: &mut String) {
    for c in text.chars().filter(|&c| is_printable(c)) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

/// [`escape`] as a new string.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// One line: runs of blanks and line breaks become one space, what cannot be printed goes.
pub(crate) fn one_line(text: &str) -> String {
    let kept: String = text.chars().filter(|&c| is_printable(c)).collect();
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Width of a character in units of the font size: what wide sans-serif fonts need, since the font is the reader's.
fn advance(c: char) -> f64 {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0.0,
        'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' | ' ' | '\u{202f}' | '\u{a0}' | 'I' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '\\' => 0.4,
        'm' | 'M' | 'w' | 'W' | '@' | '%' | '…' | '—' => 1.0,
        '−' | '+' | '×' | '=' | '<' | '>' | '±' | '~' => 0.84,
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '⁻' => 0.5,
        'A'..='Z' => 0.72,
        c if (c as u32) < 0x2100 => 0.63,
        _ => 1.0,
    }
}

/// About how wide `text` is at a font size, in the same unit as the size. Rather too wide than too narrow.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// The beginning of `text` that fits into `room` with an ellipsis, or `None` when all of it fits.
pub(crate) fn shorten(text: &str, room: f64, size: f64) -> Option<String> {
    if width(text, size) <= room {
        return None;
    }
    let room = room - advance('…') * size;
    let mut used = 0.0;
    let kept = text.chars().take_while(|&c| {
        used += advance(c) * size;
        used <= room
    });
    let kept: String = kept.collect();
    Some(format!("{}…", kept.trim_end()))
}

/// A list for a sentence: `a, b, c`, or the first ones and how many more.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let mut text = names.take(most).map(one_line).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// `1 series`, `3 values`: a count with its noun.
pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", crate::number::count(n as u64), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_drops() {
        assert_eq!(escaped("<a href=\"x\">&'</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
        assert_eq!(escaped("a\u{0}b\u{1b}c\u{7f}\u{85}\u{202e}d\u{ffff}\n"), "abcd\n");
        assert_eq!(one_line(" a\n\t b\u{7} "), "a b");
    }

    #[test]
    fn shortens_to_the_room() {
        assert_eq!(shorten("short", 100.0, 12.0), None);
        let long = "a label that no axis has room for";
        for room in [0.0, 10.0, 40.0, 100.0] {
            let short = shorten(long, room, 12.0).unwrap();
            assert!(short.ends_with('…') && (room < 12.0 || width(&short, 12.0) <= room), "{short}");
        }
    }

    #[test]
    fn lists_and_counts() {
        assert_eq!(listed(["a", "b"].into_iter(), 3), "a, b");
        assert_eq!(listed(["a", "b", "c"].into_iter(), 2), "a, b and 1 more");
        assert_eq!(counted(1, "point", "points"), "1 point");
        assert_eq!(counted(12_000, "point", "points"), "12\u{202f}000 points");
    }
}
