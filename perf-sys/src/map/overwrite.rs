//! The reader of a ring that the kernel overwrites.
//!
//! No part of the ring is borrowed. Every word is copied by relaxed atomic loads, which are sound
//! while the kernel writes.

use core::sync::atomic::{Ordering, fence};

use super::{Area, PageWord};
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
}
