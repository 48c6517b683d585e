//! Batches of a ring with a simulated kernel.

use std::panic::{AssertUnwindSafe, catch_unwind};

use perf_decode::{Record, SampleLayout};

use super::*;

/// A ring of one page with a simulated kernel.
pub(super) struct Fake {
    pub(super) reader: Reader,
    pub(super) kernel: Kernel,
}

impl Fake {
    /// Returns a ring with `records` LOST records of 24 bytes each, numbered in their last word.
    pub(super) fn with(records: u64) -> Self {
        let (mut kernel, data) = Kernel::new(1).unwrap();
        assert!((0..records).all(|number| kernel.write(&[0, number])));
        Self { reader: Reader::new(data), kernel }
    }

    fn batch(&mut self) -> Batch<'_> {
        self.reader.refresh().unwrap();
        Batch::new(&mut self.reader)
    }

    fn tail(&self) -> u64 {
        self.kernel.tail()
    }
}

fn numbers(batch: &mut Batch<'_>) -> Vec<u64> {
    batch.records().map(|record| record.unwrap().words()[2]).collect()
}

#[test]
fn all_records_are_released_at_the_end() {
    let mut ring = Fake::with(3);
    assert_eq!(numbers(&mut ring.batch()), [0, 1, 2]);
    assert_eq!(ring.tail(), 72);
}

#[test]
fn the_tail_is_stored_once_for_all_records() {
    let Fake { mut reader, kernel } = Fake::with(100);
    reader.refresh().unwrap();
    kernel.mark_tail();
    let mut batch = Batch::new(&mut reader);
    for record in batch.records() {
        assert_eq!(record.unwrap().words().len(), 3);
        assert_eq!(kernel.unmarked_tail(), None);
    }
    batch.release();
    assert_eq!(kernel.unmarked_tail(), Some(2400));
    kernel.mark_tail();
    drop(batch);
    assert_eq!(kernel.unmarked_tail(), None, "no record was left to release");
}

#[test]
fn nothing_is_released_before_the_batch_is_dropped() {
    let mut ring = Fake::with(3);
    let mut batch = ring.batch();
    assert_eq!(numbers(&mut batch), [0, 1, 2]);
    assert!(batch.is_empty());
    core::mem::forget(batch);
    assert_eq!(ring.tail(), 0);
}

#[test]
fn break_releases_the_consumed_records() {
    let mut ring = Fake::with(3);
    for record in ring.batch().records() {
        if record.unwrap().words()[2] == 1 {
            break;
        }
    }
    assert_eq!(ring.tail(), 48);
    assert_eq!(numbers(&mut ring.batch()), [2]);
}

#[test]
fn panic_releases_the_consumed_records() {
    let mut ring = Fake::with(3);
    let read = AssertUnwindSafe(|| {
        let mut batch = ring.batch();
        let first = batch.records().next();
        assert!(first.is_none(), "panics here");
    });
    assert!(catch_unwind(read).is_err());
    assert_eq!(ring.tail(), 24);
}

#[test]
fn second_iterator_continues_after_the_first() {
    let mut ring = Fake::with(3);
    let mut batch = ring.batch();
    assert_eq!(batch.records().next().unwrap().unwrap().words()[2], 0);
    assert_eq!(batch.len(), 48);
    assert_eq!(numbers(&mut batch), [1, 2]);
}

#[test]
fn release_stores_the_tail_before_the_batch_is_dropped() {
    let mut ring = Fake::with(3);
    let mut batch = ring.batch();
    batch.records().next();
    batch.release();
    assert_eq!(batch.len(), 48);
    assert_eq!(numbers(&mut batch), [1, 2]);
    core::mem::forget(batch);
    assert_eq!(ring.tail(), 24);
}

#[test]
fn discard_returns_the_number_of_unread_bytes() {
    let mut ring = Fake::with(3);
    let mut batch = ring.batch();
    batch.records().next();
    assert_eq!(batch.discard(), 48);
    assert_eq!(ring.tail(), 72);
}

#[test]
fn damage_is_skipped_and_counted_once() {
    // Zero, less than a header, not a multiple of 8, past the end, far past the end.
    for size in [0, 4, 12, 24, 0xfff8] {
        let mut ring = Fake::with(1);
        ring.kernel.write_words(&[Kernel::any_header(RecordType::LOST, size), 0]);
        let mut batch = ring.batch();
        let found: Vec<_> = batch.records().map(Result::err).collect();
        assert_eq!((found.len(), found[0]), (2, None), "{size}: one error, then the end");
        let damage = SkippedBytes { count: 1, bytes: 16, last: found[1] };
        assert!(batch.is_empty(), "{size}");
        drop(batch);
        assert_eq!(ring.tail(), 40, "{size}: the record and the damage");
        ring.kernel.write(&[0, 9]);
        assert_eq!(numbers(&mut ring.batch()), [9]);
        assert_eq!(ring.reader.damage, damage);
    }
}

