//! Ranges of addresses that do not overlap: the newest one covers what it overlaps, as mmap(2) with `MAP_FIXED` does.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A value that is valid for a range of addresses, and can be cut.
pub(crate) trait Ranged: Clone {
    fn start(&self) -> u64;
    /// Exclusive.
    fn end(&self) -> u64;
    /// Moves the start up to `start`, which is inside.
    fn cut_before(&mut self, start: u64);
    /// Moves the end down to `end`, which is inside.
    fn cut_after(&mut self, end: u64);
}

/// The ranges by their first address.
#[derive(Clone, Debug)]
pub(crate) struct RangeMap<T> {
    by_start: BTreeMap<u64, T>,
}

impl<T> Default for RangeMap<T> {
    fn default() -> Self {
        Self { by_start: BTreeMap::new() }
    }
}

impl<T: Ranged> RangeMap<T> {
    pub(crate) fn get(&self, addr: u64) -> Option<&T> {
        let (_, value) = self.by_start.range(..=addr).next_back()?;
        (addr < value.end()).then_some(value)
    }

    /// Adds a range, and takes its addresses from those that are there. An empty range is ignored.
    pub(crate) fn insert(&mut self, value: T) {
        let (start, end) = (value.start(), value.end());
        if start >= end {
            return;
        }
        self.clear(start, end);
        self.by_start.insert(start, value);
    }

    /// Removes the addresses from `start` up to `end`. A range with addresses on both sides becomes two.
    pub(crate) fn clear(&mut self, start: u64, end: u64) {
        // At most one range begins before `start` and reaches into it, because ranges do not overlap.
        if let Some((_, before)) = self.by_start.range_mut(..start).next_back() {
            if before.end() > start {
                let mut rest = before.clone();
                before.cut_after(start);
                if rest.end() > end {
                    rest.cut_before(end);
                    self.by_start.insert(end, rest);
                }
            }
        }
        while let Some((&first, _)) = self.by_start.range(start..end).next() {
            let Entry::Occupied(entry) = self.by_start.entry(first) else { return };
            let mut covered = entry.remove();
            if covered.end() > end {
                covered.cut_before(end);
                self.by_start.insert(end, covered);
            }
        }
    }

    /// Removes the range that begins at `start`.
    pub(crate) fn remove(&mut self, start: u64) {
        self.by_start.remove(&start);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.by_start.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_start.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Range(u64, u64, u8);

    impl Ranged for Range {
        fn start(&self) -> u64 {
            self.0
        }
        fn end(&self) -> u64 {
            self.1
        }
        fn cut_before(&mut self, start: u64) {
            self.0 = start;
        }
        fn cut_after(&mut self, end: u64) {
            self.1 = end;
        }
    }

    proptest! {
        #[test]
        fn each_address_has_the_newest_range(
            ranges in prop::collection::vec((0_u64..40, 0_u64..20, any::<bool>()), 0..20),
        ) {
            let mut map = RangeMap::default();
            let mut naive = [None; 64];
            for (name, &(start, len, is_insert)) in (0..).zip(&ranges) {
                let (end, name) = (start + len, is_insert.then_some(name));
                match name {
                    Some(name) => map.insert(Range(start, end, name)),
                    None => map.clear(start, end),
                }
                naive[start as usize..end as usize].fill(name);
            }
            for (addr, name) in (0..).zip(naive) {
                prop_assert_eq!(map.get(addr).map(|range| range.2), name, "address {}", addr);
            }
            let mut last = 0;
            for range in map.iter() {
                prop_assert!(last <= range.0 && range.0 < range.1, "{:?}", range);
                last = range.1;
            }
        }
    }
}
