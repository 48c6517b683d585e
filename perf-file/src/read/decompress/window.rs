//! The content of a zstd stream: the window to which blocks refer, and the bytes that are unread.

use std::vec::Vec;

use zerocopy::IntoBytes;

use super::MAX_BLOCK;
use crate::Malformed;

/// Decompressed bytes. Those that were consumed stay while they are in the window of the frame.
///
/// When there is no capacity for another block, the bytes are moved so that the unread ones start at
/// a word, as those of `Buffer`.
#[derive(Default)]
pub(super) struct Window {
    words: Vec<u64>,
    /// Start of the frame's content.
    frame: usize,
    /// Bytes to which blocks can refer.
    size: usize,
    unread: usize,
    end: usize,
}

impl Window {
    /// Starts a frame with a window of `size` bytes.
    pub(super) fn start_frame(&mut self, size: usize) {
        (self.frame, self.size) = (self.end, size);
    }

    /// Returns the unread bytes.
    pub(super) fn unread(&self) -> &[u8] {
        self.words.as_bytes().get(self.unread..self.end).unwrap_or_default()
    }

    /// Returns the number of unread bytes.
    pub(super) fn len(&self) -> usize {
        self.end - self.unread
    }

    /// Consumes unread bytes, at most all.
    pub(super) fn consume(&mut self, len: usize) {
        self.unread += len.min(self.len());
    }

    /// Returns a block to write. Its content is dropped, unless it is committed.
    pub(super) fn block(&mut self) -> Block<'_> {
        if (self.words.len() * 8).saturating_sub(self.end) < MAX_BLOCK {
            self.move_needed();
        }
        let (frame, size, start) = (self.frame, self.size, self.end);
        Block { memory: self.words.as_mut_bytes(), frame, size, start, end: start }
    }

    /// Appends the content of a block, of this length.
    pub(super) fn commit(&mut self, len: usize) {
        self.end = (self.end + len).min(self.words.len() * 8);
    }

    /// Moves the bytes that are needed to the start of the memory.
    #[cold]
    fn move_needed(&mut self) {
        let needed = self.frame.max(self.end.saturating_sub(self.size)).min(self.unread);
        let start = needed.wrapping_sub(self.unread) % 8;
        let len = self.end - needed;
        // A third of the memory is free, so that two bytes are moved for each new one.
        let words = (start + len + len / 2 + MAX_BLOCK).div_ceil(8);
        if words > self.words.len() {
            self.words.reserve_exact(words - self.words.len());
            self.words.resize(words, 0);
        }
        self.words.as_mut_bytes().copy_within(needed..self.end, start);
        let moved = |position: usize| position.saturating_sub(needed) + start;
        (self.frame, self.unread, self.end) = (moved(self.frame), moved(self.unread), moved(self.end));
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.words.capacity() * 8
    }
}

/// A block that is written.
pub(super) struct Block<'a> {
    memory: &'a mut [u8],
    frame: usize,
    size: usize,
    start: usize,
    end: usize,
}

/// Bytes that are copied at once instead of a few.
const SHORT: usize = 16;

impl Block<'_> {
    /// Returns the length of the content.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns the end after `len` more bytes.
    #[inline]
    fn end_after(&self, len: usize) -> Result<usize, Malformed> {
        let end = self.end + len;
        if end - self.start > MAX_BLOCK {
            return Err(Malformed("a zstd block is decompressed to more than 128 KiB"));
        }
        Ok(end)
    }

    /// Appends the first `len` bytes of `from`, which are there.
    #[inline]
    pub(super) fn extend(&mut self, from: &[u8], len: usize) -> Result<(), Malformed> {
        let end = self.end_after(len)?;
        let to = self.memory.get_mut(self.end..).unwrap_or_default();
        match (to.first_chunk_mut::<SHORT>(), from.first_chunk()) {
            (Some(to), Some(from)) if len <= SHORT => *to = *from,
            _ => copy(to, from, len),
        }
        self.end = end;
        Ok(())
    }

    /// Appends `len` times a byte.
    pub(super) fn fill(&mut self, byte: u8, len: usize) -> Result<(), Malformed> {
        let end = self.end_after(len)?;
        self.memory.get_mut(self.end..end).unwrap_or_default().fill(byte);
        self.end = end;
        Ok(())
    }

    /// Appends `len` bytes that start `offset` bytes before the end, and may overlap.
    #[inline]
    pub(super) fn repeat(&mut self, offset: usize, len: usize) -> Result<(), Malformed> {
        let end = self.end_after(len)?;
        if offset == 0 || offset > (self.end - self.frame).min(self.size) {
            return Err(Malformed("a zstd block refers to bytes before the window"));
        }
        let start = self.end - offset;
        while self.end < end {
            let Some((before, to)) = self.memory.split_at_mut_checked(self.end) else { break };
            let from = before.get(start..).unwrap_or_default();
            let len = end - self.end;
            match (to.first_chunk_mut::<SHORT>(), from.first_chunk()) {
                (Some(to), Some(from)) if len <= SHORT => {
                    *to = *from;
                    self.end = end;
                }
                // The repeated bytes become more with each round.
                _ => {
                    let len = len.min(from.len());
                    copy(to, from, len);
                    self.end += len;
                }
            }
        }
        self.end = end;
        Ok(())
    }
}

/// Copies `len` bytes, if both have them.
#[inline]
fn copy(to: &mut [u8], from: &[u8], len: usize) {
    if let (Some(to), Some(from)) = (to.get_mut(..len), from.get(..len)) {
        to.copy_from_slice(from);
    }
}
