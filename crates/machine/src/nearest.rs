//! "Did you mean": the candidate nearest to a mistyped word.

use strsim::damerau_levenshtein;

/// The candidate that differs least from `word`, if it differs by no more than about a third of its letters. A
/// difference in case alone always counts as near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // a huge word is no slip of the finger, and the distance takes quadratic time
    let short: String = word.chars().take(64).collect();
    let distance = |candidate: &str| {
        if candidate.eq_ignore_ascii_case(word) { 0 } else { damerau_levenshtein(&short, candidate) }
    };
    let best = candidates.into_iter().map(|c| (distance(c), c)).min_by_key(|(distance, _)| *distance)?;
    let allowed = short.chars().count().max(best.1.chars().count()).div_ceil(3);
    (best.0 <= allowed).then_some(best.1)
}

/// The candidate that `word` is but for one or two slips, where many other words are right as well.
pub fn slip<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = nearest(word, candidates)?;
    (damerau_levenshtein(&word.to_ascii_lowercase(), near) <= 2).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_only() {
        let keys = ["latency", "down", "up", "side"];
        assert_eq!(nearest("latencey", keys), Some("latency"));
        assert_eq!(nearest("DOWN", keys), Some("down"));
        assert_eq!(nearest("bandwidth", keys), None);
        assert_eq!((slip("lattency", keys), slip("latencies", keys)), (Some("latency"), None));
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest(&"l".repeat(1 << 20), keys), None);
    }
}
