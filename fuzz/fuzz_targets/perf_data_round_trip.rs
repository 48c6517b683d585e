//! A file that is read, written in each form, and read again: the records are the same.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use perf_file::Reader;
use perf_file::format::record_type;
use perf_file::writer::{Features, RecordedEvent, Writer};

/// Records of the kernel, whose content does not depend on the form.
type Records = Vec<Vec<u8>>;

/// Returns the events and the kernel's records up to the first error.
fn read(bytes: &[u8]) -> Option<(Vec<RecordedEvent>, Records)> {
    let mut reader = Reader::from_bytes(bytes).ok()?.without_decompression();
    let mut records = Records::new();
    while let Ok(Some(record)) = reader.next() {
        if record.kind().0 < record_type::FIRST.0 {
            records.push(record.bytes().to_vec());
        }
    }
    let events = reader.events().as_slice().iter();
    let events =
        events.map(|event| RecordedEvent::new(event.attr, "event").with_ids(event.ids.iter().copied()));
    Some((events.collect(), records))
}

fuzz_target!(|bytes: &[u8]| {
    let Some((events, records)) = read(bytes) else { return };
    let ids = |events: &[RecordedEvent]| events.iter().map(|event| event.ids.clone()).collect::<Vec<_>>();
    let check = |written: &[u8]| {
        let (found_events, found) = read(written).expect("a written file is read");
        assert_eq!(found, records);
        assert_eq!(ids(&found_events), ids(&events));
    };
    let mut file = Writer::file(Cursor::new(Vec::new()), &events).expect("memory");
    records.iter().for_each(|record| file.write_records(record).expect("memory"));
    file.finish_round().expect("memory");
    check(&file.finish(&Features::new()).expect("memory").into_inner());
    // An event with too many ids for a record is an error.
    if let Ok(mut pipe) = Writer::pipe(Vec::new(), &events, &Features::new()) {
        records.iter().for_each(|record| pipe.write_records(record).expect("memory"));
        check(&pipe.finish(&Features::new()).expect("memory"));
    }
});
