//! Prints what a merge costs per item, beside a scan by hand and a merge through `BinaryHeap`.
//!
//! `merge [PASSES]`: passes of each, 101 by default. All merge the same items, held to one checksum: pairs in
//! slices, then records in rings, which they frame on the way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::hint::black_box;

use perf_decode::{Buffered, Merge, RawRecord, SampleLayout, Source};
use perfkit_benches::counter::Counter;
use perfkit_benches::workload::{Fixed, Workload};
use perfkit_benches::{FITS_L2, Input, Random, Result, allocations, table};

/// Numbers of streams, and how many items in a row the same one has; 0 for any number at random.
const PATTERNS: [(usize, usize); 9] =
    [(1, 1), (2, 1), (2, 50), (2, 0), (16, 1), (16, 50), (16, 0), (64, 1), (64, 50)];

const NAMES: [&str; 5] = ["by hand", "Merge, fold", "Merge, next", "Merge, lateness", "BinaryHeap"];

/// Words of the workload's record, and which of them is the time.
const RECORD: (usize, usize) = (6, 3);

fn main() -> Result<()> {
    let passes = std::env::args().nth(1).map_or(Ok(101), |passes| passes.parse())?;
    let clock = Counter::nanoseconds().ok_or("no task clock")?;
    let layout = SampleLayout::new(black_box(&Fixed::ATTR));
    let mut words = Input::new::<Fixed>(FITS_L2).words().to_vec();
    for (index, record) in words.chunks_mut(RECORD.0).enumerate() {
        record[RECORD.1] = index as u64 * 7;
    }
    let pairs: Vec<u64> = (0..20_000).flat_map(|index| [index * 7, index]).collect();
    for (streams, run) in PATTERNS {
        let name = if run == 0 { "at random".into() } else { format!("in runs of {run}") };
        let dealt = deal(&pairs, 2, streams, run);
        let slices: Vec<_> = dealt.iter().map(|pairs| Pairs(pairs.as_chunks().0)).collect();
        compare(&format!("slices: {streams} {name}"), passes, &clock, &slices)?;
        let dealt = deal(&words, RECORD.0, streams, run);
        let rings: Vec<_> = dealt.iter().map(|words| Ring { words, layout: &layout }).collect();
        compare(&format!("rings: {streams} {name}"), passes, &clock, &rings)?;
    }
    Ok(())
}

/// Deals the items, of `len` words each, out to streams.
fn deal(words: &[u64], len: usize, streams: usize, run: usize) -> Vec<Vec<u64>> {
    let mut random = Random::new(0);
    let mut dealt = vec![Vec::new(); streams];
    for (index, item) in words.chunks_exact(len).enumerate() {
        let stream = index.checked_div(run).unwrap_or_else(|| random.word() as usize);
        dealt[stream % streams].extend_from_slice(item);
    }
    dealt
}

/// Times all ways to merge the streams.
fn compare<I: Stream>(title: &str, passes: usize, clock: &Counter, streams: &[I]) -> Result<()> {
    let items: usize = streams.iter().map(|stream| stream.clone().count()).sum();
    let expected = by_hand(&mut streams.to_vec());
    table(title, ["ns an item"], &NAMES, passes, |index| {
        let mut streams = streams.to_vec();
        let mut sources: Vec<_> = streams.iter().cloned().map(Source::new).collect();
        let mut buffer: Vec<Option<Buffered<I::Payload>>> = vec![None; 1024];
        let mut heap = Heap::new(&streams);
        let before = allocations::count();
        let mut sum = 0;
        let time = clock.count(|| {
            sum = match index {
                0 => by_hand(&mut streams),
                1 => Merge::new(&mut sources, &mut [], 0).fold(0, |sum, item| add::<I>(sum, item.0, item.1)),
                2 => checksum::<I>(Merge::new(&mut sources, &mut [], 0)),
                3 => checksum::<I>(Merge::new(&mut sources, &mut buffer, 20)),
                _ => checksum::<I>(&mut heap),
            };
        });
        assert_eq!(allocations::count(), before, "merging allocates");
        assert_eq!(sum, expected, "{} has another order", NAMES[index]);
        Ok([time.ok_or("the task clock stopped")? as f64 / items as f64])
    })
}

/// A stream that can be merged by hand, too.
trait Stream: Iterator<Item = (u64, Self::Payload)> + Clone {
    type Payload: Copy;

    /// The time of the next item, without any check that a merge does not need.
    fn time(&self) -> Option<u64>;

    /// The next item, of which the time is known.
    fn pop(&mut self) -> Option<Self::Payload>;

