use super::tournament::Entry;

/// The next item of a stream, by `try_fold` instead of `next`.
///
/// The `next` of an adapter such as `Map` is one function, which LLVM does not inline into the
/// several places that call it if it frames a record and reads its time. The item then passes
/// through memory, for three times the time (benches `merge`). Each closure below has a separate
/// type, so each `try_fold` of an adapter has one caller, into which LLVM inlines it.
macro_rules! next_item {
    ($stream:expr) => {
        $stream.try_fold((), |(), item| Err(item)).err()
    };
}
pub(super) use next_item;

/// A stream of a [`Merge`](super::Merge), such as the records of one CPU's ring.
///
/// It holds the stream's next item once the merge has compared it, so that an item that is not
/// delivered yet is never lost. A new merge of the same sources continues with it.
#[derive(Clone, Debug)]
pub struct Source<I: Iterator> {
    pub(super) stream: I,
    /// The next item, if the stream has already returned it.
    pub(super) head: Option<I::Item>,
    /// Whether the stream has ended and is not called again in this round.
    pub(super) ended: bool,
    /// The latest time of the items so far.
    pub(super) latest: u64,
    /// Node of the merge's tournament tree, not related to this stream. A merge of n streams needs
    /// n nodes, and the sources have the memory for them.
    pub(super) node: Entry,
}

impl<I: Iterator> Source<I> {
    /// Creates a source from a stream of items, each with its time.
    pub const fn new(stream: I) -> Self {
        Self { stream, head: None, ended: false, latest: 0, node: Entry::EMPTY }
    }

    /// Returns the stream.
    pub const fn stream(&self) -> &I {
        &self.stream
    }

    /// Returns the stream, to refill or to replace it. An item that was already read from it is
    /// kept.
    pub const fn stream_mut(&mut self) -> &mut I {
        &mut self.stream
    }

    /// Returns the next item, if it was already read from the stream, and the stream of the items
    /// after it.
    pub fn into_parts(self) -> (Option<I::Item>, I) {
        (self.head, self.stream)
    }

    /// Reads the next item from the stream, unless `head` holds it, and returns the source's key in
    /// the matches: the latest time of the stream so far.
    #[inline]
    pub(super) fn key<T>(&mut self) -> Option<u64>
    where
        I: Iterator<Item = (u64, T)>,
    {
        self.head = self.next();
        let (time, _) = self.head.as_ref()?;
        self.latest = self.latest.max(*time);
        Some(self.latest)
    }

    /// Returns the next item, read from the stream unless `head` holds it.
    #[inline]
    pub(super) fn next(&mut self) -> Option<I::Item> {
        if self.head.is_some() {
            return self.head.take();
        }
        if self.ended {
            return None;
        }
        let next = next_item!(self.stream);
        self.ended = next.is_none();
        next
    }
}
