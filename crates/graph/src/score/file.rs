//! Scores from a file, `--score file:PATH`: lines `u<TAB>v<TAB>score`, one for each pair, in any order, ends in any order;
//! both directions may be listed if they agree. In a directed graph a line is the arc u → v.

use super::{Entry, ScoreCx};
use crate::unit_list;
use crate::{Error, Graph, Result};

pub(super) const ENTRY: Entry =
    Entry { name: "file", summary: "column of a TSV file, --score file:PATH, one line for each edge", score };

fn score(graph: &Graph, cx: &ScoreCx<'_>) -> Result<Vec<f64>> {
    match &cx.options.file {
        Some(path) => unit_list::values(path, graph, "score"),
        None => {
            let range = "file:PATH, the file of scores";
            Err(Error::Range { flag: "--score", range, value: "file alone".into() })
        }
    }
}
