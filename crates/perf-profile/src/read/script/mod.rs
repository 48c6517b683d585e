//! Samples as text, in the form of the perf tool's `script`, which many viewers read.

use std::fmt;
use std::io::{self, BufWriter, Write};

use perf_abi::{Attr, SampleType};
use perf_decode::{Layout, LostCounts, Record, Sample, breaks_line};
use perf_symbols::{Stack, StackEnd, UserSource};
use perf_tracepoint::{Format, KernelNames, PrintFormat};

use super::{Filter, Members, Metadata, Records, Tracepoints};
use crate::collect::Resolver;
use crate::profile::{Event, UNKNOWN};

mod branches;
mod fields;
mod frames;
mod side_band;

pub use fields::ScriptFields;
use frames::{Address, Frame, FrameLines};
pub use side_band::SideBandKinds;

/// Writes each sample of a recording with its stack, in the form of `perf script`, which
/// cargo-flamegraph, inferno, the flame graph scripts, speedscope and the Firefox Profiler read.
///
/// ```no_run
/// use perf_profile::read::{Filter, Recording, ScriptFields, ScriptWriter, resolver};
///
/// fn main() -> std::io::Result<()> {
///     let (about, mut records) = Recording::open("perf.data")?.in_time_order();
///     let tracepoints = about.tracepoints();
///     let fields: Vec<_> = about.events().map(|(_, attr)| ScriptFields::default_of(attr)).collect();
///     let resolver = resolver(&about, about.finder(), true)?;
///     let script = ScriptWriter::new(std::io::stdout(), &about, &tracepoints, &fields, resolver);
///     let losses = script.write(&mut records, &Filter::default())?;
///     eprintln!("{}", losses.lost);
///     records.finish()
/// }
/// ```
pub struct ScriptWriter<'a, W: Write> {
    out: BufWriter<W>,
    about: &'a Metadata,
    events: Vec<EventLine<'a>>,
    resolver: Resolver,
    name_width: usize,
    has_ns: bool,
    /// Records to write besides samples.
    side_band: SideBandKinds,
    /// The text of a payload.
    payload: Vec<u8>,
    /// The functions and texts in payloads.
    kernel: Box<dyn KernelNames + 'a>,
    lines: FrameLines,
    samples: Vec<Waiting>,
    heads: Vec<u8>,
    frames: Vec<Frame>,
    /// Texts after the frames.
    tails: Vec<u8>,
    /// Samples that wait for the user part of their stack: cookie, process and index in `samples`.
    deferred: Vec<(u64, u32, usize, Stack)>,
    losses: ScriptLosses,
}

/// The losses and gaps of the samples that a [`ScriptWriter`] wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptLosses {
    /// Records and samples that the recording lost.
    pub lost: LostCounts,
    /// Records that came after a record of a later time.
    pub late: u64,
    /// Stacks that end where the copy of the stack ends.
    pub cut_stacks: u64,
    /// Bytes of the copy that leads to more frames of each of them.
    pub needed_stack_bytes: u64,
    /// Samples that were written.
    pub samples: u64,
    /// Samples with an address without a name.
    pub unnamed_samples: u64,
    /// Numbers of addresses without a name, with the reasons.
    pub unnamed_addresses: Vec<(u64, String)>,
    /// Addresses that were named after the last of several functions.
    pub reused_addresses: u64,
}

/// Samples that are named and written together.
const BATCH: usize = 4096;

/// An event, and the form of its samples.
struct EventLine<'a> {
    name: &'a str,
    attr: &'a Attr,
    fields: ScriptFields,
    has_callchain: bool,
    /// Layout of the payload of a tracepoint.
    format: Option<&'a Format<'a>>,
    /// The kernel's print format of the payload.
    print_format: Option<PrintFormat>,
}

/// A buffered sample, before its names are looked up.
struct Waiting {
    fields: ScriptFields,
    has_callchain: bool,
    /// End of the sample's head in the text.
    head: usize,
    /// End of the sample's frames.
    frames: usize,
    /// End of the text after the frames.
    tail: usize,
    /// False for a record of another kind.
    is_sample: bool,
    /// All frames, if a later record completed the stack.
    completed: Option<Vec<Frame>>,
}

/// The thread, the CPU and the time of a line.
struct Start {
    /// The thread whose name is printed.
    thread: Option<u32>,
    pid: Option<u32>,
    tid: Option<u32>,
    cpu: Option<u32>,
    time: Option<u64>,
}

/// Names of no kernel.
struct NoNames;

impl KernelNames for NoNames {}

