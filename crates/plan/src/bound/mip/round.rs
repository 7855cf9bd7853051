//! Plans near a mixture of patterns, and what they really take.
//!
//! The layers of the body are one sequence, and a mixture says how far it has come after each virtual stage. Rounding that
//! gives a cut in model order; each stage then takes the pattern of its layers that is cheapest under the prices at hand.

use super::master::Master;
use super::region::{self, Mixture};
use crate::problem::Problem;
use crate::simulate::{Order, Sweep, Vectors};
use crate::{Error, Result};

/// Where between two whole numbers the cuts of a mixture are rounded up.
const OFFSETS: [f64; 3] = [0.5, 0.25, 0.75];

/// Judges plans.
pub(super) struct Judge<'a> {
    problem: &'a Problem,
    order: &'a Order,
    vectors: &'a Vectors,
    sweep: Sweep<u64>,
    /// The best plan so far: its makespan in ticks, and counts by virtual stage and item.
    pub(super) best: Option<(u64, Vec<u32>)>,
}

impl<'a> Judge<'a> {
    /// No plan yet.
    pub(super) fn new(problem: &'a Problem, order: &'a Order, vectors: &'a Vectors) -> Judge<'a> {
        Judge { problem, order, vectors, sweep: Sweep::new(), best: None }
    }

    /// Keeps counts if they are the best so far.
    ///
    /// # Errors
    /// [`Error::Problem`] if they are no partition of the model or beyond a cap.
    pub(super) fn judge(&mut self, counts: Vec<u32>) -> Result<()> {
        let wrong = |what: String| Err(Error::Problem { what });
        if counts.len() != self.order.dims().virtual_stages() * self.problem.items().len() {
            return wrong(format!("{} counts of layers", counts.len()));
        }
        self.problem.check(&counts)?;
        let (durations, memory) = self.problem.costs(self.order, &counts);
        for (stage, &cap) in self.problem.caps().iter().enumerate() {
            if self.vectors.peak(self.order, stage, &memory).is_none_or(|peak| peak > cap) {
                return wrong(format!("stage {stage} is beyond its cap of memory"));
            }
        }
        let makespan = self.sweep.run(self.order, &durations);
        if self.best.as_ref().is_none_or(|(best, _)| makespan < *best) {
            self.best = Some((makespan, counts));
        }
        Ok(())
    }

    /// The plan of a pattern for each stage.
    pub(super) fn whole(&mut self, master: &Master<'_>, patterns: &[u32]) {
        let items = self.problem.items().len();
        let mut counts = vec![0; master.virtual_stages() * items];
        for (stage, &pattern) in patterns.iter().enumerate() {
            for &(chunk, item, count) in &master.patterns.stages[stage][pattern as usize].runs {
                counts[master.places[stage][chunk as usize] * items + item as usize] = count;
            }
        }
        // What is no plan, such as pinned segments that contradict the order, is not kept.
        let _ = self.judge(counts);
    }

    /// Plans near a mixture; `prices` are those of ticks, by place of the durations.
    pub(super) fn near(&mut self, master: &Master<'_>, mixture: &Mixture, prices: &[f64]) {
        let layers = region::layers(&master.patterns, &master.places, mixture);
        let mut known = Vec::new();
        for offset in OFFSETS {
            let cut = self.cut(master, &layers, offset);
            if !known.contains(&cut) {
                let chosen: Option<Vec<u32>> =
                    (0..master.places.len()).map(|stage| cheapest(master, stage, &cut, prices)).collect();
                if let Some(chosen) = chosen {
                    self.whole(master, &chosen);
                }
                known.push(cut);
            }
        }
    }

    /// Whole layers by virtual stage and segment of the body.
    fn cut(&self, master: &Master<'_>, layers: &[Vec<f64>], offset: f64) -> Vec<Vec<u64>> {
        let (k, least) = (layers.len() as u64, u64::from(self.problem.least()));
        let all: u64 = master.layers.iter().sum();
        let (mut sum, mut reached) = (0.0, 0);
        let mut segments = master.layers.iter().copied().enumerate().collect::<Vec<_>>();
        segments.reverse();
        let mut cut = Vec::new();
        for (at, row) in layers.iter().enumerate() {
            sum += row.iter().sum::<f64>();
            let behind = (k - 1 - at as u64) * least;
            let end =
                ((sum + 1.0 - offset).floor().max(0.0) as u64).max(reached + least).min(all.saturating_sub(behind));
            let mut wanted = if at as u64 + 1 == k { all } else { end }.saturating_sub(reached);
            reached += wanted;
            let mut own = vec![0; master.layers.len()];
            while let Some((segment, left)) = segments.last_mut().filter(|_| wanted > 0) {
                let taken = wanted.min(*left);
                own[*segment] += taken;
                (*left, wanted) = (*left - taken, wanted - taken);
                if *left == 0 {
                    segments.pop();
                }
            }
            cut.push(own);
        }
        cut
    }
}

/// The pattern of a cut that costs least.
fn cheapest(master: &Master<'_>, stage: usize, cut: &[Vec<u64>], prices: &[f64]) -> Option<u32> {
    let (places, k) = (&master.places[stage], master.virtual_stages());
    let layers: Vec<u64> = places.iter().flat_map(|&at| cut[at].iter().copied()).collect();
    let cost = |pattern: usize| -> f64 {
        let pattern = &master.patterns.stages[stage][pattern];
        let chunk = |(chunk, &at): (usize, &usize)| -> f64 {
            let work = master.patterns.chunk(pattern, chunk).1.iter().enumerate();
            work.map(|(kind, &ticks)| prices[kind * k + at] * ticks as f64).sum()
        };
        places.iter().enumerate().map(chunk).sum()
    };
    let best = master.patterns.of_layers(stage, &layers).min_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b)));
    best.map(|at| at as u32)
}
