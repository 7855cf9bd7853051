//! Lines to edges: the only part that looks at bytes.

use super::super::bound::{self, room};
use super::super::build::Numbers;
use super::super::text::{Blocks, Cursor, Wrong, newline};
use super::super::{Error, ReadOptions, Result};
use super::edges::{Edges, Lines, Weights};
use super::labels::Labels;
use crate::any::Stored;

const ADVICE: &str = "--relabel compacts sparse ids, --nodes N accepts N nodes";

/// What is known so far.
pub(super) struct Parser<'o, V> {
    name: String,
    options: &'o ReadOptions,
    pub(super) from: Numbers,
    pub(super) to: Numbers,
    pub(super) values: Option<Vec<V>>,
    lines: Lines,
    /// Line of the first edge.
    first: Option<u64>,
    /// `# Nodes:` of the file.
    declared: Option<u64>,
    /// Ids must be below it.
    below: u64,
    largest: Option<u64>,
    labels: Option<Labels>,
    pub(super) nodes: u64,
}

/// Reads all lines.
///
/// # Errors
/// As [`super::edges`].
pub(super) fn parse<'o, V: Stored>(mut blocks: Blocks<'_>, options: &'o ReadOptions) -> Result<Parser<'o, V>> {
    let mut parser = Parser::new(blocks.name(), options);
    let mut line = 1;
    while let Some(text) = blocks.next(line, newline)? {
        let mut cursor = Cursor::new(text, line);
        parser.block(&mut cursor)?;
        line = cursor.line;
        let each = parser.from.width() + parser.to.width() + size_of::<V>();
        bound::memory(&parser.name, "the edges", parser.from.len() as u128 * each as u128, options)?;
    }
    parser.finish(blocks.taken())?;
    Ok(parser)
}

impl<'o, V: Stored> Parser<'o, V> {
    fn new(name: &str, options: &'o ReadOptions) -> Self {
        Self {
            name: name.to_owned(),
            options,
            from: Numbers::new(),
            to: Numbers::new(),
            values: None,
            lines: Lines::default(),
            first: None,
            declared: None,
            below: if options.relabel { u64::MAX } else { options.nodes.unwrap_or(u64::MAX) },
            largest: None,
            labels: options.relabel.then(Labels::default),
            nodes: 0,
        }
    }

    fn wrong(&self, line: u64, wrong: Wrong) -> Error {
        Error::line(&self.name, line, wrong)
    }

    /// The lines of one block.
    fn block(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        while !cursor.is_at_end() {
            cursor.blanks();
            let line = cursor.line;
            match cursor.peek() {
                b'\n' => _ = cursor.line_end(),
                b'#' => self.comment(cursor.rest_of_line()).map_err(|w| self.wrong(line, w))?,
                b'%' => _ = cursor.rest_of_line(),
                _ => {
                    let edge = edge(cursor).map_err(|w| self.wrong(line, w))?;
                    self.push(edge, line)?;
                }
            }
        }
        Ok(())
    }

    /// `# Nodes: N ...`; every other comment says nothing.
    fn comment(&mut self, text: &[u8]) -> Result<(), Wrong> {
        let text = text[1..].trim_ascii_start();
        let key = b"nodes:";
        if text.len() < key.len() || !text[..key.len()].eq_ignore_ascii_case(key) {
            return Ok(());
        }
        let mut cursor = Cursor::new(&text[key.len()..], 0);
        cursor.blanks();
        if !cursor.peek().is_ascii_digit() {
            return Ok(());
        }
        let found = cursor.index("the number of nodes")?;
        match self.declared {
            _ if self.options.nodes.is_some() => {} // overrides whatever the file says
            Some(before) if before != found => return Err(Wrong::NodesTwice { found, before }),
            _ => self.declared = Some(found),
        }
        if self.options.nodes.is_none() && !self.options.relabel {
            self.below = found;
        }
        Ok(())
    }

