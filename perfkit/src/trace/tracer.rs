//! Turns records into lines.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;

use perf_decode::{Layout, LostCounts, Record, Sample};
use perf_session::{EventSetRecord, LateTexts, LossLedger, System, Tracepoint};
use perf_tracepoint::{
    Format, FormatError, IntegerField, PrintFormat, Signal, Syscall, SyscallEnd, SyscallEnter, SyscallHit,
    SyscallJoiner, SyscallStep, SyscallSummary, Value,
};

use super::entry::{Entry, Task, Texts};
use super::names::Names;
use super::options::SummaryMode;
use super::plan::{Calls, Plan};
use super::{Options, json, summary, text};
use crate::out::message::shown;
use crate::out::payload_names::PayloadNames;

/// Decodes records, joins system calls, and prints lines.
pub(super) struct Tracer<'p> {
    options: &'p Options,
    calls: Option<&'p Calls>,
    joiner: SyscallJoiner,
    summary: SyscallSummary,
    tracepoints: Vec<Printed<'p>>,
    /// Index of the event of the first tracepoint.
    first_tracepoint: usize,
    kernel: PayloadNames,
    lines: Lines<'p>,
    late: Late,
    signals: Option<Signals>,
    /// This process, whose calls are skipped, if all tasks are traced.
    excluded: Option<u32>,
    missing: Missing,
}

/// Counts of missing and out-of-order records.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missing {
    pub(super) lost: LostCounts,
    /// Records that are malformed, or of an unknown event.
    pub(super) malformed: u64,
    /// Records that were read after a record with a later time.
    pub(super) late: u64,
}

/// A tracepoint, and how its payloads are printed.
struct Printed<'p> {
    name: String,
    format: Format<'p>,
    print_format: Option<PrintFormat>,
}

impl<'p> Printed<'p> {
    fn new(tracepoint: &'p Tracepoint) -> Result<Self, FormatError> {
        let format = tracepoint.format()?;
        let print_format = PrintFormat::parse(&format);
        Ok(Self { name: shown(tracepoint.to_string()), format, print_format })
    }

    /// Returns the text of a payload in one line.
    fn text(&self, raw: &[u8], kernel: &PayloadNames) -> String {
        let Some(print_format) = &self.print_format else { return self.format.display(raw).to_string() };
        let mut text = Vec::new();
        print_format.print(raw, kernel, &mut text);
        shown(OsStr::from_bytes(&text))
    }
}

impl<'p> Tracer<'p> {
    pub(super) fn new(options: &'p Options, plan: &'p Plan, out: Box<dyn Write>) -> io::Result<Self> {
        let tracepoints = plan.tracepoints.iter().map(Printed::new).collect::<Result<Vec<_>, _>>();
        let tracepoints = tracepoints.map_err(io::Error::other)?;
        let formats = tracepoints.iter().filter_map(|printed| printed.print_format.as_ref());
        let kernel = PayloadNames::of_this_kernel(formats);
        let summary = match options.summary_mode {
            SummaryMode::Thread => SyscallSummary::new(),
            SummaryMode::Total => SyscallSummary::with_capacity(0),
        };
        Ok(Self {
            options,
            calls: plan.calls.as_ref(),
            joiner: SyscallJoiner::new(),
            summary,
            tracepoints,
            first_tracepoint: plan.first_tracepoint(),
            kernel,
            lines: Lines::new(options, out),
            late: Late::new(),
            signals: plan.signals.as_ref().map(Signals::new).transpose().map_err(io::Error::other)?,
            excluded: options.target.is_on_cpus().then(std::process::id),
            missing: Missing::default(),
        })
    }

    /// Adds a record. Call it in time order.
    pub(super) fn add(&mut self, record: &EventSetRecord<'_>) {
        self.missing.late += u64::from(record.is_late());
        let Ok(decoded) = record.decode() else {
            self.missing.malformed += 1;
            return;
        };
        match &decoded {
            Record::Sample(sample) => self.add_sample(record, sample),
            Record::Lost(lost) => {
                let place = record.scope().to_string();
                self.lines
                    .write(&Entry::Lost { time: Some(record.time()), records: lost.lost(), place }, None);
                self.join(None, |joiner, done| joiner.lose(done));
            }
            Record::Exit(exit) => {
                let cpu = record.scope().cpu_id();
                let mut status = None;
                self.join(cpu, |joiner, done| {
                    joiner.end_thread(exit.tid(), record.time(), &mut |call| {
                        status = Some((call.number, call.enter));
                        done(call);
                    });
                });
                self.add_exit((exit.pid(), exit.tid(), cpu), record.time(), status);
                if exit.pid() == exit.tid() {
                    self.late.memory.forget(exit.pid());
                }
            }
            other => {
                if let Record::Comm(comm) = other
                    && comm.exec()
                {
                    self.late.memory.forget(comm.pid());
                }
                self.lines.names.update(other);
            }
        }
    }

