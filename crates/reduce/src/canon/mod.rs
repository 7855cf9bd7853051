//! Loop coalescing: the shortest form of a reduction, whatever the ranks and reshapes it is written with.
//!
//! Axes that elementwise operations, reductions, transposes and reshapes link to each other are one *class* of iterator
//! (`digits.rs`). A value is a function of the iterators of its axes, so views cost nothing: they rename. The classes of a
//! reduction's operand, in the order of memory (`order.rs`) and each marked kept or reduced, give the word of its [`Form`]:
//! neighbours with the same mark are one group. Nothing here knows of costs or devices.

mod digits;
mod order;

pub use digits::{Class, Classes};
pub use order::orders;

use crate::program::{Node, Op, Program};

/// What a reduction does with a group of axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The group stays: P.
    Kept,
    /// The group is reduced: R.
    Reduced,
}

impl Kind {
    /// P or R.
    pub fn letter(self) -> char {
        match self {
            Kind::Kept => 'P',
            Kind::Reduced => 'R',
        }
    }
}

/// Neighbouring axes with the same mark, as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Group {
    /// Kept or reduced.
    pub kind: Kind,
    /// Product of the axes' extents; above 1.
    pub extent: u64,
}

/// The canonical form of a reduction: its groups, outermost first. No groups: all extents are 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Form {
    /// Kinds alternate.
    pub groups: Vec<Group>,
}

impl Form {
    /// The form of axes in the order of memory, each with its mark and extent; extents of 1 are left out.
    pub fn of(axes: impl IntoIterator<Item = (Kind, u64)>) -> Form {
        let mut groups: Vec<Group> = Vec::new();
        for (kind, extent) in axes.into_iter().filter(|&(_, e)| e != 1) {
            match groups.last_mut() {
                Some(last) if last.kind == kind => last.extent = last.extent.saturating_mul(extent),
                _ => groups.push(Group { kind, extent }),
            }
        }
        Form { groups }
    }

    /// The letters alone: `RPR`.
    pub fn word(&self) -> String {
        self.groups.iter().map(|g| g.kind.letter()).collect()
    }

    /// Longest chain of combinations below a result, summed over the reduced groups.
    pub fn depth(&self) -> u64 {
        self.groups.iter().filter(|g| g.kind == Kind::Reduced).map(|g| crate::tree::depth(g.extent)).sum()
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.groups.is_empty() {
            return f.write_str("empty");
        }
        let extents: Vec<String> = self.groups.iter().map(|g| g.extent.to_string()).collect();
        write!(f, "{} {}", self.word(), extents.join("x"))
    }
}

/// The axes of a reduction's operand in the order of memory: class, mark and extent; extents of 1 are left out.
pub fn marked(p: &Program, classes: &Classes, orders: &[Vec<Class>], node: &Node) -> Vec<(Class, Kind)> {
    let Op::Reduce { axes, .. } = &node.op else { return Vec::new() };
    let operand = node.inputs[0];
    let shape = p.shape(operand);
    let kept: Vec<Class> = (0..shape.len())
        .filter(|a| !axes.contains(a))
        .flat_map(|a| classes.of_axis(operand, a))
        .map(|d| d.class)
        .collect();
    let mark = |c: &Class| if kept.contains(c) { Kind::Kept } else { Kind::Reduced };
    orders[operand.0 as usize].iter().map(|c| (*c, mark(c))).collect()
}

/// The form of a reduction.
pub fn form(p: &Program, classes: &Classes, orders: &[Vec<Class>], node: &Node) -> Form {
    Form::of(marked(p, classes, orders, node).into_iter().map(|(c, k)| (k, classes.extent(c))))
}

#[cfg(test)]
mod tests;
