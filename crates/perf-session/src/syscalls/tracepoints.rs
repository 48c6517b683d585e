use perf_ring::decode::Layout;
use perf_ring::{Sample, SampleType};
use perf_tracepoint::{ArrayField, FormatError, IntegerField};

use super::{SyscallHit, SyscallStep};
use crate::names::{EventSpec, Tracefs, TracefsError, Tracepoint};

/// The tracepoints `raw_syscalls:sys_enter` and `raw_syscalls:sys_exit`, through which all system calls go.
///
/// Two events instead of the 700 of the category `syscalls`, which take half a minute to close.
///
/// ```no_run
/// use perf_session::ring::Record;
/// use perf_session::{
///     EventSetOptions, EventSetTarget, SyscallJoiner, SyscallTable, SyscallTracepoints, System, Tracefs,
/// };
///
/// fn main() -> Result<(), perf_session::Report> {
///     let tracefs = Tracefs::find(&System::new())?;
///     let (points, table) = (SyscallTracepoints::find(&tracefs)?, SyscallTable::read(&tracefs)?);
///     let options = EventSetOptions::new().events(points.event_specs()).ring_pages(128);
///     let mut set = options.target(EventSetTarget::command()).open()?;
///     let mut child = set.spawn(&mut std::process::Command::new("true"))?;
///     child.wait()?;
///     let mut joiner = SyscallJoiner::new();
///     set.flush_sorted(|record| {
///         let Ok(Record::Sample(sample)) = record.decode() else { return };
///         if let Some(hit) = points.read(&sample) {
///             joiner.add(hit, &mut |call| {
///                 println!("{} {} = {:?}", call.tid, table.name(call.number), call.result());
///             });
///         }
///     })?;
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct SyscallTracepoints {
    enter: Tracepoint,
    exit: Tracepoint,
    fields: Fields,
}

/// The fields of the payloads.
#[derive(Clone, Copy, Debug)]
struct Fields {
    kind: IntegerField,
    entered: IntegerField,
    args: ArrayField,
    exited: IntegerField,
    result: IntegerField,
}

impl Fields {
    fn bind(enter: &Tracepoint, exit: &Tracepoint) -> Result<Self, FormatError> {
        let (enter, exit) = (enter.format()?, exit.format()?);
        Ok(Self {
            kind: enter.integer("common_type")?,
            entered: enter.integer("id")?,
            args: enter.array("args")?,
            exited: exit.integer("id")?,
            result: exit.integer("ret")?,
        })
    }
}

impl SyscallTracepoints {
    /// Finds both tracepoints.
    ///
    /// # Errors
    ///
    /// tracefs has not these tracepoints, or they have not the fields of each kernel since Linux 2.6.33.
    pub fn find(tracefs: &Tracefs) -> Result<Self, TracefsError> {
        let enter = tracefs.tracepoint("raw_syscalls", "sys_enter")?;
        let exit = tracefs.tracepoint("raw_syscalls", "sys_exit")?;
        let malformed =
            |error| TracefsError::Format { path: tracefs.path().join("events/raw_syscalls"), error };
        let fields = Fields::bind(&enter, &exit).map_err(malformed)?;
        Ok(Self { enter, exit, fields })
    }

    /// Returns the events of starts and returns, which sample each hit with what [`read`](Self::read) needs.
    pub fn event_specs(&self) -> [EventSpec; 2] {
        let fields = SampleType::TID | SampleType::TIME | SampleType::RAW;
        [&self.enter, &self.exit].map(|tracepoint| {
            tracepoint.event_spec().map_attr(|attr| attr.with_period(1).with_sample_type(fields))
        })
    }

    /// Returns the hit of a sample; `None` if the sample is of another event, or has no task, time or payload.
    pub fn read<L: Layout>(&self, sample: &Sample<'_, L>) -> Option<SyscallHit> {
        let raw = sample.raw()?;
        let kind = self.fields.kind.read_u64(raw)?;
        let (number, step) = if kind == u64::from(self.enter.id()) {
            let mut words = self.fields.args.read(raw)?;
            let args = [(); 6].map(|()| words.next().unwrap_or(0));
            (self.fields.entered.read_i64(raw)?, SyscallStep::Enter { args })
        } else if kind == u64::from(self.exit.id()) {
            let result = self.fields.result.read_i64(raw)?;
            (self.fields.exited.read_i64(raw)?, SyscallStep::Exit { result })
        } else {
            return None;
        };
        Some(SyscallHit { pid: sample.pid()?, tid: sample.tid()?, time: sample.time()?, number, step })
    }
}
