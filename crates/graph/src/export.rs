//! Files of what a draw leaves, and of the scores that draws follow. Each is written whole or not at all.
//!
//! Entry e of a mask belongs to unit e, and ids ascend, so that an attribute list in the order of units can be indexed by
//! either. Of `dropedge-arcs` units are stored arcs, row by row, and then the self-loops.

use crate::draw::Quotas;
use crate::{Error, Graph, Prepared, Ranking, Result, Sampled};
use sapwood_files::npy::{self, Array, Data};
use sapwood_files::{npz, write_atomic};
use std::path::Path;

/// What a file of one draw holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text, an edge list of what stays: `u<TAB>v[<TAB>w]`, self-loops among them; `load` reads it.
    Edges,
    /// npy: whether each unit stays.
    Mask,
    /// npy: the units that stay, as 64-bit integers.
    Ids,
    /// npz: `mask`, `ids`, and the ends `u`, `v` of all units.
    Npz,
}

impl Form {
    /// Name, as `--write` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Edges => "edges",
            Form::Mask => "mask",
            Form::Ids => "ids",
            Form::Npz => "npz",
        }
    }

    /// Ending of a file of this form.
    pub fn ending(self) -> &'static str {
        match self {
            Form::Edges => "tsv",
            Form::Mask | Form::Ids => "npy",
            Form::Npz => "npz",
        }
    }
}

/// The draws of one sampler on one graph, to be written.
#[derive(Debug)]
pub struct Export<'a> {
    graph: &'a Graph,
    sampler: &'static str,
    /// Units that a mask has: of `dropedge-arcs` the self-loops too.
    units: usize,
}

impl<'a> Export<'a> {
    /// For draws of `prepared`, which was prepared for `graph`.
    ///
    /// # Errors
    /// [`Error::NothingToWrite`] naming `form` for a sampler that drops no units.
    pub fn new(graph: &'a Graph, prepared: &'a dyn Prepared, form: &'static str) -> Result<Export<'a>> {
        let facts = prepared.facts();
        let graph = prepared.graph().map_or(graph, |own| own);
        let loops = graph.self_loops().len() as u64;
        if facts.units != graph.pairs() && facts.units != graph.pairs() + loops {
            return Err(nothing(facts.name, form));
        }
        Ok(Export { graph, sampler: facts.name, units: facts.units as usize })
    }

    /// Writes what `sampled` leaves to `path`.
    ///
    /// # Errors
    /// [`Error::NothingToWrite`] where no units go; when the file cannot be written.
    pub fn write(&self, form: Form, sampled: &Sampled<'_>, path: &Path) -> Result<()> {
        if matches!(sampled, Sampled::Rows { .. } | Sampled::Messages { .. }) {
            return Err(nothing(self.sampler, form.name()));
        }
        match form {
            Form::Edges => self.edges(sampled, path),
            Form::Mask => Ok(npy::write(path, &self.mask(sampled))?),
            Form::Ids => Ok(npy::write(path, &self.ids(sampled))?),
            Form::Npz => {
                let (u, v) = self.ends();
                let (mask, ids) = (self.mask(sampled), self.ids(sampled));
                Ok(npz::write(path, &[("mask", &mask), ("ids", &ids), ("u", &list(u)), ("v", &list(v))])?)
            }
        }
    }

    fn mask(&self, sampled: &Sampled<'_>) -> Array {
        let mask: Vec<bool> = (0..self.units as u32).map(|unit| sampled.keeps(unit)).collect();
        Array { shape: vec![mask.len()], data: Data::Bool(mask) }
    }

    fn ids(&self, sampled: &Sampled<'_>) -> Array {
        list((0..self.units as u32).filter(|&unit| sampled.keeps(unit)).map(i64::from).collect())
    }

    /// From and to of every unit: of a pair the smaller end first.
    fn ends(&self) -> (Vec<i64>, Vec<i64>) {
        let loops = self.graph.self_loops().iter().map(|&(node, _)| (i64::from(node.0), i64::from(node.0)));
        ends(self.graph).map(|(u, v)| (i64::from(u), i64::from(v))).chain(loops).take(self.units).unzip()
    }

    fn edges(&self, sampled: &Sampled<'_>, path: &Path) -> Result<()> {
        let weights = self.graph.unit_weights();
        let pairs = self.graph.pairs();
        let own_bits = self.units as u64 > pairs;
        let loops = (pairs as u32..).zip(self.graph.self_loops());
        let loops = loops.filter(|(unit, _)| !own_bits || sampled.keeps(*unit)).map(|(_, (node, w))| (node.0, w));
        Ok(write_atomic(path, |out| {
            writeln!(out, "# Nodes: {}", self.graph.nodes())?;
            for (unit, (u, v)) in (0..).zip(ends(self.graph)).filter(|(unit, _)| sampled.keeps(*unit)) {
                match weights.as_ref().and_then(|w| w.get(unit as usize)) {
                    Some(w) => writeln!(out, "{u}\t{v}\t{w}")?,
                    None => writeln!(out, "{u}\t{v}")?,
                }
            }
            for (node, w) in loops {
                match weights {
                    Some(_) => writeln!(out, "{node}\t{node}\t{w}")?,
                    None => writeln!(out, "{node}\t{node}")?,
                }
            }
            Ok(())
        })?)
    }
}

/// From and to of every unit of the graph, in the order of its number: of a pair the smaller end first.
pub fn ends(graph: &Graph) -> impl Iterator<Item = (u32, u32)> + '_ {
    let directed = graph.directed();
    graph.pair_ends().map(move |(u, v)| if directed { (v.0, u.0) } else { (u.0, v.0) })
}

