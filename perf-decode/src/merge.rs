use crate::heap;

/// One stream of a [`Merge`], such as the records of one CPU's ring.
#[derive(Clone, Debug)]
pub struct Source<I> {
    stream: I,
    /// The latest time that the stream has given: what is older by more than the lateness has passed.
    seen: u64,
}

impl<I> Source<I> {
    /// A source from a stream of times and things.
    pub const fn new(stream: I) -> Self {
        Self { stream, seen: 0 }
    }
}

/// A thing that waits in a [`Merge`] for its turn.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<T> {
    time: u64,
    /// Order of arrival, so that things of one time keep it.
    number: u64,
    thing: T,
}

/// Several streams of timed things as one, in the order of their times.
///
/// Each stream should be in order itself, but need not be quite: an NMI can write a record with an
/// earlier time behind one with a later, in the same ring. Within the `lateness` such a thing is put
/// in its place; one that comes later still is delivered at once, after its time, and counted.
///
/// All memory is the caller's: one [`Source`] a stream, and room for the things that wait. That is one a
/// stream, and as many as arrive within the lateness. If the room is full the earliest is delivered
/// before it is certain that nothing earlier comes; that is counted too. Each thing costs time in the
/// logarithm of the number of streams and of the waiting.
///
/// ```
/// use perf_decode::{Merge, Source};
///
/// let streams = [vec![(10, 'a'), (30, 'c'), (25, 'b')], vec![(20, 'x'), (40, 'y')]];
/// let mut sources = streams.map(|stream| Source::new(stream.into_iter()));
/// let mut room = [None; 8];
/// let merged = Merge::new(&mut sources, &mut room, 10);
/// assert_eq!(merged.collect::<Vec<_>>(), [(10, 'a'), (20, 'x'), (25, 'b'), (30, 'c'), (40, 'y')]);
/// ```
#[derive(Debug)]
pub struct Merge<'m, I, T> {
    /// A heap by `seen`; those that have ended lie behind the first `live`.
    sources: &'m mut [Source<I>],
    live: usize,
    /// A heap by time; the first `held` are some.
    waiting: &'m mut [Option<Waiting<T>>],
    held: usize,
    lateness: u64,
    arrived: u64,
    delivered: u64,
    late: u64,
    early: u64,
}

impl<'m, I: Iterator<Item = (u64, T)>, T> Merge<'m, I, T> {
    /// Merges `sources`, whose things may be up to `lateness` out of order, in `waiting`'s room.
    ///
    /// Times are in any unit, the same for all: ns for records. A room of no places is allowed and sorts
    /// nothing.
    pub fn new(sources: &'m mut [Source<I>], waiting: &'m mut [Option<Waiting<T>>], lateness: u64) -> Self {
        for source in &mut *sources {
            source.seen = 0;
        }
        waiting.fill_with(|| None);
        let live = sources.len();
        Self { sources, live, waiting, held: 0, lateness, arrived: 0, delivered: 0, late: 0, early: 0 }
    }

    /// Things that came after a later one had been delivered: their order could not be put right.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Things delivered because the room was full, before it was certain that none earlier would come.
    #[must_use]
    pub fn early(&self) -> u64 {
        self.early
    }

    /// The time of the earliest thing that waits, if nothing earlier can come any more.
    fn certain(&self) -> bool {
        let Some(Some(first)) = self.waiting.get(..self.held).and_then(<[_]>::first) else {
            return false;
        };
        match self.sources.get(..self.live).and_then(<[_]>::first) {
            Some(slowest) => {
                slowest.seen.checked_sub(self.lateness).is_some_and(|settled| first.time <= settled)
            }
            None => true,
        }
    }

    /// Reads from the stream that is furthest behind.
    fn arrive(&mut self) -> Option<Waiting<T>> {
        while let Some(sources) = self.sources.get_mut(..self.live).filter(|sources| !sources.is_empty()) {
            let next = sources.first_mut().and_then(|source| {
                let (time, thing) = source.stream.next()?;
                source.seen = source.seen.max(time);
                Some((time, thing))
            });
            if next.is_none() {
                self.live -= 1;
                heap::exchange_if(sources, 0, self.live, |_, _| true);
            }
            heap::sink(self.sources.get_mut(..self.live)?, |a, b| a.seen < b.seen);
            if let Some((time, thing)) = next {
                self.arrived += 1;
                return Some(Waiting { time, number: self.arrived, thing });
            }
        }
        None
    }

    /// Makes a thing wait; without room for it, it is handed back.
    fn push(&mut self, thing: Waiting<T>) -> Option<Waiting<T>> {
        let Some(place) = self.waiting.get_mut(self.held) else {
            return Some(thing);
        };
        *place = Some(thing);
        self.held += 1;
        heap::rise(self.waiting.get_mut(..self.held)?, before);
        None
    }

