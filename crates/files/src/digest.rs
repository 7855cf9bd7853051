//! SHA-256: of streams, of files, and the short form that stands in reports.

use std::io::Read;
use std::path::Path;

use sha2::Digest;

use crate::{Error, Result};

/// A SHA-256 in progress.
#[derive(Clone, Default)]
pub struct Sha256(sha2::Sha256);

impl Sha256 {
    /// The digest of nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest as 64 lower-case hex digits.
    pub fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl std::fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sha256(..)")
    }
}

/// The first 16 hex digits of the SHA-256 of `bytes`.
pub fn short(bytes: &[u8]) -> String {
    let mut sha = Sha256::new();
    sha.update(bytes);
    let mut hex = sha.hex();
    hex.truncate(16);
    hex
}

/// [`short`] over the little-endian bytes of `items`.
pub fn short_of<T: bytemuck::NoUninit>(items: &[T]) -> String {
    const { assert!(cfg!(target_endian = "little"), "digests are over little-endian bytes") };
    short(bytemuck::cast_slice(items))
}

/// The full SHA-256, in hex, of the bytes of `path` as they are on disk (not decompressed).
///
/// # Errors
/// When the file cannot be opened or read.
pub fn file(path: &Path) -> Result<String> {
    let mut file = crate::open::regular(path)?;
    let mut sha = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(sha.hex()),
            Ok(n) => sha.update(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", path, e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        // FIPS 180-4 examples
        let mut sha = Sha256::new();
        sha.update(b"a");
        sha.update(b"bc");
        assert_eq!(sha.hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(short(b""), "e3b0c44298fc1c14");
    }

    #[test]
    fn items_are_little_endian_bytes() {
        assert_eq!(short_of(&[1u32, 0x0203]), short(&[1, 0, 0, 0, 3, 2, 0, 0]));
        assert_eq!(short_of::<f64>(&[]), short(b""));
    }
}
