//! Inputs that are small and ask for much time or memory.

// Other systems write the zeros of a long file to the disk.
#![cfg(unix)]

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write as _};
use std::time::{Duration, Instant};

use crate::support::made_up::{attr, file, pipe, record, sample};
use crate::support::read::times;
use perf_abi::{Attr, AttrFlags, SampleType, Software};
use perf_file::format::{Feature, RawFileHeader, Section, record_type};
use perf_file::{FeatureBuf, FileEvents, Reader, Reason};
use zerocopy::{FromBytes as _, IntoBytes as _};

/// Much more than these inputs need on a busy machine, and much less than quadratic time.
const LIMIT: Duration = Duration::from_secs(20);

/// Returns the attr of an event whose samples have an id and nothing else.
fn with_id() -> Attr {
    Attr::software(Software::CPU_CLOCK)
        .with_sample_type(SampleType::IDENTIFIER)
        .with_flags(AttrFlags::SAMPLE_ID_ALL)
}

#[test]
fn events_between_records_do_not_take_quadratic_time() {
    const EVENTS: u64 = 40_000;
    let mut orders: Vec<Vec<u64>> = vec![(1..=EVENTS).collect(), (1..=EVENTS).rev().collect()];
    // Both ends in turn.
    orders.push((1..=EVENTS / 2).flat_map(|id| [id, EVENTS + 1 - id]).collect());
    for ids in orders {
        let mut records = Vec::new();
        for id in &ids {
            let event = [with_id().as_bytes(), id.as_bytes()].concat();
            records.extend([record(record_type::HEADER_ATTR, &event), sample(*id)]);
        }
        let bytes = pipe(&records);
        let start = Instant::now();
        let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
        let mut found = 0;
        while let Some(record) = reader.next().unwrap() {
            if record.kernel().is_some() {
                assert_eq!(record.event().unwrap().0, found);
                found += 1;
            }
        }
        assert_eq!((found as u64, reader.events().repeated_ids()), (EVENTS, 0));
        assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    }
}

/// Returns a file with `count` events, each with one id, and its length.
fn file_with_events(count: u64) -> Vec<u8> {
    let entry = u64::from(Attr::SIZE) + 16;
    let mut header = RawFileHeader::read_from_prefix(&file(&[])).unwrap().0;
    header.attrs = Section { offset: RawFileHeader::SIZE, size: count * entry };
    header.data = Section { offset: RawFileHeader::SIZE + count * (entry + 8), size: 16 };
    let mut bytes = header.as_bytes().to_vec();
    for id in 0..count {
        let ids = Section { offset: header.attrs.end().unwrap() + 8 * id, size: 8 };
        bytes.extend(with_id().as_bytes());
        bytes.extend(ids.as_bytes());
    }
    for id in 1..=count {
        bytes.extend(id.as_bytes());
    }
    bytes.extend(sample(count));
    bytes
}

#[test]
fn file_with_the_most_events_is_opened_in_linear_time() {
    let most = FileEvents::MAX as u64;
    let bytes = file_with_events(most);
    let start = Instant::now();
    let mut reader = Reader::from_file(Cursor::new(&bytes)).unwrap();
    assert_eq!(reader.events().as_slice().len() as u64, most);
    let record = reader.next().unwrap().unwrap();
    assert_eq!(record.event().unwrap().0 as u64, most - 1);
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
    let error = Reader::from_bytes(&file_with_events(most + 1)).unwrap_err();
    assert!(matches!(error.reason, Reason::Limit { what: "events", .. }), "{error}");
}

#[test]
fn pipe_with_more_than_the_most_events_is_an_error() {
    let event = record(record_type::HEADER_ATTR, with_id().as_bytes());
    let bytes = pipe(&vec![event; FileEvents::MAX + 1]);
    let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
    let error = loop {
        if let Err(error) = reader.next() {
            break error;
        }
    };
    assert!(matches!(error.reason, Reason::Limit { what: "events", .. }), "{error}");
    assert_eq!(reader.events().as_slice().len(), FileEvents::MAX);
}

/// A file of a few blocks on the disk that is much longer, removed on drop.
struct Sparse(std::path::PathBuf);

