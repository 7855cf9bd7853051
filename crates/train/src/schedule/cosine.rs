//! Half a cosine (Loshchilov & Hutter, *SGDR*, ICLR 2017, without restarts): ½(1 + cos(π(e − 1)/E)) in epoch e of E.
//!
//! It begins at 1 and would reach 0 in epoch E + 1, as PyTorch's `CosineAnnealingLR` with `T_max` = E. So the last epoch
//! still learns a little, and an epoch whose rate is 0 is never paid for.

use super::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "cosine",
    form: "cosine",
    summary: "half a cosine from 1 in the first epoch to just above 0 in the last",
    open_ended: false,
    accepts: |arguments| arguments.is_empty(),
    factor,
};

fn factor(_arguments: &[f64], epoch: u32, epochs: u32) -> f64 {
    // ½(1 + cos πx) = sin²(½π(1 − x)), which does not cancel near 0.
    let left = f64::from(epochs - (epoch - 1)) / f64::from(epochs);
    (std::f64::consts::FRAC_PI_2 * left).sin().powi(2)
}
