//! The kernel's side is played on small rings, with times in seconds, so that the tests take no
//! time by it.

use perf_abi::{Attr, AttrFlags, RecordType, SampleType, Software};
use perf_decode::Record;
use perf_sys::testing::SimulatedKernel as Kernel;

use super::*;
use crate::{Ring, WaitResult};

mod random;
mod wakeups;

const ATTR: Attr = Attr::software(Software::CPU_CLOCK)
    .with_sample_type(SampleType::TIME.union(SampleType::ADDR))
    .with_flags(AttrFlags::SAMPLE_ID_ALL);

const SECOND: u64 = 1_000_000_000;

/// A set of rings under the keys 0, 1, 2, and their kernels, with a delay in seconds.
fn set(rings: usize, delay: u64) -> (RingSet<usize>, Vec<Kernel>) {
    set_of_pages(rings, delay, 1)
}

fn set_of_pages(rings: usize, delay: u64, pages: usize) -> (RingSet<usize>, Vec<Kernel>) {
    let mut set = RingSet::new().unwrap();
    set.set_sort_delay(Duration::from_secs(delay));
    let kernels = (0..rings).map(|key| {
        let (kernel, data) = Kernel::new(pages).unwrap();
        set.add(key, Ring::on(data, ATTR)).unwrap();
        kernel
    });
    let kernels = kernels.collect();
    (set, kernels)
}

/// Overwrites the header of the record at a position in the first ring, as a faulty kernel may.
fn damage(set: &mut RingSet<usize>, kernel: &mut Kernel, position: u64) {
    let header = Kernel::any_header(RecordType::SAMPLE, 4);
    kernel.overwrite(set.members[0].ring.reader.mapping(), position, header);
}

/// Writes a sample of 24 bytes.
fn write(kernel: &mut Kernel, seconds: u64, addr: u64) {
    assert!(kernel.write_words(&[Kernel::any_header(RecordType::SAMPLE, 24), seconds * SECOND, addr]));
}

/// Writes a sample for each time.
fn write_all(kernel: &mut Kernel, times: impl IntoIterator<Item = u64>) {
    times.into_iter().for_each(|seconds| write(kernel, seconds, 0));
}

/// Returns its time in seconds.
fn seconds<K>(record: &SortedRecord<'_, K>) -> u64 {
    record.time() / SECOND
}

/// The times and keys that a flush delivers.
fn flush(set: &mut RingSet<usize>) -> Vec<(u64, usize)> {
    let mut found = vec![];
    set.flush_sorted(|record| found.push((seconds(&record), *record.key()))).unwrap();
    found
}

/// The times that a flush delivers.
fn times(set: &mut RingSet<usize>) -> Vec<u64> {
    flush(set).into_iter().map(|(time, _)| time).collect()
}

/// The times and keys that a round delivers.
fn round(set: &mut RingSet<usize>) -> Vec<(u64, usize)> {
    let mut found = vec![];
    let drained = set.drain_sorted(|record| found.push((seconds(&record), *record.key()))).unwrap();
    assert_eq!(drained.records, found.len() as u64);
    found
}

#[test]
fn records_of_two_rings_are_one_stream_up_to_the_delay() {
    let (mut set, mut kernels) = set(2, 20);
    write_all(&mut kernels[0], [10, 20, 50]);
    write_all(&mut kernels[1], [15, 40]);
    assert_eq!(round(&mut set), [(10, 0), (15, 1), (20, 0)], "40 is younger than 50 - 20");
    write_all(&mut kernels[1], [45, 60]);
    assert_eq!(round(&mut set), [(40, 1)]);
    write(&mut kernels[0], 80, 0);
    assert_eq!(round(&mut set), [(45, 1), (50, 0), (60, 1)]);
    assert_eq!((round(&mut set), set.late()), (vec![], 0));
}

