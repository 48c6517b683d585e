use super::tournament::Entry;

/// A stream of a [`Merge`](super::Merge), such as the records of one CPU's ring.
///
/// It holds the stream's next item once the merge has compared it, so that an item that is not
/// delivered yet is never lost: a new merge of the same sources continues with it.
#[derive(Clone, Debug)]
pub struct Source<I: Iterator> {
    pub(super) stream: I,
    /// The next item, if it was read from the stream already.
    pub(super) head: Option<I::Item>,
    /// Whether the stream has ended and need not be asked again in this round.
    pub(super) ended: bool,
    /// The latest time of the items so far: what is earlier by more than the lateness has passed.
    pub(super) latest: u64,
    /// Node of the merge's tournament tree. It has nothing to do with this stream: a merge of n streams
    /// needs n nodes and finds the memory for them here.
    pub(super) node: Entry,
}

impl<I: Iterator> Source<I> {
    /// A source of the items of `stream`, each with its time.
    pub const fn new(stream: I) -> Self {
        Self { stream, head: None, ended: false, latest: 0, node: Entry::EMPTY }
    }

    /// The stream.
    pub const fn stream(&self) -> &I {
        &self.stream
    }

    /// The stream, to refill or to replace it. An item that was read from it already is kept.
    pub const fn stream_mut(&mut self) -> &mut I {
        &mut self.stream
    }

    /// The next item, if it was read from the stream already, and the stream of those after it.
    pub fn into_parts(self) -> (Option<I::Item>, I) {
        (self.head, self.stream)
    }

    /// Reads the next item from the stream, unless it is there already, and returns its key in the
    /// matches: the latest time that the stream has given so far.
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

    /// The next item, read from the stream unless it is there already.
    #[inline]
    pub(super) fn next(&mut self) -> Option<I::Item> {
        if self.head.is_some() {
            return self.head.take();
        }
        if self.ended {
            return None;
        }
        let next = self.stream.next();
        self.ended = next.is_none();
        next
    }
}
