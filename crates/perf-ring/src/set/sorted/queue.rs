//! A buffer that sorts the next records of a ring.

/// The framed records of a ring in time order.
///
/// The records of a ring are nearly in order: an interrupt writes its record before the code that
/// it interrupted, whose record has the earlier time. So it is enough to sort the next few.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// [`SLOTS`] of them, or none before the first use.
    entries: Box<[Entry]>,
    /// The records in `start..end` are framed and were not taken. What was taken stays in its slot
    /// until [`compact`](Self::compact), so that it can be put back.
    start: usize,
    end: usize,
    /// Up to here records can be taken without a test of anything but their time.
    stop: usize,
    /// The start when the taken records were consumed last.
    settled: usize,
}

/// A record that is framed but not delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) time: u64,
    /// Index of its first word in the ring, free-running, modulo 2^32.
    pub(super) at: u32,
    /// Words from the earliest record of this and the following entries to this one: 0 unless
    /// records are out of order.
    back: u16,
    pub(super) event: u16,
}

/// Number of records that are framed ahead: few enough to stay in the CPU's cache until they are
/// delivered.
const SLOTS: usize = 128;
/// Number of records below which more are framed: far more than interrupts nest.
pub(super) const LOW: usize = 32;

impl Entry {
    /// Creates the entry of the record whose first word has the index `at`.
    #[inline]
    pub(super) const fn new(time: u64, at: u32, event: u16) -> Self {
        Self { time, at, back: 0, event }
    }

    /// Returns the index of the earliest record of this and the following entries.
    #[inline]
    pub(super) const fn floor(&self) -> u32 {
        self.at.wrapping_sub(self.back as u32)
    }
}

impl Queue {
    pub(super) const fn clear(&mut self) {
        (self.start, self.end, self.stop, self.settled) = (0, 0, 0, 0);
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Returns whether more records should be framed, if there are any.
    #[inline]
    pub(super) const fn is_low(&self) -> bool {
        self.len() < LOW
    }

    /// Returns the record with the earliest time.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry> {
        if self.start == self.end { None } else { self.entries.get(self.start) }
    }

    /// Returns the records, earliest first.
    #[inline]
    pub(super) fn queued(&self) -> &[Entry] {
        self.entries.get(self.start..self.end).unwrap_or(&[])
    }

    /// Sets the stop after the records for which `is_before` holds, and after `most` of them at
    /// most.
    pub(super) fn set_stop(&mut self, most: usize, is_before: impl FnMut(&Entry) -> bool) {
        self.stop = self.start + self.queued().partition_point(is_before).min(most);
    }

    /// Takes the earliest records: up to the time `bound` and the stop, as long as `plan` returns
    /// `Some`. Returns the time of the next one; `None` at the stop.
    #[inline]
    pub(super) fn take_while(
        &mut self,
        bound: u64,
        mut plan: impl FnMut(Entry) -> Option<()>,
    ) -> Option<u64> {
        let mut at = self.start;
        let next = loop {
            if at == self.stop {
                break None;
            }
            let Some(entry) = self.entries.get(at) else { break None };
            if entry.time > bound || plan(*entry).is_none() {
                break Some(entry.time);
            }
            at += 1;
        };
        self.start = at;
        next
    }

    /// Puts the record back that was taken last, if nothing was pushed since.
    pub(super) const fn put_back(&mut self) {
        self.start = self.start.saturating_sub(1);
    }

    /// Returns whether records were taken and not put back since the last call.
    #[inline]
    pub(super) const fn settle(&mut self) -> bool {
        core::mem::replace(&mut self.settled, self.start) != self.start
    }

    /// Moves the records to the start of the buffer, so that others can be pushed.
    pub(super) fn compact(&mut self) {
        if self.entries.is_empty() {
            self.entries = vec![Entry::default(); SLOTS].into();
        }
        self.entries.copy_within(self.start..self.end, 0);
        (self.start, self.end, self.stop, self.settled) = (0, self.len(), 0, 0);
    }

    /// Adds records that were written after all others, until `next` returns `None` or the buffer
    /// is full. Returns whether it is.
    ///
    /// Records with the same time keep their order. If the records that are later by time are more
    /// than 512 KiB long, they stay in ring order.
    #[inline]
    pub(super) fn push_while(&mut self, mut next: impl FnMut() -> Option<Entry>) -> bool {
        let last = |queue: &Self| queue.entries.get(queue.start..queue.end)?.last().map(|last| last.time);
        let mut latest = last(self).unwrap_or(0);
        while self.end < self.entries.len() {
            let Some(new) = next() else { return false };
            if let Some(slot) = self.entries.get_mut(self.end) {
                *slot = new;
            }
            self.end += 1;
            if new.time < latest {
                self.sift();
            } else {
                latest = new.time;
            }
        }
        true
    }

