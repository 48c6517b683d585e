//! The records of all rings in time order.

use core::ops::ControlFlow;
use core::time::Duration;
use std::time::Instant;

use perf_decode::Head;

use super::{Member, RingSet};
use crate::Result;

mod clock;
mod lookahead;
mod plan;
mod queue;
mod record;

use clock::{Clock, until_ripe};
pub(super) use lookahead::Lookahead;
use plan::Plan;
pub use record::SortedRecord;

/// The state of a set between two rounds.
#[derive(Debug)]
pub(super) struct Sort {
    /// Age at which a record is delivered.
    delay: Duration,
    clock: Clock,
    /// When the youngest record was seen that the kernel may have sent a wakeup for and that was
    /// kept.
    owed_since: Option<Instant>,
    /// Memory of the choice among the rings, one for each ring.
    slots: Vec<Head>,
    /// Numbers and latest time of the delivered records.
    delivered: Delivered,
}

impl Default for Sort {
    fn default() -> Self {
        Self {
            delay: Duration::from_millis(10),
            clock: Clock::default(),
            owed_since: None,
            slots: Vec::new(),
            delivered: Delivered::default(),
        }
    }
}

/// Numbers of delivered records, over all rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered {
    records: u64,
    late: u64,
    /// The latest time of one.
    latest: u64,
}

impl Delivered {
    fn count(&mut self, times: impl Iterator<Item = u64>) {
        for time in times {
            self.records += 1;
            self.late += u64::from(time < self.latest);
            self.latest = self.latest.max(time);
        }
    }
}

/// The result of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrainStats {
    /// Records that were delivered.
    pub records: u64,
    /// Records among them that were delivered after one with a later time.
    pub late: u64,
}

