//! The Firefox Profiler's format: one JSON object.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::time::{Duration, SystemTime};

use rustc_hash::FxHashMap;

use super::json_text::{Optional, Text, write_list};
use super::names::file_name;
use super::used::used_locations;
use crate::profile::{EventId, LocationId, Object, ObjectId, Profile, Sample, StackId, StringId, Unit};
use tables::Tables;
use timeline::{Timeline, Track};

mod tables;
mod timeline;

/// Writes a profile for the Firefox Profiler in its *processed profile* format, in the version that
/// samply writes.
///
/// Each thread has a track with its samples in time order, so that each sample needs a time:
/// collect the profile [with times](crate::ProfileBuilder::with_times). A thread that changed its
/// name has its latest name.
///
/// The samples of the first event with samples become samples. If its unit is ns, a sample weighs
/// its value in ms, and the value is also the CPU time since the previous sample. The format has no
/// unit for other counts: a sample weighs 1, as in samply and in the profiler's own import of
/// `perf script`. Samples of other events become markers with stacks;
/// [spans](crate::Event::is_span) have their lengths.
///
/// Names, source lines and inlined functions are in the file, so that the profiler need not look up
/// anything. An address is an offset in the file of its code. The profiler shows losses in its
/// metadata panel.
///
/// The file is written in parts: memory is needed for 4 bytes per sample and for the different
/// stacks of one thread.
///
/// ```
/// use perf_abi::{Attr, Software};
/// use perf_profile::{Event, Firefox, Locations, ProfileBuilder, Sample};
///
/// let mut locations = Locations::new();
/// let address = locations.add(None, 0x1234);
/// let mut builder = ProfileBuilder::new().with_times();
/// let event = builder.event(Event::new("cpu-clock", &Attr::software(Software::CPU_CLOCK)));
/// let thread = builder.thread(7, 7, locations.intern("sort"));
/// let stack = builder.stack(&[address]);
/// let time = Some(5_000_000);
/// builder.add(Sample { event, thread, stack, value: 1_000_000, count: 1, time, cpu: Some(0) });
/// let profile = builder.finish(locations);
///
/// let mut file = Vec::new();
/// Firefox::new().with_product("sort").write(&profile, &mut file)?;
/// assert!(file.starts_with(br#"{"meta":{"product":"sort","#));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Firefox {
    product: Option<String>,
    command: Option<String>,
    os: Option<String>,
    cpu: Option<String>,
    /// A wall clock time, and the time of the samples' clock at that moment.
    clock: Option<(SystemTime, u64)>,
    interval: Option<Duration>,
    comments: Vec<String>,
}

/// Version of the format. Later versions have the same contents in fewer tables; the profiler reads
/// all versions.
const VERSION: u32 = 55;

/// Sampling interval if it is unknown, as the profiler assumes for `perf script`.
const DEFAULT_INTERVAL: Duration = Duration::from_millis(1);

/// The largest integer that JavaScript represents exactly.
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Names and colors of the categories. The first one must be gray.
const CATEGORIES: [(&str, &str); 3] = [("Other", "grey"), ("User", "yellow"), ("Kernel", "orange")];
const OTHER: u32 = 0;
const USER: u32 = 1;
const KERNEL: u32 = 2;

/// Name of the marker type for samples of other events.
const MARKER: &str = "perf event";

impl Firefox {
    /// Creates a writer without metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title, usually the name of the recorded program. The default is `perf`.
    #[must_use]
    pub fn with_product(mut self, product: impl Into<String>) -> Self {
        self.product = Some(product.into());
        self
    }

    /// Sets the recorded command, or the command that recorded.
    #[must_use]
    pub fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// Sets the operating system, such as `Linux 6.12`.
    #[must_use]
    pub fn with_os(mut self, os: impl Into<String>) -> Self {
        self.os = Some(os.into());
        self
    }

    /// Sets the model name of the CPU.
    #[must_use]
    pub fn with_cpu(mut self, cpu: impl Into<String>) -> Self {
        self.cpu = Some(cpu.into());
        self
    }

