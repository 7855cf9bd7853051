//! The learning rate rises in equal steps: min(1, e/EPOCHS) in epoch e, the whole rate from epoch EPOCHS on (Goyal et
//! al., *Accurate, Large Minibatch SGD*, 2017).

use super::{Entry, is_count};

pub(super) const ENTRY: Entry = Entry {
    name: "warmup",
    form: "warmup:EPOCHS",
    summary: "rises in equal steps to the whole rate in epoch EPOCHS (1 or more)",
    open_ended: true,
    accepts: |arguments| matches!(arguments, [epochs] if is_count(*epochs)),
    factor: |arguments, epoch, _| arguments.first().map_or(1.0, |&epochs| (f64::from(epoch) / epochs).min(1.0)),
};
