//! Gzip streams of any number of members over `flate2`'s decoder of a single one, so that what follows the last member is
//! told apart from a member that is cut off.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Reads the content of all members of a source, one after the other.
pub(crate) struct Members<R> {
    /// `None` after an error: nothing may be read any more.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { member: Some(GzDecoder::new(source)) }
    }

    fn step(&mut self, mut member: GzDecoder<R>, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = member.read(out)?;
            let next = if n > 0 { None } else { member.get_mut().fill_buf()?.first().copied() };
            match next {
                // a member begins with 1f 8b; one byte of it may be all that is left
                Some(0x1f) => member = GzDecoder::new(member.into_inner()),
                Some(_) => {
                    let what = "trailing data after the gzip member";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                None => {
                    self.member = Some(member);
                    return Ok(n);
                }
            }
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.member.take() {
            Some(member) if out.is_empty() => {
                self.member = Some(member);
                Ok(0)
            }
            Some(member) => self.step(member, out),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "read on after an error")),
        }
    }
}
