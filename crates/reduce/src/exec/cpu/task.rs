//! One task: the tiles that share their kept elements, through all sweeps or through one.

use super::blocked::{self, Blocked};
use super::kernel::{Code, Feed, Kernel, Operand};
use super::leaves::{Acc, Tile};
use super::moves::{self, Rect};
use super::space::{Mode, Reach};
use super::vector::Arg;
use crate::dtype::Scalar;
use crate::tree::{CHUNK, RUN};

/// Memory of a kernel's loads, gathers and stores, in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'a> {
    pub(super) loads: &'a [*const u8],
    pub(super) gathers: &'a [*const u8],
    pub(super) stores: &'a [*mut u8],
}

/// Most reduced runs outside the tile.
const DEEPEST: usize = 32;
/// Rows that are at least this long are run one by one, so that what is one value for a row needs no vector.
const LONG: usize = 256;
/// Operands or results of one piece of code that need no heap.
const MANY: usize = 16;

/// Scratch memory of a task: offsets in words.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Kept vectors and the values of reductions: what outlives a sweep.
    pub(super) persistent: usize,
    kept: usize,
    /// Words of a kept vector.
    kept_len: usize,
    /// Per reduction, per level of the nest: the tree of the level, and the value that it hands up.
    levels: Vec<Vec<(usize, usize)>>,
    operands: usize,
    results: usize,
    /// Words of the operands, and of the results, of one depth of labels; words of a tile.
    depth: (usize, usize),
    tile: usize,
    temporaries: usize,
    leaf: usize,
    saved: usize,
    /// Words of a saved vector.
    saved_len: usize,
    pub(super) words: usize,
}

/// Numbers of elements that the trees of a nest take, outermost first, the leaf's last.
fn nest(kernel: &Kernel) -> Vec<usize> {
    let space = &kernel.space;
    let leaf = match space.mode {
        Mode::Rows => space.cols.extent.div_ceil(CHUNK),
        Mode::Columns => space.rows.extent,
        Mode::Map => 1,
    };
    space.reduced.iter().map(|r| r.extent).chain([leaf]).collect()
}

fn codes(kernel: &Kernel) -> impl Iterator<Item = (usize, &Code)> {
    let own = kernel.sweeps.iter().flat_map(|s| [&s.full, &s.kept]).chain([&kernel.prelude]);
    own.flat_map(|c| std::iter::successors(Some(c), |c| c.labels.as_deref()).enumerate())
}

