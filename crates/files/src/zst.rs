//! Zstandard streams of any number of frames, skippable ones included, over `ruzstd`'s decoder of
//! a single frame. Checksums and declared sizes are verified here, because `ruzstd` does neither.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Reads the content of all frames of `source`, one after the other.
pub(crate) struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    state: State,
}

enum State {
    Between,
    /// Inside a frame that has handed out so many bytes.
    Inside(u64),
    /// After an error nothing may be read any more.
    Broken,
}

impl<R: BufRead> Frames<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), state: State::Between }
    }

    /// Starts the next frame; false at the end of the source.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.state = State::Inside(0);
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    self.skip(u64::from(length))?
                }
                Err(e) => return Err(corrupt(&e)),
            }
        }
        Ok(false)
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
        if skipped == length { Ok(()) } else { Err(truncated()) }
    }

    /// Decodes until there is something to hand out or the frame is over.
    fn advance(&mut self) -> io::Result<()> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            self.decoder
                .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                .map_err(|e| corrupt(&e))?;
        }
        Ok(())
    }

    fn end(&mut self, produced: u64) -> io::Result<()> {
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(invalid("compressed data is corrupt (checksum differs)"));
        }
        let declared = self.decoder.content_size(); // 0 also stands for "not declared"
        if declared != 0 && declared != produced {
            return Err(invalid("compressed data is corrupt (size differs from the declared one)"));
        }
        self.state = State::Between;
        Ok(())
    }

    fn step(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state {
                State::Broken => return Err(invalid("read on after an error")),
                State::Between => {
                    if !self.begin()? {
                        return Ok(0);
                    }
                }
                State::Inside(produced) => {
                    self.advance()?;
                    let n = self.decoder.read(out)?;
                    if n > 0 {
                        self.state = State::Inside(produced + n as u64);
                        return Ok(n);
                    }
                    self.end(produced)?;
                }
            }
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let result = self.step(out);
        if result.is_err() {
            self.state = State::Broken;
        }
        result
    }
}

/// `ruzstd` buries the end of the source deep inside its own errors.
fn corrupt(e: &FrameDecoderError) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(e);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return if io.kind() == io::ErrorKind::UnexpectedEof {
                truncated()
            } else {
                io::Error::new(io.kind(), io.to_string())
            };
        }
        cause = inner.source();
    }
    invalid(&format!("compressed data is corrupt ({e})"))
}

fn truncated() -> io::Error {
    let text = "compressed data ends too early, the file is truncated";
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
