//! Every so many epochs the learning rate is multiplied by a number: FACTOR^⌊(e − 1)/EVERY⌋ in epoch e.

use super::{Entry, is_count};

pub(super) const ENTRY: Entry = Entry {
    name: "step",
    form: "step:EVERY:FACTOR",
    summary: "times FACTOR (above 0, at most 1) after every EVERY epochs (1 or more)",
    open_ended: true,
    accepts: |arguments| match arguments {
        [every, factor] => is_count(*every) && *factor > 0.0 && *factor <= 1.0,
        _ => false,
    },
    factor,
};

fn factor(arguments: &[f64], epoch: u32, _epochs: u32) -> f64 {
    let &[every, factor] = arguments else { return 1.0 };
    // Beyond 2^31 steps the power is 0 or 1 in any case.
    let times = (f64::from(epoch - 1) / every) as i32;
    factor.powi(times)
}
