//! Dividing a program into regions.

use super::memory::Access;
use crate::canon::{Class, Classes, Kind, marked, orders};
use crate::program::{Node, NodeId, Op, Program, ValueId};
use std::collections::BTreeSet;

/// A value that a region writes to memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The value.
    pub value: ValueId,
    /// The sweep that writes it, or after which it is written.
    pub sweep: usize,
    /// Written once per kept element, after the sweep; else once per element of the domain, in the sweep.
    pub kept: bool,
}

/// One kernel before it is mapped to a device.
#[derive(Debug, Clone)]
pub struct Region {
    /// Iterators in the order of memory, outermost first, and what the region's reductions do with them; all kept if there
    /// are none.
    pub domain: Vec<(Class, Kind)>,
    /// Reductions and the sweep that computes them.
    pub reductions: Vec<(NodeId, usize)>,
    /// What is written.
    pub stores: Vec<Store>,
    /// Regions whose results it reads.
    pub reads: BTreeSet<usize>,
    /// The only node, where it cannot share a pass (`topk`).
    pub alone: Option<NodeId>,
}

/// A program in regions.
#[derive(Debug)]
pub struct Regions {
    /// The regions; each comes after those it reads.
    pub list: Vec<Region>,
    /// The region of each reduction, by node.
    of_node: Vec<Option<usize>>,
    /// The region that writes each value, by value.
    home: Vec<Option<usize>>,
    /// Values that lie in memory, by value.
    stored: Vec<bool>,
    fuse: bool,
}

/// What a value needs when it is computed inside a region.
#[derive(Debug, Default)]
struct Needs {
    regions: BTreeSet<usize>,
    /// Reductions elsewhere whose results must be in memory.
    results: BTreeSet<ValueId>,
    /// Sweeps of the region's own reductions that come before.
    sweep: Option<usize>,
}

impl Regions {
    /// Divides a prepared program; without `fuse` every operation is a region of its own.
    pub fn of(p: &Program, classes: &Classes, fuse: bool) -> Regions {
        let mut r = Regions {
            list: Vec::new(),
            of_node: vec![None; p.nodes().len()],
            home: vec![None; p.values()],
            stored: stored(p, classes, fuse),
            fuse,
        };
        let orders = orders(p, classes);
        for (i, node) in p.nodes().iter().enumerate() {
            let id = NodeId(i as u32);
            if is_reduction(p, node) {
                r.place_reduction(p, classes, &orders, id);
            }
            for &v in &node.outputs {
                let is_source = matches!(node.op, Op::Input { .. } | Op::Constant(_));
                if r.stored[v.0 as usize] && !is_source && !is_reduction(p, node) {
                    r.place_value(p, classes, &orders, v);
                }
            }
        }
        r.sorted()
    }

    /// Whether a value lies in memory.
    pub fn in_memory(&self, p: &Program, v: ValueId) -> bool {
        self.stored[v.0 as usize] || matches!(p.maker(v).op, Op::Input { .. } | Op::Constant(_))
    }

    /// The region that writes a value.
    pub fn home(&self, v: ValueId) -> Option<usize> {
        self.home[v.0 as usize]
    }

    /// The region that computes a reduction.
    pub fn of_node(&self, n: NodeId) -> Option<usize> {
        self.of_node[n.0 as usize]
    }

    /// Whether `v` is computed, not read, inside region `k`.
    pub fn is_computed(&self, p: &Program, v: ValueId, k: usize) -> bool {
        let here = self.home(v) == Some(k);
        let reduction = is_reduction(p, p.maker(v));
        if reduction { self.of_node(p.value(v).node) == Some(k) } else { here || !self.in_memory(p, v) }
    }

