//! The `sapwood` program.
fn main() {}
