//! The same records, merged from one source or from many: the cost of one grows by the logarithm of their number.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use perf_decode::{Merge, RawRecord, Records, SampleLayout, Scratch, Source, Waiting, Window};
use perfkit_benches::workload::{Fixed, Workload};
use perfkit_benches::{Input, LARGE, allocations};

const SOURCES: [usize; 5] = [1, 4, 16, 64, 256];

/// Records with their times, for a merge.
struct Timed<'a> {
    records: Records<'a>,
    layout: &'a SampleLayout,
}

impl<'a> Iterator for Timed<'a> {
    type Item = (u64, RawRecord<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let record = self.records.next()?.ok()?;
        Some((record.time(self.layout)?, record))
    }
}

fn merge(criterion: &mut Criterion) {
    let layout = SampleLayout::new(&Fixed::ATTR);
    let words = in_order_of_time(&Input::new::<Fixed>(LARGE), &layout);
    let record_words = words.len() / count(&words, &layout);
    let mut group = criterion.benchmark_group("merge");
    group.throughput(Throughput::Elements(count(&words, &layout) as u64));
    for sources in SOURCES {
        let rings = deal(&words, record_words, sources);
        group.bench_function(BenchmarkId::from_parameter(sources), |bencher| {
            bencher.iter_custom(|passes| {
                let mut elapsed = std::time::Duration::ZERO;
                for _ in 0..passes {
                    let mut scratches = vec![Scratch::new(); sources];
                    let mut room: Vec<Option<Waiting<RawRecord<'_>>>> = vec![None; 2 * sources];
                    let mut streams: Vec<_> = rings
                        .iter()
                        .zip(&mut scratches)
                        .map(|(ring, scratch)| {
                            let records = Window::from_slices(ring, &[]).records(scratch);
                            Source::new(Timed { records, layout: &layout })
                        })
                        .collect();
                    let before = allocations::count();
                    let start = std::time::Instant::now();
                    let merged = Merge::new(&mut streams, &mut room, 0);
                    std::hint::black_box(merged.fold(0_u64, |sum, (time, record)| {
                        sum.wrapping_add(time).wrapping_add(record.size() as u64)
                    }));
                    elapsed += start.elapsed();
                    assert_eq!(allocations::count(), before, "merging allocates");
                }
                elapsed
            });
        });
    }
}

fn count(words: &[u64], layout: &SampleLayout) -> usize {
    let mut scratch = Box::<Scratch>::default();
    Timed { records: Window::from_slices(words, &[]).records(&mut scratch), layout }.count()
}

/// The input's records, which have any times, sorted as a ring has them.
fn in_order_of_time(input: &Input, layout: &SampleLayout) -> Vec<u64> {
    let mut scratch = Box::<Scratch>::default();
    let records = Window::from_slices(input.words(), &[]).records(&mut scratch);
    let mut records: Vec<_> = Timed { records, layout }.collect();
    records.sort_by_key(|&(time, _)| time);
    records.into_iter().flat_map(|(_, record)| record.words()).copied().collect()
}

/// Deals the records out to rings in turn.
fn deal(words: &[u64], record_words: usize, rings: usize) -> Vec<Vec<u64>> {
    let mut dealt = vec![Vec::new(); rings];
    for (record, ring) in words.chunks(record_words).zip((0..rings).cycle()) {
        dealt[ring].extend_from_slice(record);
    }
    dealt
}

criterion_group!(benches, merge);
criterion_main!(benches);
