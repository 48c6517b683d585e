//! The metadata of a recording: the machine, its events by name, the formats of its tracepoints.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

use perf_abi::{Attr, EventType, Sampling};
use perf_decode::Value;
use perf_decode::tracepoint::Format;
use perf_file::feature::TracingData;
use perf_file::format::Feature;
use perf_file::{FileEvent, Reader, Source};
use perf_session::catalog;

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
    /// Reads the metadata of a file, or of a pipe before its records. What is missing or malformed is left out:
    /// `--features` reports it.
    pub(super) fn read<S: Source>(reader: &mut Reader<S>) -> Self {
        let mut about = Self::default();
        // `next` returns the error again.
        let _ = reader.read_metadata();
        about.machine(reader);
        about.recording(reader);
        for (index, event) in reader.events().as_slice().iter().enumerate() {
            let name = name(event);
            about.lines.push(format!(
                "event {index} {name}: {}{}",
                WhenSampled(event.attr()),
                Ids(event.ids())
            ));
            about.names.push(name);
        }
        if let Ok(Some(section)) = reader.feature(Feature::TRACING_DATA) {
            about.add_formats(section.section().bytes);
        }
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

    /// Adds the formats of tracing data. The payload of a sample is not swapped, so that formats of the other
    /// byte order are not used; nor are those of malformed data.
    pub(super) fn add_formats(&mut self, tracing_data: &[u8]) {
        let Ok(data) = TracingData::parse(tracing_data, 0) else { return };
        if data.order.is_native() {
            let formats = data.systems.iter().flat_map(|system| system.formats.iter());
            self.formats.extend(formats.map(|format| String::from_utf8_lossy(format.0).into_owned()));
        }
    }

    /// Parses the formats. A format that does not parse is left out, so that its samples have their bytes.
    pub(super) fn tracepoints(&self) -> Tracepoints<'_> {
        let parsed = self.formats.iter().filter_map(|text| Format::parse(text).ok());
        Tracepoints(parsed.map(|format| (format.id.into(), format)).collect())
    }

    /// Adds a line about the machine.
    fn machine<S: Source>(&mut self, reader: &mut Reader<S>) {
        let cpus = reader.cpu_count().ok().flatten();
        let parts = [
            reader.os_release().ok().flatten().map(|release| format!("Linux {release}")),
            reader.arch().ok().flatten(),
            cpus.map(|count| format!("{} of {} CPUs online", count.online, count.available)),
            reader.cpu_description().ok().flatten(),
        ];
        let host = reader.hostname().ok().flatten().unwrap_or_default();
        self.line(&format!("machine {host}"), parts.into_iter().flatten());
    }

    /// Adds lines about the program that recorded, and about the time.
    fn recording<S: Source>(&mut self, reader: &mut Reader<S>) {
        let command = reader.command_line().ok().flatten().map(|words| words.join(" "));
        let version = reader.tool_version().ok().flatten().map(|version| format!("version {version}"));
        self.line("recorded by", command.into_iter().chain(version));
        if let Some(time) = reader.sample_time().ok().flatten().filter(|time| time.last > 0) {
            let length = time.last.saturating_sub(time.first);
            self.lines.push(format!("samples: from {} s, for {} s", Seconds(time.first), Seconds(length)));
        }
    }

    /// Adds a line, if there is something to say. Control characters are escaped.
    fn line(&mut self, title: &str, parts: impl Iterator<Item = String>) {
        let parts: Vec<_> = parts.collect();
        if !parts.is_empty() {
            let line = format!("{}: {}", title.trim_end(), parts.join(", "));
            self.lines.push(Value::Text(line.as_bytes()).to_string());
        }
    }
}

/// Returns the name of an event: as the file has it, else made from the attr.
pub(super) fn name(event: &FileEvent) -> String {
    match event.name() {
        Some(name) => Value::Text(name).to_string(),
        None => catalog::name_of(event.attr()),
    }
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
struct WhenSampled<'a>(&'a Attr);

impl fmt::Display for WhenSampled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.sampling() {
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