impl<'a, W: Write> ScriptWriter<'a, W> {
    /// Creates a writer with the fields of each event, in the order of the metadata. Fields that
    /// the samples of an event do not have are left out. The resolver is from
    /// [`resolver`](super::resolver).
    pub fn new(
        out: W,
        about: &'a Metadata,
        tracepoints: &'a Tracepoints<'a>,
        fields: &[ScriptFields],
        resolver: Resolver,
    ) -> Self {
        let event = |((name, attr), &fields): ((&'a str, &'a Attr), &ScriptFields)| {
            let has_callchain = attr.sample_type.contains(SampleType::CALLCHAIN) && fields.has_frames();
            let format = tracepoints.find(attr);
            let print_format = format.and_then(PrintFormat::parse);
            EventLine { name, attr, fields, has_callchain, format, print_format }
        };
        Self {
            out: BufWriter::with_capacity(1 << 16, out),
            about,
            events: about.events().zip(fields).map(event).collect(),
            // Unmapped frames are written as in the perf tool.
            resolver: resolver.with_unmapped_frames(),
            name_width: about.events().map(|(name, _)| name.len()).max().unwrap_or(0),
            has_ns: false,
            side_band: SideBandKinds::default(),
            payload: Vec::new(),
            kernel: Box::new(NoNames),
            lines: FrameLines::default(),
            samples: Vec::new(),
            heads: Vec::new(),
            frames: Vec::new(),
            tails: Vec::new(),
            deferred: Vec::new(),
            losses: ScriptLosses::default(),
        }
    }

    /// Writes times with nanoseconds, instead of microseconds.
    #[must_use]
    pub fn with_ns(self) -> Self {
        Self { has_ns: true, ..self }
    }

    /// Writes records of these kinds, too, at their places among the samples.
    #[must_use]
    pub fn with_side_band(self, kinds: SideBandKinds) -> Self {
        Self { side_band: kinds, ..self }
    }

    /// Writes the address of each sample only, without its stack.
    #[must_use]
    pub fn without_callchains(mut self) -> Self {
        self.events.iter_mut().for_each(|event| event.has_callchain = false);
        self
    }

    /// Returns the print formats of the tracepoints, which need
    /// [names](Self::with_kernel_names) of the kernel.
    pub fn print_formats(&self) -> impl Iterator<Item = &PrintFormat> + Clone {
        self.events.iter().filter_map(|event| event.print_format.as_ref())
    }

    /// Writes the names of the kernel's functions and texts in payloads, instead of their
    /// addresses.
    #[must_use]
    pub fn with_kernel_names(self, names: impl KernelNames + 'a) -> Self {
        Self { kernel: Box::new(names), ..self }
    }

    /// Writes the samples that the filter chooses, and returns what is missing. Damage is in the
    /// result of [`Records::finish`].
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(mut self, records: &mut Records, filter: &Filter) -> io::Result<ScriptLosses> {
        let mut members = Members::new(self.about);
        while let Some(next) = records.next_decoded(self.resolver.spaces_mut()) {
            let Some((record, decoded)) = next else { continue };
            let has_line = self.side_band.has(&decoded);
            // The name of a thread is the one that the record gives it; a thread that exits has
            // none after it.
            let is_exit = matches!(decoded, Record::Exit(_));
            let event = || record.event().map_or(0, |(index, _)| index);
            if has_line && is_exit {
                self.add_side_band(event(), &decoded)?;
            }
            self.update(&decoded);
            if has_line && !is_exit {
                self.add_side_band(event(), &decoded)?;
            }
            members.update(&decoded);
            let Record::Sample(sample) = &decoded else { continue };
            let Ok((index, file_event)) = record.event() else { continue };
            let counted = members.of(&file_event.attr, sample);
            if !filter.matches(self.resolver.spaces(), sample) {
                continue;
            }
            match counted {
                None => self.add(index, sample, None)?,
                Some(counted) => {
                    for (index, value) in counted {
                        self.add(index, sample, Some(value))?;
                    }
                }
            }
        }
        records.add_damage(members.damage());
        self.print()?;
        self.out.flush()?;
        self.losses.late = records.late();
        self.losses.unnamed_addresses = self.resolver.symbolizer().counts().reasons();
        self.losses.reused_addresses = self.resolver.reused_addresses();
        Ok(self.losses)
    }