    /// Sets the wall clock time at a time of the samples' clock in ns. By default, the first sample
    /// is from 1970.
    #[must_use]
    pub fn with_clock(mut self, wall: SystemTime, time: u64) -> Self {
        self.clock = Some((wall, time));
        self
    }

    /// Sets the interval between two samples of a running thread. The default is the period of the
    /// first event with samples if its unit is ns, otherwise 1 ms.
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = Some(interval);
        self
    }

    /// Adds a line about the recording.
    #[must_use]
    pub fn with_comment(mut self, comment: impl Into<String>) -> Self {
        self.comments.push(comment.into());
        self
    }

    /// Writes the file without compression. The profiler also opens it compressed by gzip.
    ///
    /// # Errors
    ///
    /// - A sample has no time: [`InvalidInput`](io::ErrorKind::InvalidInput).
    /// - Writing to `out` failed.
    pub fn write(&self, profile: &Profile, out: impl Write) -> io::Result<()> {
        let timeline = Timeline::new(profile)?;
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let out: &mut dyn Write = &mut out;
        self.write_meta(profile, &timeline, out)?;
        let libraries = Libraries::new(profile);
        out.write_all(b",\n\"libs\":")?;
        libraries.write(profile, out)?;
        out.write_all(b",\n\"threads\":[")?;
        let stacks: Vec<_> = profile.stacks().collect();
        for (index, track) in timeline.tracks().enumerate() {
            out.write_all(if index > 0 { b",\n" } else { b"\n" })?;
            write_thread(profile, &timeline, track, &libraries, &stacks, out)?;
        }
        out.write_all(b"],\n\"pages\":[],\"profilerOverhead\":[],\"counters\":[]}\n")?;
        out.flush()
    }

    fn write_meta(&self, profile: &Profile, timeline: &Timeline, out: &mut dyn Write) -> io::Result<()> {
        let product = Text(self.product.as_deref().unwrap_or("perf"));
        let length = Milliseconds(timeline.last.saturating_sub(timeline.first));
        let start = Milliseconds(self.start(timeline.first));
        let interval = Milliseconds(nanoseconds(self.interval(profile, timeline)));
        write!(
            out,
            "{{\"meta\":{{\"product\":{product},\"preprocessedProfileVersion\":{VERSION},\"version\":24,\"interval\":{interval},\
             \"startTime\":{start},\"profilingStartTime\":0,\"profilingEndTime\":{length},\"processType\":0,\"stackwalk\":1,\
             \"debug\":false,\"symbolicated\":true,\"pausedRanges\":[],\"usesOnlyOneStackType\":true,\
             \"sourceCodeIsNotOnSearchfox\":true,\"extensions\":{{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}},\
             \"sampleUnits\":{{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"}}"
        )?;
        for (key, text) in [("oscpu", &self.os), ("CPUName", &self.cpu), ("arguments", &self.command)] {
            if let Some(text) = text {
                write!(out, ",\"{key}\":{}", Text(text))?;
            }
        }
        out.write_all(b",\n\"categories\":")?;
        let categories = CATEGORIES.map(|(name, color)| {
            format!("{{\"name\":\"{name}\",\"color\":\"{color}\",\"subcategories\":[\"Other\"]}}")
        });
        write_list(out, categories)?;
        write!(
            out,
            ",\n\"markerSchema\":[{{\"name\":\"{MARKER}\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\
             \"chartLabel\":\"{{marker.data.value}}\",\"tableLabel\":\"{{marker.name}}: {{marker.data.value}}\",\"fields\":[\
             {{\"key\":\"value\",\"label\":\"Value\",\"format\":\"integer\"}},\
             {{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"}}]}}],\n\"extra\":["
        )?;
        let losses = profile.losses().lines();
        let sections = [("Recording", &self.comments), ("Missing", &losses)];
        for (index, (title, lines)) in sections.iter().filter(|(_, lines)| !lines.is_empty()).enumerate() {
            write!(out, "{}{{\"label\":\"{title}\",\"entries\":", if index > 0 { "," } else { "" })?;
            let entries = lines.iter().enumerate().map(|(index, line)| {
                format!("{{\"label\":\"{}\",\"format\":\"string\",\"value\":{}}}", index + 1, Text(line))
            });
            write_list(out, entries)?;
            out.write_all(b"}")?;
        }
        out.write_all(b"]}")
    }

    /// Returns the wall clock time at a time in ns, since 1970.
    fn start(&self, first: u64) -> u64 {
        let Some((wall, time)) = self.clock else { return 0 };
        let wall = wall.duration_since(SystemTime::UNIX_EPOCH).map_or(0, nanoseconds);
        wall.saturating_add(first.saturating_sub(time)).saturating_sub(time.saturating_sub(first))
    }

    fn interval(&self, profile: &Profile, timeline: &Timeline) -> Duration {
        let event = timeline.event.and_then(|event| profile.event(event));
        let period = event.filter(|event| event.unit == Unit::Nanoseconds && event.period > 1);
        let interval = self.interval.or(period.map(|event| Duration::from_nanos(event.period)));
        interval.unwrap_or(DEFAULT_INTERVAL)
    }
}

