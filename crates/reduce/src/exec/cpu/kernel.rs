//! A region compiled for the CPU: its space, what its tiles read and write, and the code of each sweep.
//!
//! Values fall into two kinds. *Full* ones vary over reduced loops and are computed tile by tile in a sweep; *kept* ones do
//! not, and are computed once after the sweep they wait for, as vectors over the kept loops of a tile. The arithmetic is cut
//! there: code of one kind reads the other's results as operands.

use super::emit::{Emitted, Source};
use super::leaves::{self, Leaf};
use super::space::{Mode, Reach, Run, Space, merge};
use super::vector::VectorCode;
use crate::canon::{Class, Classes, Kind};
use crate::dtype::{Dtype, Scalar};
use crate::fuse::{Region, Regions, Store};
use crate::program::{Program, ValueId};
use crate::scalar::{Instr, ScalarBuilder, ScalarExpr, Unary};
use crate::tree::{CHUNK, RUN};

/// Memory that a kernel reads or writes.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    /// The value that lies there.
    pub(super) value: ValueId,
    pub(super) dtype: Dtype,
    pub(super) reach: Reach,
}

/// Where code finds an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    /// Memory number n.
    Load(usize),
    /// Memory number n of [`Kernel::gathers`], one axis picked by a label.
    Gather(usize),
    /// A place computed from the indices: number n of [`Kernel::indices`].
    Index(usize),
    /// Part p of the accumulator of reduction r.
    Part(usize, usize),
    /// Kept vector n.
    Kept(usize),
    /// Saved vector n: full values of all tiles of a task.
    Saved(usize),
}

/// Code and its operands.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) vector: VectorCode,
    pub(super) operands: Vec<(Operand, Scalar)>,
    /// Types of the results.
    pub(super) results: Vec<Scalar>,
    /// Code for the labels of the gathers among the operands, in their order.
    pub(super) labels: Option<Box<Code>>,
}

/// A reduction of the kernel.
#[derive(Debug)]
pub(super) struct Reduction {
    pub(super) leaf: Box<dyn Leaf>,
}

/// What a leaf eats: a result of the sweep's code, or memory as it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Feed {
    Result(usize),
    Memory(usize),
}

/// One pass over the domain.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    pub(super) full: Code,
    /// Reductions fed by this sweep; where an operator wants places, the result that holds them.
    pub(super) feeds: Vec<(usize, Feed, Option<usize>)>,
    /// Results written to memory.
    pub(super) stores: Vec<(usize, usize)>,
    /// Results saved for later sweeps.
    pub(super) saves: Vec<(usize, usize)>,
    /// After the sweep: kept vectors, the first results in the order of `kept_slots`, then the stores.
    pub(super) kept: Code,
    pub(super) kept_slots: Vec<usize>,
    pub(super) kept_stores: Vec<(usize, usize)>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) space: Space,
    pub(super) loads: Vec<Memory>,
    /// Memory, stride and extent of the picked axis, and its name for errors.
    pub(super) gathers: Vec<(Memory, usize, usize)>,
    pub(super) indices: Vec<Reach>,
    pub(super) stores: Vec<Memory>,
    pub(super) reductions: Vec<Reduction>,
    /// Kept vectors that are known before any sweep.
    pub(super) prelude: Code,
    pub(super) sweeps: Vec<Sweep>,
    pub(super) kept: usize,
    pub(super) saved: usize,
    /// Largest tile: rows and columns.
    pub(super) tile: (usize, usize),
    /// Most elements of a task's tiles together (what one saved vector holds).
    pub(super) resident: usize,
}

impl Kernel {
    /// The kept run of a tile, and how much of it a tile has at most.
    pub(super) fn kept_run(&self) -> (&Run, usize) {
        match self.space.mode {
            Mode::Columns => (&self.space.cols, self.tile.1),
            Mode::Rows | Mode::Map => (&self.space.rows, self.tile.0),
        }
    }

    /// Most kept elements of a tile.
    pub(super) fn kept_capacity(&self) -> usize {
        self.kept_run().1
    }

    /// Number of tasks: kept indices outside the tile times pieces of the kept run.
    pub(super) fn tasks(&self) -> usize {
        let (run, most) = self.kept_run();
        self.space.outer.extent * run.extent.div_ceil(most)
    }
}

/// Saved values may take this many elements; beyond it they are computed again.
const RESIDENT: usize = 1 << 15;

