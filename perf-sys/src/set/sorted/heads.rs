/// The next time of each ring with framed records, earliest first, and rings with the same time by their
/// index.
///
/// Two vectors: a pair that was just stored field by field is loaded as a whole, which stalls the CPU.
#[derive(Debug, Default)]
pub(super) struct Heads {
    times: Vec<u64>,
    rings: Vec<u32>,
}

impl Heads {
    pub(super) fn clear(&mut self) {
        self.times.clear();
        self.rings.clear();
    }

    /// Returns the ring with the earliest time.
    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        self.rings.first().copied()
    }

    /// Returns time and ring of the second one, or the largest values.
    #[inline]
    pub(super) fn bound(&self) -> (u64, u32) {
        let time = self.times.get(1).copied().unwrap_or(u64::MAX);
        (time, self.rings.get(1).copied().unwrap_or(u32::MAX))
    }

    /// Adds a ring.
    pub(super) fn insert(&mut self, time: u64, ring: u32) {
        let before = |at: &usize| self.time_and_ring(*at).is_some_and(|head| head < (time, ring));
        let at = (0..self.times.len()).take_while(before).count();
        self.times.insert(at, time);
        self.rings.insert(at, ring);
    }

    /// Replaces the earliest time by the next one of its ring, in order.
    #[inline]
    pub(super) fn replace_first(&mut self, time: u64, ring: u32) {
        let mut at = 0;
        while let Some(next) = self.time_and_ring(at + 1).filter(|next| *next < (time, ring)) {
            self.set(at, next);
            at += 1;
        }
        self.set(at, (time, ring));
    }

    /// Removes the ring with the earliest time.
    pub(super) fn remove_first(&mut self) {
        if !self.times.is_empty() {
            self.times.remove(0);
            self.rings.remove(0);
        }
    }

    #[inline]
    fn time_and_ring(&self, at: usize) -> Option<(u64, u32)> {
        Some((*self.times.get(at)?, *self.rings.get(at)?))
    }

    #[inline]
    fn set(&mut self, at: usize, (time, ring): (u64, u32)) {
        if let (Some(slot), Some(of)) = (self.times.get_mut(at), self.rings.get_mut(at)) {
            (*slot, *of) = (time, ring);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_are_in_order_of_time_and_index() {
        let mut heads = Heads::default();
        assert_eq!((heads.first(), heads.bound()), (None, (u64::MAX, u32::MAX)));
        for (time, ring) in [(30, 0), (10, 1), (20, 3), (20, 2)] {
            heads.insert(time, ring);
        }
        assert_eq!((heads.first(), heads.bound()), (Some(1), (20, 2)));
        heads.replace_first(20, 1);
        assert_eq!((heads.first(), heads.bound()), (Some(1), (20, 2)));
        heads.replace_first(25, 1);
        assert_eq!((heads.first(), heads.bound()), (Some(2), (20, 3)));
        heads.remove_first();
        heads.replace_first(40, 3);
        assert_eq!((heads.first(), heads.bound()), (Some(1), (30, 0)));
        heads.remove_first();
        heads.remove_first();
        assert_eq!((heads.first(), heads.bound()), (Some(3), (u64::MAX, u32::MAX)));
    }
}
