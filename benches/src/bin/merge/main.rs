//! Prints what a merge costs per item, beside a scan by hand and a merge through `BinaryHeap`.
//!
//! `merge [PASSES [STREAMS]]`: passes of each, 101 by default, and the only number of streams to merge. All merge
//! the same items, held to one checksum: pairs in slices, records split off slices, and records of windows.

mod by_hand;
mod heap;
mod streams;

use std::hint::black_box;

use by_hand::by_hand;
use heap::Heap;
use perf_decode::{Buffered, Merge, SampleLayout, Source};
use perfkit_benches::counter::Counter;
use perfkit_benches::workload::{Fixed, Workload};
use perfkit_benches::{FITS_L2, Input, Random, Result, allocations, table};
use streams::{Pairs, Payload, RECORD, Ring, Split, Stream};

/// Numbers of streams, and how many items in a row the same one has; 0 for any number at random.
const PATTERNS: [(usize, usize); 9] =
    [(1, 1), (2, 1), (2, 50), (2, 0), (16, 1), (16, 50), (16, 0), (64, 1), (64, 50)];

const NAMES: [&str; 5] = ["by hand", "Merge, fold", "Merge, next", "Merge, lateness", "BinaryHeap"];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let passes = arguments.next().map_or(Ok(101), |passes| passes.parse())?;
    let only: Option<usize> = arguments.next().map(|streams| streams.parse()).transpose()?;
    let clock = Counter::nanoseconds().ok_or("no task clock")?;
    let layout = SampleLayout::new(black_box(&Fixed::ATTR));
    let mut words = Input::new::<Fixed>(FITS_L2).words().to_vec();
    for (index, record) in words.chunks_mut(RECORD.0).enumerate() {
        record[RECORD.1] = index as u64 * 7;
    }
    let pairs: Vec<_> = (0..20_000).map(|index| (index * 7, index)).collect();
    for (streams, run) in PATTERNS {
        if only.is_some_and(|only| only != streams) {
            continue;
        }
        let name = if run == 0 { "at random".into() } else { format!("in runs of {run}") };
        let dealt = deal(&pairs, 1, streams, run);
        let slices: Vec<_> = dealt.iter().map(|pairs| Pairs(pairs)).collect();
        compare(&format!("slices: {streams} {name}"), passes, &clock, &slices)?;
        let dealt = deal(&words, RECORD.0, streams, run);
        let split: Vec<_> = dealt.iter().map(|words| Split { words, layout: &layout }).collect();
        compare(&format!("split: {streams} {name}"), passes, &clock, &split)?;
        let rings: Vec<_> = split.into_iter().map(Ring).collect();
        compare(&format!("rings: {streams} {name}"), passes, &clock, &rings)?;
    }
    Ok(())
}

/// Deals the items, of `len` elements each, out to streams.
fn deal<T: Copy>(words: &[T], len: usize, streams: usize, run: usize) -> Vec<Vec<T>> {
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
    let items: usize = streams.iter().map(|stream| stream.merged().count()).sum();
    let expected = by_hand(&mut streams.to_vec());
    table(title, ["ns an item"], &NAMES, passes, |index| {
        let mut by_hands = streams.to_vec();
        let merged = || streams.iter().filter(|_| index != 0).map(Stream::merged);
        let mut sources: Vec<_> = merged().map(Source::new).collect();
        let mut buffer: Vec<Option<Buffered<I::Payload>>> = vec![None; 1024];
        let mut heap = Heap::new(merged());
        let before = allocations::count();
        let mut sum = 0;
        let time = clock.count(|| {
            sum = match index {
                0 => by_hand(&mut by_hands),
                1 => Merge::new(&mut sources, &mut [], 0).fold(0, add),
                2 => checksum(Merge::new(&mut sources, &mut [], 0)),
                3 => checksum(Merge::new(&mut sources, &mut buffer, 20)),
                _ => checksum(&mut heap),
            };
        });
        assert_eq!(allocations::count(), before, "merging allocates");
        assert_eq!(sum, expected, "{} has another order", NAMES[index]);
        Ok([time.ok_or("the task clock stopped")? as f64 / items as f64])
    })
}

/// One sum over all items that depends on their order.
#[inline]
fn add(sum: u64, (time, payload): (u64, impl Payload)) -> u64 {
    sum.rotate_left(1) ^ time.wrapping_add(payload.word())
}

fn checksum(items: impl Iterator<Item = (u64, impl Payload)>) -> u64 {
    let mut sum = 0;
    for item in items {
        sum = add(sum, item);
    }
    sum
}
