//! Framing and sorting the next records of one ring.

use perf_decode::{RawRecord, Window};

use super::queue::{Entry, LOW, Queue};
use super::record::Events;
use crate::ring::Reader;
use crate::{Result, Ring};

/// The next records of a ring in time order, and how far the ring is read in this round.
///
/// Positions are bytes of the ring, free-running:
///
/// ```text
/// consumer.next()            framed                     consumer.head()
///       |  in `queue`, sorted  |  not framed, or `damage`  |
/// ```
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    pub(super) queue: Queue,
    /// Position after the last framed record.
    framed: u64,
    /// Whether there are bytes after `framed`.
    can_fill: bool,
    /// Set if the bytes at `framed` are not a record. They are skipped after the records before
    /// them are delivered, because skipping consumes everything.
    damage: Option<perf_decode::Error>,
    /// Time of the record that was framed last, for records without a time.
    time: u64,
    /// Position before which all records are delivered in this round, whatever their age: the end
    /// of a flush, or three quarters of a ring that is half full. Otherwise the ring's first
    /// record, which stands for no limit.
    limit: u64,
    /// Whether a record before the limit was not taken, as of the last
    /// [`set_stop`](Self::set_stop).
    pub(super) is_open: bool,
    /// Position before which the kernel may have sent a wakeup for the records. The younger ones
    /// end no wait.
    signalled: u64,
    /// `None` before the first round, and after an event was redirected into the ring.
    pub(super) events: Option<Events>,
}

impl Lookahead {
    /// Prepares a round after a look at the ring: frames records and sets the limit.
    pub(super) fn start_round(&mut self, ring: &mut Ring, is_signalled: bool, all: bool) -> Result<()> {
        let next = ring.reader.next_position();
        if self.events.is_none() {
            self.events = Some(Events::new(ring)?);
            self.restart(next);
        } else if self.earliest() != next {
            self.restart(next); // the ring was read in another way in between
        }
        let reader = &ring.reader;
        let head = reader.head();
        if is_signalled {
            self.signalled = head;
        }
        self.limit = if all {
            head
        } else if reader.is_half_full() {
            // The kernel sends the next wakeup after another half of the ring.
            head.wrapping_sub(reader.data_size() as u64 / 4)
        } else {
            next
        };
        self.fill(&mut ring.reader);
        Ok(())
    }

    /// Discards the framed records and starts at `position`. No wakeup was sent yet for the bytes
    /// after it.
    fn restart(&mut self, position: u64) {
        self.queue.clear();
        (self.framed, self.limit, self.signalled) = (position, position, position);
        self.damage = None;
    }

    /// Returns whether a record is unread that the kernel may have sent a wakeup for.
    pub(super) fn is_owed(&self, ring: &Ring) -> bool {
        is_before(ring.reader.next_position(), self.signalled)
    }

    /// Returns the latest time of the framed records.
    pub(super) fn latest(&self) -> u64 {
        self.queue.queued().last().map_or(self.time, |last| last.time)
    }

    /// Returns the latest time of the unread records, by a pass over those that are not framed.
    #[cold]
    pub(super) fn latest_unread(&self, reader: &mut Reader) -> u64 {
        let mut latest = self.latest();
        let Some(events) = &self.events else { return latest };
        let mut at = (self.framed / 8) as u32;
        loop {
            let (words, mut rest) = reader.words_from(at);
            for record in Window::from_slices(words, &[]).records(&mut []).map_while(Result::ok) {
                latest = latest.max(events.find(record).1.unwrap_or(0));
                at = at.wrapping_add(record.words().len() as u32);
            }
            // The next record wraps, is damaged, or does not exist.
            let Ok(record) = rest.record_at(at) else { return latest };
            latest = latest.max(events.find(record).1.unwrap_or(0));
            at = at.wrapping_add(record.words().len() as u32);
        }
    }

    /// Finds the number of records that can be taken without a look at anything else but their
    /// times: up to the limit, after which only old records are due; then as many as leave enough
    /// framed ones; then all.
    #[inline(never)]
    pub(super) fn set_stop(&mut self) {
        self.is_open = is_before(self.earliest(), self.limit);
        let is_last = self.damage.is_some() || !self.can_fill;
        let most = if is_last { usize::MAX } else { self.queue.len().saturating_sub(LOW) + 1 };
        let (is_open, limit) = (self.is_open, (self.limit / 8) as u32);
        // No entry has an earlier floor than those before it. The half of the numbers before a
        // limit are before it, because indices wrap at 2^32.
        self.queue.set_stop(most, |next| !is_open || next.floor().wrapping_sub(limit) >= 1 << 31);
    }

