//! Tests with a simulated ring.

use perf_ring::sys::Error as SysError;

use super::map::Writer;
use super::*;
use child::in_child;

#[allow(dead_code)] // the tests of perf-ring use the rest
#[path = "../../tests/support/child.rs"]
mod child;

/// The data of the records that one batch returns, and the number of discarded ones.
fn read(consumer: &mut Consumer) -> (Vec<Vec<u8>>, u64) {
    let (mut copies, mut discarded) = (Vec::new(), 0);
    consumer.refresh().unwrap();
    let mut batch = RingBufBatch::new(consumer, &mut copies, &mut discarded);
    let records = batch.records().map(|record| record.unwrap().to_vec()).collect();
    drop(batch);
    (records, discarded)
}

/// Longer than a page of 4 KiB, because the mapping of the reader starts at a page.
const SIZE: usize = 1 << 16;

#[test]
fn records_are_returned_without_padding_and_released() {
    let mut writer = Writer::new(SIZE);
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
    let mut writer = Writer::new(SIZE).at(SIZE as u64 * 3 - 16);
    let mut reader = writer.reader();
    let data: Vec<u8> = (0..100).collect();
    assert!(writer.write(&data));
    assert_eq!(read(&mut reader).0, [data]);
    assert_eq!(writer.released(), SIZE as u64 * 3 - 16 + 112);
}

#[test]
fn positions_of_32_bits_wrap() {
    let start = u64::from(u32::MAX) - 7;
    let mut writer = Writer::new(SIZE).at(start);
    let mut reader = writer.reader();
    assert!(writer.write(b"wrapped"));
    assert_eq!(read(&mut reader).0, [b"wrapped"]);
    assert_eq!(writer.released(), start + 16);
}

#[test]
fn reserved_record_ends_the_iteration_until_it_is_committed() {
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    let first = writer.reserve(b"first").unwrap();
    assert!(writer.write(b"second"));
    assert!(!reader.has_committed());
    reader.refresh().unwrap();
    let (mut copies, mut discarded) = (Vec::new(), 0);
    let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
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
    let mut writer = Writer::new(SIZE);
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
    let mut writer = Writer::new(SIZE);
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
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    assert!((0..9).all(|_| writer.write(b"12345678")));
    writer.store_header(9 * 16, 8);
    writer.publish(9 * 16 + 8);
    reader.refresh().unwrap();
    let (mut copies, mut discarded) = (Vec::new(), 0);
    let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
    let last = batch.records().last();
    assert!(matches!(last, Some(Err(Error::RingBufRecord { at: 144, len: 8, available: 8 }))));
}

#[test]
fn length_beyond_the_unread_bytes_is_an_error_that_consumes_them() {
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    assert!(writer.write(b"12345678"));
    writer.store_header(0, 9);
    reader.refresh().unwrap();
    let (mut copies, mut discarded) = (Vec::new(), 0);
    let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
    let mut records = batch.records();
    let error = records.next().unwrap().unwrap_err();
    assert!(matches!(error, Error::RingBufRecord { at: 0, len: 9, available: 16 }));
    assert!(error.to_string().contains("within the 16 unread bytes at 0, found one of 9"), "{error}");
    assert!(records.next().is_none());
    drop(records);
    drop(batch);
    assert_eq!(writer.released(), 16);
}

#[test]
fn impossible_position_of_the_kernel_is_an_error() {
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    writer.publish(SIZE as u64 + 8);
    assert!(matches!(reader.refresh(), Err(Error::Event(perf_ring::Error::Sys(SysError::Positions { .. })))));
}

#[test]
fn records_after_a_break_stay_unread() {
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    (0..3).for_each(|n| assert!(writer.write(&[n])));
    reader.refresh().unwrap();
    let (mut copies, mut discarded) = (Vec::new(), 0);
    let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
    assert_eq!(batch.records().next().unwrap().unwrap(), [0]);
    batch.release();
    assert_eq!(writer.released(), 16);
    drop(batch);
    assert_eq!(read(&mut reader).0, [[1], [2]]);
}

#[test]
fn a_child_of_fork_reads_nothing() {
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    assert!(writer.write(b"parent"));
    assert!(in_child(|| {
        matches!(reader.refresh(), Err(Error::Event(perf_ring::Error::Sys(SysError::Forked))))
            && !reader.has_committed()
    }));
    assert_eq!(read(&mut reader).0, [b"parent"]);
}