    /// Applies a record.
    fn update<L: Layout>(&mut self, record: &Record<'_, L>) {
        self.resolver.update(record);
        match record {
            Record::Lost(_) | Record::LostSamples(_) => self.losses.lost.note(record),
            Record::CallchainDeferred(chain) => {
                for (cookie, pid, index, mut stack) in std::mem::take(&mut self.deferred) {
                    if cookie == chain.cookie() && stack.add_deferred(chain) {
                        let locations = self.resolver.locate(pid, None, &stack);
                        let frames = stack.frames().iter().zip(locations);
                        let frames =
                            frames.map(|(frame, &location)| Frame::of_callchain(frame, location, false));
                        if let Some(sample) = self.samples.get_mut(index) {
                            sample.completed = Some(frames.collect());
                        }
                    } else {
                        self.deferred.push((cookie, pid, index, stack));
                    }
                }
            }
            _ => {}
        }
    }

    /// Buffers a sample, and prints the buffered samples when there are many. `value` replaces the
    /// period.
    fn add<L: Layout>(&mut self, index: usize, sample: &Sample<'_, L>, value: Option<u64>) -> io::Result<()> {
        let Some(event) = self.events.get(index) else { return Ok(()) };
        let (fields, has_callchain) = (event.fields, event.has_callchain);
        self.push_head(index, sample, value);
        if fields.has_frames() {
            let resolved = self.resolver.resolve(sample);
            let is_unwound = resolved.stack.user_source() == UserSource::StackCopy;
            let kernel_frames = resolved.stack.kernel().len();
            let frames = resolved.stack.frames().iter().zip(resolved.locations).enumerate();
            let frames = frames.map(|(index, (frame, &location))| {
                let is_call = is_unwound && index >= kernel_frames;
                Frame::of_callchain(frame, location, is_call)
            });
            match resolved.stack.end() {
                StackEnd::Truncated { needed } => {
                    self.losses.cut_stacks += 1;
                    self.losses.needed_stack_bytes = self.losses.needed_stack_bytes.max(needed);
                }
                StackEnd::Deferred { cookie } => {
                    let pid = sample.pid().unwrap_or(0);
                    self.deferred.push((cookie, pid, self.samples.len(), resolved.stack.clone()));
                }
                _ => {}
            }
            if has_callchain {
                self.frames.extend(frames);
            } else {
                let address = Address::Raw(sample.ip().unwrap_or(0));
                self.frames.extend(frames.take(1).map(|frame| Frame { address, ..frame }));
            }
        }
        if let Some(branches) = sample.branches().filter(|_| fields.contains(ScriptFields::BRSTACK)) {
            branches::push(&mut self.tails, branches);
        }
        self.samples.push(Waiting {
            fields,
            has_callchain,
            head: self.heads.len(),
            frames: self.frames.len(),
            tail: self.tails.len(),
            is_sample: true,
            completed: None,
        });
        if self.samples.len() >= BATCH { self.print() } else { Ok(()) }
    }

    /// Appends the line of a sample up to its stack.
    fn push_head<L: Layout>(&mut self, index: usize, sample: &Sample<'_, L>, value: Option<u64>) {
        let start = Start {
            thread: sample.tid(),
            pid: sample.pid(),
            tid: sample.tid(),
            cpu: sample.cpu(),
            time: sample.time(),
        };
        self.push_start(index, &start);
        let Some(event) = self.events.get(index) else { return };
        let fields = event.fields;
        let head = &mut self.heads;
        if fields.contains(ScriptFields::PERIOD) {
            let period = || Event::new("", event.attr).period;
            let period = value.or(sample.period()).unwrap_or_else(period);
            push(head, format_args!("{period:10} "));
        }
        if fields.contains(ScriptFields::EVENT) {
            push(head, format_args!("{:>width$}: ", event.name, width = self.name_width));
        }
        if fields.contains(ScriptFields::TRACE) {
            let raw = sample.raw().unwrap_or_default();
            if let Some(print_format) = &event.print_format {
                self.payload.clear();
                print_format.print(raw, &*self.kernel, &mut self.payload);
                head.extend_from_slice(shown(&String::from_utf8_lossy(&self.payload)).as_bytes());
            } else if let Some(format) = event.format {
                push(head, format_args!("{}", format.display(raw)));
            }
        }
        if let Some(addr) = sample.addr().filter(|_| fields.contains(ScriptFields::ADDR)) {
            push(head, format_args!("{addr:16x}"));
        }
        if let Some(cgroup) = sample.cgroup().filter(|_| fields.contains(ScriptFields::CGROUP)) {
            let path = self.resolver.spaces().cgroup(cgroup).map(String::from_utf8_lossy);
            push(head, format_args!(" {}", shown(path.as_deref().unwrap_or(UNKNOWN))));
        }
    }

