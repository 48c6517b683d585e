//! A writer and a reader in two threads.

use std::thread;

use super::batch::Fake;
use super::*;

/// Records to write: enough for some thousand laps of the ring, and few enough for a sanitizer.
const RECORDS: u64 = 200_000;

/// Numbered records of seven sizes, each with its number in every word of its body.
fn body(number: u64) -> Vec<u64> {
    vec![number; 2 + (number % 7) as usize]
}

/// Checks that a record is complete and one of those that were written, and returns its number.
fn number(record: RawRecord<'_>) -> u64 {
    let number = record.words()[1];
    assert_eq!(record.words()[1..], body(number), "complete");
    number
}

/// Lets one thread write and this one read, and returns the number of lost records.
///
/// A patient writer waits for space. After each look at the head, `read` passes the records to its
/// callback and releases them.
fn race(patient: bool, read: impl Fn(&mut Reader, &mut dyn FnMut(RawRecord<'_>))) -> u64 {
    let mut fake = Fake::with(0);
    let (reader, mut kernel) = (&mut fake.reader, fake.kernel);
    let (mut next, mut delivered) = (0, 0);
    let lost = thread::scope(|scope| {
        let writer = scope.spawn(move || {
            let write = |&number: &u64| {
                let mut written = kernel.write(&body(number));
                while patient && !written {
                    thread::yield_now();
                    written = kernel.write(&body(number));
                }
                !written
            };
            (0..RECORDS).filter(write).count() as u64
        });
        loop {
            let is_over = writer.is_finished();
            reader.refresh().unwrap();
            if reader.len() == 0 {
                if is_over {
                    break writer.join().unwrap();
                }
                thread::yield_now();
            }
            read(reader, &mut |record| {
                let number = number(record);
                assert!(number >= next, "each once and in order: {number} after {next}");
                (next, delivered) = (number + 1, delivered + 1);
            });
        }
    });
    assert_eq!(delivered + lost, RECORDS);
    lost
}

/// Reads some records of a batch, then may `release` them, then reads the others.
fn batch(release: bool) -> impl Fn(&mut Reader, &mut dyn FnMut(RawRecord<'_>)) {
    move |reader, consume| {
        let mut batch = Batch::new(reader);
        for some in [5, usize::MAX] {
            batch.records().take(some).for_each(|record| consume(record.unwrap()));
            if release {
                batch.release();
            }
        }
    }
}

#[test]
fn writer_that_waits_loses_nothing() {
    assert_eq!(race(true, batch(false)), 0);
}

#[test]
fn writer_that_does_not_wait_loses_only_what_was_not_delivered() {
    race(false, batch(false));
}

#[test]
fn records_that_are_released_early_are_delivered_once() {
    assert_eq!(race(true, batch(true)), 0);
}

#[test]
fn cursor_delivers_each_record_once() {
    let cursor = |reader: &mut Reader, consume: &mut dyn FnMut(RawRecord<'_>)| {
        // Half of the looks end with unread records.
        let left = if reader.len() % 16 == 0 { 24 } else { 0 };
        while reader.len() > left && reader.peek().unwrap().is_some() {
            consume(reader.next().unwrap().unwrap());
            reader.release();
        }
    };
    assert_eq!(race(true, cursor), 0);
}

#[test]
fn copy_has_each_record_once() {
    let copy = |reader: &mut Reader, consume: &mut dyn FnMut(RawRecord<'_>)| {
        let mut copy = Vec::new();
        let records = reader.copy_into(&mut copy);
        records.records(&mut []).for_each(|record| consume(record.unwrap()));
    };
    assert_eq!(race(true, copy), 0);
}