    /// Returns whether more records must be framed before the next one is taken.
    #[inline]
    pub(super) const fn must_fill(&self) -> bool {
        if self.damage.is_some() { self.queue.is_empty() } else { self.can_fill && self.queue.is_low() }
    }

    /// Consumes the records that were taken, and frames more.
    #[inline]
    pub(super) fn settle(&mut self, reader: &mut Reader) {
        if self.queue.settle() {
            reader.advance_to(self.earliest());
            reader.release_if_due();
            if self.must_fill() {
                self.fill(reader);
            }
        }
    }

    /// Notes that the kernel wrote over the next record after it was framed.
    #[cold]
    pub(super) fn set_damage(&mut self, reader: &mut Reader, error: perf_decode::Error) {
        self.queue.clear();
        self.framed = reader.next_position();
        self.damage = Some(error);
        self.fill(reader);
    }

    /// Frames records until the queue is full or all unread records are in it.
    #[inline(never)]
    fn fill(&mut self, reader: &mut Reader) {
        let Some(events) = &self.events else { return };
        self.queue.compact();
        let head = reader.head();
        while self.framed != head && self.damage.is_none() {
            let start = (self.framed / 8) as u32;
            let (words, mut rest) = reader.words_from(start);
            let from = (start, self.time);
            // A loop for each, so that the layout of a single event is known in its loop.
            let (is_full, (at, time)) = match events {
                Events::One(layout, event) => {
                    frame(words, &mut self.queue, from, |record| (*event, record.time(layout)))
                }
                Events::Many { .. } => frame(words, &mut self.queue, from, |record| events.find(record)),
            };
            self.framed = self.framed.wrapping_add(u64::from(at.wrapping_sub(start)) * 8);
            self.time = time;
            if is_full || self.framed == head {
                break;
            }
            // The next record wraps, or is damaged.
            match rest.record_at(at) {
                Ok(record) => {
                    let (event, found) = events.find(record);
                    self.time = found.unwrap_or(time);
                    let mut joined = Some(Entry::new(self.time, at, event));
                    self.queue.push_while(|| joined.take());
                    self.framed = self.framed.wrapping_add(record.size() as u64);
                }
                Err(error) => self.damage = Some(error),
            }
        }
        if let Some(error) = self.damage.filter(|_| self.queue.is_empty()) {
            // All records before it are delivered. No record after it can be found.
            reader.skip_damage(error);
            self.framed = reader.next_position();
            self.damage = None;
        }
        self.can_fill = self.framed != head;
        self.set_stop();
    }

    /// Returns the position of the earliest record that was not delivered.
    #[inline]
    fn earliest(&self) -> u64 {
        let back = |entry: &Entry| ((self.framed / 8) as u32).wrapping_sub(entry.floor());
        self.framed.wrapping_sub(self.queue.first().map_or(0, |entry| u64::from(back(entry)) * 8))
    }
}

/// Frames the records in `words` and pushes them, from a word index and the time for records that
/// have none. Returns whether the queue is full, and index and time after the last record.
#[inline(always)]
fn frame(
    words: &[u64],
    queue: &mut Queue,
    (mut at, mut time): (u32, u64),
    find: impl Fn(RawRecord<'_>) -> (u16, Option<u64>),
) -> (bool, (u32, u64)) {
    let mut records = Window::from_slices(words, &[]).records(&mut []);
    let is_full = queue.push_while(|| {
        let record = records.next()?.ok()?;
        let (event, found) = find(record);
        time = found.unwrap_or(time);
        let entry = Entry::new(time, at, event);
        at = at.wrapping_add(record.words().len() as u32);
        Some(entry)
    });
    (is_full, (at, time))
}

/// Compares positions by their distance, because they wrap at 2^64.
fn is_before(position: u64, limit: u64) -> bool {
    (1..1 << 63).contains(&limit.wrapping_sub(position))
}
