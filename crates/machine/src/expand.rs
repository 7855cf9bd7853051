//! From levels and overrides to nodes.
//!
//! The tree grows level by level, so that an override's path can be followed through the levels already built before
//! its `children` key shapes the next one. Values are shared: nodes that say the same have the same entry.

use std::collections::BTreeMap;

use crate::level::{Level, Node, Override, Values};
use crate::nearest::nearest;
use crate::path::{Path, Step, Which, is_name};
use crate::tree::TreeNode;

/// Deepest tree: the root and 16 levels below it.
pub(crate) const MAX_DEPTH: usize = 16;
/// Most workers of a tree, and most nodes of a level.
pub(crate) const MAX_LEAVES: u64 = 1 << 20;

/// Which part of the description is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Culprit {
    Level(usize),
    Override(usize),
}

impl std::fmt::Display for Culprit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Level(i) => write!(f, "level {i}"),
            Self::Override(i) => write!(f, "override {i}"),
        }
    }
}

/// What is wrong with a description: the part, its key, what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) culprit: Culprit,
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

/// A node's place in the tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) parent: u32,
    pub(crate) first_child: u32,
    pub(crate) children: u32,
    pub(crate) first_leaf: u32,
    pub(crate) leaves: u32,
    pub(crate) value: u32,
}

/// All nodes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expanded {
    pub(crate) places: Vec<Place>,
    /// 0, 1, 2, ...: children are handed out as slices of it.
    pub(crate) ids: Vec<TreeNode>,
    pub(crate) leaves: Vec<TreeNode>,
    /// First node of each level, then the number of nodes.
    pub(crate) level_starts: Vec<u32>,
    pub(crate) values: Vec<Node>,
    pub(crate) pins: BTreeMap<u32, u32>,
}

/// What is wrong with the names of levels, as far as they are known.
pub(crate) fn name_faults(names: &[Option<&str>]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let Some(name) = name else { continue };
        let message = if !is_name(name) {
            "must begin with a letter a-z and go on with a-z, 0-9 and -".to_owned()
        } else if let Some(first) = names[..i].iter().position(|other| *other == Some(name)) {
            format!("level {first} has the same name, write another")
        } else {
            continue;
        };
        faults.push(Fault { culprit: Culprit::Level(i), key: "name", message });
    }
    faults
}