/// Compiles region `k`.
pub(super) fn compile(p: &Program, classes: &Classes, regions: &Regions, k: usize) -> Kernel {
    let region = &regions.list[k];
    let emitted = super::emit::emit(p, classes, regions, k);
    let domain: Vec<(Class, Kind, usize)> =
        region.domain.iter().map(|&(c, kind)| (c, kind, classes.extent(c) as usize)).collect();
    let store_strides: Vec<Vec<(Class, usize)>> =
        region.stores.iter().map(|s| own_strides(p, classes, s.value)).collect();
    // Strides of everything by the iterators of the domain, then by merged loops.
    let by_domain = |list: &[(Class, usize)]| -> Vec<usize> {
        domain.iter().map(|d| list.iter().filter(|s| s.0 == d.0).map(|s| s.1).sum()).collect()
    };
    let reached = emitted.sources.iter().map(Source::strides).chain(store_strides.iter().map(|s| &s[..]));
    let mut strides: Vec<Vec<usize>> = reached.map(by_domain).collect();
    let loops = merge(&domain, &mut strides);
    let space = Space::new(&loops);
    let stores = strides.split_off(emitted.sources.len());
    Build { p, region, space, emitted, strides }.kernel(stores)
}

/// Strides of a value in memory of its own.
fn own_strides(p: &Program, classes: &Classes, v: ValueId) -> Vec<(Class, usize)> {
    crate::fuse::strides_by_class(classes, v, &crate::tensor::c_strides(p.shape(v)))
}

struct Build<'a> {
    p: &'a Program,
    region: &'a Region,
    space: Space,
    emitted: Emitted,
    /// Per source, per loop.
    strides: Vec<Vec<usize>>,
}

/// What is known of the instructions.
struct Marks {
    /// Varies over reduced loops (or anything, where nothing is reduced).
    full: Vec<bool>,
    /// The sweep after which a kept value is known, or before which sweep a full one can be computed.
    after: Vec<usize>,
    /// Has an expensive operation among the full values below.
    dear: Vec<bool>,
}

