//! Records in time order, over the rounds of a file.

use crate::support::data;
use crate::support::made_up::{file, record, sample};
use crate::support::read::{all, times};
use perf_file::format::record_type;
use perf_file::{FileRecord, Reader};

fn round() -> Vec<u8> {
    record(record_type::FINISHED_ROUND, &[])
}

/// Times of samples; 0 is the end of a round.
fn recording(times: &[u64]) -> Vec<u8> {
    file(&times.iter().map(|&time| if time == 0 { round() } else { sample(time) }).collect::<Vec<_>>())
}

#[test]
fn records_are_sorted_over_two_rounds_and_late_ones_counted() {
    for (recorded, expected, late) in [
        (&[20, 10, 0, 15, 30, 0, 25, 40, 0, 35][..], &[10, 15, 20, 25, 30, 35, 40][..], 0),
        // A record of an earlier round is late, unless it has the time of the latest one.
        (&[20, 0, 30, 0, 5, 0, 50], &[20, 5, 30, 50], 1),
        (&[20, 0, 30, 0, 20, 0, 50], &[20, 20, 30, 50], 0),
    ] {
        let bytes = recording(recorded);
        let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
        assert_eq!(times(&mut sorted), expected);
        assert_eq!((sorted.late(), sorted.early()), (late, 0), "{recorded:?}");
    }
}

#[test]
fn record_with_a_time_that_is_complete_is_not_early() {
    let bytes = recording(&[vec![10, 0, 0], vec![10; 100]].concat());
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted_with_capacity(10 * 32);
    assert_eq!(times(&mut sorted), [10; 101]);
    assert_eq!((sorted.late(), sorted.early()), (0, 0));
}

#[test]
fn records_are_returned_when_their_round_is_complete() {
    let bytes = recording(&[20, 0, 30, 0, 40]);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    let mut steps = Vec::new();
    while let Some(record) = sorted.next().unwrap() {
        let (time, kind) = (record.time(), record.kind());
        steps.push((time.unwrap_or(0), kind == record_type::FINISHED_ROUND, sorted.offset()));
    }
    let order: Vec<_> = steps.iter().map(|(time, is_round, _)| (*time, *is_round)).collect();
    assert_eq!(order, [(0, true), (0, true), (20, false), (30, false), (40, false)]);
    // The first sample is returned after the second mark, before the last sample is read.
    assert_eq!(steps[2].2, bytes.len() as u64 - 16);
}

#[test]
fn records_with_one_time_keep_their_order() {
    let bytes = recording(&[7, 7, 7]);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    let offsets = all(&mut sorted, |record| record.place().offset());
    assert!(offsets.is_sorted() && offsets.len() == 3);
}

#[test]
fn memory_is_bounded_without_marks() {
    let bytes = recording(&(0..1000_u64).map(|index| 1 + (index ^ 1)).collect::<Vec<_>>());
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted_with_capacity(100 * 16);
    let found = times(&mut sorted);
    assert_eq!(found, (1..=1000).collect::<Vec<_>>());
    assert!(sorted.early() > 800 && sorted.late() == 0, "{sorted:?}");
}

#[test]
fn copies_are_bounded_without_marks() {
    let bytes = recording(&(0..1000_u64).map(|index| 1 + (index ^ 1)).collect::<Vec<_>>());
    let reader = || Reader::from_file(std::io::Cursor::new(&bytes)).unwrap();
    for kept in [10, 100, 999, 1001] {
        // Two words of the record, and four of overhead.
        let mut sorted = reader().sorted_with_capacity(kept * 48);
        assert_eq!(times(&mut sorted), (1..=1000).collect::<Vec<_>>());
        let early = 1000_u64.saturating_sub(kept as u64 + 1);
        assert!(sorted.early() >= early && (kept < 1000) == (sorted.early() > 0), "{kept}: {sorted:?}");
        assert_eq!(sorted.late(), 0);
    }
}

#[test]
fn truncated_file_gives_the_kept_records_before_the_error() {
    let mut bytes = recording(&[20, 10, 30]);
    bytes.truncate(bytes.len() - 1);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    assert_eq!(sorted.next().unwrap().unwrap().time(), Some(10));
    assert_eq!(sorted.next().unwrap().unwrap().time(), Some(20));
    assert!(sorted.next().is_err());
    assert!(sorted.next().unwrap().is_none());
}

#[test]
fn captured_files_are_sorted() {
    for name in data::names() {
        let bytes = data::file(&name);
        let with_time = |record: FileRecord<'_>| {
            let time = record.time().filter(|time| *time != 0 && *time != u64::MAX);
            time.map(|time| (time, record.bytes().to_vec()))
        };
        let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
        let found: Vec<_> = all(&mut sorted, with_time).into_iter().flatten().collect();
        let expected = all(&mut Reader::from_bytes(&bytes).unwrap(), with_time);
        let mut expected: Vec<_> = expected.into_iter().flatten().collect();
        expected.sort_by_key(|(time, _)| *time);
        assert_eq!(found, expected, "{name}");
        assert_eq!((sorted.late(), sorted.early()), (0, 0), "{name}");
    }
}

#[test]
fn highest_time_is_no_time_and_releases_nothing() {
    let bytes = recording(&[u64::MAX, 20, 0, 15, 30, 0, u64::MAX, 25, 0, 40]);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    // A record without a time is returned at once.
    assert_eq!(times(&mut sorted), [u64::MAX, 15, 20, u64::MAX, 25, 30, 40]);
    assert_eq!((sorted.late(), sorted.early()), (0, 0));
}