    #[inline(always)]
    fn push(&mut self, (from, to, weight): (u64, u64, Option<f64>), line: u64) -> Result<()> {
        let base = u64::from(self.options.one_based);
        if from < base || to < base {
            return Err(self.wrong(line, Wrong::Zero { what: "node" }));
        }
        let (mut from, mut to) = (from - base, to - base);
        if from.max(to) >= self.below {
            let found = from.max(to) + base;
            return Err(self.wrong(line, Wrong::Node { found, nodes: self.below }));
        }
        if let Some(labels) = &mut self.labels {
            (from, to) = (labels.of(from, &self.name)?, labels.of(to, &self.name)?);
        }
        self.largest = self.largest.max(Some(from.max(to)));
        self.lines.push(self.from.len() as u64, line);
        match (self.first, weight) {
            (Some(_), None) if self.values.is_none() => {}
            _ => self.weigh(weight, line)?,
        }
        self.from.push(from, &self.name)?;
        self.to.push(to, &self.name)
    }

    /// All edges have a weight, or none.
    #[inline(always)]
    fn weigh(&mut self, weight: Option<f64>, line: u64) -> Result<()> {
        let first = *self.first.get_or_insert(line);
        if first == line && weight.is_some() {
            self.values = Some(Vec::new());
        }
        match (&mut self.values, weight) {
            (Some(values), Some(weight)) => {
                room(values, &self.name)?;
                values.push(V::from_f64(weight));
                Ok(())
            }
            (None, None) => Ok(()),
            _ => Err(self.wrong(line, Wrong::MixedWeights { weight: weight.is_some(), first })),
        }
    }

    /// The number of nodes, once all is read.
    fn finish(&mut self, taken: u64) -> Result<()> {
        let needed = self.largest.map_or(0, |id| id + 1);
        let stated = self.options.nodes.or(self.declared);
        self.nodes = stated.unwrap_or(needed);
        if needed > self.nodes {
            let edge = self.first_edge(|id| id >= self.nodes);
            let found = needed - 1 + u64::from(self.options.one_based);
            return Err(self.wrong(self.lines.of(edge), Wrong::Node { found, nodes: self.nodes }));
        }
        let place = || match stated {
            Some(_) => self.name.clone(),
            None => format!("{}:{}", self.name, self.lines.of(self.first_edge(|id| id + 1 == needed))),
        };
        bound::rows(self.nodes, taken, self.options, place, ADVICE)
    }

    /// The first edge with an end that `is` it.
    fn first_edge(&self, is: impl Fn(u64) -> bool) -> u64 {
        let edge = (0..self.from.len()).position(|e| is(self.from.get(e)) || is(self.to.get(e)));
        edge.unwrap_or(0) as u64
    }

    /// With relabelling: the ids as they stand in the file. Can be had once.
    pub(super) fn originals(&mut self) -> Option<Vec<u64>> {
        let base = u64::from(self.options.one_based);
        let mut ids = self.labels.take()?.into_ids();
        ids.iter_mut().for_each(|id| *id += base);
        Some(ids)
    }

    /// The edges, with `wrap` around their weights.
    pub(super) fn edges(mut self, wrap: fn(Vec<V>) -> Weights) -> Edges {
        let originals = self.originals();
        let Self { name, nodes, mut from, mut to, values, lines, .. } = self;
        from.shrink();
        to.shrink();
        Edges { name, nodes, from, to, weights: values.map_or(Weights::None, wrap), lines, originals }
    }
}

/// The fields of a line and its end.
#[inline(always)]
fn edge(cursor: &mut Cursor<'_>) -> Result<(u64, u64, Option<f64>), Wrong> {
    let from = cursor.index("node")?;
    let apart = cursor.separator();
    if cursor.is_at_line_end() {
        return Err(Wrong::Missing { what: "the second node" });
    }
    if !apart {
        return Err(cursor.no_separator());
    }
    let to = cursor.index("node")?;
    cursor.separator();
    let weight = if cursor.is_at_line_end() { None } else { Some(cursor.float()?) };
    cursor.blanks();
    if !cursor.line_end() {
        return Err(cursor.surplus("edge (`from to [weight]`)"));
    }
    Ok((from, to, weight))
}
