//! Graphs from formulas and a seed. One file per generator, one line in [`ALL`]; by that line it is a data set
//! (`sbm:n=1000,k=4,in=0.05,out=0.005`) wherever one is named, and a word of `sapwood data make`.
//!
//! A [`Recipe`] is a checked spec. All of a graph follows from its spec: equal specs give equal graphs on any machine and
//! any number of threads, because every random number is keyed by what it decides (a row, a draw), never by who draws it.
//! Generated graphs are undirected and simple: no self-loops, no weights, every pair once, nodes in the generator's order.
//! A generator builds no [`Graph`] itself, reads no file and prints nothing.

mod ba;
mod erdos;
mod gaps;
mod grid;
mod rmat;
mod sbm;
mod spec;

pub use spec::{Kind, Parameter, SEED, UNSET, Values};

use crate::dataset::{PUBLIC, Split};
use crate::graph::{Edge, Graph, GraphOptions, NodeId};
use crate::{Error, GraphData, Result};
use sapwood_skeleton::Exec;
use sapwood_skeleton::random::Stream;

/// Every generator.
pub static ALL: &[Entry] = &[sbm::ENTRY, rmat::ENTRY, ba::ENTRY, erdos::ENTRY, grid::ENTRY];

/// The kind of a generated data set, as `data show` and the registry of data sets have it.
pub(crate) const KIND: &str = "generated";

/// A line of the registry.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Name: the word before the colon of a spec.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// A spec that works, for help and messages.
    pub example: &'static str,
    /// What the spec may set, in the order of its full form; [`SEED`] last, if it draws.
    pub parameters: &'static [Parameter],
    /// Makes the generator of values that are inside their ranges; refuses those that do not go together.
    pub new: fn(&Values) -> Result<Box<dyn Generator>>,
}

/// How large a graph gets, known before it is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Nodes.
    pub nodes: u64,
    /// Edges that will be listed, before repeats are merged; an expected number where it is random.
    pub edges: f64,
}

/// What a generator makes.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Ends inside the nodes, weight 1. Self-loops, repeats and both directions of a pair are allowed: they are dropped
    /// or merged.
    pub edges: Vec<Edge>,
    /// Class of each node; empty for a generator without classes.
    pub labels: Vec<i32>,
    /// Number of classes.
    pub classes: usize,
}

/// A generator with its parameters.
pub trait Generator: std::fmt::Debug + Send + Sync {
    /// How large the graph gets.
    fn size(&self) -> Size;

    /// Lists the edges: the same list for any `exec`.
    ///
    /// # Errors
    /// Those of the executor.
    fn list(&self, exec: Exec<'_>) -> Result<Listed>;
}

/// A checked spec.
#[derive(Debug)]
pub struct Recipe {
    name: String,
    generator: Box<dyn Generator>,
}

impl Recipe {
    /// The recipe of a spec such as `sbm:n=30,k=2,in=0.5,out=0.05`, or `None` if no generator's name and a colon begin it.
    ///
    /// # Errors
    /// [`Error::Generator`] or [`Error::Unknown`] naming the parameter and its range, or for more edges than a graph can
    /// number.
    pub fn parse(spec: &str) -> Result<Option<Recipe>> {
        Recipe::parse_among(ALL, spec)
    }

    /// [`Recipe::parse`] with another registry.
    ///
    /// # Errors
    /// As [`Recipe::parse`].
    pub fn parse_among(all: &[Entry], spec: &str) -> Result<Option<Recipe>> {
        let Some((name, settings)) = spec.split_once(':') else { return Ok(None) };
        let Some(entry) = all.iter().find(|e| e.name == name) else {
            return Ok(None);
        };
        let values = spec::parse(entry, spec, settings)?;
        let generator = (entry.new)(&values)?;
        let edges = generator.size().edges;
        if edges > f64::from(u32::MAX) {
            let needed = entry.parameters.iter().filter(|p| p.default.is_none()).map(|p| p.name);
            let names = needed.collect::<Vec<_>>().join(", ");
            let what = format!("{edges:.0} edges are more than {}, which a graph can number; change {names}", u32::MAX);
            return Err(values.wrong(what));
        }
        Ok(Some(Recipe { name: values.full_form(entry), generator }))
    }

