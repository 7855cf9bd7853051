//! Classes of iterators: which axes of which values are walked together.
//!
//! Every axis starts as one digit. Elementwise operations, broadcasts, reductions and transposes make digits of equal
//! extent the same; a reshape splits the digits of both sides at the union of their prefix products, if these divide each
//! other in a chain. Where digits cannot be made the same, the edge from the operand is *cut*: the operand has to be in
//! memory, and is read there by the iterators of the result. An edge is cut
//! - at a reshape whose prefix products form no chain (a linear re-index);
//! - where one value would be walked by one iterator along two axes: x + transpose(x) reads x in two ways;
//! - at slices, and at the data of a gather, whose axes differ in length.

use crate::program::{Node, Op, Program, ValueId};

/// An iterator that several axes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class(pub(crate) u32);

/// Part of an axis: the class it walks with, and how far one step of it goes along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digit {
    /// Its iterator.
    pub class: Class,
    /// Steps of the axis for one step of the iterator.
    pub step: usize,
}

#[derive(Debug)]
struct Entry {
    extent: u64,
    /// Joined with another digit: the same iterator.
    same: Option<u32>,
    /// Split into an outer and an inner digit.
    parts: Option<(u32, u32)>,
    /// The values that it walks along, ascending.
    values: Vec<u32>,
}

/// The digits of every axis of every value of a program.
#[derive(Debug)]
pub struct Classes {
    digits: Vec<Entry>,
    /// By value, by axis; axes of extent 1 have none.
    axes: Vec<Vec<Option<u32>>>,
    /// Cut edges: the first result of the node, and the number of the operand.
    cut: Vec<(ValueId, usize)>,
}

impl Classes {
    /// Finds the classes of a program.
    pub fn of(p: &Program) -> Classes {
        let mut classes = Classes { digits: Vec::new(), axes: Vec::new(), cut: Vec::new() };
        for v in 0..p.values() as u32 {
            let fresh = |&e: &usize| (e != 1).then(|| classes.fresh(e as u64, vec![v]));
            let digits = p.shape(ValueId(v)).iter().map(fresh).collect();
            classes.axes.push(digits);
        }
        for node in p.nodes() {
            classes.link(p, node);
        }
        for node in p.nodes().iter().filter(|n| matches!(n.op, Op::Reshape)) {
            let (from, to) = (node.inputs[0], node.outputs[0]);
            if !classes.align(from, to) {
                classes.cut.push((to, 0));
            }
        }
        classes
    }

    fn fresh(&mut self, extent: u64, values: Vec<u32>) -> u32 {
        self.digits.push(Entry { extent, same: None, parts: None, values });
        (self.digits.len() - 1) as u32
    }

    fn root(&self, mut digit: u32) -> u32 {
        while let Some(other) = self.digits[digit as usize].same {
            digit = other;
        }
        digit
    }

