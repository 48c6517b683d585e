//! Any words as one record of an event with any attr, and with attrs that are constants. Input: an
//! attr, then the record.
#![no_main]

use std::hint::black_box;

use libfuzzer_sys::fuzz_target;
use perf_abi::RecordType;
use perf_decode::{RawRecord, Record, SampleLayout};
use perfkit_fuzz::{Input, accessors, constant};

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input::new(bytes);
    let layout = SampleLayout::new(&input.attr());
    let words = input.record();
    if words.is_empty() {
        return;
    }
    let raw = RawRecord::from_words(&words).expect("its size is right");
    let same = RawRecord::from_bytes(raw.bytes()).expect("a record's own bytes are a record");
    assert_eq!(same, raw);
    black_box((raw.kind(), raw.misc(), format!("{raw:?}")));
    constant::all_agree(raw);
    let (time, id) = (raw.time(&layout), raw.id(&layout));
    let trailer = raw.sample_id(&layout);
    match raw.decode(&layout) {
        Ok(record) => {
            accessors::read(&record);
            let trailer = trailer.expect("the trailer of a valid record");
            assert_eq!(
                record.sample_id().is_none(),
                matches!(record, Record::Sample(_) | Record::Unknown(_))
            );
            assert!(record.sample_id().is_none_or(|own| own == trailer));
            if let Record::Sample(sample) = record {
                assert!(trailer.is_empty());
                assert_eq!((time, id), (sample.time(), sample.identifier().or(sample.id())));
                let head = raw.sample_head(&layout).expect("a whole sample has its head");
                assert_eq!((head.ip(), head.period()), (sample.ip(), sample.period()));
            } else {
                assert_eq!(time, record.time());
                assert_eq!(id, trailer.identifier().or(trailer.id()));
            }
        }
        Err(error) => {
            assert_eq!(trailer.err(), Some(error));
            assert_ne!(raw.kind(), RecordType(0), "unknown kinds always decode");
            black_box(format!("{error}"));
        }
    }
});