    fn needs(&self, p: &Program, classes: &Classes, roots: &[ValueId], k: Option<usize>) -> Needs {
        let mut needs = Needs::default();
        let mut seen = BTreeSet::new();
        let mut todo: Vec<ValueId> = roots.to_vec();
        while let Some(v) = todo.pop() {
            if !seen.insert(v) {
                continue;
            }
            let node = p.maker(v);
            let id = p.value(v).node;
            if is_reduction(p, node) {
                let at = self.of_node(id);
                match at {
                    Some(at) if Some(at) == k => {
                        let sweep = self.list[at].reductions.iter().find(|(n, _)| *n == id).map(|(_, s)| *s);
                        needs.sweep = needs.sweep.max(sweep);
                    }
                    Some(at) => {
                        needs.regions.insert(at);
                        needs.results.insert(v);
                    }
                    None => {}
                }
                continue;
            }
            if self.in_memory(p, v) && !(k.is_some() && self.home(v) == k) && !roots.contains(&v) {
                needs.regions.extend(self.home(v));
                continue;
            }
            for (operand, &input) in node.inputs.iter().enumerate() {
                if classes.is_cut(node, operand) {
                    self.read_in_memory(p, self.below(p, node, operand), &mut needs);
                } else {
                    todo.push(input);
                }
            }
        }
        needs
    }

    /// The value in memory below operand number `operand` of a node.
    pub fn below(&self, p: &Program, node: &Node, operand: usize) -> ValueId {
        Access::below(p, node, operand, &|v| self.in_memory(p, v))
    }

    /// What a node that takes lines of memory needs.
    fn needs_of_line(&self, p: &Program, node: &Node) -> Needs {
        let mut needs = Needs::default();
        self.read_in_memory(p, self.below(p, node, 0), &mut needs);
        needs
    }

    /// Adds what it takes to read a value in memory.
    fn read_in_memory(&self, p: &Program, v: ValueId, needs: &mut Needs) {
        needs.regions.extend(self.home(v));
        if is_reduction(p, p.maker(v)) {
            needs.regions.extend(self.of_node(p.value(v).node));
            needs.results.insert(v);
        }
    }

    /// Whether region `from` needs `to`, over any number of steps.
    fn reaches(&self, from: usize, to: usize) -> bool {
        from == to || self.list[from].reads.iter().any(|&r| self.reaches(r, to))
    }

    /// Whether region `k` may take something that needs `needs`, without a path out of it and back in.
    fn may_join(&self, k: usize, needs: &Needs) -> bool {
        self.fuse && self.list[k].alone.is_none() && needs.regions.iter().all(|&r| r != k && !self.reaches(r, k))
    }

    fn add(&mut self, domain: Vec<(Class, Kind)>, alone: Option<NodeId>) -> usize {
        self.list.push(Region { domain, reductions: vec![], stores: vec![], reads: BTreeSet::new(), alone });
        self.list.len() - 1
    }

    /// Records that region `k` has what needs `needs`; results that it reads get memory.
    fn join(&mut self, k: usize, needs: &Needs) {
        self.list[k].reads.extend(&needs.regions);
        for &v in &needs.results {
            self.stored[v.0 as usize] = true;
        }
    }

    fn place_reduction(&mut self, p: &Program, classes: &Classes, orders: &[Vec<Class>], id: NodeId) {
        let node = p.node(id);
        let operand = node.inputs[0];
        let domain = marked(p, classes, orders, node);
        let alone = matches!(&node.op, Op::Reduce { params, .. } if params.k > 0);
        let found = (0..self.list.len()).rev().find_map(|k| {
            if alone || self.list[k].domain != domain || self.list[k].reductions.is_empty() {
                return None;
            }
            let needs = self.needs(p, classes, &[operand], Some(k));
            self.may_join(k, &needs).then_some((k, needs))
        });
        let (k, needs) = found.unwrap_or_else(|| {
            let needs = if alone { self.needs_of_line(p, node) } else { self.needs(p, classes, &[operand], None) };
            (self.add(domain, alone.then_some(id)), needs)
        });
        self.join(k, &needs);
        let sweep = needs.sweep.map_or(0, |s| s + 1);
        self.list[k].reductions.push((id, sweep));
        self.of_node[id.0 as usize] = Some(k);
        for &value in &node.outputs {
            self.home[value.0 as usize] = Some(k);
            self.list[k].stores.push(Store { value, sweep, kept: true });
        }
    }

