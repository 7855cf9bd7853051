//! Numbers of nodes that cannot be meant: a single wrong id, or a wrong count, would make a huge graph of isolated nodes.

/// Whether `nodes`, that follow from the largest id seen, are too many to be meant with so few edges.
pub(super) fn too_many_seen(nodes: usize, edges: usize) -> bool {
    beyond(nodes, edges, 1 << 20, 64)
}

/// Whether `nodes`, that a file states, are more than any machine should hold for so few edges.
pub(super) fn too_many_stated(nodes: usize, edges: usize) -> bool {
    beyond(nodes, edges, 1 << 26, 1024)
}

fn beyond(nodes: usize, edges: usize, always: usize, per_edge: usize) -> bool {
    nodes > always && nodes / per_edge > edges
}
