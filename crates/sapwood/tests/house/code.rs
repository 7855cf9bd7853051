//! Rust text without comments and literals, so that a rule looks at code and not at words about code.

/// As many blanks as a character has bytes.
const BLANKS: [&str; 5] = ["", " ", "  ", "   ", "    "];

/// `text` with comments and literals blanked, byte by byte: line breaks and all code stay where they are.
pub(crate) fn only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = skipped(&chars, at);
        if end > at {
            out.extend(chars[at..end].iter().map(|&c| if c == '\n' { "\n" } else { BLANKS[c.len_utf8()] }));
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// The code of [`only`] up to the unit tests, which stand last in a file.
pub(crate) fn without_unit_tests(text: &str) -> String {
    let code = only(text);
    let end = code.find("#[cfg(test)]\nmod ").unwrap_or(code.len());
    code[..end].to_string()
}

/// Whether `word` stands in `line` with no letter, digit or `_` on either side.
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(i, _)| {
        !line[..i].chars().next_back().is_some_and(part) && !line[i + word.len()..].chars().next().is_some_and(part)
    })
}

/// End of the comment or literal that starts at `at`, or `at` when none does.
fn skipped(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    match (chars[at], next) {
        ('/', '/') => find(chars, at, |i| chars[i] == '\n'),
        ('/', '*') => block_comment(chars, at),
        ('"', _) => quoted(chars, at, '"'),
        ('\'', '\\') => quoted(chars, at, '\''),
        ('\'', _) if chars.get(at + 2) == Some(&'\'') => at + 3,
        ('r', '"' | '#') if !continues_a_word(chars, at) => raw_string(chars, at),
        _ => at,
    }
}

fn find(chars: &[char], from: usize, stop: impl Fn(usize) -> bool) -> usize {
    (from..chars.len()).find(|&i| stop(i)).unwrap_or(chars.len())
}

/// Block comments nest.
fn block_comment(chars: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0usize, at);
    while i < chars.len() {
        match (chars[i], chars.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) if depth == 1 => return i + 2,
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    i
}

fn quoted(chars: &[char], at: usize, close: char) -> usize {
    let mut i = at + 1;
    while i < chars.len() && chars[i] != close {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

/// `r"..."`, `r#"..."#`; a raw identifier such as `r#type` is no literal. `br` and `cr` are a word of two letters.
fn raw_string(chars: &[char], at: usize) -> usize {
    let open = find(chars, at + 1, |i| chars[i] != '#');
    if chars.get(open) != Some(&'"') {
        return at;
    }
    let hashes = open - at - 1;
    let closes = |i: usize| chars[i] == '"' && (1..=hashes).all(|h| chars.get(i + h) == Some(&'#'));
    (find(chars, open + 1, closes) + 1 + hashes).min(chars.len())
}

fn continues_a_word(chars: &[char], at: usize) -> bool {
    let part = |i: usize| chars[i].is_alphanumeric() || chars[i] == '_';
    // `br"` and `cr"` are prefixes of literals, any other letter before the r makes it part of a name.
    let prefix = at >= 1 && matches!(chars[at - 1], 'b' | 'c') && (at == 1 || !part(at - 2));
    at >= 1 && part(at - 1) && !prefix
}

#[test]
fn blanks_comments_and_literals() {
    let text = "let a = \"un\\\"safe\"; // unsafe\nlet b = 'x'; /* unsafe /* twice */ */ let c: &'static str = r#\"un\"safe\"#;";
    let code = only(text);
    assert_eq!(code.lines().count(), 2);
    assert!(!code.contains("safe") && !code.contains('x'), "{code}");
    assert!(code.contains("let c: &'static str ="), "{code}");
    assert_eq!(only("br\"unsafe\" r#type").trim(), "b          r#type".trim());
    assert_eq!(only("'\\'' + '\\\\'").trim(), "+");
}

#[test]
fn words_have_borders() {
    assert!(has_word("x = unsafe {", "unsafe") && has_word("unsafe", "unsafe"));
    assert!(!has_word("unsafe_code", "unsafe") && !has_word("an_unsafe", "unsafe"));
}

#[test]
fn unit_tests_are_cut_off() {
    assert_eq!(without_unit_tests("fn a() {}\n#[cfg(test)]\nmod tests {}\n"), "fn a() {}\n");
}
