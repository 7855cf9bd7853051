//! Layer descriptions of SAPP's pipeline balancing (MindFormers `toolkit/pipeline_balance`): JSON with one entry per kind of
//! layer, times without a unit, memory in MB of 10⁶ bytes.
//!
//! A kind of recomputation exists for a layer if its memory key is there and above 0. A backward without its own key takes
//! 2·time·(1 + coefficient), with coefficients 0, 0.04, 0.125, 0.165 and 0.5 for the kinds.

use super::{Entry, Options};
use crate::model::{KindCost, MemoryUnit, Model, Role, Segment};
use crate::recompute::BUILT_IN;
use serde::Deserialize;
use std::collections::BTreeMap;

pub(super) const ENTRY: Entry = Entry {
    name: "sapp",
    summary: "layers of SAPP's pipeline balancing (JSON): times, memory by kind of recomputation",
    recognises: |text| text.trim_start().starts_with('{') && text.contains("\"layers_description\""),
    read,
};

/// Keys of a kind: memory, absolute backward time, coefficient.
struct Keys {
    memory: &'static str,
    time: &'static str,
    coefficient: (&'static str, f64),
}

/// The kinds, in the order of [`BUILT_IN`].
const KINDS: [Keys; 5] = [
    Keys { memory: "memory_activation", time: "backward_time", coefficient: ("backward_coef", 0.0) },
    Keys { memory: "memory_select_rec", time: "select_rec_time", coefficient: ("select_rec_coef", 0.04) },
    Keys { memory: "memory_select_comm", time: "select_comm_time", coefficient: ("select_comm_coef", 0.125) },
    Keys {
        memory: "memory_both_comm_select",
        time: "both_comm_select_time",
        coefficient: ("both_comm_select_coef", 0.165),
    },
    Keys { memory: "memory_recompute", time: "recompute_time", coefficient: ("recompute_coef", 0.5) },
];

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    stage_const_mem: Option<f64>,
    layers_description: Vec<Layer>,
    #[serde(flatten)]
    other: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
struct Layer {
    name: String,
    #[serde(rename = "type")]
    role: String,
    nb_layer: u32,
    #[serde(default)]
    time: Option<f64>,
    #[serde(default)]
    forward_time: Option<f64>,
    #[serde(default)]
    memory_parameter: f64,
    #[serde(flatten)]
    other: BTreeMap<String, serde_json::Value>,
}

fn read(text: &str, options: &Options) -> Result<Model, String> {
    let file: File = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let mut warnings = Vec::new();
    for key in file.other.keys().filter(|key| !["pre_defined_layer", "auto_partition_layer"].contains(&key.as_str())) {
        warnings.push(format!("the key {key} is not known and not used"));
    }
    if file.layers_description.is_empty() {
        return Err("layers_description is empty".to_owned());
    }
    let mut segments = Vec::new();
    for role in [Role::Head, Role::Body, Role::Tail] {
        for layer in &file.layers_description {
            if role_of(layer)? == role {
                segments.push(segment(layer, role, options, &mut warnings)?);
            }
        }
    }
    Ok(Model {
        name: file.name.unwrap_or_else(|| "model".to_owned()),
        segments,
        constant: file
            .stage_const_mem
            .map(|c| positive("stage_const_mem", "the file", c))
            .transpose()?
            .into_iter()
            .collect(),
        tails: Vec::new(),
        link: 0.0,
        time_unit: None,
        memory_unit: MemoryUnit::Megabytes,
        warnings,
    })
}

fn role_of(layer: &Layer) -> Result<Role, String> {
    match layer.role.as_str() {
        "HEAD" => Ok(Role::Head),
        "BODY" => Ok(Role::Body),
        "TAIL" => Ok(Role::Tail),
        other => Err(format!("layer {}: type is {other}, not HEAD, BODY or TAIL", layer.name)),
    }
}

/// A number that is finite and not below 0.
fn positive(key: &str, layer: &str, value: f64) -> Result<f64, String> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(format!("{layer}: {key} is {value}, write 0 or more"))
    }
}

fn segment(layer: &Layer, role: Role, options: &Options, warnings: &mut Vec<String>) -> Result<Segment, String> {
    let name = format!("layer {}", layer.name);
    let number = |key: &str| -> Result<Option<f64>, String> {
        match layer.other.get(key) {
            None | Some(serde_json::Value::Null) => Ok(None),
            Some(value) => {
                let value = value.as_f64().ok_or_else(|| format!("{name}: {key} is {value}, not a number"))?;
                positive(key, &name, value).map(Some)
            }
        }
    };
    let known =
        |key: &str| key == "model_name" || KINDS.iter().any(|k| [k.memory, k.time, k.coefficient.0].contains(&key));
    for key in layer.other.keys().filter(|key| !known(key)) {
        warnings.push(format!("{name}: the key {key} is not known and not used"));
    }
    let forward = match (layer.forward_time, layer.time) {
        (Some(forward), _) => forward,
        (None, Some(total)) if options.sapp_total => total / 3.0,
        (None, Some(forward)) => forward,
        (None, None) => return Err(format!("{name}: neither time nor forward_time is there")),
    };
    let forward = positive("time", &name, forward)?;
    if role == Role::Body && forward == 0.0 {
        return Err(format!("{name}: time is 0, and a layer of the body takes time"));
    }
    let time_of = |keys: &Keys| -> Result<f64, String> {
        let coefficient = number(keys.coefficient.0)?.unwrap_or(keys.coefficient.1);
        Ok(number(keys.time)?.unwrap_or(2.0 * forward * (1.0 + coefficient)))
    };
    let backward = time_of(&KINDS[0])?;
    let none = number(KINDS[0].memory)?.unwrap_or(0.0);
    let mut kinds = Vec::new();
    for (keys, &kind) in KINDS.iter().zip(BUILT_IN) {
        let memory = number(keys.memory)?.filter(|&memory| memory > 0.0);
        let Some(activation) = memory.or((role != Role::Body && kind == BUILT_IN[0]).then_some(0.0)) else { continue };
        let extra = time_of(keys)? - backward;
        if extra < 0.0 {
            return Err(format!("{name}: the backward with {} is shorter than without recomputation", kind.name));
        }
        let transient = if options.transient { (none - activation).max(0.0) } else { 0.0 };
        kinds.push(KindCost { name: kind.name.to_owned(), activation, extra, transient });
    }
    if kinds.is_empty() {
        return Err(format!("{name}: no memory of activations is there, such as {}", KINDS[0].memory));
    }
    Ok(Segment {
        name: layer.name.clone(),
        role,
        count: layer.nb_layer,
        forward,
        backward,
        weight: backward / 2.0,
        parameters: positive("memory_parameter", &name, layer.memory_parameter)?,
        kinds,
    })
}
