//! The reader of a ring that the kernel overwrites, and loads of words from pages that are mapped for reading only.
//!
//! No part of such a ring is borrowed. Every word is copied by relaxed atomic loads, which are sound
//! while the kernel writes.
//!
//! std allows only relaxed loads up to a certain size there ("Atomic accesses to read-only memory" in
//! [`core::sync::atomic`]): 8 bytes on 64-bit targets, 4 on others, where a load of 8 may be compiled
//! to a compare-and-swap, which stores. Therefore 32-bit targets load the two halves of a word.
//!
//! # Safety
//!
//! This file may use `unsafe` because it reads shared memory that the kernel may be writing. Each
//! block is one relaxed atomic load of a size that std allows.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use super::{Area, Here, PageWord};
use crate::error::Result;

/// A ring mapped for reading only. Its data area is inside the mapping.
#[derive(Debug)]
pub(crate) struct Overwritten {
    area: Area,
    /// Offset of the data in the area, in bytes.
    offset: usize,
    /// Length of the data in words, a power of two.
    words: usize,
}

impl Overwritten {
    /// Returns the reader of the data area that the control page of `area` names.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`](crate::Error::DataArea) if it is not inside the mapping, or its length
    /// is not that of a ring.
    pub(crate) fn new(area: Area) -> Result<Self> {
        let (offset, words) = area.data()?;
        Ok(Self { area, offset, words })
    }

    /// Returns the length of the ring in words.
    pub(crate) const fn words(&self) -> usize {
        self.words
    }

    /// Returns [`Error::Forked`](crate::Error::Forked) in a child of `fork`.
    pub(crate) fn check_here(&self) -> Result<()> {
        self.area.here().map(|_| ())
    }

    /// Loads the position of the newest record. The kernel counts it downward from 0.
    pub(crate) fn head(&self) -> Result<u64> {
        let head = self.area.here()?.load(PageWord::DATA_HEAD);
        // In place of an acquire load, which a page mapped for reading only does not allow. Pairs with
        // the write barrier before the kernel's store.
        fence(Ordering::Acquire);
        // A 32-bit kernel counts modulo 2^32. A 64-bit head would be this low only after 2^64 - 2^32
        // bytes.
        Ok(if head != 0 && head >> 32 == 0 { head | u64::MAX << 32 } else { head })
    }

    /// Copies the whole ring, each word to its own index. A word that the kernel writes meanwhile is
    /// copied as it was before or after, on 32-bit targets each half of it.
    pub(crate) fn copy(&self, copy: &mut [u64]) -> Result<()> {
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
    /// If the kernel is writing the word, a 32-bit target may load one half from before and one from
    /// after.
    pub(super) fn load_data(self, offset: usize) -> u64 {
        if WHOLE {
            self.load_whole(offset)
        } else {
            join(self.load_half(offset + HIGH), self.load_half(offset + LOW))
        }
    }

    fn load_whole(self, offset: usize) -> u64 {
        let word = self.at(offset);
        // SAFETY: inside the mapping, which this process has; aligned because pages and the offset are;
        // this process writes it only atomically. Only where std allows 8 bytes.
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
    use std::sync::Arc;

    use perf_abi::RecordType;
    use perf_decode::{BackwardRecords, Scratch};

    use super::*;
    use crate::map::Kernel;

    #[test]
    fn a_copied_ring_is_read_newest_first() {
        let area = Arc::new(Area::anonymous(1).unwrap());
        let mut kernel = Kernel::on(&area);
        for number in 1..=300 {
            kernel.write_backward(&[number, number]);
        }
        drop(kernel);
        let ring = Overwritten::new(Arc::into_inner(area).unwrap()).unwrap();
        let mut copy = vec![0; ring.words()];
        ring.copy(&mut copy).unwrap();
        let mut scratch = Scratch::new();
        let records = BackwardRecords::new(&copy, ring.head().unwrap(), &mut scratch).unwrap();
        let records: Vec<_> = records.map(|record| record.unwrap()).collect();
        assert_eq!(records.len(), ring.words() / 3);
        for (record, number) in records.iter().zip((1..=300).rev()) {
            assert_eq!((record.kind(), &record.words()[1..]), (RecordType::LOST, &[number, number][..]));
        }
    }

    #[test]
    fn a_head_of_a_32_bit_kernel_is_extended() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_HEAD).store(0xffff_ff00, Ordering::Relaxed);
        assert_eq!(Overwritten::new(area).unwrap().head(), Ok(0_u64.wrapping_sub(256)));
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
