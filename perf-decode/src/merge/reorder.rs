/// An item in the buffer of a [`Merge`](super::Merge), until nothing earlier can follow.
#[derive(Clone, Copy, Debug)]
pub struct Buffered<T> {
    item: (u64, T),
    /// Order of arrival, for a later merge that finds the item in its slot.
    number: u64,
}

/// The buffer of a merge: a queue in order of time, which wraps at the end of the caller's slots.
///
/// Nearly all items come in order already and go to its end; the others pass those later than they are.
#[derive(Clone, Debug)]
pub(super) struct Reorder<B> {
    pub(super) slots: B,
    /// Slot of the earliest item.
    start: usize,
    held: usize,
    arrived: u64,
}

impl<B> Reorder<B> {
    /// Takes over the items that are in `slots` already.
    pub(super) fn new<T>(mut slots: B) -> Self
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        let all = slots.as_mut();
        all.sort_unstable_by_key(|slot| match slot {
            Some(Buffered { item: (time, _), number }) => (false, *time, *number),
            None => (true, 0, 0),
        });
        let held = all.iter().filter(|slot| slot.is_some()).count();
        let arrived = all.iter().flatten().map(|buffered| buffered.number + 1).max().unwrap_or(0);
        Self { slots, start: 0, held, arrived }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.held == 0
    }

    #[inline]
    pub(super) fn is_full<T>(&mut self) -> bool
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        self.held >= self.slots.as_mut().len()
    }

    /// The earliest item.
    #[inline]
    pub(super) fn first<T>(&mut self) -> Option<&(u64, T)>
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        self.slots.as_mut().get(self.start)?.as_ref().map(|buffered| &buffered.item)
    }

    /// Adds an item, or returns the earliest of all if there is no slot for it.
    #[inline]
    pub(super) fn push<T>(&mut self, item: (u64, T)) -> Option<(u64, T)>
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        let mut earliest = None;
        if self.is_full() {
            if self.first().is_none_or(|(time, _)| item.0 < *time) {
                return Some(item);
            }
            earliest = self.pop();
        }
        let slots = self.slots.as_mut();
        let mut at = self.start + self.held;
        if at >= slots.len() {
            at -= slots.len();
        }
        for _ in 0..self.held {
            let before = at.checked_sub(1).unwrap_or(slots.len() - 1);
            let Some(later) =
                slots.get_mut(before).and_then(|slot| slot.take_if(|buffered| buffered.item.0 > item.0))
            else {
                break;
            };
            *slots.get_mut(at)? = Some(later);
            at = before;
        }
        *slots.get_mut(at)? = Some(Buffered { item, number: self.arrived });
        self.arrived += 1;
        self.held += 1;
        earliest
    }

    /// Removes the earliest item.
    #[inline]
    pub(super) fn pop<T>(&mut self) -> Option<(u64, T)>
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        let slots = self.slots.as_mut();
        let first = slots.get_mut(self.start)?.take()?;
        self.start = if self.start + 1 < slots.len() { self.start + 1 } else { 0 };
        self.held -= 1;
        Some(first.item)
    }
}
