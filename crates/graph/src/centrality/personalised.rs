//! PageRank that restarts at given nodes: how near a node is to them.

use super::{Entry, pagerank};
use crate::Error;

pub(super) const ENTRY: Entry = Entry {
    name: "personalised",
    summary: "PageRank that restarts at given nodes (--reset)",
    rank: |graph, cx| {
        if cx.pagerank.teleport.is_none() {
            let range = "a file of nodes, or train, where --by is personalised";
            return Err(Error::Range { flag: "--reset", range, value: "left out".into() });
        }
        Ok(pagerank::ranks(pagerank::of(cx.exec, graph, cx.weighted, &cx.pagerank)?))
    },
};
