//! The metadata of a recording: the machine, its events by name, the formats of its tracepoints.

use std::collections::HashMap;
use std::fmt;
use std::time::SystemTime;

use perf_abi::{Attr, AttrFlags, Clock, EventType, SampleType};
use perf_decode::Value;
use perf_file::feature::{ClockData, SampleTime, TracingData};
use perf_file::format::{Feature, FeatureSet};
use perf_file::{FeatureData, FileEvent, FileMode, Reader, Source};
use perf_symbols::BuildId;
use perf_tracepoint::Format;

use super::RecordedThreads;

/// The metadata of a recording, as known before its first record. Texts are unchanged from the file
/// and may contain control characters, unless documented otherwise.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Metadata {
    /// Name of the host.
    pub host: Option<String>,
    /// Release of the kernel.
    pub release: Option<String>,
    /// Architecture, as `uname -m` prints it.
    pub arch: Option<String>,
    /// Name of the CPU's model.
    pub cpu: Option<String>,
    /// Command line of the recording tool: its name and arguments.
    pub command: Option<Vec<String>>,
    /// Version of the recording tool.
    pub version: Option<String>,
    /// Times of the first and the last sample in ns of the events' clock. Interrupted recordings
    /// and pipes lack them.
    pub sample_time: Option<SampleTime>,
    /// One instant by the wall clock and by the events' clock.
    pub clock: Option<ClockData>,
    /// Build ids by the path of the mapping. In a pipe they are separate records: see
    /// [`Records::next_decoded`](super::Records::next_decoded).
    pub build_ids: Vec<(Vec<u8>, BuildId)>,
    /// Time of the last write to the file; `None` for a pipe.
    pub modified: Option<SystemTime>,
    /// The reason why metadata is missing. The file's records can be read without it.
    pub gap: Option<MetadataGap>,
    /// Number of online and of available CPUs.
    pub cpus: Option<(u32, u32)>,
    /// The threads that were there when the recording began. Recordings of other tools, of CPUs
    /// that are not all, and pipes lack them.
    pub threads: Option<RecordedThreads>,
    /// Events, in file order.
    events: Vec<RecordedEvent>,
    /// Index of the event by its ids, if samples have counts of several events.
    by_id: HashMap<u64, usize>,
    /// Texts of the tracepoints' `format` files.
    formats: Vec<String>,
    /// Content of the file `printk_formats`.
    printk_formats: Vec<u8>,
}

/// An event of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// Name from the file, or else generated from the attr, without control characters.
    pub name: String,
    /// Attr, unchanged from the file.
    pub attr: Attr,
    /// Ids of the event's instances, one per CPU or thread.
    pub ids: Vec<u64>,
    /// Whether the file lacks the name.
    is_unnamed: bool,
}

impl RecordedEvent {
    fn new(event: &FileEvent) -> Self {
        let attr = event.attr;
        let name = match event.name() {
            Some(name) => Value::Text(name).to_string(),
            None => format!("type {} config {:#x}", attr.kind.0, attr.config),
        };
        Self { name, attr, ids: event.ids.clone(), is_unnamed: event.name().is_none() }
    }
}

/// The reason why metadata of a file is missing.
#[derive(Debug)]
#[non_exhaustive]
pub enum MetadataGap {
    /// The recording program was killed.
    Unfinished,
    /// The metadata is malformed.
    Damaged(perf_file::Error),
}

impl fmt::Display for MetadataGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished => {
                f.write_str("the recording was not finished: it has no build ids and no other metadata")
            }
            Self::Damaged(error) => {
                write!(f, "the build ids and other metadata of the recording are damaged: {error}")
            }
        }
    }
}

impl Metadata {
    /// Reads the metadata of a file, or of a pipe before its records. Missing or malformed parts
    /// are left out.
    pub(super) fn read<S: Source>(reader: &mut Reader<S>, modified: Option<SystemTime>) -> Self {
        // The call of `next` returns the error again.
        let _ = reader.read_metadata();
        let mut metadata = Self {
            host: reader.hostname().ok().flatten(),
            release: reader.os_release().ok().flatten(),
            arch: reader.arch().ok().flatten(),
            cpu: reader.cpu_description().ok().flatten(),
            command: reader.command_line().ok().flatten(),
            version: reader.tool_version().ok().flatten(),
            sample_time: reader.sample_time().ok().flatten().filter(|time| time.last > 0),
            clock: reader.clock_data().ok().flatten(),
            cpus: reader.cpu_count().ok().flatten().map(|count| (count.online, count.available)),
            modified,
            gap: metadata_gap(reader),
            ..Self::default()
        };
        let events = reader.events().as_slice();
        let has_counts = events.iter().any(|event| event.attr.sample_type.contains(SampleType::READ));
        for (index, event) in events.iter().enumerate() {
            if has_counts {
                metadata.by_id.extend(event.ids.iter().map(|&id| (id, index)));
            }
            metadata.events.push(RecordedEvent::new(event));
        }
        if let Ok(Some(section)) = reader.feature(Feature::TRACING_DATA) {
            metadata.add_formats(section.section().bytes);
        }
        if let Ok(Some(section)) = reader.feature(Feature::THREAD_STATES) {
            metadata.threads = RecordedThreads::read(&section.section());
        }
        if let Ok(Some(section)) = reader.feature(Feature::BUILD_ID)
            && let Ok(FeatureData::BuildIds(ids)) = section.section().data()
        {
            let ids = ids.iter().filter_map(|id| Some((id.filename.to_vec(), BuildId::new(id.build_id)?)));
            metadata.build_ids.extend(ids);
        }
        metadata
    }

