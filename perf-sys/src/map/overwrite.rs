//! The reading side of a ring that the kernel overwrites.
//!
//! # Safety
//!
//! This file may use `unsafe` because it reads shared memory that the kernel may be writing. It lends
//! nothing of it: every word is copied by one atomic load, which is sound whatever the kernel does.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU64, Ordering, fence};

use super::{Area, PageWord};
use crate::Result;

/// A ring mapped for reading only: its writer waits for nobody.
///
/// Holding one proves that the data area lies inside the mapping.
#[derive(Debug)]
pub(crate) struct Overwritten {
    area: Area,
    /// Where the data start in the area, in bytes.
    offset: usize,
    /// The data's length in words: a power of two.
    words: usize,
}

impl Overwritten {
    /// Reads from `area` where its control page says the data are.
    ///
    /// # Errors
    ///
    /// [`Error::DataArea`](crate::Error::DataArea) if that is not inside the mapping, or no ring.
    pub(crate) fn new(area: Area) -> Result<Self> {
        let (offset, words) = area.data()?;
        Ok(Self { area, offset, words })
    }

    /// Words in the ring.
    pub(crate) const fn words(&self) -> usize {
        self.words
    }

    /// How far the kernel has written, downward from 0.
    pub(crate) fn head(&self) -> u64 {
        // On a page mapped for reading only a relaxed load is allowed, and an acquiring one is not: the
        // fence takes its place, and pairs with the write barrier before the kernel's store.
        let head = self.area.word(PageWord::DATA_HEAD).load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        // A 32-bit kernel counts down in 32 bits; no other comes so low.
        if head != 0 && head >> 32 == 0 { head | u64::MAX << 32 } else { head }
    }

    /// Copies the whole ring, each word to its own place. What the kernel writes meanwhile is copied as
    /// it was before or after, word by word.
    pub(crate) fn copy(&self, copy: &mut [u64]) {
        for (index, to) in copy.iter_mut().take(self.words).enumerate() {
            let word = self.area.mapping.at(self.offset + index * 8);
            // SAFETY: inside the data area, aligned because page and offset are, mapped as long as
            // `self`; this process uses it only through here, and writes it never. A relaxed load of a
            // word is allowed on pages mapped for reading only.
            *to = unsafe { AtomicU64::from_ptr(word) }.load(Ordering::Relaxed);
        }
        // The next look at the head is not taken before the words.
        fence(Ordering::Acquire);
    }
}

#[cfg(test)]
mod tests {
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
        ring.copy(&mut copy);
        let mut scratch = Scratch::new();
        let records = BackwardRecords::new(&copy, ring.head(), &mut scratch).unwrap();
        let records: Vec<_> = records.map(|record| record.unwrap()).collect();
        assert_eq!(records.len(), ring.words() / 3);
        for (record, number) in records.iter().zip((1..=300).rev()) {
            assert_eq!((record.kind(), &record.words()[1..]), (RecordType::LOST, &[number, number][..]));
        }
    }

    #[test]
    fn a_head_of_32_bits_counts_down_as_well() {
        let area = Area::anonymous(1).unwrap();
        area.word(PageWord::DATA_HEAD).store(0xffff_ff00, Ordering::Relaxed);
        assert_eq!(Overwritten::new(area).unwrap().head(), 0_u64.wrapping_sub(256));
    }
}
