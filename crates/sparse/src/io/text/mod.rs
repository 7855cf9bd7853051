//! Text as bytes: blocks of whole lines, and a cursor that reads numbers from them by hand.
//!
//! The readers of text formats stand on it. Nothing here knows a format, and nothing here trusts a size: the buffer
//! grows with the longest piece that is really there, up to [`LONGEST_LINE`]. Start with [`Blocks`], then [`Cursor`].

mod cursor;
mod number;

pub(crate) use cursor::Cursor;
pub(crate) use number::Shortest;
pub use number::Wrong;

use std::io::{self, BufRead};

use super::{Error, Result};

const BLOCK: usize = 256 << 10;

/// Bytes of the longest line (of the longest number, where lines may be of any length).
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// A stream cut into blocks that end where a piece ends.
pub(crate) struct Blocks<'a> {
    source: Box<dyn BufRead + Send + 'a>,
    name: String,
    buffer: Vec<u8>,
    /// Where the piece starts that the last block cut off.
    start: usize,
    /// End of the bytes read.
    filled: usize,
    taken: u64,
    ended: bool,
}

impl<'a> Blocks<'a> {
    /// Blocks of `source`; `name` stands in messages. A byte order mark is left out.
    pub(crate) fn new(source: Box<dyn BufRead + Send + 'a>, name: &str) -> Self {
        let buffer = vec![0; BLOCK];
        Self { source, name: name.to_owned(), buffer, start: 0, filled: 0, taken: 0, ended: false }
    }

    /// The name that stands in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of text read so far: the only size that memory may depend on.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// The next block. It ends with a byte for which `cut` is true, and always with one that a line may end with:
    /// a missing final newline is added. `None` after the last one. `line` is where the block starts, for messages.
    ///
    /// # Errors
    /// When reading fails, and when [`LONGEST_LINE`] bytes hold no cut.
    pub(crate) fn next(&mut self, line: u64, cut: fn(u8) -> bool) -> Result<Option<&[u8]>> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        let mut searched = 0;
        loop {
            self.fill()?;
            if self.ended {
                if self.filled == 0 {
                    return Ok(None);
                }
                if self.buffer[self.filled - 1] != b'\n' {
                    self.buffer[self.filled] = b'\n'; // `fill` leaves room for it
                    self.filled += 1;
                }
                self.start = self.filled;
                return Ok(Some(&self.buffer[..self.filled]));
            }
            if let Some(last) = self.buffer[searched..self.filled].iter().rposition(|&byte| cut(byte)) {
                self.start = searched + last + 1;
                return Ok(Some(&self.buffer[..self.start]));
            }
            searched = self.filled;
            if self.filled > LONGEST_LINE {
                return Err(Error::line(&self.name, line, Wrong::LongLine { limit: LONGEST_LINE }));
            }
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
    }

    /// Reads until the buffer is full, but for one byte, or the stream ends.
    fn fill(&mut self) -> Result<()> {
        while !self.ended && self.filled + 1 < self.buffer.len() {
            let room = self.buffer.len() - 1;
            match self.source.read(&mut self.buffer[self.filled..room]) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    self.filled += n;
                    self.taken += n as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Error::read(&self.name, e)),
            }
            self.drop_mark();
        }
        Ok(())
    }

    /// A byte order mark is three bytes at the very start.
    fn drop_mark(&mut self) {
        if self.taken == self.filled as u64 && self.buffer[..self.filled].starts_with(b"\xef\xbb\xbf") {
            self.buffer.copy_within(3..self.filled, 0);
            self.filled -= 3;
        }
    }
}

/// A line ends here.
pub(crate) fn newline(byte: u8) -> bool {
    byte == b'\n'
}

/// A number ends here.
pub(crate) fn space(byte: u8) -> bool {
    matches!(byte, b'\n' | b' ' | b'\t' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte a call.
    struct Drip<'a>(&'a [u8]);

    impl io::Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(out.len()).min(1);
            out[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn all(bytes: &[u8], cut: fn(u8) -> bool) -> Result<Vec<u8>> {
        let mut blocks = Blocks::new(Box::new(io::BufReader::with_capacity(1, Drip(bytes))), "t");
        let mut text = Vec::new();
        while let Some(block) = blocks.next(1, cut)? {
            assert!(block.ends_with(b"\n") || cut(block[block.len() - 1]));
            text.extend_from_slice(block);
        }
        Ok(text)
    }

    #[test]
    fn mark_goes_and_last_newline_comes() {
        assert_eq!(all(b"\xef\xbb\xbf1 2\n3 4", newline).unwrap(), b"1 2\n3 4\n");
        assert_eq!(all(b"\xef\xbb", newline).unwrap(), b"\xef\xbb\n");
        assert_eq!(all(b"", newline).unwrap(), b"");
        assert_eq!(all(b"\xef\xbb\xbf", newline).unwrap(), b"");
    }

    #[test]
    fn long_text_comes_whole() {
        let text: Vec<u8> = (0..200_000).flat_map(|i: u32| format!("{i} {}\n", i * 7).into_bytes()).collect();
        assert_eq!(all(&text, newline).unwrap(), text);
        assert_eq!(all(&text, space).unwrap(), text);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let error = all(&vec![b'1'; 3 * LONGEST_LINE], newline).unwrap_err();
        assert_eq!(error.to_string(), "t:1: the line is longer than 1048576 bytes");
        assert_eq!(all(&vec![b'1'; LONGEST_LINE / 2], newline).unwrap().len(), LONGEST_LINE / 2 + 1);
    }
}
