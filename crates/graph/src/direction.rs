//! Whether important units should be kept or dropped, decided by the labels of training nodes.
//!
//! Among the units between two labelled training nodes, the quarter with the highest scores and the one with the lowest
//! (mid-ranks z ≥ ½ and z ≤ −½ among these units) are compared by their share of equal labels. High scores on equal
//! labels: keep. High scores on unequal labels: drop. No clear difference, or too few units: keep.

use crate::sampler::{AutoDirection, Direction};
use crate::{Graph, Result, TrainLabels, calibrate};

/// Units that each quarter must have.
pub const LEAST: u64 = 30;

/// What high scores should mean, and why.
///
/// # Errors
/// [`crate::Error::Score`] for a score that is no finite number.
pub fn decide(graph: &Graph, scores: &[f64], train: &TrainLabels) -> Result<(Direction, Option<AutoDirection>)> {
    let ends = graph.pair_ends().zip(scores);
    let (same, among): (Vec<bool>, Vec<f64>) =
        ends.filter_map(|((u, v), &score)| Some((train.of(u)? == train.of(v)?, score))).unzip();
    let z = calibrate::mid_ranks(&among)?;
    let quarter = |high: bool| {
        let inside = z.iter().zip(&same).filter(|(z, _)| if high { **z >= 0.5 } else { **z <= -0.5 });
        inside.fold((0u64, 0u64), |(all, equal), (_, &same)| (all + 1, equal + u64::from(same)))
    };
    let (high, low) = (quarter(true), quarter(false));
    let pairs = (high.0, low.0);
    if high.0 < LEAST || low.0 < LEAST {
        let decision = "too few labelled pairs";
        return Ok((Direction::Keep, Some(AutoDirection { hi: None, lo: None, se: None, pairs, decision })));
    }
    let rate = |(all, equal): (u64, u64)| equal as f64 / all as f64;
    let (hi, lo) = (rate(high), rate(low));
    let se = (hi * (1.0 - hi) / high.0 as f64 + lo * (1.0 - lo) / low.0 as f64).sqrt();
    let (direction, decision) = if hi - lo < -2.0 * se { (Direction::Drop, "drop") } else { (Direction::Keep, "keep") };
    Ok((direction, Some(AutoDirection { hi: Some(hi), lo: Some(lo), se: Some(se), pairs, decision })))
}