    /// Appends the thread, the CPU and the time of a sample or of another record.
    fn push_start(&mut self, index: usize, start: &Start) {
        let Some(event) = self.events.get(index) else { return };
        let fields = event.fields;
        let head = &mut self.heads;
        if fields.contains(ScriptFields::COMM) {
            let name = start.thread.and_then(|tid| self.resolver.spaces().thread_name(tid));
            let name = match (name, start.thread) {
                (Some(name), _) => shown(&String::from_utf8_lossy(name)),
                (None, Some(0)) => "swapper".to_owned(),
                (None, Some(tid)) => format!(":{}", tid.cast_signed()),
                (None, None) => ":-1".to_owned(),
            };
            // The stack follows on the next lines, so that the names need no column.
            let width = if event.has_callchain && fields.contains(ScriptFields::IP) { 0 } else { 16 };
            push(head, format_args!("{name:>width$} "));
        }
        // The kernel writes -1 for a task that has exited.
        let (pid, tid) = (start.pid.map(u32::cast_signed), start.tid.map(u32::cast_signed));
        match (
            pid.filter(|_| fields.contains(ScriptFields::PID)),
            tid.filter(|_| fields.contains(ScriptFields::TID)),
        ) {
            (Some(pid), Some(tid)) => push(head, format_args!("{pid:5}/{tid:<5} ")),
            (Some(id), None) | (None, Some(id)) => push(head, format_args!("{id:5} ")),
            (None, None) => {}
        }
        if let Some(cpu) = start.cpu.filter(|_| fields.contains(ScriptFields::CPU)) {
            push(head, format_args!("[{cpu:03}] "));
        }
        if let Some(time) = start.time.filter(|_| fields.contains(ScriptFields::TIME)) {
            let (seconds, ns) = (time / 1_000_000_000, time % 1_000_000_000);
            if self.has_ns {
                push(head, format_args!("{seconds:5}.{ns:09}: "));
            } else {
                push(head, format_args!("{seconds:5}.{:06}: ", ns / 1000));
            }
        }
    }

    /// Buffers a record that is not a sample.
    fn add_side_band<L: Layout>(&mut self, index: usize, record: &Record<'_, L>) -> io::Result<()> {
        let Some(event) = self.events.get(index) else { return Ok(()) };
        let start = Start::of_record(record, event.attr);
        self.push_start(index, &start);
        side_band::push(&mut self.heads, record);
        self.samples.push(Waiting {
            fields: ScriptFields::default(),
            has_callchain: false,
            head: self.heads.len(),
            frames: self.frames.len(),
            tail: self.tails.len(),
            is_sample: false,
            completed: None,
        });
        if self.samples.len() >= BATCH { self.print() } else { Ok(()) }
    }

    /// Looks up the names of the buffered samples, and prints them.
    fn print(&mut self) -> io::Result<()> {
        self.resolver.name();
        // Their user parts were lost, or follow too many samples later.
        self.deferred.clear();
        let locations = self.resolver.locations();
        let (mut head, mut frame, mut tail) = (0, 0, 0);
        let mut stack = Vec::new();
        for sample in self.samples.drain(..) {
            self.out.write_all(self.heads.get(head..sample.head).unwrap_or_default())?;
            let frames = self.frames.get(frame..sample.frames).unwrap_or_default();
            let branches = self.tails.get(tail..sample.tail).unwrap_or_default();
            (head, frame, tail) = (sample.head, sample.frames, sample.tail);
            let frames = sample.completed.as_deref().unwrap_or(frames);
            let mut is_unnamed = false;
            stack.clear();
            if sample.has_callchain {
                stack.push(b'\n');
                for &frame in frames {
                    is_unnamed |= self.lines.push(&mut stack, locations, frame, sample.fields);
                }
            } else if let Some(&frame) = frames.first() {
                stack.push(b' ');
                frames::push_single(&mut stack, locations, frame, sample.fields);
                is_unnamed = locations.get(frame.location).unnamed.is_some();
            }
            self.losses.samples += u64::from(sample.is_sample);
            self.losses.unnamed_samples += u64::from(is_unnamed);
            stack.extend_from_slice(branches);
            stack.push(b'\n');
            self.out.write_all(&stack)?;
        }
        self.heads.clear();
        self.frames.clear();
        self.tails.clear();
        Ok(())
    }
}

impl<W: Write> fmt::Debug for ScriptWriter<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptWriter").field("losses", &self.losses).finish_non_exhaustive()
    }
}

fn push(text: &mut Vec<u8>, part: fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = text.write_fmt(part);
}

/// Returns a name without characters that control a terminal or break a line.
fn shown(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for character in name.chars() {
        if breaks_line(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
