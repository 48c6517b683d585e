//! The metadata of a recording: the machine, its events by name, the formats of its tracepoints.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Seek, Write};

use perf_abi::{Attr, AttrFlags, EventType};
use perf_decode::Value;
use perf_decode::tracepoint::Format;
use perf_events::catalog;
use perf_file::feature::TracingData;
use perf_file::format::Feature;
use perf_file::{ByteOrder, Event, FeatureData, Reader, Result, Stream};

/// The metadata of a recording.
#[derive(Debug, Default)]
pub(super) struct About {
    /// Lines about the machine and the recording.
    lines: Vec<String>,
    /// The name of each event, in the order of the file.
    names: Vec<String>,
    /// The texts of the formats of tracepoints.
    formats: Vec<String>,
}

impl About {
    /// Reads the metadata of a file. What is missing or malformed is left out: `--features` reports it.
    pub(super) fn read<R: Read + Seek>(reader: &mut Reader<Stream<R>>) -> Self {
        let mut about = Self::default();
        about.machine(reader);
        about.recording(reader);
        about.events(reader);
        about.formats = formats(reader).unwrap_or_default();
        about
    }

    /// Prints the metadata as lines that begin with `#`.
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.lines.iter().try_for_each(|line| writeln!(out, "# {line}"))
    }

    /// Returns the name of the event with this index in the file.
    pub(super) fn name(&self, index: usize) -> Option<&str> {
        self.names.get(index).map(String::as_str)
    }

    /// Parses the formats. A format that does not parse is left out, so that its samples have their bytes.
    pub(super) fn tracepoints(&self) -> Tracepoints<'_> {
        let parsed = self.formats.iter().filter_map(|text| Format::parse(text).ok());
        Tracepoints(parsed.map(|format| (format.id.into(), format)).collect())
    }

    /// Adds a line about the machine.
    fn machine<R: Read + Seek>(&mut self, reader: &mut Reader<Stream<R>>) {
        let mut parts = Vec::new();
        parts.extend(text(reader, Feature::OSRELEASE).map(|release| format!("Linux {release}")));
        parts.extend(text(reader, Feature::ARCH));
        parts.extend(with(reader, Feature::NRCPUS, |data| match data {
            FeatureData::CpuCount(count) => {
                Some(format!("{} of {} CPUs online", count.online, count.available))
            }
            _ => None,
        }));
        parts.extend(text(reader, Feature::CPUDESC));
        let host = text(reader, Feature::HOSTNAME).map_or(String::new(), |host| format!(" {host}"));
        if !parts.is_empty() || !host.is_empty() {
            self.lines.push(format!("machine{host}: {}", parts.join(", ")));
        }
    }

    /// Adds lines about the program that recorded, and about the time.
    fn recording<R: Read + Seek>(&mut self, reader: &mut Reader<Stream<R>>) {
        let command = with(reader, Feature::CMDLINE, |data| match data {
            FeatureData::CommandLine(words) => {
                Some(words.iter().map(|word| Value::Text(word).to_string()).collect::<Vec<_>>().join(" "))
            }
            _ => None,
        });
        let version = text(reader, Feature::VERSION).map(|version| format!("version {version}"));
        match (command, version) {
            (None, None) => {}
            (command, version) => {
                let parts: Vec<_> = command.into_iter().chain(version).collect();
                self.lines.push(format!("recorded by: {}", parts.join(", ")));
            }
        }
        let time = with(reader, Feature::SAMPLE_TIME, |data| match data {
            FeatureData::SampleTime(time) if time.last > 0 => Some(time),
            _ => None,
        });
        if let Some(time) = time {
            let length = time.last.saturating_sub(time.first);
            self.lines.push(format!("samples: from {} s, for {} s", Seconds(time.first), Seconds(length)));
        }
    }

    /// Adds the name of each event, and a line about it.
    fn events<R: Read + Seek>(&mut self, reader: &mut Reader<Stream<R>>) {
        let named = with(reader, Feature::EVENT_DESC, |data| match data {
            FeatureData::Events(events) => Some(
                events
                    .iter()
                    .map(|event| (event.event.ids().iter().next(), Value::Text(event.name).to_string()))
                    .collect::<Vec<_>>(),
            ),
            _ => None,
        });
        let named = named.unwrap_or_default();
        for (index, event) in reader.events().as_slice().iter().enumerate() {
            let name = name(event, index, &named);
            self.lines.push(format!("event {index} {name}: {}{}", Sampling(event.attr()), Ids(event.ids())));
            self.names.push(name);
        }
    }
}

/// Returns the name of an event: that with the same id, or without ids that at the same position.
fn name(event: &Event, index: usize, named: &[(Option<u64>, String)]) -> String {
    let id = event.ids().first();
    let same_id = named.iter().find(|(first, _)| first.is_some() && first.as_ref() == id);
    let found = if id.is_some() { same_id } else { named.get(index) };
    found.map_or_else(|| catalog::name_of(event.attr()), |(_, name)| name.clone())
}

/// Reads a feature and takes something from its content.
fn with<R: Read + Seek, T>(
    reader: &mut Reader<Stream<R>>,
    feature: Feature,
    take: impl FnOnce(FeatureData<'_>) -> Option<T>,
) -> Option<T> {
    let section = reader.feature(feature).ok()??;
    take(section.section().data().ok()?)
}

/// Reads a feature that is a text, with control characters escaped.
fn text<R: Read + Seek>(reader: &mut Reader<Stream<R>>, feature: Feature) -> Option<String> {
    with(reader, feature, |data| match data {
        FeatureData::Text(text) => Some(Value::Text(text).to_string()),
        _ => None,
    })
}

/// Reads the formats of the tracepoints. The payload of a sample is not swapped, so that formats of the other
/// byte order are not used.
fn formats<R: Read + Seek>(reader: &mut Reader<Stream<R>>) -> Result<Vec<String>> {
    let Some(section) = reader.feature(Feature::TRACING_DATA)? else { return Ok(Vec::new()) };
    let section = section.section();
    let data = TracingData::parse(section.bytes, section.offset())?;
    if data.order != ByteOrder::NATIVE {
        return Ok(Vec::new());
    }
    let formats = data.systems.iter().flat_map(|system| system.formats.iter());
    Ok(formats.map(|format| String::from_utf8_lossy(format.0).into_owned()).collect())
}

/// The formats of tracepoints by their id.
#[derive(Debug)]
pub(super) struct Tracepoints<'t>(HashMap<u64, Format<'t>>);

impl<'t> Tracepoints<'t> {
    /// Returns the format of an event; `None` if it is no tracepoint or its format is unknown.
    pub(super) fn find(&self, attr: &Attr) -> Option<&Format<'t>> {
        self.0.get(&attr.config).filter(|_| attr.kind == EventType::TRACEPOINT)
    }
}

/// When an event samples.
struct Sampling<'a>(&'a Attr);

impl fmt::Display for Sampling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.sample_period {
            0 => f.write_str("no samples"),
            frequency if self.0.flags.contains(AttrFlags::FREQ) => write!(f, "{frequency} samples a second"),
            1 => f.write_str("a sample for each"),
            period => write!(f, "a sample for every {period}"),
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