    /// [`Recipe::parse`] for a generator's name and its parameters apart, as a command line has them.
    ///
    /// # Errors
    /// As [`Recipe::parse`], and [`Error::Unknown`] for a name that no generator has.
    pub fn of(generator: &str, parameters: &[String]) -> Result<Recipe> {
        let name = generator.split(':').next().unwrap_or_default();
        let colon = if generator.contains(':') && !parameters.is_empty() { "," } else { ":" };
        let spec = if generator.contains(':') && parameters.is_empty() {
            generator.to_owned()
        } else {
            format!("{generator}{colon}{}", parameters.join(","))
        };
        Recipe::parse(&spec)?.ok_or_else(|| Error::unknown("generator", name, ALL.iter().map(|e| e.name)))
    }

    /// The spec with every parameter written out, in a fixed order: the name of the data set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes that making the graph takes at its largest, about.
    ///
    /// 28 an edge: its line (12), both its arcs with column and number (16), as much as a second copy of the line while
    /// sorting; 24 a node: two lists of offsets, label, split.
    pub fn bytes(&self) -> u64 {
        let Size { nodes, edges } = self.generator.size();
        nodes.saturating_mul(24).saturating_add((edges * 28.0) as u64)
    }

    /// Makes the data set. Labelled nodes get the split by number mod 4: 0 trains, 1 validates, 2 and 3 test.
    ///
    /// # Errors
    /// Those of the executor; [`Error::TooLarge`] if more pairs come out than a graph can number.
    pub fn make(&self, exec: Exec<'_>) -> Result<GraphData> {
        let nodes = self.generator.size().nodes as usize;
        let mut listed = self.generator.list(exec)?;
        listed.edges.retain(|e| e.from != e.to);
        let (graph, _) = Graph::build(nodes, listed.edges, GraphOptions::default())?;
        let mut data = GraphData::of_graph(self.name.as_str(), KIND, graph);
        if listed.classes > 0 {
            data.labels = listed.labels;
            data.classes = listed.classes;
            data.splits = vec![by_number(nodes)];
        }
        Ok(data)
    }
}

/// The largest number of nodes that a parameter may ask for.
const MOST_NODES: u64 = u32::MAX as u64 - 1;

/// A number below `bound`, every one as likely: the words of `units` are used in order, those that would favour small
/// numbers are passed over (Lemire, ACM Transactions on Modeling and Computer Simulation 29, 2019).
fn below(stream: &Stream, a: u32, b: u32, units: &mut std::ops::RangeFrom<u64>, bound: u64) -> Result<u64> {
    loop {
        let unit = units.next().unwrap_or_default();
        let product = u128::from(stream.hash64(a, b, unit)?) * u128::from(bound);
        // 2^64 mod bound of the 2^64 low halves are one too many
        if product as u64 >= bound.wrapping_neg() % bound {
            return Ok((product >> 64) as u64);
        }
    }
}

/// The split by number mod 4.
fn by_number(nodes: usize) -> Split {
    let part = |wanted: fn(u32) -> bool| (0..nodes as u32).filter(|&i| wanted(i)).map(NodeId).collect();
    Split { name: PUBLIC.into(), train: part(|i| i % 4 == 0), val: part(|i| i % 4 == 1), test: part(|i| i % 4 > 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_skeleton::random::Purpose;

    #[test]
    fn numbers_below_a_bound_are_all_as_likely() {
        let stream = Stream::new(5, Purpose::Generate);
        let (mut units, mut hits) = (0.., [0u32; 3]);
        for _ in 0..30_000 {
            hits[below(&stream, 1, 2, &mut units, 3).unwrap() as usize] += 1;
        }
        // five standard deviations of a third
        assert!(hits.iter().all(|&h| h.abs_diff(10_000) < 409), "{hits:?}");
        // of a bound above 2^63 nearly half of the words are passed over
        let mut units = 0..;
        let bound = (1 << 63) + 1;
        assert!((0..200).all(|_| below(&stream, 1, 3, &mut units, bound).unwrap() < bound));
        assert!(units.start > 300, "{units:?}");
    }
}
