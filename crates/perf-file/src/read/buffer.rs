//! Bytes in memory that is aligned as words are, written at the end and read at the start.

use std::vec::Vec;

use zerocopy::IntoBytes;

/// A queue of bytes.
///
/// When the memory is full, the unread bytes are moved to its start, which is aligned. Records of
/// multiples of 8 bytes are aligned from then on.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    words: Vec<u64>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// Returns the unread bytes.
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        self.words.as_bytes().get(self.start..self.end).unwrap_or_default()
    }

    /// Returns the unread bytes as words, without a last part of a word; none if they are not
    /// aligned.
    #[inline]
    pub(super) fn unread_words(&self) -> &[u64] {
        if self.start % 8 == 0 {
            self.words.get(self.start / 8..self.end / 8).unwrap_or_default()
        } else {
            &[]
        }
    }

    /// Returns the number of unread bytes.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Consumes bytes at the start, at most all.
    #[inline]
    pub(super) fn consume(&mut self, len: usize) {
        self.start += len.min(self.len());
        // An empty buffer starts again where it is aligned, and nothing is moved.
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Returns the free bytes after the unread ones, at least `len`.
    pub(super) fn spare(&mut self, len: usize) -> &mut [u8] {
        // Only at the end of the memory, so that few bytes are moved: the start of a truncated
        // record.
        if self.words.len() * 8 - self.end < len {
            self.words.as_mut_bytes().copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.len());
            let words = (self.end + len).div_ceil(8);
            if words > self.words.len() {
                self.words.resize(words.next_power_of_two(), 0);
            }
        }
        self.words.as_mut_bytes().get_mut(self.end..).unwrap_or_default()
    }

    /// Marks `len` bytes of the free ones as written.
    pub(super) fn commit(&mut self, len: usize) {
        self.end = (self.end + len).min(self.words.len() * 8);
    }

    /// Appends bytes.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        for (to, from) in self.spare(bytes.len()).iter_mut().zip(bytes) {
            *to = *from;
        }
        self.commit(bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_bytes_move_to_an_aligned_start() {
        let mut buffer = Buffer::default();
        buffer.extend(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        buffer.consume(5);
        assert_eq!(buffer.unread(), [6, 7, 8, 9, 10]);
        buffer.spare(100);
        assert_eq!(buffer.unread(), [6, 7, 8, 9, 10]);
        assert_eq!(buffer.unread().as_ptr().addr() % align_of::<u64>(), 0);
        buffer.extend(&[11]);
        buffer.consume(6);
        assert_eq!((buffer.len(), buffer.unread()), (0, &[][..]));
    }

    #[test]
    fn memory_is_reused() {
        let mut buffer = Buffer::default();
        for _ in 0..1000 {
            buffer.extend(&[7; 100]);
            buffer.consume(100);
        }
        assert!(buffer.words.len() <= 128 / 8);
    }
}
