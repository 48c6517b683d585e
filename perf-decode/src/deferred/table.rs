//! A hash table of samples in memory that the caller provides.

use crate::sample::Sample;

/// Memory for one sample in [`DeferredCallchains`](super::DeferredCallchains).
#[derive(Clone, Copy, Debug)]
pub struct DeferredSlot<'a> {
    sample: Option<Sample<'a>>,
    cookie: u64,
    /// The next, later sample in the bucket; in a free slot, the next free slot.
    next: Index,
    /// The samples that came before and after this one.
    older: Index,
    newer: Index,
    /// The first and the last sample of the bucket that has this slot's index.
    head: Index,
    tail: Index,
}

/// Index of a slot, or `NONE`.
type Index = u32;

pub(super) const NONE: Index = Index::MAX;

impl DeferredSlot<'_> {
    /// A slot without a sample.
    pub const EMPTY: Self =
        Self { sample: None, cookie: 0, next: NONE, older: NONE, newer: NONE, head: NONE, tail: NONE };
}

impl Default for DeferredSlot<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// A hash table by cookie, whose chains are in order of arrival, and a list of all samples in that
/// order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    free: Index,
    oldest: Index,
    newest: Index,
    pub(super) len: usize,
}

impl Table {
    /// Empties the slots.
    pub(super) fn new(slots: &mut [DeferredSlot<'_>]) -> Self {
        slots.fill(DeferredSlot::EMPTY);
        let mut free = NONE;
        // In reverse, so that the free list is ascending.
        for (index, slot) in (0..NONE).zip(slots).rev() {
            slot.next = free;
            free = index;
        }
        Self { free, oldest: NONE, newest: NONE, len: 0 }
    }

    /// Adds a sample, or returns it if no slot is free.
    pub(super) fn push<'a>(
        &mut self,
        slots: &mut [DeferredSlot<'a>],
        cookie: u64,
        sample: Sample<'a>,
    ) -> Option<Sample<'a>> {
        let index = self.free;
        let Some(slot) = get(slots, index) else { return Some(sample) };
        self.free = slot.next;
        (slot.sample, slot.cookie, slot.next) = (Some(sample), cookie, NONE);
        (slot.older, slot.newer) = (self.newest, NONE);
        match get(slots, self.newest) {
            Some(newest) => newest.newer = index,
            None => self.oldest = index,
        }
        self.newest = index;
        // At the end of the bucket's chain, which stays in order of arrival.
        let last = bucket(slots, cookie).map_or(NONE, |bucket| {
            if bucket.tail == NONE {
                bucket.head = index;
            }
            core::mem::replace(&mut bucket.tail, index)
        });
        if let Some(last) = get(slots, last) {
            last.next = index;
        }
        self.len += 1;
        None
    }

    /// Removes the oldest sample.
    pub(super) fn pop_oldest<'a>(&mut self, slots: &mut [DeferredSlot<'a>]) -> Option<Sample<'a>> {
        // The oldest sample is also the first of its bucket.
        self.remove(slots, NONE, self.oldest)
    }

    /// Removes the first sample with this cookie after the slot `before` of its chain; `NONE` is
    /// the start. Sets `before` to where the next call continues.
    pub(super) fn take<'a>(
        &mut self,
        slots: &mut [DeferredSlot<'a>],
        cookie: u64,
        before: &mut Index,
    ) -> Option<Sample<'a>> {
        let mut index = match get(slots, *before) {
            Some(before) => before.next,
            None => bucket(slots, cookie)?.head,
        };
        while let Some(slot) = get(slots, index) {
            if slot.cookie == cookie {
                return self.remove(slots, *before, index);
            }
            *before = index;
            index = slot.next;
        }
        None
    }

    /// Removes the sample at `index`, which is after the slot `before` in its chain.
    fn remove<'a>(
        &mut self,
        slots: &mut [DeferredSlot<'a>],
        before: Index,
        index: Index,
    ) -> Option<Sample<'a>> {
        let slot = get(slots, index)?;
        let sample = slot.sample.take();
        let DeferredSlot { cookie, next, older, newer, .. } = *slot;
        // `head` and `tail` stay: they belong to the bucket of this index, not to the sample.
        slot.next = core::mem::replace(&mut self.free, index);
        match get(slots, older) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
        match get(slots, newer) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
        let bucket = bucket(slots, cookie)?;
        if next == NONE {
            bucket.tail = before;
        }
        if before == NONE {
            bucket.head = next;
        } else if let Some(before) = get(slots, before) {
            before.next = next;
        }
        self.len -= 1;
        sample
    }
}

fn get<'s, 'a>(slots: &'s mut [DeferredSlot<'a>], index: Index) -> Option<&'s mut DeferredSlot<'a>> {
    slots.get_mut(index as usize).filter(|_| index != NONE)
}

/// Returns the slot that holds both ends of the chain for this cookie.
fn bucket<'s, 'a>(slots: &'s mut [DeferredSlot<'a>], cookie: u64) -> Option<&'s mut DeferredSlot<'a>> {
    // The upper bits of the product depend on all bits of the cookie, which the kernel counts up.
    let hash = cookie.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let index = (u128::from(hash) * slots.len() as u128) >> 64;
    slots.get_mut(index as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn consecutive_cookies_are_spread_over_the_buckets() {
        let mut slots = [DeferredSlot::EMPTY; 64];
        let mut address = |cookie| core::ptr::from_mut(bucket(&mut slots, cookie).unwrap()).addr();
        for start in [0, 1 << 32, u64::MAX / 3] {
            let buckets: BTreeSet<_> = (start..start + 64).map(&mut address).collect();
            assert!(buckets.len() > 32, "{} buckets from {start}", buckets.len());
        }
    }
}
