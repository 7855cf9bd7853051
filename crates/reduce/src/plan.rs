//! From a program to a plan: options applied, regions found, and what each kernel moves and computes.
//!
//! A plan is a pure function of program and options. It holds no buffers and runs nothing.

use crate::canon::{Classes, Form, form, orders};
use crate::error::Result;
use crate::fuse::{Region, Regions, prepare};
use crate::monoids::{COMPENSATED, NanPolicy, SUM, same};
use crate::program::{Node, Op, Program, ValueId};
use std::collections::BTreeSet;

/// What may vary between two runs with one input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Determinism {
    /// Anything that is fast: atomics, hardware functions.
    Fast,
    /// Nothing on one device: the order is a function of program, shapes and device.
    #[default]
    RunToRun,
    /// Nothing on any device: the order is the canonical tree.
    Portable,
}

/// How sums accumulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Accum {
    /// In the accumulator's own type.
    #[default]
    Native,
    /// In two numbers, the second holding the rounding errors of the first.
    Compensated,
}

/// How a program is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What may vary. On the CPU nothing does at any level: the executor always follows the canonical tree.
    pub determinism: Determinism,
    /// What NaN does in maxima and minima.
    pub nan: NanPolicy,
    /// How sums accumulate.
    pub accum: Accum,
    /// Whether operations share passes over memory.
    pub fuse: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { determinism: Determinism::default(), nan: NanPolicy::default(), accum: Accum::default(), fuse: true }
    }
}

/// Why an operation starts a kernel of its own instead of joining an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFused {
    /// The operation.
    pub op: String,
    /// Why.
    pub reason: String,
}

/// One kernel of a plan.
#[derive(Debug, Clone)]
pub struct KernelPlan {
    /// Names of the operations, in order, views left out.
    pub ops: Vec<String>,
    /// The form of its domain: the reductions' form, or P for none.
    pub form: Form,
    /// Names of the operators.
    pub monoids: Vec<String>,
    /// Passes over the domain.
    pub sweeps: usize,
    /// Whether the elements of one kept index stay in the cache between sweeps.
    pub resident: bool,
    /// Bytes read and written.
    pub bytes_moved: u64,
    /// Bytes of the distinct tensors that it reads and writes: none can move less.
    pub bytes_bound: u64,
    /// Operations on numbers.
    pub flops: u64,
    /// Longest chain of roundings in one of its sums.
    pub error_depth: u64,
    /// Why it is apart from the kernels before it.
    pub not_fused: Vec<NotFused>,
}

/// A compiled program.
#[derive(Debug)]
pub struct ReducePlan {
    /// The program as it will run: without what no output needs.
    pub program: Program,
    /// Its kernels in the order of execution.
    pub kernels: Vec<KernelPlan>,
    pub(crate) classes: Classes,
    pub(crate) regions: Regions,
}

/// Bytes that may stay in a core's cache between two sweeps.
const CACHED: u64 = 512 << 10;

/// Compiles a program.
///
/// # Errors
/// None that a program which exists can cause.
pub fn compile(p: &Program, options: &Options) -> Result<ReducePlan> {
    let program = prepare(&p.with_options(options))?;
    let classes = Classes::of(&program);
    let regions = Regions::of(&program, &classes, options.fuse);
    let view = View { p: &program, classes: &classes, regions: &regions };
    let kernels = (0..regions.list.len()).map(|k| view.kernel(k)).collect();
    Ok(ReducePlan { program, kernels, classes, regions })
}

impl ReducePlan {
    /// The form of the first reduction; empty if there is none.
    pub fn form(&self) -> Form {
        self.kernels.iter().find(|k| !k.monoids.is_empty()).map_or_else(Form::default, |k| k.form.clone())
    }

    /// Bytes that all kernels move.
    pub fn bytes_moved(&self) -> u64 {
        self.kernels.iter().map(|k| k.bytes_moved).sum()
    }

    /// Bytes of the inputs that are read and of the outputs: no plan can move less.
    pub fn bytes_bound(&self) -> u64 {
        let p = &self.program;
        let read: BTreeSet<ValueId> = p.nodes().iter().flat_map(|n| n.inputs.iter().copied()).collect();
        let inputs = p.inputs().iter().copied().filter(|v| read.contains(v));
        let outputs = p.outputs().iter().map(|(_, v)| *v);
        inputs.chain(outputs).map(|v| bytes(p, v)).sum()
    }
}

fn bytes(p: &Program, v: ValueId) -> u64 {
    p.shape(v).iter().product::<usize>() as u64 * p.dtype(v).bytes() as u64
}