fn list(items: Vec<i64>) -> Array {
    Array { shape: vec![items.len()], data: Data::I64(items) }
}

fn nothing(sampler: &'static str, form: &'static str) -> Error {
    Error::NothingToWrite { sampler, why: "drops no edges", form }
}

/// Writes `u<TAB>v<TAB>score<TAB>z<TAB>q` for every unit (score and z empty without a ranking): its score, the rank of the score from −1 to 1, its probability to
/// go in the draw of `quotas`.
///
/// # Errors
/// [`Error::Size`] for numbers of another graph; when the file cannot be written.
pub fn scores(graph: &Graph, ranking: Option<&Ranking>, quotas: &Quotas, path: &Path) -> Result<()> {
    let expected = graph.pairs();
    let ranked = ranking.map_or(expected, |ranking| ranking.scores.len().min(ranking.z.len()) as u64);
    for got in [ranked, quotas.units()] {
        if got != expected {
            return Err(Error::Size { what: "scores", got, expected });
        }
    }
    Ok(write_atomic(path, |out| {
        writeln!(out, "# u\tv\tscore\tz\tq")?;
        for (unit, (u, v)) in (0u32..).zip(ends(graph)) {
            write!(out, "{u}\t{v}\t")?;
            match ranking {
                Some(Ranking { scores, z }) => write!(out, "{}\t{}", scores[unit as usize], z[unit as usize])?,
                None => write!(out, "\t")?,
            }
            writeln!(out, "\t{}", quotas.probability(unit))?;
        }
        Ok(())
    })?)
}

/// [`scores`] of a prepared sampler, with the probabilities of the draw of `key`.
///
/// # Errors
/// [`Error::NothingToWrite`] for a sampler without scores; as [`scores`].
pub fn scores_of(
    exec: sapwood_skeleton::Exec<'_>,
    graph: &Graph,
    prepared: &dyn Prepared,
    key: crate::DrawKey,
    path: &Path,
) -> Result<()> {
    let Some(quotas) = prepared.quotas(exec, key)? else {
        let (sampler, why) = (prepared.facts().name, "has no probabilities of units");
        return Err(Error::NothingToWrite { sampler, why, form: "scores" });
    };
    scores(prepared.graph().map_or(graph, |own| own), prepared.ranking(), &quotas, path)
}

/// Writes `node<TAB>score`, and the degree as a third column if it is given, for every node.
///
/// # Errors
/// [`Error::Size`] for lists of different lengths; when the file cannot be written.
pub fn node_scores(scores: &[f64], degrees: Option<&[f64]>, path: &Path) -> Result<()> {
    if let Some(degrees) = degrees
        && degrees.len() != scores.len()
    {
        let (got, expected) = (degrees.len() as u64, scores.len() as u64);
        return Err(Error::Size { what: "degrees", got, expected });
    }
    Ok(write_atomic(path, |out| {
        for (node, score) in scores.iter().enumerate() {
            match degrees {
                Some(degrees) => writeln!(out, "{node}\t{score}\t{}", degrees[node])?,
                None => writeln!(out, "{node}\t{score}")?,
            }
        }
        Ok(())
    })?)
}

/// Writes `u<TAB>v<TAB>score` for every unit.
///
/// # Errors
/// [`Error::Size`] for scores of another graph; when the file cannot be written.
pub fn unit_scores(graph: &Graph, scores: &[f64], path: &Path) -> Result<()> {
    let (got, expected) = (scores.len() as u64, graph.pairs());
    if got != expected {
        return Err(Error::Size { what: "scores", got, expected });
    }
    Ok(write_atomic(path, |out| {
        ends(graph).zip(scores).try_for_each(|((u, v), score)| writeln!(out, "{u}\t{v}\t{score}"))
    })?)
}