    /// Moves the last record before those with a later time.
    #[cold]
    fn sift(&mut self) {
        let Some(queued) = self.entries.get_mut(self.start..self.end) else { return };
        let Some((&mut mut new, before)) = queued.split_last_mut() else { return };
        let later = before.iter().rev().take_while(|entry| entry.time > new.time);
        let back = |entry: &Entry| u16::try_from(new.at.wrapping_sub(entry.floor())).ok();
        let Some((count, floor)) = later.map_while(back).enumerate().last() else { return };
        new.back = floor;
        let index = before.len() - count - 1;
        if let Some(moved) = queued.get_mut(index..) {
            moved.rotate_right(1);
            if let Some(slot) = moved.first_mut() {
                *slot = new;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &mut Queue, entries: &[(u64, u32)]) -> bool {
        queue.compact();
        let mut entries = entries.iter().map(|&(time, at)| Entry::new(time, at, 0));
        queue.push_while(|| entries.next())
    }

    /// Takes records. Returns whether the stop is reached.
    fn take(queue: &mut Queue, mut count: usize) -> bool {
        let most = |_| {
            count = count.checked_sub(1)?;
            Some(())
        };
        queue.take_while(u64::MAX, most).is_none()
    }

    /// Times and indices in the order of the queue, each with the floor when it is the first.
    fn popped(queue: &mut Queue) -> Vec<(u64, u32, u32)> {
        let mut popped = Vec::new();
        queue.set_stop(usize::MAX, |_| true);
        while let Some(first) = queue.first() {
            popped.push((first.time, first.at, first.floor()));
            take(queue, 1);
        }
        popped
    }

    #[test]
    fn records_come_in_order_of_time_and_keep_the_order_of_equal_times() {
        let mut queue = Queue::default();
        push(&mut queue, &[(10, 0), (30, 3), (30, 6), (20, 9), (40, 12)]);
        let expected = [(10, 0, 0), (20, 9, 3), (30, 3, 3), (30, 6, 6), (40, 12, 12)];
        assert_eq!(popped(&mut queue), expected);
        push(&mut queue, &[(20, 0), (30, 3), (20, 6)]);
        assert_eq!(popped(&mut queue), [(20, 0, 0), (20, 6, 3), (30, 3, 3)]);
    }

    #[test]
    fn nothing_is_released_before_the_earliest_record_in_the_ring() {
        let mut queue = Queue::default();
        push(&mut queue, &[(50, 0), (40, 2), (30, 4), (45, 6)]);
        assert_eq!(popped(&mut queue), [(30, 4, 0), (40, 2, 0), (45, 6, 0), (50, 0, 0)]);
    }

    #[test]
    fn indices_wrap_at_32_bits() {
        let mut queue = Queue::default();
        push(&mut queue, &[(20, u32::MAX - 1), (10, 1)]);
        let first = *queue.first().unwrap();
        assert_eq!((first.at, first.floor()), (1, u32::MAX - 1));
    }

    #[test]
    fn distance_beyond_the_counter_keeps_the_order_of_the_ring() {
        let mut queue = Queue::default();
        push(&mut queue, &[(50, 0), (40, 65_536)]);
        assert_eq!(popped(&mut queue), [(50, 0, 0), (40, 65_536, 65_536)]);
    }

    #[test]
    fn queue_takes_as_many_records_as_it_has_slots() {
        let mut queue = Queue::default();
        let descending: Vec<_> = (0..=SLOTS as u32).map(|at| (u64::from(SLOTS as u32 - at), at)).collect();
        assert!(push(&mut queue, &descending), "full");
        assert!(!queue.is_low());
        queue.set_stop(usize::MAX, |_| true);
        assert!(!take(&mut queue, 100));
        assert!(queue.is_low());
        assert!(!push(&mut queue, &[(200, 200)]));
        let times: Vec<_> = popped(&mut queue).into_iter().map(|(time, ..)| time).collect();
        assert_eq!(times, [(101..=128).collect::<Vec<_>>(), vec![200]].concat());
    }

    #[test]
    fn stop_is_after_the_records_before_a_limit_or_the_most() {
        let mut queue = Queue::default();
        push(&mut queue, &[(10, 0), (20, 3), (30, 6), (40, 9)]);
        queue.set_stop(usize::MAX, |entry| entry.time < 30);
        assert_eq!(queue.take_while(10, |_| Some(())), Some(20));
        assert_eq!(queue.take_while(u64::MAX, |_| None), Some(20));
        assert_eq!(queue.take_while(u64::MAX, |_| Some(())), None, "at the stop");
        assert_eq!(queue.first().map(|first| first.at), Some(6));
        queue.set_stop(1, |_| true);
        assert!(take(&mut queue, 2) && queue.first().is_some());
        queue.set_stop(usize::MAX, |_| true);
        assert!(take(&mut queue, 2) && queue.is_empty());
    }

    #[test]
    fn records_are_settled_once_and_not_if_they_are_put_back() {
        let mut queue = Queue::default();
        push(&mut queue, &[(10, 0), (20, 3)]);
        assert!(!queue.settle());
        queue.set_stop(usize::MAX, |_| true);
        take(&mut queue, 1);
        assert!(queue.settle() && !queue.settle());
        take(&mut queue, 1);
        queue.put_back();
        assert!(!queue.settle());
        assert_eq!(popped(&mut queue), [(20, 3, 3)]);
    }
}