impl Build<'_> {
    fn marks(&self) -> Marks {
        let code = self.emitted.code.code();
        let mut marks = Marks { full: vec![], after: vec![], dear: vec![] };
        for &(instr, _) in code {
            let (mut full, mut after) = (false, 0);
            if let Instr::Arg(a) = instr {
                match &self.emitted.sources[a as usize] {
                    Source::Part { reduction, .. } => after = self.region.reductions[*reduction].1 + 1,
                    Source::Gather { label, .. } => {
                        full = self.varies(a as usize) || marks.full[label.0 as usize];
                        after = marks.after[label.0 as usize];
                    }
                    _ => full = self.varies(a as usize),
                }
            }
            let mut dear = false;
            for o in instr.operands().map(|o| o.0 as usize) {
                full |= marks.full[o];
                after = after.max(marks.after[o]);
                dear |= marks.dear[o];
            }
            let costly = matches!(instr, Instr::Unary(Unary::Exp | Unary::Ln, _));
            marks.full.push(full);
            marks.after.push(after);
            marks.dear.push(full && (dear || costly));
        }
        marks
    }

    fn varies(&self, source: usize) -> bool {
        let reach = Reach { offset: 0, strides: self.strides[source].clone() };
        let space = &self.space;
        match space.mode {
            Mode::Map => reach.varies(&space.cols),
            Mode::Rows => reach.varies(&space.cols) || space.reduced.iter().any(|r| reach.varies(r)),
            Mode::Columns => reach.varies(&space.rows) || space.reduced.iter().any(|r| reach.varies(r)),
        }
    }

    fn kernel(self, store_strides: Vec<Vec<usize>>) -> Kernel {
        let marks = self.marks();
        let sweeps = self.sweeps_needed();
        let tile = self.tile();
        let resident = self.resident(tile);
        let mut plan =
            SweepPlan { build: &self, marks: &marks, kept: vec![], saved: vec![], may_save: resident <= RESIDENT };
        let prelude = plan.prelude(sweeps);
        let sweeps: Vec<Sweep> = (0..sweeps).map(|s| plan.sweep(s, sweeps)).collect();
        let (kept, saved) = (plan.kept.len(), plan.saved.len());
        let memory = |value: ValueId, offset, strides: &[usize]| Memory {
            value,
            dtype: self.p.dtype(value),
            reach: Reach { offset, strides: strides.to_vec() },
        };
        let (mut loads, mut gathers, mut indices) = (vec![], vec![], vec![]);
        for (source, strides) in self.emitted.sources.iter().zip(&self.strides) {
            match source {
                Source::Load { base, offset, .. } => loads.push(memory(*base, *offset, strides)),
                Source::Gather { base, offset, stride, extent, .. } => {
                    gathers.push((memory(*base, *offset, strides), *stride, *extent));
                }
                Source::Index { .. } => indices.push(Reach { offset: 0, strides: strides.clone() }),
                Source::Part { .. } => {}
            }
        }
        let stores =
            self.region.stores.iter().zip(&store_strides).map(|(s, strides)| memory(s.value, 0, strides)).collect();
        let reductions = self.emitted.reductions.iter().map(|r| Reduction { leaf: leaves::leaf(r.op, &r.params, r.x) });
        let reductions = reductions.collect();
        Kernel {
            loads,
            gathers,
            indices,
            stores,
            reductions,
            prelude,
            sweeps,
            kept,
            saved,
            tile,
            resident,
            space: self.space,
        }
    }

    fn sweeps_needed(&self) -> usize {
        let reductions = self.region.reductions.iter().map(|r| r.1);
        reductions.chain(self.region.stores.iter().map(|s| s.sweep)).max().map_or(1, |s| s + 1)
    }

    /// Rows and columns of the largest tile.
    fn tile(&self) -> (usize, usize) {
        let (rows, cols) = (self.space.rows.extent, self.space.cols.extent);
        let fits = |cols: usize| (CHUNK / cols.max(1)).clamp(1, rows.max(1));
        match self.space.mode {
            Mode::Map | Mode::Rows => {
                let cols = cols.clamp(1, CHUNK);
                (fits(cols), cols)
            }
            Mode::Columns => {
                let whole = self.emitted.reductions.iter().any(|r| leaves::leaf(r.op, &r.params, r.x).whole_lanes());
                let plain = self.emitted.reductions.iter().all(|r| self.is_plain(r.value));
                let (rows_max, cols_max) = match (plain, whole) {
                    (true, _) => (RUN, 2048),
                    (false, true) => (RUN, 128),
                    (false, false) => (8, 512),
                };
                (rows.clamp(1, rows_max), cols.clamp(1, cols_max))
            }
        }
    }

    /// Whether a value is memory as it is: neighbours in a column run are neighbours in memory, in its own register type.
    fn is_plain(&self, e: ScalarExpr) -> bool {
        let Instr::Arg(a) = self.emitted.code.code()[e.0 as usize].0 else { return false };
        let Source::Load { base, .. } = &self.emitted.sources[a as usize] else { return false };
        let reach = Reach { offset: 0, strides: self.strides[a as usize].clone() };
        let cols = &self.space.cols;
        let rows = &self.space.rows;
        let even = reach.is_even(&self.space, cols) && reach.is_even(&self.space, rows);
        !self.p.dtype(*base).is_narrow() && even && (cols.extent == 1 || reach.inner_stride(cols) == 1)
    }

    /// Elements of all tiles that share their kept elements.
    fn resident(&self, tile: (usize, usize)) -> usize {
        let reduced = |run: &Run| run.extent;
        let outer: usize = self.space.reduced.iter().map(reduced).fold(1, usize::saturating_mul);
        let own = match self.space.mode {
            Mode::Map => tile.0 * tile.1,
            Mode::Rows => tile.0.saturating_mul(self.space.cols.extent),
            Mode::Columns => tile.1.saturating_mul(self.space.rows.extent),
        };
        outer.saturating_mul(own)
    }
}

/// Division of the arithmetic into sweeps.
struct SweepPlan<'a> {
    build: &'a Build<'a>,
    marks: &'a Marks,
    /// Kept values that have a vector.
    kept: Vec<ScalarExpr>,
    /// Full values that are saved, and the sweep that made them.
    saved: Vec<ScalarExpr>,
    may_save: bool,
}

