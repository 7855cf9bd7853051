//! Files of draws: their names, and that there is a folder for them.

use crate::cli::Failure;
use clap::ValueEnum;
use sapwood_graph::export::{self, Export, Form};
use sapwood_graph::{DrawKey, Graph, Prepared, Sampled};
use sapwood_skeleton::Exec;
use std::path::{Path, PathBuf};

/// What `--write` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Wanted {
    /// Edge list `u v [w]` of what stays
    Edges,
    /// npy: for each unit whether it stays, in the order of ids
    Mask,
    /// npy: ids of the units that stay, ascending
    Ids,
    /// npz: mask, ids, and the ends u and v of all units
    Npz,
    /// Text `u v score z q` of all units, once
    Scores,
}

impl Wanted {
    /// The form of a file per draw; none for scores.
    fn form(self) -> Option<Form> {
        match self {
            Wanted::Edges => Some(Form::Edges),
            Wanted::Mask => Some(Form::Mask),
            Wanted::Ids => Some(Form::Ids),
            Wanted::Npz => Some(Form::Npz),
            Wanted::Scores => None,
        }
    }
}

/// Where draws go, if anywhere.
pub(super) struct Files<'a> {
    graph: &'a Graph,
    prepared: &'a dyn Prepared,
    to: Option<(&'a Path, Wanted)>,
}

impl<'a> Files<'a> {
    /// Makes the folder.
    pub(super) fn new(
        wanted: Option<Wanted>,
        folder: Option<&'a Path>,
        graph: &'a Graph,
        prepared: &'a dyn Prepared,
    ) -> Result<Files<'a>, Failure> {
        let to = match (wanted, folder) {
            (Some(wanted), Some(folder)) => {
                std::fs::create_dir_all(folder).map_err(|e| sapwood_files::Error::io("make", folder, e))?;
                Some((folder, wanted))
            }
            (None, Some(folder)) => {
                let what = format!("--out {} without --write: nothing would be written", folder.display());
                return Err(Failure::usage(what).hint("add --write edges, mask, ids, npz or scores"));
            }
            (Some(_), None) => {
                let what = "--write without --out: no folder for the files";
                return Err(Failure::usage(what).hint("add -o DIR; it is made if it is missing"));
            }
            (None, None) => None,
        };
        Ok(Files { graph, prepared, to })
    }

    /// Writes the scores if they are wanted.
    pub(super) fn scores(&self, exec: Exec<'_>, key: DrawKey) -> Result<Option<PathBuf>, Failure> {
        let Some((folder, Wanted::Scores)) = self.to else { return Ok(None) };
        let path = folder.join("scores.tsv");
        export::scores_of(exec, self.graph, self.prepared, key, &path)?;
        Ok(Some(path))
    }

    /// Writes a draw if draws are wanted, and says where it is.
    pub(super) fn draw(&self, key: DrawKey, sampled: &Sampled<'_>) -> sapwood_graph::Result<Option<String>> {
        let Some((folder, form)) = self.to.and_then(|(folder, wanted)| Some((folder, wanted.form()?))) else {
            return Ok(None);
        };
        let DrawKey { seed, epoch, layer, micro } = key;
        let (name, ending) = (form.name(), form.ending());
        let path = folder.join(format!("{name}-seed{seed}-epoch{epoch}-layer{layer}-micro{micro}.{ending}"));
        Export::new(self.graph, self.prepared, name)?.write(form, sampled, &path)?;
        Ok(Some(path.display().to_string()))
    }
}
