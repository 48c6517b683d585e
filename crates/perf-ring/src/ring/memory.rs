//! Rings in memory, for tests of programs that read rings.

use std::sync::Arc;

use perf_abi::Attr;
use perf_sys::testing::{SimulatedKernel, quiet_event};
use perf_sys::{Error as SysError, page_size};

use super::{Ring, pages_for};
use crate::error::Result;

/// Rings without a kernel, with the feature `testing`.
impl Ring {
    /// Returns a ring in memory that holds `records`, for a test of a program that reads rings.
    ///
    /// `records` are whole records as words of this machine, one after another, of an event with
    /// `attr`. `perf_decode::testing` builds them. The ring has as many pages as they need. They
    /// are read in each way in which a mapped ring is read, also in a [`RingSet`](crate::RingSet).
    /// A wait returns at once: [`Readable`](crate::WaitResult::Readable) while records are unread,
    /// then [`HungUp`](crate::WaitResult::HungUp). The calls of the event fail.
    ///
    /// ```no_run
    /// use perf_ring::{Attr, WaitResult, Ring};
    ///
    /// # fn test(attr: Attr, records: &[u64]) -> perf_ring::Result<()> {
    /// let mut ring = Ring::in_memory(attr, records)?;
    /// assert_eq!(ring.wait(None)?, WaitResult::Readable);
    /// assert_eq!(ring.batch()?.records().count(), 3);
    /// assert_eq!(ring.wait(None)?, WaitResult::HungUp);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`sys::Error::System`](perf_sys::Error::System) if the system has no memory or no descriptor
    /// for it.
    pub fn in_memory(attr: Attr, records: &[u64]) -> Result<Self> {
        Self::in_memory_at(attr, records, 0)
    }

    /// Returns a ring like [`in_memory`](Self::in_memory), with the first record at this position
    /// in bytes, a multiple of 8, to test records that wrap at the end of the ring.
    ///
    /// Positions are free-running, and taken modulo the [size of the ring](Self::data_size). So
    /// `0_u64.wrapping_sub(24)` is 24 bytes before its end, whatever the size is: a first record of
    /// more than 24 bytes wraps there.
    ///
    /// ```no_run
    /// use perf_ring::{Attr, Ring};
    ///
    /// # fn test(attr: Attr, records: &[u64]) -> Result<(), Box<dyn std::error::Error>> {
    /// // Each place at which the records can wrap.
    /// for before in (0..=records.len() as u64 * 8).step_by(8) {
    ///     let mut ring = Ring::in_memory_at(attr, records, 0_u64.wrapping_sub(before))?;
    ///     assert_eq!(ring.batch()?.records().count(), 3);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`in_memory`](Self::in_memory), and [`Positions`](perf_sys::Error::Positions)
    /// if the position is not a multiple of 8.
    pub fn in_memory_at(attr: Attr, records: &[u64], position: u64) -> Result<Self> {
        let pages = pages_for(size_of_val(records).max(page_size()));
        if position % 8 != 0 {
            let head = position.wrapping_add(size_of_val(records) as u64);
            let size = pages * page_size();
            return Err(SysError::Positions { tail: position, head, size }.into());
        }
        let (mut kernel, data) = SimulatedKernel::at(pages, position)?;
        // The pages have space for all of them.
        let _ = kernel.write_words(records);
        let mut ring = Self::new(data, Arc::new(quiet_event(attr)?));
        ring.is_in_memory = true;
        Ok(ring)
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::{AttrFlags, RecordType, SampleType, Software};

    use super::*;
    use crate::ring::WaitResult;
    use crate::set::RingSet;

    const ATTR: Attr = Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::TIME)
        .with_flags(AttrFlags::SAMPLE_ID_ALL);

    fn samples(times: impl Iterator<Item = u64>) -> Vec<u64> {
        times.flat_map(|time| [SimulatedKernel::any_header(RecordType::SAMPLE, 16), time]).collect()
    }

    #[test]
    fn ring_in_memory_is_read_to_its_end_and_no_wait_sleeps() {
        let mut ring = Ring::in_memory(ATTR, &samples(0..1000)).unwrap();
        assert_eq!(
            (ring.wait(None), ring.data_size()),
            (Ok(WaitResult::Readable), pages_for(16_000) * page_size())
        );
        assert_eq!(ring.batch().unwrap().records().take(10).flatten().count(), 10);
        assert_eq!(ring.wait(None), Ok(WaitResult::Readable));
        assert_eq!(ring.batch().unwrap().records().count(), 990);
        assert_eq!((ring.wait(None), ring.event().enable().is_err()), (Ok(WaitResult::HungUp), true));
        assert_eq!(Ring::in_memory(ATTR, &[]).unwrap().wait(None), Ok(WaitResult::HungUp));
    }

    #[test]
    fn records_in_memory_wrap_at_any_place() {
        let records = samples(0..100);
        let times = |ring: &mut Ring| -> Vec<u64> {
            ring.batch().unwrap().records().map(|record| record.unwrap().words()[1]).collect()
        };
        for before in (0..=1600).step_by(8) {
            for start in [0_u64, 3 << 40, page_size() as u64] {
                let position = start.wrapping_sub(before);
                let mut ring = Ring::in_memory_at(ATTR, &records, position).unwrap();
                assert!(times(&mut ring).into_iter().eq(0..100), "at {position:#x}");
                assert_eq!(ring.wait(None), Ok(WaitResult::HungUp));
            }
        }
        // A ring that is full from the first byte on, which wraps all the same.
        let full = samples(0..page_size() as u64 / 16);
        let mut ring = Ring::in_memory_at(ATTR, &full, 8).unwrap();
        assert_eq!((ring.data_size(), times(&mut ring).len()), (page_size(), page_size() / 16));
        let error = Ring::in_memory_at(ATTR, &records, 4).unwrap_err();
        assert!(matches!(error, crate::Error::Sys(SysError::Positions { .. })), "{error}");
    }

    #[test]
    fn set_of_rings_in_memory_is_one_stream() {
        let mut set = RingSet::new().unwrap();
        for key in 0..2 {
            let records = samples((0..50).map(|n| 2 * n + key));
            set.add(key, Ring::in_memory(ATTR, &records).unwrap()).unwrap();
        }
        let mut times = vec![];
        while !set.wait(None).unwrap().is_final() {
            set.drain_sorted(|record| times.push(record.time())).unwrap();
        }
        assert!(times.into_iter().eq(0..100));
        assert!(set.pop_ended().is_some() && set.remove(&1).is_some());
    }
}
