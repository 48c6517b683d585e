//! Positions of records, with and without copies, in memory and in streams.

use crate::support::read::{all, until_error};
use std::io::Cursor;

use crate::support::data;
use crate::support::made_up::{attr, file, pipe, record, sample};
use perf_abi::RecordType;
use perf_file::format::record_type;
use perf_file::{FileOffset, Reader, Source};
use zerocopy::IntoBytes as _;

/// A kind of tools that no tool has.
const UNKNOWN: RecordType = RecordType(10_000);

/// Returns the position and the bytes of all records, after which an error can follow.
fn places<S: Source>(mut reader: Reader<S>) -> Vec<(FileOffset, Vec<u8>)> {
    let mut places = Vec::new();
    let (mut next, mut is_user) = (reader.offset(), false);
    while let Ok(Some(record)) = reader.next() {
        if let FileOffset::Offset(offset) = record.place() {
            // Data can follow a record of tools.
            assert!(offset == next || (offset > next && is_user));
        }
        places.push((record.place(), record.bytes().to_vec()));
        is_user = record.kernel().is_none();
        next = reader.offset();
    }
    places
}

/// Returns the same records in time order.
fn sorted_places<S: Source>(reader: Reader<S>) -> Vec<(FileOffset, Vec<u8>)> {
    until_error(&mut reader.sorted(), |record| (record.place(), record.bytes().to_vec())).0
}

/// Reads a file from memory that is aligned in eight ways, and as a stream.
fn check(bytes: &[u8], name: &str) {
    let expected = places(Reader::from_file(Cursor::new(bytes)).unwrap());
    let expected_sorted = sorted_places(Reader::from_file(Cursor::new(bytes)).unwrap());
    assert!(!expected.is_empty(), "{name}");
    for shift in 0..8 {
        let shifted = [vec![0; shift], bytes.to_vec()].concat();
        let memory = shifted.get(shift..).unwrap();
        assert_eq!(places(Reader::from_bytes(memory).unwrap()), expected, "{name}, shifted by {shift}");
        let sorted = sorted_places(Reader::from_bytes(memory).unwrap());
        assert_eq!(sorted, expected_sorted, "{name}, shifted by {shift}");
    }
}

#[test]
fn places_are_the_same_in_memory_and_in_a_stream() {
    for name in data::names() {
        check(&data::file(&name), &name);
    }
}

#[test]
fn next_record_starts_where_the_last_one_ends() {
    let records = [
        sample(3),
        record(record_type::FINISHED_ROUND, &[]),
        sample(5),
        sample(4),
        // Size 12: the next ones are not aligned.
        record(UNKNOWN, &[1; 4]),
        sample(6),
        sample(7),
        // And are again.
        record(UNKNOWN, &[1; 4]),
        sample(8),
        sample(9),
    ];
    let bytes = file(&records);
    let mut reader = Reader::from_bytes(&bytes).unwrap();
    let mut offset = reader.offset();
    for expected in &records {
        let record = reader.next().unwrap().unwrap();
        assert_eq!((record.place(), record.bytes()), (FileOffset::Offset(offset), &expected[..]));
        offset += expected.len() as u64;
        assert_eq!(reader.offset(), offset);
    }
    assert!(reader.next().unwrap().is_none());
    check(&bytes, "made up");
}

#[test]
fn records_end_with_their_section() {
    let mut bytes = file(&[sample(3), sample(5), sample(4)]);
    let whole = places(Reader::from_bytes(&bytes).unwrap());
    // The feature sections follow the records, and look like records here.
    bytes.extend_from_slice(&[sample(6), sample(7)].concat());
    assert_eq!(places(Reader::from_bytes(&bytes).unwrap()), whole);
    assert_eq!(places(Reader::from_file(Cursor::new(&bytes)).unwrap()), whole);
    let mut sorted = whole.clone();
    sorted.swap(1, 2);
    assert_eq!(sorted_places(Reader::from_bytes(&bytes).unwrap()), sorted);
}

#[test]
fn aligned_records_in_memory_are_not_copied() {
    let name = "cpuclock-fp";
    // Words, so that the memory is aligned.
    let mut words = vec![0_u64; data::file(name).len().div_ceil(8)];
    let bytes = words.as_mut_bytes();
    bytes[..data::file(name).len()].copy_from_slice(&data::file(name));
    let bytes = &bytes[..data::file(name).len()];
    let range = bytes.as_ptr_range();
    let reader = || Reader::from_bytes(bytes).unwrap();
    for mut reader in [reader(), reader().sorted()] {
        all(&mut reader, |record| assert!(range.contains(&record.bytes().as_ptr())));
    }
}

#[test]
fn event_that_follows_a_sample_is_known() {
    let event = record(record_type::HEADER_ATTR, attr().as_bytes());
    let bytes = pipe(&[event.clone(), sample(3), event, sample(4)]);
    let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
    let counts = all(&mut reader, |record| (record.kernel().is_some(), record.events().len()));
    assert_eq!(counts, [(false, 1), (true, 1), (false, 2), (true, 2)]);
}
