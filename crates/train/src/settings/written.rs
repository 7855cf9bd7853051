//! How choices are written down: entries of registries by their names, large numbers as text.

use crate::{init, model, optimiser, select};
use sapwood_graph::Normalisation;
use serde::Serializer;

pub(super) fn model_name<S: Serializer>(entry: &model::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

pub(super) fn optimiser_name<S: Serializer>(entry: &optimiser::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

pub(super) fn init_name<S: Serializer>(entry: &init::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

pub(super) fn select_name<S: Serializer>(entry: &select::Entry, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(entry.name)
}

pub(super) fn form_name<S: Serializer>(normalisation: &Normalisation, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(normalisation.form.name)
}

pub(super) fn as_text<S: Serializer>(seed: &u64, s: S) -> Result<S::Ok, S::Error> {
    s.collect_str(seed)
}

pub(super) fn shown<S: Serializer, D: std::fmt::Display>(value: &Option<D>, s: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => s.collect_str(value),
        None => s.serialize_none(),
    }
}
