//! Captured files that are read, written and read again.

use std::io::Cursor;

use crate::support::data;
use crate::support::read::all;
use perf_file::format::{Feature, record_type};
use perf_file::record::{EventUpdate, Update};
use perf_file::writer::{Features, RecordedEvent, Writer};
use perf_file::{FileRecord, PerfData, Reader, UserRecord};

/// The content of a file without what its form adds.
#[derive(Debug, PartialEq)]
struct Content {
    events: Vec<(Vec<u8>, Vec<u64>)>,
    records: Vec<Vec<u8>>,
}

/// Records by which the pipe form describes events and features, and those with data after them.
fn is_of_form(record: &FileRecord<'_>) -> bool {
    let is_name = |update: EventUpdate<'_>| matches!(update.update, Update::Name(_));
    let kinds = [
        record_type::HEADER_ATTR,
        record_type::HEADER_FEATURE,
        record_type::HEADER_TRACING_DATA,
        record_type::HEADER_BUILD_ID,
        record_type::AUXTRACE,
        record_type::COMPRESSED,
        record_type::COMPRESSED2,
    ];
    kinds.contains(&record.kind())
        || matches!(record.user(), Ok(UserRecord::EventUpdate(update)) if is_name(update))
}

fn read(bytes: &[u8]) -> Content {
    let mut reader = Reader::from_bytes(bytes).unwrap();
    let records = all(&mut reader, |record| (!is_of_form(&record)).then(|| record.bytes().to_vec()));
    let records = records.into_iter().flatten().collect();
    // Each attr has the length of the longest one in the file.
    let attr = |event: &perf_file::FileEvent| event.attr.with_size(0);
    let events = reader.events().as_slice().iter();
    let events =
        events.map(|event| (zerocopy::IntoBytes::as_bytes(&attr(event)).to_vec(), event.ids.clone()));
    Content { events: events.collect(), records }
}

fn events(bytes: &[u8]) -> Vec<RecordedEvent> {
    let mut reader = Reader::from_bytes(bytes).unwrap();
    while reader.next().unwrap().is_some() {}
    let events = reader.events().as_slice().iter();
    events
        .map(|event| {
            let name = String::from_utf8(event.name().expect("a name").to_vec()).expect("UTF-8");
            RecordedEvent::new(event.attr, name).with_ids(event.ids.iter().copied())
        })
        .collect()
}

/// Returns the sections of the file form, if they have the byte order of this machine: read and
/// written again, they are the same bytes.
fn features(bytes: &[u8]) -> Features {
    let file = PerfData::new(bytes).unwrap();
    let mut features = Features::new();
    if file.order().is_native() {
        for section in file.features() {
            let section = section.unwrap();
            assert!(features.set(section.feature, &section.data().unwrap()), "{}", section.feature);
            assert_eq!(features.get(section.feature), Some(section.bytes), "{}", section.feature);
        }
    }
    features.remove(Feature::COMPRESSED);
    features
}

fn write<W: std::io::Write>(mut writer: Writer<W>, content: &Content, features: &Features) -> W {
    for record in &content.records {
        if record[..4] == record_type::FINISHED_ROUND.0.to_ne_bytes() {
            writer.finish_round().unwrap();
        } else {
            writer.write_records(record).unwrap();
        }
    }
    writer.finish(features).unwrap()
}

/// Calls `check` with each captured file: name, bytes, events, content, features.
fn for_each(mut check: impl FnMut(&str, &[RecordedEvent], &Content, &Features)) {
    let mut files = 0;
    for name in data::names() {
        let bytes = data::file(&name);
        let (events, content, features) = (events(&bytes), read(&bytes), features(&bytes));
        check(&name, &events, &content, &features);
        files += 1;
    }
    assert!(files > 20, "{files} files");
}

#[test]
fn file_form_keeps_events_records_and_features() {
    for_each(|name, events, content, features| {
        let file = Cursor::new(Vec::new());
        let written = write(Writer::file(file, events).unwrap(), content, features).into_inner();
        assert_eq!(&read(&written), content, "{name}");
        let found: Vec<_> = PerfData::new(&written).unwrap().features().map(Result::unwrap).collect();
        let found: Vec<_> = found.iter().map(|section| (section.feature, section.bytes)).collect();
        assert_eq!(found, features.iter().collect::<Vec<_>>(), "{name}");
    });
}

#[test]
fn pipe_form_keeps_events_and_records() {
    for_each(|name, events, content, features| {
        let written = write(Writer::pipe(Vec::new(), events, features).unwrap(), content, features);
        assert_eq!(&read(&written), content, "{name}");
        let (found, expected) = (self::events(&written), events);
        let names =
            |events: &[RecordedEvent]| events.iter().map(|event| event.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&found), names(expected), "{name}");
    });
}

#[test]
#[cfg(feature = "zstd")]
fn compressed_files_keep_events_and_records() {
    for_each(|name, events, content, features| {
        let writer = Writer::file(Cursor::new(Vec::new()), events).unwrap().compressed().unwrap();
        let written = write(writer, content, features).into_inner();
        assert_eq!(&read(&written), content, "{name}");
    });
}

#[test]
fn interrupted_recordings_keep_their_records() {
    for_each(|name, events, content, _| {
        let mut file = Vec::new();
        let mut writer = Writer::file(Cursor::new(&mut file), events).unwrap();
        writer.write_records(&content.records.concat()).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert_eq!(&read(&file), content, "{name}");
    });
}
