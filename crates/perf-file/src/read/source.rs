//! The bytes that a reader reads: of memory, or of a stream.

use std::fmt;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::vec::Vec;

use zerocopy::FromBytes;

use super::buffer::Buffer;
use crate::error::{Error, Reason, Result};
use crate::format::Section;

/// Bytes that are read from the start to the end.
pub trait Source: private::Source {}

impl<S: private::Source> Source for S {}

pub(super) mod private {
    use std::io;
    use std::vec::Vec;

    use crate::error::Result;
    use crate::format::Section;

    pub trait Source {
        /// Returns the unread bytes: at least `len`, or all that are left.
        fn fill(&mut self, len: usize) -> io::Result<&[u8]>;

        /// Returns the bytes that the last call of `fill` returned.
        fn filled(&self) -> &[u8];

        /// Returns the unread bytes as words, without a last part of a word; none if they are not
        /// aligned.
        fn words(&self) -> &[u64];

        /// Consumes bytes that were returned by `fill`.
        fn consume(&mut self, len: usize);

        /// Returns all bytes from the first record on, if they stay in memory.
        fn whole(&self) -> Option<&[u8]>;

        /// Consumes up to `len` bytes without reading those that `fill` did not return. Returns how
        /// many; fewer at the end of the file, and if the source cannot seek.
        fn skip(&mut self, len: u64) -> io::Result<u64>;

        /// Returns the length of the file; `None` if the source cannot seek.
        fn file_len(&mut self) -> Result<Option<u64>>;

        /// Returns the content of a section; `next` is the offset in the file of the first byte
        /// that is not consumed. A truncated section is an error, as is every one of a source that
        /// cannot seek.
        fn section(&mut self, section: Section, what: &'static str, next: u64) -> Result<Vec<u8>>;
    }
}

/// A file in memory, mapped or read as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    file: &'a [u8],
    /// The bytes from the first record on.
    whole: &'a [u8],
    /// The bytes that are not consumed.
    rest: &'a [u8],
    /// The whole words of these; none if they are not aligned.
    words: &'a [u64],
}

impl<'a> Memory<'a> {
    /// Reads `file` from an offset on.
    pub(super) fn new(file: &'a [u8], offset: u64) -> Self {
        let from = usize::try_from(offset).ok().and_then(|offset| file.get(offset..));
        let whole = from.unwrap_or_default();
        Self { file, whole, rest: whole, words: words(whole) }
    }
}

/// Views the whole words at the start of bytes; none if they are not aligned.
#[inline]
pub(super) fn words(bytes: &[u8]) -> &[u64] {
    <[u64]>::ref_from_prefix_with_elems(bytes, bytes.len() / 8).map_or(&[], |(words, _)| words)
}

impl private::Source for Memory<'_> {
    #[inline]
    fn fill(&mut self, _: usize) -> io::Result<&[u8]> {
        Ok(self.rest)
    }

    #[inline]
    fn filled(&self) -> &[u8] {
        self.rest
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self.words
    }

    fn consume(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
        // Kept in addition to the bytes, because a step then only takes words and checks no
        // alignment.
        self.words = words(self.rest);
    }

    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self.whole)
    }

    fn skip(&mut self, len: u64) -> io::Result<u64> {
        let skipped = len.min(self.rest.len() as u64);
        self.consume(usize::try_from(skipped).unwrap_or(usize::MAX));
        Ok(skipped)
    }

    fn file_len(&mut self) -> Result<Option<u64>> {
        Ok(Some(self.file.len() as u64))
    }

    fn section(&mut self, section: Section, what: &'static str, _: u64) -> Result<Vec<u8>> {
        let Section { offset, size } = section;
        let from = usize::try_from(offset).ok().and_then(|start| self.file.get(start..)).unwrap_or_default();
        match usize::try_from(size).ok().and_then(|len| from.get(..len)) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => Err(Error::truncated(offset, what, size, from.len() as u64)),
        }
    }
}

/// A stream with a buffer: a pipe, or an open file.
pub struct Stream<R> {
    inner: R,
    buffer: Buffer,
    /// A function, so that only the constructor for files requires `Seek`; `None` for a pipe.
    seek: Option<fn(&mut R, SeekFrom) -> io::Result<u64>>,
}

