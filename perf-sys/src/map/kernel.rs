//! A simulated kernel that writes an anonymous area, for tests, from any thread.
//!
//! # Safety
//!
//! This file may use `unsafe` because it writes the memory that readers borrow, by the rules of
//! `kernel/events/ring_buffer.c`: only outside `[tail, head)`, except in a ring that is overwritten.
//! The stores are atomic, so that a reader may copy an overwritten ring meanwhile.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use perf_abi::RecordType;

use super::{Area, PageWord};
use crate::error::Result;

/// The writer of a ring.
pub(crate) struct Kernel {
    area: Arc<Area>,
    offset: usize,
    words: usize,
    head: u64,
}

impl Kernel {
    #[cfg(test)]
    pub(crate) fn on(area: &Arc<Area>) -> Self {
        Self::new(area).unwrap()
    }

    /// # Errors
    ///
    /// [`Error::DataArea`](crate::Error::DataArea) if the area is not a ring.
    pub(crate) fn new(area: &Arc<Area>) -> Result<Self> {
        let (offset, words) = area.data()?;
        Ok(Self { area: Arc::clone(area), offset, words, head: 0 })
    }

    /// Moves the positions of an empty ring, before it has a reader.
    pub(crate) fn start_at(&mut self, position: u64) {
        if let Ok(here) = self.area.here() {
            here.word(PageWord::DATA_TAIL).store(position, Ordering::Relaxed);
        }
        self.publish(position);
    }

    /// Returns the header of a LOST record of `words` words.
    pub(crate) fn header(words: usize) -> u64 {
        Self::any_header(RecordType::LOST, words as u16 * 8)
    }

    /// Returns a header with any kind and any size in bytes, also a malformed one.
    pub(crate) fn any_header(kind: RecordType, size: u16) -> u64 {
        let kind = u64::from(kind.0);
        if cfg!(target_endian = "little") {
            kind | u64::from(size) << 48
        } else {
            kind << 32 | u64::from(size)
        }
    }

    /// Writes a record with this body, or returns `false` if the ring has no space for it.
    pub(crate) fn write(&mut self, body: &[u64]) -> bool {
        self.write_words(&[&[Self::header(body.len() + 1)], body].concat())
    }

    /// As [`write`](Self::write), with the header as the first word.
    pub(crate) fn write_words(&mut self, record: &[u64]) -> bool {
        // Acquire takes the place of the kernel's control dependency, so no store below precedes
        // this load.
        let Ok(here) = self.area.here() else { return false };
        let tail = here.word(PageWord::DATA_TAIL).load(Ordering::Acquire);
        let head = self.head.wrapping_add(record.len() as u64 * 8);
        if head.wrapping_sub(tail) > self.words as u64 * 8 {
            return false;
        }
        self.store(self.head, record);
        self.publish(head);
        true
    }

    /// Writes a record with this body before the last one, over older records.
    pub(super) fn write_backward(&mut self, body: &[u64]) {
        let record = [&[Self::header(body.len() + 1)], body].concat();
        let head = self.head.wrapping_sub(record.len() as u64 * 8);
        self.store(head, &record);
        self.publish(head);
    }

    /// Overwrites one word of the data, as a faulty kernel may.
    pub(crate) fn overwrite(&mut self, position: u64, word: u64) {
        self.store(position, &[word]);
    }

    /// Stores `data_head`, which may be invalid.
    pub(super) fn publish(&mut self, head: u64) {
        self.head = head;
        if let Ok(here) = self.area.here() {
            here.word(PageWord::DATA_HEAD).store(head, Ordering::Release);
        }
    }

    #[cfg(test)]
    pub(crate) fn page(&self, word: PageWord) -> &AtomicU64 {
        self.area.word(word)
    }

    #[cfg(test)]
    pub(crate) fn tail(&self) -> u64 {
        self.page(PageWord::DATA_TAIL).load(Ordering::Acquire)
    }

    fn store(&self, position: u64, words: &[u64]) {
        let Ok(here) = self.area.here() else { return };
        for (index, &value) in (position as usize / 8..).zip(words) {
            let word = here.at(self.offset + index % self.words * 8);
            // SAFETY: an aligned word of the data area, mapped as long as `self`. It is not borrowed: it is
            // outside `[tail, head)`, or in a ring that readers only copy.
            unsafe { AtomicU64::from_ptr(word) }.store(value, Ordering::Relaxed);
        }
    }
}
