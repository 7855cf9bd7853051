//! Running a program: its kernels in order, their tasks on the workers.

use super::kernel::{self, Kernel};
use super::task::{Bound, Layout, Task};
use super::topk;
use crate::canon::Classes;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::fuse::{Access, Region, Regions};
use crate::monoids::Params;
use crate::plan::ReducePlan;
use crate::program::{NodeId, Op, Program, ValueId};
use crate::tensor::{Tensor, TensorView, c_strides};
use sapwood_skeleton::{ChunkPlan, Exec, Work};

/// Elements below which a task is not worth a worker's turn.
const GRAIN: usize = 1 << 15;
/// Deepest nest that a task can walk.
const MOST_RUNS: usize = 32;

/// A program ready to run: plans and buffers.
#[derive(Debug)]
pub struct Executable {
    program: Program,
    steps: Vec<Step>,
    /// Values that pass between kernels, by value.
    buffers: Vec<Option<Tensor>>,
    /// Inputs that did not lie as their type wants, by value.
    aligned: Vec<Option<Tensor>>,
    addresses: Addresses,
    /// Partial results, and what outlives a sweep, where sweeps are shared out.
    partials: Vec<u64>,
    persistent: Vec<u64>,
}

#[derive(Debug)]
enum Step {
    Fused { kernel: Box<Kernel>, layout: Layout },
    TopK { x: ValueId, from: Access, outputs: [ValueId; 2], params: Params, axis: usize },
}

/// Where each value lies during a run; null for those that have no memory.
#[derive(Debug, Default)]
struct Addresses(Vec<*mut u8>);

#[expect(unsafe_code, reason = "addresses are only used inside a run, which borrows everything behind them")]
// SAFETY: between runs the addresses are not followed; inside a run tasks write disjoint places (see `Executable::run_into`).
unsafe impl Send for Addresses {}
#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Sync for Addresses {}

/// A pointer that workers share.
#[derive(Clone, Copy)]
struct Shared(*mut u64);

#[expect(unsafe_code, reason = "workers write disjoint parts")]
// SAFETY: every task writes its own part only.
unsafe impl Send for Shared {}
#[expect(unsafe_code, reason = "workers write disjoint parts")]
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// The memory of a kernel, for the workers.
struct Tables {
    loads: Vec<*const u8>,
    gathers: Vec<*const u8>,
    stores: Vec<*mut u8>,
}

#[expect(unsafe_code, reason = "workers read, and write disjoint parts")]
// SAFETY: tasks read what no task of the kernel writes, and write disjoint places.
unsafe impl Sync for Tables {}

impl Tables {
    fn bound(&self) -> Bound<'_> {
        Bound { loads: &self.loads, gathers: &self.gathers, stores: &self.stores }
    }
}

impl Executable {
    /// Makes a plan ready to run.
    ///
    /// # Errors
    /// [`Error::Value`] for a nest that is too deep, [`Error::Run`] if there is no memory for what passes between kernels.
    pub fn new(plan: &ReducePlan) -> Result<Executable> {
        let ReducePlan { program, classes, regions, .. } = plan;
        let program = program.clone();
        let steps = (0..regions.list.len()).map(|k| step(&program, classes, regions, k)).collect::<Result<Vec<_>>>()?;
        let mut buffers: Vec<Option<Tensor>> = (0..program.values()).map(|_| None).collect();
        for region in &regions.list {
            for v in written(&program, region) {
                if !program.outputs().iter().any(|(_, o)| *o == v) {
                    buffers[v.0 as usize] = Some(Tensor::zeros(program.dtype(v), program.shape(v))?);
                }
            }
        }
        let aligned = (0..program.values()).map(|_| None).collect();
        let addresses = Addresses(vec![std::ptr::null_mut(); program.values()]);
        Ok(Executable { program, steps, buffers, aligned, addresses, partials: vec![], persistent: vec![] })
    }

    /// The program as it is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Number of passes.
    pub fn kernels(&self) -> usize {
        self.steps.len()
    }

