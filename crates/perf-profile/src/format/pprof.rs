//! The format of pprof: a compressed Protocol Buffers message.

use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message as _;
use rustc_hash::FxHashMap;

use super::names::file_name;
use super::used::used_locations;
use crate::profile::{Event, LocationId, Object, ObjectId, Profile, StackId, ThreadId};

mod message;

/// Writes a profile for `go tool pprof` and other readers of `profile.proto`: Pyroscope, Parca,
/// speedscope, Perfetto, the OpenTelemetry collector.
///
/// Each event has two values, its samples and their sum, so that one file contains all events:
/// `pprof -sample_index=`. They are named `samples` and like the event; with several events, the
/// former is `EVENT_samples`. The name of the thread is the label `comm`, its control group the
/// label `cgroup` if it was recorded; `pid` and `tid` are numeric labels. Losses are in the
/// comments. Samples are summed up, even with times.
///
/// The file is written in parts: memory is only needed for the different stacks.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Event, Locations, Pprof, ProfileBuilder};
///
/// let mut locations = Locations::new();
/// let address = locations.add(None, 0x1234);
/// let mut builder = ProfileBuilder::new();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let stack = builder.stack(&[address]);
/// builder.sample(event, thread, stack, 1_000_000);
/// let profile = builder.finish(locations);
///
/// let mut file = Vec::new();
/// Pprof::new().with_comment("sort").write(&profile, &mut file)?;
/// assert!(file.starts_with(&[0x1f, 0x8b]));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pprof {
    time: Option<SystemTime>,
    duration: Option<Duration>,
    comments: Vec<String>,
    is_raw: bool,
}

impl Pprof {
    /// Creates a writer of a compressed file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the wall clock time at the start of the recording.
    #[must_use]
    pub fn with_time(mut self, time: SystemTime) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the duration of the recording. The default is the time between the first and the last
    /// sample, if the profile has times.
    #[must_use]
    pub fn with_duration(mut self, duration: Duration) -> Self {
        self.duration = Some(duration);
        self
    }

    /// Adds a comment, such as the recorded command. `pprof -comments` prints it.
    #[must_use]
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        self.comments.push(comment.into());
        self
    }

    /// Writes the message without compression.
    #[must_use]
    pub fn uncompressed(mut self) -> Self {
        self.is_raw = true;
        self
    }

    /// Writes the file in parts.
    ///
    /// # Errors
    ///
    /// Writing to `out` failed.
    pub fn write(&self, profile: &Profile, mut out: impl Write) -> io::Result<()> {
        if self.is_raw {
            return self.write_parts(profile, &mut out);
        }
        // An eighth larger than the default level, in a third of the time, like Go's runtime.
        let mut out = GzEncoder::new(out, Compression::fast());
        self.write_parts(profile, &mut out)?;
        out.finish().map(drop)
    }

    fn write_parts(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        let mut parts = Parts::new(out);
        self.add_head(profile, &mut parts);
        add_samples(profile, &mut parts)?;
        let used = used_locations(profile);
        add_mappings(profile, &used, &mut parts)?;
        add_locations(profile, &used, &mut parts)?;
        parts.flush()
    }

    fn add_head(&self, profile: &Profile, parts: &mut Parts<'_>) {
        let names = value_names(profile.events());
        for (event, (samples, values)) in profile.events().iter().zip(names) {
            let samples = parts.value_type(&samples, "count");
            let values = parts.value_type(&values, event.unit.as_str());
            parts.message.sample_type.extend([samples, values]);
        }
        // The values of the first event.
        parts.message.default_sample_type =
            parts.message.sample_type.get(1).map_or(0, |values| values.r#type);
        if let Some(event) = profile.events().first() {
            parts.message.period_type = Some(parts.value_type(&event.name, event.unit.as_str()));
            parts.message.period = clamp(event.period);
        }
        let since_epoch = self.time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        parts.message.time_nanos = since_epoch.map_or(0, nanoseconds);
        let duration = self.duration.or_else(|| length(profile));
        parts.message.duration_nanos = duration.map_or(0, nanoseconds);
        for comment in self.comments.iter().chain(&profile.losses().lines()) {
            let comment = parts.string(comment);
            parts.message.comment.push(comment);
        }
    }
}