impl Program {
    /// The same program under the options that change values.
    fn with_options(&self, options: &Options) -> Program {
        let mut p = self.clone();
        let floats: Vec<bool> =
            self.nodes().iter().map(|n| n.inputs.first().is_some_and(|&v| self.dtype(v).is_float())).collect();
        for (node, float) in p.nodes_mut().iter_mut().zip(floats) {
            if let Op::Reduce { op, params, .. } = &mut node.op {
                params.nan = options.nan;
                if float && options.accum == Accum::Compensated && same(*op, &SUM) {
                    *op = &COMPENSATED;
                }
            }
        }
        p
    }
}

struct View<'a> {
    p: &'a Program,
    classes: &'a Classes,
    regions: &'a Regions,
}

impl View<'_> {
    fn kernel(&self, k: usize) -> KernelPlan {
        let region = &self.regions.list[k];
        let nodes = self.nodes(region, k);
        let name = |n: &&Node| !matches!(n.op, Op::Broadcast | Op::Reshape | Op::Transpose { .. });
        let form = match region.alone {
            Some(id) => form(self.p, self.classes, &orders(self.p, self.classes), self.p.node(id)),
            None => Form::of(region.domain.iter().map(|&(c, kind)| (kind, self.classes.extent(c)))),
        };
        let elements: u64 = region.domain.iter().map(|d| self.classes.extent(d.0)).product();
        let computed =
            nodes.iter().filter(|n| matches!(n.op, Op::Map(_) | Op::Cast | Op::Reduce { .. })).count() as u64;
        let reductions: Vec<&Node> = match region.alone {
            Some(id) => vec![self.p.node(id)],
            None => region.reductions.iter().map(|r| self.p.node(r.0)).collect(),
        };
        let sweeps = region.reductions.iter().map(|r| r.1).chain(region.stores.iter().map(|s| s.sweep)).max();
        let sweeps = sweeps.map_or(1, |s| s + 1);
        let (read, written) = self.memory(region, &nodes, k);
        let sum = |list: &BTreeSet<ValueId>| list.iter().map(|&v| bytes(self.p, v)).sum::<u64>();
        let (resident, read_bytes) = (self.is_resident(region), sum(&read));
        let passes = if resident { 1 } else { self.reading_sweeps(region) };
        KernelPlan {
            ops: nodes.iter().copied().filter(name).map(|n| n.op.name().to_string()).collect(),
            error_depth: if reductions.iter().any(|n| self.rounds(n)) { form.depth() } else { 0 },
            monoids: reductions.iter().map(|n| n.op.name().to_string()).collect(),
            form,
            sweeps,
            resident,
            bytes_moved: passes * read_bytes + sum(&written),
            bytes_bound: read_bytes + sum(&written),
            flops: elements.saturating_mul(computed),
            not_fused: self.reasons(region, k),
        }
    }

    fn rounds(&self, node: &Node) -> bool {
        match &node.op {
            Op::Reduce { op, .. } => op.rounds(self.p.dtype(node.inputs[0]).scalar()),
            _ => false,
        }
    }

    /// The nodes that a region computes, in the order of the program.
    fn nodes(&self, region: &Region, k: usize) -> Vec<&Node> {
        let mut seen: BTreeSet<u32> = BTreeSet::new();
        let mut todo: Vec<ValueId> = region.stores.iter().map(|s| s.value).collect();
        todo.extend(region.reductions.iter().flat_map(|r| self.p.node(r.0).outputs.clone()));
        todo.extend(region.alone.iter().flat_map(|&n| self.p.node(n).outputs.clone()));
        while let Some(v) = todo.pop() {
            let id = self.p.value(v).node;
            let own = self.regions.is_computed(self.p, v, k) || region.alone == Some(id);
            if own && !matches!(self.p.node(id).op, Op::Input { .. } | Op::Constant(_)) && seen.insert(id.0) {
                todo.extend(&self.p.node(id).inputs);
            }
        }
        seen.into_iter().map(|n| self.p.node(crate::program::NodeId(n))).collect()
    }

    /// What a region reads from memory and writes to it.
    fn memory(&self, region: &Region, nodes: &[&Node], k: usize) -> (BTreeSet<ValueId>, BTreeSet<ValueId>) {
        let written: BTreeSet<ValueId> = match region.alone {
            Some(id) => self.p.node(id).outputs.iter().copied().collect(),
            None => region.stores.iter().map(|s| s.value).collect(),
        };
        let read = nodes.iter().flat_map(|n| n.inputs.iter().enumerate().map(move |(i, &v)| (*n, i, v)));
        let read = read.filter_map(|(node, operand, v)| {
            let below = self.regions.below(self.p, node, operand);
            let cut = self.classes.is_cut(node, operand) || region.alone.is_some();
            let v = if cut && !self.regions.in_memory(self.p, v) { below } else { v };
            let elsewhere = self.regions.in_memory(self.p, v) && (cut || !self.regions.is_computed(self.p, v, k));
            (elsewhere && self.p.constant_of(v).is_none_or(|t| t.len() > 1)).then_some(v)
        });
        (read.collect(), written)
    }

    /// Whether what one kept index walks over stays in the cache between sweeps.
    fn is_resident(&self, region: &Region) -> bool {
        let reduced = region.domain.iter().filter(|d| d.1 == crate::canon::Kind::Reduced);
        let elements = reduced.map(|d| self.classes.extent(d.0)).fold(1u64, u64::saturating_mul);
        elements.saturating_mul(4) <= CACHED
    }

    /// Sweeps that read the domain.
    fn reading_sweeps(&self, region: &Region) -> u64 {
        let sweeps = region.reductions.iter().map(|r| r.1);
        let stores = region.stores.iter().filter(|s| !s.kept).map(|s| s.sweep);
        sweeps.chain(stores).collect::<BTreeSet<_>>().len().max(1) as u64
    }

    /// Why a region is apart from those that it reads.
    fn reasons(&self, region: &Region, k: usize) -> Vec<NotFused> {
        let first = self.nodes(region, k).first().map_or("", |n| n.op.name()).to_string();
        let because = |r: &usize| {
            let other = &self.regions.list[*r];
            let reason = if region.alone.is_some() || other.alone.is_some() {
                "topk takes a whole line of memory at a time"
            } else if other.domain.len() == region.domain.len()
                && other.domain.iter().all(|d| region.domain.iter().any(|e| e.0 == d.0))
            {
                "it keeps and reduces other axes of the same elements"
            } else {
                "it walks other elements"
            };
            NotFused { op: first.clone(), reason: format!("reads k{r}: {reason}") }
        };
        region.reads.iter().map(because).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Dtype;
    use crate::monoids::{MAX, Params};
    use crate::program::Axes;

    fn softmax(shape: &[usize]) -> Program {
        let mut p = Program::new("softmax");
        let x = p.input("x", Dtype::F32, shape).unwrap();
        let y = p.composite("softmax", &[x], crate::composites::Options::none()).unwrap()[0];
        p.output("y", y).unwrap();
        p
    }

    #[test]
    fn softmax_is_one_kernel_that_reads_once() {
        let plan = compile(&softmax(&[4096, 4096]), &Options::default()).unwrap();
        assert_eq!(plan.kernels.len(), 1);
        assert_eq!((plan.bytes_moved(), plan.bytes_bound()), (134_217_728, 134_217_728));
        assert_eq!(plan.form().to_string(), "PR 4096x4096");
        assert_eq!(plan.kernels[0].monoids, ["max", "sum"]);
        let apart = compile(&softmax(&[4096, 4096]), &Options { fuse: false, ..Options::default() }).unwrap();
        assert!(apart.kernels.len() > 3 && apart.bytes_moved() > 3 * plan.bytes_moved());
    }

    #[test]
    fn golden_bytes() {
        for (shape, axes, want) in [
            (&[1usize << 24][..], &[0i64][..], 67_108_868u64),
            (&[4096, 4096], &[1], 67_125_248),
            (&[50176, 256], &[0], 51_381_248),
            (&[128, 32, 12544], &[0, 2], 205_521_024),
            (&[32, 43, 43], &[1], 242_176),
            (&[4, 3, 8, 8], &[0, 2, 3], 3084),
        ] {
            let mut p = Program::new("t");
            let x = p.input("x", Dtype::F32, shape).unwrap();
            let y = p.reduce(&SUM, Params::default(), x, &Axes::These(axes.to_vec()), false).unwrap()[0];
            p.output("y", y).unwrap();
            let plan = compile(&p, &Options::default()).unwrap();
            assert_eq!((plan.bytes_moved(), plan.bytes_bound()), (want, want), "{shape:?}");
        }
    }

    #[test]
    fn options_change_operators() {
        let mut p = Program::new("t");
        let x = p.input("x", Dtype::F32, &[8]).unwrap();
        let n = p.input("n", Dtype::I32, &[8]).unwrap();
        for (i, v) in [x, n].into_iter().enumerate() {
            let y = p.reduce(&SUM, Params::default(), v, &Axes::All, false).unwrap()[0];
            let m = p.reduce(&MAX, Params::default(), v, &Axes::All, false).unwrap()[0];
            p.output(&format!("s{i}"), y).unwrap();
            p.output(&format!("m{i}"), m).unwrap();
        }
        let options = Options { accum: Accum::Compensated, nan: NanPolicy::Ignore, ..Options::default() };
        let plan = compile(&p, &options).unwrap();
        let names: Vec<&str> = plan.kernels.iter().flat_map(|k| k.monoids.iter().map(String::as_str)).collect();
        assert_eq!(names, ["compensated", "max", "sum", "max"]);
    }
}
