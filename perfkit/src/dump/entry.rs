//! One record of a file with its event: its fields by name, and its line.

use std::borrow::Cow;
use std::fmt;

use perf_abi::RecordType;
use perf_decode::{Record, Value};
use perf_file::{FileOffset, FileRecord, Result};
use perf_profile::read::{Metadata, Tracepoints};
use perf_tracepoint::{self as tracepoint, Format};
use serde_json::Value as Json;

use super::json::{self, Object};
use super::tool_record;
use crate::out::message;
use crate::recording::event_name;

/// Returns a field of a record's header, if the record has it.
type HeaderField = for<'a> fn(&'a Entry<'_>) -> Option<Item<'a>>;

/// The fields that any record may have. A field of a body with the same name gets a prefix in flat
/// forms.
pub(super) const HEADER: &[(&str, HeaderField)] = &[
    ("type", |entry| Some(entry.record.header().kind.0.into())),
    ("name", |entry| Some(Item::Text(entry.name()))),
    ("misc", |entry| Some(entry.record.header().misc.bits().into())),
    ("size", |entry| Some(entry.record.header().size.into())),
    ("offset", |entry| match entry.record.place() {
        FileOffset::Offset(offset) => Some(Item::Hex(offset)),
        FileOffset::InCompressed(_) => None,
    }),
    ("in_compressed", |entry| match entry.record.place() {
        FileOffset::Offset(_) => None,
        FileOffset::InCompressed(offset) => Some(Item::Hex(offset)),
    }),
    ("part", |entry| Some(entry.record.part()?.into())),
    ("attr", |entry| {
        let event = entry.event.as_ref().filter(|event| event.is_one_of_several);
        Some(Item::Number(event?.index as u64))
    }),
    ("event", |entry| Some(Item::Text(Cow::Borrowed(&entry.event.as_ref()?.name)))),
    ("error", |entry| Some(Item::Text(entry.error()?.to_string().into()))),
    ("trailing", |entry| {
        Some(entry.decoded()?.trailing_len() as u64).filter(|len| *len > 0).map(Item::Number)
    }),
    ("truncated", |entry| Some(Item::Text(entry.decoded()?.truncated_field()?.into()))),
    ("ambiguous", |entry| {
        let is_ambiguous =
            matches!(entry.decoded()?, Record::Sample(sample) if sample.has_ambiguous_branches());
        is_ambiguous.then_some(Item::True)
    }),
];

/// Returns whether any record may have this field.
pub(super) fn is_of_header(name: &str) -> bool {
    HEADER.iter().any(|(known, _)| *known == name)
}

/// The part of a record that has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Header,
    Body,
    Trailer,
    /// The body has a field of this name, too.
    RepeatedTrailer,
    Tracepoint,
}

/// A field's name in its part of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    pub(super) part: Part,
    pub(super) name: &'a str,
}

impl<'a> Key<'a> {
    pub(super) fn new(part: Part, name: &'a str) -> Self {
        Self { part, name }
    }

    /// Returns the name that is unique in a record.
    pub(super) fn flat(self) -> Cow<'a, str> {
        match self.prefix() {
            "" => self.name.into(),
            prefix => format!("{prefix}{}", self.name).into(),
        }
    }

    /// Returns the start of the name that is unique in a record.
    pub(super) fn prefix(self) -> &'static str {
        match self.part {
            Part::Body if is_of_header(self.name) => "fields_",
            Part::Header | Part::Body | Part::Trailer => "",
            Part::RepeatedTrailer => "sample_id_",
            Part::Tracepoint => "tracepoint_",
        }
    }
}

/// A value of a field. Its text has no control characters.
#[derive(Debug)]
pub(super) enum Item<'a> {
    True,
    Number(u64),
    /// An offset, hexadecimal in text and decimal in JSON.
    Hex(u64),
    Text(Cow<'a, str>),
    Field(Value<'a>),
    Json(&'a Json),
    Tracepoint(&'a tracepoint::Value<'a>),
}

impl<N: Into<u64>> From<N> for Item<'_> {
    fn from(number: N) -> Self {
        Self::Number(number.into())
    }
}

impl Item<'_> {
    pub(super) fn json(self) -> Json {
        match self {
            Self::True => true.into(),
            Self::Number(number) | Self::Hex(number) => number.into(),
            Self::Text(text) => text.into_owned().into(),
            Self::Field(value) => json::value(value),
            Self::Json(value) => value.clone(),
            Self::Tracepoint(value) => json::of_tracepoint(value),
        }
    }
}

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True => f.write_str("true"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Hex(number) => write!(f, "{number:#x}"),
            Self::Text(text) => Value::Text(text.as_bytes()).fmt(f),
            Self::Json(Json::String(text)) => Value::Text(text.as_bytes()).fmt(f),
            Self::Field(value) => value.fmt(f),
            // JSON escapes control characters, except for the delete character and those that
            // reorder text.
            Self::Json(value) => Value::Text(value.to_string().as_bytes()).fmt(f),
            Self::Tracepoint(value) => value.fmt(f),
        }
    }
}

/// A record with its content.
pub(super) struct Entry<'r> {
    record: FileRecord<'r>,
    /// Event of the record, if known.
    event: Option<EventOfRecord<'r>>,
    content: Content<'r>,
}

/// The event that wrote a record.
struct EventOfRecord<'r> {
    /// Index of the event in the file.
    index: usize,
    name: Cow<'r, str>,
    /// Whether the file has other events, so that a line names this event.
    is_one_of_several: bool,
    /// Format of the event's tracepoint.
    format: Option<&'r Format<'r>>,
}

