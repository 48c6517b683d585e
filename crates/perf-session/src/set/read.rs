//! Waiting for the records of a set, and reading them.

use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFlags, Timespec};

use perf_ring::sys::{Polled, poll};
use perf_ring::{DrainStats, RingSet, SampleLayout, Snapshot, SnapshotRing, WaitResult, Waker};

use super::loss::LossLedger;
use super::rings::Rings;
use super::{EventSet, EventSetError, EventSetEvent, EventSetRecord, RingKey, Scope};

/// The records of one event of an [`EventSet`] that the kernel dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventLost {
    /// The id of the event, which its samples have.
    pub id: u64,
    /// The thread or CPU of the event.
    pub scope: Scope,
    /// Index of the logical event, in the order of the options.
    pub index: usize,
    /// Records that the kernel dropped since the event was opened, because its ring was full or
    /// paused.
    pub lost: u64,
}

/// # Records
impl EventSet {
    /// Waits for records, as [`RingSet::wait`], but at most the
    /// [flush interval](super::EventSetOptions::flush_interval) while a ring has unread records.
    ///
    /// The kernel sends a wakeup when a ring is half full, unless the attr has another watermark or
    /// a number of wakeup events. For a rare event that never happens. So this wait looks at the
    /// rings four times a second by default, and returns [`Readable`](WaitResult::Readable) if one
    /// has records. A tracer that wants each record at once sets
    /// [`with_wakeup_events(1)`](perf_ring::Attr::with_wakeup_events) in the attr, and a short
    /// [sort delay](Self::set_sort_delay).
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts; otherwise any error of [`RingSet::wait`],
    /// as [`EventSetError::Rings`].
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<WaitResult, EventSetError> {
        if self.opened.options().is_overwritten {
            return Ok(self.wait_for_end(timeout, None));
        }
        self.wait_by(timeout, RingSet::wait)
    }

    /// Waits like [`wait`](Self::wait), and returns at once when `cancel` is used.
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts; otherwise any error of
    /// [`RingSet::wait_or_woken`], as [`EventSetError::Rings`].
    pub fn wait_or_woken(
        &mut self,
        timeout: Option<Duration>,
        cancel: &Waker,
    ) -> Result<WaitResult, EventSetError> {
        if self.opened.options().is_overwritten {
            return Ok(self.wait_for_end(timeout, Some(cancel)));
        }
        self.wait_by(timeout, |rings, timeout| rings.wait_or_woken(timeout, cancel))
    }

    /// Waits for `cancel`, or for the hang-up of all events whose rings are overwritten: such rings
    /// cause no wakeups.
    fn wait_for_end(&self, timeout: Option<Duration>, cancel: Option<&Waker>) -> WaitResult {
        // The rings of system-wide events do not end with the tasks.
        let has_target = self.opened.options().target.is_tasks();
        let rings =
            self.rings.snapshots.iter().filter(|(key, _)| !(has_target && key.scope().is_system_wide()));
        let mut ends: Vec<_> = rings.map(|(_, ring)| Polled::for_end(&**ring.event())).collect();
        // Rings that have hung up would end each wait.
        wait_for(&mut ends, Some(Duration::ZERO));
        ends.retain(|end| !end.revents().intersects(PollFlags::HUP | PollFlags::ERR));
        if ends.is_empty() {
            return WaitResult::HungUp;
        }
        ends.extend(cancel.map(|cancel| Polled::new(cancel.as_fd())));
        wait_for(&mut ends, timeout);
        let is_woken =
            cancel.is_some() && ends.last().is_some_and(|end| end.revents().contains(PollFlags::IN));
        if is_woken { WaitResult::Woken } else { WaitResult::TimedOut }
    }

    /// Waits in parts of the flush interval.
    fn wait_by(
        &mut self,
        timeout: Option<Duration>,
        mut wait: impl FnMut(&mut RingSet<RingKey>, Option<Duration>) -> perf_ring::Result<WaitResult>,
    ) -> Result<WaitResult, EventSetError> {
        let interval = self.opened.options().flush_interval;
        let has_target = self.opened.options().target.is_tasks();
        let rings = self.rings_mut()?;
        let start = Instant::now();
        loop {
            let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
            let is_last = left.is_some_and(|left| left <= interval);
            let readiness = wait(rings, Some(left.map_or(interval, |left| left.min(interval))))?;
            let end = if has_target && !readiness.is_final() { end_of_target(rings) } else { None };
            if let Some(end) = end {
                return Ok(end);
            }
            if readiness != WaitResult::TimedOut || is_last {
                return Ok(readiness);
            }
            if rings.iter().any(|(_, ring)| ring.has_records()) {
                return Ok(WaitResult::Readable);
            }
        }
    }

    /// Sets the age at which [`drain_sorted`](Self::drain_sorted) delivers a record, 10 ms by
    /// default: see [`RingSet::set_sort_delay`].
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts.
    pub fn set_sort_delay(&mut self, delay: Duration) -> Result<(), EventSetError> {
        self.rings_mut()?.set_sort_delay(delay);
        Ok(())
    }

