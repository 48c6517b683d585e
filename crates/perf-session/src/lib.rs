//! Perf events by name, on the right CPUs, and the reason why one does not open: for counters,
//! profilers and tracers.
//!
//! Count what a command does:
//!
//! ```no_run
//! use std::process::Command;
//!
//! use perf_session::{EventSetOptions, EventSetTarget, System, parse};
//!
//! fn main() -> Result<(), perf_session::Report> {
//!     let system = System::new();
//!     let events = parse("task-clock,page-faults", &system)?;
//!     // Most users may count user space only.
//!     let options = EventSetOptions::new().groups(events).target(EventSetTarget::command()).user_only_if_refused();
//!     let mut set = match options.open() {
//!         Ok(set) => set,
//!         Err(error) => {
//!             if let Some(explanation) = error.explain(&system) {
//!                 println!("{explanation}"); // cause, evidence, remedy
//!             }
//!             return Err(error.into());
//!         }
//!     };
//!     set.spawn(&mut Command::new("true"))?.wait()?;
//!     println!("{}", set.counts()?);
//!     Ok(())
//! }
//! ```
//!
//! The steps are always these: name the events ([`parse`]), choose the target ([`EventSetTarget`]),
//! open ([`EventSetOptions`]), and read counts or records ([`EventSet`]). The examples
//! `count_command` and `sample_cpus` of the repository are whole programs.
//!
//! | to | use |
//! |---|---|
//! | name events: `cycles:u`, `sched:sched_*`, `cpu/event=0xc0/`, `uprobe:/bin/bash:readline` | [`parse`], [`parse_event`]; [`catalog`] for the events of every machine |
//! | make an event of an attr | [`EventSpec::new`] |
//! | choose a command, process, thread, CPUs or a cgroup | [`EventSetTarget`] |
//! | open all events there, or none | [`EventSetOptions`]: [`open`](EventSetOptions::open) |
//! | count | [`EventSet::enable`], [`EventSet::counts`] |
//! | derive instructions per cycle, rates and misses from counts | [`Counts::metrics`] |
//! | count by CPU, core, package or thread | [`Counts::split_by`], [`CpuTopology`] |
//! | count user space only, or only where the kernel is not permitted | [`EventSetOptions::user_only`], [`user_only_if_refused`](EventSetOptions::user_only_if_refused) |
//! | sample into rings | [`EventSpec::map_attr`] with a period or frequency, [`EventSetOptions::ring_pages`] |
//! | read all records in time order | [`EventSet::wait`], [`EventSet::drain_sorted`] |
//! | store the records of rings | [`EventSet::rings_and_ledger`], [`EventSet::sample_repair`] |
//! | open events again after a CPU was offline | [`EventSet::refresh`] |
//! | follow the tasks that the observed tasks start | [`EventSet::observed_tasks`] |
//! | enable and disable single events | [`EventSetOptions::deferred`], [`EventSet::enable_events`] |
//! | know what was lost | [`EventSet::losses`], [`LossLedger`] |
//! | report why an event does not open | [`EventSetError::explain`], [`explain`](fn@explain): [`Diagnosis`] |
//! | use one attr on old and new kernels | [`EventSetOptions::allow_fallback`], [`AttrFallback`] |
//! | sample cycles, or a clock on a machine without a PMU | [`cpu_event`] |
//! | look up PMUs, tracepoints and their fields | [`Pmu`], [`Tracefs`], [`Tracepoint`], [`tracepoint`] |
//! | probe a function of a program or of the kernel | [`Probe`], or an event string; names in programs need the feature `symbols` |
//! | read what runs already: names, threads, mappings, mounts, symbols of the kernel | [`System::task`]: [`Task`]; [`System::kallsyms`] |
//! | find the directory of a cgroup | [`System::open_cgroup`] |
//! | know the limits before the open | [`Privileges`], [`MemlockLimit`], [`CpuList`] |
//! | open more events than the soft limit of descriptors permits | [`DescriptorLimit::raise`] |
//! | convert times between clocks | [`TimeSource`], [`ClockLine`], [`choose_clock`] |
//! | trace system calls, with the feature `syscalls` | `SyscallTracepoints`, `Tracefs::syscall_table`, and `SyscallJoiner` and others of [`tracepoint`] |
//! | test with the files of another machine | [`System::at`] |
//! | port a program from another library | [`coming_from`] |
//!
//! The crate stands on [`perf_ring`], here [`ring`], which has the attrs, rings, records and single
//! events: one dependency is enough. Files of `/proc`, `/sys` and tracefs are read below the root
//! of a [`System`].

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod columns;
pub mod coming_from;
mod names;
mod set;
mod std_error;
mod system;
mod why;

/// The system calls and rings: the crate `perf-ring`.
#[doc(no_inline)]
pub use perf_ring as ring;
#[doc(no_inline)]
pub use perf_ring::Report;
/// The payloads of tracepoints: the crate `perf-tracepoint`.
#[doc(no_inline)]
pub use perf_tracepoint as tracepoint;

pub use columns::{Columns, text_width};
#[cfg(feature = "syscalls")]
pub use names::SyscallTracepoints;
pub use names::{
    BranchFilterError, ConfigField, ConfigFieldError, EventGroup, EventSpec, Glob, NamedEvent, ParseError,
    Pmu, PmuError, PmuEvent, PmuTerm, PmuTermError, Probe, ProbeError, ProbeEvent, ProbeHit, TermError,
    TermProblem, Tracefs, TracefsError, Tracepoint, branch_filter, catalog, expression, nearest, parse,
    parse_event,
};
pub use set::{
    CountRow, CountTable, Counts, EventCounts, EventError, EventLost, EventSet, EventSetError, EventSetEvent,
    EventSetOptions, EventSetRecord, EventSetTarget, Gap, Inherit, Loss, LossKind, LossLedger, LossReport,
    MappedRings, Metric, MetricKind, NewTaskIds, ObservedTasks, Refreshed, RepairedSamples, RingKey,
    RingSize, SampleRepair, Scope, ScopeCount, SizedRingsError, SpawnMisuse, map_largest, map_largest_ring,
};
pub use system::{
    Capability, ClockError, ClockLine, ClockPair, CpuCache, CpuInfo, CpuIter, CpuList, CpuListError,
    CpuTopology, DescriptorLimit, FileError, KernelSymbol, KernelSymbols, LateTexts, Mapping, MemlockLimit,
    MemlockUsage, Module, Mount, MountPoint, NumaMemory, PerfClock, Privileges, System, Task, TaskMemory,
    TaskStatus, ThreadState, TimeSource, WaitPlace, choose_clock, clocks_of,
};
pub use why::{
    AttrFallback, Cause, CpuEvent, Diagnosis, DroppedFeature, Evidence, FailedOpen, FallbackError, Field,
    Opened, Trial, check, check_filter, cpu_event, explain, explain_map, trial_of,
};
