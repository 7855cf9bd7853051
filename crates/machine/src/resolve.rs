//! From what a user wrote after `--machine` to a tree; one rule for every verb.

use std::path::Path;

use crate::discover::Discover;
use crate::presets;
use crate::tree::Tree;
use crate::{Error, Result};

impl Tree {
    /// The machine that `argument` names: `preset:NAME`, a file, `-` for standard input; a word without `/` and `.` is
    /// tried as a preset, then as a file.
    ///
    /// # Errors
    /// When there is no such preset or file, or the file is no machine.
    pub fn resolve(argument: &str) -> Result<Self> {
        if let Some(name) = argument.strip_prefix("preset:") {
            return Self::preset(name);
        }
        let bare = !argument.contains(['/', '.']) && argument != "-";
        if bare && (presets::find(argument).is_some() || !Path::new(argument).exists()) {
            return Self::preset(argument);
        }
        Self::read(Path::new(argument))
    }

    /// The machine to use: the argument if there is one, else the variable `SAPWOOD_MACHINE`, else the machine at hand.
    ///
    /// # Errors
    /// Those of [`Tree::resolve`] and [`Tree::discover`].
    pub fn here(argument: Option<&str>, o: &Discover) -> Result<Self> {
        Self::named(argument)?.map_or_else(|| Self::discover(o), Ok)
    }

    /// The same where a machine is named; the machine at hand is not taken.
    ///
    /// # Errors
    /// Those of [`Tree::resolve`].
    pub fn named(argument: Option<&str>) -> Result<Option<Self>> {
        let variable = std::env::var("SAPWOOD_MACHINE").ok().filter(|text| !text.is_empty());
        argument.map(str::to_owned).or(variable).map(|argument| Self::resolve(&argument)).transpose()
    }

    /// A machine that ships with Sapwood, by its name or one of its aliases.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn preset(name: &str) -> Result<Self> {
        let preset = presets::find(name).ok_or_else(|| {
            let all = presets::ALL.iter().flat_map(|preset| preset.aliases.iter().chain([&preset.name]));
            let hint = match crate::nearest::nearest(name, all.copied()) {
                Some(near) => format!("did you mean {near}?"),
                None => "`sapwood machine list` shows all; a file is named with its folder, like ./NAME".to_owned(),
            };
            Error::UnknownPreset { name: name.to_owned(), hint }
        })?;
        Self::parse(preset.text, &format!("preset:{}", preset.name))
    }
}