    /// Names the events whose name the file lacks.
    pub(super) fn name_events(&mut self, name: impl Fn(&Attr) -> String) {
        for event in self.events.iter_mut().filter(|event| event.is_unnamed) {
            event.name = name(&event.attr);
        }
    }

    /// Returns the events, in file order.
    pub fn recorded_events(&self) -> &[RecordedEvent] {
        &self.events
    }

    /// Returns the name and the attr of each event, in file order. Names have no control
    /// characters.
    pub fn events(&self) -> impl ExactSizeIterator<Item = (&str, &Attr)> {
        self.events.iter().map(|event| (event.name.as_str(), &event.attr))
    }

    /// Returns the name of the event with this index in the file.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.events.get(index).map(|event| event.name.as_str())
    }

    /// Returns the index of the event with this id, if samples have counts of several events.
    pub(super) fn index_of_id(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Returns whether the samples of an event have a field; `true` if no event is known.
    pub fn has_field(&self, field: SampleType) -> bool {
        self.events.is_empty() || self.events.iter().any(|event| event.attr.sample_type.contains(field))
    }

    /// Returns whether all events use `CLOCK_MONOTONIC`.
    pub(super) fn has_monotonic_time(&self) -> bool {
        let is_monotonic =
            |attr: &Attr| attr.flags.contains(AttrFlags::USE_CLOCKID) && attr.clockid == Clock::MONOTONIC;
        !self.events.is_empty() && self.events.iter().all(|event| is_monotonic(&event.attr))
    }

    /// Adds the formats of tracing data. Payloads are not swapped, so formats of the other byte
    /// order are ignored, as are formats in malformed data.
    fn add_formats(&mut self, tracing_data: &[u8]) {
        let Ok(data) = TracingData::parse(tracing_data, 0) else { return };
        if data.order.is_native() {
            let formats = data.systems.iter().flat_map(|system| system.formats.iter());
            self.formats.extend(formats.map(|format| String::from_utf8_lossy(format.0).into_owned()));
            self.printk_formats = data.printk_formats.to_vec();
        }
    }

    /// Parses the formats. A format that does not parse is left out, and its samples are printed as
    /// bytes.
    pub fn tracepoints(&self) -> Tracepoints<'_> {
        let parsed = self.formats.iter().filter_map(|text| Format::parse(text).ok());
        Tracepoints(parsed.map(|format| (format.id.into(), format)).collect())
    }

    /// Returns the file `printk_formats` of the recorded kernel, with the texts at addresses in
    /// payloads. Empty if unknown.
    pub fn printk_formats(&self) -> &[u8] {
        &self.printk_formats
    }
}

/// Formats of tracepoints by their id.
#[derive(Debug)]
pub struct Tracepoints<'t>(HashMap<u64, Format<'t>>);

impl<'t> Tracepoints<'t> {
    /// Returns the format of an event; `None` for other events than tracepoints, and for an unknown
    /// format.
    pub fn find(&self, attr: &Attr) -> Option<&Format<'t>> {
        self.0.get(&attr.config).filter(|_| attr.kind == EventType::TRACEPOINT)
    }

    /// Returns whether any tracepoint has a field of this name.
    pub fn have_field(&self, name: &str) -> bool {
        self.0.values().any(|format| format.fields.iter().any(|field| field.name == name))
    }
}

/// Returns what is wrong with the metadata at the end of a file, which the recorder writes last.
fn metadata_gap<S: Source>(reader: &mut Reader<S>) -> Option<MetadataGap> {
    let FileMode::File(header) = reader.header().mode else { return None };
    if header.data.size == 0 || header.features == FeatureSet::default() {
        return Some(MetadataGap::Unfinished);
    }
    reader.verify_features().err().map(MetadataGap::Damaged)
}
