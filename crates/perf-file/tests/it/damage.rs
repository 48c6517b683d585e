//! Truncated, malformed and hostile files: whole records are returned, then one error.

use std::io::{self, Cursor, ErrorKind, Read};

use crate::support::data;
use crate::support::made_up::{file, pipe, record, sample};
use crate::support::read::until_error;
use perf_file::format::{RawFileHeader, record_type};
use perf_file::{Error, PerfData, Reader, Reason, Source};
use zerocopy::{FromBytes as _, IntoBytes as _};

/// Returns the number of records before the end, and the error there.
fn count<S: Source>(mut reader: Reader<S>) -> (usize, Option<Error>) {
    let (records, error) = until_error(&mut reader, |_| ());
    (records.len(), error)
}

#[test]
fn file_truncated_anywhere_gives_its_whole_records() {
    truncated(&data::file("clock-tai"), 17);
    truncated(&file(&[sample(1), record(record_type::FINISHED_ROUND, &[]), sample(2)]), 1);
}

/// Truncates a file at every `step`-th byte.
fn truncated(bytes: &[u8], step: usize) {
    let file = PerfData::new(bytes).unwrap();
    let ends: Vec<usize> = file
        .frames()
        .map(|frame| frame.unwrap())
        .map(|frame| frame.offset as usize + frame.bytes.len())
        .collect();
    let start = file.header().records(0).offset as usize;
    for len in (0..bytes.len()).step_by(step) {
        let in_memory = Reader::from_bytes(&bytes[..len]).map(count);
        let of_file = Reader::from_file(Cursor::new(&bytes[..len])).map(count);
        let text = |result: &Result<(usize, Option<Error>), Error>| {
            result.as_ref().map_or("malformed".to_owned(), |found| format!("{found:?}"))
        };
        assert_eq!(text(&in_memory), text(&of_file), "{len}");
        let frames: Vec<_> = PerfData::new(&bytes[..len]).map_or(Vec::new(), |file| file.frames().collect());
        if len < start {
            assert!(in_memory.is_err(), "{len}");
            continue;
        }
        let (records, error) = in_memory.unwrap();
        let whole = ends.iter().filter(|end| **end <= len).count();
        assert_eq!(records, whole, "{len}");
        assert_eq!(frames.iter().filter(|frame| frame.is_ok()).count(), whole, "{len}");
        assert_eq!(frames.iter().filter(|frame| frame.is_err()).count(), usize::from(whole < ends.len()));
        match error {
            None => assert!(len >= *ends.last().unwrap()),
            Some(error) => {
                let next = if whole == 0 { start } else { ends[whole - 1] };
                assert_eq!(error.offset, Some(next as u64), "{error}");
            }
        }
    }
}

#[test]
fn pipe_truncated_anywhere_gives_its_whole_records() {
    let bytes = data::file("pipe-tracepoint");
    let whole = count(Reader::from_pipe(&bytes[..]).unwrap()).0;
    let mut last = 0;
    for len in (16..bytes.len()).step_by(bytes.len() / 100).chain([bytes.len() - 1]) {
        let (records, error) = count(Reader::from_pipe(&bytes[..len]).unwrap());
        assert!(records >= last && records <= whole, "{len}");
        last = records;
        if let Some(error) = error {
            assert!(error.offset.unwrap() <= len as u64, "{error}");
        }
    }
    assert_eq!(last, whole - 1);
}

#[test]
fn compressed_stream_truncated_anywhere_gives_its_whole_records() {
    let bytes = data::file("zstd");
    let whole = count(Reader::from_bytes(&bytes).unwrap()).0;
    let mut last = 0;
    for len in (632..bytes.len()).step_by(7) {
        let (records, _) = count(Reader::from_bytes(&bytes[..len]).unwrap());
        assert!(records >= last && records <= whole, "{len}");
        last = records;
    }
    assert_eq!(last, whole);
}

