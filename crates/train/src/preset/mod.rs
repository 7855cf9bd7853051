//! Settings of published experiments, under a name: one .toml file each in this folder and one line in [`ALL`].
//!
//! A file states every choice, so that it can be read without a table of defaults. A preset fills in what the user did
//! not say and nothing else.

use crate::{Error, Registries, Request, Result, Settings};
use sapwood_graph::Rates;
use serde::Deserialize;

/// A file of this folder.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name, as `--preset` spells it: that of the file.
    pub name: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! preset {
    ($name:literal) => {
        Entry { name: $name, text: include_str!(concat!($name, ".toml")) }
    };
}

/// Every preset.
pub static ALL: &[Entry] = &[
    preset!("full-cora-gcn"),
    preset!("full-cora-densegcn"),
    preset!("full-cora-incepgcn"),
    preset!("full-citeseer-gcn"),
    preset!("full-citeseer-densegcn"),
    preset!("full-citeseer-incepgcn"),
    preset!("full-pubmed-gcn"),
    preset!("full-pubmed-densegcn"),
    preset!("full-pubmed-incepgcn"),
    preset!("semi-cora-gcn"),
    preset!("semi-cora-densegcn"),
    preset!("semi-cora-incepgcn"),
    preset!("semi-citeseer-gcn"),
    preset!("semi-citeseer-densegcn"),
    preset!("semi-citeseer-incepgcn"),
    preset!("semi-pubmed-gcn"),
    preset!("semi-pubmed-densegcn"),
    preset!("semi-pubmed-incepgcn"),
];

/// The settings of a published experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its name.
    #[serde(skip)]
    pub name: &'static str,
    /// Name of the data set.
    pub data: String,
    /// Name of the split.
    pub split: String,
    /// How features are made.
    pub features: String,
    /// Name of the model.
    pub model: String,
    /// Layers of it.
    pub layers: usize,
    /// Columns of a hidden layer.
    pub hidden: usize,
    /// Whether convolutions have a second weight for the node itself.
    pub with_self: bool,
    /// Norm layers of hidden layers.
    pub norm_layer: String,
    /// Dropout after each hidden layer.
    pub dropout: f64,
    /// Name of the initialisation.
    pub init: String,
    /// Name of the operator.
    pub normalise: String,
    /// What a self-loop becomes.
    pub self_loops: String,
    /// Name of the sampler.
    pub sampler: String,
    /// Share of the pairs that stays, as the paper has it; see [`Preset::p`].
    pub keep: f64,
    /// Epochs of a run.
    pub epochs: u32,
    /// Name of the optimiser.
    pub optimiser: String,
    /// Learning rate.
    pub lr: f64,
    /// L2 penalty.
    pub l2: f64,
    /// Which parameters the penalty covers.
    pub l2_on: String,
    /// Name of the selection rule.
    pub select: String,
    /// What the paper reports, where it has exactly this experiment.
    pub published: Option<Published>,
}

/// Test accuracies that a paper reports, as parts of one, each of one seed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// With the whole graph in every epoch.
    pub no_drop: f64,
    /// With the sampler of the preset.
    pub dropedge: f64,
}

/// What to print wherever published accuracies stand beside measured ones.
pub const NOTE: &str = "published accuracies are of one seed; over 3 to 5 seeds those without dropping agree (Cora full \
                        GCN-4 85.7 ± 0.4, semi GCN-2 80.7 ± 0.7), the published gains of DropEdge do not reproduce";

/// Settings that may differ from those of the published experiment and leave it the same.
const FREE: [&str; 7] = ["against", "eval_every", "preset", "recompute", "sampler", "seed", "seeds"];

/// The preset called `name` among `all`.
///
/// # Errors
/// With the valid names and the nearest one; for a file that does not hold exactly the fields of a preset.
pub fn find(all: &[Entry], name: &str) -> Result<Preset> {
    let known = all.iter().map(|e| e.name);
    let entry =
        all.iter().find(|e| e.name == name).ok_or_else(|| sapwood_graph::Error::unknown("preset", name, known))?;
    Preset::parse(entry)
}

