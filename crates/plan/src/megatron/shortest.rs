//! The shortest layout string, by dynamic programming over the grammar.
//!
//! A string is a sequence of pieces: a symbol `x`, `x*n`, or `(…)*n` whose inside has no group. The best string of each
//! suffix is its best piece before the best string of the rest; equal lengths are decided by the order of bytes, which such
//! a sequence of decisions keeps.
//!
//! Only groups of a primitive inside with two different symbols are tried: `(tt)*3` is never as short as `t*6`, `(t|t|)*2`
//! never as short as `(t|)*4`. By the theorem of three squares there are O(log n) of them at a place, so the whole is O(n²)
//! steps for n symbols.

use super::Item;
use std::cmp::Ordering;

/// The best piece at a place: its inside is the next `period` symbols, repeated `times`.
#[derive(Debug, Clone, Copy)]
struct Piece {
    period: usize,
    times: usize,
}

impl Piece {
    /// Symbols that it stands for.
    fn symbols(self) -> usize {
        self.period * self.times
    }

    fn write(self, symbols: &[u8], out: &mut Vec<u8>) {
        match self {
            Piece { period: 1, times: 1 } => out.push(symbols[0]),
            Piece { period: 1, times } => {
                out.push(symbols[0]);
                out.extend(format!("*{times}").bytes());
            }
            Piece { period, times } => {
                out.push(b'(');
                out.extend(flat(&symbols[..period]));
                out.extend(format!(")*{times}").bytes());
            }
        }
    }
}

fn digits(n: usize) -> usize {
    n.checked_ilog10().unwrap_or(0) as usize + 1
}

/// The shortest string of symbols without groups.
fn flat(symbols: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for run in symbols.chunk_by(|a, b| a == b) {
        match run.len() {
            // `t*2` is longer than `tt`; `t*3` is as long as `ttt`, and the order of bytes decides.
            0..=2 => out.extend(run),
            times => Piece { period: 1, times }.write(run, &mut out),
        }
    }
    out
}

/// The pieces that a layout's shortest string is made of, suffix by suffix.
struct Table<'a> {
    symbols: &'a [u8],
    length: Vec<usize>,
    piece: Vec<Piece>,
}

impl Table<'_> {
    /// The best string from a place on.
    fn string(&self, mut at: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.length[at]);
        while at < self.symbols.len() {
            self.piece[at].write(&self.symbols[at..], &mut out);
            at += self.piece[at].symbols();
        }
        out
    }

    /// The string that starts with `piece` and goes on as well as possible.
    fn with(&self, at: usize, piece: Piece) -> Vec<u8> {
        let mut out = Vec::new();
        piece.write(&self.symbols[at..], &mut out);
        out.extend(self.string(at + piece.symbols()));
        out
    }

    /// Takes a piece of a length in characters if it is better than what is there.
    fn offer(&mut self, at: usize, piece: Piece, characters: usize) {
        let length = characters + self.length[at + piece.symbols()];
        let better = match length.cmp(&self.length[at]) {
            Ordering::Less => true,
            Ordering::Equal => self.with(at, piece) < self.with(at, self.piece[at]),
            Ordering::Greater => false,
        };
        if better {
            (self.length[at], self.piece[at]) = (length, piece);
        }
    }

    fn repeats(&mut self, at: usize) {
        let rest = &self.symbols[at..];
        let run = rest.iter().take_while(|&&symbol| symbol == rest[0]).count();
        self.offer(at, Piece { period: 1, times: 1 }, 1);
        for times in 2..=run {
            self.offer(at, Piece { period: 1, times }, 2 + digits(times));
        }
    }

    /// Groups that start here; `same[p]` is how many symbols from here on are those p places later.
    fn groups(&mut self, at: usize, same: &[usize]) {
        let rest = &self.symbols[at..];
        let run = rest.iter().take_while(|&&symbol| symbol == rest[0]).count();
        let mut roots: Vec<usize> = Vec::new();
        for period in run + 1..=rest.len() / 2 {
            let power = |&root: &usize| period % root == 0 && same[root] + root >= period;
            if same[period] < period || roots.iter().any(power) {
                continue;
            }
            roots.push(period);
            let inside = flat(&rest[..period]).len();
            for times in 2..=1 + same[period] / period {
                self.offer(at, Piece { period, times }, 3 + inside + digits(times));
            }
        }
    }
}

/// Common prefixes of a text with each of its suffixes (the Z function).
fn prefixes(text: &[u8], z: &mut Vec<usize>) {
    z.clear();
    z.resize(text.len(), 0);
    let (mut from, mut to) = (0, 0);
    for at in 1..text.len() {
        let mut same = if at < to { z[at - from].min(to - at) } else { 0 };
        while at + same < text.len() && text[same] == text[at + same] {
            same += 1;
        }
        z[at] = same;
        if at + same > to {
            (from, to) = (at, at + same);
        }
    }
}

/// The shortest string of a layout, of those the least in the order of bytes. O(n²) for n items and bars.
pub fn shortest(stages: &[Vec<Item>]) -> String {
    let mut symbols = Vec::new();
    for (at, stage) in stages.iter().enumerate() {
        if at > 0 {
            symbols.push(b'|');
        }
        symbols.extend(stage.iter().map(|item| item.letter() as u8));
    }
    let n = symbols.len();
    let mut length = vec![usize::MAX; n + 1];
    length[n] = 0;
    let mut table = Table { symbols: &symbols, length, piece: vec![Piece { period: 1, times: 1 }; n] };
    let mut same = Vec::new();
    for at in (0..n).rev() {
        prefixes(&symbols[at..], &mut same);
        table.repeats(at);
        table.groups(at, &same);
    }
    table.string(0).into_iter().map(char::from).collect()
}
