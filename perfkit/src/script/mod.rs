//! `perfkit script`: prints every sample with its stack, in the form of `perf script`, which many
//! viewers read.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt as _;

use clap::Args;
use perf_abi::{Attr, SampleType};
use perf_decode::{Layout, LostCounts, Record, Sample};
use perf_profile::read::{Members, Tracepoints, build_id, resolver};
use perf_profile::{Resolver, UNKNOWN};
use perf_symbols::{Stack, StackEnd, UserSource};
use perf_tracepoint::{Format, PrintFormat};

use crate::cli::help;
use crate::out::message::{note, shown};
use crate::out::payload_names::PayloadNames;
use crate::recording::{FilterOptions, FinderOptions, InputOptions, Shown, are_few, reused, show_progress};

mod fields;
mod frames;

use fields::{Choice, Fields};
use frames::{Address, Frame, FrameLines};

/// Print each sample with its stack, as the perf tool's `script` does
#[derive(Args, Debug)]
#[command(after_help = help::end(
    "The text is that of `perf script`: cargo-flamegraph (PERF=perfkit), inferno, the FlameGraph scripts, speedscope and \
     the Firefox Profiler read it.",
    &[
        ("perfkit script | less", ""),
        ("perfkit script | inferno-collapse-perf | inferno-flamegraph > x.svg", ""),
        ("perfkit script -F +pid > x.perf", "for the Firefox Profiler"),
        ("perfkit script -F comm,tid,time,event --comm sort", ""),
    ],
    help::EXIT
))]
pub(crate) struct Options {
    #[command(flatten)]
    input: InputOptions,
    /// Fields of each sample: comm, pid, tid, cpu, time, period, event, trace, addr, cgroup, ip, sym, symoff, dso, srcline;
    /// +NAME adds one, -NAME leaves one out; hw:, sw: or trace: before the list is for these events only
    #[arg(short = 'F', long, value_name = "LIST", allow_hyphen_values = true, value_parser = Choice::parse)]
    fields: Vec<Choice>,
    /// Print times with ns
    #[arg(long)]
    ns: bool,
    /// Print the address of each sample only, without its stack
    #[arg(short = 'G', long)]
    hide_call_graph: bool,
    /// Leave out inlined functions and source lines, which takes less time and memory
    #[arg(long, overrides_with = "inline")]
    no_inline: bool,
    /// Accepted as the perf tool has it: inlined functions are printed by default
    #[arg(long, hide = true)]
    inline: bool,
    #[command(flatten)]
    filter: FilterOptions,
    #[command(flatten)]
    finder: FinderOptions,
}

/// Prints the samples of a recording. Damage is an error, after all that could be read is printed.
pub(crate) fn run(out: &mut dyn Write, options: &Options) -> io::Result<()> {
    let (about, mut records) = options.input.open()?.in_time_order();
    let filter = options.filter.filter(&about)?;
    let tracepoints = about.tracepoints();
    let events = about.events().map(|(name, attr)| EventLine::new(name, attr, &tracepoints, options));
    let events: Vec<_> = events.collect::<io::Result<_>>()?;
    let names = about.events().map(|(name, _)| name.len());
    let finder = options.finder.finder(&about);
    let formats = events.iter().filter_map(|event| event.print_format.as_ref());
    let kernel = PayloadNames::of_texts(about.printk_formats());
    let kernel = if finder.is_local() { kernel.with_functions(formats) } else { kernel };
    let mut printer = Printer {
        out: BufWriter::with_capacity(1 << 16, out),
        // Unmapped frames are printed as in the perf tool.
        resolver: resolver(&about, finder, !options.no_inline)?.with_unmapped_frames(),
        name_width: names.max().unwrap_or(0),
        has_ns: options.ns,
        payload: Vec::new(),
        kernel,
        lines: FrameLines::default(),
        samples: Vec::new(),
        heads: Vec::new(),
        frames: Vec::new(),
        deferred: Vec::new(),
        losses: Losses::default(),
    };
    let mut members = Members::new(&about);
    show_progress(&mut records, Shown::BesideOutput);
    while let Some(record) = records.next() {
        if record.kernel().is_none() {
            if let Some((path, id)) = build_id(&record) {
                printer.resolver.spaces_mut().add_build_id(path, id);
            }
            continue;
        }
        let decoded = match record.decode() {
            Ok(decoded) => decoded,
            Err(error) => {
                records.skip(&error);
                continue;
            }
        };
        printer.update(&decoded);
        members.update(&decoded);
        let Record::Sample(sample) = &decoded else { continue };
        let Ok((index, file_event)) = record.event() else { continue };
        let counted = members.of(&file_event.attr, sample);
        if !filter.matches(printer.resolver.spaces(), sample) {
            continue;
        }
        match counted {
            None => printer.add(events.get(index), sample, None)?,
            Some(counted) => {
                for (index, value) in counted {
                    printer.add(events.get(index), sample, Some(value))?;
                }
            }
        }
    }
    records.add_damage(members.damage());
    printer.print()?;
    printer.out.flush()?;
    printer.losses.late = records.late();
    printer.note_losses();
    records.finish()
}