    /// Takes the earliest of the waiting.
    fn pop(&mut self) -> Option<Waiting<T>> {
        let waiting = self.waiting.get_mut(..self.held)?;
        self.held = self.held.checked_sub(1)?;
        heap::exchange_if(waiting, 0, self.held, |_, _| true);
        let first = waiting.last_mut()?.take();
        heap::sink(waiting.get_mut(..self.held)?, before);
        first
    }

    fn deliver(&mut self, thing: Waiting<T>) -> (u64, T) {
        self.late += u64::from(thing.time < self.delivered);
        self.delivered = self.delivered.max(thing.time);
        (thing.time, thing.thing)
    }
}

/// Whether one of the waiting goes before another. Only places that are taken are compared.
#[expect(clippy::ref_option, reason = "the heap compares its elements where they lie")]
fn before<T>(a: &Option<Waiting<T>>, b: &Option<Waiting<T>>) -> bool {
    let key = |place: &Option<Waiting<T>>| place.as_ref().map(|waiting| (waiting.time, waiting.number));
    key(a) < key(b)
}

impl<I: Iterator<Item = (u64, T)>, T> Iterator for Merge<'_, I, T> {
    type Item = (u64, T);

    fn next(&mut self) -> Option<(u64, T)> {
        while !self.certain() {
            let Some(arrived) = self.arrive() else { break };
            if let Some(mut no_room) = self.push(arrived) {
                self.early += 1;
                if let Some(Some(first)) = self.waiting.first_mut() {
                    if (first.time, first.number) < (no_room.time, no_room.number) {
                        core::mem::swap(first, &mut no_room);
                        heap::sink(self.waiting, before);
                    }
                }
                return Some(self.deliver(no_room));
            }
        }
        self.pop().map(|first| self.deliver(first))
    }
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    /// Merges times and returns them with the counts of the late and the early.
    fn merged(streams: &[&[u64]], room: usize, lateness: u64) -> (Vec<u64>, u64, u64) {
        let stream = |times: &&'static [u64]| Source::new(times.iter().map(|time| (*time, *time)));
        let leaked: Vec<&'static [u64]> = streams.iter().map(|times| &*times.to_vec().leak()).collect();
        let mut sources: Vec<_> = leaked.iter().map(stream).collect();
        let mut waiting = vec![None; room];
        let mut merge = Merge::new(&mut sources, &mut waiting, lateness);
        let times = merge.by_ref().map(|(time, _)| time).collect();
        (times, merge.late(), merge.early())
    }

    #[test]
    fn ordered_streams_need_one_place_each() {
        let streams: &[&[u64]] = &[&[1, 4, 7, 8], &[2, 5], &[3, 6, 9]];
        assert_eq!(merged(streams, 3, 0), ((1..10).collect(), 0, 0));
    }

    #[test]
    fn an_inversion_within_the_lateness_is_put_right() {
        assert_eq!(merged(&[&[10, 30, 25, 40], &[20]], 8, 5), (vec![10, 20, 25, 30, 40], 0, 0));
    }

    #[test]
    fn an_inversion_beyond_the_lateness_is_delivered_and_counted() {
        assert_eq!(merged(&[&[10, 30, 31, 5, 40]], 8, 0), (vec![10, 30, 31, 5, 40], 1, 0));
    }

    #[test]
    fn without_room_things_come_early_and_none_is_lost() {
        let (times, late, early) = merged(&[&[10, 20, 30], &[1, 2, 3]], 0, 100);
        assert_eq!((times.len(), early), (6, 6));
        assert!(late > 0);
    }

    #[test]
    fn streams_that_are_empty_are_no_hindrance() {
        assert_eq!(merged(&[&[], &[1, 2], &[]], 4, 9), (vec![1, 2], 0, 0));
        assert_eq!(merged(&[], 4, 9), (vec![], 0, 0));
    }

    #[test]
    fn things_of_one_time_keep_their_order_of_arrival() {
        let mut sources = [Source::new([(5, 'a'), (5, 'b'), (5, 'c')].into_iter())];
        let mut waiting = [None; 4];
        let things: Vec<_> = Merge::new(&mut sources, &mut waiting, 10).map(|(_, thing)| thing).collect();
        assert_eq!(things, ['a', 'b', 'c']);
    }

    #[test]
    fn the_latest_possible_times_are_merged_too() {
        let last = u64::MAX;
        assert_eq!(merged(&[&[last - 5, last, last - 9]], 4, 9), (vec![last - 9, last - 5, last], 0, 0));
        assert_eq!(merged(&[&[last - 1, last], &[last]], 4, 9), (vec![last - 1, last, last], 0, 0));
    }
}
