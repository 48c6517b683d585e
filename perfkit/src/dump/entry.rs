//! One record as it is printed.

use std::fmt;

use perf_decode::{Error, RawRecord, Record, Result, SampleId, SampleLayout};

use super::fields::fields;
use super::json::{Json, Object};
use super::walk::Placed;
use super::writers::{Owner, Writers};

/// A record, its place and what could be found out about it.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    snapshot: usize,
    placed: Placed<'a>,
    /// `None` where no event is known or needed.
    owner: Option<Owner<'a>>,
    decoded: Result<(Record<'a>, Option<SampleId<'a>>)>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(snapshot: usize, placed: Placed<'a>, writers: &'a Writers<'a>) -> Self {
        let record = placed.record;
        // Of an unknown kind nothing depends on the event, and where its id lies is not known either.
        if record.kind().name().is_none() {
            return Self { snapshot, placed, owner: None, decoded: Ok((Record::Unknown(record), None)) };
        }
        match writers.find(record) {
            Ok(owner) => Self { snapshot, placed, owner: Some(owner), decoded: decode(record, owner.layout) },
            Err(error) => Self { snapshot, placed, owner: None, decoded: Err(error) },
        }
    }

    /// Why the record could not be decoded.
    pub(super) fn error(&self) -> Option<Error> {
        self.decoded.as_ref().err().copied()
    }

    /// The record as one object.
    pub(super) fn json(&self) -> Object<'a> {
        let header = self.placed.record.header();
        let mut object = Object::from([
            ("type", header.kind.0.into()),
            ("name", Json::Text(header.kind.to_string().into())),
            ("misc", u64::from(header.misc.bits()).into()),
            ("size", u64::from(header.size).into()),
            ("snapshot", (self.snapshot as u64).into()),
            ("offset", self.placed.offset.into()),
            ("wraps", Json::Bool(self.placed.wraps)),
        ]);
        let event = self.owner.and_then(|owner| owner.event);
        object.extend(event.map(|(index, _)| ("attr", Json::Number(index as u64))));
        object.extend([match &self.decoded {
            Ok((record, trailer)) => ("fields", Json::Object(fields(record, trailer.as_ref()))),
            Err(error) => ("error", Json::Text(error.to_string().into())),
        }]);
        object
    }
}

impl fmt::Display for Entry<'_> {
    /// A line to be read: snapshot, offset, size, the event if there are several, and what is in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Placed { record, offset, .. } = self.placed;
        write!(f, "{} {offset:#06x} {:5} ", self.snapshot, record.size())?;
        if let Some((_, event)) = self.owner.and_then(|owner| owner.event) {
            write!(f, "[{}] ", event.name.escape_debug())?;
        }
        match (self.owner, &self.decoded) {
            (Some(owner), _) => write!(f, "{}", record.display(owner.layout)),
            (None, Ok((record, _))) => write!(f, "{record}"),
            (None, Err(error)) => write!(f, "{} of {} bytes: {error}", record.kind(), record.size()),
        }
    }
}

fn decode<'a>(record: RawRecord<'a>, layout: &'a SampleLayout) -> Result<(Record<'a>, Option<SampleId<'a>>)> {
    Ok((record.decode(layout)?, Some(record.sample_id(layout)?)))
}
