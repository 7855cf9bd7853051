//! Edges as they stand in a file, with their lines.

use super::super::build::Numbers;

/// Edges in the order of their file.
#[derive(Debug)]
pub struct Edges {
    pub(super) name: String,
    pub(super) nodes: u64,
    pub(super) from: Numbers,
    pub(super) to: Numbers,
    pub(super) weights: Weights,
    pub(super) lines: Lines,
    pub(super) originals: Option<Vec<u64>>,
}

/// The weights of a file.
#[derive(Debug)]
pub(super) enum Weights {
    None,
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Edges {
    /// How many.
    pub fn len(&self) -> usize {
        self.from.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of nodes: [`nodes`](super::ReadOptions::nodes) of the options, else `# Nodes:` of the file, else one more than the largest id.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// (from, to) of edge `e`, below [`Edges::nodes`]. Panics if `e` is not below [`Edges::len`].
    pub fn ends(&self, e: usize) -> (u64, u64) {
        (self.from.get(e), self.to.get(e))
    }

    /// (from, to) of all edges.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.len()).map(|e| self.ends(e))
    }

    /// Whether the file has weights (and they were not dropped).
    pub fn is_weighted(&self) -> bool {
        !matches!(self.weights, Weights::None)
    }

    /// Weight of edge `e`, if the file has weights. Panics if `e` is not below [`Edges::len`].
    pub fn weight(&self, e: usize) -> Option<f64> {
        match &self.weights {
            Weights::None => None,
            Weights::F32(items) => Some(f64::from(items[e])),
            Weights::F64(items) => Some(items[e]),
        }
    }

    /// The line of edge `e` in its file, from 1.
    pub fn line(&self, e: usize) -> u64 {
        self.lines.of(e as u64)
    }

    /// `file:line` of edge `e`, for messages.
    pub fn place(&self, e: usize) -> String {
        format!("{}:{}", self.name, self.line(e))
    }

    /// With [`relabel`](super::ReadOptions::relabel): the id in the file of every node that an edge names.
    pub fn originals(&self) -> Option<&[u64]> {
        self.originals.as_deref()
    }
}

/// Lines of edges, as runs of consecutive ones.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// First edge of a run and its line.
    runs: Vec<(u64, u64)>,
    next: u64,
}

impl Lines {
    /// Appends the line of edge `edge`, the next one.
    #[inline(always)]
    pub(super) fn push(&mut self, edge: u64, line: u64) {
        if line != self.next {
            self.runs.push((edge, line));
        }
        self.next = line + 1;
    }

    /// The line of edge `edge`.
    pub(super) fn of(&self, edge: u64) -> u64 {
        let run = self.runs.partition_point(|&(first, _)| first <= edge).saturating_sub(1);
        self.runs.get(run).map_or(0, |&(first, line)| line + (edge - first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lines_are_stored_once() {
        let mut lines = Lines::default();
        let all = [2, 3, 4, 9, 10, 12];
        (0..).zip(all).for_each(|(edge, line)| lines.push(edge, line));
        assert_eq!(lines.runs, [(0, 2), (3, 9), (5, 12)]);
        assert!((0..).zip(all).all(|(edge, line)| lines.of(edge) == line));
        assert_eq!(Lines::default().of(0), 0);
    }
}
