//! A lattice: nodes stand in rows and columns (and layers), each joined to the next one along every axis; with
//! `periodic=1` the last of an axis is joined to the first, which makes a torus.
//!
//! Node (layer, row, column) has number (layer·rows + row)·cols + column. An axis of one or two nodes has nothing to close:
//! its ends are the same node, or a pair already. Nothing is drawn. No labels.

use super::spec::{Kind, Parameter, Values};
use super::{Entry, Generator, Listed, MOST_NODES, Size};
use crate::Result;
use crate::graph::Edge;
use sapwood_skeleton::Exec;

pub(super) const ENTRY: Entry = Entry {
    name: "grid",
    summary: "a lattice of rows x cols nodes (x layers), or a torus",
    example: "grid:rows=100,cols=100",
    parameters: &[
        Parameter { name: "rows", meaning: "nodes along the first axis", kind: LENGTH, default: None },
        Parameter { name: "cols", meaning: "nodes along the second axis", kind: LENGTH, default: None },
        Parameter { name: "layers", meaning: "nodes along the third axis", kind: LENGTH, default: Some("1") },
        Parameter {
            name: "periodic",
            meaning: "1 joins the ends of every axis",
            kind: Kind::Whole { least: 0, most: 1 },
            default: Some("0"),
        },
    ],
    new: |values| Ok(Box::new(Grid::new(values)?)),
};

const LENGTH: Kind = Kind::Whole { least: 1, most: MOST_NODES };

#[derive(Debug)]
struct Grid {
    /// Layers, rows, columns.
    axes: [u64; 3],
    nodes: u64,
    periodic: bool,
}

impl Grid {
    fn new(values: &Values) -> Result<Grid> {
        let axes = ["layers", "rows", "cols"].map(|name| values.whole(name));
        let nodes = axes.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis)).filter(|&n| n <= MOST_NODES);
        match nodes {
            Some(nodes) => Ok(Grid { axes, nodes, periodic: values.whole("periodic") == 1 }),
            None => {
                let [layers, rows, cols] = axes;
                let what =
                    format!("{rows} x {cols} x {layers} is more than {MOST_NODES} nodes; change rows, cols, layers");
                Err(values.wrong(what))
            }
        }
    }

    /// Whether the ends of an axis of this length get an edge of their own.
    fn closes(&self, length: u64) -> bool {
        self.periodic && length > 2
    }
}

impl Generator for Grid {
    fn size(&self) -> Size {
        let along = |&length: &u64| (self.nodes / length) as f64 * (length - 1 + u64::from(self.closes(length))) as f64;
        Size { nodes: self.nodes, edges: self.axes.iter().map(along).sum() }
    }

    fn list(&self, _: Exec<'_>) -> Result<Listed> {
        let mut edges = Vec::with_capacity(self.size().edges as usize);
        for node in 0..self.nodes {
            let mut step = self.nodes;
            for length in self.axes {
                // distance in numbers between neighbours along this axis, and the place on it
                step /= length;
                let place = node / step % length;
                let next = match place + 1 < length {
                    true => node + step,
                    false if self.closes(length) => node - place * step,
                    false => continue,
                };
                edges.push(Edge { from: node as u32, to: next as u32, weight: 1.0 });
            }
        }
        Ok(Listed { edges, ..Listed::default() })
    }
}
