use super::*;
use crate::map::BpfWriter;
use crate::map::in_child;

/// The data of the records that one batch returns, and the number of discarded ones.
fn read(consumer: &mut BpfConsumer) -> (Vec<Vec<u8>>, u64) {
    let mut discarded = 0;
    consumer.refresh().unwrap();
    let mut batch = BpfBatch::new(consumer, &mut discarded);
    let records = batch.records().map(|record| record.unwrap().to_vec()).collect();
    drop(batch);
    (records, discarded)
}

/// Longer than a page of 4 KiB, because the mapping of the reader starts at a page.
const SIZE: usize = 1 << 16;

#[test]
fn records_are_returned_without_padding_and_released() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    for data in [&b"12345678"[..], b"1", b""] {
        assert!(writer.write(data));
    }
    assert!(reader.has_committed());
    assert_eq!(read(&mut reader).0, [&b"12345678"[..], b"1", b""]);
    assert_eq!(writer.released(), 16 + 16 + 8);
    assert!(!reader.has_committed());
}

#[test]
fn record_at_the_end_of_the_ring_is_in_one_piece() {
    let mut writer = BpfWriter::new(SIZE).at(SIZE as u64 * 3 - 16);
    let mut reader = writer.reader();
    let data: Vec<u8> = (0..100).collect();
    assert!(writer.write(&data));
    assert_eq!(read(&mut reader).0, [data]);
    assert_eq!(writer.released(), SIZE as u64 * 3 - 16 + 112);
}

#[test]
fn positions_of_32_bits_wrap() {
    let start = u64::from(u32::MAX) - 7;
    let mut writer = BpfWriter::new(SIZE).at(start);
    let mut reader = writer.reader();
    assert!(writer.write(b"wrapped"));
    assert_eq!(read(&mut reader).0, [b"wrapped"]);
    assert_eq!(writer.released(), start + 16);
}

#[test]
fn reserved_record_ends_the_iteration_until_it_is_committed() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    let first = writer.reserve(b"first").unwrap();
    assert!(writer.write(b"second"));
    assert!(!reader.has_committed());
    reader.refresh().unwrap();
    let mut discarded = 0;
    let mut batch = BpfBatch::new(&mut reader, &mut discarded);
    assert_eq!(batch.len(), 32);
    let mut records = batch.records();
    assert!(records.next().is_none());
    writer.commit(first, 5, false);
    assert!(records.next().is_none(), "the iterator is fused");
    drop(records);
    assert_eq!(batch.records().next().unwrap().unwrap(), b"first");
    drop(batch);
    assert_eq!(writer.released(), 16);
    assert_eq!(read(&mut reader).0, [b"second"]);
}

#[test]
fn discarded_records_are_skipped_and_counted() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    for is_discarded in [true, false, true] {
        let at = writer.reserve(b"12345").unwrap();
        writer.commit(at, 5, is_discarded);
    }
    let (records, discarded) = read(&mut reader);
    assert_eq!((records.len(), discarded), (1, 2));
    assert_eq!(writer.released(), 48);
}

#[test]
fn discarded_and_reserved_records_after_many_of_their_length_are_recognized() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    assert!((0..9).all(|_| writer.write(b"12345678")));
    let discarded = writer.reserve(b"12345678").unwrap();
    writer.commit(discarded, 8, true);
    assert!(writer.write(b"abcdefgh"));
    assert!(writer.reserve(b"12345678").is_some());
    let (records, discarded) = read(&mut reader);
    assert_eq!((records.len(), discarded), (10, 1));
    assert_eq!(records[9], b"abcdefgh");
    assert_eq!(writer.released(), 11 * 16);
}

#[test]
fn length_beyond_the_unread_bytes_after_many_equal_ones_is_an_error() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    assert!((0..9).all(|_| writer.write(b"12345678")));
    writer.store_header(9 * 16, 8);
    writer.publish(9 * 16 + 8);
    reader.refresh().unwrap();
    let mut discarded = 0;
    let mut batch = BpfBatch::new(&mut reader, &mut discarded);
    let last = batch.records().last();
    assert_eq!(last, Some(Err(Error::BpfRecord { at: 9 * 16, len: 8, available: 8 })));
}

#[test]
fn length_beyond_the_unread_bytes_is_an_error_that_consumes_them() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    assert!(writer.write(b"12345678"));
    writer.store_header(0, 9);
    reader.refresh().unwrap();
    let mut discarded = 0;
    let mut batch = BpfBatch::new(&mut reader, &mut discarded);
    let mut records = batch.records();
    let error = records.next().unwrap().unwrap_err();
    assert_eq!(error, Error::BpfRecord { at: 0, len: 9, available: 16 });
    assert!(error.to_string().contains("within the 16 unread bytes at 0, found one of 9"), "{error}");
    assert!(records.next().is_none());
    drop(records);
    drop(batch);
    assert_eq!(writer.released(), 16);
}

#[test]
fn impossible_position_of_the_kernel_is_an_error() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    writer.publish(SIZE as u64 + 8);
    assert!(matches!(reader.refresh(), Err(Error::Positions(_))));
}

#[test]
fn records_after_a_break_stay_unread() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    (0..3).for_each(|n| assert!(writer.write(&[n])));
    reader.refresh().unwrap();
    let mut discarded = 0;
    let mut batch = BpfBatch::new(&mut reader, &mut discarded);
    assert_eq!(batch.records().next().unwrap().unwrap(), [0]);
    batch.release();
    assert_eq!(writer.released(), 16);
    drop(batch);
    assert_eq!(read(&mut reader).0, [[1], [2]]);
}

#[test]
fn a_child_of_fork_reads_nothing() {
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    assert!(writer.write(b"parent"));
    assert!(in_child(|| reader.refresh() == Err(Error::Forked) && !reader.has_committed()));
    assert_eq!(read(&mut reader).0, [b"parent"]);
}

#[test]
fn two_threads_pass_every_record_in_order() {
    const RECORDS: u32 = 20_000;
    let mut writer = BpfWriter::new(SIZE);
    let mut reader = writer.reader();
    let write = move || {
        for n in 0..RECORDS {
            let data = [n.to_ne_bytes(); 9].concat();
            while !writer.write(&data[..4 + n as usize % 32]) {
                std::thread::yield_now();
            }
        }
    };
    let thread = std::thread::spawn(write);
    let mut expected = 0;
    while expected < RECORDS {
        let (records, _) = read(&mut reader);
        for record in records {
            assert_eq!(record.len(), 4 + expected as usize % 32);
            assert_eq!(record[..4], expected.to_ne_bytes());
            expected += 1;
        }
    }
    thread.join().unwrap();
}
