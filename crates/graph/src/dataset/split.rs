//! Which nodes train, which choose the model, which judge it.

use super::GraphData;
use crate::graph::NodeId;
use crate::{Error, Result};

/// Three disjoint lists of nodes, each ascending; a node may be in none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// `public` for `split.tsv`, else the NAME of `split_NAME.tsv`, with `:3` for its third column counted from 0.
    pub name: String,
    /// Nodes whose labels the loss sees.
    pub train: Vec<NodeId>,
    /// Nodes that choose the epoch.
    pub val: Vec<NodeId>,
    /// Nodes that judge.
    pub test: Vec<NodeId>,
}

/// Name of the split in `split.tsv`.
pub(crate) const PUBLIC: &str = "public";

/// A split that training can use, and what is odd about it.
#[derive(Debug, Clone)]
pub struct TrainingSplit<'a> {
    /// The split.
    pub split: &'a Split,
    /// One line for each oddity.
    pub warnings: Vec<String>,
}

impl GraphData {
    /// The split `name` (`public`, `full`, `geom:3`), or the set's own if `None`.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the names there are; [`Error::Split`] if there is none at all.
    pub fn split(&self, name: Option<&str>) -> Result<&Split> {
        let problem = |what: &str| Error::Split {
            name: self.name.clone(),
            split: name.unwrap_or(PUBLIC).into(),
            what: what.into(),
        };
        let found = match name {
            Some(name) => self.splits.iter().find(|s| s.name == name),
            None => self.splits.first().filter(|s| s.name == PUBLIC || self.splits.len() == 1),
        };
        match found {
            Some(split) => Ok(split),
            None if self.splits.is_empty() && self.labels.iter().all(|&label| label < 0) => Err(problem(
                "the data set has no labels and no split; training needs labels.tsv and split.tsv in a folder",
            )),
            None if self.splits.is_empty() => Err(problem(
                "the data set has no split; write split.tsv into its folder (sapwood data convert makes a folder of a file)",
            )),
            None if name.is_none() => {
                let names: Vec<&str> = self.splits.iter().map(|s| s.name.as_str()).collect();
                Err(problem(&format!("there is no split.tsv; choose one with --split: {}", names.join(", "))))
            }
            None => Err(Error::unknown("split", name.unwrap_or(PUBLIC), self.splits.iter().map(|s| s.name.as_str()))),
        }
    }

    /// [`GraphData::split`], checked for training: it must have a labelled training node.
    ///
    /// # Errors
    /// As [`GraphData::split`], and [`Error::Split`] if no training node has a label.
    pub fn training_split(&self, name: Option<&str>) -> Result<TrainingSplit<'_>> {
        let split = self.split(name)?;
        let problem =
            |what: &str| Error::Split { name: self.name.clone(), split: split.name.clone(), what: what.into() };
        if split.train.is_empty() {
            return Err(problem("the train part is empty; there is nothing to learn from"));
        }
        let without = split.train.iter().filter(|&&n| !self.labelled(n)).count();
        if without == split.train.len() {
            let labels = if self.labels.iter().all(|&label| label < 0) {
                ": there are no labels at all (labels.tsv)"
            } else {
                ""
            };
            return Err(problem(&format!("no training node has a label{labels}")));
        }
        let mut warnings = Vec::new();
        if without > 0 {
            warnings.push(format!("split '{}': {without} training nodes have no label and are ignored", split.name));
        }
        if !split.test.iter().any(|&n| self.labelled(n)) {
            let name = &split.name;
            warnings.push(format!("split '{name}': no test node has a label, so there will be no test accuracy"));
        }
        let mut seen = vec![false; self.classes];
        for node in &split.train {
            if let Some(slot) = usize::try_from(self.labels[node.index()]).ok().and_then(|c| seen.get_mut(c)) {
                *slot = true;
            }
        }
        let sizes = self.class_sizes();
        let unseen: Vec<String> =
            (0..self.classes).filter(|&c| !seen[c] && sizes[c] > 0).map(|c| self.class(c)).collect();
        if !unseen.is_empty() {
            warnings.push(format!("split '{}': no training node has class {}", split.name, unseen.join(", ")));
        }
        Ok(TrainingSplit { split, warnings })
    }

    /// Number of class `c`, with its name if it has one.
    fn class(&self, c: usize) -> String {
        self.class_names.get(c).map_or_else(|| c.to_string(), |name| format!("{c} ({name})"))
    }
}
