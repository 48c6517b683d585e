//! The bytes that a reader reads: of memory, or of a stream.

use std::fmt;
use std::io::{self, ErrorKind, Read};

use zerocopy::FromBytes;

use super::buffer::Buffer;

/// Bytes that are read from the start to the end.
pub trait Source: private::Source {}

impl<S: private::Source> Source for S {}

pub(super) mod private {
    use std::io;

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
    }
}

/// A file in memory, mapped or read as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// The bytes from the first record on.
    whole: &'a [u8],
    /// Those that are not consumed.
    rest: &'a [u8],
    /// The whole words of these; none if they are not aligned.
    words: &'a [u64],
}

impl<'a> Memory<'a> {
    pub(super) fn new(whole: &'a [u8]) -> Self {
        Self { whole, rest: whole, words: words(whole) }
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
        self.words = words(self.rest);
    }

    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        Some(self.whole)
    }
}

/// A stream with a buffer: a pipe, or an open file.
pub struct Stream<R> {
    pub(super) stream: R,
    buffer: Buffer,
}

/// Bytes that are read at once, at least; no record is longer than 64 KiB.
const CHUNK: usize = 256 << 10;

impl<R> Stream<R> {
    pub(super) fn new(stream: R) -> Self {
        Self { stream, buffer: Buffer::default() }
    }

    /// Drops the bytes that were read, after the position of the stream changed.
    pub(super) fn clear(&mut self) {
        self.buffer.consume(usize::MAX);
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
}

impl<R: Read> Stream<R> {
    /// Reads until there are `len` bytes or the stream ends.
    #[cold]
    fn read(&mut self, len: usize) -> io::Result<()> {
        while self.buffer.len() < len {
            // More than is needed, because a read of a few bytes costs as much as one of a page.
            match self.stream.read(self.buffer.spare(CHUNK)) {
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
