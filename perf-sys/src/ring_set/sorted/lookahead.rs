use core::ops::ControlFlow;
use core::time::Duration;
use std::time::Instant;

use super::events::Events;
use super::queue::{Entry, Queue};
use super::{Drained, SortedRecord};
use crate::{Result, Ring};

/// The next records of a ring in the order of time, and how far the ring is read in this round.
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    queue: Queue,
    /// Position after the last framed record.
    framed: u64,
    /// Set if the bytes at `framed` are no record.
    damage: Option<perf_decode::Error>,
    /// Time of the record that was framed last, for records without a time.
    time: u64,
    /// Position before which all records are delivered in this round.
    limit: u64,
    /// Whether a record before the limit was not delivered.
    is_open: bool,
    /// The kernel's position at `since`, which is the limit of a round that comes the delay later.
    next_limit: u64,
    since: Option<Instant>,
    events: Option<Events>,
}

/// The reason why a run of one ring's records ended.
pub(super) enum Stop<B> {
    /// Another ring has the next record, or this one has no more.
    Bound,
    /// The last record before the limit was delivered.
    Closed,
    /// The callback ended the round.
    Break(B),
}

/// What a run reports to its round.
pub(super) struct Progress<'s> {
    pub(super) drained: Drained,
    /// Latest time that was delivered.
    pub(super) latest: &'s mut u64,
}

impl Lookahead {
    /// Prepares a round: frames records and sets the limit. Returns whether there are records before the
    /// limit.
    pub(super) fn start_round(
        &mut self,
        ring: &mut Ring,
        now: Instant,
        delay: Duration,
        all: bool,
    ) -> Result<bool> {
        let next = ring.reader.consumer.next();
        if self.events.is_none() {
            self.events = Some(Events::new(ring)?);
            self.restart(next);
        } else if self.earliest() != next {
            self.restart(next); // the ring was read in another way in between
        }
        let consumer = &ring.reader.consumer;
        let is_ripe = self.since.is_none_or(|since| now.saturating_duration_since(since) >= delay);
        if is_ripe || consumer.is_half_full() {
            self.limit = self.next_limit;
            self.next_limit = consumer.head();
            self.since = Some(now);
        }
        if all {
            self.limit = consumer.head();
        }
        self.fill(ring);
        self.is_open = self.has_open();
        Ok(self.is_open)
    }

    /// Forgets what was framed, and starts at `position`.
    fn restart(&mut self, position: u64) {
        self.queue.clear();
        (self.framed, self.limit, self.next_limit) = (position, position, position);
        (self.damage, self.since) = (None, None);
    }

    /// Returns when the records that were kept are old enough.
    pub(in super::super) fn due(&self, ring: &Ring, delay: Duration) -> Option<Instant> {
        self.since.filter(|_| ring.reader.consumer.len() != 0)?.checked_add(delay)
    }

    /// Returns the time of the next record.
    pub(super) fn next_time(&self) -> Option<u64> {
        self.queue.first().map(|entry| entry.time)
    }

    /// Delivers records up to the one of another ring, whose time and index are `bound`.
    pub(super) fn run<K, B>(
        &mut self,
        key: &K,
        ring: &mut Ring,
        (bound, index): ((u64, u32), u32),
        progress: &mut Progress<'_>,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Stop<B> {
        while let Some(&Entry { time, at, event, .. }) = self.queue.first() {
            if (time, index) > bound {
                return Stop::Bound;
            }
            let Some(events) = &self.events else { return Stop::Bound };
            let Ring { reader, event: own, redirected, .. } = &mut *ring;
            let raw = match reader.record_at(self.position(at)) {
                Ok(raw) => raw,
                Err(error) => {
                    // The kernel wrote over it after it was framed.
                    self.queue.clear();
                    self.damage = Some(error);
                    self.framed = reader.consumer.next();
                    self.fill(ring);
                    break;
                }
            };
            let event = match usize::from(event).checked_sub(1) {
                None => Some(&*own),
                Some(index) => redirected.get(index),
            };
            let is_late = time < *progress.latest;
            progress.drained.records += 1;
            progress.drained.late += u64::from(is_late);
            *progress.latest = time.max(*progress.latest);
            let flow = consume(SortedRecord { key, raw, time, is_late, event, events });
            self.queue.pop();
            reader.consumer.consume_to(self.earliest());
            reader.consumer.release();
            if self.queue.is_low() {
                self.fill(ring);
            }
            if let ControlFlow::Break(value) = flow {
                return Stop::Break(value);
            }
            if self.is_open && !self.has_open() {
                break;
            }
        }
        let is_closed = self.is_open && !self.has_open();
        self.is_open &= !is_closed;
        if is_closed { Stop::Closed } else { Stop::Bound }
    }

    /// Frames records until the queue is full or all unread records are in it.
    fn fill(&mut self, ring: &mut Ring) {
        let Some(events) = &self.events else { return };
        let reader = &mut ring.reader;
        while self.damage.is_none() && self.framed != reader.consumer.head() && !self.queue.is_full() {
            match reader.record_at(self.framed) {
                Ok(record) => {
                    let (event, time) = events.find(record);
                    self.time = time.unwrap_or(self.time);
                    self.queue.push(Entry::new(self.time, self.framed, event));
                    self.framed = self.framed.wrapping_add(record.size() as u64);
                }
                Err(error) => self.damage = Some(error),
            }
        }
        if let Some(error) = self.damage.filter(|_| self.queue.is_empty()) {
            // All records before it are delivered. No record after it can be found.
            reader.skip_damage(error);
            self.framed = reader.consumer.next();
            self.damage = None;
        }
    }

    /// Returns the position of the earliest record that was not delivered.
    fn earliest(&self) -> u64 {
        self.queue.first().map_or(self.framed, |entry| self.position(entry.floor()))
    }

    /// Returns the position of a word of a framed record.
    fn position(&self, at: u32) -> u64 {
        self.framed.wrapping_sub(u64::from(((self.framed / 8) as u32).wrapping_sub(at)) * 8)
    }

    /// Returns whether a record before the limit was not delivered.
    fn has_open(&self) -> bool {
        // A distance, because positions wrap at 2^64.
        (1..1 << 63).contains(&self.limit.wrapping_sub(self.earliest()))
    }
}
