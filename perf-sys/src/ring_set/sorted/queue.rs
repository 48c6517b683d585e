/// The framed records of a ring, in the order of time.
///
/// The records of a ring are nearly in order: an interrupt writes its record before that of the code it
/// interrupted, which has the earlier time. So it is enough to sort the next few.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Empty until the first push. The queue wraps at its end.
    entries: Option<Box<[Entry; SLOTS]>>,
    start: usize,
    len: usize,
}

/// A framed record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub(super) time: u64,
    /// Index of its first word in the ring, free-running, modulo 2^32.
    pub(super) at: u32,
    /// Words from the earliest record of this and the following entries to this one: 0 unless records
    /// are out of order.
    back: u16,
    pub(super) event: u16,
}

/// Number of records that are framed ahead: far more than interrupts nest, and few enough to stay in the
/// CPU's cache until they are delivered.
const SLOTS: usize = 64;
/// Number of records below which more are framed.
const LOW: usize = 32;

impl Entry {
    /// Creates the entry of a record at `position`, in bytes.
    pub(super) const fn new(time: u64, position: u64, event: u16) -> Self {
        Self { time, at: (position / 8) as u32, back: 0, event }
    }

    /// Returns the index of the earliest record of this and the following entries.
    pub(super) const fn floor(&self) -> u32 {
        self.at.wrapping_sub(self.back as u32)
    }
}

impl Queue {
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) const fn is_full(&self) -> bool {
        self.len == SLOTS
    }

    pub(super) const fn is_low(&self) -> bool {
        self.len < LOW
    }

    /// Returns the record with the earliest time.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry> {
        self.entries.as_ref()?.get(self.start % SLOTS).filter(|_| self.len != 0)
    }

    /// Removes the record with the earliest time.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.start += 1;
        self.len -= 1;
    }

    /// Adds a record that was written after all others. The queue is not full.
    ///
    /// Records with the same time keep their order. If the records that are later by time are more than
    /// 512 KiB long, the order stays that of the ring.
    #[inline]
    pub(super) fn push(&mut self, mut new: Entry) {
        let entries = self.entries.get_or_insert_with(|| Box::new([Entry::default(); SLOTS]));
        let mut slot = self.start + self.len;
        let later = |entries: &[Entry; SLOTS], slot: usize| {
            let before = entries.get(slot.wrapping_sub(1) % SLOTS).filter(|_| slot != self.start)?;
            let back = u16::try_from(new.at.wrapping_sub(before.floor())).ok()?;
            (before.time > new.time).then_some((*before, back))
        };
        while let Some((before, back)) = later(entries, slot) {
            if let Some(moved) = entries.get_mut(slot % SLOTS) {
                *moved = before;
            }
            slot -= 1;
            new.back = back;
        }
        if let Some(free) = entries.get_mut(slot % SLOTS) {
            *free = new;
        }
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times and indices in the order of the queue, each with the floor when it is the first.
    fn popped(queue: &mut Queue) -> Vec<(u64, u32, u32)> {
        let mut popped = Vec::new();
        while let Some(first) = queue.first() {
            popped.push((first.time, first.at, first.floor()));
            queue.pop();
        }
        popped
    }

    #[test]
    fn records_come_in_order_of_time_and_keep_the_order_of_equal_times() {
        let mut queue = Queue::default();
        for (time, at) in [(10, 0), (30, 3), (30, 6), (20, 9), (40, 12)] {
            queue.push(Entry::new(time, at * 8, 0));
        }
        let expected = [(10, 0, 0), (20, 9, 3), (30, 3, 3), (30, 6, 6), (40, 12, 12)];
        assert_eq!(popped(&mut queue), expected);
    }

    #[test]
    fn nothing_is_released_before_the_earliest_record_in_the_ring() {
        let mut queue = Queue::default();
        for (time, at) in [(50, 0), (40, 2), (30, 4), (45, 6)] {
            queue.push(Entry::new(time, at * 8, 0));
        }
        assert_eq!(popped(&mut queue), [(30, 4, 0), (40, 2, 0), (45, 6, 0), (50, 0, 0)]);
    }

    #[test]
    fn queue_wraps_and_indices_wrap() {
        let mut queue = Queue::default();
        for round in 0..100_u64 {
            let at = (u64::from(u32::MAX) - 50 + round) * 8;
            queue.push(Entry::new(round, at, 7));
            queue.push(Entry::new(round, at, 8));
            let first = *queue.first().unwrap();
            assert_eq!((first.time, first.at, first.event), (round, (at / 8) as u32, 7));
            queue.pop();
            queue.pop();
            assert!(queue.is_empty());
        }
    }

    #[test]
    fn distance_beyond_the_counter_keeps_the_order_of_the_ring() {
        let mut queue = Queue::default();
        queue.push(Entry::new(50, 0, 0));
        queue.push(Entry::new(40, 65_536 * 8, 0));
        assert_eq!(popped(&mut queue), [(50, 0, 0), (40, 65_536, 65_536)]);
    }

    #[test]
    fn full_queue_has_all_its_slots() {
        let mut queue = Queue::default();
        for time in (0..SLOTS as u64).rev() {
            assert!(!queue.is_full());
            queue.push(Entry::new(time, (SLOTS as u64 - time) * 8, 0));
        }
        assert!(queue.is_full() && !queue.is_low());
        let popped = popped(&mut queue);
        assert!(popped.is_sorted() && popped.len() == SLOTS);
    }
}
