//! The unread records of a BPF ring buffer map: copied, or borrowed by callers that know that the
//! map has no other reader.
//!
//! # Safety
//!
//! This file may use `unsafe` to borrow records in the shared memory as slices. The kernel must not
//! write them before they are released, which this process cannot prove, because another process
//! may map the same ring and release them. So that is the obligation of a caller. Everything else
//! reads by atomic loads, and trusts neither a position nor a length.

use core::slice;
use core::sync::atomic::{Ordering, fence};

use perf_ring::decode::bytes_from_words;
use perf_ring::sys::page_size;

use super::pages::Here;
use crate::error::Error;

/// Set in the length of a record that its program has not committed (`BPF_RINGBUF_BUSY_BIT`).
pub(super) const BUSY: u32 = 1 << 31;
/// Set in the length of a record that its program has discarded (`BPF_RINGBUF_DISCARD_BIT`).
pub(super) const DISCARDED: u32 = 1 << 30;
/// Length of a record's header in bytes (`BPF_RINGBUF_HDR_SZ`).
pub(super) const HEADER: u64 = 8;

/// One step through the unread records.
pub(super) enum Step {
    /// All records are consumed, or the next one is not committed.
    End,
    /// A committed record, and the position after it.
    Record(Data, u64),
    /// A discarded record: the position after it.
    Discarded(u64),
    /// A record that is longer than the unread bytes.
    Damaged { at: u64, len: u32, available: u64 },
}

/// The data of a committed record.
///
/// Holding one proves that `offset + len` rounded up to 8 bytes is inside the producer's mapping,
/// and that `offset` is a multiple of 8. It was made by the [`Unread`] to which it is passed.
#[derive(Clone, Copy)]
pub(super) struct Data {
    offset: usize,
    /// Length in bytes.
    len: u32,
}

/// The unread records, up to `head`.
#[derive(Debug)]
pub(super) struct Unread<'c> {
    /// `None` in a child of `fork`, where nothing is unread.
    here: Option<Here<'c>>,
    /// Offset of the data in the producer's mapping, in bytes.
    page: usize,
    size: usize,
    /// End of the records, free-running.
    pub(super) head: u64,
    guess: LengthGuess,
}

impl<'c> Unread<'c> {
    #[inline]
    pub(super) fn new(here: Option<Here<'c>>, size: usize, head: u64) -> Self {
        Self { here, page: page_size(), size, head, guess: LengthGuess::new() }
    }

    /// Returns the record at `next`, which must be a position that an earlier step returned or
    /// `next` of the consumer.
    #[inline(always)] // so that a loop keeps the guess in registers; benches/bpf
    pub(super) fn step(&mut self, next: u64) -> Step {
        if next == self.head {
            return Step::End;
        }
        let header = self.header(next);
        let available = self.head.wrapping_sub(next);
        if let Some(record) = self.guess.record(header) {
            if record <= available {
                return self.record(next, header, record);
            }
        }
        if header & BUSY != 0 {
            return Step::End;
        }
        let len = header & !(BUSY | DISCARDED);
        let record = (HEADER + u64::from(len) + 7) & !7;
        if record > available {
            return Step::Damaged { at: next, len, available };
        }
        if header & DISCARDED != 0 {
            return Step::Discarded(next.wrapping_add(record));
        }
        self.guess.learn(len, record);
        self.record(next, len, record)
    }

    /// Returns the committed record at `next`, with `len` bytes of data and `record` bytes in
    /// total, which are at most the unread bytes.
    #[inline(always)]
    fn record(&self, next: u64, len: u32, record: u64) -> Step {
        // `offset < page + size` and `HEADER + len <= record <= available <= size` (of a guess, by
        // the `learn` above), so the data are inside the producer's mapping of a page and twice the
        // data.
        let data = Data { offset: self.offset(next) + HEADER as usize, len };
        Step::Record(data, next.wrapping_add(record))
    }