#[test]
fn damaged_zstd_stream_is_an_error_after_whole_records() {
    let mut bytes = data::file("zstd");
    // The magic number of the frame, after the record's header.
    bytes[640] ^= 1;
    let (records, error) = count(Reader::from_bytes(&bytes).unwrap());
    let error = error.unwrap();
    assert!(matches!(error.reason, Reason::Compressed(_)), "{error}");
    assert_eq!(error.offset, Some(632));
    assert!(records > 1);
}

#[test]
fn record_sizes_below_the_header_end_the_file() {
    for size in [0, 4, 7, 12] {
        let mut bytes = file(&[sample(5), sample(6)]);
        let second = bytes.len() - 16;
        bytes[second + 6..second + 8].copy_from_slice(&u16::to_ne_bytes(size));
        let (records, error) = count(Reader::from_bytes(&bytes).unwrap());
        assert_eq!(records, 1);
        let error = error.unwrap();
        assert!(matches!(error.reason, Reason::RecordSize { found, .. } if found == size), "{error}");
        assert_eq!(error.offset, Some(second as u64));
    }
}

#[test]
fn hostile_lengths_are_errors_without_memory() {
    let whole = file(&[sample(5)]);
    let changed = |change: fn(&mut RawFileHeader)| {
        let mut bytes = whole.clone();
        let (header, _) = RawFileHeader::mut_from_prefix(&mut bytes).unwrap();
        change(header);
        bytes
    };
    let refused = [
        changed(|header| header.attrs.size = u64::MAX),
        changed(|header| header.attrs.offset = u64::MAX),
        changed(|header| header.attr_size = u64::MAX),
        changed(|header| header.attr_size = 0),
        changed(|header| header.size = 80),
    ];
    for (index, bytes) in refused.iter().enumerate() {
        let in_memory = Reader::from_bytes(bytes).map(count);
        let of_file = Reader::from_file(Cursor::new(bytes)).map(count);
        assert!(in_memory.is_err() && of_file.is_err(), "{index}: {in_memory:?} {of_file:?}");
    }
    let longer = changed(|header| header.data.size = u64::MAX);
    let (records, error) = count(Reader::from_bytes(&longer).unwrap());
    assert_eq!((records, error.is_some()), (1, true));
    let beyond = changed(|header| header.data.offset = u64::MAX - 7);
    assert!(count(Reader::from_bytes(&beyond).unwrap()).1.is_some());
}

#[test]
fn empty_section_can_be_anywhere() {
    let mut bytes = file(&[sample(5)]);
    let ids = bytes.len() - 16 - 16;
    bytes[ids..ids + 16].copy_from_slice([u64::MAX, 0].as_bytes());
    assert_eq!(count(Reader::from_bytes(&bytes).unwrap()).0, 1);
    assert_eq!(count(Reader::from_file(Cursor::new(&bytes)).unwrap()).0, 1);
}

#[test]
fn ids_that_overlap_do_not_multiply() {
    let mut bytes = file(&[sample(5)]);
    // 100 entries that all refer to the whole file as their ids.
    let (mut header, _) = RawFileHeader::read_from_prefix(&bytes).unwrap();
    let attr_size = header.attr_size;
    header.attrs.offset = bytes.len() as u64;
    header.attrs.size = attr_size * 100;
    bytes[..104].copy_from_slice(header.as_bytes());
    let len = bytes.len() as u64 + attr_size * 100;
    for _ in 0..100 {
        bytes.extend(crate::support::made_up::attr().as_bytes());
        bytes.extend([0_u64, len / 8 * 8].as_bytes());
    }
    let in_memory = Reader::from_bytes(&bytes).unwrap_err();
    assert!(matches!(in_memory.reason, Reason::Truncated { what: "ids of all events", .. }), "{in_memory}");
    assert!(Reader::from_file(Cursor::new(&bytes)).is_err());
}