    fn add_sample<L: Layout>(&mut self, record: &EventSetRecord<'_>, sample: &Sample<'_, L>) {
        let (pid, tid) = (sample.pid().unwrap_or(0), sample.tid().unwrap_or(0));
        if self.excluded == Some(pid) {
            return;
        }
        // Times are relative to the first hit, whether it is printed or not.
        self.lines.start.get_or_insert(record.time());
        let tracepoint = record.index().and_then(|index| index.checked_sub(self.first_tracepoint));
        if let Some(printed) = tracepoint.and_then(|index| self.tracepoints.get(index)) {
            let raw = sample.raw().unwrap_or_default();
            let text = if self.options.json { String::new() } else { printed.text(raw, &self.kernel) };
            let Printed { name, format, .. } = printed;
            let entry = Entry::Hit { time: record.time(), name, format, raw, text: &text };
            self.lines.write(&entry, Some((pid, tid, sample.cpu())));
        } else if let Some((signal, code)) =
            self.signals.as_ref().and_then(|signals| signals.read(record, sample))
        {
            let entry = Entry::Signal { time: record.time(), signal, code };
            self.lines.write(&entry, Some((pid, tid, sample.cpu())));
        } else if let Some(hit) = self.calls.and_then(|calls| calls.points.read(sample)) {
            if let Some(calls) = self.calls.filter(|_| self.options.prints_calls()) {
                self.late.start(calls, &hit);
            }
            self.join(sample.cpu(), |joiner, done| joiner.add(hit, done));
        }
    }

    /// Prints the end of a thread, if it called `exit` itself. For others nobody says how they ended.
    fn add_exit(
        &mut self,
        task: (u32, u32, Option<u32>),
        time: u64,
        call: Option<(i64, Option<SyscallEnter>)>,
    ) {
        let (Some(calls), Some((number, Some(enter)))) = (self.calls, call) else { return };
        let is_exit = matches!(&*calls.table.name(number), "exit" | "exit_group");
        if is_exit && self.options.prints_calls() && self.options.events.is_empty() {
            let [status, ..] = enter.args;
            #[allow(clippy::cast_possible_truncation)] // as the kernel does
            self.lines.write(&Entry::Exit { time, status: status as u8 }, Some(task));
        }
    }

    /// Applies `change` to the joiner, and prints and sums up the calls that it ends.
    fn join(&mut self, cpu: Option<u32>, change: impl FnOnce(&mut SyscallJoiner, &mut dyn FnMut(Syscall))) {
        let Self { options, calls: Some(calls), joiner, summary, lines, late, .. } = self else { return };
        change(joiner, &mut |call| {
            if options.has_summary() {
                summary.add(&call);
            }
            let texts = late.end(calls, &call);
            if options.prints_calls() && is_shown(options, &call) {
                let args = call.enter.map(|enter| calls.table.with_values(call.number, enter.args));
                let entry =
                    Entry::Call { call: &call, name: &calls.table.name(call.number), args, texts: &texts };
                lines.write(&entry, Some((call.pid, call.tid, cpu)));
            }
        });
    }

    /// Writes the buffered lines.
    ///
    /// # Errors
    ///
    /// The first error since the last call.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }

    /// Prints losses after the last record of a ring, calls in progress and statistics. Returns the
    /// counts of missing records.
    pub(super) fn finish(&mut self, ledger: &LossLedger) -> io::Result<Missing> {
        for (ring, records) in ledger.unreported() {
            let place = format!("{ring} after its last record");
            self.lines.write(&Entry::Lost { time: None, records, place }, None);
        }
        self.join(None, |joiner, done| joiner.finish(done));
        if let Some(calls) = self.calls.filter(|_| self.options.has_summary()) {
            let Self { options, summary, lines: Lines { buffer, names, .. }, .. } = self;
            summary::write(buffer, summary, options.summary_mode, &calls.table, names, options.json)?;
        }
        self.flush()?;
        Ok(Missing { lost: ledger.lost(), ..self.missing })
    }
}

/// `SIGKILL`, on each architecture.
const KILL: u32 = 9;

/// The fields of the tracepoint of signals.
struct Signals {
    /// Index of its event.
    index: usize,
    signal: IntegerField,
    code: IntegerField,
}