    /// Runs the program.
    ///
    /// # Errors
    /// As [`Executable::run_into`].
    pub fn run(&mut self, exec: Exec<'_>, inputs: &[TensorView<'_>]) -> Result<Vec<Tensor>> {
        let types: Vec<(Dtype, Vec<usize>)> = self
            .program
            .outputs()
            .iter()
            .map(|(_, v)| (self.program.dtype(*v), self.program.shape(*v).to_vec()))
            .collect();
        let mut outputs = types.iter().map(|(d, s)| Tensor::zeros(*d, s)).collect::<Result<Vec<_>>>()?;
        self.run_into(exec, inputs, &mut outputs)?;
        Ok(outputs)
    }

    /// Runs the program into tensors that exist.
    ///
    /// # Errors
    /// [`Error::Input`] if an input or an output differs from what the program declares, [`Error::Value`] for a label outside
    /// its axis, [`Error::Run`] if a worker failed.
    pub fn run_into(&mut self, exec: Exec<'_>, inputs: &[TensorView<'_>], outputs: &mut [Tensor]) -> Result<()> {
        self.bind(inputs, outputs)?;
        for step in 0..self.steps.len() {
            match &self.steps[step] {
                Step::TopK { x, from, outputs, params, axis } => {
                    self.top_k(exec, (*x, from), *outputs, params, *axis)?
                }
                Step::Fused { .. } => self.fused(exec, step)?,
            }
        }
        Ok(())
    }

    /// Checks inputs and outputs and notes where everything lies.
    fn bind(&mut self, inputs: &[TensorView<'_>], outputs: &mut [Tensor]) -> Result<()> {
        let p = &self.program;
        if inputs.len() != p.inputs().len() {
            let message = format!("{} inputs are needed, {} are given", p.inputs().len(), inputs.len());
            return Err(Error::value(&p.name, message));
        }
        if outputs.len() != p.outputs().len() {
            let message = format!("{} outputs are needed, {} are given", p.outputs().len(), outputs.len());
            return Err(Error::value(&p.name, message));
        }
        for (&v, view) in p.inputs().iter().zip(inputs) {
            check_input(p, v, view)?;
            let slot = &mut self.aligned[v.0 as usize];
            let is_aligned = view.bytes().as_ptr().align_offset(view.dtype().bytes()) == 0;
            self.addresses.0[v.0 as usize] = if is_aligned {
                view.bytes().as_ptr().cast_mut()
            } else {
                let n = view.bytes().len() / view.dtype().bytes();
                let copy = slot.insert(Tensor::zeros(view.dtype(), &[n])?);
                copy.bytes_mut().copy_from_slice(&view.bytes()[..n * view.dtype().bytes()]);
                copy.bytes_mut().as_mut_ptr()
            };
        }
        for ((name, v), tensor) in p.outputs().iter().zip(outputs) {
            if tensor.dtype() != p.dtype(*v) || tensor.shape() != p.shape(*v) {
                let message = format!("is {}{:?}, the tensor given is {tensor:?}", p.dtype(*v), p.shape(*v));
                return Err(Error::value(format!("output {name}"), message));
            }
            self.addresses.0[v.0 as usize] = tensor.bytes_mut().as_mut_ptr();
        }
        for (v, buffer) in self.buffers.iter_mut().enumerate() {
            if let Some(tensor) = buffer {
                self.addresses.0[v] = tensor.bytes_mut().as_mut_ptr();
            }
        }
        for v in 0..p.values() {
            if let Some(tensor) = p.constant_of(ValueId(v as u32)) {
                self.addresses.0[v] = tensor.bytes().as_ptr().cast_mut();
            }
        }
        Ok(())
    }

    fn fused(&mut self, exec: Exec<'_>, step: usize) -> Result<()> {
        let Step::Fused { kernel, layout } = &self.steps[step] else { return Ok(()) };
        let address = |v: ValueId| self.addresses.0[v.0 as usize];
        let tables = Tables {
            loads: kernel.loads.iter().map(|m| address(m.value).cast_const()).collect(),
            gathers: kernel.gathers.iter().map(|g| address(g.0.value).cast_const()).collect(),
            stores: kernel.stores.iter().map(|m| address(m.value)).collect(),
        };
        let tasks = kernel.tasks();
        let elements: usize = kernel.space.extents.iter().product();
        let few = tasks < 4 * exec.threads() && exec.threads() > 1;
        let shared_out = few && kernel.saved == 0 && elements >= 4 * GRAIN && Task::units(kernel, 1) > 1;
        let run = if shared_out {
            let room = (&mut self.partials, &mut self.persistent);
            in_pieces(exec, kernel, layout, &tables, room)
        } else {
            whole(exec, kernel, layout, &tables, elements)
        };
        run.map_err(|source| unwrap(&self.program.name, source))
    }

    #[expect(unsafe_code, reason = "reads a value in memory and writes disjoint lines")]
    fn top_k(
        &self,
        exec: Exec<'_>,
        (x, from): (ValueId, &Access),
        outputs: [ValueId; 2],
        params: &Params,
        axis: usize,
    ) -> Result<()> {
        let p = &self.program;
        let shape = p.shape(x).to_vec();
        let strides = &from.strides;
        let (dtype, n) = (p.dtype(x), shape[axis]);
        let out_shape = p.shape(outputs[0]).to_vec();
        let out_strides = c_strides(&out_shape);
        let kept: Vec<usize> = (0..shape.len()).filter(|&a| a != axis).collect();
        let lines: usize = kept.iter().map(|&a| shape[a]).product();
        let reach = from.offset + crate::tensor::extent(&shape, strides).unwrap_or(0);
        let at = [from.base, outputs[0], outputs[1]].map(|v| Shared(self.addresses.0[v.0 as usize].cast()));
        let plan = ChunkPlan::of(lines, (GRAIN / n.max(1)).max(1));
        let run = exec.for_chunks(&plan, |_, _, range| {
            let [base, values, indices] = at;
            // SAFETY: the input has `reach` elements; every line of the outputs is written by one chunk.
            let bytes = unsafe { std::slice::from_raw_parts(base.0.cast::<u8>().cast_const(), reach * dtype.bytes()) };
            for line in range {
                let (mut rest, mut first, mut out) = (line, from.offset, 0);
                for &a in kept.iter().rev() {
                    let i = rest % shape[a];
                    rest /= shape[a];
                    first += i * strides[a];
                    out += i * out_strides[a];
                }
                topk::line((dtype, bytes), params, (n, strides[axis]), first, |i, value, index| {
                    let place = out + i * out_strides[axis];
                    // SAFETY: the place lies inside the output and belongs to this line.
                    let [v, j] = unsafe {
                        let v = values.0.cast::<u8>().add(place * dtype.bytes());
                        let j = indices.0.cast::<u8>().add(place * 8);
                        [std::slice::from_raw_parts_mut(v, dtype.bytes()), std::slice::from_raw_parts_mut(j, 8)]
                    };
                    crate::tensor::set_element(dtype, v, 0, value.0, value.1);
                    crate::tensor::set_element(Dtype::I64, j, 0, 0.0, index.into());
                });
            }
            Ok(())
        });
        run.map_err(|source| unwrap(&p.name, source))
    }
}

