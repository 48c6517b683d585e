//! The merge through `BinaryHeap`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A merge through std's heap, whose top is replaced in place.
pub(crate) struct Heap<I, T> {
    streams: Vec<(I, Option<T>)>,
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<I: Iterator<Item = (u64, T)>, T> Heap<I, T> {
    pub(crate) fn new(streams: impl Iterator<Item = I>) -> Self {
        let mut heap = BinaryHeap::new();
        let mut head = |(index, mut stream): (usize, I)| {
            let head = stream.next().map(|(time, payload)| {
                heap.push(Reverse((time, index)));
                payload
            });
            (stream, head)
        };
        let streams = streams.enumerate().map(&mut head).collect();
        Self { streams, heap }
    }
}

impl<I: Iterator<Item = (u64, T)>, T> Iterator for Heap<I, T> {
    type Item = (u64, T);

    #[inline]
    fn next(&mut self) -> Option<(u64, T)> {
        let mut top = self.heap.peek_mut()?;
        let Reverse((time, index)) = *top;
        let (stream, head) = &mut self.streams[index];
        let payload = head.take()?;
        match stream.next() {
            Some((time, payload)) => {
                *head = Some(payload);
                *top = Reverse((time, index));
            }
            None => _ = PeekMut::pop(top),
        }
        Some((time, payload))
    }
}