impl Layout {
    pub(super) fn of(kernel: &Kernel) -> Layout {
        let mut words = 0;
        let mut take = |n: usize| {
            let at = words;
            words += n.next_multiple_of(8);
            at
        };
        let capacity = kernel.kept_capacity();
        let kept_len = capacity.next_multiple_of(8);
        let kept = take(kernel.kept * kept_len);
        let parts = |r: usize| kernel.reductions[r].leaf.parts().len();
        let reductions = 0..kernel.reductions.len();
        let values: Vec<usize> = reductions.clone().map(|r| take(parts(r) * capacity)).collect();
        let persistent = take(0);
        let levels = reductions.map(|r| {
            let level = |(l, &extent): (usize, &usize)| {
                let tree = take(blocked::words(extent, parts(r), capacity));
                (tree, if l == 0 { values[r] } else { take(parts(r) * capacity) })
            };
            nest(kernel).iter().enumerate().map(level).collect()
        });
        let levels = levels.collect();
        let tile = (kernel.tile.0 * kernel.tile.1).max(capacity).next_multiple_of(8);
        let most = |f: fn(&Code) -> usize| codes(kernel).map(|c| f(c.1)).max().unwrap_or(0);
        let depths = codes(kernel).map(|c| c.0 + 1).max().unwrap_or(1);
        let depth = (most(|c| c.operands.len()) * tile, most(|c| c.results.len()) * tile);
        let operands = take(depths * depth.0);
        let results = take(depths * depth.1);
        let temporaries = take(most(|c| c.vector.scratch()));
        let widest = kernel.tile.0.max(kernel.tile.1);
        let leaf = take(kernel.reductions.iter().map(|r| r.leaf.scratch(widest)).max().unwrap_or(0));
        let saved_len = kernel.resident.next_multiple_of(8);
        let saved = take(kernel.saved * if kernel.saved > 0 { saved_len } else { 0 });
        Layout {
            persistent,
            kept,
            kept_len,
            levels,
            operands,
            results,
            depth,
            tile,
            temporaries,
            leaf,
            saved,
            saved_len,
            words,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) layout: &'a Layout,
    pub(super) bound: Bound<'a>,
    /// Scratch memory of [`Layout::words`] words.
    pub(super) room: *mut u64,
    outer: usize,
    reduced: [usize; DEEPEST],
    /// The kept part of the tiles: rows (or columns) from, and how many.
    kept: (usize, usize),
    /// Elements of the tiles that the sweep has seen.
    seen: usize,
    /// The first label that was outside its axis, and the axis' extent.
    pub(super) wrong: Option<(i64, usize)>,
}

#[expect(unsafe_code, reason = "scratch memory and tensors are untyped")]
impl<'a> Task<'a> {
    pub(super) fn new(kernel: &'a Kernel, layout: &'a Layout, bound: Bound<'a>, room: *mut u64) -> Task<'a> {
        Task { kernel, layout, bound, room, outer: 0, reduced: [0; DEEPEST], kept: (0, 0), seen: 0, wrong: None }
    }

    /// Goes to task number `task` of the kernel.
    pub(super) fn go_to(&mut self, task: usize) {
        let (run, most) = self.kernel.kept_run();
        let blocks = run.extent.div_ceil(most);
        self.outer = task / blocks;
        let from = task % blocks * most;
        self.kept = (from, most.min(run.extent - from));
    }

    /// All sweeps.
    ///
    /// # Safety
    /// Here and below: the bound memory is what the kernel describes, and nobody else writes what this task reads or writes.
    pub(super) unsafe fn all(&mut self) {
        // SAFETY: the caller's.
        unsafe {
            self.prelude();
            for sweep in 0..self.kernel.sweeps.len() {
                self.seen = 0;
                self.walk(sweep, 0);
                self.after(sweep);
            }
        }
    }

    /// Kept vectors that need no sweep.
    pub(super) unsafe fn prelude(&mut self) {
        let slots: [usize; MANY] = std::array::from_fn(|i| i);
        let code = &self.kernel.prelude;
        // SAFETY: the caller's.
        unsafe {
            if code.results.len() <= MANY {
                self.kept_code(code, &slots[..code.results.len()], &[]);
            } else {
                self.kept_code(code, &(0..code.results.len()).collect::<Vec<usize>>(), &[]);
            }
        }
    }

    /// What is computed once a sweep is over.
    pub(super) unsafe fn after(&mut self, sweep: usize) {
        let sweep = &self.kernel.sweeps[sweep];
        // SAFETY: the caller's.
        unsafe { self.kept_code(&sweep.kept, &sweep.kept_slots, &sweep.kept_stores) }
    }

    /// Number of pieces that a sweep can be split into: elements of the outermost reduced run, or chunks of the only one.
    pub(super) fn units(kernel: &Kernel, lanes: usize) -> usize {
        match (kernel.space.reduced.first(), kernel.space.mode) {
            (Some(run), _) => run.extent,
            (None, Mode::Columns) => kernel.space.rows.extent.div_ceil(lanes * RUN),
            (None, _) => kernel.space.cols.extent.div_ceil(CHUNK),
        }
    }

    /// One unit of a sweep; the values of its reductions go to `out`, one after another.
    pub(super) unsafe fn unit(&mut self, sweep: usize, unit: usize, lanes: usize, mut out: *mut u64) {
        let level = usize::from(!self.kernel.space.reduced.is_empty());
        // SAFETY: the caller's.
        unsafe {
            self.seen = 0;
            if level == 1 {
                self.reduced[0] = unit;
                self.walk(sweep, 1);
            } else {
                let step = if self.kernel.space.mode == Mode::Columns { lanes } else { 1 };
                self.leaves(sweep, unit * step..(unit + 1) * step);
            }
            for &(r, ..) in &self.kernel.sweeps[sweep].feeds {
                let words = self.acc_words(r);
                std::ptr::copy_nonoverlapping(self.value(r, level).data, out, words);
                out = out.add(words);
            }
        }
    }

    /// Words that [`Task::unit`] writes.
    pub(super) fn unit_words(kernel: &Kernel, sweep: usize) -> usize {
        let parts = kernel.sweeps[sweep].feeds.iter().map(|f| kernel.reductions[f.0].leaf.parts().len());
        parts.sum::<usize>() * kernel.kept_capacity()
    }

    /// Puts the values of all units of a sweep together.
    pub(super) unsafe fn fold(&mut self, sweep: usize, units: usize, lanes: usize, from: *mut u64) {
        let kernel = self.kernel;
        let as_blocks = kernel.space.reduced.is_empty() && kernel.space.mode == Mode::Columns;
        let (stride, n) = (Task::unit_words(kernel, sweep), self.kept.1);
        let mut offset = 0;
        // SAFETY: the caller's.
        unsafe {
            for &(r, ..) in &kernel.sweeps[sweep].feeds {
                let leaf = &*kernel.reductions[r].leaf;
                let mut tree = self.tree(r, 0);
                for unit in 0..units {
                    let acc = Acc { data: from.add(unit * stride + offset), capacity: kernel.kept_capacity() };
                    if as_blocks {
                        tree.take_block(leaf, n, acc, lanes, self.leaf_scratch());
                    } else {
                        tree.element(leaf, n, acc, self.leaf_scratch());
                    }
                }
                tree.finish(leaf, n, self.value(r, 0), self.leaf_scratch());
                offset += self.acc_words(r);
            }
        }
    }

    fn acc_words(&self, r: usize) -> usize {
        self.kernel.reductions[r].leaf.parts().len() * self.kernel.kept_capacity()
    }

    fn at(&self, words: usize) -> *mut u64 {
        // SAFETY: offsets come from the layout of this room.
        unsafe { self.room.add(words) }
    }

    fn leaf_scratch(&self) -> *mut u64 {
        self.at(self.layout.leaf)
    }

    fn value(&self, r: usize, level: usize) -> Acc {
        Acc { data: self.at(self.layout.levels[r][level].1), capacity: self.kernel.kept_capacity() }
    }

    /// An empty tree for reduction r at a level.
    unsafe fn tree(&self, r: usize, level: usize) -> Blocked {
        let parts = self.kernel.reductions[r].leaf.parts().len();
        // SAFETY: the layout has its words.
        unsafe { Blocked::new(self.at(self.layout.levels[r][level].0), parts, self.kernel.kept_capacity()) }
    }

    /// The tree that [`Task::tree`] made.
    fn standing(&self, r: usize, level: usize) -> Blocked {
        let parts = self.kernel.reductions[r].leaf.parts().len();
        Blocked::standing(self.at(self.layout.levels[r][level].0), parts, self.kernel.kept_capacity())
    }

    /// The sweep over the reduced runs from `level` on; the values are then at that level.
    unsafe fn walk(&mut self, sweep: usize, level: usize) {
        let kernel = self.kernel;
        // SAFETY: the caller's.
        unsafe {
            let Some(run) = kernel.space.reduced.get(level) else { return self.leaves(sweep, 0..usize::MAX) };
            let feeds = &kernel.sweeps[sweep].feeds;
            feeds.iter().for_each(|f| {
                self.tree(f.0, level);
            });
            for i in 0..run.extent {
                self.reduced[level] = i;
                self.walk(sweep, level + 1);
                for &(r, ..) in feeds {
                    let (leaf, from) = (&*kernel.reductions[r].leaf, self.value(r, level + 1));
                    self.standing(r, level).element(leaf, self.kept.1, from, self.leaf_scratch());
                }
            }
            self.finish(sweep, level);
        }
    }

    unsafe fn finish(&mut self, sweep: usize, level: usize) {
        // SAFETY: the caller's.
        unsafe {
            for &(r, ..) in &self.kernel.sweeps[sweep].feeds {
                let (leaf, out) = (&*self.kernel.reductions[r].leaf, self.value(r, level));
                self.standing(r, level).finish(leaf, self.kept.1, out, self.leaf_scratch());
            }
        }
    }

    /// Some chunks (rows) or lanes (columns) of the innermost reduced run.
    unsafe fn leaves(&mut self, sweep: usize, range: std::ops::Range<usize>) {
        let kernel = self.kernel;
        let level = kernel.space.reduced.len();
        let by_columns = kernel.space.mode == Mode::Columns;
        let (extent, step) =
            if by_columns { (kernel.space.rows.extent, RUN) } else { (kernel.space.cols.extent, CHUNK) };
        let range = range.start..range.end.min(extent.div_ceil(step));
        let single = range.len() == 1;
        // SAFETY: the caller's.
        unsafe {
            if !single {
                kernel.sweeps[sweep].feeds.iter().for_each(|f| {
                    self.tree(f.0, level);
                });
            }
            for piece in range {
                let from = piece * step;
                let len = step.min(extent - from);
                if by_columns {
                    self.lane(sweep, from, len, single);
                } else {
                    let rect = Rect { row: self.kept.0, rows: self.kept.1, col: from, cols: len };
                    self.tile(sweep, &rect, true, single);
                }
                for &(r, ..) in kernel.sweeps[sweep].feeds.iter().filter(|_| !single) {
                    let (leaf, mut tree) = (&*kernel.reductions[r].leaf, self.standing(r, level));
                    if by_columns {
                        tree.lane(leaf, self.kept.1, self.leaf_scratch());
                    } else {
                        tree.element(leaf, self.kept.1, tree.next_lane(), self.leaf_scratch());
                    }
                }
            }
            if !single {
                self.finish(sweep, level);
            }
        }
    }

    /// The rows of one lane, in tiles.
    unsafe fn lane(&mut self, sweep: usize, from: usize, len: usize, single: bool) {
        let most = self.kernel.tile.0;
        let mut done = 0;
        while done < len {
            let rows = most.min(len - done);
            let rect = Rect { row: from + done, rows, col: self.kept.0, cols: self.kept.1 };
            // SAFETY: the caller's.
            unsafe { self.tile(sweep, &rect, done == 0, single) };
            done += rows;
        }
    }

    /// Place that the loops outside the tile lead to.
    fn base(&self, reach: &Reach) -> usize {
        let space = &self.kernel.space;
        let inner = space.reduced.iter().zip(&self.reduced).map(|(run, &i)| reach.at(space, run, i));
        reach.offset + reach.at(space, &space.outer, self.outer) + inner.sum::<usize>()
    }

    fn in_tile(&self, reach: &Reach, rect: &Rect) -> usize {
        let space = &self.kernel.space;
        self.base(reach) + reach.at(space, &space.rows, rect.row) + reach.at(space, &space.cols, rect.col)
    }

    /// One tile of a sweep: the code, the leaves, the stores.
    unsafe fn tile(&mut self, number: usize, rect: &Rect, fresh: bool, single: bool) {
        let sweep = &self.kernel.sweeps[number];
        let n = rect.rows * rect.cols;
        let mut places = [std::ptr::null_mut::<u8>(); MANY];
        let mut more = Vec::new();
        let results = sweep.full.results.len();
        let places: &mut [*mut u8] = if results <= MANY {
            &mut places[..results]
        } else {
            more.resize(results, std::ptr::null_mut());
            &mut more
        };
        // SAFETY: the caller's.
        unsafe {
            let mut direct = [false; MANY];
            for (i, place) in places.iter_mut().enumerate() {
                *place = self.at(self.layout.results + i * self.layout.tile).cast();
            }
            for (s, &(i, store)) in sweep.stores.iter().enumerate().take(MANY) {
                let memory = &self.kernel.stores[store];
                if !memory.dtype.is_narrow() && moves::is_flat(&self.kernel.space, &memory.reach, rect) {
                    let at = self.in_tile(&memory.reach, rect) * memory.dtype.bytes();
                    (places[i], direct[s]) = (self.bound.stores[store].add(at), true);
                }
            }
            for &(i, slot) in &sweep.saves {
                let size = sweep.full.results[i].dtype().bytes();
                let saved = self.at(self.layout.saved + slot * self.layout.saved_len);
                places[i] = saved.cast::<u8>().add(self.seen * size);
            }
            if !places.is_empty() {
                self.run(&sweep.full, rect, true, 0, places);
            }
            for (s, &(i, store)) in sweep.stores.iter().enumerate() {
                let saved = sweep.saves.iter().any(|x| x.0 == i);
                let last = sweep.stores.iter().rposition(|x| x.0 == i) == Some(s);
                if !(s < MANY && direct[s] && last && !saved) {
                    self.store(store, rect, places[i]);
                }
            }
            for &(r, feed, index) in &sweep.feeds {
                let index = index.map_or(std::ptr::null(), |i| places[i].cast_const().cast());
                self.feed(r, feed, rect, (places, index), (fresh, single));
            }
        }
        self.seen += n;
    }

    unsafe fn store(&self, store: usize, rect: &Rect, from: *const u8) {
        let memory = &self.kernel.stores[store];
        // SAFETY: the caller's.
        unsafe {
            moves::write(&self.kernel.space, memory, self.bound.stores[store], self.base(&memory.reach), rect, from)
        }
    }

    /// Gives a tile to the leaf of reduction r.
    unsafe fn feed(
        &self,
        r: usize,
        feed: Feed,
        rect: &Rect,
        (places, index): (&[*mut u8], *const i64),
        (fresh, single): (bool, bool),
    ) {
        let kernel = self.kernel;
        let level = kernel.space.reduced.len();
        // SAFETY: the caller's.
        unsafe {
            let (data, stride) = match feed {
                Feed::Result(i) => (places[i].cast_const(), rect.cols),
                Feed::Memory(l) => {
                    let memory = &kernel.loads[l];
                    let at = self.in_tile(&memory.reach, rect) * memory.dtype.bytes();
                    (self.bound.loads[l].add(at), memory.reach.inner_stride(&kernel.space.rows))
                }
            };
            let tile = Tile { data, index, stride, rows: rect.rows, cols: rect.cols };
            let leaf = &*kernel.reductions[r].leaf;
            let acc = if single { self.value(r, level) } else { self.standing(r, level).next_lane() };
            if kernel.space.mode == Mode::Columns {
                leaf.columns(&tile, acc, fresh, self.leaf_scratch());
            } else {
                leaf.rows(&tile, acc, self.leaf_scratch());
            }
        }
    }

    /// Runs kept code: results go to kept vectors, the rest to memory.
    unsafe fn kept_code(&mut self, code: &Code, slots: &[usize], stores: &[(usize, usize)]) {
        if code.results.is_empty() {
            return;
        }
        let (from, n) = self.kept;
        let rect = match self.kernel.space.mode {
            Mode::Columns => Rect { row: 0, rows: 1, col: from, cols: n },
            _ => Rect { row: from, rows: n, col: 0, cols: 1 },
        };
        let place = |i: usize| match slots.get(i) {
            Some(slot) => self.at(self.layout.kept + slot * self.layout.kept_len).cast::<u8>(),
            None => self.at(self.layout.results + i * self.layout.tile).cast(),
        };
        let mut array = [std::ptr::null_mut::<u8>(); MANY];
        let mut more = Vec::new();
        let places: &[*mut u8] = if code.results.len() <= MANY {
            array.iter_mut().enumerate().take(code.results.len()).for_each(|(i, p)| *p = place(i));
            &array[..code.results.len()]
        } else {
            more.extend((0..code.results.len()).map(place));
            &more
        };
        self.reduced = [0; DEEPEST];
        // SAFETY: the caller's.
        unsafe {
            self.run(code, &rect, false, 0, places);
            for &(i, store) in stores {
                self.store(store, &rect, places[i]);
            }
        }
    }

    /// Runs code over a rectangle.
    unsafe fn run(&mut self, code: &Code, rect: &Rect, full: bool, depth: usize, outs: &[*mut u8]) {
        let mut array = [Arg { data: std::ptr::null(), splat: true, step: 0 }; MANY];
        let mut more = Vec::new();
        let args: &mut [Arg] = if code.operands.len() <= MANY {
            &mut array[..code.operands.len()]
        } else {
            more.resize(code.operands.len(), array[0]);
            &mut more
        };
        let by_row = full && rect.rows > 1 && rect.cols >= LONG;
        // SAFETY: the caller's.
        unsafe {
            let label = |i: usize| {
                self.at(self.layout.results + (depth + 1) * self.layout.depth.1 + i * self.layout.tile).cast::<u8>()
            };
            if let Some(labels) = &code.labels {
                let places: Vec<*mut u8> = (0..labels.results.len()).map(label).collect();
                self.run(labels, rect, full, depth + 1, &places);
            }
            let mut gathers = 0;
            for (i, &(operand, kind)) in code.operands.iter().enumerate() {
                let slot = self.at(self.layout.operands + depth * self.layout.depth.0 + i * self.layout.tile).cast();
                args[i] = match operand {
                    Operand::Gather(g) => {
                        gathers += 1;
                        let at =
                            self.layout.results + (depth + 1) * self.layout.depth.1 + (gathers - 1) * self.layout.tile;
                        self.gather(g, rect, self.at(at).cast(), slot)
                    }
                    _ => self.operand(operand, kind, rect, (full, by_row), slot),
                };
            }
            self.vectors(code, rect, args, outs, by_row);
        }
    }

    /// Runs code over a rectangle at once, or row by row.
    unsafe fn vectors(&self, code: &Code, rect: &Rect, args: &mut [Arg], outs: &[*mut u8], by_row: bool) {
        let temporaries = self.at(self.layout.temporaries);
        // SAFETY: the caller's.
        unsafe {
            if !by_row {
                return code.vector.run(rect.rows * rect.cols, args, outs, temporaries);
            }
            let mut array = [std::ptr::null_mut::<u8>(); MANY];
            let mut more = Vec::new();
            let places: &mut [*mut u8] = if outs.len() <= MANY {
                array[..outs.len()].copy_from_slice(outs);
                &mut array[..outs.len()]
            } else {
                more.extend(outs);
                &mut more
            };
            for _ in 0..rect.rows {
                code.vector.run(rect.cols, args, places, temporaries);
                args.iter_mut().for_each(|a| a.data = a.data.add(a.step));
                for (place, kind) in places.iter_mut().zip(&code.results) {
                    *place = place.add(rect.cols * kind.dtype().bytes());
                }
            }
        }
    }

    unsafe fn gather(&mut self, g: usize, rect: &Rect, labels: *const i64, slot: *mut u8) -> Arg {
        let gather = &self.kernel.gathers[g];
        let base = self.base(&gather.0.reach);
        // SAFETY: the caller's.
        let wrong = unsafe { moves::pick(&self.kernel.space, gather, self.bound.gathers[g], base, rect, labels, slot) };
        self.wrong = self.wrong.or(wrong.map(|label| (label, gather.2)));
        let step = rect.cols * gather.0.dtype.scalar().dtype().bytes();
        Arg { data: slot, splat: false, step }
    }

    /// Where an operand of code over a rectangle lies; what is not as the code wants it is put into `slot`.
    unsafe fn operand(
        &self,
        operand: Operand,
        kind: Scalar,
        rect: &Rect,
        (full, by_row): (bool, bool),
        slot: *mut u8,
    ) -> Arg {
        let (space, size) = (&self.kernel.space, kind.dtype().bytes());
        let tile = Arg { data: slot, splat: false, step: rect.cols * size };
        // SAFETY: the caller's.
        unsafe {
            match operand {
                Operand::Load(l) => self.load(l, rect, by_row, tile),
                Operand::Index(i) => {
                    let reach = &self.kernel.indices[i];
                    let (splat, rect) = self.corner(reach, rect);
                    moves::places(space, reach, self.base(reach), &rect, slot.cast());
                    Arg { splat, step: if splat { 0 } else { tile.step }, ..tile }
                }
                Operand::Saved(s) => {
                    let saved = self.at(self.layout.saved + s * self.layout.saved_len).cast::<u8>();
                    Arg { data: saved.add(self.seen * size), ..tile }
                }
                Operand::Part(r, part) => self.vector(self.value(r, 0).part(part), kind, rect, (full, by_row), tile),
                Operand::Kept(k) => {
                    let vector = self.at(self.layout.kept + k * self.layout.kept_len).cast();
                    self.vector(vector, kind, rect, (full, by_row), tile)
                }
                Operand::Gather(_) => tile,
            }
        }
    }

    /// Whether an access is one element for a whole rectangle, and the part of the rectangle to read.
    fn corner(&self, reach: &Reach, rect: &Rect) -> (bool, Rect) {
        let space = &self.kernel.space;
        let splat = !(rect.rows > 1 && reach.varies(&space.rows) || rect.cols > 1 && reach.varies(&space.cols));
        (splat, if splat { Rect { rows: 1, cols: 1, ..*rect } } else { *rect })
    }

    /// Memory as an operand: in place where it can be, else copied to the tile.
    unsafe fn load(&self, l: usize, rect: &Rect, by_row: bool, tile: Arg) -> Arg {
        let (memory, data) = (&self.kernel.loads[l], self.bound.loads[l]);
        let (space, reach) = (&self.kernel.space, &memory.reach);
        let (splat, corner) = self.corner(reach, rect);
        // SAFETY: the caller's.
        unsafe {
            let size = memory.dtype.bytes();
            let at = data.add(self.in_tile(reach, rect) * size);
            if !memory.dtype.is_narrow() {
                if splat || moves::is_flat(space, reach, rect) {
                    return Arg { data: at, splat, step: if splat { 0 } else { tile.step } };
                }
                let one = Rect { rows: 1, ..*rect };
                let step = reach.inner_stride(&space.rows) * size;
                let same = !reach.varies(&space.cols);
                if by_row && reach.is_even(space, &space.rows) && (same || moves::is_flat(space, reach, &one)) {
                    return Arg { data: at, splat: same, step };
                }
            }
            moves::read(space, memory, data, self.base(reach), &corner, tile.data.cast_mut());
            Arg { splat, step: if splat { 0 } else { tile.step }, ..tile }
        }
    }

    /// A vector of kept values as an operand.
    unsafe fn vector(
        &self,
        from: *const u8,
        kind: Scalar,
        rect: &Rect,
        (full, by_row): (bool, bool),
        tile: Arg,
    ) -> Arg {
        let rows_kept = self.kernel.space.mode != Mode::Columns;
        if !full || !rows_kept && (by_row || rect.rows == 1) {
            return Arg { data: from, splat: false, step: 0 };
        }
        if rows_kept && (by_row || rect.rows == 1) {
            return Arg { data: from, splat: true, step: kind.dtype().bytes() };
        }
        // SAFETY: the caller's.
        unsafe { moves::expand(kind, rows_kept, rect, from, tile.data.cast_mut()) };
        tile
    }
}
