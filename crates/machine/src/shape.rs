//! Shapes: the tree alone, in a word. `seq` is one worker, `3` a master with 3 workers, `2x4` two masters of 4 workers
//! below a master, `[2,[1,4]]` whatever is irregular.

use std::collections::BTreeMap;

use crate::expand::{MAX_DEPTH, MAX_LEAVES};
use crate::level::{Level, Override, Values};
use crate::path::{Path, Step, Which};
use crate::tree::{Header, Tree, TreeNode};
use crate::{Error, Result};

impl Tree {
    /// A machine of the given shape, with nothing known but that: levels `root`, `l1`, `l2`, ...
    ///
    /// ```
    /// use sapwood_machine::Tree;
    /// let tree = Tree::shape("[2,[1,4]]")?;
    /// assert_eq!((tree.leaf_nodes().len(), tree.depth()), (7, 3));
    /// assert_eq!(tree.to_shape(), "[2,[1,4]]");
    /// # Ok::<(), sapwood_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// When `text` is no shape, deeper than 16 levels, or has more than 2^20 workers.
    pub fn shape(text: &str) -> Result<Self> {
        let fail = |message: String| {
            let short: String = text.chars().take(60).collect();
            let text = if short.len() < text.len() { format!("{short}...") } else { short };
            Error::Shape { text, message }
        };
        let mut parser = Parser { rest: text.trim(), leaves: 0 };
        let root = parser.shape(0).map_err(fail)?;
        if !parser.rest.is_empty() {
            return Err(fail(format!("\"{}\" follows the shape", parser.rest.chars().take(20).collect::<String>())));
        }
        let (levels, overrides) = describe(&root);
        let header = Header { name: text.trim().to_owned(), ..Header::default() };
        Tree::build(header, levels, overrides)
            .map_err(|faults| fail(faults.first().map_or_else(String::new, |fault| fault.message.clone())))
    }

    /// The shape of this tree; [`Tree::shape`] of it has the same nodes.
    pub fn to_shape(&self) -> String {
        self.shape_below(self.root())
    }

    fn shape_below(&self, n: TreeNode) -> String {
        let children = self.children(n);
        if children.is_empty() {
            return "seq".to_owned();
        }
        let below: Vec<String> = children.iter().map(|child| self.shape_below(*child)).collect();
        match below.first() {
            Some(first) if first == "seq" && below.iter().all(|b| b == first) => children.len().to_string(),
            Some(first) if !first.starts_with('[') && below.iter().all(|b| b == first) => {
                format!("{}x{first}", children.len())
            }
            _ => format!("[{}]", below.join(",")),
        }
    }
}

/// A parsed shape: identical children stay one entry with a count.
enum Shape {
    Worker,
    Master(Vec<(u32, Shape)>),
}

struct Parser<'t> {
    rest: &'t str,
    leaves: u64,
}

impl Parser<'_> {
    fn shape(&mut self, depth: usize) -> Result<Shape, String> {
        if depth > MAX_DEPTH {
            return Err(format!("deeper than {MAX_DEPTH} levels"));
        }
        if self.skip("seq") {
            self.count(1)?;
            return Ok(Shape::Worker);
        }
        if self.skip("[") { self.list(depth) } else { self.product(depth) }
    }

    fn list(&mut self, depth: usize) -> Result<Shape, String> {
        let mut children = Vec::new();
        loop {
            children.push((1, self.shape(depth + 1)?));
            if self.skip("]") {
                return Ok(Shape::Master(children));
            }
            if !self.skip(",") {
                return Err(self.unexpected("\",\" or \"]\""));
            }
        }
    }

    fn product(&mut self, depth: usize) -> Result<Shape, String> {
        let mut factors = vec![self.integer()?];
        while self.skip("x") {
            factors.push(self.integer()?);
        }
        if depth + factors.len() > MAX_DEPTH {
            return Err(format!("deeper than {MAX_DEPTH} levels"));
        }
        let workers = factors.iter().try_fold(1u64, |n, &f| n.checked_mul(u64::from(f)));
        self.count(workers.unwrap_or(u64::MAX))?;
        Ok(factors.iter().rev().fold(Shape::Worker, |below, &count| Shape::Master(vec![(count, below)])))
    }

    fn integer(&mut self) -> Result<u32, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.unexpected("a number, \"seq\" or \"[\""));
        }
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        match digits.parse() {
            Ok(0) => Err("a master has at least one child, write 1 or more".to_owned()),
            Ok(count) if u64::from(count) <= MAX_LEAVES => Ok(count),
            _ => Err(format!("more than {MAX_LEAVES} workers")),
        }
    }

    fn count(&mut self, leaves: u64) -> Result<(), String> {
        self.leaves = self.leaves.saturating_add(leaves);
        if self.leaves > MAX_LEAVES { Err(format!("more than {MAX_LEAVES} workers")) } else { Ok(()) }
    }

    fn skip(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest).trim_start();
        found.is_some()
    }

    fn unexpected(&self, wanted: &str) -> String {
        match self.rest.chars().next() {
            Some(c) => format!("'{c}' where {wanted} was expected; write seq, 3, 2x4 or [2,[1,4]]"),
            None => format!("ends where {wanted} was expected; write seq, 3, 2x4 or [2,[1,4]]"),
        }
    }
}

/// Levels with the commonest number of children, and an override for each node that differs.
fn describe(root: &Shape) -> (Vec<Level>, Vec<Override>) {
    let mut levels = vec![Level { name: "root".to_owned(), count: 1, values: Values::default() }];
    let mut overrides = Vec::new();
    let mut here: Vec<(Vec<Step>, &Shape)> = vec![(Vec::new(), root)];
    loop {
        let mut tally: BTreeMap<u32, u64> = BTreeMap::new();
        for (steps, shape) in &here {
            *tally.entry(children(shape)).or_default() += nodes(steps);
        }
        let common = tally.iter().filter(|(count, _)| **count > 0).max_by_key(|(_, n)| **n).map(|(count, _)| *count);
        let Some(common) = common else { return (levels, overrides) };
        let name = format!("l{}", levels.len());
        let mut below = Vec::new();
        for (steps, shape) in here {
            let differs = Some(children(shape)).filter(|count| *count != common);
            if let (Some(count), Some(at)) = (differs, Path::new(steps.clone())) {
                overrides.push(Override { at, children: Some(count), values: Values::default() });
            }
            if let Shape::Master(parts) = shape {
                let mut first = 0;
                for (count, part) in parts {
                    let which = if *count == 1 { Which::One(first) } else { Which::Range(first, first + count - 1) };
                    first += count;
                    let mut steps = steps.clone();
                    steps.push(Step { name: name.clone(), which });
                    below.push((steps, part));
                }
            }
        }
        levels.push(Level { name, count: common, values: Values::default() });
        here = below;
    }
}

fn children(shape: &Shape) -> u32 {
    match shape {
        Shape::Worker => 0,
        Shape::Master(parts) => parts.iter().map(|(count, _)| count).sum(),
    }
}

fn nodes(steps: &[Step]) -> u64 {
    steps
        .iter()
        .map(|step| match step.which {
            Which::Range(first, last) => u64::from(last - first) + 1,
            Which::One(_) | Which::All => 1,
        })
        .product()
}
