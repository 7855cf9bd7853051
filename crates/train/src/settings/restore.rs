//! Settings out of a checkpoint: what a network needs to be built again and fed.

use super::{Registries, Request, Settings};
use crate::Result;
use sapwood_graph::LoadOptions;
use sapwood_graph::dataset::Weights;
use toml::{Table, Value};

impl Settings {
    /// The settings written in a checkpoint, as far as they concern the network and its input; what concerns training has
    /// its defaults.
    ///
    /// # Errors
    /// When they name something that this version does not know.
    pub fn restore(table: &Table) -> Result<Settings> {
        let text = |name: &str| table.get(name).and_then(Value::as_str).map(str::to_owned);
        let whole = |name: &str| table.get(name).and_then(Value::as_integer);
        let real = |name: &str| table.get(name).and_then(Value::as_float);
        let reads = |flag: &str, model: &crate::model::Entry| model.reads.contains(&flag);
        let name = text("model").unwrap_or_default();
        let model = crate::model::find(crate::model::ALL, &name)?;
        let own = |flag: &str, value: Option<String>| value.filter(|_| reads(flag, model));
        let mut request = Request {
            layers: whole("layers").and_then(|v| usize::try_from(v).ok()),
            hidden: whole("hidden").and_then(|v| usize::try_from(v).ok()),
            with_self: table.get("with_self").and_then(Value::as_bool).unwrap_or_default(),
            norm_layer: own("norm-layer", text("norm_layer")),
            jk: own("jk", text("jk")),
            aggregator: own("aggregator", text("aggregator")),
            prop_steps: whole("prop_steps").filter(|_| reads("prop-steps", model)).and_then(|v| u16::try_from(v).ok()),
            teleport: real("teleport").filter(|_| reads("teleport", model)),
            lambda: real("lambda").filter(|_| reads("lambda", model)),
            load: LoadOptions {
                directed: table.get("directed").and_then(Value::as_bool).unwrap_or_default(),
                weights: match text("weights").as_deref() {
                    Some("asked") => Weights::Asked,
                    Some("ignored") => Weights::Ignored,
                    _ => Weights::Stored,
                },
            },
            features: text("features"),
            normalise: text("normalise"),
            self_loops: text("self_loops"),
            split: text("split"),
            dtype: text("dtype"),
            sampler: Some("none".into()),
            seed: text("seed").and_then(|v| v.parse().ok()).unwrap_or_default(),
            model: Some(name),
            ..Request::default()
        };
        let diffusion = &mut request.options.diffusion;
        if let Some(teleport) = real("diffuse_teleport") {
            diffusion.teleport = teleport;
        }
        if let Some(top) = whole("diffuse_top").and_then(|v| u32::try_from(v).ok()) {
            diffusion.top = top;
        }
        Settings::resolve(&request, "", Registries::default())
    }
}