/// Bytes that are read at once, at least; no record is longer than 64 KiB.
const CHUNK: usize = 256 << 10;

impl<R> Stream<R> {
    /// Reads a stream from its position on.
    pub(super) fn pipe(stream: R) -> Self {
        Self { inner: stream, buffer: Buffer::default(), seek: None }
    }

    /// Reads a file from its position on.
    pub(super) fn file(stream: R) -> Self
    where
        R: Seek,
    {
        Self { inner: stream, buffer: Buffer::default(), seek: Some(R::seek) }
    }

    /// Continues at an offset of the file.
    pub(super) fn seek(&mut self, offset: u64) -> Result<()> {
        self.buffer.consume(usize::MAX);
        match self.seek.map(|seek| seek(&mut self.inner, SeekFrom::Start(offset))) {
            Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(Error::new(offset, Reason::Io(error))),
            None => Err(Error::new(offset, Reason::Io(ErrorKind::NotSeekable.into()))),
        }
    }
}

impl<R: Read> private::Source for Stream<R> {
    #[inline]
    fn fill(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.buffer.len() < len {
            self.read(len)?;
        }
        Ok(self.buffer.unread())
    }

    #[inline]
    fn filled(&self) -> &[u8] {
        self.buffer.unread()
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self.buffer.unread_words()
    }

    #[inline]
    fn consume(&mut self, len: usize) {
        self.buffer.consume(len);
    }

    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        None
    }

    fn skip(&mut self, len: u64) -> io::Result<u64> {
        let buffered = len.min(self.buffer.len() as u64);
        self.buffer.consume(usize::try_from(buffered).unwrap_or(usize::MAX));
        let Some(seek) = self.seek.filter(|_| buffered < len) else { return Ok(buffered) };
        // A pipe that was opened as a file cannot seek, so its bytes are read.
        let Ok(position) = seek(&mut self.inner, SeekFrom::Current(0)) else { return Ok(buffered) };
        let end = seek(&mut self.inner, SeekFrom::End(0))?;
        let skipped = (len - buffered).min(end.saturating_sub(position));
        seek(&mut self.inner, SeekFrom::Start(position + skipped))?;
        Ok(buffered + skipped)
    }

    fn file_len(&mut self) -> Result<Option<u64>> {
        let Some(seek) = self.seek else { return Ok(None) };
        let io = |error| Error::of_file(Reason::Io(error));
        let position = seek(&mut self.inner, SeekFrom::Current(0)).map_err(io)?;
        let len = seek(&mut self.inner, SeekFrom::End(0)).map_err(io)?;
        seek(&mut self.inner, SeekFrom::Start(position)).map_err(io)?;
        Ok(Some(len))
    }

    fn section(&mut self, section: Section, what: &'static str, next: u64) -> Result<Vec<u8>> {
        if section.size == 0 {
            return Ok(Vec::new());
        }
        // The bytes that are buffered belong to the records. They are read again from `next` on.
        self.seek(section.offset)?;
        // Grows with the content of the file, so a length in a malformed file costs nothing.
        let mut bytes = Vec::new();
        let read = (&mut self.inner).take(section.size).read_to_end(&mut bytes);
        self.seek(next)?;
        let len = read.map_err(|error| Error::new(section.offset, Reason::Io(error)))? as u64;
        if len < section.size {
            return Err(Error::truncated(section.offset, what, section.size, len));
        }
        Ok(bytes)
    }
}

impl<R: Read> Stream<R> {
    /// Reads until there are `len` bytes or the stream ends.
    #[cold]
    fn read(&mut self, len: usize) -> io::Result<()> {
        while self.buffer.len() < len {
            // More than is needed, because a read of a few bytes costs as much as one of a page.
            match self.inner.read(self.buffer.spare(CHUNK)) {
                Ok(0) => break,
                Ok(count) => self.buffer.commit(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl<R> fmt::Debug for Stream<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("unread", &self.buffer.len()).finish_non_exhaustive()
    }
}
