//! The machine tree: levels and exceptions as written, nodes as they follow from them.
//!
//! Leaves are workers, inner nodes are masters; a tree of depth 0 is one worker. Nodes are numbered level by level,
//! leaves from left to right. The tree is immutable and cheap to walk; equal trees are those written alike.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::expand::{Expanded, Fault, Place, expand, name_faults};
use crate::level::{Level, Node, Override};
use crate::path::Path;
use crate::rates::Rates;
use crate::{Error, Result};

/// A node of one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeNode(pub(crate) u32);

/// When, where and with what the numbers of a machine were measured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measurement {
    /// The day.
    pub date: Option<String>,
    /// The host's name.
    pub host: Option<String>,
    /// The processor's name.
    pub cpu: Option<String>,
    /// Versions of what took part, by name.
    pub versions: BTreeMap<String, String>,
    /// Whether the samples scattered by more than 20 %.
    pub noisy: bool,
}

/// What a machine file says about itself and of the machine as a whole.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    /// The machine's name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Where the numbers come from.
    pub source: Option<String>,
    /// How they were measured, if they were.
    pub measured: Option<Measurement>,
    /// Rates of kernels, if there are any.
    pub rates: Option<Rates>,
}

/// A machine.
#[derive(Debug, Clone)]
pub struct Tree {
    header: Header,
    levels: Vec<Level>,
    overrides: Vec<Override>,
    nodes: Expanded,
}

impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        // the nodes follow from these
        (&self.header, &self.levels, &self.overrides) == (&other.header, &other.levels, &other.overrides)
    }
}

impl Tree {
    /// A tree of these levels and overrides. Numbers are taken as they are: the caller sees to it that they are finite
    /// and not negative.
    ///
    /// # Errors
    /// When names are malformed or used twice, the root is not alone, a path matches nothing, or the tree is too large.
    pub fn new(header: Header, levels: Vec<Level>, overrides: Vec<Override>) -> Result<Self> {
        let names: Vec<_> = levels.iter().map(|level| Some(level.name.as_str())).collect();
        let faults = name_faults(&names);
        let built = if faults.is_empty() { Self::build(header, levels, overrides) } else { Err(faults) };
        built.map_err(|faults| match faults.into_iter().next() {
            Some(Fault { culprit, key, message }) => Error::Parts { part: culprit.to_string(), key, message },
            None => Error::Parts { part: "machine".to_owned(), key: "level", message: "no tree".to_owned() },
        })
    }

    /// Puts a tree together; what is wrong with it comes back with the place that is at fault.
    pub(crate) fn build(header: Header, levels: Vec<Level>, overrides: Vec<Override>) -> Result<Self, Vec<Fault>> {
        let nodes = expand(&levels, &overrides)?;
        Ok(Self { header, levels, overrides, nodes })
    }

    /// The root.
    pub fn root(&self) -> TreeNode {
        TreeNode(0)
    }

    /// The children of `n`, from left to right; none if it is a worker.
    pub fn children(&self, n: TreeNode) -> &[TreeNode] {
        let place = self.place(n);
        &self.nodes.ids[place.first_child as usize..][..place.children as usize]
    }

    /// The parent of `n`; none for the root.
    pub fn parent(&self, n: TreeNode) -> Option<TreeNode> {
        (n != self.root()).then(|| TreeNode(self.place(n).parent))
    }

    /// What holds at `n`.
    pub fn node(&self, n: TreeNode) -> &Node {
        &self.nodes.values[self.place(n).value as usize]
    }

    /// The leaves below `n` as numbers from left to right; `n` itself if it is a worker.
    pub fn leaves(&self, n: TreeNode) -> Range<usize> {
        let place = self.place(n);
        place.first_leaf as usize..(place.first_leaf + place.leaves) as usize
    }

    /// All workers, from left to right.
    pub fn leaf_nodes(&self) -> &[TreeNode] {
        &self.nodes.leaves
    }

    /// Number of workers.
    pub fn leaf_count(&self) -> usize {
        self.nodes.leaves.len()
    }

    /// The level called `name`.
    pub fn level(&self, name: &str) -> Option<&Level> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// All levels, from the root down.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The exceptions, in the order they are applied.
    pub fn overrides(&self) -> &[Override] {
        &self.overrides
    }

    /// All nodes of level number `level`, from left to right; none if there is no such level.
    pub fn nodes_at(&self, level: usize) -> &[TreeNode] {
        match self.nodes.level_starts.get(level..level + 2) {
            Some([start, end]) => &self.nodes.ids[*start as usize..*end as usize],
            _ => &[],
        }
    }

    /// Distance from the root, which is the number of the level.
    pub fn level_of(&self, n: TreeNode) -> usize {
        self.nodes.level_starts.partition_point(|start| *start <= n.0) - 1
    }

    /// Distance from the root to the deepest worker.
    pub fn depth(&self) -> usize {
        self.nodes.level_starts.len() - 2
    }

    /// Number of all nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.ids.len()
    }

    /// The logical CPU that `n` is to run on, if it was written down.
    pub fn pin(&self, n: TreeNode) -> Option<u32> {
        self.nodes.pins.get(&n.0).copied()
    }

    /// What the machine says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The machine's name.
    pub fn name(&self) -> &str {
        &self.header.name
    }

    /// The path of `n`: `/node[1]/core[2]`, `/` for the root.
    pub fn path(&self, n: TreeNode) -> String {
        let mut steps = Vec::new();
        let mut at = n;
        while let Some(parent) = self.parent(at) {
            let index = at.0 - self.place(parent).first_child;
            steps.push(format!("/{}[{index}]", self.node(at).name));
            at = parent;
        }
        steps.reverse();
        if steps.is_empty() { "/".to_owned() } else { steps.concat() }
    }

    /// The one node that `path` names: `/` or `/node[1]/core[2]`.
    ///
    /// # Errors
    /// When the path is malformed or names no node or several.
    pub fn at(&self, path: &str) -> Result<TreeNode> {
        if path == "/" {
            return Ok(self.root());
        }
        let fail = |message| Error::Path { path: path.to_owned(), message };
        let parsed: Path = path.parse().map_err(fail)?;
        let found = self.nodes.matching(&self.levels, &parsed).map_err(fail)?;
        match found.as_slice() {
            [one] => Ok(TreeNode(*one)),
            _ => Err(fail(format!("names {} nodes, write the path of one", found.len()))),
        }
    }

    fn place(&self, n: TreeNode) -> &Place {
        &self.nodes.places[n.0 as usize]
    }
}