/// Builds the nodes, or says everything that is wrong.
pub(crate) fn expand(levels: &[Level], overrides: &[Override]) -> Result<Expanded, Vec<Fault>> {
    let mut faults = Vec::new();
    if levels.is_empty() || levels.len() > MAX_DEPTH + 1 {
        let message = format!("{} levels, write 1 to {}", levels.len(), MAX_DEPTH + 1);
        return Err(vec![Fault { culprit: Culprit::Level(levels.len().saturating_sub(1)), key: "level", message }]);
    }
    if levels[0].count != 1 {
        let message = format!("{} roots, write 1 or leave it out", levels[0].count);
        return Err(vec![Fault { culprit: Culprit::Level(0), key: "count", message }]);
    }
    let mut tree = Expanded { places: vec![Place::default()], level_starts: vec![0, 1], ..Expanded::default() };
    let touched = tree.grow(levels, overrides, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    tree.number_leaves();
    if tree.leaves.len() as u64 > MAX_LEAVES {
        let message = format!("{} workers, write a machine of at most {MAX_LEAVES}", tree.leaves.len());
        return Err(vec![Fault { culprit: Culprit::Level(levels.len() - 1), key: "count", message }]);
    }
    tree.fill_values(levels, overrides, &touched);
    tree.fill_pins(levels, overrides, &touched, &mut faults);
    if faults.is_empty() { Ok(tree) } else { Err(faults) }
}

/// Which nodes each override is about, in the order of the overrides.
type Touched = Vec<Vec<u32>>;

impl Expanded {
    fn grow(&mut self, levels: &[Level], overrides: &[Override], faults: &mut Vec<Fault>) -> Touched {
        let mut touched = vec![Vec::new(); overrides.len()];
        for depth in 0..levels.len() {
            let exceptions = self.follow(depth, levels, overrides, &mut touched, faults);
            let Some(below) = levels.get(depth + 1) else { break };
            let nodes = self.level_range(depth);
            let count = |id: &u32| u64::from(exceptions.get(id).copied().unwrap_or(below.count));
            let total: u64 = nodes.clone().map(|id| count(&id)).sum();
            if total > MAX_LEAVES {
                let message = format!("{total} nodes in all, write a machine of at most {MAX_LEAVES} workers");
                faults.push(Fault { culprit: Culprit::Level(depth + 1), key: "count", message });
                break;
            }
            for id in nodes {
                let (children, first_child) = (count(&id) as u32, self.places.len() as u32);
                self.places[id as usize].first_child = first_child;
                self.places[id as usize].children = children;
                self.places.extend((0..children).map(|_| Place { parent: id, ..Place::default() }));
            }
            if total == 0 {
                self.unreachable(depth + 1, levels, overrides, faults);
                break;
            }
            self.level_starts.push(self.places.len() as u32);
        }
        self.ids = (0..self.places.len() as u32).map(TreeNode).collect();
        touched
    }

    /// Follows the paths that end at `depth`, and gives the children that overrides ask for there.
    fn follow(
        &self,
        depth: usize,
        levels: &[Level],
        overrides: &[Override],
        touched: &mut Touched,
        faults: &mut Vec<Fault>,
    ) -> BTreeMap<u32, u32> {
        let mut exceptions = BTreeMap::new();
        let last = depth + 1 == levels.len();
        for (i, exception) in overrides.iter().enumerate() {
            let steps = exception.at.steps().len();
            if steps != depth && !(last && steps > depth) {
                continue;
            }
            let culprit = Culprit::Override(i);
            match self.matching(levels, &exception.at) {
                Err(message) => faults.push(Fault { culprit, key: "at", message }),
                Ok(found) => touched[i] = found,
            }
            let Some(children) = exception.children else { continue };
            if last && steps == depth {
                let message = format!("{} is the last level, its nodes have no children", levels[depth].name);
                faults.push(Fault { culprit, key: "children", message });
            }
            exceptions.extend(touched[i].iter().map(|id| (*id, children)));
        }
        exceptions
    }

    /// Faults of the overrides that point below a level whose nodes are all cut off.
    fn unreachable(&self, depth: usize, levels: &[Level], overrides: &[Override], faults: &mut Vec<Fault>) {
        for (i, exception) in overrides.iter().enumerate().filter(|(_, o)| o.at.steps().len() >= depth) {
            if let Err(message) = self.matching(levels, &exception.at) {
                faults.push(Fault { culprit: Culprit::Override(i), key: "at", message });
            }
        }
    }

    /// The nodes a path names, from left to right; at least one.
    pub(crate) fn matching(&self, levels: &[Level], path: &Path) -> Result<Vec<u32>, String> {
        let mut found = vec![0];
        for (depth, step) in path.steps().iter().enumerate() {
            let Some(level) = levels.get(depth + 1) else {
                return Err(format!("there is no level below {}, write a shorter path", levels[depth].name));
            };
            if step.name != level.name {
                return Err(wrong_level(levels, depth, &step.name));
            }
            found = self.step(&found, step, &level.name)?;
        }
        Ok(found)
    }

    fn step(&self, from: &[u32], step: &Step, name: &str) -> Result<Vec<u32>, String> {
        let most = from.iter().map(|id| self.places[*id as usize].children).max().unwrap_or(0);
        let (first, last) = match step.which {
            Which::One(index) => (index, index),
            Which::Range(first, last) => (first, last),
            Which::All => (0, most.saturating_sub(1)),
        };
        if last >= most {
            return Err(match most {
                0 => format!("no {name} is there, remove this override"),
                1 => format!("no {name}[{last}] is there, write {name}[0]"),
                _ => format!("no {name}[{last}] is there, write 0 to {}", most - 1),
            });
        }
        let children = from.iter().flat_map(|id| {
            let place = &self.places[*id as usize];
            let end = place.children.min(last + 1);
            (first.min(end)..end).map(|index| place.first_child + index)
        });
        Ok(children.collect())
    }

    fn level_range(&self, depth: usize) -> std::ops::Range<u32> {
        self.level_starts[depth]..self.level_starts[depth + 1]
    }

    /// Leaves are numbered from left to right, which is not the order of nodes where their depths differ.
    fn number_leaves(&mut self) {
        for id in (0..self.places.len()).rev() {
            let leaves = if self.places[id].children == 0 { 1 } else { self.places[id].leaves };
            self.places[id].leaves = leaves;
            if id > 0 {
                let parent = self.places[id].parent as usize;
                self.places[parent].leaves += leaves;
            }
        }
        self.leaves = vec![TreeNode(0); self.places[0].leaves as usize];
        for id in 0..self.places.len() {
            let place = self.places[id].clone();
            if place.children == 0 {
                self.leaves[place.first_leaf as usize] = TreeNode(id as u32);
            }
            let mut next = place.first_leaf;
            for child in place.first_child..place.first_child + place.children {
                self.places[child as usize].first_leaf = next;
                next += self.places[child as usize].leaves;
            }
        }
    }

    fn fill_values(&mut self, levels: &[Level], overrides: &[Override], touched: &Touched) {
        let mut exceptions: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, nodes) in touched.iter().enumerate() {
            for id in nodes {
                exceptions.entry(*id).or_default().push(i);
            }
        }
        let none = Vec::new();
        for depth in 0..self.level_starts.len() - 1 {
            let mut known: BTreeMap<(u32, &[usize]), u32> = BTreeMap::new();
            for id in self.level_range(depth) {
                let applied = exceptions.get(&id).unwrap_or(&none).as_slice();
                let parent = self.places[self.places[id as usize].parent as usize].value;
                let value = *known.entry((parent, applied)).or_insert_with(|| {
                    let above = self.values.get(parent as usize).filter(|_| depth > 0);
                    let stated = applied.iter().map(|i| &overrides[*i].values);
                    self.values.push(node(&levels[depth], stated, above));
                    self.values.len() as u32 - 1
                });
                self.places[id as usize].value = value;
            }
        }
    }

    fn fill_pins(&mut self, levels: &[Level], overrides: &[Override], touched: &Touched, faults: &mut Vec<Fault>) {
        for (depth, level) in levels.iter().enumerate().take(self.level_starts.len() - 1) {
            let nodes: Vec<u32> = self.level_range(depth).collect();
            self.pin(Culprit::Level(depth), &level.values, &nodes, faults);
        }
        for (i, exception) in overrides.iter().enumerate() {
            self.pin(Culprit::Override(i), &exception.values, &touched[i], faults);
        }
    }

    fn pin(&mut self, culprit: Culprit, values: &Values, nodes: &[u32], faults: &mut Vec<Fault>) {
        let Some(cpus) = &values.pin else { return };
        let cpus = cpus.as_slice();
        if cpus.len() != nodes.len() {
            let message = format!("{} CPUs for {} nodes, write one for each", cpus.len(), nodes.len());
            faults.push(Fault { culprit, key: "pin", message });
        }
        self.pins.extend(nodes.iter().copied().zip(cpus.iter().copied()));
    }
}

