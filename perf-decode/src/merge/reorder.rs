/// An item in the buffer of a [`Merge`](super::Merge), kept until no earlier one can follow.
#[derive(Clone, Copy, Debug)]
pub struct Buffered<T> {
    item: (u64, T),
    /// Order of arrival, for a later merge that finds the item in its slot.
    number: u64,
}

/// The buffer of a merge: a queue in order of time, which wraps at the end of the caller's slots.
///
/// Nearly all items arrive in order and are appended; the others are moved past the later ones.
#[derive(Clone, Debug)]
pub(super) struct Reorder<B> {
    pub(super) slots: B,
    /// Slot of the earliest item.
    start: usize,
    held: usize,
    arrived: u64,
}

impl<B> Reorder<B> {
    /// Creates the queue of the items that are in `slots`.
    pub(super) fn new<T>(mut slots: B) -> Self
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        let count = slots.as_mut().len();
        let mut queue = Self { slots, start: 0, held: 0, arrived: 0 };
        for index in 0..count {
            if let Some(buffered) = queue.slots.as_mut().get_mut(index).and_then(Option::take) {
                queue.arrived = queue.arrived.max(buffered.number + 1);
                queue.insert(buffered);
            }
        }
        queue
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

    /// Returns the earliest item.
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
        let number = self.arrived;
        self.arrived += 1;
        self.insert(Buffered { item, number });
        earliest
    }

    /// Inserts an item in order of time. The queue is not full.
    #[inline]
    fn insert<T>(&mut self, new: Buffered<T>)
    where
        B: AsMut<[Option<Buffered<T>>]>,
    {
        let slots = self.slots.as_mut();
        let mut at = self.start + self.held;
        if at >= slots.len() {
            at -= slots.len();
        }
        let is_later =
            |buffered: &mut Buffered<T>| (buffered.item.0, buffered.number) > (new.item.0, new.number);
        for _ in 0..self.held {
            let before = at.checked_sub(1).unwrap_or(slots.len() - 1);
            let Some(later) = slots.get_mut(before).and_then(|slot| slot.take_if(is_later)) else { break };
            if let Some(slot) = slots.get_mut(at) {
                *slot = Some(later);
            }
            at = before;
        }
        if let Some(slot) = slots.get_mut(at) {
            *slot = Some(new);
            self.held += 1;
        }
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
