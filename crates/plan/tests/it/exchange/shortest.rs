//! The shortest layout string, against all strings of the grammar.

use super::megatron_twin;
use sapwood_plan::import::parse_layout;
use sapwood_plan::megatron::{Item, shortest};
use std::collections::BTreeMap;

fn stages(plain: &str) -> Vec<Vec<Item>> {
    plain.split('|').map(|stage| stage.chars().map(|c| Item::of(c).unwrap()).collect()).collect()
}

/// Every string of the grammar up to a length, written sign by sign.
fn grammar(symbols: &[char], digits: &[char], most: usize, visit: &mut dyn FnMut(&str)) {
    /// What may follow the last sign.
    #[derive(Clone, Copy, PartialEq)]
    enum Last {
        Start,
        Symbol,
        Open,
        Close,
        Star,
        Digit,
    }
    fn go(text: &mut String, last: Last, inside: bool, set: (&[char], &[char], usize), visit: &mut dyn FnMut(&str)) {
        let (symbols, digits, most) = set;
        if !inside && matches!(last, Last::Start | Last::Symbol | Last::Digit) {
            visit(text);
        }
        if text.len() == most {
            return;
        }
        let mut try_sign = |sign: char, next: Last, inside: bool| {
            text.push(sign);
            go(text, next, inside, set, visit);
            text.pop();
        };
        if !matches!(last, Last::Close | Last::Star) {
            symbols.iter().for_each(|&sign| try_sign(sign, Last::Symbol, inside));
            if !inside {
                try_sign('(', Last::Open, true);
            } else if last != Last::Open {
                try_sign(')', Last::Close, false);
            }
        }
        if matches!(last, Last::Symbol | Last::Close) {
            try_sign('*', Last::Star, inside);
        }
        if matches!(last, Last::Star | Last::Digit) {
            digits.iter().for_each(|&sign| try_sign(sign, Last::Digit, inside));
        }
    }
    go(&mut String::new(), Last::Start, false, (symbols, digits, most), visit);
}

/// The best string by brute force of everything that a string of at most `most` characters can state.
fn compare(symbols: &[char], digits: &[char], most: usize) -> usize {
    let mut best: BTreeMap<String, String> = BTreeMap::new();
    grammar(symbols, digits, most, &mut |text| {
        let Some(list) = megatron_twin::stages(text) else {
            assert!(parse_layout(text).unwrap_err().contains("more than"), "{text}");
            return;
        };
        let plain = list.join("|");
        if plain.len() > 60 {
            return;
        }
        let known = best.get(&plain);
        if known.is_none_or(|known| (text.len(), text) < (known.len(), known.as_str())) {
            best.insert(plain, text.to_owned());
        }
    });
    let mut same = 0;
    for (plain, text) in &best {
        let found = shortest(&stages(plain));
        assert_eq!(megatron_twin::stages(&found).unwrap().join("|"), *plain);
        // What needs other digits is not among the strings compared with; it must be better than all of them.
        if found.chars().all(|c| "()*".contains(c) || symbols.contains(&c) || digits.contains(&c)) {
            assert_eq!(found, *text, "{plain}");
            same += 1;
        } else {
            assert!((found.len(), &found) < (text.len(), text), "{plain}");
        }
    }
    same
}

#[test]
fn golden_strings_are_shortest() {
    let short = |text: &str| shortest(&parse_layout(text).unwrap());
    assert_eq!((short("E|L"), short(""), short("|||||E")), ("E|L".to_owned(), String::new(), "|*5E".to_owned()));
    assert_eq!(short("Ettt|tt|tt|tt|L"), "Et(tt|)*4L");
    assert_eq!(short("E(|tt)*30,|mL"), "E(|tt)*30|mL");
}

#[test]
fn no_shorter_string_says_the_same() {
    let seen = compare(&['t', '|'], &['2', '3', '4'], 9) + compare(&['t', '|'], &['0', '1', '2', '9'], 8);
    let seen = seen + compare(&['E', 't', '|', 'L'], &['2', '3'], 7);
    assert!(seen > 10_000, "{seen}");
}

#[test]
fn long_layouts_are_written_in_time() {
    let mut text = "E".to_owned();
    for at in 0..1000 {
        text.push_str(&format!("t*{}|", 3 + (at * at) % 7));
    }
    let items = parse_layout(&(text + "L")).unwrap();
    assert_eq!(parse_layout(&shortest(&items)).unwrap(), items);
    // Fibonacci's word: repetitions everywhere, few of them long.
    let (mut word, mut next) = ("t".to_owned(), "t|".to_owned());
    while next.len() < 9_000 {
        (word, next) = (next.clone(), next + &word);
    }
    let fibonacci = parse_layout(&next).unwrap();
    assert_eq!(parse_layout(&shortest(&fibonacci)).unwrap(), fibonacci);
    let uniform = parse_layout("E(t|)*8000L").unwrap();
    assert_eq!(shortest(&uniform), "E(t|)*8000L");
    let one = parse_layout("Et*16000L").unwrap();
    assert_eq!(shortest(&one), "Et*16000L");
}
