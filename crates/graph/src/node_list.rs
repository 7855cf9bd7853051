//! Text files that give some nodes a weight: `node`, or `node<TAB>weight`, on a line.

use crate::{Error, Graph, Result, unit_list};
use std::path::Path;

/// One weight per node of the graph: 1 for a line without a weight, 0 for a node that is not listed.
///
/// # Errors
/// `file:line` for a node that does not exist or stands twice, and for a weight that is negative or no finite number; a file
/// in which no weight is above 0.
pub fn weights(path: &Path, graph: &Graph) -> Result<Vec<f64>> {
    let text = unit_list::open(path)?;
    let mut of = vec![0.0; graph.nodes()];
    let mut known = vec![0u64; graph.nodes()];
    for (line, bytes) in text.lines() {
        let (fields, count) = text.fields::<2>(line, bytes, 1, "node or node<TAB>weight")?;
        let node = text.node(line, fields[0], None)?;
        if node.index() >= graph.nodes() {
            return Err(text.wrong(line, format!("node {node} does not exist, the graph has {}", graph.nodes())));
        }
        let weight = if count == 2 { unit_list::number(&text, line, fields[1])? } else { 1.0 };
        if weight < 0.0 {
            return Err(text.wrong(line, format!("weight {weight} is negative")));
        }
        if known[node.index()] > 0 {
            let first = known[node.index()];
            return Err(text.wrong(line, format!("node {node} stands already in line {first}")));
        }
        (of[node.index()], known[node.index()]) = (weight, line);
    }
    if of.iter().all(|&w| w == 0.0) {
        return Err(Error::file(path.display().to_string(), "no node has a weight above 0"));
    }
    Ok(of)
}