/// Samples that are named and printed together.
const BATCH: usize = 4096;

/// An event, and the form of its samples.
struct EventLine<'a> {
    name: &'a str,
    attr: &'a Attr,
    fields: Fields,
    has_callchain: bool,
    /// Layout of the payload of a tracepoint.
    format: Option<&'a Format<'a>>,
    /// The kernel's print format of the payload.
    print_format: Option<PrintFormat>,
}

impl<'a> EventLine<'a> {
    fn new(
        name: &'a str,
        attr: &'a Attr,
        tracepoints: &'a Tracepoints<'a>,
        options: &Options,
    ) -> io::Result<Self> {
        let fields = Choice::fields(&options.fields, name, attr)?;
        let has_callchain = attr.sample_type.contains(SampleType::CALLCHAIN)
            && !options.hide_call_graph
            && fields.has_frames();
        let format = tracepoints.find(attr);
        Ok(Self {
            name,
            attr,
            fields,
            has_callchain,
            format,
            print_format: format.and_then(PrintFormat::parse),
        })
    }
}

/// A buffered sample, before its names are looked up.
struct Waiting {
    fields: Fields,
    has_callchain: bool,
    /// End of the sample's head in the text.
    head: usize,
    /// End of the sample's frames.
    frames: usize,
    /// All frames, if a later record completed the stack.
    completed: Option<Vec<Frame>>,
}

/// Losses and gaps of the recording.
#[derive(Debug, Default)]
struct Losses {
    lost: LostCounts,
    late: u64,
    truncated: u64,
    needed: u64,
    /// Printed samples, and samples with an unnamed address.
    samples: u64,
    unnamed: u64,
}

struct Printer<'a> {
    out: BufWriter<&'a mut dyn Write>,
    resolver: Resolver,
    name_width: usize,
    has_ns: bool,
    /// The text of a payload.
    payload: Vec<u8>,
    /// The functions and texts in payloads.
    kernel: PayloadNames,
    lines: FrameLines,
    samples: Vec<Waiting>,
    heads: Vec<u8>,
    frames: Vec<Frame>,
    /// Samples that wait for the user part of their stack: cookie, process and index in `samples`.
    deferred: Vec<(u64, u32, usize, Stack)>,
    losses: Losses,
}

