//! Dump of a `perf.data` file.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

use perf_abi::RecordType;
use perf_decode::Record;
use perf_decode::tracepoint::Format;
use perf_file::format::Feature;
use perf_file::{FileOffset, FileRecord, Result};

use super::json::{self, Object};
use super::{Options, Printer, feature, tool_record};
use crate::recording::{About, Damage, Recording, Shown, Tracepoints, event_name};

/// Prints the records of a recording, or its features.
pub(super) fn run(out: &mut dyn Write, recording: Recording, options: &Options) -> io::Result<()> {
    let mut printer = Printer::new(out, options.json);
    if options.features {
        return print_features(printer, recording);
    }
    let (about, mut records) =
        if options.sorted { recording.in_time_order() } else { recording.in_file_order() };
    if !printer.json {
        about.print(&mut printer.out)?;
    }
    records.show_progress(Shown::BesideOutput);
    let tracepoints = about.tracepoints();
    while let Some(record) = records.next() {
        let entry = Entry::new(record, &about, &tracepoints);
        printer.print(&entry, Entry::json)?;
        if let Some(error) = entry.into_error() {
            records.skip(&error);
        }
    }
    printer.out.flush()?;
    records.finish()
}

/// Prints all feature sections, and verifies their table. A malformed section is damage.
fn print_features(mut printer: Printer<'_>, mut recording: Recording) -> io::Result<()> {
    let mut damage = Damage::default();
    let reader = recording.reader();
    let features: Vec<Feature> = reader.features().iter().collect();
    for feature in features {
        let content = match reader.feature(feature) {
            Ok(None) => continue,
            Ok(Some(section)) => feature::value(&section.section()),
            Err(error) => Err(error),
        };
        let mut json = Object::from_iter([
            ("feature".to_owned(), feature.0.into()),
            ("feature_name".to_owned(), feature.to_string().into()),
        ]);
        match content {
            Ok(content) if printer.json => {
                json.insert("content".to_owned(), content);
                writeln!(printer.out, "{}", serde_json::Value::from(json))?;
            }
            Ok(content) => writeln!(printer.out, "{feature}: {content}")?,
            Err(error) => {
                if printer.json {
                    json.insert("error".to_owned(), error.to_string().into());
                    writeln!(printer.out, "{}", serde_json::Value::from(json))?;
                } else {
                    writeln!(printer.out, "{feature}: {error}")?;
                }
                damage.add(format_args!("{feature}: {error}"));
            }
        }
    }
    if damage.is_empty() {
        if let Err(error) = reader.verify_features() {
            damage.add(error);
        }
    }
    printer.out.flush()?;
    damage.into_result(recording.name())
}

/// A record with its content.
struct Entry<'r> {
    record: FileRecord<'r>,
    /// Its event, if that is known.
    event: Option<EventOfRecord<'r>>,
    content: Content<'r>,
}

/// The event that wrote a record.
struct EventOfRecord<'r> {
    /// Index in the file.
    index: usize,
    name: Cow<'r, str>,
    /// Whether the file has other events, so that a line names this one.
    is_one_of_several: bool,
    /// The format of its tracepoint.
    format: Option<&'r Format<'r>>,
}

enum Content<'r> {
    Kernel(Result<Record<'r>>),
    Tool(Result<Object>),
}

impl<'r> Entry<'r> {
    fn new(record: FileRecord<'r>, about: &'r About, tracepoints: &'r Tracepoints<'r>) -> Self {
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
            format: tracepoints.find(event.attr()),
        });
        Self { record, event, content: Content::Kernel(record.decode()) }
    }

    /// Returns why the record could not be decoded.
    fn into_error(self) -> Option<perf_file::Error> {
        match self.content {
            Content::Kernel(decoded) => decoded.err(),
            Content::Tool(parsed) => parsed.err(),
        }
    }

    /// Returns whether the record is about its event, not about tasks or mappings, which any event may report.
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

    fn name(&self) -> String {
        tool_record::name(self.record.kind())
    }

    /// Returns the record as one object.
    fn json(&self) -> Object {
        let header = self.record.header();
        let mut json = match &self.content {
            Content::Kernel(Ok(record)) => json::record(record),
            _ => Object::from_iter([
                ("type".to_owned(), header.kind.0.into()),
                ("name".to_owned(), self.name().into()),
                ("misc".to_owned(), header.misc.bits().into()),
                ("size".to_owned(), header.size.into()),
            ]),
        };
        let mut put = |key: &str, value| json.insert(key.to_owned(), value);
        match self.record.place() {
            FileOffset::Offset(offset) => put("offset", offset.into()),
            FileOffset::InCompressed(offset) => put("in_compressed", offset.into()),
        };
        if let Some(part) = self.record.part() {
            put("part", part.into());
        }
        if let Some(event) = &self.event {
            if event.is_one_of_several {
                put("attr", event.index.into());
            }
            put("event", event.name.as_ref().into());
        }
        match &self.content {
            Content::Kernel(Ok(record)) => {
                if let (Record::Sample(sample), Some(format)) = (record, self.format()) {
                    put("tracepoint", json::tracepoint(format, sample.raw().unwrap_or_default()).into());
                }
            }
            Content::Tool(Ok(fields)) => {
                if !fields.is_empty() {
                    put("fields", fields.clone().into());
                }
            }
            Content::Kernel(Err(error)) | Content::Tool(Err(error)) => {
                put("error", error.to_string().into());
            }
        }
        json
    }
}

impl fmt::Display for Entry<'_> {
    /// One line: offset, size, the event if the file has several and the record is about one, and the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = self.record.part() {
            write!(f, "data.{part} ")?;
        }
        let size = self.record.header().size;
        match self.record.place() {
            FileOffset::Offset(offset) => write!(f, "{offset:#08x} {size:5} ")?,
            // In the compressed record at the offset.
            FileOffset::InCompressed(offset) => write!(f, "{offset:#08x}z{size:5} ")?,
        }
        if let Some(event) = self.event.as_ref().filter(|event| event.is_one_of_several && self.is_of_event())
        {
            write!(f, "[{}] ", event.name)?;
        }
        match &self.content {
            Content::Kernel(Ok(record)) => match self.format() {
                Some(format) => write!(f, "{}", record.display_with_format(format)),
                None => write!(f, "{record}"),
            },
            Content::Kernel(Err(error)) | Content::Tool(Err(error)) => {
                write!(f, "{} of {size} bytes: {error}", self.name())
            }
            Content::Tool(Ok(fields)) => {
                f.write_str(&self.name())?;
                fields.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
            }
        }
    }
}
