//! The makespan of an order for given durations, by one sweep.
//!
//! An operation starts when its stage is free and its data have come: start = max(end of the one before on the stage, end of
//! the awaited one + link). Sums of u64 are exact; with f64 the same sweep serves linear relaxations.

use super::Order;
use crate::{Error, Result};
use sapwood_skeleton::isa;
use std::cell::Cell;

/// A number of ticks, or several of them side by side.
pub trait Time: Copy + Default + std::ops::Add<Output = Self> + std::fmt::Debug + Send + Sync {
    /// The later of two.
    fn later(self, other: Self) -> Self;
}

macro_rules! time {
    ($($number:ty),*) => {
        $(impl Time for $number {
            #[inline(always)]
            fn later(self, other: Self) -> Self {
                if self < other { other } else { self }
            }
        })*
    };
}
time!(u32, u64, f64);

/// How many sweeps a [`Wide`] one is.
pub const LANES: usize = 8;

/// Times of several sweeps of one order that run as one: each lane has durations of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(32))]
pub struct Wide<T>(pub [T; LANES]);

impl<T: Time> std::ops::Add for Wide<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Wide(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
    }
}

impl<T: Time> Time for Wide<T> {
    #[inline(always)]
    fn later(self, other: Self) -> Self {
        Wide(std::array::from_fn(|lane| self.0[lane].later(other.0[lane])))
    }
}

/// How long operations and transfers take.
#[derive(Debug, Clone, PartialEq)]
pub struct Durations<T> {
    /// Forwards of all virtual stages, then backwards, then gradients of weights if they are apart.
    pub operations: Vec<T>,
    /// Transfers: nothing; into virtual stage κ from the one before, for each κ; into κ from the one after, for each κ.
    pub links: Vec<T>,
    /// What a stage does at its end, such as an optimiser step.
    pub tails: Vec<T>,
}

impl<T: Time> Durations<T> {
    /// Durations without links and tails, for `stages` stages.
    pub fn new(operations: Vec<T>, virtual_stages: usize, stages: usize) -> Durations<T> {
        let links = vec![T::default(); 1 + 2 * virtual_stages];
        Durations { operations, links, tails: vec![T::default(); stages] }
    }
}

/// The storage of sweeps.
#[derive(Debug, Clone, Default)]
pub struct Sweep<T> {
    clocks: Vec<T>,
    /// End of each step, after a 0 for what waits for nothing.
    ends: Vec<T>,
    /// The link before each operation, by its place.
    links: Vec<T>,
}

impl<T: Time> Sweep<T> {
    /// Storage for any order.
    pub fn new() -> Sweep<T> {
        Sweep { clocks: Vec::new(), ends: Vec::new(), links: Vec::new() }
    }

    /// The makespan: the latest end of a stage, its tail included. The lengths of `durations` must fit `order`; see
    /// [`check`].
    pub fn run(&mut self, order: &Order, durations: &Durations<T>) -> T {
        isa::vectorized(
            #[inline(always)]
            || self.step_by_step(order, durations),
        )
    }

    #[inline(always)]
    fn step_by_step(&mut self, order: &Order, durations: &Durations<T>) -> T {
        self.clocks.clear();
        self.clocks.resize(order.dims().stages, T::default());
        self.ends.resize(order.len() + 1, T::default());
        self.ends[0] = T::default();
        self.links.clear();
        self.links.extend(order.links.iter().map(|&link| durations.links[link as usize]));
        let (clocks, ends) = (&mut self.clocks[..], Cell::from_mut(&mut self.ends[..]).as_slice_of_cells());
        let operations = &durations.operations[..self.links.len()];
        let links = &self.links[..operations.len()];
        for (step, end) in order.steps.iter().zip(&ends[1..]) {
            let (clock, place) = (&mut clocks[step.stage as usize], step.duration as usize);
            *clock = clock.later(ends[step.awaits as usize].get() + links[place]) + operations[place];
            end.set(*clock);
        }
        clocks.iter().zip(&durations.tails).fold(T::default(), |latest, (&clock, &tail)| latest.later(clock + tail))
    }

    /// After a run, the end of the operation at a position in the topological order, plus one; nothing for 0.
    pub fn end(&self, at: usize) -> T {
        self.ends[at]
    }
}

/// Refuses durations of other sizes, and such whose sum is no u64.
///
/// # Errors
/// [`Error::Order`] for lengths that do not fit, [`Error::TooLarge`] for a sum of 2⁶³ and more.
pub fn check(order: &Order, durations: &Durations<u64>) -> Result<()> {
    let (dims, kinds) = (order.dims(), if order.shape().splits_backward { 3 } else { 2 });
    let lengths = [durations.operations.len(), durations.links.len(), durations.tails.len()];
    let want = [kinds * dims.virtual_stages(), 1 + 2 * dims.virtual_stages(), dims.stages];
    if lengths != want {
        let what = format!("durations of {lengths:?} operations, links and tails, not of {want:?}");
        return Err(Error::Order { schedule: order.name().to_owned(), what });
    }
    let all = durations.operations.iter().chain(&durations.links).map(|&t| u128::from(t)).sum::<u128>();
    let all = all * dims.micro_batches as u128 + durations.tails.iter().map(|&t| u128::from(t)).sum::<u128>();
    if all >= 1 << 63 {
        let what = "the sum of all durations is 2^63 ticks or more; use a coarser unit of time".to_owned();
        return Err(Error::TooLarge { what });
    }
    Ok(())
}
