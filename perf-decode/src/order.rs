//! Merging of sources by time.

/// Sources of items that are merged in time order (k-way merge).
///
/// It chooses among sources by the time of their next items, and never sees the items, so it serves
/// iterators, rings, files and sources that lend their items. Items with the same time come in the
/// order of their sources' numbers. A source may go back in time: its earlier item is chosen at
/// once, and the caller can count it as late.
///
/// The caller owns the memory: `S` has one slot for each source but one, such as an array, a vector
/// or a mutable slice. An item costs one comparison while its source stays the first. When another
/// source becomes the first, the cost is a search among the others, and a move of those that are
/// earlier than the new item.
///
/// ```
/// use perf_decode::{Head, Heads};
/// use std::iter::Peekable;
///
/// /// Calls `consume` with the items of all streams in time order.
/// fn merge<T>(
///     streams: &mut [Peekable<impl Iterator<Item = (u64, T)>>],
///     mut consume: impl FnMut(u64, T),
/// ) {
///     let mut heads = Heads::new(vec![Head::default(); streams.len()]);
///     for (source, stream) in streams.iter_mut().enumerate() {
///         if let Some((time, _)) = stream.peek() {
///             heads.insert(source, *time);
///         }
///     }
///     while let Some(source) = heads.first() {
///         let stream = &mut streams[source];
///         if let Some((time, item)) = stream.next() {
///             consume(time, item);
///         }
///         heads.advance(stream.peek().map(|(time, _)| *time));
///     }
/// }
///
/// let mut streams = [vec![(10, 'a'), (30, 'c')], vec![(20, 'b')]].map(|items| items.into_iter().peekable());
/// let mut merged = String::new();
/// merge(&mut streams, |_, item| merged.push(item));
/// assert_eq!(merged, "abc");
/// ```
#[derive(Clone, Debug)]
pub struct Heads<S> {
    /// The earliest source. Outside of the slots, so that it stays in registers.
    first: Head,
    /// The latest time with which `first` stays the first. It depends on the second source alone,
    /// so it is computed when that changes, and not for each item.
    bound: u64,
    /// The other sources, earliest first, in the first `others` slots.
    slots: S,
    others: usize,
    is_empty: bool,
}

/// A slot of [`Heads`]: a source, by the time of its next item and its number.
///
/// One number, with the time in its upper half, is compared in two instructions and copied through
/// two registers. A pair that was just stored by halves would be loaded as a whole, which stalls
/// the CPU (x86-64, two sources in turn).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Head(u128);

impl Head {
    #[inline]
    const fn new(time: u64, source: usize) -> Self {
        Self((time as u128) << 64 | source as u128)
    }

    #[inline]
    const fn time(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    const fn source(self) -> usize {
        self.0 as usize
    }
}

/// Number of other sources up to which the new place is found by steps from the start. For more, a
/// binary search and one move of memory is faster: with 64 rings that alternate by a third, with 8
/// it is slower by a fifth.
const FEW: usize = 8;

impl<S: AsRef<[Head]> + AsMut<[Head]>> Heads<S> {
    /// Starts without a source. The content of the slots does not matter.
    pub const fn new(slots: S) -> Self {
        Self { first: Head(0), bound: 0, slots, others: 0, is_empty: true }
    }

    /// Removes all sources.
    pub const fn clear(&mut self) {
        (self.others, self.is_empty) = (0, true);
    }

    /// Adds a source whose next item has the time `time`. A source must not be added twice.
    ///
    /// Returns whether there was a slot for it. Without one nothing changes.
    pub fn insert(&mut self, source: usize, time: u64) -> bool {
        let new = Head::new(time, source);
        if self.is_empty {
            (self.first, self.is_empty) = (new, false);
        } else {
            let Some(slots) = self.slots.as_mut().get_mut(..=self.others) else { return false };
            // `first` is not in the slots, so the later of the two is inserted there.
            let later = if new < self.first { core::mem::replace(&mut self.first, new) } else { new };
            let Some((_, others)) = slots.split_last() else { return false };
            let at = others.partition_point(|other| *other < later);
            if let Some(moved) = slots.get_mut(at..) {
                moved.rotate_right(1);
                moved.first_mut().into_iter().for_each(|slot| *slot = later);
            }
            self.others += 1;
        }
        self.set_bound();
        true
    }

    /// Returns the source with the earliest item; `None` if no source is left.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        if self.is_empty { None } else { Some(self.first.source()) }
    }

    /// Returns the time of the first source's next item; `None` if no source is left.
    #[inline]
    pub fn time(&self) -> Option<u64> {
        if self.is_empty { None } else { Some(self.first.time()) }
    }

    /// Returns the latest time with which the first source stays the first: its items up to it need
    /// no call of [`advance`](Self::advance) in between. `u64::MAX` if it is the only source.
    #[inline]
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// Sets the time of the first source's next item, and chooses anew. `None` removes the source,
    /// which has no other item for now; [`insert`](Self::insert) adds it again.
    #[inline]
    pub fn advance(&mut self, next: Option<u64>) {
        match next {
            Some(time) => {
                let new = Head::new(time, self.first.source());
                if time <= self.bound {
                    self.first = new;
                } else if self.others > FEW {
                    self.replace_among_many(new);
                } else {
                    self.replace_among_few(new);
                }
            }
            None => self.remove_first(),
        }
    }

    /// Moves the second source to the front, and sorts `new` into the others.
    #[inline]
    fn replace_among_few(&mut self, new: Head) {
        let Some(others) = self.slots.as_mut().get_mut(..self.others) else { return };
        let Some(second) = others.first() else { return };
        self.first = *second;
        let mut at = 0;
        while let Some(next) = others.get(at + 1).copied().filter(|next| *next < new) {
            others.get_mut(at).into_iter().for_each(|slot| *slot = next);
            at += 1;
        }
        others.get_mut(at).into_iter().for_each(|slot| *slot = new);
        self.set_bound();
    }

    /// The body of [`replace_among_few`](Self::replace_among_few) without inlining.
    #[inline(never)]
    fn replace_among_many(&mut self, new: Head) {
        let Some(others) = self.slots.as_mut().get_mut(..self.others) else { return };
        let Some(second) = others.first() else { return };
        self.first = *second;
        // The second source is earlier than `new`, so this is at least 1. The compiler cannot know
        // it, and would leave a panic in `copy_within`.
        let earlier = others.partition_point(|other| *other < new).max(1);
        others.copy_within(1..earlier, 0);
        if let Some(slot) = others.get_mut(earlier - 1) {
            *slot = new;
        }
        self.set_bound();
    }

    #[inline(never)]
    fn remove_first(&mut self) {
        let others = self.slots.as_mut().get_mut(..self.others).unwrap_or_default();
        match others.first() {
            Some(second) => {
                self.first = *second;
                others.copy_within(1.., 0);
                self.others -= 1;
            }
            None => self.is_empty = true,
        }
        self.set_bound();
    }

    #[inline]
    fn set_bound(&mut self) {
        self.bound = match self.slots.as_ref().first() {
            // If two items have the same time, the source with the lower number comes first. Then
            // the difference borrows from the time.
            Some(second) if self.others > 0 => {
                Head(second.0.wrapping_sub(self.first.source() as u128)).time()
            }
            _ => u64::MAX,
        };
    }
}
