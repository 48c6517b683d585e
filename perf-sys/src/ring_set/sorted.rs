use core::ops::ControlFlow;
use core::time::Duration;
use std::time::Instant;

use super::{Member, RingSet};
use crate::Result;

mod events;
mod heads;
mod lookahead;
mod plan;
mod queue;
mod record;

pub(super) use lookahead::Lookahead;
use plan::{Flow, Plan};
pub use record::SortedRecord;

/// The state of a set between two rounds.
#[derive(Debug)]
pub(super) struct Sort {
    /// Age at which a record is delivered.
    delay: Duration,
    plan: Plan,
    /// Latest time that was delivered.
    latest: u64,
    late: u64,
}

impl Default for Sort {
    fn default() -> Self {
        Self { delay: Duration::from_millis(10), plan: Plan::default(), latest: 0, late: 0 }
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
    pub fn drain_sorted(&mut self, consume: impl FnMut(SortedRecord<'_, K>)) -> Result<Drained> {
        self.whole_round(false, consume)
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
        self.round(false, consume)
    }

    /// As [`drain_sorted`](Self::drain_sorted), with all records that the rings hold now, whatever their
    /// age: for the end, after the events were disabled.
    ///
    /// # Errors
    ///
    /// As [`drain_sorted`](Self::drain_sorted).
    pub fn flush_sorted(&mut self, consume: impl FnMut(SortedRecord<'_, K>)) -> Result<Drained> {
        self.whole_round(true, consume)
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

    /// Delivers a round to a callback that does not end it.
    fn whole_round(&mut self, all: bool, mut consume: impl FnMut(SortedRecord<'_, K>)) -> Result<Drained> {
        let consume = |record: SortedRecord<'_, K>| {
            consume(record);
            ControlFlow::<()>::Continue(())
        };
        self.round(all, consume).map(|(drained, _)| drained)
    }

    /// Delivers a round: with `all`, and after the last hang-up, whatever the age of the records.
    fn round<B>(
        &mut self,
        all: bool,
        mut consume: impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Result<(Drained, ControlFlow<B>)> {
        let all = all || self.end_of_all().is_some();
        let Sort { delay, plan, latest, late } = &mut self.sort;
        // All looks come before the first record: a record of a later look may be earlier.
        for member in &mut self.members {
            member.ring.look()?;
        }
        let now = Instant::now();
        for Member { ring, lookahead, .. } in &mut self.members {
            lookahead.start_round(ring, now, *delay, all)?;
        }
        let mut drained = Drained::default();
        let mut end = ControlFlow::Continue(());
        plan.restart(&self.members);
        while end.is_continue() && plan.make(&mut self.members) {
            match plan.deliver(&mut self.members, &mut drained, latest, &mut consume) {
                Flow::Continue => {}
                Flow::Overwritten => plan.restart(&self.members),
                Flow::Break(value) => end = ControlFlow::Break(value),
            }
        }
        *late += drained.late;
        for member in &mut self.members {
            member.ring.reader.consumer.release();
            member.ring.is_kept = end.is_continue();
        }
        Ok((drained, end))
    }
}

#[cfg(test)]
mod tests;