    /// Delivers unread records of all rings to `consume` in timestamp order, up to the point where
    /// the order is final, and notes losses in the ledger. See [`RingSet::drain_sorted`].
    ///
    /// A record is delivered once it is older than the [sort delay](Self::set_sort_delay). The
    /// first call sees the records and keeps them, and the next [`wait`](Self::wait) returns when
    /// they are old enough, so a loop of both runs as often as the delay while records come.
    /// Instead:
    ///
    /// - One report a second: sleep until the second is over, then call
    ///   [`flush_sorted`](Self::flush_sorted).
    /// - A report that must not miss a full ring: call `wait` with the time left until the report
    ///   and `drain_sorted` in a loop, and compare the clock with the deadline of the report, not
    ///   the number of rounds.
    /// - A tracer that prints each record at once: `with_wakeup_events(1)` in the attr, and a sort
    ///   delay of zero, by which records of different CPUs may be [late](EventSetRecord::is_late).
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts; otherwise any error of
    /// [`RingSet::drain_sorted`], as [`EventSetError::Rings`].
    pub fn drain_sorted(
        &mut self,
        mut consume: impl FnMut(EventSetRecord<'_>),
    ) -> Result<DrainStats, EventSetError> {
        let consume = |record: EventSetRecord<'_>| {
            consume(record);
            ControlFlow::<()>::Continue(())
        };
        self.try_drain_sorted(consume).map(|(drained, _)| drained)
    }