impl Signals {
    fn new((index, tracepoint): &(usize, Tracepoint)) -> Result<Self, FormatError> {
        let format = tracepoint.format()?;
        Ok(Self { index: *index, signal: format.integer("sig")?, code: format.integer("code")? })
    }

    /// Returns the signal of a sample, and its cause; `None` for a sample of another event, and for
    /// `SIGKILL`, which the kernel reports at the end of each thread that another signal, or the
    /// `exit_group` of another thread, ends.
    fn read<L: Layout>(&self, record: &EventSetRecord<'_>, sample: &Sample<'_, L>) -> Option<(Signal, i32)> {
        let raw = sample.raw().filter(|_| record.index() == Some(self.index))?;
        let signal = u32::try_from(self.signal.read_u64(raw)?).ok()?;
        if signal == KILL {
            return None;
        }
        Some((Signal(signal), i32::try_from(self.code.read_i64(raw)?).ok()?))
    }
}

/// Texts at the pointers of calls in progress, read after the calls began.
struct Late {
    memory: LateTexts,
    /// The texts of each thread's call, with the time of its start.
    of_threads: HashMap<u32, (u64, Texts)>,
}

/// Maximum number of threads with texts. With more, the texts are dropped.
const MAX_THREADS: usize = 1 << 14;

impl Late {
    fn new() -> Self {
        Self { memory: LateTexts::new(System::new()), of_threads: HashMap::new() }
    }

    /// Reads the texts of a call that starts.
    fn start(&mut self, calls: &Calls, hit: &SyscallHit) {
        let SyscallStep::Enter { args } = hit.step else { return };
        let mut texts = Texts::default();
        for (arg, value) in calls.table.with_values(hit.number, args).iter() {
            if let Value::Pointer(address @ 1..) = value
                && arg.is_text()
                && let Some((text, is_whole)) = self.memory.read(hit.pid, address)
            {
                texts.add(address, &text, is_whole);
            }
        }
        if self.of_threads.len() >= MAX_THREADS {
            self.of_threads.clear();
        }
        self.of_threads.insert(hit.tid, (hit.time, texts));
    }

    /// Returns the texts of a call that ended. A successful `execve` has none, because the program
    /// whose memory it was is gone.
    fn end(&mut self, calls: &Calls, call: &Syscall) -> Texts {
        let is_replaced = matches!(call.end, SyscallEnd::Returned { result: 0, .. })
            && calls.table.name(call.number).starts_with("execve");
        match self.of_threads.get(&call.tid) {
            Some((time, _)) if call.enter.is_none_or(|enter| enter.time != *time) => Texts::default(),
            _ => self
                .of_threads
                .remove(&call.tid)
                .map(|(_, texts)| texts)
                .filter(|_| !is_replaced)
                .unwrap_or_default(),
        }
    }
}

/// Returns whether the options choose this call.
fn is_shown(options: &Options, call: &Syscall) -> bool {
    let is_long = options
        .duration
        .is_none_or(|least| call.duration().is_some_and(|ns| u128::from(ns) >= least.as_nanos()));
    let is_failed = !options.failure || call.error().is_some();
    is_long && is_failed
}

/// Bytes of lines that are written together.
const BUFFER: usize = 1 << 16;

/// The output, which buffers whole lines.
struct Lines<'p> {
    options: &'p Options,
    out: Box<dyn Write>,
    /// Whole lines, so that no part of one is written when the output ends.
    buffer: Vec<u8>,
    names: Names,
    /// Time of the first event.
    start: Option<u64>,
    failed: Option<io::Error>,
}

impl<'p> Lines<'p> {
    fn new(options: &'p Options, out: Box<dyn Write>) -> Self {
        Self { options, out, buffer: Vec::new(), names: Names::default(), start: None, failed: None }
    }

    /// Writes a line. `task` is the process, the thread and the CPU.
    fn write(&mut self, entry: &Entry<'_>, task: Option<(u32, u32, Option<u32>)>) {
        if self.failed.is_some() {
            return;
        }
        let Self { options, buffer, names, start, .. } = self;
        let task = task.map(|(pid, tid, cpu)| Task { comm: names.get(tid), pid, tid, cpu });
        let written = if options.json {
            json::write(buffer, entry, task)
        } else {
            let start = if options.time { 0 } else { start.unwrap_or(0) };
            text::write(buffer, start, entry, task)
        };
        let is_full = self.buffer.len() >= BUFFER;
        self.failed = written.and_then(|()| if is_full { self.write_buffer() } else { Ok(()) }).err();
    }

    /// Writes the buffered lines, or returns the first error since the last call.
    fn flush(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.write_buffer(), Err)?;
        self.out.flush()
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.buffer);
        self.buffer.clear();
        written
    }
}