/// What holds at a node: its level's values, the overrides in their order, compute from above if none is stated.
fn node<'v>(level: &'v Level, overrides: impl Iterator<Item = &'v Values> + Clone, above: Option<&Node>) -> Node {
    let all = std::iter::once(&level.values).chain(overrides);
    fn last<'v, T>(all: impl Iterator<Item = &'v Values>, key: impl Fn(&'v Values) -> Option<T>) -> Option<T> {
        all.filter_map(key).last()
    }
    Node {
        name: level.name.clone(),
        compute: last(all.clone(), |v| v.compute.as_ref())
            .or(above.map(|node| &node.compute))
            .cloned()
            .unwrap_or_default(),
        memory: last(all.clone(), |v| v.memory.as_ref()).cloned(),
        link: last(all.clone(), |v| v.link.as_ref()).cloned().unwrap_or_default(),
        port: last(all.clone(), |v| v.port).unwrap_or_default(),
        transport: last(all.clone(), |v| v.transport),
        device: last(all.clone(), |v| v.device.as_ref()).cloned(),
        speed: last(all, |v| v.speed).unwrap_or(1.0),
    }
}

fn wrong_level(levels: &[Level], depth: usize, name: &str) -> String {
    let next = &levels[depth + 1].name;
    if levels.iter().any(|level| level.name == name) {
        return format!("{name} does not follow {}, write {next} there", levels[depth].name);
    }
    let below = levels[1..].iter().map(|level| level.name.as_str());
    match nearest(name, below) {
        Some(near) => format!("there is no level {name}, did you mean {near}?"),
        None => format!("there is no level {name}, write {next} there"),
    }
}