    /// Copies the data of a record to the start of `free`, each word by one atomic load, and
    /// returns the copy and the rest of `free`. If another reader has released the record, the
    /// bytes may belong to later records.
    #[inline(always)]
    pub(super) fn copy<'b>(&self, data: Data, free: &'b mut [u64]) -> Option<(&'b [u8], &'b mut [u64])> {
        let here = self.here?;
        let len = data.len as usize;
        let (copy, free) = free.split_at_mut_checked(len.div_ceil(8))?;
        let mut offset = data.offset;
        for word in copy.iter_mut() {
            *word = here.load_data(offset);
            offset += 8;
        }
        Some((bytes_from_words(copy).get(..len)?, free))
    }

    /// Borrows the data of a record.
    ///
    /// # Safety
    ///
    /// No other reader of the ring, in any process, releases records as long as `'c`.
    #[inline(always)]
    pub(super) unsafe fn borrow(&self, data: Data) -> Option<&'c [u8]> {
        let first = self.here?.at(data.offset);
        // SAFETY: inside the mapping by `Data`; bytes need no alignment; the record is committed
        // and in `[published, head)`, which the kernel does not write before it is released: by
        // another reader, which the caller excludes, or by `release`, which needs the consumer that
        // `'c` borrows.
        Some(unsafe { slice::from_raw_parts(first, data.len as usize) })
    }

    /// Loads the length of the record at `next` with its two bits. A child of `fork` finds it busy.
    #[inline]
    pub(super) fn header(&self, next: u64) -> u32 {
        let Some(here) = self.here else { return BUSY };
        let header = here.load_half(self.offset(next));
        // Acquire pairs with the `xchg` that clears the busy bit: the record is complete.
        fence(Ordering::Acquire);
        header
    }

    /// Returns the offset of the header at `next` in the mapping. It is a multiple of 8, because
    /// the kernel rounds all records to 8 bytes; a damaged position is rounded down.
    #[inline]
    fn offset(&self, next: u64) -> usize {
        self.page + (next as usize & (self.size - 1) & !7)
    }
}

/// Returns the error of a record that is longer than the unread bytes. Cold, so that a loop does
/// not make space for it.
#[cold]
pub(super) fn damaged(at: u64, len: u32, available: u64) -> Error {
    Error::RingBufRecord { at, len, available }
}

/// The guess that a record of a ring buffer is as long as the ones before it.
///
/// The position of a header depends on the length in the one before, a chain of loads. Comparing
/// the header with a guess makes that dependence a branch, which the CPU predicts, so it fetches
/// the next record before this one's length has arrived (benches `bpf`). A wrong guess is a
/// misprediction, so a length is guessed only after several equal ones.
#[derive(Clone, Copy, Debug)]
struct LengthGuess {
    /// The header that is guessed, without flags, or [`NONE`].
    header: u64,
    /// Bytes from that header to the next one. Not computed from `header`, or the compiler would
    /// compute it from the header that is equal to it.
    record: u64,
    /// The header of the previous record.
    last: u32,
    /// Number of preceding records with the same header.
    equal: u32,
}

/// No guess: more than any header.
const NONE: u64 = u64::MAX;

/// Equal headers in a row before the next one is guessed.
const EQUAL: u32 = 4;

impl LengthGuess {
    #[inline]
    const fn new() -> Self {
        Self { header: NONE, record: 0, last: 0, equal: 0 }
    }

    /// Returns the `record` with which `header` was [learned](Self::learn), if it is guessed.
    #[inline(always)]
    fn record(&self, header: u32) -> Option<u64> {
        (u64::from(header) == self.header).then_some(self.record)
    }

    /// Notes a header without flags that was not guessed, and the bytes to the next one.
    #[inline(always)]
    fn learn(&mut self, header: u32, record: u64) {
        self.equal = if header == self.last { self.equal + 1 } else { 0 };
        self.last = header;
        self.header = NONE;
        if self.equal >= EQUAL {
            self.header = u64::from(header);
            self.record = record;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which of these headers are guessed.
    fn guessed(headers: &[u32]) -> Vec<bool> {
        let mut guess = LengthGuess::new();
        let is_guessed = |&header: &u32| {
            let record = u64::from(header) + 8;
            let found = guess.record(header);
            assert!(found.is_none_or(|found| found == record));
            if found.is_none() {
                guess.learn(header, record);
            }
            found.is_some()
        };
        headers.iter().map(is_guessed).collect()
    }

    #[test]
    fn length_is_guessed_after_five_equal_ones() {
        assert_eq!(guessed(&[16; 7]), [false, false, false, false, false, true, true]);
    }

    #[test]
    fn another_length_ends_the_guess_until_five_are_equal_again() {
        let headers = [8, 8, 8, 8, 8, 8, 24, 8, 8, 8, 8, 8, 8];
        let mut expected = [false; 13];
        (expected[5], expected[12]) = (true, true);
        assert_eq!(guessed(&headers), expected);
    }
}
