//! Files whose header, attrs or features contradict themselves: an error with its reason, at the
//! opening or when features are read.

use std::io::Cursor;

use crate::support::data;
use crate::support::made_up::{file, pipe, record, sample};
use perf_abi::{Attr, Software};
use perf_file::feature::SampleTime;
use perf_file::format::{Feature, RawFileHeader, Section, record_type};
use perf_file::writer::{Features, RecordedEvent, Writer};
use perf_file::{Error, FeatureData, PerfData, Reader, Reason, Result};
use zerocopy::{FromBytes as _, IntoBytes as _};

/// Returns the bytes with a change of their header.
fn changed(bytes: &[u8], change: impl FnOnce(&mut RawFileHeader)) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let (header, _) = RawFileHeader::mut_from_prefix(&mut bytes).unwrap();
    change(header);
    bytes
}

fn header(bytes: &[u8]) -> RawFileHeader {
    RawFileHeader::read_from_prefix(bytes).unwrap().0
}

/// Returns the error of the opening, which is the same for a file in memory.
fn refused(bytes: &[u8]) -> Error {
    let of_file = Reader::from_file(Cursor::new(bytes)).unwrap_err();
    let in_memory = Reader::from_bytes(bytes).unwrap_err();
    assert_eq!(of_file.to_string(), in_memory.to_string());
    of_file
}

#[test]
fn attrs_in_the_header_are_refused() {
    let bytes = data::file("clock-tai");
    for offset in [0, 8, 103] {
        let error = refused(&changed(&bytes, |header| header.attrs.offset = offset));
        assert!(matches!(error.reason, Reason::Overlap { what: "attrs", with: "header" }), "{error}");
    }
    let error = refused(&changed(&bytes, |header| header.data.offset = 16));
    assert!(matches!(error.reason, Reason::Overlap { what: "records", with: "header" }), "{error}");
    let error = refused(&changed(&bytes, |header| header.data = Section { offset: 16, size: 0 }));
    assert!(matches!(error.reason, Reason::Overlap { what: "records", with: "header" }), "{error}");
    let error = refused(&changed(&bytes, |header| header.attrs.offset = header.data.offset));
    assert!(matches!(error.reason, Reason::Overlap { what: "attrs", with: "records" }), "{error}");
}

#[test]
fn attr_whose_size_is_not_that_of_the_header_is_refused() {
    let bytes = data::file("clock-tai");
    let at = header(&bytes).attrs.offset as usize + 4;
    for size in [0, 1, 63, 1000, 0x7fff_ffff, u32::MAX] {
        let mut bytes = bytes.clone();
        bytes[at..at + 4].copy_from_slice(size.as_bytes());
        let error = refused(&bytes);
        assert!(matches!(error.reason, Reason::AttrLength { found, .. } if found == size), "{error}");
        assert_eq!(error.offset, Some(at as u64));
    }
}

#[test]
fn attr_of_a_pipe_whose_size_no_attr_has_is_refused() {
    for (size, is_read) in [(0_u32, true), (1, false), (63, false), (64, true), (4104, false)] {
        let mut event = vec![0; 4200];
        event[4..8].copy_from_slice(size.as_bytes());
        let bytes = pipe(&[record(record_type::HEADER_ATTR, &event)]);
        let mut reader = Reader::from_pipe(&bytes[..]).unwrap();
        let found = reader.next().map(drop);
        let is_refused = matches!(
            found.map_err(|error| matches!(error.reason, Reason::Size { what: "an attr", .. })),
            Err(true)
        );
        assert_eq!(is_refused, !is_read, "{size}");
    }
}

#[test]
fn header_of_another_size_is_refused() {
    let bytes = file(&[sample(5)]);
    for size in [0, 1, 15, 17, 71, 73, 80, 103, 105, 0x7fff_ffff, 1 << 63, u64::MAX] {
        let error = refused(&changed(&bytes, |header| header.size = size));
        assert!(matches!(error.reason, Reason::Size { found, .. } if found == size), "{error}");
    }
}

#[test]
fn attrs_that_are_no_whole_entries_are_refused() {
    let bytes = data::file("clock-tai");
    let entry = header(&bytes).attr_size;
    for size in [1, entry - 1, entry + 1, 2 * entry - 8] {
        let error = refused(&changed(&bytes, |header| header.attrs.size = size));
        assert!(matches!(error.reason, Reason::AttrsSize { found, .. } if found == size), "{error}");
    }
}

#[test]
fn starts_that_are_no_recording_are_named() {
    let text = |bytes: &[u8]| {
        let error = Reader::from_file(Cursor::new(bytes)).unwrap_err();
        assert_eq!(
            (error.offset, Reader::from_pipe(bytes).unwrap_err().to_string()),
            (None, error.to_string())
        );
        error.to_string()
    };
    assert!(text(b"").contains("empty"));
    assert!(text(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]).contains("gzip"));
    assert!(text(&[0x28, 0xb5, 0x2f, 0xfd, 0]).contains("zstd"));
    assert!(text(b"\xfd7zXZ\0\0").contains("xz"));
    // Only the bytes that are there.
    assert!(text(b"abc").ends_with("found \"abc\""));
}