/// Values that a region leaves in memory.
fn written(p: &Program, region: &Region) -> Vec<ValueId> {
    match region.alone {
        Some(node) => p.node(node).outputs.clone(),
        None => region.stores.iter().map(|s| s.value).collect(),
    }
}

fn step(p: &Program, classes: &Classes, regions: &Regions, k: usize) -> Result<Step> {
    if let Some(id) = regions.list[k].alone {
        return top_k_step(p, regions, id);
    }
    let kernel = Box::new(kernel::compile(p, classes, regions, k));
    if kernel.space.reduced.len() > MOST_RUNS {
        return Err(Error::value(&p.name, "a reduction alternates between kept and reduced axes more than 32 times"));
    }
    let layout = Layout::of(&kernel);
    Ok(Step::Fused { kernel, layout })
}

fn top_k_step(p: &Program, regions: &Regions, id: NodeId) -> Result<Step> {
    let node = p.node(id);
    let x = node.inputs[0];
    let from = Access::of(p, x, &|v| regions.in_memory(p, v));
    match (&node.op, &node.outputs[..], from) {
        (Op::Reduce { params, axes, .. }, &[values, indices], Some(from)) => {
            Ok(Step::TopK { x, from, outputs: [values, indices], params: *params, axis: axes[0] })
        }
        (op, ..) => Err(Error::value(op.name(), "cannot stand alone")),
    }
}

fn check_input(p: &Program, v: ValueId, view: &TensorView<'_>) -> Result<()> {
    let wrong = |message: String| Err(Error::Input { name: p.input_name(v).into(), message });
    if view.dtype() != p.dtype(v) || view.shape() != p.shape(v) {
        return wrong(format!("is declared as {}{:?}, {view:?} is given", p.dtype(v), p.shape(v)));
    }
    let Op::Input { strides, .. } = &p.maker(v).op else { return Ok(()) };
    let differ = (0..strides.len()).any(|a| view.shape()[a] > 1 && strides[a] != view.strides()[a]);
    if differ && !view.is_empty() {
        return wrong(format!("is declared with strides {strides:?}, {:?} are given", view.strides()));
    }
    Ok(())
}

/// What a worker reported: our own error comes back as it was.
fn unwrap(name: &str, source: sapwood_skeleton::Error) -> Error {
    Error::Run { what: format!("running {name}"), source }
}

fn check_labels(task: &Task<'_>) -> sapwood_skeleton::Result<()> {
    match task.wrong {
        None => Ok(()),
        Some((label, extent)) => {
            let error = Error::value("gather_label", format!("label {label} is outside 0..{extent}"));
            Err(sapwood_skeleton::Error::other(error))
        }
    }
}

