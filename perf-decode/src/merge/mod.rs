use core::marker::PhantomData;
use core::ops::ControlFlow;

mod next;
mod reorder;
mod run;
mod source;
mod tournament;

#[cfg(test)]
mod tests;

use next::Step;
pub use reorder::Buffered;
use reorder::Reorder;
pub use source::Source;
use tournament::Entry;

/// Several streams of items with times as one stream, ordered by time (k-way merge).
///
/// The items of a stream may be out of order by up to `lateness`, because an NMI can write a record
/// with an earlier time after one with a later time, in the same ring. Such items are reordered. An
/// item that arrives later than that is delivered at once, out of order, and [`late`](Merge::late)
/// counts it. Items with the same time keep the order of their sources, and within a source the
/// order of their arrival.
///
/// The caller owns the memory. `S` has one [`Source`] per stream. `B` has one slot for each item
/// that all streams together can deliver within the lateness; with a lateness of 0 no slot is used.
/// When all slots are taken, the earliest item is delivered even if an earlier one can still
/// follow, and [`early`](Merge::early) counts it then.
///
/// An item costs one comparison while its stream stays the earliest, and time logarithmic in the
/// number of streams when another stream becomes the earliest. An item out of order is moved past
/// the later buffered items, one by one. [`drain`](Merge::drain) and [`fold`](Iterator::fold) are
/// faster than `next`, because they hold state in registers that `next` must store in memory. A
/// stream of records made by `map` or `map_while` is inlined into the merge. Another type that
/// implements [`Iterator`] needs `#[inline(always)]` on its `next`, or each item passes through
/// memory.
///
/// ```
/// use perf_decode::{Merge, Source};
///
/// let streams = [vec![(10, 'a'), (30, 'c'), (25, 'b')], vec![(20, 'x'), (40, 'y')]];
/// let sources = streams.map(|stream| Source::new(stream.into_iter()));
/// let merge = Merge::new(sources, [None; 8], 10);
/// assert_eq!(merge.collect::<Vec<_>>(), [(10, 'a'), (20, 'x'), (25, 'b'), (30, 'c'), (40, 'y')]);
/// ```
///
/// # Rounds
///
/// A tracer drains its rings in rounds. A record that it reads in one round can be later than one
/// that another CPU's ring delivers only in the next. [`start_round`](Merge::start_round) takes the
/// time up to which every stream is complete: the time of the clock, read before the positions of
/// the rings. Later items stay in their sources and in the buffer for a later round. Iteration can
/// stop at any item (`break`, `?`, the end of a function) and continues with the next one.
///
/// ```
/// use perf_decode::{Buffered, Merge, Source};
/// use std::sync::mpsc::{IntoIter, Receiver, TryIter, channel};
/// # struct Event(char);
/// # struct Cpu(Receiver<(u64, Event)>);
/// # impl Iterator for Cpu {
/// #     type Item = (u64, Event);
/// #     fn next(&mut self) -> Option<(u64, Event)> { self.0.try_recv().ok() }
/// # }
///
/// /// `Cpu` is an iterator over the unread events of one CPU's ring.
/// struct Tracer {
///     merge: Merge<Cpu, Vec<Source<Cpu>>, Vec<Option<Buffered<Event>>>>,
/// }
///
/// impl Tracer {
///     fn round(&mut self, now: u64) {
///         self.merge.start_round(now);
///         while let Some((time, Event(name))) = self.merge.next() {
///             println!("{time} {name}");
///         }
///     }
/// }
/// # let (send, cpus): (Vec<_>, Vec<_>) = [channel(), channel()].map(|(s, r)| (s, Cpu(r))).into_iter().unzip();
/// # let sources = cpus.into_iter().map(Source::new).collect();
/// # let buffer = std::iter::repeat_with(|| None).take(8).collect();
/// # let mut tracer = Tracer { merge: Merge::new(sources, buffer, 0) };
/// # let mut names = |until| {
/// #     tracer.merge.start_round(until);
/// #     tracer.merge.by_ref().map(|(_, event)| event.0).collect::<String>()
/// # };
/// # [(10, 'a'), (30, 'd')].map(|(time, name)| send[0].send((time, Event(name))).unwrap());
/// # assert_eq!(names(20), "a");
/// # [(15, 'b'), (25, 'c')].map(|(time, name)| send[1].send((time, Event(name))).unwrap());
/// # assert_eq!(names(40), "bcd");
/// ```
#[derive(Clone, Debug)]
pub struct Merge<I, S, B> {
    sources: S,
    buffer: Reorder<B>,
    lateness: u64,
    /// The last time that may be delivered in this round.
    until: u64,
    /// The source that won the last match, with the key it had: its latest time so far.
    first: Entry,
    state: State,
    /// Index of the source whose item was delivered last, or `usize::MAX`. Its next item needs no
    /// match if its time is `delivered..=bound`.
    current: usize,
    bound: u64,
    /// The latest time that was delivered.
    delivered: u64,
    late: u64,
    early: u64,
    streams: PhantomData<fn() -> I>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// All matches must be played anew.
    Unknown,
    /// `first` is the source with the next item.
    Settled,
    /// The item of `first` was taken, and the next one of its source played no match yet.
    Taken,
}

