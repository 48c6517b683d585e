//! A record with its origin, as a line of text or JSON.

use std::fmt;

use perf_decode::{Error, Record, Result};

use super::content;
use super::event_index::{EventIndex, Origin};
use super::json::Object;
use super::snapshot_records::Placed;

/// A record with its position, its event and its content.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// Index of the snapshot in the file.
    snapshot: usize,
    placed: Placed<'a>,
    /// `None` if the event is unknown or not needed.
    origin: Option<Origin<'a>>,
    decoded: Result<Record<'a>>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(snapshot: usize, placed: Placed<'a>, events: &'a EventIndex<'a>) -> Self {
        let record = placed.record;
        // The fields of an unknown kind are the same for every event, and the offset of its id is
        // unknown.
        if record.kind().name().is_none() {
            return Self { snapshot, placed, origin: None, decoded: Ok(Record::Unknown(record)) };
        }
        match events.find(record) {
            Ok(origin) => {
                Self { snapshot, placed, origin: Some(origin), decoded: record.decode(origin.layout) }
            }
            Err(error) => Self { snapshot, placed, origin: None, decoded: Err(error) },
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
        if let Some((index, _)) = self.origin.and_then(|origin| origin.event) {
            put("attr", index.into());
        }
        content::put(&mut json, &self.decoded);
        json
    }
}

impl fmt::Display for Entry<'_> {
    /// One line: snapshot, offset, size, the event if the file has several, and the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Placed { record, offset, .. } = self.placed;
        write!(f, "{} {offset:#06x} {:5} ", self.snapshot, record.size())?;
        if let Some((_, event)) = self.origin.and_then(|origin| origin.event) {
            write!(f, "[{}] ", event.name.escape_debug())?;
        }
        match &self.decoded {
            Ok(record) => write!(f, "{record}"),
            Err(error) => write!(f, "{} of {} bytes: {error}", record.kind(), record.size()),
        }
    }
}
