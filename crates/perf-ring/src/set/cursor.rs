//! Record by record reading of one ring of a set.

use core::ops::Deref;

use perf_decode::{RawRecord, Window};

use super::{Member, RingSet};
use crate::error::Result;
use crate::ring::Ring;

/// The ring of one key of a [`RingSet`], for reading record by record.
///
/// It has the reading methods of [`Ring`], whose state stays in the ring when the value is dropped,
/// and derefs to the ring. It does not lend the ring mutably, because the set knows its events and
/// position.
#[derive(Debug)]
pub struct RingCursor<'s>(&'s mut Ring);

impl<K: Eq> RingSet<K> {
    /// Returns the ring with this key for reading record by record; `None` if the set does not have
    /// the key.
    ///
    /// ```no_run
    /// # fn read(set: &mut perf_ring::RingSet<u32>) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(mut ring) = set.cursor(&0) {
    ///     while let Some(record) = ring.next_record()? {
    ///         println!("{:?}", record.kind());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn cursor(&mut self, key: &K) -> Option<RingCursor<'_>> {
        let mut members = self.members.iter_mut();
        members.find(|member: &&mut Member<K>| member.key == *key).map(|member| RingCursor(&mut member.ring))
    }
}

impl<'s> RingCursor<'s> {
    /// Returns the next unread record and consumes it: [`Ring::next_record`].
    ///
    /// # Errors
    ///
    /// The errors of [`Ring::next_record`]: impossible positions, and damaged bytes.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<RawRecord<'_>>> {
        self.0.next_record()
    }

    /// Like [`next_record`](Self::next_record), for a function that returns the record.
    ///
    /// # Errors
    ///
    /// The errors of [`Ring::next_record`]: impossible positions, and damaged bytes.
    #[inline]
    pub fn into_next_record(self) -> Result<Option<RawRecord<'s>>> {
        self.0.next_record()
    }

    /// Returns the next unread record without consuming it: [`Ring::peek_record`].
    ///
    /// # Errors
    ///
    /// The errors of [`Ring::peek_record`]: impossible positions, and damaged bytes.
    #[inline]
    pub fn peek_record(&mut self) -> Result<Option<RawRecord<'_>>> {
        self.0.peek_record()
    }

    /// Releases the consumed records: [`Ring::release`].
    pub fn release(&mut self) {
        self.0.release();
    }

    /// The errors of [`Ring::copy_into`] for positions that are impossible.
    ///
    /// # Errors
    ///
    /// The errors of [`Ring::copy_into`] for positions that are impossible.
    pub fn copy_into<'c>(&mut self, copy: &'c mut Vec<u64>) -> Result<Window<'c>> {
        self.0.copy_into(copy)
    }
}

impl Deref for RingCursor<'_> {
    type Target = Ring;

    fn deref(&self) -> &Ring {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::ring::WaitResult;
    use crate::ring::ring_on_pipe;

    /// Returns the next record of a ring from a function.
    fn first(set: &mut RingSet<u32>, key: u32) -> Option<RawRecord<'_>> {
        set.cursor(&key)?.into_next_record().ok()?
    }

    #[test]
    fn ring_of_a_set_is_read_with_a_cursor_between_two_rounds() {
        let (ring, mut kernel, _pipe) = ring_on_pipe();
        assert!((0..4).all(|number| kernel.write(&[0, number])));
        let mut set = RingSet::new().unwrap();
        set.add(7, ring).unwrap();
        set.set_sort_delay(Duration::from_secs(3600));
        assert_eq!(set.drain_sorted(|_| ()).unwrap().records, 0, "framed and kept");
        assert!(set.cursor(&8).is_none());

        let mut ring = set.cursor(&7).unwrap();
        assert!(ring.has_records() && ring.peek_record().unwrap().is_some());
        assert_eq!(ring.next_record().unwrap().unwrap().words().last(), Some(&0));
        ring.release();
        assert_eq!(kernel.tail(), 24);
        assert_eq!(first(&mut set, 7).unwrap().words().last(), Some(&1));
        let mut numbers: Vec<u64> = vec![];
        set.flush_sorted(|record| numbers.extend(record.raw().words().last())).unwrap();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(set.wait(Some(Duration::from_millis(1))), Ok(WaitResult::TimedOut));
        assert_eq!(set.cursor(&7).unwrap().copy_into(&mut vec![]).unwrap().len(), 0);
    }
}
