//! The metadata of a recording: the machine, its events by name, the formats of its tracepoints.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::time::SystemTime;

use perf_abi::{Attr, AttrFlags, Clock, EventType, SampleType, Sampling, Software};
use perf_decode::Value;
use perf_file::feature::{ClockData, SampleTime, TracingData};
use perf_file::format::{Feature, FeatureSet};
use perf_file::{FeatureData, FileEvent, FileMode, Reader, Source};
use perf_session::catalog;
use perf_symbols::BuildId;
use perf_tracepoint::Format;

/// The metadata of a recording, as it is known before the first record. A text is as the file has it: print it by
/// [`shown`](crate::out::message::shown).
#[derive(Debug, Default)]
pub(crate) struct About {
    /// Name of the host.
    pub(crate) host: Option<String>,
    /// Release of the kernel.
    pub(crate) release: Option<String>,
    /// Architecture, as `uname -m` prints it.
    pub(crate) arch: Option<String>,
    /// Name of the CPU's model.
    pub(crate) cpu: Option<String>,
    /// The tool and its arguments.
    pub(crate) command: Option<Vec<String>>,
    /// Version of the tool.
    pub(crate) version: Option<String>,
    /// Times of the first and the last sample in ns of the events' clock. Files of interrupted recordings and pipes lack
    /// them.
    pub(crate) sample_time: Option<SampleTime>,
    /// The wall clock beside the events' clock.
    pub(crate) clock: Option<ClockData>,
    /// Build ids by the path of the mapping. In a pipe they are records beside the others: see
    /// [`build_id`](super::build_id).
    pub(crate) build_ids: Vec<(Vec<u8>, BuildId)>,
    /// When the file was written last; `None` for a pipe.
    pub(crate) modified: Option<SystemTime>,
    /// The reason why metadata is missing. The records of the file can be read without it.
    pub(crate) gap: Option<MetadataGap>,
    /// Number of CPUs: online, and available.
    cpus: Option<(u32, u32)>,
    /// The name and the attr of each event, in the order of the file.
    events: Vec<(String, Attr)>,
    /// The index of the event by its ids, if samples have counts of several.
    by_id: HashMap<u64, usize>,
    /// Lines about the events.
    lines: Vec<String>,
    /// The texts of the formats of tracepoints.
    formats: Vec<String>,
    /// The file `printk_formats`.
    printk_formats: Vec<u8>,
}

/// The reason why metadata of a file is missing.
#[derive(Debug)]
pub(crate) enum MetadataGap {
    /// The program that recorded was killed.
    Unfinished,
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

impl About {
    /// Reads the metadata of a file, or of a pipe before its records. A part that is missing or malformed is left out:
    /// `perfkit dump --features` reports it.
    pub(super) fn read<S: Source>(reader: &mut Reader<S>, modified: Option<SystemTime>) -> Self {
        // `next` returns the error again.
        let _ = reader.read_metadata();
        let mut about = Self {
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
        let has_counts = events.iter().any(|event| event.attr().sample_type.contains(SampleType::READ));
        for (index, event) in events.iter().enumerate() {
            if has_counts {
                about.by_id.extend(event.ids().iter().map(|&id| (id, index)));
            }
            let name = event_name(event);
            about.lines.push(format!(
                "event {index} {name}: {}{}",
                WhenSampled { attr: event.attr(), has_counts },
                Ids(event.ids())
            ));
            about.events.push((name, *event.attr()));
        }
        if let Ok(Some(section)) = reader.feature(Feature::TRACING_DATA) {
            about.add_formats(section.section().bytes);
        }
        if let Ok(Some(section)) = reader.feature(Feature::BUILD_ID)
            && let Ok(FeatureData::BuildIds(ids)) = section.section().data()
        {
            let ids = ids.iter().filter_map(|id| Some((id.filename.to_vec(), BuildId::new(id.build_id)?)));
            about.build_ids.extend(ids);
        }
        about
    }

    /// Prints the metadata as lines that begin with `#`.
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lines().iter().try_for_each(|line| writeln!(out, "# {line}"))
    }

    /// Returns the metadata as lines without control characters: the machine, the recording and each event.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.machine_lines().collect();
        if let Some(time) = self.sample_time {
            let length = time.last.saturating_sub(time.first);
            lines.push(format!("samples: from {} s, for {} s", Seconds(time.first), Seconds(length)));
        }
        lines.extend_from_slice(&self.lines);
        lines
    }

    /// Returns the name and the attr of each event, in the order of the file. Names have no control characters.
    pub(crate) fn events(&self) -> impl ExactSizeIterator<Item = (&str, &Attr)> {
        self.events.iter().map(|(name, attr)| (name.as_str(), attr))
    }

    /// Returns the name of the event with this index in the file.
    pub(crate) fn name(&self, index: usize) -> Option<&str> {
        self.events.get(index).map(|(name, _)| name.as_str())
    }