enum Content<'r> {
    Kernel(Result<Record<'r>>),
    Tool(Result<Object>),
}

impl<'r> Entry<'r> {
    pub(super) fn new(record: FileRecord<'r>, about: &'r Metadata, tracepoints: &'r Tracepoints<'r>) -> Self {
        let Some(raw) = record.kernel() else {
            return Self { record, event: None, content: Content::Tool(tool_record::fields(&record)) };
        };
        // The fields of an unknown kind are the same for every event, and the offset of its id is
        // unknown.
        if raw.kind().name().is_none() {
            return Self { record, event: None, content: Content::Kernel(Ok(Record::Unknown(raw))) };
        }
        let event = record.event().ok().map(|(index, event)| EventOfRecord {
            index,
            name: about.name(index).map_or_else(|| event_name(event).into(), Cow::from),
            is_one_of_several: record.events().len() > 1,
            format: tracepoints.find(&event.attr),
        });
        Self { record, event, content: Content::Kernel(record.decode()) }
    }

    /// Returns the reason why the record could not be decoded.
    pub(super) fn into_error(self) -> Option<perf_file::Error> {
        match self.content {
            Content::Kernel(decoded) => decoded.err(),
            Content::Tool(parsed) => parsed.err(),
        }
    }

    fn error(&self) -> Option<&perf_file::Error> {
        match &self.content {
            Content::Kernel(decoded) => decoded.as_ref().err(),
            Content::Tool(parsed) => parsed.as_ref().err(),
        }
    }

    /// Returns whether the record is about its event, not about tasks or mappings, which any event
    /// may report.
    fn is_of_event(&self) -> bool {
        let kind = self.record.kind();
        let kinds = [
            RecordType::SAMPLE,
            RecordType::LOST,
            RecordType::LOST_SAMPLES,
            RecordType::READ,
            RecordType::THROTTLE,
            RecordType::UNTHROTTLE,
            RecordType::AUX,
        ];
        kinds.contains(&kind)
    }

    fn format(&self) -> Option<&'r Format<'r>> {
        self.event.as_ref().and_then(|event| event.format)
    }

    pub(super) fn name(&self) -> Cow<'static, str> {
        tool_record::name(self.record.kind())
    }

    /// Returns the record if the kernel wrote it and it was decoded.
    pub(super) fn decoded(&self) -> Option<&Record<'r>> {
        match &self.content {
            Content::Kernel(decoded) => decoded.as_ref().ok(),
            Content::Tool(_) => None,
        }
    }

    /// Returns the format of the tracepoint and the payload, for a sample of a tracepoint.
    pub(super) fn tracepoint(&self) -> Option<(&'r Format<'r>, &'r [u8])> {
        match (self.decoded()?, self.format()) {
            (Record::Sample(sample), Some(format)) => Some((format, sample.raw().unwrap_or_default())),
            _ => None,
        }
    }

    /// Calls `visit` with each field of the header, body, trailer and tracepoint, in this order.
    pub(super) fn each(&self, mut visit: impl FnMut(Key<'_>, Item<'_>)) {
        for (name, item) in HEADER {
            if let Some(item) = item(self) {
                visit(Key::new(Part::Header, name), item);
            }
        }
        if let Content::Tool(Ok(fields)) = &self.content {
            fields.iter().for_each(|(name, value)| visit(Key::new(Part::Body, name), Item::Json(value)));
        }
        let Some(record) = self.decoded() else { return };
        for field in record.fields() {
            visit(Key::new(Part::Body, field.name), Item::Field(field.value));
        }
        for field in record.sample_id().into_iter().flat_map(|trailer| trailer.fields()) {
            let has_field = record.fields().any(|known| known.name == field.name);
            let part = if has_field { Part::RepeatedTrailer } else { Part::Trailer };
            visit(Key::new(part, field.name), Item::Field(field.value));
        }
        if let Some((format, raw)) = self.tracepoint() {
            for field in format.fields {
                visit(Key::new(Part::Tracepoint, field.name), Item::Tracepoint(&field.value(raw)));
            }
        }
    }
}

impl fmt::Display for Entry<'_> {
    /// Writes one line: offset, size, the event if the file has several and the record is about
    /// one, and the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.record.part() {
            write!(f, "data.{part} ")?;
        }
        let size = self.record.header().size;
        match self.record.place() {
            FileOffset::Offset(offset) => write!(f, "{offset:#08x} {size:5} ")?,
            // `z` marks a record in the compressed record at this offset.
            FileOffset::InCompressed(offset) => write!(f, "{offset:#08x}z{size:5} ")?,
        }
        if let Some(event) = self.event.as_ref().filter(|event| event.is_one_of_several && self.is_of_event())
        {
            write!(f, "[{}] ", event.name)?;
        }
        match &self.content {
            Content::Kernel(Ok(record)) => match self.format() {
                Some(format) => write!(f, "{}", format.display_record(record)),
                None => write!(f, "{record}"),
            },
            Content::Kernel(Err(error)) | Content::Tool(Err(error)) => {
                write!(f, "{} of {size} bytes: {error}", self.name())
            }
            Content::Tool(Ok(fields)) => {
                f.write_str(&self.name())?;
                fields.iter().try_for_each(|(name, value)| write!(f, " {name}={}", message::json(value)))
            }
        }
    }
}
