use std::thread;

use super::*;

/// Number of records: enough for some thousand laps of the ring, and few enough for a sanitizer.
const RECORDS: u64 = 200_000;

/// Returns the body of a record: one of seven sizes, with the number in every word.
fn body(number: u64) -> Vec<u64> {
    vec![number; 2 + (number % 7) as usize]
}

/// Checks that a record is complete, and returns its number.
fn number(record: RawRecord<'_>) -> u64 {
    let number = record.words()[1];
    assert_eq!(record.words()[1..], body(number), "complete");
    number
}

/// Runs a writer in another thread and the reader in this one, and returns the number of lost
/// records.
///
/// A `patient` writer waits until the ring has space. The reader consumes five records of each
/// batch, then the others. With `release` it releases each part at once.
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
fn writer_that_waits_for_space_loses_nothing() {
    assert_eq!(race(true, false), 0);
}

#[test]
fn every_record_is_delivered_or_lost() {
    race(false, false);
}

#[test]
fn records_released_early_are_delivered_once() {
    assert_eq!(race(true, true), 0);
}
