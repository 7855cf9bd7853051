//! What an event of a trace is about, by its name: `forward:dense`, `bwd/layers.3.moe`, `dense_fwd`, `backward:dense@full`.
//!
//! The first or the last word of a name says the direction: forward, fwd, fprop; backward, bwd, bprop; wgrad, backward_weight
//! and the like (at the beginning weight, too) for the gradient of weights where that runs apart, dgrad, backward_input and the
//! like for the other part. What follows an `@` is the kind of recomputation. The rest is the layer; words that are numbers are its place in
//! the model, and layers that differ in nothing else are of one kind. Words are letters and digits between anything else.

/// Which way a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Direction {
    /// Forward.
    Forward,
    /// Backward; where the gradient of the weights is apart, that of the input alone.
    Backward,
    /// The gradient of the weights.
    Weight,
}

impl Direction {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Weight => "weight",
        }
    }

    /// The direction that a word says.
    pub(super) fn of_word(word: &str) -> Option<Direction> {
        let is = |words: &[&str]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
        if is(&["forward", "fwd", "fprop"]) {
            Some(Direction::Forward)
        } else if is(&["backward", "bwd", "bprop", "dgrad"]) {
            Some(Direction::Backward)
        } else if is(&["weight", "wgrad"]) {
            Some(Direction::Weight)
        } else {
            None
        }
    }
}

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name {
    /// The layer with its place in the model: `layers.3.moe`.
    pub(super) layer: String,
    pub(super) direction: Direction,
    /// The kind of recomputation, if it is said.
    pub(super) recompute: Option<String>,
}

impl Name {
    /// What a name says; none if it says no direction, or no layer.
    pub(super) fn parse(text: &str) -> Option<Name> {
        let (text, recompute) = match text.rsplit_once('@') {
            Some((text, kind)) if !kind.trim().is_empty() => (text, Some(kind.trim().to_owned())),
            _ => (text, None),
        };
        let words = words(text);
        // Numbers at the end do not hide the last word: moe[3] bwd, bwd 3.
        let last = words.iter().rposition(|word| !is_number(word))?;
        let (direction, from, to) = match Direction::of_word(words[0]) {
            Some(direction) => {
                let (direction, taken) = part(direction, words.get(1).filter(|_| words.len() > 2));
                (direction, 1 + taken, words.len())
            }
            // A parameter may be called weight, no layer's time is.
            None => (Direction::of_word(words[last]).filter(|_| last > 0 && words[last] != "weight")?, 0, last),
        };
        let (first, end) = (words.get(from)?, words.get(to.checked_sub(1)?)?);
        let start = offset(text, first);
        let layer = text.get(start..offset(text, end) + end.len())?;
        Some(Name { layer: layer.to_owned(), direction, recompute })
    }
}

/// The layer without its place in the model: `layers.moe` of `layers.3.moe`.
pub(super) fn without_place(layer: &str) -> String {
    let mut kept = String::with_capacity(layer.len());
    let mut end = 0;
    for word in words(layer) {
        let start = offset(layer, word);
        if !is_number(word) {
            let between = if kept.is_empty() { "" } else { layer.get(end..start).unwrap_or("") };
            // Of `a[3].b` one mark between words is enough.
            kept.extend(between.chars().last());
            kept.push_str(word);
        }
        end = start + word.len();
    }
    if kept.is_empty() { "layer".to_owned() } else { kept }
}

/// The part of a backward that a second word says, and whether it is a word of that.
fn part(direction: Direction, second: Option<&&str>) -> (Direction, usize) {
    let is = |words: [&str; 3]| second.is_some_and(|word| words.iter().any(|other| word.eq_ignore_ascii_case(other)));
    match direction {
        Direction::Backward if is(["weight", "weights", "wgrad"]) => (Direction::Weight, 1),
        Direction::Backward if is(["input", "inputs", "dgrad"]) => (Direction::Backward, 1),
        _ => (direction, 0),
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where a part of `text` begins in it.
fn offset(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
}

/// Whether a text fits a pattern in which `*` stands for any characters. O(text · pattern).
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(String, Direction, Option<String>)> {
        Name::parse(text).map(|name| (name.layer, name.direction, name.recompute))
    }

    #[test]
    fn names_by_hand() {
        use Direction::{Backward, Forward, Weight};
        let plain = [
            ("forward:dense", "dense", Forward),
            (":fwd/layers.3.moe", "layers.3.moe", Forward),
            ("dense_fwd", "dense", Forward),
            ("TransformerLayer 12 backward", "TransformerLayer 12", Backward),
            ("moe[3]-bwd", "moe[3", Backward),
            ("bwd 7", "7", Backward),
            ("mla-dense:BWD", "mla-dense", Backward),
            ("backward_weight:dense.1", "dense.1", Weight),
            ("wgrad dense", "dense", Weight),
            ("backward_input dense", "dense", Backward),
            ("backward:weight", "weight", Backward),
            ("dense_bwd_2", "dense", Backward),
            ("dense wgrad", "dense", Weight),
        ];
        for (text, layer, direction) in plain {
            assert_eq!(parsed(text), Some((layer.to_owned(), direction, None)), "{text}");
        }
        assert_eq!(parsed("bwd:moe.1@full"), Some(("moe.1".to_owned(), Backward, Some("full".to_owned()))));
        for text in [
            "",
            "forward",
            "forward:",
            "aten::linear",
            "FSDP::post_backward_hook",
            "12",
            "@full",
            "ProfilerStep#3",
            "head.weight",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn places_are_left_out() {
        let of = [
            ("layers.3.moe", "layers.moe"),
            ("moe[3", "moe"),
            ("a[3].b", "a.b"),
            ("12", "layer"),
            ("mla-dense", "mla-dense"),
        ];
        for (layer, kind) in of {
            assert_eq!(without_place(layer), kind, "{layer}");
        }
    }

    #[test]
    fn patterns_by_hand() {
        let good = [
            ("a", "a"),
            ("*", ""),
            ("*", "a"),
            ("a*", "ab"),
            ("*b", "ab"),
            ("a*c*e", "abcde"),
            ("*b*", "abc"),
            ("a*a", "aa"),
        ];
        assert!(good.iter().all(|(pattern, text)| fits(pattern, text)));
        let bad =
            [("a", "ab"), ("", "a"), ("a*", "ba"), ("*b", "ba"), ("a*c*e", "acb"), ("a*a", "a"), ("a*bc*c", "abc")];
        assert!(!bad.iter().any(|(pattern, text)| fits(pattern, text)));
    }
}
