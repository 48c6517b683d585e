//! The reader of a ring that the kernel overwrites, and loads of words from pages that are mapped
//! for reading only.
//!
//! No part of such a ring is borrowed. Every word is copied by relaxed atomic loads, which are
//! sound while the kernel writes.
//!
//! std allows only relaxed loads up to a certain size there ("Atomic accesses to read-only memory"
//! in [`core::sync::atomic`]): 8 bytes on 64-bit targets, 4 on others, where a load of 8 may be
//! compiled to a compare-and-swap, which stores. Therefore 32-bit targets load the two halves of a
//! word.
//!
//! # Safety
//!
//! This file may use `unsafe` because it reads shared memory that the kernel may be writing. Each
//! block is one relaxed atomic load of a size that std allows.
#![allow(unsafe_code)]

use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use super::{Area, Here, PageWord};
use crate::error::{Error, Result};
use crate::event::{Event, membarrier_global};

/// A mapped ring in which the kernel overwrites the oldest records. Since Linux 4.7.
///
/// Holding one proves that its data area is inside the mapping. Its words are only copied. Before
/// the copy, stop the kernel: [`Event::pause_output`], then
/// [`wait_for_writers`](Self::wait_for_writers).
///
/// The mapping is not inherited across `fork`; see [`Error::Forked`].
#[derive(Debug)]
pub struct OverwrittenRing {
    area: Area,
    /// Offset of the data in the area, in bytes.
    offset: usize,
    /// Length of the data in words, a power of two.
    words: usize,
}

impl OverwrittenRing {
    /// `mmap(NULL, (1 + data_pages) * page, PROT_READ, MAP_SHARED, fd, 0)`—Maps a ring of
    /// `data_pages` pages that is overwritten.
    ///
    /// # Errors
    ///
    /// [`Error::WriteForward`] unless the event has
    /// [`WRITE_BACKWARD`](perf_abi::AttrFlags::WRITE_BACKWARD), because no record can be found in a
    /// ring overwritten forward. Otherwise as [`DataRing::map`](crate::DataRing::map).
    ///
    /// # References
    ///
    /// `perf_event_open(2)`, `write_backward`.
    pub fn map(event: &Arc<Event>, data_pages: usize) -> Result<Self> {
        if !data_pages.is_power_of_two() {
            return Err(Error::PageCount { found: data_pages });
        }
        if !event.writes_backward() {
            return Err(Error::WriteForward);
        }
        Self::new(Area::map_overwritten(event, data_pages)?)
    }

    /// Returns the reader of the data area that the control page of `area` names.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`] if it is not inside the mapping, or its length is impossible for a ring.
    pub(crate) fn new(area: Area) -> Result<Self> {
        let (offset, words) = area.data()?;
        Ok(Self { area, offset, words })
    }

    /// `membarrier(MEMBARRIER_CMD_GLOBAL)`—Waits until the kernel has finished every record that it
    /// began before a pause. Such a record may be half written, over the oldest ones.
    ///
    /// The kernel tests the pause under `rcu_read_lock` and writes with preemption disabled
    /// (`perf_output_begin`), so a grace period of RCU has to pass. Of the membarrier commands only
    /// GLOBAL waits for one; the expedited ones interrupt CPUs that run certain processes, which
    /// orders memory but waits for no section with preemption disabled. GLOBAL fails with
    /// `nohz_full` and under some seccomp filters. Then the oldest records may be damaged.
    pub fn wait_for_writers() {
        membarrier_global();
    }

    /// Returns the length of the ring in words, a power of two.
    pub const fn words(&self) -> usize {
        self.words
    }

    /// Returns [`Error::Forked`] in a child of `fork`.
    pub fn check_process(&self) -> Result<()> {
        self.area.here().map(|_| ())
    }

    /// Loads the position of the newest record. The kernel counts it downward from 0.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`], and [`Error::Positions`] if it is not a multiple of 8.
    pub fn head(&self) -> Result<u64> {
        let head = self.area.here()?.load(PageWord::DATA_HEAD);
        // In place of an acquire load, which a page mapped for reading only does not allow. Pairs
        // with the write barrier before the kernel's store.
        fence(Ordering::Acquire);
        // A 32-bit kernel counts modulo 2^32. A 64-bit head would be this low only after 2^64 -
        // 2^32 bytes.
        let head = if head != 0 && head >> 32 == 0 { head | u64::MAX << 32 } else { head };
        if head % 8 != 0 {
            return Err(Error::Positions { tail: 0, head, size: self.words * 8 });
        }
        Ok(head)
    }

    /// Copies the whole ring, each word to its own index, to the first [`words`](Self::words) of
    /// `copy`. A word that the kernel writes meanwhile is copied as it was before or after, on
    /// 32-bit targets in halves.
    pub fn copy(&self, copy: &mut [u64]) -> Result<()> {
        let here = self.area.here()?;
        for (index, to) in copy.iter_mut().take(self.words).enumerate() {
            *to = here.load_data(self.offset + index * 8);
        }
        // A later load of the head is not reordered before the words.
        fence(Ordering::Acquire);
        Ok(())
    }
}