/// Reading all rings as one stream.
impl<K> RingSet<K> {
    /// Delivers the unread records of all rings to `consume` in the order of their times, up to the
    /// point where the order is final. A record is consumed when `consume` returns, and released at
    /// the latest after an eighth of its ring.
    ///
    /// Call it after every [`wait`](Self::wait). A record of one CPU can be written after a later
    /// one of another CPU, and an interrupt can write its record before an earlier one of the code
    /// that it interrupted. So a record is delivered once it is older than the
    /// [delay](Self::set_sort_delay), by its time and the events' clock; younger ones stay in their
    /// rings for the next round. If the kernel has sent a wakeup for them, one `wait` ends when
    /// they are old enough. Records that the kernel has sent no wakeup for end no wait, so a loop
    /// with a timeout of a second runs once a second, and a tracer of rare events needs
    /// [`with_wakeup_events(1)`](perf_abi::Attr::with_wakeup_events).
    ///
    /// All records are delivered when the events of all rings have hung up, and by
    /// [`flush_sorted`](Self::flush_sorted). A ring that is half full is drained to a quarter
    /// without the delay, because the kernel would drop records.
    ///
    /// A record that appears later than the delay is delivered at once and counted as
    /// [late](DrainStats::late). A record without a time is delivered after the records before it
    /// in its ring. Bytes that are not records are skipped and counted by
    /// [`Ring::damage`](crate::Ring::damage). Memory is allocated only in the first round with a
    /// ring.
    ///
    /// # Size of the rings
    ///
    /// A ring holds the records of the delay and the records that are written while the reader
    /// sleeps or is busy, and the default wakeup comes when half of it is written. To lose nothing
    /// and keep the order, each ring needs
    ///
    /// ```text
    /// 2 * records a second * bytes of a record * (delay + longest time between two rounds, in seconds)
    /// ```
    ///
    /// bytes: 1000 samples a second of 32 KiB of stack with a delay of 10 ms and a reader that may
    /// be kept off the CPU for 20 ms need 2 MiB a ring.
    /// [`Ring::DEFAULT_BYTES`](crate::Ring::DEFAULT_BYTES) was measured.
    ///
    /// # Events
    ///
    /// The events need [`SampleType::TIME`](perf_abi::SampleType::TIME),
    /// [`SAMPLE_ID_ALL`](perf_abi::AttrFlags::SAMPLE_ID_ALL) and one clock. If events are
    /// redirected into a ring, the event of each record is found by its id: set
    /// [`IDENTIFIER`](perf_abi::SampleType::IDENTIFIER) too.
    ///
    /// ```no_run
    /// use perf_ring::{WaitResult, RingSet};
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
    /// [`Positions`](perf_sys::Error::Positions) if a control page is damaged,
    /// [`Error::Layouts`](crate::Error::Layouts) if the ids of the events of a ring are at
    /// different offsets, and [`System`](perf_sys::Error::System) if an id cannot be read.
    pub fn drain_sorted(&mut self, consume: impl FnMut(SortedRecord<'_, K>)) -> Result<DrainStats> {
        self.whole_round(false, consume)
    }

    /// Like [`drain_sorted`](Self::drain_sorted), but ends when `consume` returns
    /// [`ControlFlow::Break`]. The following records stay in their rings for the next round.
    ///
    /// # Errors
    ///
    /// The errors of [`drain_sorted`](Self::drain_sorted).
    pub fn try_drain_sorted<B>(
        &mut self,
        consume: impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Result<(DrainStats, ControlFlow<B>)> {
        self.round(false, consume)
    }

    /// Like [`drain_sorted`](Self::drain_sorted), but delivers all records that the rings hold when
    /// it is called, regardless of their age: for the end, after the events were disabled, or for a
    /// report of everything up to now.
    ///
    /// It may be called while the events write: it ends with the last record that the rings held. A
    /// record that is earlier than the last delivered one may still be written then. A later round
    /// delivers it, and counts it as [late](DrainStats::late).
    ///
    /// # Errors
    ///
    /// The errors of [`drain_sorted`](Self::drain_sorted).
    pub fn flush_sorted(&mut self, consume: impl FnMut(SortedRecord<'_, K>)) -> Result<DrainStats> {
        self.whole_round(true, consume)
    }

    /// Like [`flush_sorted`](Self::flush_sorted), but ends when `consume` returns
    /// [`ControlFlow::Break`]. The following records stay in their rings.
    ///
    /// # Errors
    ///
    /// The errors of [`drain_sorted`](Self::drain_sorted).
    pub fn try_flush_sorted<B>(
        &mut self,
        consume: impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Result<(DrainStats, ControlFlow<B>)> {
        self.round(true, consume)
    }

    /// Sets the age at which [`drain_sorted`](Self::drain_sorted) delivers a record, 10 ms by
    /// default.
    ///
    /// It must be longer than a CPU takes from a record's time stamp to the end of writing it:
    /// microseconds on hardware, milliseconds in a virtual machine whose virtual CPUs are
    /// interrupted. With a delay of 0 every round delivers all records, sorted among themselves.
    ///
    /// A longer delay needs [larger rings](Self::drain_sorted).
    pub const fn set_sort_delay(&mut self, delay: Duration) {
        self.sort.delay = delay;
    }

    /// Returns when the records are old enough that the last [`drain_sorted`](Self::drain_sorted)
    /// has kept and that the kernel may have sent a wakeup for; `None` if it has kept no such
    /// record.
    ///
    /// A [`wait`](Self::wait) ends then. An event loop that waits for the descriptor of the set
    /// needs a timer for it.
    pub fn next_round(&self) -> Option<Instant> {
        let is_owed = |member: &Member<K>| member.ring.is_kept && member.lookahead.is_owed(&member.ring);
        let since = self.sort.owed_since.filter(|_| self.members.iter().any(is_owed))?;
        since.checked_add(until_ripe(self.sort.delay))
    }

    /// Returns the number of records that were delivered after one with a later time, over all
    /// rounds.
    pub const fn late(&self) -> u64 {
        self.sort.delivered.late
    }

    /// Delivers a round to a callback that does not end it.
    fn whole_round(&mut self, all: bool, mut consume: impl FnMut(SortedRecord<'_, K>)) -> Result<DrainStats> {
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
    ) -> Result<(DrainStats, ControlFlow<B>)> {
        let all = all || self.end_of_all().is_some();
        let is_signalled = !self.wakeups.take_slept_through();
        let begin = Instant::now();
        let is_due = self.next_round().is_none_or(|due| due <= begin);
        let before = self.sort.delivered;
        self.look(is_signalled, all)?;
        let mut looked = Instant::now();
        let mut end = self.deliver(self.sort.clock.ripe(self.sort.delay, begin), &mut consume);
        if end.is_continue() && self.advance_clock(looked) {
            // Look again, because a ring may have got a record after its look and before the clock
            // that is now known.
            let ripe = self.sort.clock.ripe(self.sort.delay, looked);
            self.look(is_signalled, all)?;
            looked = Instant::now();
            end = self.deliver(ripe, &mut consume);
        }
        for member in &mut self.members {
            member.ring.reader.release();
            member.ring.is_kept = end.is_continue();
        }
        if is_signalled || is_due {
            self.sort.owed_since = Some(looked);
        }
        let Delivered { records, late, .. } = self.sort.delivered;
        Ok((DrainStats { records: records - before.records, late: late - before.late }, end))
    }

    /// Looks at all rings and frames their next records.
    fn look(&mut self, is_signalled: bool, all: bool) -> Result<()> {
        // All looks come before the first record: a record of a later look may be earlier.
        self.members.iter_mut().try_for_each(|member| member.ring.look())?;
        for Member { ring, lookahead, .. } in &mut self.members {
            lookahead.start_round(ring, is_signalled, all)?;
        }
        Ok(())
    }

    /// Delivers the records up to the time `ripe`, and those before the limits of the rings.
    fn deliver<B>(
        &mut self,
        ripe: Option<u64>,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Sort { slots, delivered, .. } = &mut self.sort;
        slots.resize(self.members.len(), Head::default());
        let mut plan = Plan::new(slots, &mut self.members);
        while plan.make(&mut self.members, ripe) {
            plan.deliver(&mut self.members, delivered, consume)?;
        }
        ControlFlow::Continue(())
    }

    /// Learns the events' clock from the records that were in the rings at `looked`. Returns
    /// whether another record is ripe by it.
    fn advance_clock(&mut self, looked: Instant) -> bool {
        let Sort { clock, delay, .. } = &mut self.sort;
        let framed = self.members.iter().map(|member| member.lookahead.latest());
        if !clock.lags(framed.max().unwrap_or(0), looked) {
            return false;
        }
        let latest = |member: &mut Member<K>| member.lookahead.latest_unread(&mut member.ring.reader);
        clock.note(self.members.iter_mut().map(latest).max().unwrap_or(0), looked);
        clock.ripe(*delay, looked).is_some_and(|ripe| {
            let mut first = self.members.iter().filter_map(|member| member.lookahead.queue.first());
            first.any(|first| first.time <= ripe)
        })
    }
}

#[cfg(test)]
mod tests;
