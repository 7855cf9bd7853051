//! How Sapwood touches files: opening with compression recognised by content, reading whole,
//! writing so that no half-written file is ever seen, NumPy arrays (npy and npz), digests, the interrupt flag.
//!
//! Formats with a meaning (Matrix Market, edge lists, machine files) live with the crates that own
//! that meaning; this crate must never know them. It depends on no other crate of Sapwood.
//! Start reading at [`open`].

mod atomic;
mod error;
mod gzip;
mod open;
mod zst;

pub mod digest;
pub mod interrupt;
pub mod npy;
pub mod npz;

pub use atomic::{check_replaceable, write_atomic};
pub use error::{Error, Result};
pub use open::{decode, find, open, read, stored};