    /// Drains like [`drain_sorted`](Self::drain_sorted), until `consume` returns
    /// [`ControlFlow::Break`]. The following records stay in their rings.
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts; otherwise any error of
    /// [`RingSet::try_drain_sorted`], as [`EventSetError::Rings`].
    pub fn try_drain_sorted<B>(
        &mut self,
        mut consume: impl FnMut(EventSetRecord<'_>) -> ControlFlow<B>,
    ) -> Result<(DrainStats, ControlFlow<B>), EventSetError> {
        let Rings { set, ledger, index, shared, .. } = &mut self.rings;
        let rings = set.as_mut().ok_or(EventSetError::NoRings)?;
        let drained = rings.try_drain_sorted(|record| {
            ledger.note(&record);
            consume(EventSetRecord { record, index, shared })
        })?;
        self.rings.note_damage();
        Ok(drained)
    }

    /// Delivers all records that the rings hold now in timestamp order, whatever their age.
    ///
    /// Call it after the events were disabled, for the last records. Calling it while they are
    /// enabled ends too, because it leaves records in their rings that are written after it began.
    /// A record that appears later with an earlier time is delivered by the next call as
    /// [late](EventSetRecord::is_late).
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts; otherwise any error of
    /// [`RingSet::flush_sorted`], as [`EventSetError::Rings`].
    pub fn flush_sorted(
        &mut self,
        mut consume: impl FnMut(EventSetRecord<'_>),
    ) -> Result<DrainStats, EventSetError> {
        let consume = |record: EventSetRecord<'_>| {
            consume(record);
            ControlFlow::<()>::Continue(())
        };
        self.try_flush_sorted(consume).map(|(drained, _)| drained)
    }

    /// Flushes like [`flush_sorted`](Self::flush_sorted), until `consume` returns
    /// [`ControlFlow::Break`]. The following records stay in their rings.
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts; otherwise any error of
    /// [`RingSet::try_flush_sorted`], as [`EventSetError::Rings`].
    pub fn try_flush_sorted<B>(
        &mut self,
        mut consume: impl FnMut(EventSetRecord<'_>) -> ControlFlow<B>,
    ) -> Result<(DrainStats, ControlFlow<B>), EventSetError> {
        let Rings { set, ledger, index, shared, .. } = &mut self.rings;
        let rings = set.as_mut().ok_or(EventSetError::NoRings)?;
        let drained = rings.try_flush_sorted(|record| {
            ledger.note(&record);
            consume(EventSetRecord { record, index, shared })
        })?;
        self.rings.note_damage();
        Ok(drained)
    }

    /// Drops the unread records of all rings, and counts them in the ledger as discarded.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Rings`] if a control page is damaged.
    pub fn discard(&mut self) -> Result<(), EventSetError> {
        let Rings { set: Some(rings), ledger, .. } = &mut self.rings else { return Ok(()) };
        for (key, batch) in rings.ready() {
            let records = batch?.records().flatten().count();
            ledger.note_discarded(*key, records as u64);
        }
        self.rings.note_damage();
        Ok(())
    }

    /// Copies the rings of a set that [overwrites](super::EventSetOptions::overwrite) them: the
    /// last records of each, the newest first. All rings are paused together for some milliseconds;
    /// records of that time are counted as lost.
    ///
    /// ```no_run
    /// # fn last(set: &mut perf_session::EventSet) -> Result<(), Box<dyn std::error::Error>> {
    /// for (key, mut snapshot) in set.snapshots()? {
    ///     println!("{key}: {} records", snapshot.records()?.count());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`EventSetError::Rings`] if the rings cannot be paused.
    pub fn snapshots(&mut self) -> Result<Vec<(RingKey, Snapshot<'_>)>, EventSetError> {
        let keys: Vec<RingKey> = self.rings.snapshots.iter().map(|(key, _)| *key).collect();
        let rings = self.rings.snapshots.iter_mut().map(|(_, ring)| ring);
        let copies = SnapshotRing::snapshot_all(rings).map_err(EventSetError::Rings)?;
        Ok(keys.into_iter().zip(copies).collect())
    }

    /// Returns the rings, to wait for them in an event loop.
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts.
    pub fn rings_mut(&mut self) -> Result<&mut RingSet<RingKey>, EventSetError> {
        self.rings.set.as_mut().ok_or(EventSetError::NoRings)
    }

    /// Returns the rings, to read each separately, and the ledger, to note the losses that its
    /// records report.
    ///
    /// ```no_run
    /// use perf_session::EventSet;
    /// use perf_session::ring::Layouts;
    ///
    /// fn read(set: &mut EventSet) -> Result<(), Box<dyn std::error::Error>> {
    ///     let mut table = set.layouts()?;
    ///     let layouts = Layouts::new(&mut table)?;
    ///     let (rings, ledger) = set.rings_and_ledger()?;
    ///     for (key, batch) in rings.ready() {
    ///         for record in batch?.records() {
    ///             let record = record?;
    ///             let layout = layouts.find(record)?;
    ///             ledger.note_record(*key, record, layout, None);
    ///             println!("{key}: {}", record.decode(layout)?);
    ///         }
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// [`EventSetError::NoRings`] if the set only counts.
    pub fn rings_and_ledger(&mut self) -> Result<(&mut RingSet<RingKey>, &mut LossLedger), EventSetError> {
        let rings = self.rings.set.as_mut().ok_or(EventSetError::NoRings)?;
        Ok((rings, &mut self.rings.ledger))
    }

    /// Returns the layouts of all open events by their ids, for
    /// [`Layouts::new`](perf_ring::Layouts::new). After a [`refresh`](Self::refresh) that opened
    /// events there are more.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an id cannot be read.
    pub fn layouts(&self) -> Result<Vec<(u64, SampleLayout)>, EventSetError> {
        let layout = |open: EventSetEvent<'_>| {
            let id = open.event.id().map_err(|error| open.failed(error))?;
            Ok((id, SampleLayout::new(open.event.attr())))
        };
        self.events().map(layout).collect()
    }

    /// Returns the rings, or `None` if the set only counts.
    pub const fn rings(&self) -> Option<&RingSet<RingKey>> {
        self.rings.set.as_ref()
    }

    /// Reads how many records of each event the kernel dropped (`PERF_FORMAT_LOST`), also of the
    /// events that were closed because their CPU went offline or their thread was removed. Since
    /// Linux 6.0; the list is empty on older kernels, see [`reads_lost`](Self::reads_lost).
    ///
    /// For an event with period 1, the samples of its id and its lost records add up to its count.
    /// The `LOST` records of a ring report the same losses, except the losses after the last record
    /// that fitted.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an event cannot be read.
    #[doc(alias = "PERF_FORMAT_LOST")]
    pub fn lost_by_event(&self) -> Result<Vec<EventLost>, EventSetError> {
        self.opened.read_lost()
    }

    /// Reads how many samples each event has lost, and returns the ledger of all losses until now.
    ///
    /// # Errors
    ///
    /// [`EventSetError::Event`] if an event cannot be read.
    pub fn losses(&mut self) -> Result<&LossLedger, EventSetError> {
        self.read_losses()?;
        Ok(&self.rings.ledger)
    }

    /// Returns the ledger without a system call: the lost samples of each event are as the last
    /// call of [`losses`](Self::losses) or [`counts`](Self::counts) read them.
    pub const fn ledger(&self) -> &LossLedger {
        &self.rings.ledger
    }
}

/// Returns the end of the rings of a set of tasks, which rings of system-wide events never reach.
/// `None` while there are records or living tasks, and without such events.
fn end_of_target(rings: &RingSet<RingKey>) -> Option<WaitResult> {
    let mut end = None;
    let mut has_system_wide = false;
    for (key, ring) in rings.iter() {
        if key.scope().is_system_wide() {
            has_system_wide = true;
        } else {
            // A failure of one is the end of all.
            let of_ring = rings.end(key).filter(|_| !ring.has_records())?;
            end = end.filter(|end| *end == WaitResult::Failed).or(Some(of_ring));
        }
    }
    end.filter(|_| has_system_wide)
}

/// Polls descriptors. After an error, such as the interruption by a signal, nothing is ready.
fn wait_for(ends: &mut [Polled<'_>], timeout: Option<Duration>) {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    // The descriptors are valid, so that memory is the only other cause.
    let _ = poll(ends, timeout.as_ref());
}
