//! Graphs that are made, not read: a spec of a generator in the place of a name. See [`crate::generator`].

use super::place::Place;
use super::{Entry, LoadOptions, Weights};
use crate::generator::{KIND, Recipe};
use crate::{Error, GraphData, Result};
use sapwood_skeleton::Runtime;

pub(super) const ENTRY: Entry = Entry {
    name: KIND,
    summary: "a graph made by a generator from its spec",
    embedded: &[],
    prefix: None,
    claims: |place| matches!(place, Place::Generated(_)),
    load: |place, options| match place {
        Place::Generated(spec) => match Recipe::parse(spec)? {
            Some(recipe) => make(&recipe, options),
            None => Err(Error::file(spec, "no spec of a generator")),
        },
        Place::Folder(path, _) | Place::File(path) => Err(Error::file(path.display().to_string(), "no spec")),
        Place::Embedded(spec) | Place::Asked { spec, .. } => Err(Error::file(spec, "no spec")),
    },
};

fn make(recipe: &Recipe, options: &LoadOptions) -> Result<GraphData> {
    if options.directed {
        return Err(Error::Generator {
            spec: recipe.name().into(),
            what: "a generated graph is undirected; leave --directed out".into(),
        });
    }
    let mut data = recipe.make(Runtime::sequential()?.exec())?;
    if options.weights == Weights::Asked {
        data.warnings.push(format!("{} has no weights: every edge counts 1", recipe.name()));
    }
    Ok(data)
}
