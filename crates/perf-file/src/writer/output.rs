//! The file or pipe that is written.

use std::io::{self, BufWriter, Write};

use crate::error::{Error, Reason, Result};

/// Small writes that are collected, in bytes. Larger ones go straight to the file.
const BUFFER: usize = 64 << 10;

/// The file or pipe, with the number of bytes written so far.
#[derive(Debug)]
pub(super) struct Output<W: Write> {
    out: BufWriter<Counted<W>>,
    /// Bytes written, those that `out` still holds included.
    position: u64,
}

/// A file or pipe, with the number of bytes that it took: `BufWriter` does not report how much of a
/// failed write was written.
#[derive(Debug)]
struct Counted<W> {
    out: W,
    taken: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.taken += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Output<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out: BufWriter::with_capacity(BUFFER, Counted { out, taken: 0 }), position: 0 }
    }

    /// Returns the number of bytes written, those that are still collected included.
    pub(super) const fn position(&self) -> u64 {
        self.position
    }

    /// Returns the number of bytes that the file took.
    pub(super) fn taken(&self) -> u64 {
        self.out.get_ref().taken
    }

    pub(super) fn write(&mut self, part: &'static str, bytes: &[u8]) -> Result<()> {
        let written = self.out.write_all(bytes);
        self.position += bytes.len() as u64;
        self.check(part, written)
    }

    pub(super) fn flush(&mut self, part: &'static str) -> Result<()> {
        let flushed = self.out.flush();
        self.check(part, flushed)
    }

    /// Flushes the buffer and returns the file, whose position must be at its end after use.
    pub(super) fn flushed(&mut self, part: &'static str) -> Result<&mut W> {
        self.flush(part)?;
        Ok(&mut self.out.get_mut().out)
    }

    /// Flushes the buffer and returns the file.
    pub(super) fn into_inner(mut self, part: &'static str) -> Result<W> {
        self.flush(part)?;
        // Nothing is collected after a flush.
        let (counted, _) = self.out.into_parts();
        Ok(counted.out)
    }

    fn check(&self, part: &'static str, result: io::Result<()>) -> Result<()> {
        result.map_err(|error| Error::new(self.taken(), Reason::Write { part, error }))
    }
}