    fn place_value(&mut self, p: &Program, classes: &Classes, orders: &[Vec<Class>], v: ValueId) {
        let own: BTreeSet<Class> = classes.of_value(v).into_iter().collect();
        let fits = |region: &Region| {
            let all = region.domain.iter().map(|d| d.0).collect::<BTreeSet<_>>() == own;
            let kept = region.domain.iter().filter(|d| d.1 == Kind::Kept).map(|d| d.0).collect::<BTreeSet<_>>() == own;
            (all, kept)
        };
        let found = (0..self.list.len()).rev().find_map(|k| {
            let (all, kept) = fits(&self.list[k]);
            if !all && !kept {
                return None;
            }
            let needs = self.needs(p, classes, &[v], Some(k));
            // What is computed from kept elements alone has no sweep to follow.
            let useful = all || needs.sweep.is_some();
            (useful && self.may_join(k, &needs)).then_some((k, needs, !all))
        });
        let (k, needs, kept) = found.unwrap_or_else(|| {
            let domain = orders[v.0 as usize].iter().map(|&c| (c, Kind::Kept)).collect();
            let needs = self.needs(p, classes, &[v], None);
            (self.add(domain, None), needs, false)
        });
        self.join(k, &needs);
        let sweep = needs.sweep.map_or(0, |s| if kept { s } else { s + 1 });
        self.home[v.0 as usize] = Some(k);
        self.list[k].stores.push(Store { value: v, sweep, kept });
    }

    /// Drops stores of results that nobody reads in memory, and puts every region behind those it reads.
    fn sorted(mut self) -> Regions {
        for region in &mut self.list {
            region.stores.retain(|s| self.stored[s.value.0 as usize]);
        }
        let mut order: Vec<usize> = Vec::with_capacity(self.list.len());
        while order.len() < self.list.len() {
            let ready = |k: &usize| !order.contains(k) && self.list[*k].reads.iter().all(|r| order.contains(r));
            let Some(next) = (0..self.list.len()).find(ready) else { break };
            order.push(next);
        }
        let place = |k: usize| order.iter().position(|&o| o == k).unwrap_or(k);
        self.of_node.iter_mut().chain(&mut self.home).flatten().for_each(|k| *k = place(*k));
        let mut list: Vec<Region> = order.iter().map(|&k| self.list[k].clone()).collect();
        for region in &mut list {
            region.reads = region.reads.iter().map(|&r| place(r)).collect();
        }
        self.list = list;
        self
    }
}

/// Whether a node reduces anything: over axes of extent 1 alone it does not.
pub(crate) fn is_reduction(p: &Program, node: &Node) -> bool {
    match &node.op {
        Op::Reduce { axes, params, .. } => params.k > 0 || axes.iter().any(|&a| p.shape(node.inputs[0])[a] != 1),
        _ => false,
    }
}

/// Values that have to be in memory whatever the regions: outputs, and what is read across the grain.
fn stored(p: &Program, classes: &Classes, fuse: bool) -> Vec<bool> {
    let is_operation = |v: u32| matches!(p.maker(ValueId(v)).op, Op::Map(_) | Op::Cast | Op::Reduce { .. });
    let mut stored: Vec<bool> = (0..p.values() as u32).map(|v| !fuse && is_operation(v)).collect();
    p.outputs().iter().for_each(|(_, v)| stored[v.0 as usize] = true);
    for node in p.nodes() {
        let alone = matches!(&node.op, Op::Reduce { params, .. } if params.k > 0);
        for operand in 0..node.inputs.len() {
            if alone || classes.is_cut(node, operand) {
                let below = Access::below(p, node, operand, &|v| stored[v.0 as usize]);
                stored[below.0 as usize] = true;
            }
        }
    }
    for node in p.nodes().iter().filter(|n| matches!(n.op, Op::Input { .. } | Op::Constant(_))) {
        node.outputs.iter().for_each(|v| stored[v.0 as usize] = false);
    }
    stored
}
