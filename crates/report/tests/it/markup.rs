//! A small strict reader of what the crate writes: tags nest, attributes are quoted once, entities are known.

use std::collections::BTreeSet;

/// A tag as it was opened.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// Names of the elements around it, outermost first.
    pub(crate) inside: Vec<String>,
    /// The text directly in it.
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|a| a.0 == name).map(|a| a.1.as_str())
    }

    pub(crate) fn num(&self, name: &str) -> f64 {
        self.get(name).unwrap_or_else(|| panic!("{} has no {name}", self.name)).parse().unwrap()
    }

    pub(crate) fn has_class(&self, class: &str) -> bool {
        self.get("class").is_some_and(|c| c.split(' ').any(|c| c == class))
    }
}

/// HTML elements without an end.
const VOID: &[&str] = &["meta"];

/// Reads a document, or says what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Vec<Element>, String> {
    let mut rest = text.strip_prefix("<!DOCTYPE html>").unwrap_or(text);
    let (mut all, mut open): (Vec<Element>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        let words = unescape(&rest[..at], open.last().is_some_and(|&i| all[i].name == "style"))?;
        match open.last() {
            Some(&i) => all[i].text.push_str(&words),
            None if !words.trim().is_empty() => return Err(format!("text outside: {words}")),
            None => {}
        }
        let end = rest[at..].find('>').ok_or("a tag does not end")? + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let top = open.pop().ok_or("an end without a beginning")?;
            if all[top].name != name {
                return Err(format!("</{name}> ends <{}>", all[top].name));
            }
            continue;
        }
        let closed = tag.ends_with('/');
        let inside = open.iter().map(|&i| all[i].name.clone()).collect();
        let element = element(tag.trim_end_matches('/'), inside)?;
        let is_void = VOID.contains(&element.name.as_str());
        all.push(element);
        if !closed && !is_void {
            open.push(all.len() - 1);
        }
    }
    match open.last() {
        Some(&i) => Err(format!("<{}> does not end", all[i].name)),
        None if rest.trim().is_empty() => Ok(all),
        None => Err(format!("text after the end: {rest}")),
    }
}

fn element(tag: &str, inside: Vec<String>) -> Result<Element, String> {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("a bad name in <{tag}>"));
    }
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.split_once("=\"").ok_or(format!("an attribute without a value in <{tag}>"))?;
        let (value, after) = value.split_once('"').ok_or(format!("an open quote in <{tag}>"))?;
        if key.contains(|c: char| c.is_whitespace() || "<>&'".contains(c)) || attributes.iter().any(|a| a.0 == key) {
            return Err(format!("a bad or repeated attribute {key} in <{tag}>"));
        }
        attributes.push((key.to_string(), unescape(value, false)?));
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    Ok(Element { name: name.to_string(), attributes, inside, text: String::new() })
}

fn unescape(text: &str, is_style: bool) -> Result<String, String> {
    if is_style {
        return Ok(text.to_string());
    }
    let mut out = String::new();
    let mut parts = text.split('&');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (name, rest) = part.split_once(';').ok_or(format!("a bare & before {part}"))?;
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => return Err(format!("unknown entity {name}")),
        });
        out.push_str(rest);
    }
    match out.chars().find(|c| c.is_control() && !"\n\t".contains(*c)) {
        Some(c) => Err(format!("control character {:x}", c as u32)),
        None => Ok(out),
    }
}

/// Attributes that are numbers and nothing else.
const NUMBERS: &[&str] = &["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "width", "height", "stroke-width"];

/// What is wrong with the elements of a picture or a page: numbers, references, names, sources.
pub(crate) fn faults(all: &[Element]) -> Vec<String> {
    let ids: Vec<&str> = all.iter().filter_map(|e| e.get("id")).collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    let mut faults = Vec::new();
    if unique.len() != ids.len() {
        faults.push("an id is given twice".to_string());
    }
    for element in all {
        for (key, value) in &element.attributes {
            let number = |v: &str| v.parse::<f64>().is_ok_and(|v| v.is_finite());
            if NUMBERS.contains(&key.as_str()) && !number(value) {
                faults.push(format!("{} {key}={value}", element.name));
            }
            let numeric = matches!(key.as_str(), "d" | "viewBox" | "transform");
            if numeric && ["NaN", "inf", "e+", "e-"].iter().any(|bad| value.contains(bad)) {
                faults.push(format!("{} {key}={value}", element.name));
            }
            if ["width", "height", "r"].contains(&key.as_str()) && value.starts_with('-') {
                faults.push(format!("negative {key} of {}", element.name));
            }
            let refers: Vec<&str> = match key.as_str() {
                "aria-labelledby" => value.split(' ').collect(),
                "href" => value.strip_prefix('#').into_iter().collect(),
                "fill" => value.strip_prefix("url(#").and_then(|v| v.strip_suffix(')')).into_iter().collect(),
                _ => Vec::new(),
            };
            faults.extend(refers.into_iter().filter(|r| !unique.contains(r)).map(|r| format!("{key} leads to no {r}")));
            if key.starts_with("on") || key == "src" || key == "style" {
                faults.push(format!("attribute {key}"));
            }
        }
    }
    faults
}

#[test]
fn bad_markup_is_caught() {
    for bad in [
        "<a>",
        "</a>",
        "<a></b>",
        "<a b=c></a>",
        "<a b=\"1\" b=\"2\"/>",
        "<a>&x;</a>",
        "<a>&</a>",
        "<a/>x",
        "<a>\u{1}</a>",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let good = read("<a><b x=\"&lt;\">t &amp; u</b></a>").unwrap();
    assert_eq!((good[1].get("x"), good[1].text.as_str(), good[1].inside.len()), (Some("<"), "t & u", 1));
    for bad in [
        "<a x=\"NaN\"/>",
        "<a width=\"-1\"/>",
        "<a fill=\"url(#b)\"/>",
        "<a d=\"M0 inf\"/>",
        "<a><b id=\"i\"/><c id=\"i\"/></a>",
        "<a onload=\"x\"/>",
    ] {
        assert_eq!(faults(&read(bad).unwrap()).len(), 1, "{bad}");
    }
}
