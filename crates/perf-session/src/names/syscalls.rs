//! The tracepoints of all system calls, and the arguments that tracefs describes.

use perf_ring::decode::Layout;
use perf_ring::{Sample, SampleType};
use perf_tracepoint::{FormatError, SyscallFormats, SyscallHit, SyscallTable};

use crate::names::spec::EventSpec;
use crate::names::tracefs::{Tracefs, TracefsError, Tracepoint};

/// The tracepoints `raw_syscalls:sys_enter` and `raw_syscalls:sys_exit`, through which all system
/// calls go.
///
/// Two events instead of the 700 of the category `syscalls`, which take half a minute to close.
///
/// ```no_run
/// use perf_session::ring::Record;
/// use perf_session::tracepoint::SyscallJoiner;
/// use perf_session::{EventSetOptions, EventSetTarget, SyscallTracepoints, System, Tracefs};
///
/// fn main() -> Result<(), perf_session::Report> {
///     let tracefs = Tracefs::find(&System::new())?;
///     let (points, table) = (SyscallTracepoints::find(&tracefs)?, tracefs.syscall_table()?);
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
    formats: SyscallFormats,
}

impl SyscallTracepoints {
    /// Finds both tracepoints.
    ///
    /// # Errors
    ///
    /// tracefs has not these tracepoints, or they have not the fields of each kernel since Linux
    /// 2.6.33.
    pub fn find(tracefs: &Tracefs) -> Result<Self, TracefsError> {
        let enter = tracefs.tracepoint("raw_syscalls", "sys_enter")?;
        let exit = tracefs.tracepoint("raw_syscalls", "sys_exit")?;
        let formats = enter.format().and_then(|enter| SyscallFormats::bind(&enter, &exit.format()?));
        let malformed =
            |error| TracefsError::Format { path: tracefs.path().join("events/raw_syscalls"), error };
        Ok(Self { formats: formats.map_err(malformed)?, enter, exit })
    }

    /// Returns the events of starts and returns, which sample each hit with what
    /// [`read`](Self::read) needs.
    pub fn event_specs(&self) -> [EventSpec; 2] {
        let fields = SampleType::TID | SampleType::TIME | SampleType::RAW;
        [&self.enter, &self.exit].map(|tracepoint| {
            tracepoint.event_spec().map_attr(|attr| attr.with_period(1).with_sample_type(fields))
        })
    }

    /// Returns the hit of a sample; `None` if the sample is of another event, or has no task, time
    /// or payload.
    pub fn read<L: Layout>(&self, sample: &Sample<'_, L>) -> Option<SyscallHit> {
        self.formats.read(sample)
    }
}

impl Tracefs {
    /// Returns the names of the system calls, and the arguments of all, which takes some 20 ms.
    ///
    /// # Errors
    ///
    /// The formats cannot be read or are malformed. A missing category `syscalls` is not an error:
    /// the arguments are then unknown.
    pub fn syscall_table(&self) -> Result<SyscallTable, TracefsError> {
        let tracepoints = match self.matching("syscalls:sys_enter_*") {
            Err(TracefsError::NotFound { .. }) => Vec::new(),
            tracepoints => tracepoints?,
        };
        let malformed = |error: FormatError| TracefsError::Format { path: self.path(), error };
        let formats: Result<Vec<_>, _> = tracepoints.iter().map(Tracepoint::format).collect();
        Ok(SyscallTable::from_formats(formats.map_err(malformed)?))
    }
}