    /// Returns the index of the event with an id, if samples have counts of several events.
    pub(super) fn index_of_id(&self, id: u64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Returns whether the samples of an event have a field; `true` if no event is known.
    pub(super) fn has_field(&self, field: SampleType) -> bool {
        self.events.is_empty() || self.events.iter().any(|(_, attr)| attr.sample_type.contains(field))
    }

    /// Checks that the samples have their control group, for an option that shows it.
    pub(crate) fn check_cgroups(&self, option: &str) -> io::Result<()> {
        if self.has_field(SampleType::CGROUP) {
            return Ok(());
        }
        let text = "the samples of this recording have no control group; record with --all-cgroups";
        Err(io::Error::other(format!("{option}: {text}")))
    }

    /// Returns whether the times of all events are of `CLOCK_MONOTONIC`.
    pub(super) fn has_monotonic_time(&self) -> bool {
        let is_monotonic =
            |attr: &Attr| attr.flags.contains(AttrFlags::USE_CLOCKID) && attr.clockid == Clock::MONOTONIC;
        !self.events.is_empty() && self.events.iter().all(|(_, attr)| is_monotonic(attr))
    }

    /// Adds the formats of tracing data. The payload of a sample is not swapped, so that formats of the other
    /// byte order are not used; nor are those of malformed data.
    fn add_formats(&mut self, tracing_data: &[u8]) {
        let Ok(data) = TracingData::parse(tracing_data, 0) else { return };
        if data.order.is_native() {
            let formats = data.systems.iter().flat_map(|system| system.formats.iter());
            self.formats.extend(formats.map(|format| String::from_utf8_lossy(format.0).into_owned()));
            self.printk_formats = data.printk_formats.to_vec();
        }
    }

    /// Parses the formats. A format that does not parse is left out, so that its samples have their bytes.
    pub(crate) fn tracepoints(&self) -> Tracepoints<'_> {
        let parsed = self.formats.iter().filter_map(|text| Format::parse(text).ok());
        Tracepoints(parsed.map(|format| (format.id.into(), format)).collect())
    }

    /// Returns the file `printk_formats` of the recorded kernel: the texts at addresses that payloads have. Empty if unknown.
    pub(crate) fn printk_formats(&self) -> &[u8] {
        &self.printk_formats
    }

    /// Returns the lines about the machine and the program that recorded, if they are known.
    pub(crate) fn machine_lines(&self) -> impl Iterator<Item = String> {
        self.machine().into_iter().chain(self.recording())
    }

    /// Returns a line about the machine.
    fn machine(&self) -> Option<String> {
        let cpus = self.cpus.map(|(online, available)| format!("{online} of {available} CPUs online"));
        let release = self.release.as_ref().map(|release| format!("Linux {release}"));
        let host = self.host.as_deref().unwrap_or_default();
        line(&format!("machine {host}"), [release, self.arch.clone(), cpus, self.cpu.clone()])
    }

    /// Returns a line about the program that recorded.
    fn recording(&self) -> Option<String> {
        let command = self.command.as_ref().map(|words| words.join(" "));
        let version = self.version.as_ref().map(|version| format!("version {version}"));
        line("recorded by", [command, version])
    }
}

/// Returns a line, if there is something to say. Control characters are escaped.
fn line<const N: usize>(title: &str, parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let line = || format!("{}: {}", title.trim_end(), parts.join(", "));
    (!parts.is_empty()).then(|| Value::Text(line().as_bytes()).to_string())
}

/// Returns the name of an event: as the file has it, else made from the attr.
pub(crate) fn event_name(event: &FileEvent) -> String {
    match event.name() {
        Some(name) => Value::Text(name).to_string(),
        None => catalog::name_of(event.attr()),
    }
}

/// The formats of tracepoints by their id.
#[derive(Debug)]
pub(crate) struct Tracepoints<'t>(HashMap<u64, Format<'t>>);

impl<'t> Tracepoints<'t> {
    /// Returns the format of an event; `None` if it is no tracepoint or its format is unknown.
    pub(crate) fn find(&self, attr: &Attr) -> Option<&Format<'t>> {
        self.0.get(&attr.config).filter(|_| attr.kind == EventType::TRACEPOINT)
    }

    /// Returns whether a tracepoint has a field of this name.
    pub(crate) fn have_field(&self, name: &str) -> bool {
        self.0.values().any(|format| format.fields.iter().any(|field| field.name == name))
    }
}

/// Returns what is wrong with the metadata at the end of a file, which is written last.
fn metadata_gap<S: Source>(reader: &mut Reader<S>) -> Option<MetadataGap> {
    let FileMode::File(header) = reader.header().mode else { return None };
    if header.data.size == 0 || header.features == FeatureSet::default() {
        return Some(MetadataGap::Unfinished);
    }
    reader.verify_features().err().map(MetadataGap::Damaged)
}

/// When an event samples.
struct WhenSampled<'a> {
    attr: &'a Attr,
    /// Whether samples have the counts of a group.
    has_counts: bool,
}

impl fmt::Display for WhenSampled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_dummy = self.attr.kind == EventType::SOFTWARE && self.attr.config == Software::DUMMY.0;
        match self.attr.sampling() {
            Sampling::None if self.has_counts && !is_dummy => {
                f.write_str("sampled with the leader of its group")
            }
            Sampling::None => f.write_str("no samples"),
            Sampling::Frequency(frequency) => write!(f, "{frequency} samples a second"),
            Sampling::Period(1) => f.write_str("a sample for each"),
            Sampling::Period(period) => write!(f, "a sample for every {period}"),
        }
    }
}

/// The ids of an event.
struct Ids<'a>(&'a [u64]);

impl fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => Ok(()),
            [id] => write!(f, ", id {id}"),
            [first, .., last] => write!(f, ", {} ids from {first} to {last}", self.0.len()),
        }
    }
}

/// Nanoseconds as seconds.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000_000, self.0 % 1_000_000_000 / 1000)
    }
}
