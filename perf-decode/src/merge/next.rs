//! The search for a merge's next item.

use core::convert::Infallible;
use core::ops::ControlFlow;

use super::source::next_item;
use super::tournament::{self, Entry};
use super::{Buffered, Merge, Source, State, run};

/// The step that `next` and `peek` take towards the next item.
pub(super) enum Step {
    /// Nothing is left in this round.
    End,
    /// The buffer's first item is the next one.
    Deliver,
    /// An item of the first source must be read before anything is certain.
    Arrive,
}

impl<I, T, S, B> Merge<I, S, B>
where
    I: Iterator<Item = (u64, T)>,
    S: AsMut<[Source<I>]>,
    B: AsMut<[Option<Buffered<T>>]>,
{
    pub(super) fn ask_again(&mut self) {
        self.end_run();
        self.state = State::Unknown;
        for source in self.sources.as_mut() {
            source.ended = false;
        }
    }

    /// Ends the run of items that need no match.
    #[inline]
    pub(super) fn end_run(&mut self) {
        if let Some(source) = self.sources.as_mut().get_mut(self.current) {
            source.latest = self.delivered;
        }
        self.current = usize::MAX;
    }

    /// Returns whether items go from their sources to the caller without the buffer.
    pub(super) fn is_direct(&self) -> bool {
        self.lateness == 0 && self.buffer.is_empty()
    }

    /// Finds the source with the earliest key. Returns the key if it matters in this round.
    #[inline]
    pub(super) fn settle(&mut self) -> Option<u64> {
        let sources = self.sources.as_mut();
        match self.state {
            State::Settled => {}
            State::Unknown => self.first = tournament::rebuild(sources, Source::key),
            State::Taken => {
                let index = self.first.index();
                let entry = Entry::new(index, sources.get_mut(index).and_then(Source::key));
                self.first = tournament::replay(sources, entry);
            }
        }
        self.state = State::Settled;
        self.first.key().filter(|&key| key.saturating_sub(self.lateness) <= self.until)
    }

    /// Takes the item of the first source, which is settled.
    #[inline]
    pub(super) fn take(&mut self) -> Option<(u64, T)> {
        let item = self.sources.as_mut().get_mut(self.first.index())?.head.take();
        self.state = State::Taken;
        item
    }

    /// Returns whether no item earlier than `time` can follow in this round when `key` is the
    /// earliest key.
    fn is_certain(&self, time: u64, key: Option<u64>) -> bool {
        key.is_none_or(|key| key.checked_sub(self.lateness).is_some_and(|settled| time <= settled))
    }

    pub(super) fn step(&mut self) -> Step {
        let key = self.settle();
        let buffered = self.buffer.first().map(|(time, _)| *time);
        match buffered {
            Some(time) if !self.is_certain(time, key) => Step::Arrive,
            Some(time) if time <= self.until => Step::Deliver,
            None if key.is_some() => Step::Arrive,
            _ => Step::End,
        }
    }

    /// Delivers the next item by a match of the sources, without the buffer.
    #[inline]
    fn next_match(&mut self) -> Option<(u64, T)> {
        let last = self.first.index();
        self.settle()?;
        let item = self.take()?;
        let item = self.deliver(item);
        let sources = self.sources.as_mut();
        // The bound costs as much as a match, so it pays only if the source has just stayed the
        // first.
        let stays = self.first.index() == last || sources.len() <= 2;
        if stays && item.0 == self.delivered {
            self.current = self.first.index();
            self.bound = self.first.bound(tournament::runner_up(sources, self.first)).min(self.until);
        }
        Some(item)
    }

    /// Ends the run of one of two sources and delivers the item of the other. Both must have an
    /// item.
    #[inline]
    fn switch(&mut self) -> Option<(u64, T)> {
        let (own, other) = match self.sources.as_mut() {
            [first, second] if self.current == 0 => (first, second),
            [first, second] => (second, first),
            _ => return None,
        };
        let (limit, _) = own.head.as_ref()?;
        let (time, _) = other.head.as_ref()?;
        if *limit <= self.bound || self.bound == self.until || *time < self.delivered {
            return None;
        }
        self.delivered = *time;
        self.bound = self.until.min(*limit - (self.current ^ 1) as u64);
        self.current ^= 1;
        self.state = State::Unknown;
        other.head.take()
    }

    /// Delivers the next item through the buffer.
    #[inline(never)]
    fn next_buffered(&mut self) -> Option<(u64, T)> {
        loop {
            match self.step() {
                Step::End => return None,
                Step::Deliver => return self.buffer.pop().map(|item| self.deliver(item)),
                Step::Arrive => {}
            }
            if self.buffer.is_full() {
                // Ends the round if the earliest of all items must stay for a later one.
                self.peek()?;
            }
            let item = self.take()?;
            let key = self.settle();
            if self.buffer.is_empty() && item.0 <= self.until && self.is_certain(item.0, key) {
                return Some(self.deliver(item));
            }
            if let Some(first) = self.buffer.push(item) {
                self.early += u64::from(!self.is_certain(first.0, key));
                return Some(self.deliver(first));
            }
        }
    }

    #[inline]
    fn deliver(&mut self, item: (u64, T)) -> (u64, T) {
        if item.0 < self.delivered {
            self.late += 1;
        } else {
            self.delivered = item.0;
        }
        item
    }

    /// `try_fold` for `ControlFlow`.
    #[inline]
    pub(super) fn accumulate<A, X, F>(&mut self, mut sum: A, mut add: F) -> ControlFlow<X, A>
    where
        F: FnMut(A, (u64, T)) -> ControlFlow<X, A>,
    {
        while let Some(item) = self.next() {
            sum = add(sum, item)?;
            let run = match self.sources.as_mut() {
                [first, second] if self.current < 2 && self.bound < self.until => {
                    self.state = State::Unknown;
                    run::pair([first, second], &mut self.delivered, self.until, sum, &mut add)
                }
                sources => match sources.get_mut(self.current) {
                    Some(source) => run::single(source, &mut self.delivered, self.bound, sum, &mut add),
                    None => continue,
                },
            };
            self.current = usize::MAX;
            sum = run?;
        }
        ControlFlow::Continue(sum)
    }
}

impl<I, T, S, B> Iterator for Merge<I, S, B>
where
    I: Iterator<Item = (u64, T)>,
    S: AsMut<[Source<I>]>,
    B: AsMut<[Option<Buffered<T>>]>,
{
    type Item = (u64, T);

    #[inline]
    fn next(&mut self) -> Option<(u64, T)> {
        if let Some(source) = self.sources.as_mut().get_mut(self.current) {
            if let Some(item) = next_item!(source.stream) {
                if self.delivered <= item.0 && item.0 <= self.bound {
                    self.delivered = item.0;
                    return Some(item);
                }
                source.head = Some(item);
                if let Some(item) = self.switch() {
                    return Some(item);
                }
            } else {
                source.ended = true;
            }
            self.end_run();
        }
        if self.is_direct() { self.next_match() } else { self.next_buffered() }
    }

    #[inline]
    fn fold<A, F: FnMut(A, (u64, T)) -> A>(mut self, start: A, mut add: F) -> A {
        match self.accumulate(start, |sum, item| ControlFlow::<Infallible, A>::Continue(add(sum, item))) {
            ControlFlow::Continue(sum) => sum,
            ControlFlow::Break(never) => match never {},
        }
    }
}
