//! Megatron-LM's layout string, such as `Et*3|(tt|)*29,m|L`.
//!
//! Items `E` embedding, `t` decoder, `m` layer of further tokens, `L` loss; `|` between virtual stages; `x*n` repeats an item
//! or a bar, `(…)*n` what is inside, without further groups. Commas mean nothing; blanks are accepted too, which Megatron-LM
//! does not.

use super::{Entry, Imported, Options, finish};
use crate::megatron::{Item, MOST};
use crate::model::Model;

pub(super) const ENTRY: Entry =
    Entry { name: "megatron_layout", summary: "layout string of Megatron-LM (--pipeline-model-parallel-layout)", read };

fn read(text: &str, model: &Model, options: &Options) -> Result<Imported, String> {
    let stages = options.stages.ok_or("a layout string does not say how many stages there are; state them")?;
    finish(&parse(text)?, stages, &options.recompute, model, options)
}

/// The items of each virtual stage.
///
/// # Errors
/// What is no layout string, with the place in characters from 1; more than [`MOST`] items and bars.
pub fn parse(text: &str) -> Result<Vec<Vec<Item>>, String> {
    let marks = text.chars().enumerate().filter(|(_, mark)| *mark != ',' && !mark.is_whitespace());
    let mut reader = Reader { marks: marks.map(|(at, mark)| (at + 1, mark)).collect(), at: 0 };
    let mut all = Vec::new();
    while let Some((place, mark)) = reader.next() {
        if mark == '(' {
            let inside = reader.inside(place)?;
            let times = reader.times()?;
            let times = times.ok_or_else(|| format!("character {place}: '*' and a number must follow the group"))?;
            extend(&mut all, &inside, times, place)?;
        } else {
            reader.piece(place, mark, &mut all)?;
        }
    }
    Ok(all.split(Option::is_none).map(|stage| stage.iter().copied().flatten().collect()).collect())
}

/// An item, or none for a bar.
type Symbol = Option<Item>;

/// Marks with their places.
struct Reader {
    marks: Vec<(usize, char)>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<(usize, char)> {
        let mark = self.marks.get(self.at).copied();
        self.at += usize::from(mark.is_some());
        mark
    }

    fn peek(&self) -> Option<char> {
        self.marks.get(self.at).map(|&(_, mark)| mark)
    }

    /// `x` or `x*n`, its first mark read.
    fn piece(&mut self, place: usize, mark: char, out: &mut Vec<Symbol>) -> Result<(), String> {
        let symbol = match (Item::of(mark), mark) {
            (Some(item), _) => Some(item),
            (None, '|') => None,
            (None, '*') => return Err(format!("character {place}: '*' must follow an item, a bar or a group, once")),
            (None, ')') => return Err(format!("character {place}: ')' closes no group")),
            (None, '(') => return Err(format!("character {place}: a group inside a group; one level is allowed")),
            (None, mark) => return Err(format!("character {place}: {mark:?} is none of E, t, m, L, |, *, ( and )")),
        };
        let times = self.times()?.unwrap_or(1);
        extend(out, &[symbol], times, place)
    }

    /// What is inside a group, up to its end.
    fn inside(&mut self, open: usize) -> Result<Vec<Symbol>, String> {
        let mut inside = Vec::new();
        let first = self.at;
        while let Some((place, mark)) = self.next() {
            match mark {
                ')' if self.at == first + 1 => return Err(format!("character {open}: the group is empty")),
                ')' => return Ok(inside),
                _ => self.piece(place, mark, &mut inside)?,
            }
        }
        Err(format!("character {open}: the group is not closed"))
    }

    /// The number of a following `*n`; numbers beyond all limits stay beyond them.
    fn times(&mut self) -> Result<Option<usize>, String> {
        if self.peek() != Some('*') {
            return Ok(None);
        }
        let star = self.next().map_or(0, |(place, _)| place);
        let mut times: Option<usize> = None;
        while let Some(digit) = self.peek().and_then(|mark| mark.to_digit(10)) {
            times = Some(times.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize));
            self.at += 1;
        }
        times.map(Some).ok_or_else(|| format!("character {star}: a number must follow '*'"))
    }
}

/// Appends repetitions as long as they are few enough.
fn extend(out: &mut Vec<Symbol>, piece: &[Symbol], times: usize, place: usize) -> Result<(), String> {
    let more = piece.len().saturating_mul(times);
    if more > MOST - out.len() {
        return Err(format!("character {place}: more than {MOST} items and bars"));
    }
    if more > 0 {
        out.extend(piece.iter().cycle().take(more));
    }
    Ok(())
}