/// A time in ns, written in ms.
struct Milliseconds(u64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 1_000_000, self.0 % 1_000_000) {
            (whole, 0) => write!(f, "{whole}"),
            (whole, rest) => write!(f, "{whole}.{rest:06}"),
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The objects that contain addresses of samples, in file order.
struct Libraries {
    objects: Vec<ObjectId>,
    indexes: FxHashMap<ObjectId, u32>,
}

impl Libraries {
    fn new(profile: &Profile) -> Self {
        let locations = profile.locations();
        let mut is_used = vec![false; locations.objects().len()];
        for (location, is_location_used) in locations.as_slice().iter().zip(used_locations(profile)) {
            let object = location.object.filter(|_| is_location_used);
            if let Some(is_used) = object.and_then(|object| is_used.get_mut(object.index())) {
                *is_used = true;
            }
        }
        let used = is_used.into_iter().enumerate().filter(|&(_, is_used)| is_used);
        let objects: Vec<_> = used.map(|(index, _)| ObjectId::next(index)).collect();
        let indexes = (0..).zip(&objects).map(|(index, &object)| (object, index)).collect();
        Self { objects, indexes }
    }

    fn index(&self, object: ObjectId) -> Option<u32> {
        self.indexes.get(&object).copied()
    }

    fn write(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        let locations = profile.locations();
        let objects = self.objects.iter().filter_map(|&id| locations.object(id));
        write_list(
            out,
            objects.map(|object| {
                let path = locations.string(object.path);
                let (name, path) = (Text(file_name(path)), Text(path));
                let code_id = Optional(object.build_id.map(|id| Text(&id.to_string()).to_string()));
                let breakpad_id = breakpad_id(object);
                format!(
                    "{{\"arch\":null,\"name\":{name},\"path\":{path},\"debugName\":{name},\"debugPath\":{path},\
                     \"breakpadId\":\"{breakpad_id}\",\"codeId\":{code_id}}}"
                )
            }),
        )
    }
}

/// Returns the id under which symbol servers store a file: the first 16 bytes of its build id as a
/// GUID, and 0.
fn breakpad_id(object: &Object) -> String {
    let mut guid = [0; 16];
    let build_id = object.build_id;
    for (to, from) in guid.iter_mut().zip(build_id.as_ref().map_or(&[][..], |id| id.as_bytes())) {
        *to = *from;
    }
    // The first three numbers of a GUID are little-endian: 32, 16 and 16 bits.
    for number in [0..4, 4..6, 6..8] {
        if let Some(bytes) = guid.get_mut(number) {
            bytes.reverse();
        }
    }
    format!("{:032X}0", u128::from_be_bytes(guid))
}

/// Writes a thread with its tables.
fn write_thread(
    profile: &Profile,
    timeline: &Timeline,
    track: &Track,
    libraries: &Libraries,
    stacks: &[(LocationId, Option<StackId>)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut tables = Tables::new(profile.locations(), libraries, stacks);
    let samples = || timeline.samples(profile, track);
    let name = |id: StringId| profile.locations().string(id);
    let Track { pid, tid, .. } = *track;
    let (thread, process) = (Text(name(track.name)), Text(name(timeline.process_name(track))));
    let has_markers = samples().any(|sample| Some(sample.event) != timeline.event);
    write!(
        out,
        "{{\"name\":{thread},\"isMainThread\":{},\"processName\":{process},\"pid\":\"{pid}\",\"tid\":{tid},\
         \"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\
         \"unregisterTime\":null,\"pausedRanges\":[],\"showMarkersInTimeline\":{has_markers},\n\"samples\":",
        pid == tid
    )?;
    write_samples(profile, timeline, track, &mut tables, out)?;
    out.write_all(b",\n\"markers\":")?;
    write_markers(profile, timeline, track, &mut tables, out)?;
    tables.write(out)?;
    out.write_all(b"}")
}

fn write_samples(
    profile: &Profile,
    timeline: &Timeline,
    track: &Track,
    tables: &mut Tables<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let samples = || timeline.samples(profile, track).filter(|sample| Some(sample.event) == timeline.event);
    let event = timeline.event.and_then(|event| profile.event(event));
    write!(out, "{{\"length\":{},\"stack\":", samples().count())?;
    write_list(out, samples().map(|sample| Optional(tables.stack(sample.stack))))?;
    out.write_all(b",\"time\":")?;
    write_list(out, samples().map(|sample| timeline.time(sample)))?;
    if let Some(event) = event.filter(|event| event.unit == Unit::Nanoseconds) {
        out.write_all(b",\"weightType\":\"tracing-ms\",\"weight\":")?;
        write_list(out, samples().map(|sample| Milliseconds(sample.value)))?;
        out.write_all(b",\"threadCPUDelta\":")?;
        // A thread uses no CPU in an off-CPU span.
        write_list(out, samples().map(|sample| if event.is_span { 0 } else { sample.value }))?;
    } else {
        out.write_all(b",\"weightType\":\"samples\",\"weight\":")?;
        write_list(out, samples().map(|sample| sample.count))?;
    }
    out.write_all(b"}")
}

fn write_markers<'p>(
    profile: &'p Profile,
    timeline: &Timeline,
    track: &Track,
    tables: &mut Tables<'p>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let markers = || timeline.samples(profile, track).filter(|sample| Some(sample.event) != timeline.event);
    let length = markers().count();
    write!(out, "{{\"length\":{length},\"data\":")?;
    let data = markers().map(|sample| {
        let (time, cpu) = (timeline.time(sample), Optional(sample.cpu));
        let cause = tables.stack(sample.stack);
        let cause = cause.map(|stack| format!(",\"cause\":{{\"time\":{time},\"stack\":{stack}}}"));
        let value = sample.value;
        let cause = cause.unwrap_or_default();
        format!("{{\"type\":\"{MARKER}\",\"value\":{value},\"cpu\":{cpu}{cause}}}")
    });
    write_list(out, data)?;
    out.write_all(b",\"name\":")?;
    let name = |event: EventId| profile.event(event).map_or("", |event| &event.name);
    write_list(out, markers().map(|sample| tables.string(name(sample.event))))?;
    out.write_all(b",\"startTime\":")?;
    write_list(out, markers().map(|sample| timeline.time(sample)))?;
    // Phase 0 is an instant without an end, phase 1 an interval.
    let is_span = |sample: &Sample| profile.event(sample.event).is_some_and(|event| event.is_span);
    let end = |sample: &Sample| Milliseconds(timeline.time(sample).0.saturating_add(sample.value));
    out.write_all(b",\"endTime\":")?;
    write_list(out, markers().map(|sample| Optional(is_span(sample).then(|| end(sample)))))?;
    out.write_all(b",\"phase\":")?;
    write_list(out, markers().map(|sample| u8::from(is_span(sample))))?;
    out.write_all(b",\"category\":")?;
    write_list(out, std::iter::repeat_n("0", length))?;
    out.write_all(b"}")
}

impl Timeline {
    /// Returns the time of a sample since the first sample.
    fn time(&self, sample: &Sample) -> Milliseconds {
        Milliseconds(sample.time.unwrap_or(self.first).saturating_sub(self.first))
    }
}

#[cfg(test)]
mod tests;
