//! One record as it is printed.

use std::fmt;

use perf_decode::{Error, Record, Result};
use serde_json::json;

use super::json::{Object, object};
use super::walk::Placed;
use super::writers::{Owner, Writers};

/// A record, its place, its event and its content.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    snapshot: usize,
    placed: Placed<'a>,
    /// `None` where no event is known or needed.
    owner: Option<Owner<'a>>,
    decoded: Result<Record<'a>>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(snapshot: usize, placed: Placed<'a>, writers: &'a Writers<'a>) -> Self {
        let record = placed.record;
        // No field of a record of unknown kind depends on the event, and the place of its id is
        // unknown too.
        if record.kind().name().is_none() {
            return Self { snapshot, placed, owner: None, decoded: Ok(Record::Unknown(record)) };
        }
        match writers.find(record) {
            Ok(owner) => Self { snapshot, placed, owner: Some(owner), decoded: record.decode(owner.layout) },
            Err(error) => Self { snapshot, placed, owner: None, decoded: Err(error) },
        }
    }

    /// Returns why the record could not be decoded.
    pub(super) fn error(&self) -> Option<Error> {
        self.decoded.as_ref().err().copied()
    }

    /// Returns the record as one object.
    pub(super) fn json(&self) -> Object {
        let header = self.placed.record.header();
        let mut json = Object::new();
        let mut put = |key: &str, value| json.insert(key.to_owned(), value);
        put("type", header.kind.0.into());
        put("name", header.kind.to_string().into());
        put("misc", header.misc.bits().into());
        put("size", header.size.into());
        put("snapshot", self.snapshot.into());
        put("offset", self.placed.offset.into());
        put("wraps", self.placed.wraps.into());
        if let Some((index, _)) = self.owner.and_then(|owner| owner.event) {
            put("attr", index.into());
        }
        match &self.decoded {
            Err(error) => {
                put("error", error.to_string().into());
            }
            Ok(record) => {
                put("fields", fields(record).into());
                if record.trailing_len() > 0 {
                    put("trailing", record.trailing_len().into());
                }
                if is_ambiguous(record) {
                    put("ambiguous", true.into());
                }
            }
        }
        json
    }
}

/// Returns the fields of the body, and those of the trailer in an object of their own.
fn fields(record: &Record<'_>) -> Object {
    let mut fields = object(record.fields());
    if let Some(trailer) = record.sample_id().filter(|trailer| !trailer.is_empty()) {
        fields.insert("sample_id".to_owned(), json!(object(trailer.fields())));
    }
    fields
}

fn is_ambiguous(record: &Record<'_>) -> bool {
    matches!(record, Record::Sample(sample) if sample.has_ambiguous_branches())
}

impl fmt::Display for Entry<'_> {
    /// One line: snapshot, offset, size, the event if there are several, and the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Placed { record, offset, .. } = self.placed;
        write!(f, "{} {offset:#06x} {:5} ", self.snapshot, record.size())?;
        if let Some((_, event)) = self.owner.and_then(|owner| owner.event) {
            write!(f, "[{}] ", event.name.escape_debug())?;
        }
        match &self.decoded {
            Ok(record) => write!(f, "{record}"),
            Err(error) => write!(f, "{} of {} bytes: {error}", record.kind(), record.size()),
        }
    }
}
