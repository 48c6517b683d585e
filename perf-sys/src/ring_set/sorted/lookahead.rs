use core::ops::ControlFlow;
use core::time::Duration;
use std::time::Instant;

use perf_decode::{RawRecord, Window};

use super::events::Events;
use super::queue::{Entry, Queue};
use super::{Drained, SortedRecord};
use crate::map::Position;
use crate::reader::{Reader, join_first};
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
        let is_half_full = consumer.is_half_full();
        if is_ripe || is_half_full {
            self.limit = self.next_limit;
            self.next_limit = consumer.head();
            self.since = Some(now);
        }
        if all || is_half_full && self.limit == next {
            self.limit = consumer.head();
        }
        self.fill(&mut ring.reader);
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
    #[inline]
    pub(super) fn run<K, B>(
        &mut self,
        key: &K,
        ring: &mut Ring,
        (bound, index): ((u64, u32), u32),
        progress: &mut Progress<'_>,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Stop<B> {
        loop {
            let stop = self.run_framed(key, ring, (bound, index), progress, consume);
            ring.reader.consumer.release_if_due();
            if self.queue.is_low() {
                self.fill(&mut ring.reader);
            }
            let is_closed = self.is_open && !self.has_open();
            self.is_open &= !is_closed;
            match stop {
                Some(stop) => return stop,
                None if is_closed => return Stop::Closed,
                None if self.queue.is_empty() => return Stop::Bound,
                None => {}
            }
        }
    }

    /// Delivers framed records. Returns `None` when more must be framed, and after the last record before
    /// the limit.
    #[inline]
    fn run_framed<K, B>(
        &mut self,
        key: &K,
        ring: &mut Ring,
        (bound, index): ((u64, u32), u32),
        progress: &mut Progress<'_>,
        consume: &mut impl FnMut(SortedRecord<'_, K>) -> ControlFlow<B>,
    ) -> Option<Stop<B>> {
        let Some(events) = &self.events else { return Some(Stop::Bound) };
        let Ring { reader, event: own, redirected, .. } = ring;
        let limit = self.is_open.then_some((self.limit / 8) as u32);
        let step = reader.consumer.release_step();
        let base = (reader.consumer.next() / 8) as u32;
        let (window, position, scratch) = reader.split();
        let (first, second) = window.as_slices();
        let mut run = Run { queue: &mut self.queue, framed: self.framed, position };
        while let Some(&Entry { time, at, event, .. }) = run.queue.first() {
            if (time, index) > bound {
                return Some(Stop::Bound);
            }
            let offset = at.wrapping_sub(base) as usize;
            let words = first.get(offset..).filter(|words| !words.is_empty());
            let words = words.or_else(|| second.get(offset - first.len()..)).unwrap_or(&[]);
            let raw = if let Ok((raw, _)) = RawRecord::split_first(words) {
                raw
            } else {
                let joined = join_first(Window::from_slices(words, second), scratch).next();
                let Some(Ok(raw)) = joined else {
                    // The kernel wrote over it after it was framed.
                    run.queue.clear();
                    run.framed = run.position.get();
                    self.framed = run.framed;
                    return None;
                };
                raw
            };
            let event = match usize::from(event).checked_sub(1) {
                None => Some(&*own),
                Some(index) => redirected.get(index),
            };
            let is_late = time < *progress.latest;
            progress.drained.records += 1;
            if is_late {
                progress.drained.late += 1;
            } else {
                *progress.latest = time;
            }
            run.queue.pop();
            if let ControlFlow::Break(value) =
                consume(SortedRecord { key, raw, time, is_late, event, events })
            {
                return Some(Stop::Break(value));
            }
            let next = run.queue.first();
            if run.queue.is_low()
                || offset >= step
                || next.is_none_or(|next| limit.is_some_and(|limit| reaches(next, limit)))
            {
                return None;
            }
        }
        None
    }

    /// Frames records until the queue is full or all unread records are in it.
    #[inline(never)]
    fn fill(&mut self, reader: &mut Reader) {
        let Some(events) = &self.events else { return };
        let mut room = self.queue.make_room();
        let head = reader.consumer.head();
        while room != 0 && self.framed != head && self.damage.is_none() {
            let unread = reader.consumer.unread_from(self.framed).window();
            let mut records = Window::from_slices(unread.as_slices().0, &[]).records(&mut []);
            let mut at = (self.framed / 8) as u32;
            let mut frame = |record: RawRecord<'_>| {
                let (event, time) = events.find(record);
                self.time = time.unwrap_or(self.time);
                self.queue.push(Entry::new(self.time, at, event));
                at = at.wrapping_add((record.size() / 8) as u32);
                room -= 1;
                room == 0
            };
            let is_full = records.by_ref().map_while(Result::ok).any(&mut frame);
            let before = records.position();
            self.framed = self.framed.wrapping_add(before);
            if is_full || self.framed == head {
                break;
            }
            // The next record wraps, or is damaged.
            match reader.record_at(self.framed) {
                Ok(record) => {
                    frame(record);
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
        earliest(&self.queue, self.framed)
    }

    /// Returns whether a record before the limit was not delivered.
    fn has_open(&self) -> bool {
        // A distance, because positions wrap at 2^64.
        (1..1 << 63).contains(&self.limit.wrapping_sub(self.earliest()))
    }
}

/// The delivery of framed records. Dropping it consumes those that were taken out of the queue, also when
/// the callback panics.
struct Run<'r> {
    queue: &'r mut Queue,
    framed: u64,
    position: Position<'r>,
}

impl Drop for Run<'_> {
    #[inline]
    fn drop(&mut self) {
        self.position.advance_to(earliest(self.queue, self.framed));
    }
}

/// Returns the position of the earliest record in the queue, or `framed`.
#[inline]
fn earliest(queue: &Queue, framed: u64) -> u64 {
    let back = |entry: &Entry| ((framed / 8) as u32).wrapping_sub(entry.floor());
    framed.wrapping_sub(queue.first().map_or(0, |entry| u64::from(back(entry)) * 8))
}

/// Returns whether no record before the limit, a word index, is left when `next` is the first.
#[inline]
fn reaches(next: &Entry, limit: u32) -> bool {
    next.floor().wrapping_sub(limit) < 1 << 31
}