/// Every task through all its sweeps.
#[expect(unsafe_code, reason = "tasks write disjoint places of the outputs")]
fn whole(
    exec: Exec<'_>,
    kernel: &Kernel,
    layout: &Layout,
    tables: &Tables,
    elements: usize,
) -> sapwood_skeleton::Result<()> {
    let tasks = kernel.tasks();
    if tasks == 0 {
        return Ok(());
    }
    let each = (elements / tasks).max(1);
    let work = Work { flops: 8.0 * each as f64, bytes: 4.0 * each as f64 };
    let turns = 16 * exec.threads();
    let plan = ChunkPlan::of(tasks, (GRAIN / each).max(tasks.div_ceil(turns)).max(1)).work(work);
    exec.for_chunks(&plan, |worker, _, range| {
        let room = worker.arena().take::<u64>(layout.words)?;
        let mut task = Task::new(kernel, layout, tables.bound(), room.as_mut_ptr());
        for number in range {
            task.go_to(number);
            // SAFETY: the tables are those of the kernel; tasks have kept elements of their own, and write only those.
            unsafe { task.all() };
            check_labels(&task)?;
        }
        Ok(())
    })
}

/// Each sweep in pieces that the workers share, put together in order.
#[expect(unsafe_code, reason = "pieces write disjoint places of the outputs and of the partial results")]
fn in_pieces(
    exec: Exec<'_>,
    kernel: &Kernel,
    layout: &Layout,
    tables: &Tables,
    (partials, persistent): (&mut Vec<u64>, &mut Vec<u64>),
) -> sapwood_skeleton::Result<()> {
    let tasks = kernel.tasks();
    let lanes = lanes_of_a_unit(kernel, exec.threads());
    let units = Task::units(kernel, lanes);
    persistent.resize((layout.persistent * tasks).max(1), 0);
    let kept = Shared(persistent.as_mut_ptr());
    let one = ChunkPlan::of(tasks, 1);
    // Before and after the pieces of a sweep each task works with what outlives them.
    let each = |f: &(dyn Fn(&mut Task<'_>, usize) + Sync)| {
        exec.for_chunks(&one, |worker, _, range| {
            let room = worker.arena().take::<u64>(layout.words)?.as_mut_ptr();
            let mut task = Task::new(kernel, layout, tables.bound(), room);
            for number in range {
                task.go_to(number);
                let own = { kept }.0.wrapping_add(number * layout.persistent);
                // SAFETY: each task has its own part of what is kept, as long as the beginning of the room.
                unsafe {
                    std::ptr::copy_nonoverlapping(own, room, layout.persistent);
                    f(&mut task, number);
                    std::ptr::copy_nonoverlapping(room, own, layout.persistent);
                }
            }
            check_labels(&task)
        })
    };
    // SAFETY: the tables are those of the kernel.
    each(&|task, _| unsafe { task.prelude() })?;
    for sweep in 0..kernel.sweeps.len() {
        let words = Task::unit_words(kernel, sweep);
        partials.resize((tasks * units * words).max(1), 0);
        let out = Shared(partials.as_mut_ptr());
        let pieces = ChunkPlan::of(tasks * units, (units * tasks).div_ceil(16 * exec.threads()));
        exec.for_chunks(&pieces, |worker, _, range| {
            let room = worker.arena().take::<u64>(layout.words)?.as_mut_ptr();
            let mut task = Task::new(kernel, layout, tables.bound(), room);
            let mut at = usize::MAX;
            for piece in range {
                let (number, unit) = (piece / units, piece % units);
                // SAFETY: every piece has its own part of the partial results; what is kept is only read here.
                unsafe {
                    if number != at {
                        task.go_to(number);
                        let own = { kept }.0.wrapping_add(number * layout.persistent);
                        std::ptr::copy_nonoverlapping(own.cast_const(), room, layout.persistent);
                        at = number;
                    }
                    task.unit(sweep, unit, lanes, { out }.0.wrapping_add(piece * words));
                }
            }
            check_labels(&task)
        })?;
        // SAFETY: the partial results of the task's units are all there.
        each(&|task, number| unsafe {
            task.fold(sweep, units, lanes, { out }.0.wrapping_add(number * units * words));
            task.after(sweep);
        })?;
    }
    Ok(())
}

/// Lanes in a piece of a column run: whole chunks if they are many, else a smaller power of two.
fn lanes_of_a_unit(kernel: &Kernel, threads: usize) -> usize {
    let rows = kernel.space.rows.extent;
    let mut lanes = crate::tree::LANES;
    while lanes > 1 && rows.div_ceil(lanes * crate::tree::RUN) < 8 * threads {
        lanes /= 2;
    }
    lanes
}