/// Returns a recording with three features.
fn with_features() -> Vec<u8> {
    let event = RecordedEvent::new(Attr::software(Software::CPU_CLOCK), "cpu-clock");
    let mut features = Features::new();
    features.set(Feature::HOSTNAME, &FeatureData::Text(b"some-host"));
    features.set(Feature::TOTAL_MEM, &FeatureData::TotalMemory(99));
    features.set(Feature::SAMPLE_TIME, &FeatureData::SampleTime(SampleTime { first: 3, last: 4 }));
    let mut writer = Writer::file(Cursor::new(Vec::new()), &[event]).unwrap();
    writer.write_records(&record(record_type::FINISHED_ROUND, &[])).unwrap();
    writer.finish(&features).unwrap().into_inner()
}

/// Verifies the features in both readers, and returns the error.
fn verified(bytes: &[u8]) -> Result<()> {
    let mut reader = Reader::from_file(Cursor::new(bytes)).unwrap();
    let of_file = reader.verify_features();
    // The records are the same as without.
    assert_eq!(reader.next().unwrap().unwrap().kind(), record_type::FINISHED_ROUND);
    let in_memory = PerfData::new(bytes).unwrap().verify_features();
    let text = |result: &Result<()>| result.as_ref().err().map(ToString::to_string);
    assert_eq!(text(&of_file).is_some(), text(&in_memory).is_some(), "{of_file:?} {in_memory:?}");
    of_file
}

#[test]
fn captured_features_are_well_formed() {
    let mut files = 0;
    for name in data::names() {
        let bytes = data::file(&name);
        Reader::from_file(Cursor::new(&bytes)).unwrap().verify_features().expect(&name);
        PerfData::new(&bytes).unwrap().verify_features().expect(&name);
        files += 1;
    }
    assert!(files > 40);
}

#[test]
fn feature_table_truncated_anywhere_is_an_error() {
    let bytes = with_features();
    verified(&bytes).unwrap();
    let table = header(&bytes).data.end().unwrap() as usize;
    for len in table..bytes.len() {
        let error = verified(&bytes[..len]).unwrap_err();
        assert!(matches!(error.reason, Reason::Truncated { .. }), "{len}: {error}");
    }
}

#[test]
fn feature_sections_that_overlap_are_an_error() {
    let bytes = with_features();
    let RawFileHeader { data, attrs, .. } = header(&bytes);
    let table = data.end().unwrap() as usize;
    let entry = |index: usize| -> [u64; 2] {
        let at = table + 16 * index;
        <[u64; 2]>::read_from_bytes(&bytes[at..at + 16]).unwrap()
    };
    let [second, third] = [entry(1)[0], entry(2)[0]];
    for (offset, with) in [
        (0, "header"),
        (96, "header"),
        (attrs.offset, "attrs"),
        (data.offset, "records"),
        (table as u64, "table of features"),
        (third, "TOTAL_MEM"),
        (second - 8, "HOSTNAME"),
    ] {
        let mut changed = bytes.clone();
        changed[table + 16..table + 24].copy_from_slice(offset.as_bytes());
        let error = verified(&changed).unwrap_err();
        assert!(matches!(error.reason, Reason::Overlap { .. }), "{offset}: {error}");
        assert!(error.to_string().contains(with), "{offset}: {error}");
    }
    let endless = changed(&bytes, |header| header.data.size = u64::MAX);
    assert!(verified(&endless).is_err());
    for offset in [bytes.len() as u64, u64::MAX - 7, 1 << 62] {
        let mut changed = bytes.clone();
        changed[table + 16..table + 24].copy_from_slice(offset.as_bytes());
        let error = verified(&changed).unwrap_err();
        assert!(matches!(error.reason, Reason::Truncated { .. }), "{offset}: {error}");
    }
}

#[test]
fn malformed_content_of_a_feature_is_an_error_and_the_others_are_read() {
    let mut bytes = with_features();
    let table = header(&bytes).data.end().unwrap() as usize;
    let host = u64::read_from_prefix(&bytes[table..]).unwrap().0 as usize;
    bytes[host..host + 4].copy_from_slice(&[0xff; 4]);
    let error = verified(&bytes).unwrap_err();
    assert_eq!(error.offset, Some(host as u64 + 4), "{error}");
    let mut reader = Reader::from_file(Cursor::new(&bytes)).unwrap();
    assert!(reader.hostname().is_err());
    assert_eq!(reader.total_memory().unwrap(), Some(99));
}