impl Printer<'_> {
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
    fn add<L: Layout>(
        &mut self,
        event: Option<&EventLine<'_>>,
        sample: &Sample<'_, L>,
        value: Option<u64>,
    ) -> io::Result<()> {
        let Some(event) = event else { return Ok(()) };
        self.push_head(event, sample, value);
        if event.fields.has_frames() {
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
                    self.losses.truncated += 1;
                    self.losses.needed = self.losses.needed.max(needed);
                }
                StackEnd::Deferred { cookie } => {
                    let pid = sample.pid().unwrap_or(0);
                    self.deferred.push((cookie, pid, self.samples.len(), resolved.stack.clone()));
                }
                _ => {}
            }
            if event.has_callchain {
                self.frames.extend(frames);
            } else {
                let address = Address::Raw(sample.ip().unwrap_or(0));
                self.frames.extend(frames.take(1).map(|frame| Frame { address, ..frame }));
            }
        }
        self.samples.push(Waiting {
            fields: event.fields,
            has_callchain: event.has_callchain,
            head: self.heads.len(),
            frames: self.frames.len(),
            completed: None,
        });
        if self.samples.len() >= BATCH { self.print() } else { Ok(()) }
    }

    /// Appends the line of a sample up to its stack.
    fn push_head<L: Layout>(&mut self, event: &EventLine<'_>, sample: &Sample<'_, L>, value: Option<u64>) {
        let fields = event.fields;
        let (pid, tid) = (sample.pid(), sample.tid());
        let head = &mut self.heads;
        if fields.contains(Fields::COMM) {
            let name = tid.and_then(|tid| self.resolver.spaces().thread_name(tid));
            let name = match (name, tid) {
                (Some(name), _) => shown(String::from_utf8_lossy(name).as_ref()),
                (None, Some(0)) => "swapper".to_owned(),
                (None, Some(tid)) => format!(":{}", tid.cast_signed()),
                (None, None) => ":-1".to_owned(),
            };
            // The stack follows on the next lines, so that the names need no column.
            let width = if event.has_callchain && fields.contains(Fields::IP) { 0 } else { 16 };
            push(head, format_args!("{name:>width$} "));
        }
        // The kernel writes -1 for a task that has exited.
        let (pid, tid) = (pid.map(u32::cast_signed), tid.map(u32::cast_signed));
        match (pid.filter(|_| fields.contains(Fields::PID)), tid.filter(|_| fields.contains(Fields::TID))) {
            (Some(pid), Some(tid)) => push(head, format_args!("{pid:5}/{tid:<5} ")),
            (Some(id), None) | (None, Some(id)) => push(head, format_args!("{id:5} ")),
            (None, None) => {}
        }
        if let Some(cpu) = sample.cpu().filter(|_| fields.contains(Fields::CPU)) {
            push(head, format_args!("[{cpu:03}] "));
        }
        if let Some(time) = sample.time().filter(|_| fields.contains(Fields::TIME)) {
            let (seconds, ns) = (time / 1_000_000_000, time % 1_000_000_000);
            if self.has_ns {
                push(head, format_args!("{seconds:5}.{ns:09}: "));
            } else {
                push(head, format_args!("{seconds:5}.{:06}: ", ns / 1000));
            }
        }
        if fields.contains(Fields::PERIOD) {
            let period = || perf_profile::Event::new("", event.attr).period;
            let period = value.or(sample.period()).unwrap_or_else(period);
            push(head, format_args!("{period:10} "));
        }
        if fields.contains(Fields::EVENT) {
            push(head, format_args!("{:>width$}: ", event.name, width = self.name_width));
        }
        if fields.contains(Fields::TRACE) {
            let raw = sample.raw().unwrap_or_default();
            if let Some(print_format) = &event.print_format {
                self.payload.clear();
                print_format.print(raw, &self.kernel, &mut self.payload);
                head.extend_from_slice(shown(OsStr::from_bytes(&self.payload)).as_bytes());
            } else if let Some(format) = event.format {
                push(head, format_args!("{}", format.display(raw)));
            }
        }
        if let Some(addr) = sample.addr().filter(|_| fields.contains(Fields::ADDR)) {
            push(head, format_args!("{addr:16x}"));
        }
        if let Some(cgroup) = sample.cgroup().filter(|_| fields.contains(Fields::CGROUP)) {
            let path = self.resolver.spaces().cgroup(cgroup).map(String::from_utf8_lossy);
            push(head, format_args!(" {}", shown(path.as_deref().unwrap_or(UNKNOWN))));
        }
    }

    /// Looks up the names of the buffered samples, and prints them.
    fn print(&mut self) -> io::Result<()> {
        self.resolver.name();
        // Their user parts were lost, or follow too many samples later.
        self.deferred.clear();
        let locations = self.resolver.locations();
        let (mut head, mut frame) = (0, 0);
        let mut stack = Vec::new();
        for sample in self.samples.drain(..) {
            self.out.write_all(self.heads.get(head..sample.head).unwrap_or_default())?;
            let frames = self.frames.get(frame..sample.frames).unwrap_or_default();
            (head, frame) = (sample.head, sample.frames);
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
                is_unnamed = locations.get(frame.location).unnamed().is_some();
            }
            self.losses.samples += 1;
            self.losses.unnamed += u64::from(is_unnamed);
            stack.push(b'\n');
            self.out.write_all(&stack)?;
        }
        self.heads.clear();
        self.frames.clear();
        Ok(())
    }

    /// Prints the losses to standard error.
    fn note_losses(&self) {
        let Losses { lost, late, truncated, needed, samples, unnamed } = self.losses;
        let count = crate::out::message::count;
        if !lost.is_empty() {
            note(lost);
        }
        if late > 0 {
            note(format_args!("{} came after a record of a later time", count(late, "record")));
        }
        if truncated > 0 {
            let stacks = count(truncated, "cut stack");
            note(format_args!(
                "{stacks}: copies of at least {needed} bytes, and at most 65528, lead to more frames"
            ));
        }
        let reasons = self.resolver.symbolizer().counts().reasons();
        for (addresses, reason) in reasons.into_iter().filter(|_| !are_few(unnamed, samples)) {
            note(format_args!("{} without a name: {reason}", count(addresses, "address")));
        }
        if let Some(reused) = reused(self.resolver.reused_addresses()) {
            note(reused);
        }
    }
}

fn push(text: &mut Vec<u8>, part: fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = text.write_fmt(part);
}