    /// Part of a payload that a checksum depends on.
    fn word(payload: Self::Payload) -> u64;
}

#[derive(Clone)]
struct Pairs<'a>(&'a [[u64; 2]]);

impl Iterator for Pairs<'_> {
    type Item = (u64, u64);

    #[inline]
    fn next(&mut self) -> Option<(u64, u64)> {
        let ([time, payload], rest) = self.0.split_first()?;
        self.0 = rest;
        Some((*time, *payload))
    }
}

impl Stream for Pairs<'_> {
    type Payload = u64;

    #[inline]
    fn time(&self) -> Option<u64> {
        Some(self.0.first()?[0])
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.next().map(|(_, payload)| payload)
    }

    #[inline]
    fn word(payload: u64) -> u64 {
        payload
    }
}

/// The records of a ring.
#[derive(Clone)]
struct Ring<'a> {
    words: &'a [u64],
    layout: &'a SampleLayout,
}

impl<'a> Iterator for Ring<'a> {
    type Item = (u64, RawRecord<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (record, rest) = RawRecord::split_first(self.words).ok()?;
        self.words = rest;
        Some((record.time(self.layout)?, record))
    }
}

impl<'a> Stream for Ring<'a> {
    type Payload = RawRecord<'a>;

    #[inline]
    fn time(&self) -> Option<u64> {
        self.words.get(RECORD.1).copied()
    }

    #[inline]
    fn pop(&mut self) -> Option<RawRecord<'a>> {
        let (record, rest) = RawRecord::split_first(self.words).ok()?;
        self.words = rest;
        Some(record)
    }

    #[inline]
    fn word(record: RawRecord<'a>) -> u64 {
        record.words()[1]
    }
}

/// One sum over all items that depends on their order.
#[inline]
fn add<I: Stream>(sum: u64, time: u64, payload: I::Payload) -> u64 {
    sum.rotate_left(1) ^ time.wrapping_add(I::word(payload))
}

fn checksum<I: Stream>(items: impl Iterator<Item = I::Item>) -> u64 {
    let mut sum = 0;
    for (time, payload) in items {
        sum = add::<I>(sum, time, payload);
    }
    sum
}

/// What a tracer writes: one loop, a comparison of two heads, or a search of the least and of the second,
/// below which the stream is read on.
#[inline(never)]
fn by_hand<I: Stream>(streams: &mut [I]) -> u64 {
    let mut sum = 0;
    match streams {
        [only] => {
            let mut only = only.clone();
            while let Some(time) = only.time() {
                let Some(payload) = only.pop() else { break };
                sum = add::<I>(sum, time, payload);
            }
        }
        [first, second] => {
            let (mut a, mut b) = (first.clone(), second.clone());
            loop {
                let first_goes = match (a.time(), b.time()) {
                    (Some(a), Some(b)) => a <= b,
                    (Some(_), None) => true,
                    (None, Some(_)) => false,
                    (None, None) => break,
                };
                if first_goes {
                    let Some((time, payload)) = a.time().zip(a.pop()) else { break };
                    sum = add::<I>(sum, time, payload);
                } else {
                    let Some((time, payload)) = b.time().zip(b.pop()) else { break };
                    sum = add::<I>(sum, time, payload);
                }
            }
        }
        all => loop {
            let (mut least, mut second) = ((u64::MAX, usize::MAX), u64::MAX);
            for (index, stream) in all.iter().enumerate() {
                let Some(time) = stream.time() else { continue };
                if time < least.0 {
                    second = least.0;
                    least = (time, index);
                } else {
                    second = second.min(time);
                }
            }
            let Some(stream) = all.get_mut(least.1) else { break };
            while let Some(time) = stream.time().filter(|time| *time < second) {
                let Some(payload) = stream.pop() else { break };
                sum = add::<I>(sum, time, payload);
            }
        },
    }
    sum
}

/// A merge through std's heap, whose top is replaced in place.
struct Heap<I: Stream> {
    streams: Vec<(I, Option<I::Payload>)>,
    heap: BinaryHeap<Reverse<(u64, usize)>>,
}

impl<I: Stream> Heap<I> {
    fn new(streams: &[I]) -> Self {
        let mut heap = BinaryHeap::new();
        let mut head = |(index, stream): (usize, &I)| {
            let mut stream = stream.clone();
            let head = stream.next().map(|(time, payload)| {
                heap.push(Reverse((time, index)));
                payload
            });
            (stream, head)
        };
        let streams = streams.iter().enumerate().map(&mut head).collect();
        Self { streams, heap }
    }
}

impl<I: Stream> Iterator for Heap<I> {
    type Item = (u64, I::Payload);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
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