/// Returns the names of the two values of each event. Names are unique, so that a value can be
/// chosen by name.
fn value_names(events: &[Event]) -> Vec<(String, String)> {
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    let mut unique = |name: String| {
        let count = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count == 1 { name } else { format!("{name}#{count}") }
    };
    events
        .iter()
        .map(|event| {
            let samples = match events {
                [_] => "samples".to_owned(),
                _ => format!("{}_samples", event.name),
            };
            (unique(samples), unique(event.name.clone()))
        })
        .collect()
}

/// Returns the time between the first and the last sample.
fn length(profile: &Profile) -> Option<Duration> {
    let times = || profile.samples().iter().filter_map(|sample| sample.time);
    Some(Duration::from_nanos(times().max()? - times().min()?))
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

fn clamp(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Returns the id of an entry, which must not be 0.
fn id(index: usize) -> u64 {
    index as u64 + 1
}

/// A file whose message is written in parts. By the rules of Protocol Buffers, readers concatenate
/// repeated fields of all parts.
struct Parts<'a> {
    out: &'a mut dyn Write,
    message: message::Profile,
    strings: FxHashMap<String, i64>,
    buffer: Vec<u8>,
}

impl<'a> Parts<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        let mut parts = Self {
            out,
            message: message::Profile::default(),
            strings: FxHashMap::default(),
            buffer: Vec::new(),
        };
        // The first string must be empty.
        parts.string("");
        parts
    }

    /// Returns the index of a string, adding it if it is new.
    fn string(&mut self, text: &str) -> i64 {
        if let Some(&index) = self.strings.get(text) {
            return index;
        }
        let index = i64::try_from(self.strings.len()).unwrap_or(i64::MAX);
        self.strings.insert(text.to_owned(), index);
        self.message.string_table.push(text.to_owned());
        index
    }

    fn value_type(&mut self, name: &str, unit: &str) -> message::ValueType {
        message::ValueType { r#type: self.string(name), unit: self.string(unit) }
    }

    /// Writes the additions since the last flush if they are large.
    fn flush_large(&mut self) -> io::Result<()> {
        let message = &self.message;
        if message.sample.len().max(message.location.len()) < 256 { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.buffer.clear();
        std::mem::take(&mut self.message).encode(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }
}

/// Sums up the values of all events by stack and thread, and writes them.
fn add_samples(profile: &Profile, parts: &mut Parts<'_>) -> io::Result<()> {
    let columns = profile.events().len() * 2;
    let mut rows: FxHashMap<(Option<StackId>, ThreadId), usize> = FxHashMap::default();
    let mut keys = Vec::new();
    let mut values: Vec<u64> = Vec::new();
    for sample in profile.samples() {
        let key = (sample.stack, sample.thread);
        let row = *rows.entry(key).or_insert(keys.len());
        if row == keys.len() {
            keys.push(key);
            values.resize(values.len() + columns, 0);
        }
        let column = row * columns + sample.event.index() * 2;
        for (sum, value) in values.iter_mut().skip(column).zip([sample.count, sample.value]) {
            *sum = sum.saturating_add(value);
        }
    }
    let names = ["comm", "pid", "tid"].map(|name| parts.string(name));
    let has_cgroups = profile.threads().iter().any(|thread| thread.cgroup.is_some());
    let cgroup_key = has_cgroups.then(|| parts.string("cgroup"));
    for ((stack, thread), values) in keys.into_iter().zip(values.chunks_exact(columns.max(1))) {
        let comm = parts.string(profile.thread_name(thread));
        let cgroup = cgroup_key.zip(profile.cgroup(thread)).map(|(key, path)| (key, parts.string(path)));
        let (pid, tid) = profile.thread(thread).map_or((0, 0), |thread| (thread.pid, thread.tid));
        let [comm_key, pid_key, tid_key] = names;
        let label = |key, num: u32| message::Label { key, num: num.into(), ..message::Label::default() };
        let text = |(key, str)| message::Label { key, str, ..message::Label::default() };
        parts.message.sample.push(message::Sample {
            location_id: profile.stack(stack).map(|location| id(location.index())).collect(),
            value: values.iter().map(|&value| clamp(value)).collect(),
            label: [text((comm_key, comm)), label(pid_key, pid), label(tid_key, tid)]
                .into_iter()
                .chain(cgroup.map(text))
                .collect(),
        });
        parts.flush_large()?;
    }
    Ok(())
}

/// Facts about the used locations of an object.
#[derive(Clone, Debug, Default)]
struct Facts {
    addresses: Option<Range<u64>>,
    has_functions: bool,
    has_files: bool,
    has_lines: bool,
    has_inlined: bool,
}

fn add_mappings(profile: &Profile, used: &[bool], parts: &mut Parts<'_>) -> io::Result<()> {
    let locations = profile.locations();
    let mut facts: FxHashMap<ObjectId, Facts> = FxHashMap::default();
    for (index, location) in locations.as_slice().iter().enumerate() {
        let (Some(true), Some(object)) = (used.get(index), location.object) else { continue };
        let facts = facts.entry(object).or_default();
        let address = location.address;
        let addresses = facts.addresses.get_or_insert(address..address);
        *addresses = addresses.start.min(address)..addresses.end.max(address.saturating_add(1));
        let frames = locations.frames(LocationId::next(index));
        // A reader that has the symbols can still name functions that are called by their start.
        facts.has_functions |= !frames.is_empty() && location.unnamed.is_none();
        facts.has_inlined |= frames.len() > 1;
        for frame in frames {
            facts.has_files |=
                locations.function(frame.function).is_some_and(|function| function.file.is_some());
            facts.has_lines |= frame.line > 0;
        }
    }
    let mut objects: Vec<_> = facts
        .into_iter()
        .filter_map(|(id, facts)| Some((id, locations.object(id)?, facts)))
        .map(|(id, object, facts)| (is_library(object, locations.string(object.path)), id, object, facts))
        .collect();
    // pprof shows the first file as the program.
    objects.sort_unstable_by_key(|&(is_library, id, _, _)| (is_library, id));
    for (_, object_id, object, facts) in objects {
        let (range, file_offset) = mapping(object, facts.addresses.unwrap_or(object.range.clone()));
        let build_id = object.build_id.map(|build_id| parts.string(&build_id.to_string()));
        let mapping = message::Mapping {
            id: id(object_id.index()),
            memory_start: range.start,
            memory_limit: range.end,
            file_offset,
            filename: parts.string(locations.string(object.path)),
            build_id: build_id.unwrap_or(0),
            has_functions: facts.has_functions,
            has_filenames: facts.has_files,
            has_line_numbers: facts.has_lines,
            has_inline_frames: facts.has_inlined,
        };
        parts.message.mapping.push(mapping);
    }
    parts.flush()
}

/// Returns true if an object is probably not the recorded program.
fn is_library(object: &Object, path: &str) -> bool {
    let name = file_name(path);
    object.is_kernel || name.is_empty() || name.starts_with('[') || name.contains(".so")
}

/// Extends the range of an object, and its file offset at the start, to include these addresses,
/// because the object may have other mappings before or after the first mapping.
fn mapping(object: &Object, addresses: Range<u64>) -> (Range<u64>, u64) {
    let range = &object.range;
    let start = range.start.min(addresses.start);
    // An object without a known mapping includes all addresses.
    let end = range.end.max(addresses.end);
    (start..end, object.file_offset.saturating_sub(range.start - start))
}

fn add_locations(profile: &Profile, used: &[bool], parts: &mut Parts<'_>) -> io::Result<()> {
    let locations = profile.locations();
    let mut functions = vec![false; locations.functions().len()];
    for (index, location) in locations.as_slice().iter().enumerate() {
        if used.get(index) != Some(&true) {
            continue;
        }
        let frames = locations.frames(LocationId::next(index));
        let line = frames.iter().map(|frame| message::Line {
            function_id: id(frame.function.index()),
            line: frame.line.into(),
            column: frame.column.into(),
        });
        parts.message.location.push(message::Location {
            id: id(index),
            mapping_id: location.object.map_or(0, |object| id(object.index())),
            address: location.address,
            line: line.collect(),
            is_folded: false,
        });
        for frame in frames {
            let is_new = functions
                .get_mut(frame.function.index())
                .is_some_and(|known| !std::mem::replace(known, true));
            let Some(function) = locations.function(frame.function).filter(|_| is_new) else { continue };
            let name = parts.string(locations.string(function.name));
            let filename = function.file.map_or(0, |file| parts.string(locations.string(file)));
            // The mangled name is unknown and left out: readers would demangle it again.
            parts.message.function.push(message::Function {
                id: id(frame.function.index()),
                name,
                filename,
                ..message::Function::default()
            });
        }
        parts.flush_large()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