    /// Makes two digits one, unless a value would then be walked twice.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return true;
        }
        let theirs = std::mem::take(&mut self.digits[b as usize].values);
        let ours = &mut self.digits[a as usize].values;
        if ours.iter().any(|v| theirs.binary_search(v).is_ok()) {
            self.digits[b as usize].values = theirs;
            return false;
        }
        ours.extend(theirs);
        ours.sort_unstable();
        self.digits[b as usize].same = Some(a);
        true
    }

    fn join_axes(&mut self, (v, a): (ValueId, usize), (w, b): (ValueId, usize)) -> bool {
        match (self.axes[v.0 as usize][a], self.axes[w.0 as usize][b]) {
            (Some(x), Some(y)) => self.join(x, y),
            _ => true,
        }
    }

    /// Everything but reshapes: axes that are one and the same.
    fn link(&mut self, p: &Program, node: &Node) {
        let rank = |v: ValueId| p.shape(v).len();
        let first = node.outputs[0];
        for (operand, &v) in node.inputs.iter().enumerate() {
            // Pairs of axes of the operand and of the results.
            let pairs: Vec<(usize, usize)> = match &node.op {
                Op::Map(_) | Op::Cast | Op::Broadcast => (0..rank(v)).map(|a| (a, a)).collect(),
                Op::GatherLabel { .. } if operand == 1 => (0..rank(v)).map(|a| (a, a)).collect(),
                Op::Transpose { perm } => perm.iter().enumerate().map(|(a, &b)| (b, a)).collect(),
                Op::Reduce { axes, params, .. } => {
                    let kept = (0..rank(v)).filter(|a| !axes.contains(a));
                    kept.enumerate().map(|(i, a)| (a, if params.k > 0 { a } else { i })).collect()
                }
                Op::Slice { .. } | Op::GatherLabel { .. } => {
                    self.cut.push((first, operand));
                    continue;
                }
                Op::Input { .. } | Op::Constant(_) | Op::Iota { .. } | Op::Reshape => continue,
            };
            let mut one = true;
            for &out in &node.outputs {
                one &= pairs.iter().all(|&(a, b)| self.join_axes((v, a), (out, b)));
            }
            if !one {
                self.cut.push((first, operand));
            }
        }
    }

    /// The unsplit digits of a digit, outermost first.
    fn leaves(&self, digit: u32, out: &mut Vec<u32>) {
        let digit = self.root(digit);
        match self.digits[digit as usize].parts {
            Some((outer, inner)) => {
                self.leaves(outer, out);
                self.leaves(inner, out);
            }
            None => out.push(digit),
        }
    }

    fn leaves_of(&self, v: ValueId) -> Vec<u32> {
        let mut out = Vec::new();
        self.axes[v.0 as usize].iter().flatten().for_each(|&d| self.leaves(d, &mut out));
        out
    }

    fn extents(&self, digits: &[u32]) -> Vec<u64> {
        digits.iter().map(|&d| self.digits[d as usize].extent).collect()
    }

    /// Makes the digits of both sides of a reshape the same, or says that it cannot.
    fn align(&mut self, from: ValueId, to: ValueId) -> bool {
        let (a, b) = (self.leaves_of(from), self.leaves_of(to));
        if !in_a_chain(&self.extents(&a), &self.extents(&b)) {
            return false;
        }
        let (mut a, mut b) = (a, b);
        a.reverse();
        b.reverse();
        while let (Some(x), Some(y)) = (a.pop(), b.pop()) {
            // A digit that stands twice may have been split meanwhile.
            let (mut xs, mut ys) = (Vec::new(), Vec::new());
            self.leaves(x, &mut xs);
            self.leaves(y, &mut ys);
            if xs.len() > 1 || ys.len() > 1 {
                a.extend(xs.into_iter().rev());
                b.extend(ys.into_iter().rev());
                continue;
            }
            let (x, y) = (xs[0], ys[0]);
            let (ex, ey) = (self.digits[x as usize].extent, self.digits[y as usize].extent);
            let (keep_x, keep_y) = match ex.cmp(&ey) {
                std::cmp::Ordering::Equal => (x, y),
                std::cmp::Ordering::Greater => (self.split(x, ey, &mut a), y),
                std::cmp::Ordering::Less => (x, self.split(y, ex, &mut b)),
            };
            if !self.join(keep_x, keep_y) {
                return false;
            }
        }
        true
    }

    /// Splits off the outer `extent` of a digit; the rest goes back on the list.
    fn split(&mut self, digit: u32, extent: u64, rest: &mut Vec<u32>) -> u32 {
        let whole = self.digits[digit as usize].extent;
        let values = self.digits[digit as usize].values.clone();
        let (outer, inner) = (self.fresh(extent, values.clone()), self.fresh(whole / extent, values));
        self.digits[digit as usize].parts = Some((outer, inner));
        rest.push(inner);
        outer
    }

    /// The digits of an axis, outermost first; none for an extent of 1.
    pub fn of_axis(&self, v: ValueId, axis: usize) -> Vec<Digit> {
        let mut leaves = Vec::new();
        if let Some(d) = self.axes[v.0 as usize][axis] {
            self.leaves(d, &mut leaves);
        }
        let mut step = 1;
        let mut digits: Vec<Digit> = Vec::with_capacity(leaves.len());
        for &d in leaves.iter().rev() {
            digits.push(Digit { class: Class(d), step });
            step *= self.digits[d as usize].extent.max(1) as usize;
        }
        digits.reverse();
        digits
    }

    /// The classes of a value in the order of its axes.
    pub fn of_value(&self, v: ValueId) -> Vec<Class> {
        self.leaves_of(v).into_iter().map(Class).collect()
    }

    /// Number of values of an iterator.
    pub fn extent(&self, class: Class) -> u64 {
        self.digits[class.0 as usize].extent
    }

    /// Whether operand number `operand` of a node is read in memory, by the iterators of the node's results.
    pub fn is_cut(&self, node: &Node, operand: usize) -> bool {
        self.cut.contains(&(node.outputs[0], operand))
    }
}

/// Whether the prefix products of two lists of extents, which have one product, divide each other in a chain. A product of
/// 0 never does.
fn in_a_chain(a: &[u64], b: &[u64]) -> bool {
    let products = |list: &[u64]| {
        list.iter()
            .scan(1u64, |p, &e| {
                *p = p.saturating_mul(e);
                Some(*p)
            })
            .collect::<Vec<u64>>()
    };
    let mut all = [products(a), products(b)].concat();
    all.sort_unstable();
    all.first().is_none_or(|&p| p > 0) && all.windows(2).all(|w| w[1] % w[0] == 0)
}