#[test]
fn ids_may_be_the_whole_file() {
    let mut bytes = file(&[sample(5)]);
    let (header, _) = RawFileHeader::read_from_prefix(&bytes).unwrap();
    // The section of ids is the end of the only entry.
    let end = header.attrs.end().unwrap() as usize;
    let ids = [0, bytes.len() as u64];
    bytes[end - 16..end].copy_from_slice(ids.as_bytes());
    let in_memory = Reader::from_bytes(&bytes).unwrap();
    let of_file = Reader::from_file(Cursor::new(&bytes)).unwrap();
    for events in [in_memory.events(), of_file.events()] {
        assert_eq!(events.as_slice()[0].ids.len(), bytes.len() / 8);
    }
}

#[test]
fn short_and_other_starts_of_a_pipe_are_distinguished() {
    let short = Reader::from_pipe(&pipe(&[])[..12]).unwrap_err();
    assert!(!matches!(short.reason, Reason::NotPipe), "{short}");
    let other = Reader::from_pipe(&[0x7f; 200][..]).unwrap_err();
    assert!(matches!(other.reason, Reason::NotPerfData { .. }), "{other}");
}

/// A stream in which every second read fails.
struct Failing<'a> {
    bytes: &'a [u8],
    kind: ErrorKind,
    fails: bool,
}

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.fails = !self.fails;
        if self.fails { Err(self.kind.into()) } else { self.bytes.read(buffer) }
    }
}

#[test]
fn interrupted_reads_are_repeated_and_other_errors_returned() {
    let bytes = pipe(&[record(record_type::FINISHED_ROUND, &[]), record(record_type::FINISHED_ROUND, &[])]);
    let stream = |kind| Failing { bytes: &bytes, kind, fails: true };
    let (records, error) = count(Reader::from_pipe(stream(ErrorKind::Interrupted)).unwrap());
    assert_eq!((records, error.is_none()), (2, true));
    let (records, error) = count(Reader::from_pipe(stream(ErrorKind::TimedOut)).unwrap());
    assert_eq!(records, 2);
    assert!(matches!(error.unwrap().reason, Reason::Io(error) if error.kind() == ErrorKind::TimedOut));
}

#[test]
fn data_after_a_record_that_is_missing_is_an_error() {
    // AUXTRACE: size, offset, reference, idx, tid, cpu, reserved
    let body = [1_u64 << 60, 0, 0, 0, 0].as_bytes().to_vec();
    for bytes in
        [file(&[record(record_type::AUXTRACE, &body)]), pipe(&[record(record_type::AUXTRACE, &body)])]
    {
        let (records, error) = count(Reader::from_bytes(&bytes).unwrap());
        assert_eq!(records, 1);
        assert!(matches!(error.unwrap().reason, Reason::Truncated { .. }));
    }
    let short = pipe(&[record(record_type::AUXTRACE, &[])]);
    assert!(matches!(count(Reader::from_bytes(&short).unwrap()), (0, Some(_))));
}

#[test]
fn data_after_a_record_is_skipped() {
    // HEADER_TRACING_DATA: size, padding
    let tracing = record(record_type::HEADER_TRACING_DATA, [13_u32, 0].as_bytes());
    let bytes = pipe(&[tracing, vec![7; 13], record(record_type::FINISHED_ROUND, &[])]);
    let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().kind(), record_type::HEADER_TRACING_DATA);
    assert_eq!(reader.next().unwrap().unwrap().kind(), record_type::FINISHED_ROUND);
    assert!(reader.next().unwrap().is_none());
    let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
    reader.next().unwrap();
    let mut payload = Vec::new();
    reader.read_payload(&mut payload).unwrap();
    reader.read_payload(&mut payload).unwrap();
    assert_eq!(payload, [7; 13]);
    assert_eq!(reader.next().unwrap().unwrap().kind(), record_type::FINISHED_ROUND);
    let frame = PerfData::new(&bytes).unwrap().frames().next().unwrap().unwrap();
    assert_eq!(frame.payload, [7; 13]);
}

#[test]
fn file_form_in_a_pipe_is_refused() {
    let error = Reader::from_pipe(&file(&[])[..]).unwrap_err();
    assert!(matches!(error.reason, Reason::NotPipe), "{error}");
}