impl Preset {
    fn parse(entry: &Entry) -> Result<Preset> {
        let wrong = |what: String| Error::Preset { name: entry.name.into(), what };
        let preset: Preset = toml::from_str(entry.text).map_err(|e| wrong(e.to_string()))?;
        if !(0.0..=1.0).contains(&preset.keep) {
            return Err(wrong(format!("keep must be from 0 to 1, not {}", preset.keep)));
        }
        Ok(Preset { name: entry.name, ..preset })
    }

    /// The share of the pairs that is dropped: 1 − keep as a decimal, 0.3 for 0.7 and not 0.30000000000000004.
    pub fn p(&self) -> f64 {
        const DIGITS: f64 = 1e12;
        ((1.0 - self.keep) * DIGITS).round() / DIGITS
    }

    /// What the paper reports, if `settings` for the data set called `data` are those of its experiment, whatever the
    /// samplers compared and the seeds.
    pub fn published_for(&self, settings: &Settings, data: &str) -> Option<Published> {
        let mut request = Request::default();
        self.apply(&mut request, false);
        let own = Settings::resolve(&request, &self.data, Registries::default()).ok()?;
        let decisive = |s: &Settings| {
            let mut all = serde_json::to_value(s).ok()?;
            all.as_object_mut()?.retain(|name, _| !FREE.contains(&name.as_str()));
            Some(all)
        };
        self.published.filter(|_| data == self.data && decisive(settings) == decisive(&own))
    }