#[test]
fn first_round_knows_the_clock_by_records_that_are_not_framed_yet() {
    let (mut set, mut kernels) = set_of_pages(2, 100, 4);
    for times in [0..300, 300..600] {
        times.for_each(|time| write(&mut kernels[1], time, 0));
        set.flush_sorted(|_| {}).unwrap();
    }
    set.sort.clock = Clock::default();
    write_all(&mut kernels[1], 600..900); // they wrap
    assert!(round(&mut set).into_iter().eq((600..800).map(|time| (time, 1))));
    assert_eq!(round(&mut set), []);
}

#[test]
fn records_out_of_order_at_the_end_do_not_set_the_clock_back() {
    let (mut set, mut kernels) = set(1, 5);
    write_all(&mut kernels[0], [10, 20, 14]);
    assert_eq!(round(&mut set), [(10, 0), (14, 0)]);
    set.set_sort_delay(Duration::ZERO);
    assert_eq!(round(&mut set), [(20, 0)], "a delay of 0 keeps nothing");
}

#[test]
fn rings_with_more_records_than_are_framed_at_once_are_read_to_the_end() {
    for run in [1, 10, 170] {
        let (mut set, mut kernels) = set(2, 0);
        (0..340).for_each(|time| write(&mut kernels[time as usize / run % 2], time, 0));
        let times = times(&mut set);
        assert!(times.iter().copied().eq(0..340), "runs of {run}: {times:?}");
    }
}

#[test]
fn records_are_released_by_eighths_of_the_ring_and_at_the_end() {
    let (mut set, mut kernels) = set(1, 0);
    write_all(&mut kernels[0], 0..100);
    let mut most = 0;
    set.flush_sorted(|record| most = most.max(seconds(&record) * 24 - kernels[0].tail())).unwrap();
    assert!((480..1600).contains(&most), "{most}");
    assert_eq!(kernels[0].tail(), 2400);
}

#[test]
fn records_after_a_break_are_delivered_in_the_next_round() {
    let (mut set, mut kernels) = set(2, 0);
    (0..6).for_each(|time| write(&mut kernels[time as usize % 2], time, 0));
    let (drained, flow) = set
        .try_drain_sorted(|record| match seconds(&record) {
            3 => ControlFlow::Break("three"),
            _ => ControlFlow::Continue(()),
        })
        .unwrap();
    assert_eq!((drained.records, flow), (4, ControlFlow::Break("three")));
    assert_eq!(set.wait(None), Ok(WaitResult::Readable), "at once");
    assert_eq!(round(&mut set), [(4, 0), (5, 1)]);
}