impl SweepPlan<'_> {
    fn region(&self) -> &Region {
        self.build.region
    }

    /// Full values that a sweep has to compute: inputs of reductions (with places), then stores.
    fn roots(&self, sweep: usize) -> Vec<ScalarExpr> {
        let reductions = &self.build.emitted.reductions;
        let fed = reductions.iter().zip(&self.region().reductions).filter(|(_, r)| r.1 == sweep);
        let fed = fed.flat_map(|(r, _)| [Some(r.value), r.index].into_iter().flatten());
        let stored = self.stored(sweep, false).map(|s| self.build.emitted.stores[s]);
        fed.chain(stored).collect()
    }

    /// Numbers of the stores in a sweep, or after it.
    fn stored(&self, sweep: usize, kept: bool) -> impl Iterator<Item = usize> + '_ {
        let stores: &[Store] = &self.region().stores;
        (0..stores.len()).filter(move |&s| stores[s].sweep == sweep && stores[s].kept == kept)
    }

    fn code(&self) -> &[(Instr, Scalar)] {
        self.build.emitted.code.code()
    }

    fn sweep(&mut self, sweep: usize, sweeps: usize) -> Sweep {
        let mut out = Sweep::default();
        let roots = self.roots(sweep);
        let plain = |r: &ScalarExpr| self.plain_load(*r);
        let computed: Vec<ScalarExpr> = {
            let mut list: Vec<ScalarExpr> = Vec::new();
            roots.iter().filter(|r| plain(r).is_none()).for_each(|r| {
                if !list.contains(r) {
                    list.push(*r)
                }
            });
            list
        };
        let fresh = if self.may_save { self.worth_saving(sweep, sweeps, &computed) } else { Vec::new() };
        let results: Vec<ScalarExpr> =
            computed.iter().chain(fresh.iter().filter(|e| !computed.contains(e))).copied().collect();
        let place = |e: ScalarExpr| results.iter().position(|r| *r == e).unwrap_or(0);
        let reductions = &self.build.emitted.reductions;
        for (i, r) in reductions.iter().enumerate().filter(|(i, _)| self.region().reductions[*i].1 == sweep) {
            let feed = match plain(&r.value) {
                Some(load) => Feed::Memory(load),
                None => Feed::Result(place(r.value)),
            };
            out.feeds.push((i, feed, r.index.map(place)));
        }
        let store = |s: usize| self.build.emitted.stores[s];
        // A store of memory as it is goes through the code, which copies it.
        out.stores = self.stored(sweep, false).map(|s| (place(store(s)), s)).collect();
        out.full = self.cut(&results, true);
        out.saves = fresh.iter().enumerate().map(|(i, e)| (place(*e), self.saved.len() + i)).collect();
        self.saved.extend(fresh);
        self.keep(sweep, sweeps, &mut out);
        out
    }

    /// The load that a value is, if it is memory as it is and feeds a reduction.
    fn plain_load(&self, e: ScalarExpr) -> Option<usize> {
        let Instr::Arg(a) = self.code()[e.0 as usize].0 else { return None };
        let stored =
            self.region().stores.iter().enumerate().any(|(s, st)| !st.kept && self.build.emitted.stores[s] == e);
        (!stored && self.build.is_plain(e)).then(|| self.build.emitted.number(a as usize))
    }

    /// Code for values of one kind; operands of the other kind and what is saved are read.
    fn cut(&self, results: &[ScalarExpr], full: bool) -> Code {
        let mut b = ScalarBuilder::new();
        let mut operands: Vec<(Operand, Scalar)> = Vec::new();
        let code = self.code();
        let mut at: Vec<Option<ScalarExpr>> = vec![None; code.len()];
        let mut wanted = vec![false; code.len()];
        results.iter().for_each(|r| wanted[r.0 as usize] = true);
        for i in (0..code.len()).rev().filter(|&i| i < code.len()) {
            if wanted[i] && self.operand(ScalarExpr(i as u32), full).is_none() {
                code[i].0.operands().for_each(|o| wanted[o.0 as usize] = true);
            }
        }
        for (i, &(instr, kind)) in code.iter().enumerate().filter(|(i, _)| wanted[*i]) {
            at[i] = Some(match self.operand(ScalarExpr(i as u32), full) {
                Some(operand) => {
                    operands.push((operand, kind));
                    b.arg(operands.len() - 1, kind)
                }
                None => b.push(instr.with(|e| at[e.0 as usize].unwrap_or(e)), kind),
            });
        }
        let roots: Vec<ScalarExpr> = results.iter().filter_map(|r| at[r.0 as usize]).collect();
        let kinds = results.iter().map(|r| code[r.0 as usize].1).collect();
        let labels = self.labels(&operands, full);
        Code { vector: VectorCode::new(b.code(), &roots), operands, results: kinds, labels }
    }

    /// Where code of one kind finds a value that it does not compute.
    fn operand(&self, e: ScalarExpr, full: bool) -> Option<Operand> {
        let emitted = &self.build.emitted;
        let (instr, _) = self.code()[e.0 as usize];
        if let Instr::Arg(a) = instr {
            let a = a as usize;
            return Some(match &emitted.sources[a] {
                Source::Load { .. } => Operand::Load(emitted.number(a)),
                Source::Gather { .. } => Operand::Gather(emitted.number(a)),
                Source::Index { .. } => Operand::Index(emitted.number(a)),
                Source::Part { reduction, part } => Operand::Part(*reduction, *part),
            });
        }
        if full && let Some(s) = self.saved.iter().position(|s| *s == e) {
            return Some(Operand::Saved(s));
        }
        let is_kept = !self.marks.full[e.0 as usize] && !matches!(instr, Instr::Const(_));
        let slot = self.kept.iter().position(|s| *s == e);
        (full && is_kept).then_some(slot).flatten().map(Operand::Kept)
    }

    /// Dear values of this sweep that a later sweep reads.
    fn worth_saving(&self, sweep: usize, sweeps: usize, results: &[ScalarExpr]) -> Vec<ScalarExpr> {
        let now = self.cone(results);
        let mut later: Vec<ScalarExpr> = Vec::new();
        for s in sweep + 1..sweeps {
            let cone = self.cone(&self.roots(s));
            for (i, (instr, _)) in self.code().iter().enumerate().filter(|(i, _)| cone[*i]) {
                let is_root = self.roots(s).contains(&ScalarExpr(i as u32));
                let seam = |o: ScalarExpr| now[o.0 as usize] && self.marks.dear[o.0 as usize];
                // The seam: a dear value of this sweep that something not of this sweep reads.
                if !now[i] {
                    later.extend(instr.operands().filter(|o| seam(*o)));
                } else if is_root && seam(ScalarExpr(i as u32)) {
                    later.push(ScalarExpr(i as u32));
                }
            }
        }
        later.sort_unstable();
        later.dedup();
        later.retain(|e| !self.saved.contains(e));
        later
    }

    /// Full values that the roots need and that are not saved.
    fn cone(&self, roots: &[ScalarExpr]) -> Vec<bool> {
        let mut cone = vec![false; self.code().len()];
        roots.iter().for_each(|r| cone[r.0 as usize] = true);
        for i in (0..cone.len()).rev().filter(|&i| i < self.code().len()) {
            cone[i] &= self.marks.full[i] && !self.saved.contains(&ScalarExpr(i as u32));
            if cone[i] {
                self.code()[i].0.operands().for_each(|o| cone[o.0 as usize] = true);
            }
        }
        cone
    }

    /// Code for the labels of the gathers that code reads.
    fn labels(&self, operands: &[(Operand, Scalar)], full: bool) -> Option<Box<Code>> {
        let label = |o: &(Operand, Scalar)| match o.0 {
            Operand::Gather(g) => Some(self.build.emitted.label(g)),
            _ => None,
        };
        let labels: Vec<ScalarExpr> = operands.iter().filter_map(label).collect();
        (!labels.is_empty()).then(|| Box::new(self.cut(&labels, full)))
    }

    /// Kept values that need no sweep and are read by full code.
    fn prelude(&mut self, sweeps: usize) -> Code {
        let fresh = self.kept_for(0..sweeps, 0);
        let code = self.cut(&fresh, false);
        self.kept.extend(fresh);
        code
    }

    /// What is computed after a sweep: kept values that full code of later sweeps reads, and kept stores.
    fn keep(&mut self, sweep: usize, sweeps: usize, out: &mut Sweep) {
        let fresh = self.kept_for(sweep + 1..sweeps, sweep + 1);
        let stores: Vec<usize> = self.stored(sweep, true).collect();
        let stored = stores.iter().map(|&s| self.build.emitted.stores[s]);
        let results: Vec<ScalarExpr> = fresh.iter().copied().chain(stored).collect();
        out.kept = self.cut(&results, false);
        out.kept_slots = (0..fresh.len()).map(|i| self.kept.len() + i).collect();
        out.kept_stores = stores.iter().enumerate().map(|(i, &s)| (fresh.len() + i, s)).collect();
        self.kept.extend(fresh);
    }

    /// Kept values without a vector that full code of the given sweeps reads and that are known after `known` sweeps.
    fn kept_for(&self, sweeps: std::ops::Range<usize>, known: usize) -> Vec<ScalarExpr> {
        let mut fresh: Vec<ScalarExpr> = Vec::new();
        let mut consider = |e: ScalarExpr| {
            let i = e.0 as usize;
            let computed = !matches!(self.code()[i].0, Instr::Arg(_) | Instr::Const(_));
            let new = !self.kept.contains(&e) && !fresh.contains(&e);
            if !self.marks.full[i] && computed && new && self.marks.after[i] <= known {
                fresh.push(e);
            }
        };
        for s in sweeps {
            let roots = self.roots(s);
            let cone = self.cone(&roots);
            roots.iter().for_each(|r| consider(*r));
            for (_, (instr, _)) in self.code().iter().enumerate().filter(|(i, _)| cone[*i]) {
                let label = match instr {
                    Instr::Arg(a) => self.build.emitted.label_of(*a as usize),
                    _ => None,
                };
                instr.operands().chain(label).for_each(&mut consider);
            }
        }
        fresh
    }
}
