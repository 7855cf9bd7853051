//! What draws need on the way.

use super::systematic::Buffers;

/// Storage of draws, reused from draw to draw; any draw may use it after any other.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) systematic: Buffers,
    /// Units and their place in the order.
    pub(super) keys: Vec<u128>,
    /// Nodes and their hash.
    pub(super) nodes: Vec<u128>,
    /// Units and what they are chosen by.
    pub(super) chances: Vec<(u64, u32)>,
}

impl Scratch {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.systematic.bytes()
            + size_of::<u128>() * (self.keys.capacity() + self.nodes.capacity())
            + size_of::<(u64, u32)>() * self.chances.capacity()
    }
}