impl Sparse {
    fn new(name: &str, len: u64, start: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("perf-file-{name}-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        file.write_all(start).unwrap();
        file.set_len(len).unwrap();
        Self(path)
    }
}

impl Drop for Sparse {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn sections_of_gigabytes_in_a_sparse_file_are_refused_at_once() {
    const LEN: u64 = 6 << 30;
    let start = Instant::now();
    let whole = file(&[]);
    let header = RawFileHeader::read_from_prefix(&whole).unwrap().0;
    // All attrs are zeros, of 64 bytes, or of a page each.
    for (attr_size, size) in [(80, (LEN - 4096) / 80 * 80), (4112, 4112 * 60_000)] {
        let attrs = RawFileHeader { attr_size, attrs: Section { offset: 4096, size }, ..header };
        let sparse = Sparse::new("attrs", LEN, attrs.as_bytes());
        let error = Reader::open(&sparse.0).unwrap_err();
        assert!(matches!(error.reason, Reason::Limit { what: "bytes of the attrs", .. }), "{error}");
    }
    // The section of ids is the end of the only entry.
    let end = header.attrs.end().unwrap() as usize;
    let mut ids = whole.clone();
    ids[end - 16..end].copy_from_slice([4096, 3_u64 << 30].as_bytes());
    let sparse = Sparse::new("ids", LEN, &ids);
    let error = Reader::open(&sparse.0).unwrap_err();
    assert!(matches!(error.reason, Reason::Limit { what: "ids of all events", .. }), "{error}");
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

#[test]
fn feature_section_of_gigabytes_in_a_sparse_file_is_refused() {
    let mut bytes = file(&[sample(5)]);
    let (header, _) = RawFileHeader::mut_from_prefix(&mut bytes).unwrap();
    header.features.insert(Feature::HOSTNAME);
    bytes.extend([4096_u64, 3 << 30].as_bytes());
    let sparse = Sparse::new("feature", 4 << 30, &bytes);
    let mut reader = Reader::open(&sparse.0).unwrap();
    let error = reader.hostname().unwrap_err();
    assert!(matches!(error.reason, Reason::Limit { limit: FeatureBuf::MAX_LEN, .. }), "{error}");
    assert!(reader.verify_features().is_err());
    assert_eq!(reader.next().unwrap().unwrap().time(), Some(5));
}

/// Returns an `AUXTRACE` record before data of this length.
fn auxtrace(size: u64) -> Vec<u8> {
    // size, offset, reference; idx, tid; cpu, reserved
    record(record_type::AUXTRACE, [size, 0, 0, 0, 0].as_bytes())
}

#[test]
fn aux_data_of_gigabytes_is_skipped_without_reading_it() {
    const SIZE: u64 = 1 << 36;
    let mut bytes = file(&[auxtrace(SIZE)]);
    let (header, _) = RawFileHeader::mut_from_prefix(&mut bytes).unwrap();
    header.data.size += SIZE + 16;
    let end = header.data.end().unwrap();
    let sparse = Sparse::new("aux", end, &bytes);
    let mut file = File::options().write(true).open(&sparse.0).unwrap();
    file.seek(SeekFrom::Start(end - 16)).unwrap();
    file.write_all(&sample(7)).unwrap();
    let start = Instant::now();
    let mut reader = Reader::open(&sparse.0).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().kind(), record_type::AUXTRACE);
    let record = reader.next().unwrap().unwrap();
    assert_eq!((record.time(), record.place().offset()), (Some(7), end - 16));
    assert!(reader.next().unwrap().is_none());
    assert!(start.elapsed() < LIMIT, "{:?}", start.elapsed());
}

/// Counts the bytes that are read.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1 += read as u64;
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn aux_data_is_skipped_in_files_and_read_in_pipes() {
    let bytes = pipe(&[auxtrace(4 << 20), vec![3; 4 << 20], sample(7), auxtrace(8), vec![9; 8], sample(8)]);
    let event = [attr().as_bytes(), 1_u64.as_bytes()].concat();
    let with_event = pipe(&[record(record_type::HEADER_ATTR, &event), bytes[16..].to_vec()]);
    let mut counted = Counted(Cursor::new(&with_event), 0);
    assert_eq!(times(&mut Reader::from_file(&mut counted).unwrap()), [7, 8]);
    assert!(counted.1 < 1 << 20, "{} bytes", counted.1);
    assert_eq!(times(&mut Reader::from_pipe(&with_event[..]).unwrap()), [7, 8]);
}

#[test]
fn aux_data_ends_at_the_end_of_the_records() {
    // Bytes after the section of the records, as of features.
    let mut bytes = file(&[auxtrace(100), vec![3; 24]]);
    bytes.extend([7; 200]);
    let mut of_file = Reader::from_file(Cursor::new(&bytes)).unwrap();
    let mut in_memory = Reader::from_bytes(&bytes).unwrap();
    let mut payloads = [Vec::new(), Vec::new()];
    of_file.next().unwrap();
    in_memory.next().unwrap();
    for error in [of_file.read_payload(&mut payloads[0]), in_memory.read_payload(&mut payloads[1])] {
        let error = error.unwrap_err();
        assert!(matches!(error.reason, Reason::Truncated { needed: 76, available: 0, .. }), "{error}");
    }
    assert_eq!(payloads, [[3; 24], [3; 24]]);
    // The same if the data is skipped.
    let mut of_file = Reader::from_file(Cursor::new(&bytes)).unwrap();
    let mut in_memory = Reader::from_bytes(&bytes).unwrap();
    of_file.next().unwrap();
    in_memory.next().unwrap();
    for error in [of_file.next().map(drop), in_memory.next().map(drop)] {
        let error = error.unwrap_err();
        assert!(matches!(error.reason, Reason::Truncated { needed: 76, available: 0, .. }), "{error}");
    }
}