    /// Fills in what `request` leaves open. Its drop rate has a value whether or not the user gave one, so the caller says
    /// whether it is the user's (`p_given`); a request for `with_self` stays, one without it follows the preset.
    ///
    /// Whoever runs a preset on another data set than [`Preset::data`] gives a split, too, or has one of that name.
    pub fn apply(&self, request: &mut Request, p_given: bool) {
        let text = |field: &mut Option<String>, value: &str| _ = field.get_or_insert_with(|| value.to_owned());
        text(&mut request.model, &self.model);
        text(&mut request.norm_layer, &self.norm_layer);
        text(&mut request.init, &self.init);
        text(&mut request.optimiser, &self.optimiser);
        text(&mut request.l2_on, &self.l2_on);
        text(&mut request.features, &self.features);
        text(&mut request.normalise, &self.normalise);
        text(&mut request.self_loops, &self.self_loops);
        text(&mut request.sampler, &self.sampler);
        text(&mut request.select, &self.select);
        text(&mut request.split, &self.split);
        request.layers.get_or_insert(self.layers);
        request.hidden.get_or_insert(self.hidden);
        request.epochs.get_or_insert(self.epochs);
        request.lr.get_or_insert(self.lr);
        request.l2.get_or_insert(self.l2);
        request.dropout.get_or_insert(self.dropout);
        request.with_self |= self.with_self;
        if !p_given {
            request.options.rates = Rates::Const(self.p());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{init, optimiser, select};
    use std::collections::BTreeSet;

    /// Name, layers, lr, l2, p, dropout, operator, self weight, batch norm.
    type Row = (&'static str, usize, f64, f64, f64, f64, &'static str, bool, bool);

    const TABLE: [Row; 18] = [
        ("full-cora-gcn", 4, 0.01, 0.005, 0.3, 0.8, "first-order", false, false),
        ("full-cora-densegcn", 16, 0.008, 0.0005, 0.8, 0.8, "aug", false, false),
        ("full-cora-incepgcn", 8, 0.01, 0.001, 0.95, 0.5, "aug", false, false),
        ("full-citeseer-gcn", 4, 0.009, 0.001, 0.95, 0.8, "bingge", true, true),
        ("full-citeseer-densegcn", 8, 0.004, 0.00005, 0.4, 0.3, "aug", true, false),
        ("full-citeseer-incepgcn", 8, 0.002, 0.005, 0.8, 0.5, "bingge", true, false),
        ("full-pubmed-gcn", 4, 0.01, 0.001, 0.7, 0.5, "bingge", true, true),
        ("full-pubmed-densegcn", 64, 0.005, 0.0001, 0.5, 0.8, "aug", true, true),
        ("full-pubmed-incepgcn", 4, 0.002, 0.00001, 0.5, 0.8, "bingge", true, true),
        ("semi-cora-gcn", 2, 0.007, 0.00001, 0.6, 0.8, "aug", false, false),
        ("semi-cora-densegcn", 4, 0.001, 0.0005, 0.6, 0.8, "aug-rw", false, false),
        ("semi-cora-incepgcn", 64, 0.004, 0.00005, 0.6, 0.3, "aug-rw", false, false),
        ("semi-citeseer-gcn", 2, 0.01, 0.0005, 0.8, 0.3, "aug", false, false),
        ("semi-citeseer-densegcn", 16, 0.006, 0.001, 0.5, 0.8, "aug", true, false),
        ("semi-citeseer-incepgcn", 4, 0.005, 0.001, 0.95, 0.8, "aug", false, false),
        ("semi-pubmed-gcn", 2, 0.003, 0.005, 0.3, 0.5, "aug-rw", true, false),
        ("semi-pubmed-densegcn", 32, 0.001, 0.005, 0.3, 0.8, "aug", false, false),
        ("semi-pubmed-incepgcn", 4, 0.003, 0.005, 0.2, 0.3, "aug", false, false),
    ];

    /// Name, without dropping, with.
    const PUBLISHED: [(&str, f64, f64); 6] = [
        ("full-cora-gcn", 0.855, 0.876),
        ("full-cora-densegcn", 0.862, 0.880),
        ("full-cora-incepgcn", 0.867, 0.882),
        ("full-pubmed-gcn", 0.887, 0.913),
        ("semi-cora-gcn", 0.811, 0.828),
        ("semi-cora-densegcn", 0.802, 0.833),
    ];

    #[test]
    fn every_file_holds_its_row_of_the_table() {
        assert_eq!(ALL.len(), TABLE.len());
        for (name, layers, lr, l2, p, dropout, normalise, with_self, batch_norm) in TABLE {
            let preset = find(ALL, name).unwrap();
            let words: Vec<&str> = name.split('-').collect();
            let split = if words[0] == "full" { "full" } else { "public" };
            let published = PUBLISHED.iter().find(|row| row.0 == name);
            let want = Preset {
                name,
                data: words[1].into(),
                split: split.into(),
                features: "rows".into(),
                model: words[2].into(),
                layers,
                hidden: 128,
                with_self,
                norm_layer: if batch_norm { "batch" } else { "none" }.into(),
                dropout,
                init: "dropedge".into(),
                normalise: normalise.into(),
                self_loops: "add".into(),
                sampler: "dropedge".into(),
                keep: preset.keep,
                epochs: 400,
                optimiser: "adam".into(),
                lr,
                l2,
                l2_on: "all".into(),
                select: "dropedge".into(),
                published: published.map(|&(_, no_drop, dropedge)| Published { no_drop, dropedge }),
            };
            assert_eq!(preset, want);
            assert_eq!(preset.p().to_string(), p.to_string(), "{name}");
        }
    }

    #[test]
    fn every_name_in_a_preset_is_registered() {
        for entry in ALL {
            let preset = find(ALL, entry.name).unwrap();
            init::find(init::ALL, &preset.init).unwrap();
            optimiser::find(optimiser::ALL, &preset.optimiser).unwrap();
            select::find(select::ALL, &preset.select).unwrap();
            sapwood_graph::sampler::find(sapwood_graph::sampler::ALL, &preset.sampler).unwrap();
            preset.features.parse::<sapwood_graph::FeatureKind>().unwrap();
            let loops = preset.self_loops.parse::<sapwood_graph::SelfLoops>().unwrap();
            sapwood_graph::Normalisation::new(&preset.normalise, loops).unwrap();
        }
        let names: BTreeSet<&str> = ALL.iter().map(|e| e.name).collect();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn a_preset_fills_in_what_was_not_said() {
        let preset = find(ALL, "semi-pubmed-gcn").unwrap();
        let mut request = Request::default();
        preset.apply(&mut request, false);
        let settings = Settings::resolve(&request, "pubmed", Registries::default()).unwrap();
        assert_eq!((settings.model.name, settings.layers, settings.hidden, settings.epochs), ("gcn", 2, 128, 400));
        assert_eq!(
            (settings.lr, settings.l2, settings.dropout, settings.model_options.with_self),
            (0.003, 0.005, 0.5, true)
        );
        assert_eq!(
            (settings.optimiser.name, settings.init.name, settings.select.name),
            ("adam", "dropedge", "dropedge")
        );
        assert_eq!((settings.normalise.form.name, settings.self_loops.as_str()), ("aug-rw", "add"));
        assert_eq!((settings.sampler.as_str(), settings.split.as_deref()), ("dropedge", Some("public")));
        assert_eq!(settings.options.rates, Rates::Const(0.3));
        assert_eq!(settings.features.unwrap().to_string(), "rows");
        assert_eq!((request.norm_layer.as_deref(), request.l2_on.as_deref()), (Some("none"), Some("all")));
    }

    #[test]
    fn what_the_user_said_stays() {
        let said = |text: &str| Some(text.to_owned());
        let mut request = Request {
            model: said("mlp"),
            layers: Some(3),
            hidden: Some(8),
            epochs: Some(5),
            lr: Some(0.5),
            l2: Some(0.0),
            dropout: Some(0.0),
            optimiser: said("sgd"),
            init: said("glorot"),
            norm_layer: said("layer"),
            l2_on: said("weights"),
            features: said("tfidf"),
            normalise: said("sym"),
            self_loops: said("remaining"),
            sampler: said("ranked"),
            select: said("last"),
            split: said("mine"),
            with_self: true,
            ..Request::default()
        };
        request.options.rates = Rates::Auto;
        let before = request.clone();
        find(ALL, "full-pubmed-densegcn").unwrap().apply(&mut request, true);
        assert_eq!(format!("{request:?}"), format!("{before:?}"));
        find(ALL, "full-pubmed-densegcn").unwrap().apply(&mut request, false);
        assert_eq!(request.options.rates, Rates::Const(0.5));
    }

    #[test]
    fn an_unknown_name_and_a_wrong_file_are_refused_with_the_place() {
        let message = find(ALL, "full-cora-gnc").unwrap_err().to_string();
        assert!(message.contains("unknown preset") && message.contains("did you mean 'full-cora-gcn'?"), "{message}");
        let good = ALL[0].text;
        let says = |text: String| {
            let text: &'static str = Box::leak(text.into_boxed_str());
            find(&[Entry { name: "mine", text }], "mine").unwrap_err().to_string()
        };
        let message = says(format!("depth = 4\n{good}"));
        assert!(message.starts_with("preset mine: ") && message.contains("depth"), "{message}");
        let message = says(good.replace("lr = ", "rate = "));
        assert!(message.contains("rate"), "{message}");
        let message = says(good.replace("layers = 4\n", ""));
        assert!(message.contains("layers"), "{message}");
        let message = says(good.replace("keep = 0.7", "keep = 70"));
        assert!(message.contains("keep must be from 0 to 1, not 70"), "{message}");
        let message = says(good.replace("no_drop", "nodrop"));
        assert!(message.contains("nodrop"), "{message}");
    }

    #[test]
    fn every_preset_resolves() {
        for entry in ALL {
            let preset = find(ALL, entry.name).unwrap();
            let mut request = Request::default();
            preset.apply(&mut request, false);
            Settings::resolve(&request, &preset.data, Registries::default()).unwrap();
        }
    }
}
