//! The unread part of a ring.

use crate::error::{Error, Result};
use crate::records::Records;

/// The unread part of a ring: one slice, or two if it wraps at the end of the data area.
///
/// The slices can be of the kernel's mapping, of an array in a test or of a saved capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window<'a> {
    first: &'a [u64],
    second: &'a [u64],
}

impl<'a> Window<'a> {
    /// Returns the part of `data`, a ring's whole data area, between two positions in bytes.
    ///
    /// `tail` is the reader's position and `head` the writer's, the control page's `data_tail` and
    /// `data_head`. Both are free-running, and this function takes them modulo the size of the
    /// area.
    ///
    /// # Errors
    ///
    /// [`Error::RingSize`] if the area is not a power of two, [`Error::UnalignedPosition`] if a
    /// position is not a multiple of 8, [`Error::HeadBehindTail`], and [`Error::Overrun`] if they
    /// are further apart than the size of the area.
    pub fn new(data: &'a [u64], tail: u64, head: u64) -> Result<Self> {
        let (start, len) = span(data.len(), tail, head)?;
        let (before, from) = data.split_at_checked(start).unwrap_or((data, &[]));
        // Either the span ends before the area does, or it continues at the area's start.
        Ok(match from.get(..len) {
            Some(first) => Self { first, second: &[] },
            None => Self { first: from, second: before.get(..len - from.len()).unwrap_or(before) },
        })
    }

    /// Returns a window of two slices, in reading order.
    ///
    /// For readers of live memory, which must not make one slice of the whole area while the kernel
    /// writes into its rest. See [`span`](Window::span).
    #[must_use]
    pub const fn from_slices(first: &'a [u64], second: &'a [u64]) -> Self {
        Self { first, second }
    }

    /// Returns the position of [`Window::new`]'s window in an area of `words` words: the index of
    /// its first word, and its length in words. It continues at index 0 if it reaches the area's
    /// end.
    ///
    /// # Errors
    ///
    /// The errors of [`Window::new`] for a size or positions that are impossible.
    pub fn span(words: usize, tail: u64, head: u64) -> Result<(usize, usize)> {
        span(words, tail, head)
    }

    /// Returns the length in bytes.
    pub const fn len(&self) -> usize {
        (self.first.len() + self.second.len()) * 8
    }

    /// Returns whether there is nothing to read.
    pub const fn is_empty(&self) -> bool {
        self.first.is_empty() && self.second.is_empty()
    }

    /// Returns the two slices in reading order. The second is empty if the window does not wrap.
    pub const fn as_slices(&self) -> (&'a [u64], &'a [u64]) {
        (self.first, self.second)
    }

    /// Iterates over the records, oldest first. The one that wraps, if any, is copied to `scratch`.
    ///
    /// A [`Scratch`](crate::Scratch) or any slice that is as long as the data area or 64 KiB,
    /// whichever is less. A window whose second slice is empty needs no scratch: `&mut []`. If
    /// the record that wraps is longer than `scratch`, the iteration ends with
    /// [`Error::ScratchTooShort`] before it.
    #[inline]
    pub fn records(self, scratch: &'a mut [u64]) -> Records<'a> {
        Records::new(self, scratch)
    }
}

fn span(words: usize, tail: u64, head: u64) -> Result<(usize, usize)> {
    let size = (words as u64).checked_mul(8).filter(|_| words.is_power_of_two());
    let Some(size) = size else {
        return Err(Error::RingSize { len: words.saturating_mul(8) });
    };
    if (tail | head) % 8 != 0 {
        return Err(Error::UnalignedPosition { tail, head });
    }
    let used = head.wrapping_sub(tail);
    if used > size {
        return Err(if head < tail {
            Error::HeadBehindTail { tail, head }
        } else {
            Error::Overrun { tail, head, size }
        });
    }
    Ok(((tail / 8) as usize & (words - 1), (used / 8) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: [u64; 4] = [10, 11, 12, 13];

    #[test]
    fn window_that_wraps_is_two_slices() {
        let window = Window::new(&DATA, 24, 40).unwrap();
        assert_eq!(window.as_slices(), (&[13][..], &[10][..]));
        assert_eq!(window.len(), 16);
    }

    #[test]
    fn full_ring_is_read_from_the_tail() {
        let window = Window::new(&DATA, 8, 40).unwrap();
        assert_eq!(window.as_slices(), (&[11, 12, 13][..], &[10][..]));
    }

    #[test]
    fn empty_ring_is_an_empty_window() {
        assert!(Window::new(&DATA, 16, 16).unwrap().is_empty());
        assert!(!Window::new(&DATA, 16, 24).unwrap().is_empty());
        assert!(!Window::from_slices(&DATA, &[]).is_empty() && !Window::from_slices(&[], &DATA).is_empty());
    }

    #[test]
    fn positions_wrap_at_the_end_of_u64() {
        let window = Window::new(&DATA, u64::MAX - 7, 8).unwrap();
        assert_eq!(window.as_slices(), (&[13][..], &[10][..]));
    }

    #[test]
    fn head_before_the_tail_is_refused() {
        assert_eq!(Window::new(&DATA, 16, 8), Err(Error::HeadBehindTail { tail: 16, head: 8 }));
    }

    #[test]
    fn more_than_the_ring_holds_is_an_overrun() {
        assert_eq!(Window::new(&DATA, 0, 40), Err(Error::Overrun { tail: 0, head: 40, size: 32 }));
    }

    #[test]
    fn unaligned_position_is_refused() {
        assert_eq!(Window::new(&DATA, 0, 12), Err(Error::UnalignedPosition { tail: 0, head: 12 }));
        assert_eq!(Window::new(&DATA, 12, 16), Err(Error::UnalignedPosition { tail: 12, head: 16 }));
        assert_eq!(Window::new(&DATA, 4, 8), Err(Error::UnalignedPosition { tail: 4, head: 8 }));
    }

    #[test]
    fn ring_of_three_words_is_refused() {
        assert_eq!(Window::new(&DATA[..3], 0, 8), Err(Error::RingSize { len: 24 }));
    }

    #[test]
    fn span_of_any_ring_size_does_not_overflow() {
        for words in [1 << 60, 1 << 61, 1 << 63, (1 << 61) + 1, u64::MAX] {
            let Ok(words) = usize::try_from(words) else { continue };
            match Window::span(words, 8, 24) {
                Ok(span) => assert_eq!(span, (1, 2), "{words:#x}"),
                Err(error) => assert!(matches!(error, Error::RingSize { .. }), "{words:#x}: {error:?}"),
            }
        }
        assert_eq!(Window::span(usize::MAX / 16 + 1, 8, 24), Ok((1, 2)));
    }

    #[test]
    fn positions_unaligned_by_the_same_number_are_refused() {
        assert_eq!(Window::new(&DATA, 4, 12), Err(Error::UnalignedPosition { tail: 4, head: 12 }));
    }
}
