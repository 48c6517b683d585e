//! Views of side-band records.

use std::string::ToString;
use std::vec::Vec;

use perf_abi::{Attr, AttrFlags, Misc, NamespaceLink, ReadFormat, SampleType, Software};

use super::*;
use crate::error::Error;
use crate::testing::builder::{RecordBuilder, SampleIdValues};

mod bodies;
mod kinds;
mod names;
mod trailers;

/// An event with all six fields of the trailer.
const ATTR: Attr = Attr::software(Software::DUMMY)
    .with_sample_type(
        SampleType::TID
            .union(SampleType::TIME)
            .union(SampleType::ID)
            .union(SampleType::STREAM_ID)
            .union(SampleType::CPU)
            .union(SampleType::IDENTIFIER),
    )
    .with_read_format(ReadFormat::TOTAL_TIME_ENABLED)
    .with_flags(AttrFlags::SAMPLE_ID_ALL.union(AttrFlags::BUILD_ID));
const LAYOUT: SampleLayout = SampleLayout::new(&ATTR);

/// The lowest bit of `sample_type` that has no meaning yet.
const FIRST_UNKNOWN: u32 = u64::BITS - SampleType::KNOWN.bits().leading_zeros();

const TRAILER: SampleIdValues =
    SampleIdValues { pid: 10, tid: 11, time: 12, id: 13, stream_id: 14, cpu: 15, identifier: 13 };

fn builder(kind: RecordType, misc: Misc) -> RecordBuilder {
    RecordBuilder::new(kind, misc)
}

fn body(kind: RecordType) -> RecordBuilder {
    RecordBuilder::new(kind, Misc::empty())
}

fn raw(words: &[u64]) -> RawRecord<'_> {
    RawRecord::from_words(words).unwrap()
}

/// Decodes a record with a full trailer, and checks the trailer.
fn decoded(words: &[u64]) -> Result<Record<'_>> {
    let record = raw(words).decode(&LAYOUT)?;
    let trailer = record.sample_id().unwrap();
    assert_eq!((trailer.pid(), trailer.tid(), trailer.time()), (Some(10), Some(11), Some(12)));
    assert_eq!((trailer.id(), trailer.stream_id(), trailer.cpu()), (Some(13), Some(14), Some(15)));
    assert_eq!(trailer.identifier(), Some(13));
    assert_eq!(
        (record.time(), raw(words).time(&LAYOUT), raw(words).id(&LAYOUT)),
        (Some(12), Some(12), Some(13))
    );
    assert_eq!(raw(words).sample_id(&LAYOUT), Ok(trailer));
    Ok(record)
}

fn finish(builder: RecordBuilder) -> Vec<u64> {
    builder.with_trailer(&ATTR, &TRAILER).finish()
}

/// Returns the fields of a record as text.
fn text(record: &Record<'_>) -> Vec<std::string::String> {
    record.fields().map(|field| field.to_string()).collect()
}