#[test]
fn two_threads_pass_every_record_in_order() {
    const RECORDS: u32 = 20_000;
    let mut writer = Writer::new(SIZE);
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

#[test]
fn records_that_another_reader_releases_do_not_change() {
    let mut writer = Writer::new(SIZE);
    // Like a reader in another process, which does not see the claim of this one.
    let (mut reader, mut other) = (writer.reader(), writer.reader());
    let (mut copies, mut discarded) = (Vec::new(), 0);
    (0..3).for_each(|n| assert!(writer.write(&[n; 12])));
    reader.refresh().unwrap();
    let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
    let records: Vec<_> = batch.records().map(|record| record.unwrap()).collect();
    assert_eq!(read(&mut other).0.len(), 3);
    while writer.write(&[255; 1 << 10]) {}
    assert_eq!(records, [[0; 12], [1; 12], [2; 12]]);
    drop(batch);
    assert_eq!(writer.released(), 3 * 24, "the position of the other reader stays");
}

#[test]
fn another_reader_is_reported_once_and_the_next_batch_starts_at_its_position() {
    let mut writer = Writer::new(SIZE);
    let (mut reader, mut other) = (writer.reader(), writer.reader());
    assert!(writer.write(b"first"));
    assert_eq!(read(&mut other).0, [b"first"]);
    assert!(reader.has_committed(), "a wait returns, so that a batch can report it");
    assert!(matches!(reader.refresh(), Err(Error::RingBufShared { expected: 0, found: 16 })));
    assert!(!reader.has_committed());
    assert!(writer.write(b"second"));
    assert_eq!(read(&mut reader).0, [b"second"]);
    let text = other.refresh().unwrap_err().to_string();
    assert!(text.contains("expected position 16, found 32: end the other reader"), "{text}");
}

#[test]
fn release_after_another_reader_is_left_out_and_reported() {
    let mut writer = Writer::new(SIZE);
    let (mut reader, mut other) = (writer.reader(), writer.reader());
    (0..2).for_each(|n| assert!(writer.write(&[n])));
    let (mut copies, mut discarded) = (Vec::new(), 0);
    reader.refresh().unwrap();
    let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
    assert!(batch.records().next().is_some());
    assert_eq!(read(&mut other).0.len(), 2);
    drop(batch);
    assert_eq!(writer.released(), 32);
    assert!(matches!(reader.refresh(), Err(Error::RingBufShared { expected: 0, found: 32 })));
}

#[test]
fn any_position_and_any_header_of_another_process_are_survived() {
    let mut writer = Writer::new(SIZE);
    let mut reader = writer.reader();
    let mut random = 1_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 16
    };
    for round in 0..10_000 {
        let position = next() % (4 * SIZE as u64);
        match round % 4 {
            0 => writer.store_position(position),
            1 => writer.publish(position),
            2 => writer.store_header(position & !7, next() as u32 >> (next() % 32)),
            _ => writer.store_position(next()),
        }
        let _ = reader.has_committed();
        let (mut copies, mut discarded) = (Vec::new(), 0);
        if reader.refresh().is_ok() {
            let mut batch = RingBufBatch::new(&mut reader, &mut copies, &mut discarded);
            let bytes: usize = batch.records().map(|record| record.map_or(0, <[u8]>::len)).sum();
            assert!(bytes <= SIZE);
        }
    }
}

#[test]
fn map_of_another_type_or_with_other_flags_is_refused() {
    let ring = BpfMapType::RINGBUF;
    assert!(check(ring, BpfMapFlags::empty()).is_ok());
    assert!(check(ring, BpfMapFlags::NUMA_NODE).is_ok());
    for (map_type, flags) in [
        (BpfMapType::ARRAY, BpfMapFlags::empty()),
        (ring, BpfMapFlags::MMAPABLE),
        (ring, BpfMapFlags::NUMA_NODE | BpfMapFlags::from_bits_retain(1 << 19)), // BPF_F_RB_OVERWRITE
        (ring, BpfMapFlags::from_bits_retain(1 << 31)),
    ] {
        assert!(matches!(check(map_type, flags), Err(Error::NotRingBuf { .. })));
    }
}

#[test]
fn a_map_has_one_reader_at_a_time() {
    let first = Claim::new(u32::MAX).unwrap();
    assert!(matches!(Claim::new(u32::MAX), Err(Error::RingBufInUse)));
    drop(first);
    drop(Claim::new(u32::MAX).unwrap());
}
