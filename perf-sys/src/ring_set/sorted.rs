use core::ops::ControlFlow;
use core::time::Duration;
use std::time::Instant;

use super::{Member, RingSet};
use crate::Result;

mod events;
mod lookahead;
mod queue;
mod record;

pub(super) use lookahead::Lookahead;
use lookahead::{Progress, Stop};
pub use record::SortedRecord;

/// What a set remembers between two rounds.
#[derive(Debug)]
pub(super) struct Sort {
    /// Age at which a record is delivered.
    delay: Duration,
    /// Next time of each ring with framed records, with the ring's index, earliest first.
    heads: Vec<(u64, u32)>,
    /// Latest time that was delivered.
    latest: u64,
    late: u64,
}

impl Default for Sort {
    fn default() -> Self {
        Self { delay: Duration::from_millis(10), heads: Vec::new(), latest: 0, late: 0 }
    }
}

/// The result of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Records that were delivered.
    pub records: u64,
    /// Records among them that were delivered after one with a later time.
    pub late: u64,
}

/// Reading all rings as one stream.
impl<K> RingSet<K> {
    /// Calls `consume` with the unread records of all rings in the order of time, as far as the order is
    /// certain. A record is consumed when `consume` returns, and released at the latest after an eighth of
    /// its ring.
    ///
    /// Call it after every [`wait`](Self::wait). A record of one CPU can be written after a later one of
    /// another CPU, and an interrupt can write its record before an earlier one of the code that it
    /// interrupted. So a record is delivered once it is older than the [delay](Self::set_sort_delay);
    /// others stay in their rings for the next round, for which a `wait` ends in time. A ring that is half
    /// full is drained without the delay, because the kernel would drop records. All records are
    /// delivered when the events of all rings have hung up, and by [`flush_sorted`](Self::flush_sorted).
    ///
    /// A record that appears later than the delay is delivered at once and counted as
    /// [late](Drained::late). A record without a time is delivered after the records before it in its ring.
    /// Bytes that are no records are skipped and counted by [`Ring::damage`](crate::Ring::damage). Nothing
    /// is allocated but on the first round with a ring.
    ///
    /// The events need [`SampleType::TIME`](perf_abi::SampleType::TIME),
    /// [`SAMPLE_ID_ALL`](perf_abi::AttrFlags::SAMPLE_ID_ALL) and one clock. If events are redirected into a
    /// ring, the event of each record is found by its id: set
    /// [`IDENTIFIER`](perf_abi::SampleType::IDENTIFIER) too.
    ///
    /// ```no_run
    /// use perf_sys::{Readiness, RingSet};
    ///
    /// fn read_all(mut set: RingSet<u32>) -> Result<(), Box<dyn std::error::Error>> {
    ///     while !set.wait(None)?.is_final() {
    ///         set.drain_sorted(|record| match record.decode() {
    ///             Ok(decoded) => println!("{} {}: {decoded}", record.key(), record.time()),
    ///             Err(error) => println!("{}: {error}", record.key()),
    ///         })?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Positions`](crate::Error::Positions) if a control page is damaged,
    /// [`Error::Layouts`](crate::Error::Layouts) if the ids of the events of a ring are at different
    /// offsets, and [`Error::System`](crate::Error::System) if an id cannot be read.
    pub fn drain_sorted(&mut self, mut consume: impl FnMut(SortedRecord<'_, K>)) -> Result<Drained> {
        self.try_drain_sorted(|record| {
            consume(record);
            ControlFlow::<()>::Continue(())
        })
        .map(|(drained, _)| drained)
    }

    /// As [`drain_sorted`](Self::drain_sorted), until `consume` returns [`ControlFlow::Break`]. The records
    /// after that one stay in their rings for the next round.
    ///
    /// # Errors
    ///
    /// As [`drain_sorted`](Self::drain_sorted).
    pub fn try_drain_sorted<B>(
        &mut self,
        consume: impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Result<(Drained, ControlFlow<B>)> {
        let is_over = self.end_of_all().is_some();
        self.round(is_over, consume)
    }

    /// As [`drain_sorted`](Self::drain_sorted), with all records that the rings hold now, whatever their
    /// age: for the end, after the events were disabled.
    ///
    /// # Errors
    ///
    /// As [`drain_sorted`](Self::drain_sorted).
    pub fn flush_sorted(&mut self, mut consume: impl FnMut(SortedRecord<'_, K>)) -> Result<Drained> {
        let consume = |record: SortedRecord<'_, K>| {
            consume(record);
            ControlFlow::<()>::Continue(())
        };
        self.round(true, consume).map(|(drained, _)| drained)
    }

    /// Sets the age at which [`drain_sorted`](Self::drain_sorted) delivers a record, 10 ms by default.
    ///
    /// It must be longer than a CPU takes from a record's time stamp to the end of writing it: microseconds
    /// on hardware, milliseconds in a virtual machine whose virtual CPUs are interrupted.
    pub const fn set_sort_delay(&mut self, delay: Duration) {
        self.sort.delay = delay;
    }

    /// Returns the number of records that were delivered after one with a later time, in all rounds.
    pub const fn late(&self) -> u64 {
        self.sort.late
    }

    /// Returns when the next round is due, because of records that were kept.
    pub(super) fn round_due(&self) -> Option<Instant> {
        let kept = self.members.iter().filter(|member| member.ring.is_kept);
        kept.filter_map(|member| member.lookahead.due(&member.ring, self.sort.delay)).min()
    }

    fn round<B>(
        &mut self,
        all: bool,
        mut consume: impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Result<(Drained, ControlFlow<B>)> {
        let Sort { delay, heads, latest, late } = &mut self.sort;
        // All looks come before the first record: a record of a later look may be earlier.
        for member in &mut self.members {
            member.ring.look()?;
        }
        let now = Instant::now();
        heads.clear();
        let mut open = 0_usize;
        for (member, index) in self.members.iter_mut().zip(0..) {
            let has_open = member.lookahead.start_round(&mut member.ring, now, *delay, all)?;
            open += usize::from(has_open);
            heads.extend(member.lookahead.next_time().map(|time| (time, index)));
        }
        heads.sort_unstable();
        let mut progress = Progress { drained: Drained::default(), latest };
        let mut flow = ControlFlow::Continue(());
        while open != 0 && flow.is_continue() {
            let Some(&(_, index)) = heads.first() else { break };
            let bound = heads.get(1).copied().unwrap_or((u64::MAX, u32::MAX));
            let Some(member) = self.members.get_mut(index as usize) else { break };
            let Member { key, ring, lookahead, .. } = member;
            match lookahead.run(key, ring, (bound, index), &mut progress, &mut consume) {
                Stop::Bound => {}
                Stop::Closed => open -= 1,
                Stop::Break(value) => flow = ControlFlow::Break(value),
            }
            match lookahead.next_time() {
                Some(time) => reinsert(heads, (time, index)),
                None => drop(heads.remove(0)),
            }
        }
        let Progress { drained, .. } = progress;
        *late += drained.late;
        for member in &mut self.members {
            member.ring.reader.consumer.release();
            member.ring.is_kept = flow.is_continue();
        }
        Ok((drained, flow))
    }
}

/// Replaces the first of the heads by its ring's next one, in order.
#[inline]
fn reinsert(heads: &mut [(u64, u32)], head: (u64, u32)) {
    let mut index = 0;
    while let Some(pair) = heads.get_mut(index..index + 2) {
        let [this, next] = pair else { break };
        if *next >= head {
            break;
        }
        *this = *next;
        index += 1;
    }
    if let Some(slot) = heads.get_mut(index) {
        *slot = head;
    }
}

#[cfg(test)]
mod tests;
