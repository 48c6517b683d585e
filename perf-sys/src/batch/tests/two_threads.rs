use std::thread;

use super::*;

/// Records to write: enough for some thousand laps of the ring, and few enough for a sanitizer.
const RECORDS: u64 = 200_000;

/// Numbered records of seven sizes, each with its number in every word of its body.
fn body(number: u64) -> Vec<u64> {
    vec![number; 2 + (number % 7) as usize]
}

/// Checks that a record is one that was written, whole, and returns its number.
fn number(record: RawRecord<'_>) -> u64 {
    let number = record.words()[1];
    assert_eq!(record.words()[1..], body(number), "whole");
    number
}

/// Lets one thread write and this one read, and returns how many were lost.
///
/// A patient writer waits for room. The reader visits some records of each batch, then may `release` them,
/// then the others.
fn race(patient: bool, release: bool) -> u64 {
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
            reader.consumer.refresh().unwrap();
            let mut batch = Batch::new(reader);
            if batch.is_empty() {
                if is_over {
                    break writer.join().unwrap();
                }
                thread::yield_now();
            }
            for some in [5, usize::MAX] {
                for record in batch.records().take(some) {
                    let number = number(record.unwrap());
                    assert!(number >= next, "each once and in order: {number} after {next}");
                    (next, delivered) = (number + 1, delivered + 1);
                }
                if release {
                    batch.release();
                }
            }
        }
    });
    assert_eq!(delivered + lost, RECORDS);
    lost
}

#[test]
fn a_writer_that_waits_loses_nothing() {
    assert_eq!(race(true, false), 0);
}

#[test]
fn a_writer_that_does_not_wait_loses_what_was_not_delivered_and_no_more() {
    race(false, false);
}

#[test]
fn what_is_released_early_is_delivered_once() {
    assert_eq!(race(true, true), 0);
}