/// Set if the target may load 8 bytes.
const WHOLE: bool = cfg!(target_pointer_width = "64");
/// The offset of the more significant half of a word, in bytes.
const HIGH: usize = if cfg!(target_endian = "little") { 4 } else { 0 };
const LOW: usize = 4 - HIGH;

impl Here<'_> {
    /// Loads a word of the control page, relaxed. The kernel may be writing it.
    pub(super) fn load(self, PageWord(offset): PageWord) -> u64 {
        if WHOLE {
            self.load_whole(offset)
        } else {
            untorn(|| self.load_half(offset + HIGH), || self.load_half(offset + LOW))
        }
    }

    /// Loads the word at `offset`, relaxed. `offset` is a multiple of 8 inside the mapping.
    ///
    /// If the kernel is writing the word, a 32-bit target may load one half from before and one
    /// from after.
    pub(super) fn load_data(self, offset: usize) -> u64 {
        if WHOLE {
            self.load_whole(offset)
        } else {
            join(self.load_half(offset + HIGH), self.load_half(offset + LOW))
        }
    }

    fn load_whole(self, offset: usize) -> u64 {
        let word = self.at(offset);
        // SAFETY: inside the mapping, which this process has; aligned because pages and the offset
        // are; this process writes it only atomically. Only where std allows 8 bytes.
        unsafe { AtomicU64::from_ptr(word) }.load(Ordering::Relaxed)
    }

    /// Loads the `u32` at `offset`, relaxed. `offset` is a multiple of 4 inside the mapping.
    pub(super) fn load_half(self, offset: usize) -> u32 {
        let half = self.at(offset);
        // SAFETY: as in `load_whole`; std allows 4 bytes on all targets. No access of another size
        // by this process races with it, because only the kernel writes meanwhile.
        unsafe { AtomicU32::from_ptr(half) }.load(Ordering::Relaxed)
    }
}

fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Returns a word from two halves of the same value, for a position that moves by less than 4 GiB
/// meanwhile.
fn untorn(high: impl Fn() -> u32, low: impl Fn() -> u32) -> u64 {
    let mut before = high();
    loop {
        // The fences keep the three loads in this order.
        fence(Ordering::Acquire);
        let low = low();
        fence(Ordering::Acquire);
        let after = high();
        if before == after {
            return join(after, low);
        }
        before = after;
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn every_word_is_copied_to_its_index() {
        let area = Area::anonymous(1).unwrap();
        let (offset, words) = area.data().unwrap();
        for index in 0..words {
            let word: *mut u64 = area.here().unwrap().at(offset + index * 8);
            // SAFETY: an aligned word of the mapping, to which nothing else refers.
            unsafe { AtomicU64::from_ptr(word) }.store(index as u64, Ordering::Relaxed);
        }
        let ring = OverwrittenRing::new(area).unwrap();
        let mut copy = vec![77; ring.words() + 1];
        ring.copy(&mut copy).unwrap();
        assert!(copy[..words].iter().copied().eq(0..words as u64));
        assert_eq!(copy[words], 77);
    }

    #[test]
    fn a_head_that_is_not_a_multiple_of_8_is_refused() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_HEAD).store(u64::MAX - 8, Ordering::Relaxed);
        let error = OverwrittenRing::new(area).unwrap().head().unwrap_err();
        assert!(matches!(error, Error::Positions { .. }), "{error}");
    }

    #[test]
    fn a_head_of_a_32_bit_kernel_is_extended() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_HEAD).store(0xffff_ff00, Ordering::Relaxed);
        assert_eq!(OverwrittenRing::new(area).unwrap().head(), Ok(0_u64.wrapping_sub(256)));
    }

    #[test]
    fn halves_of_a_word_are_the_word() {
        const VALUE: u64 = 0x0123_4567_89ab_cdef;
        let area = Area::anonymous(0).unwrap();
        area.word(PageWord::DATA_HEAD).store(VALUE, Ordering::Relaxed);
        let (here, PageWord(offset)) = (area.here().unwrap(), PageWord::DATA_HEAD);
        assert_eq!((here.load_half(offset + HIGH), here.load_half(offset + LOW)), (0x0123_4567, 0x89ab_cdef));
        assert_eq!((here.load(PageWord::DATA_HEAD), here.load_data(offset)), (VALUE, VALUE));
    }

    #[test]
    fn a_position_that_moves_between_the_halves_is_loaded_again() {
        // The writer goes down across 4 GiB after the first load of the higher half.
        let loads = Cell::new(0);
        let position = || {
            loads.set(loads.get() + 1);
            if loads.get() == 1 { 1_u64 << 32 } else { (1 << 32) - 8 }
        };
        assert_eq!(untorn(|| (position() >> 32) as u32, || position() as u32), (1 << 32) - 8);
        assert_eq!(loads.get(), 5);
    }
}