#[test]
fn damage_in_the_middle_of_a_full_ring_ends_a_loop_over_batches() {
    let records = page_size() as u64 / 24;
    let mut ring = Fake::with(records);
    ring.kernel.overwrite(ring.reader.mapping(), 240, Kernel::any_header(RecordType::LOST, 4));
    let (mut read, mut errors) = (0, vec![]);
    while ring.reader.has_unread() {
        for record in ring.batch().records() {
            match record {
                Ok(_) => read += 1,
                Err(error) => errors.push(error),
            }
        }
    }
    let error = perf_decode::Error::SizeBelowHeader { at: 240, size: 4 };
    assert_eq!((read, errors), (10, vec![error]));
    let damage = SkippedBytes { count: 1, bytes: (records - 10) * 24, last: Some(error) };
    assert_eq!(ring.reader.damage, damage);
}

#[test]
fn damage_after_a_record_that_wraps_is_at_its_distance_from_the_start() {
    use perf_decode::Error::{SizeBelowHeader, SizePastEnd, UnalignedSize};
    let expected = [
        SizeBelowHeader { at: 48, size: 4 },
        UnalignedSize { at: 48, size: 12 },
        SizePastEnd { at: 48, size: 80, available: 16 },
    ];
    for (error, size) in expected.into_iter().zip([4, 12, 80]) {
        let mut ring = Fake::with(169);
        assert_eq!(numbers(&mut ring.batch()).len(), 169);
        assert!((1..3).all(|number| ring.kernel.write(&[0, number])), "the second one wraps");
        ring.kernel.write_words(&[Kernel::any_header(RecordType::LOST, size), 0]);
        assert_eq!(ring.batch().records().find_map(Result::err), Some(error));
        assert_eq!(ring.reader.damage, SkippedBytes { count: 1, bytes: 16, last: Some(error) });
    }
}

#[test]
fn damage_after_records_that_follow_a_record_that_wraps_is_counted_from_the_start() {
    let mut ring = Fake::with(170);
    assert_eq!(numbers(&mut ring.batch()).len(), 170);
    assert!((1..4).all(|number| ring.kernel.write(&[0, number])), "the first one wraps");
    ring.kernel.write_words(&[Kernel::any_header(RecordType::LOST, 4), 0]);
    let error = perf_decode::Error::SizeBelowHeader { at: 72, size: 4 };
    assert_eq!(ring.batch().records().find_map(Result::err), Some(error));
    assert_eq!(ring.reader.damage.bytes, 16);
}

#[test]
fn damage_at_the_start_is_released() {
    let mut ring = Fake::with(0);
    ring.kernel.write_words(&[Kernel::any_header(RecordType::LOST, 4), 0]);
    assert!(ring.batch().records().next().unwrap().is_err());
    assert_eq!(ring.tail(), 16);
}

#[test]
fn unknown_kind_does_not_end_the_batch() {
    let mut ring = Fake::with(1);
    ring.kernel.write_words(&[Kernel::any_header(RecordType(0x7777), 16), 7]);
    ring.kernel.write(&[0, 2]);
    let mut batch = ring.batch();
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    let kinds = [RecordType::LOST, RecordType(0x7777), RecordType::LOST];
    assert_eq!(records.iter().map(|record| record.kind()).collect::<Vec<_>>(), kinds);
    let layout = SampleLayout::new(&Attr::default());
    assert!(matches!(records[1].decode(&layout), Ok(Record::Unknown(_))), "{:?}", records[1]);
    drop(batch);
    assert_eq!(ring.tail(), 24 + 16 + 24);
}

#[test]
fn records_before_and_after_the_wrap_are_held_together() {
    let mut ring = Fake::with(170);
    assert_eq!(numbers(&mut ring.batch()).len(), 170);
    assert!((200..203).all(|number| ring.kernel.write(&[0, number])), "past the end");
    let mut batch = ring.batch();
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    assert_eq!(records.iter().map(|record| record.words()[2]).collect::<Vec<_>>(), [200, 201, 202]);
}
