//! Records in the order of time, over the rounds of a file.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use crate::support::data;
use crate::support::made_up::{file, record, sample};
use perf_file::format::record_type;
use perf_file::{Reader, Source};

fn round() -> Vec<u8> {
    record(record_type::FINISHED_ROUND, &[])
}

/// Returns the times of all records that have one.
fn times<S: Source>(sorted: &mut Reader<S>) -> Vec<u64> {
    let mut times = Vec::new();
    while let Some(record) = sorted.next().unwrap() {
        times.extend(record.time());
    }
    times
}

#[test]
fn records_are_sorted_over_two_rounds() {
    let records = [
        sample(20),
        sample(10),
        round(),
        sample(15),
        sample(30),
        round(),
        sample(25),
        sample(40),
        round(),
        sample(35),
    ];
    let bytes = file(&records);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    assert_eq!(times(&mut sorted), [10, 15, 20, 25, 30, 35, 40]);
    assert_eq!((sorted.late(), sorted.early()), (0, 0));
}

#[test]
fn records_are_returned_when_their_round_is_complete() {
    let bytes = file(&[sample(20), round(), sample(30), round(), sample(40)]);
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
fn record_of_an_earlier_round_is_late() {
    let bytes = file(&[sample(20), round(), sample(30), round(), sample(5), round(), sample(50)]);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    assert_eq!(times(&mut sorted), [20, 5, 30, 50]);
    assert_eq!(sorted.late(), 1);
}

#[test]
fn record_with_the_time_of_an_earlier_round_is_neither_late_nor_early() {
    let bytes = file(&[sample(20), round(), sample(30), round(), sample(20), round(), sample(50)]);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    assert_eq!(times(&mut sorted), [20, 20, 30, 50]);
    assert_eq!(sorted.late(), 0);
    let bytes = file(&[vec![sample(10), round(), round()], vec![sample(10); 100]].concat());
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted_with_capacity(10 * 32);
    assert_eq!(times(&mut sorted), [10; 101]);
    assert_eq!((sorted.late(), sorted.early()), (0, 0));
}

#[test]
fn records_with_one_time_keep_their_order() {
    let bytes = file(&[sample(7), sample(7), sample(7)]);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    let mut offsets = Vec::new();
    while let Some(record) = sorted.next().unwrap() {
        offsets.push(record.place().offset());
    }
    assert!(offsets.is_sorted() && offsets.len() == 3);
}

#[test]
fn memory_is_bounded_without_marks() {
    let records: Vec<_> = (0..1000_u64).map(|index| sample(1 + (index ^ 1))).collect();
    let bytes = file(&records);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted_with_capacity(100 * 16);
    let found = times(&mut sorted);
    assert_eq!(found, (1..=1000).collect::<Vec<_>>());
    assert!(sorted.early() > 800 && sorted.late() == 0, "{sorted:?}");
}

#[test]
fn copies_are_bounded_without_marks() {
    let records: Vec<_> = (0..1000_u64).map(|index| sample(1 + (index ^ 1))).collect();
    let bytes = file(&records);
    let reader = || Reader::from_file(std::io::Cursor::new(&bytes)).unwrap();
    for kept in [10, 100, 999, 1001] {
        // Two words of the record, and four beside it.
        let mut sorted = reader().sorted_with_capacity(kept * 48);
        assert_eq!(times(&mut sorted), (1..=1000).collect::<Vec<_>>());
        let early = 1000_u64.saturating_sub(kept as u64 + 1);
        assert!(sorted.early() >= early && (kept < 1000) == (sorted.early() > 0), "{kept}: {sorted:?}");
        assert_eq!(sorted.late(), 0);
    }
}

#[test]
fn truncated_file_gives_the_kept_records_before_the_error() {
    let mut bytes = file(&[sample(20), sample(10), sample(30)]);
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
        let mut reader = Reader::from_bytes(&bytes).unwrap();
        let mut expected = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            let time = record.time().filter(|time| *time != 0 && *time != u64::MAX);
            expected.extend(time.map(|time| (time, record.bytes().to_vec())));
        }
        expected.sort_by_key(|(time, _)| *time);
        let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
        let mut found = Vec::new();
        while let Some(record) = sorted.next().unwrap() {
            let time = record.time().filter(|time| *time != 0 && *time != u64::MAX);
            found.extend(time.map(|time| (time, record.bytes().to_vec())));
        }
        assert_eq!(found, expected, "{name}");
        assert_eq!((sorted.late(), sorted.early()), (0, 0), "{name}");
    }
}

#[test]
fn highest_time_is_no_time_and_releases_nothing() {
    let none = || sample(u64::MAX);
    let records = [
        none(),
        sample(20),
        round(),
        sample(15),
        sample(30),
        round(),
        none(),
        sample(25),
        round(),
        sample(40),
    ];
    let bytes = file(&records);
    let mut sorted = Reader::from_bytes(&bytes).unwrap().sorted();
    // A record without a time is returned at once.
    assert_eq!(times(&mut sorted), [u64::MAX, 15, 20, u64::MAX, 25, 30, 40]);
    assert_eq!((sorted.late(), sorted.early()), (0, 0));
}
