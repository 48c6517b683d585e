//! A simulated kernel that writes an anonymous area, for tests, from any thread.
//!
//! # Safety
//!
//! This file may use `unsafe` because it writes the memory that readers borrow, by the rules of
//! `kernel/events/ring_buffer.c`: only outside `[tail, head)`. The stores are atomic, so that a
//! reader may copy meanwhile.
#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use perf_abi::RecordType;

use crate::error::Result;
use crate::map::{Area, AuxRing, DataRing, OverwrittenAux, PageWord};

/// Not a multiple of 8.
const MARK: u64 = u64::MAX;

/// The writer of a ring in memory, as the kernel is of a mapped one.
#[derive(Debug)]
pub struct SimulatedKernel {
    area: Arc<Area>,
    offset: usize,
    words: usize,
    head: u64,
}

impl SimulatedKernel {
    /// Returns a writer and the reader of its ring of `data_pages` pages, which starts at position
    /// 0.
    ///
    /// # Errors
    ///
    /// [`Error::PageCount`](crate::Error::PageCount) unless `data_pages` is a power of two, and
    /// [`Error::System`](crate::Error::System) without memory.
    pub fn new(data_pages: usize) -> Result<(Self, DataRing)> {
        Self::at(data_pages, 0)
    }

    /// Creates a ring like [`new`](Self::new), with the first record at a position in bytes, a
    /// multiple of 8.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn at(data_pages: usize, position: u64) -> Result<(Self, DataRing)> {
        let area = Arc::new(Area::anonymous(data_pages)?);
        let (offset, words) = area.data()?;
        let kernel = Self { area: Arc::clone(&area), offset, words, head: position };
        kernel.store_word(PageWord::DATA_TAIL, position);
        kernel.store_word(PageWord::DATA_HEAD, position);
        Ok((kernel, DataRing::new(area, false)?))
    }

    /// Returns the reader of an AUX area that begins with `content`. Only one of these readers may
    /// release bytes.
    ///
    /// # Errors
    ///
    /// [`Error::System`](crate::Error::System) without memory.
    pub fn aux(&self, content: &[u8]) -> Result<AuxRing> {
        AuxRing::anonymous(Arc::clone(&self.area), content)
    }

    /// Returns a reader like [`aux`](Self::aux), for an overwritten area.
    ///
    /// # Errors
    ///
    /// The errors of [`aux`](Self::aux).
    pub fn overwritten_aux(&self, content: &[u8]) -> Result<OverwrittenAux> {
        OverwrittenAux::anonymous(Arc::clone(&self.area), content)
    }

    /// Returns the header of a LOST record of `words` words.
    pub fn header(words: usize) -> u64 {
        Self::any_header(RecordType::LOST, words as u16 * 8)
    }

    /// Returns a header with any kind and any size in bytes, also a malformed one.
    pub fn any_header(kind: RecordType, size: u16) -> u64 {
        let kind = u64::from(kind.0);
        if cfg!(target_endian = "little") {
            kind | u64::from(size) << 48
        } else {
            kind << 32 | u64::from(size)
        }
    }

    /// Writes a LOST record with this body, or returns `false` if the ring has no space for it.
    pub fn write(&mut self, body: &[u64]) -> bool {
        let header = [Self::header(body.len() + 1)];
        self.write_parts(&[&header, body])
    }

    /// Writes like [`write`](Self::write), with the header as the first word. Several records are
    /// written at once.
    pub fn write_words(&mut self, records: &[u64]) -> bool {
        self.write_parts(&[records])
    }

    fn write_parts(&mut self, parts: &[&[u64]]) -> bool {
        let Ok(here) = self.area.here() else { return false };
        let len: usize = parts.iter().map(|part| part.len()).sum();
        // Acquire takes the place of the kernel's control dependency, so no store below precedes
        // this load.
        let tail = here.word(PageWord::DATA_TAIL).load(Ordering::Acquire);
        let head = self.head.wrapping_add(len as u64 * 8);
        if tail == MARK || head.wrapping_sub(tail) > self.words as u64 * 8 {
            return false;
        }
        for (position, &word) in (0..).zip(parts.iter().copied().flatten()) {
            self.store(self.head.wrapping_add(position * 8), word);
        }
        self.head = head;
        self.store_word(PageWord::DATA_HEAD, head);
        true
    }

    /// Overwrites one word of the data, as a faulty kernel may. The reader proves by its exclusive
    /// borrow that no word is lent.
    pub fn overwrite(&mut self, _reader: &mut DataRing, position: u64, word: u64) {
        self.store(position, word);
    }

    /// Stores `data_head`, which may be invalid.
    #[cfg(test)]
    pub(crate) fn publish(&mut self, head: u64) {
        self.head = head;
        self.store_word(PageWord::DATA_HEAD, head);
    }

    /// Stores a `data_head` that no kernel has, for a reader that has to refuse it.
    pub fn damage_head(&self) {
        self.store_word(PageWord::DATA_HEAD, self.head.wrapping_add(4));
    }

    /// Stores `aux_head`.
    pub fn set_aux_head(&self, head: u64) {
        self.store_word(PageWord::AUX_HEAD, head);
    }

    /// Stores `aux_tail`, before there is a reader of the AUX area.
    pub fn set_aux_tail(&self, tail: u64) {
        self.store_word(PageWord::AUX_TAIL, tail);
    }

    /// Loads `aux_tail`.
    pub fn aux_tail(&self) -> u64 {
        self.load_word(PageWord::AUX_TAIL)
    }

    /// Loads `data_tail`.
    pub fn tail(&self) -> u64 {
        self.load_word(PageWord::DATA_TAIL)
    }

    /// Stores a `data_tail` that no reader stores, to detect a store by a reader. Nothing can be
    /// written until then.
    pub fn mark_tail(&self) {
        self.store_word(PageWord::DATA_TAIL, MARK);
    }

    /// Returns `data_tail`; `None` if it is marked.
    pub fn unmarked_tail(&self) -> Option<u64> {
        Some(self.tail()).filter(|tail| *tail != MARK)
    }

    fn load_word(&self, word: PageWord) -> u64 {
        self.area.here().map_or(0, |here| here.word(word).load(Ordering::Acquire))
    }

    fn store_word(&self, word: PageWord, value: u64) {
        if let Ok(here) = self.area.here() {
            here.word(word).store(value, Ordering::Release);
        }
    }

    fn store(&self, position: u64, value: u64) {
        let Ok(here) = self.area.here() else { return };
        let index = (position / 8) as usize & (self.words - 1);
        let word = here.at(self.offset + index * 8);
        // SAFETY: an aligned word of the data area, mapped as long as `self`. It is not borrowed:
        // it is outside `[tail, head)`, or the caller has the reader exclusively.
        unsafe { AtomicU64::from_ptr(word) }.store(value, Ordering::Relaxed);
    }
}
