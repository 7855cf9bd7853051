//! Whether important units should be kept or dropped, decided by the labels of training nodes.