#[test]
fn records_out_of_order_in_a_ring_are_sorted_and_released_in_its_order() {
    let (mut set, mut kernels) = set(2, 0);
    write_all(&mut kernels[0], [10, 30, 20, 40]);
    write(&mut kernels[1], 25, 0);
    let mut found = vec![];
    let (_, flow) = set
        .try_drain_sorted(|record| {
            found.push(seconds(&record));
            if seconds(&record) == 25 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!((flow, kernels[0].tail()), (ControlFlow::Break(()), 24), "that of 30 is not delivered");
    set.flush_sorted(|record| found.push(seconds(&record))).unwrap();
    assert_eq!((found, kernels[0].tail(), set.late()), (vec![10, 20, 25, 30, 40], 96, 0));
}

#[test]
fn record_that_appears_too_late_is_delivered_and_counted() {
    let (mut set, mut kernels) = set(2, 0);
    write(&mut kernels[0], 30, 0);
    assert_eq!(round(&mut set), [(30, 0)]);
    write_all(&mut kernels[1], [20, 40]);
    let mut late = vec![];
    let drained = set.flush_sorted(|record| late.push((seconds(&record), record.is_late()))).unwrap();
    assert_eq!((late, drained.late, set.late()), (vec![(20, true), (40, false)], 1, 1));
}

#[test]
fn damage_is_skipped_and_counted_and_the_other_ring_is_read() {
    let (mut set, mut kernels) = set(2, 0);
    write(&mut kernels[0], 10, 0);
    kernels[0].write_words(&[Kernel::any_header(RecordType::SAMPLE, 4), 0, 0]);
    write(&mut kernels[0], 30, 0);
    write_all(&mut kernels[1], [20, 40]);
    assert_eq!(flush(&mut set), [(10, 0), (20, 1), (40, 1)]);
    let damage = set.get(&0).unwrap().damage();
    assert_eq!((damage.count, damage.bytes), (1, 48));
    write(&mut kernels[0], 50, 0);
    assert_eq!(flush(&mut set), [(50, 0)]);
}

#[test]
fn record_without_a_time_follows_the_record_before_it() {
    let (mut set, mut kernels) = set(2, 0);
    write(&mut kernels[0], 20, 0);
    kernels[0].write_words(&[Kernel::any_header(RecordType(77), 8)]);
    write(&mut kernels[0], 30, 0);
    write(&mut kernels[1], 25, 0);
    let mut kinds = vec![];
    set.flush_sorted(|record| kinds.push((record.raw().kind().0, seconds(&record)))).unwrap();
    assert_eq!(kinds, [(9, 20), (77, 20), (9, 25), (9, 30)]);
}

#[test]
fn half_full_ring_is_drained_to_a_quarter_without_the_delay() {
    let (mut set, mut kernels) = set(2, 3600);
    write(&mut kernels[0], 1, 0);
    write_all(&mut kernels[1], [7, 99]);
    assert_eq!(round(&mut set), [], "too young");
    write_all(&mut kernels[0], 2..=100); // 2400 of 4096 bytes
    let found = round(&mut set);
    assert_eq!((found.len(), found[7], found.last()), (59, (7, 1), Some(&(58, 0))), "1008 bytes are left");
    assert_eq!(round(&mut set), [], "the ring is no longer half full");
}

#[test]
fn ring_that_was_read_otherwise_in_between_is_read_from_there() {
    let (mut set, mut kernels) = set(1, 60);
    write_all(&mut kernels[0], 0..3);
    assert_eq!(round(&mut set), [], "too young");
    assert_eq!(set.batch(&0).unwrap().unwrap().records().take(2).count(), 2);
    set.set_sort_delay(Duration::ZERO);
    assert_eq!(round(&mut set), [(2, 0)]);
}

#[test]
fn records_are_decoded_by_the_layout_of_their_event() {
    let (mut set, mut kernels) = set(1, 0);
    write(&mut kernels[0], 1, 77);
    let mut found = vec![];
    set.flush_sorted(|record| {
        let Ok(Record::Sample(sample)) = record.decode() else { panic!("{record:?}") };
        found.push((sample.addr(), record.event().map(|event| *event.attr())));
    })
    .unwrap();
    assert_eq!(found, [(Some(77), Some(ATTR))]);
}

#[test]
fn removed_ring_keeps_its_unread_records() {
    let (mut set, mut kernels) = set(2, 60);
    write(&mut kernels[0], 1, 0);
    write(&mut kernels[1], 2, 0);
    assert_eq!(round(&mut set), [], "too young");
    let mut ring = set.remove(&0).unwrap();
    assert_eq!(ring.batch().unwrap().records().count(), 1);
    set.set_sort_delay(Duration::ZERO);
    assert_eq!((round(&mut set), set.len()), (vec![(2, 1)], 1));
}

#[test]
fn record_that_was_overwritten_after_it_was_framed_is_damage() {
    let (mut set, mut kernels) = set(1, 60);
    write_all(&mut kernels[0], 0..3);
    assert_eq!(round(&mut set), [], "framed and too young");
    set.set_sort_delay(Duration::ZERO);
    let (drained, _) = set.try_drain_sorted(|_| ControlFlow::Break(())).unwrap();
    assert_eq!(drained.records, 1);
    damage(&mut set, &mut kernels[0], 24);
    assert_eq!(times(&mut set), []);
    let damage = set.get(&0).unwrap().damage();
    assert_eq!((damage.count, damage.bytes, kernels[0].tail()), (1, 48, 72));
    write(&mut kernels[0], 9, 0);
    assert_eq!(times(&mut set), [9]);
}

#[test]
fn records_of_the_other_ring_are_delivered_after_one_was_overwritten() {
    let (mut set, mut kernels) = set(2, 60);
    (0..6).for_each(|time| write(&mut kernels[time as usize % 2], time, 0));
    assert_eq!(round(&mut set), [], "framed and too young");
    damage(&mut set, &mut kernels[0], 24);
    assert_eq!(flush(&mut set), [(0, 0), (1, 1), (3, 1), (5, 1)]);
    assert_eq!(set.late(), 0);
}

#[test]
fn young_records_stay_after_one_of_a_half_full_ring_was_overwritten() {
    for (pages, records) in [(1, 100), (2, 200)] {
        // In the second case a plan does not reach the limit.
        let (mut set, mut kernels) = set_of_pages(2, 3600, pages);
        write(&mut kernels[1], 999, 0);
        write_all(&mut kernels[0], 1..=records);
        let mut count = 0;
        let first = |record: SortedRecord<'_, usize>| {
            count += u64::from(*record.key() == 0);
            ControlFlow::Break(())
        };
        assert!(set.try_drain_sorted(first).unwrap().1.is_break());
        damage(&mut set, &mut kernels[0], 24 * 30);
        set.drain_sorted(|record| count += u64::from(*record.key() == 0)).unwrap();
        assert_eq!(count, 30, "up to the damage");
        set.set_sort_delay(Duration::ZERO);
        assert_eq!(round(&mut set), [(999, 1)]);
    }
}

#[test]
fn long_round_delivers_exactly_the_records_before_its_limit() {
    let (mut set, mut kernels) = set_of_pages(1, 80, 2);
    write_all(&mut kernels[0], 0..100);
    assert_eq!(round(&mut set), (0..20).map(|time| (time, 0)).collect::<Vec<_>>());
    write_all(&mut kernels[0], 100..150);
    assert_eq!(round(&mut set), (20..70).map(|time| (time, 0)).collect::<Vec<_>>());
}

#[test]
fn more_records_than_are_framed_ahead_are_delivered_past_the_end_of_the_ring() {
    let (mut set, mut kernels) = set(1, 0);
    for written in [0..100, 100..260, 260..400] {
        write_all(&mut kernels[0], written.clone());
        assert_eq!(times(&mut set), written.collect::<Vec<_>>());
    }
}

#[test]
fn records_of_the_same_time_are_not_late() {
    let (mut set, mut kernels) = set(2, 0);
    for kernel in &mut kernels {
        (0..2).for_each(|addr| write(kernel, 5, addr));
    }
    let mut found = vec![];
    set.flush_sorted(|record| found.push((*record.key(), record.raw().words()[2], record.is_late())))
        .unwrap();
    assert_eq!(found, [(0, 0, false), (0, 1, false), (1, 0, false), (1, 1, false)]);
}

#[test]
fn records_too_far_from_their_places_in_a_ring_are_late() {
    let (mut set, mut kernels) = set_of_pages(1, 0, 256);
    for time in 10..20 {
        let mut large = vec![0; 8191]; // 64 KiB each: an entry goes back by 8 of them
        large[..2].copy_from_slice(&[Kernel::any_header(RecordType::SAMPLE, 8191 * 8), time * SECOND]);
        assert!(kernels[0].write_words(&large));
    }
    write_all(&mut kernels[0], [9, 10]);
    let mut found = vec![];
    let drained = set.flush_sorted(|record| found.push((seconds(&record), record.is_late()))).unwrap();
    let late = [(10, false), (11, false), (9, true), (10, true)]; // 10 is later than 9, but not than 11
    let in_order = (12..20).map(|time| (time, false));
    assert!(found.iter().copied().eq(late.into_iter().chain(in_order)), "{found:?}");
    assert_eq!((drained.records, drained.late, set.late()), (12, 2, 2));
}

#[test]
fn all_records_of_the_other_ring_are_delivered_although_more_are_framed_than_a_plan_holds() {
    let (mut set, mut kernels) = set(2, 3600);
    (0..160).for_each(|time| write(&mut kernels[time as usize % 2], time, 0));
    assert_eq!(round(&mut set), [], "framed and too young");
    damage(&mut set, &mut kernels[0], 24);
    let others = (0..80).map(|n| (2 * n + 1, 1));
    assert!(flush(&mut set).into_iter().eq([(0, 0)].into_iter().chain(others)));
}

/// Starts a round of the first ring, and returns how many records are taken without a look at more.
fn take_to_the_stop(set: &mut RingSet<usize>, all: bool) -> usize {
    let Member { ring, lookahead, .. } = &mut set.members[0];
    ring.look().unwrap();
    lookahead.start_round(ring, true, all).unwrap();
    let mut count = 0;
    let next = lookahead.queue.take_while(u64::MAX, |_| {
        count += 1;
        Some(())
    });
    assert_eq!(next, None, "at the stop");
    count
}

#[test]
fn records_are_taken_to_the_limit_or_the_last_framed_one_that_cannot_be_overtaken() {
    for (written, all, taken, must_fill, is_open) in [
        (3, false, 3, false, false),
        (100, false, 58, false, true),         // half full: to a quarter
        (160, true, 128 - 32 + 1, true, true), // more follow, one of which may be earlier
    ] {
        let (mut set, mut kernels) = set(1, 0);
        write_all(&mut kernels[0], 0..written);
        assert_eq!(take_to_the_stop(&mut set, all), taken, "of {written}");
        let lookahead = &set.members[0].lookahead;
        assert_eq!((lookahead.must_fill(), lookahead.is_open), (must_fill, is_open), "of {written}");
    }
}

#[test]
fn records_before_damage_are_taken_at_once_and_others_are_framed_after_their_delivery() {
    let (mut set, mut kernels) = set(1, 0);
    write_all(&mut kernels[0], 0..3);
    kernels[0].write_words(&[Kernel::any_header(RecordType::SAMPLE, 4), 0, 0]);
    assert_eq!(take_to_the_stop(&mut set, true), 3);
    assert!(set.members[0].lookahead.must_fill(), "all are taken");
    set.members[0].lookahead.queue.put_back();
    assert!(!set.members[0].lookahead.must_fill());
}

#[test]
fn flush_ends_although_the_callback_makes_records_which_the_next_round_counts_as_late() {
    let (mut set, mut kernels) = set(2, 0);
    write(&mut kernels[0], 30, 0);
    let mut times = vec![];
    set.flush_sorted(|record| {
        times.push(seconds(&record));
        write(&mut kernels[1], 20, 0);
    })
    .unwrap();
    assert_eq!((times, set.late()), (vec![30], 0));
    assert_eq!((round(&mut set), set.late()), (vec![(20, 1)], 1));
}

#[test]
fn flush_ends_at_a_break_and_leaves_the_records_after_it() {
    let (mut set, mut kernels) = set(1, 60);
    write_all(&mut kernels[0], 1..5);
    let (drained, flow) = set
        .try_flush_sorted(|record| {
            if seconds(&record) == 2 { ControlFlow::Break("two") } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!((drained.records, flow), (2, ControlFlow::Break("two")));
    assert_eq!(round(&mut set), [], "3 and 4 are too young");
    assert_eq!(set.flush_sorted(|_| {}).unwrap().records, 2);
}