impl<I, T, S, B> Merge<I, S, B>
where
    I: Iterator<Item = (u64, T)>,
    S: AsMut<[Source<I>]>,
    B: AsMut<[Option<Buffered<T>>]>,
{
    /// Merges the streams in `sources`, whose items may be out of order by up to `lateness`.
    ///
    /// Times are in one unit for all streams, ns for records. `sources` and `buffer` are arrays,
    /// vectors, boxed slices or mutable slices. A slot is `None`, or holds an item that an earlier
    /// merge left, which this one delivers.
    pub fn new(sources: S, buffer: B, lateness: u64) -> Self {
        Self {
            sources,
            buffer: Reorder::new(buffer),
            lateness,
            until: u64::MAX,
            first: Entry::EMPTY,
            state: State::Unknown,
            current: usize::MAX,
            bound: 0,
            delivered: 0,
            late: 0,
            early: 0,
            streams: PhantomData,
        }
    }

    /// Starts a round in which every stream is complete up to the time `until`. Later items are not
    /// delivered.
    ///
    /// Calls `next` again on the streams that had ended, because they may have more items in this
    /// round. A merge without rounds delivers all items and does not call an ended stream again.
    pub fn start_round(&mut self, until: u64) {
        self.until = until;
        self.ask_again();
    }

    /// Returns the sources: to refill or replace their streams, to add or remove sources.
    ///
    /// Streams that had ended are called again. An item that was read from a stream and is not
    /// delivered yet is in its source or in the buffer.
    pub fn sources_mut(&mut self) -> &mut S {
        self.ask_again();
        &mut self.sources
    }

    /// Returns the sources and the buffer, with all items that were not delivered. A new merge
    /// continues with them; its counters start at 0.
    pub fn into_parts(mut self) -> (S, B) {
        self.end_run();
        (self.sources, self.buffer.slots)
    }

    /// Returns the next item without removing it.
    pub fn peek(&mut self) -> Option<&(u64, T)> {
        self.end_run();
        loop {
            match self.step() {
                Step::End => return None,
                Step::Deliver => return self.buffer.first(),
                Step::Arrive if self.is_direct() || self.buffer.is_full() => break,
                Step::Arrive => {
                    let item = self.take()?;
                    self.buffer.push(item);
                }
            }
        }
        let item = self.sources.as_mut().get(self.first.index())?.head.as_ref()?;
        match self.buffer.first() {
            Some(buffered) if buffered.0 <= item.0 => Some(buffered),
            _ => Some(item),
        }
        .filter(|(time, _)| *time <= self.until)
    }

    /// Returns the next item if `condition` holds for it; otherwise the item stays the next one.
    pub fn next_if(&mut self, condition: impl FnOnce(&(u64, T)) -> bool) -> Option<(u64, T)> {
        if self.peek().is_some_and(condition) { self.next() } else { None }
    }

    /// Calls `consume` with the items of this round in order, until it returns
    /// [`ControlFlow::Break`].
    ///
    /// The items after a break are not lost. The next call, or `next`, continues with them. If
    /// `consume` panics, the next item of one stream may be lost.
    #[inline]
    pub fn drain<X>(&mut self, mut consume: impl FnMut((u64, T)) -> ControlFlow<X>) -> ControlFlow<X> {
        self.accumulate((), |(), item| consume(item))
    }

    /// Returns the number of items that were delivered after one with a later time, because they
    /// arrived too late.
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns the number of items that were delivered because the buffer was full, before it was
    /// certain that no earlier item would follow.
    pub fn early(&self) -> u64 {
        self.early
    }
}
