//! Disjoint sets, for components.

/// Disjoint sets of nodes (Tarjan 1975): by size, with path halving.
pub(crate) struct Sets {
    parent: Vec<u32>,
    size: Vec<u32>,
    count: u64,
}

impl Sets {
    /// One set for each of `nodes` nodes.
    pub(crate) fn new(nodes: usize) -> Sets {
        Sets { parent: (0..nodes as u32).collect(), size: vec![1; nodes], count: nodes as u64 }
    }

    /// One set for each node again, in the storage there is.
    pub(crate) fn reset(&mut self) {
        self.parent.iter_mut().zip(0..).for_each(|(parent, node)| *parent = node);
        self.size.fill(1);
        self.count = self.parent.len() as u64;
    }

    /// A node that stands for the set of `node`.
    pub(crate) fn root(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let up = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = up;
            node = up;
        }
        node
    }

    /// Nodes of the set of `node`.
    pub(crate) fn size_of(&mut self, node: u32) -> u32 {
        let root = self.root(node);
        self.size[root as usize]
    }

    /// Makes one set of those of `a` and `b`; false if they are one already.
    pub(crate) fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
        self.parent[small as usize] = large;
        self.size[large as usize] += self.size[small as usize];
        self.count -= 1;
        true
    }

    /// Number of sets.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Nodes of the largest set.
    pub(crate) fn largest(&self) -> u32 {
        self.size.iter().copied().max().unwrap_or(0)
    }
}
